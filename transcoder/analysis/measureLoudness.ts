// In charge of: measuring the loudness (EBU R 128) of a source's audio as it is mixed for the outputs. Only for jobs
// with a target loudness.
// Not in charge of: the resulting gain (plan/audio/loudnessGain.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { runFfmpeg, type FfmpegPrograms, type PipeFeed } from '../ffmpeg/run.ts'
import { audioCutFilters, readCut, type CutReading } from '../plan/argv/cutArgs.ts'
import { limiter, panFilter } from '../plan/argv/filters.ts'
import { buildSharedGraph } from '../plan/argv/filterGraph.ts'
import { TRUE_PEAK_CEILING_DB, limiterGains, loudnessMeasurements } from '../plan/audio/loudnessGain.ts'
import type { MeasuredLoudness, MediaInfo } from '../plan/model/mediaInfo.ts'
import type { ChannelMix } from '../plan/model/channelMix.ts'
import { isDolbyDigital } from '../plan/codecs.ts'
import { audioSpecifier, usedPids } from '../plan/streams/programSelection.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../plan/streams/audioStreamCount.ts'

/** The audio of a joined source, which is written to pipes. */
export interface JoinedAudioInput {
  /** All arguments of the inputs. */
  input: readonly string[]
  /** ffmpeg's name of a stream. */
  pad: (stream: number) => string
  pipeFeed: PipeFeed
  isBlocked: () => boolean
}

interface Options {
  /** Missing = the source is read from its address. */
  joined?: JoinedAudioInput
  signal?: AbortSignal
  cwd: string
  threads?: number
  /** The source can be read at any position. */
  seekable?: boolean
}

interface MeasuredBranch {
  stream: number
  mix: ChannelMix
  /** null = without gain. */
  gainDb: number | null
}

/** The inputs' arguments, and the part of it that is measured. */
interface SourceReading {
  input: readonly string[]
  part: CutReading
}

interface LoudnessReading {
  integratedLufs: number | null
  truePeakDb: number | null
}

/**
 * Adds `loudness` to the audio streams that need it. Reads the source once more, and a second time if peaks must be
 * limited, since the effect of a limiter is only known by trying. Values that could not be measured stay unknown.
 */
export async function measureLoudness(
  engine: FfmpegPrograms,
  url: string,
  { spec, media }: { spec: JobSpec; media: MediaInfo },
  options: Options,
): Promise<MediaInfo> {
  const target = spec.loudnessLufs
  const wanted = loudnessMeasurements(spec, media).map((measurement): MeasuredBranch => ({
    ...measurement,
    gainDb: null,
  }))
  if (target === null || wanted.length === 0) return media
  const part = readCut(
    { cut: media.cut === undefined ? null : { ...media.cut, frames: null } },
    options.seekable === true,
  )
  const compressed = media.audio.some(
    ({ number, codec }) => wanted.some(({ stream }) => stream === number) && isDolbyDigital({ codec }),
  )
  const input = options.joined?.input ?? [
    ...inputFlags(url),
    // As in the encode: without it, the measured level would differ from that of the outputs.
    ...(compressed ? ['-drc_scale', '0'] : []),
    ...(needsDeepProbe(spec, media) ? DEEP_PROBE_FLAGS : []),
    ...(part.seek ?? []),
    '-i',
    url,
  ]
  const levels = await runEbur128(engine, { input, part }, wanted, media, options)
  const measurements = wanted.flatMap(({ stream, mix }, index) => {
    const level = levels[index]
    return level === undefined || level === null ? [] : [{ stream, mix, ...level, limited: [] }]
  })
  const tries = measurements.flatMap(({ stream, ...measurement }) =>
    limiterGains(measurement, target).map((gainDb) => ({ stream, mix: measurement.mix, gainDb })),
  )
  const tried = tries.length === 0 ? [] : await runEbur128(engine, { input, part }, tries, media, options)
  return {
    ...media,
    audio: media.audio.map((audio) => ({
      ...audio,
      loudness: measurements
        .filter(({ stream }) => stream === audio.number)
        .map(({ stream, ...measurement }): MeasuredLoudness => ({
          ...measurement,
          limited: tries.flatMap((attempt, index) => {
            const integratedLufs = tried[index]?.integratedLufs ?? null
            const same = attempt.stream === stream && attempt.mix === measurement.mix
            return same && integratedLufs !== null ? [{ gainDb: attempt.gainDb, integratedLufs }] : []
          }),
        })),
    })),
  }
}

/** One reading for each branch, in order; null if ffmpeg printed none. */
async function runEbur128(
  engine: FfmpegPrograms,
  reading: SourceReading,
  branches: readonly MeasuredBranch[],
  media: MediaInfo,
  { threads = 0, seekable: _seekable, joined, ...run }: Options,
): Promise<(LoudnessReading | null)[]> {
  const pad = joined?.pad ?? ((stream: number) => audioSpecifier(usedPids(media), stream))
  const result = await runFfmpeg(engine, ebur128Args(reading, branches, pad, threads), {
    ...run,
    ...(joined === undefined ? {} : { pipeFeed: joined.pipeFeed, isBlocked: joined.isBlocked }),
    purpose: 'measure loudness',
  })
  run.signal?.throwIfAborted()
  return branches.map((_branch, index) => (result.ended === 'exit' ? parseEbur128(result.stderr, `m${index}`) : null))
}

function ebur128Args(
  { input, part }: SourceReading,
  branches: readonly MeasuredBranch[],
  pad: (stream: number) => string,
  threads: number,
): string[] {
  const graph = [...new Set(branches.map(({ stream }) => stream))].flatMap((stream) =>
    buildSharedGraph(
      `[${pad(stream)}]`,
      branches.flatMap((branch, index) =>
        branch.stream === stream ? [{ label: `o${index}`, filters: filters(branch, part, `m${index}`) }] : [],
      ),
      'asplit',
    ),
  )
  return [
    // ebur128 prints its summary at this level.
    ...['-nostdin', '-hide_banner', '-loglevel', 'level+info', '-nostats', '-progress', 'pipe:1'],
    ...(threads > 0 ? ['-threads', `${threads}`, '-filter_complex_threads', `${threads}`] : []),
    ...input,
    ...['-filter_complex', graph.join(';')],
    ...branches.flatMap((_branch, index) => ['-map', `[o${index}]`]),
    ...['-f', 'null', '-'],
  ]
}

function filters({ mix: gains, gainDb }: MeasuredBranch, { cut }: CutReading, name: string): string[] {
  const [aligned, ...mixed] = panFilter(48_000, gains, 'back')
  return [
    aligned,
    ...audioCutFilters(cut, 48_000),
    ...mixed,
    ...(gainDb === null ? [] : limiter(gainDb, TRUE_PEAK_CEILING_DB, 48_000)),
    // verbose: at the default level it prints a line every 0.1 s. Peaks matter only before a limiter.
    `ebur128@${name}=framelog=verbose${gainDb === null ? ':peak=true' : ''}`,
  ]
}

/**
 * Parses the summary of the filter of that name; it prints −70 LUFS if nothing is above the absolute gate. null = no
 * summary.
 */
export function parseEbur128(log: string, name: string): LoudnessReading | null {
  const at = log.lastIndexOf(`[ebur128@${name} @`)
  if (at < 0) return null
  const text = log.slice(at).split(/\n(?=\[)/, 1)[0]!
  const integrated = Number(/\bI: +(-?[\d.]+|-?inf|nan) LUFS/.exec(text)?.[1] ?? Number.NaN)
  const peak = Number(/\bPeak: +(-?[\d.]+|-?inf|nan) dBFS/.exec(text)?.[1] ?? Number.NaN)
  return {
    integratedLufs: Number.isFinite(integrated) && integrated > GATE_LUFS ? integrated : null,
    truePeakDb: Number.isFinite(peak) ? peak : null,
  }
}

/** BS.1770: blocks below this level do not count. */
const GATE_LUFS = -70
