// In charge of: joining the discontinuity periods of an HLS source into one file by copying packets: audio keeps its
// offset in time to the video, and the periods follow one another.
// Not in charge of: fetching (hlsDownload.ts), decoding.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireUnencryptedFile } from '../encryption/encryptionCheck.ts'
import { TaskError } from '#contract/taskError.ts'
import { inputFlags, concatInputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { explainExit } from '../../ffmpeg/exit.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { FfprobeError, runFfmpeg, runFfprobe, type FfmpegPrograms } from '../../ffmpeg/run.ts'
import { checkMp4 } from '../../mp4FileCheck.ts'
import type { DiscontinuityPeriod } from './hlsDownload.ts'

export interface AssemblyContext {
  engine: FfmpegPrograms
  directory: string
  /** Empty directory in which ffmpeg starts. */
  cwd: string
  signal: AbortSignal
}

/** Overhead of transport stream packets: small audio packets use most of 188 bytes each. */
const TS_OVERHEAD_FACTOR = 4
const TS_OVERHEAD_BYTES = 64 * 1024 * 1024
/** ISO/IEC 13818-1, 2.4.3.7: 33 bits. */
const WRAP_SECONDS = 2 ** 33 / TICKS_PER_SECOND

/** Tracks: the variant first, then its audio renditions. Returns the path of the joined source. */
export async function assemble(tracks: readonly DiscontinuityPeriod[][], context: AssemblyContext): Promise<string> {
  const [main = [], ...others] = tracks
  const [first] = main
  if (first === undefined) throw new TaskError('source_damaged', 'The source has no segment.')
  if (others.some((track) => track.length !== main.length)) {
    // RFC 8216, 6.2.4: the renditions of a variant must have matching discontinuities.
    throw new TaskError(
      'source_damaged',
      'The renditions of the source do not have discontinuities at the same places.',
    )
  }
  await Promise.all(tracks.flat().map(requireCompleteFragments))
  // A single transport stream is used as it is, with its cues, captions and languages.
  if (tracks.length === 1 && main.length === 1 && first.kind !== 'mp4') return first.path

  const container = main.length === 1 && first.kind === 'mp4' ? 'mp4' : 'mpegts'
  const parts: string[] = []
  for (const [index, period] of main.entries()) {
    const inputs = [period, ...others.map((track) => track[index]!)]
    const alone = inputs.length === 1 && period.kind === container
    parts.push(
      alone ? period.path : await muxRenditions(inputs, join(context.directory, `part-${index}`), container, context),
    )
  }
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  return concatenate(parts, main, context)
}

/** A truncated fragment would shift everything after it, and ffmpeg would not report that. */
async function requireCompleteFragments(period: DiscontinuityPeriod): Promise<void> {
  if (period.kind !== 'mp4') return
  // Checked here: the joined file would no longer show that its samples are encrypted.
  await requireUnencryptedFile(period.path)
  const { boxes, problem } = await checkMp4(period.path)
  // Too many boxes for the check means a long source, not a broken one; a missing ftyp does no harm.
  if (problem === null || /more than|there is no ftyp$/.test(problem)) return
  const why = boxes.length === 0 ? 'is not MP4' : 'is cut'
  throw new TaskError('source_incomplete', `A segment of the source ${why}: ${problem}.`)
}

async function muxRenditions(
  inputs: readonly DiscontinuityPeriod[],
  path: string,
  container: 'mp4' | 'mpegts',
  context: AssemblyContext,
): Promise<string> {
  const starts = await Promise.all(inputs.map((input) => firstTimestamp(input, context)))
  const args = inputs.flatMap((input, index) => {
    // ffmpeg shifts the beginning of every input to 0; the offset between the beginnings is added again.
    const distance = index === 0 ? 0 : unwrapped(starts[index]! - starts[0]!)
    const url = `file:${input.path}`
    return [...(distance === 0 ? [] : ['-itsoffset', distance.toFixed(6)]), ...inputFlags(url), '-i', url]
  })
  const maps = ['-map', '0:v:0?', '-map', '0:a?', ...inputs.slice(1).flatMap((_, index) => ['-map', `${index + 1}:a`])]
  const sources = inputs.map((input) => input.path)
  await remux([...args, ...maps], path, container, sources, context)
  await Promise.all(inputs.map((input) => rm(input.path, { force: true })))
  return path
}

async function concatenate(
  parts: readonly string[],
  main: readonly DiscontinuityPeriod[],
  context: AssemblyContext,
): Promise<string> {
  const list = join(context.directory, 'list')
  // Only file names made by this service, relative to the list; the stated duration of each keeps the following ones in
  // time.
  const text = parts.map(
    (path, index) =>
      `file '${path.slice(context.directory.length + 1)}'\nduration ${main[index]!.seconds.toFixed(6)}\n`,
  )
  await writeFile(list, `ffconcat version 1.0\n${text.join('')}`)
  const path = join(context.directory, 'whole')
  const input = [...concatInputFlags(), '-i', `file:${list}`, '-map', '0:v:0?', '-map', '0:a?']
  await remux(input, path, 'mpegts', parts, context)
  await Promise.all(parts.map((part) => rm(part, { force: true })))
  return path
}

async function remux(
  input: readonly string[],
  path: string,
  container: 'mp4' | 'mpegts',
  sources: readonly string[],
  { engine, cwd, signal }: AssemblyContext,
): Promise<void> {
  const sizes = await Promise.all(sources.map(async (source) => (await stat(source)).size))
  const largestBytes = sizes.reduce((sum, size) => sum + size * TS_OVERHEAD_FACTOR, TS_OVERHEAD_BYTES)
  const result = await runFfmpeg(
    engine,
    [
      ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
      ...input,
      ...['-c', 'copy'],
      // While a rendition begins late, packets of the others wait in memory.
      ...['-max_muxing_queue_size', '9999'],
      ...['-f', container, `file:${path}`],
    ],
    { cwd, purpose: 'join segments', signal, outputFiles: [path], limits: { fileBytes: largestBytes } },
  )
  signal.throwIfAborted()
  const failure = explainExit(result)
  if (failure?.code === 'disk_full') throw new TaskError(failure.code, failure.message)
  if (failure !== null || result.ended !== 'exit') {
    throw new TaskError('source_damaged', 'The segments of the source could not be joined.')
  }
}

/** The time in seconds at which the first of its streams begins. */
async function firstTimestamp(period: DiscontinuityPeriod, context: AssemblyContext): Promise<number> {
  if (period.ticks !== null) return period.ticks / TICKS_PER_SECOND
  const { streams } = await probeTimes(period.path, context)
  const starts = streams.flatMap(({ codec_type: type, start_time: start }) =>
    (type === 'video' || type === 'audio') && Number.isFinite(Number(start)) ? [Number(start)] : [],
  )
  return starts.length === 0 ? 0 : Math.min(...starts)
}

function unwrapped(seconds: number): number {
  return Math.abs(seconds) > WRAP_SECONDS / 2 ? seconds - Math.sign(seconds) * WRAP_SECONDS : seconds
}

/** The duration of a file in seconds, or null. */
export async function fileDuration(path: string, context: AssemblyContext): Promise<number | null> {
  const seconds = Number((await probeTimes(path, context)).format?.duration)
  return Number.isFinite(seconds) ? seconds : null
}

interface ProbedTimes {
  streams: { codec_type?: string; start_time?: string }[]
  format?: { duration?: string }
}

async function probeTimes(path: string, { engine, cwd, signal }: AssemblyContext): Promise<ProbedTimes> {
  const url = `file:${path}`
  const entries = ['-show_entries', 'stream=codec_type,start_time:format=duration']
  try {
    const text = await runFfprobe(engine, [...inputFlags(url), '-v', 'error', '-of', 'json', ...entries, '-i', url], {
      cwd,
      purpose: 'inspect a segment',
      signal,
    })
    return { streams: [], ...(JSON.parse(text) as Partial<ProbedTimes>) }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof FfprobeError)) throw error
    throw new TaskError('source_damaged', 'A segment of the source could not be read as media.', { cause: error })
  }
}
