// In charge of: one preview image of the source: at a tenth of its duration, or at another position if that one shows
// almost nothing.
// Not in charge of: sending it (pipeline/attemptReports.ts), posters among the outputs (plan/video/thumbnailPlan.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { Readable } from 'node:stream'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../ffmpeg/run.ts'
import { readSourceVideo, withoutColorConversion } from '../plan/video/color.ts'
import { uprightSize } from '../plan/video/geometry.ts'
import type { MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import { usedPids, videoSpecifier } from '../plan/streams/programSelection.ts'
import { toNumber } from '../formats/rational.ts'
import { steadyFilters, steadyFrameInput } from '../plan/argv/steadyFrames.ts'
import { previewArgs, previewFilters } from '../plan/argv/thumbnailArgs.ts'
import { fitSide } from '../plan/video/thumbnailPlan.ts'
import { readJpegs } from '../ffmpeg/jpegReader.ts'

const MAX_SIDE = 640
/** Shares of the duration, in the order in which they are tried. */
const POSITIONS = [0.1, 0.2, 0.35, 0.5, 0.75]
/** Time for all tries together: the attempt waits no longer for the preview. */
const TOTAL_MS = 15_000
/**
 * For a source that can only be read from its beginning: how far it is read. Going further would amount to a separate
 * download.
 */
const HEAD_SECONDS = 4
/** Side length in pixels of the image that is scored. */
const SCORE_SIZE = 32

interface ScoredStill {
  jpeg: Uint8Array
  score: number
}

/**
 * An image shows something if it is brighter than this on average and has this range between dark and bright (of 255).
 */
const MIN_MEAN = 24
const MIN_SPREAD = 24
const GOOD = 1

/**
 * `seekable`: the source can be read at any position. Null if no frame could be extracted. Throws only if the signal
 * aborts.
 */
export async function capturePreview(
  engine: Engine,
  url: string,
  media: MediaInfo,
  options: { cwd: string; signal: AbortSignal; seekable: boolean; threads: number },
): Promise<Uint8Array | null> {
  const { video } = media
  if (video === null) return null
  const seconds = video.durationSeconds ?? media.durationSeconds
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TOTAL_MS)])
  let best: ScoredStill | null = null
  for (const read of readings(options.seekable ? seconds : null)) {
    const args = [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
      ...(options.threads > 0 ? ['-threads', `${options.threads}`, '-filter_complex_threads', '1'] : []),
      ...inputFlags(url),
      ...read.input,
      ...captureArgs(engine, media, video, { ...read, url }),
    ]
    for (const found of await captureStill(engine, args, { cwd: options.cwd, signal }))
      if (best === null || found.score > best.score) best = found
    options.signal.throwIfAborted()
    if (signal.aborted || (best !== null && best.score >= GOOD)) break
  }
  return best?.jpeg ?? null
}

interface SeekPosition {
  /** Options of the input. */
  input: string[]
  /** Number of frames that are scored, one per second. */
  frames: number
}

/** `seconds` null: the source is read from its beginning. */
function* readings(seconds: number | null): Generator<SeekPosition> {
  if (seconds === null) {
    yield { input: ['-t', `${HEAD_SECONDS}`], frames: HEAD_SECONDS }
    return
  }
  const at = (part: number) => ['-ss', (seconds * part).toFixed(3)]
  // The key frame before that position needs the least decoding.
  yield { input: ['-noaccurate_seek', ...at(POSITIONS[0]!)], frames: 1 }
  for (const part of POSITIONS) yield { input: at(part), frames: 1 }
  // In case seeking does not work.
  yield { input: [], frames: 1 }
}

/** Outputs each frame twice: as the preview, and small and grey for the score. */
function captureArgs(
  engine: Engine,
  media: MediaInfo,
  video: VideoStream,
  read: SeekPosition & { url: string },
): string[] {
  const { zscale } = engine.features
  const size = uprightSize(video)
  const sourceVideo = readSourceVideo(video, size)
  const aspect = toNumber(size.display)
  const [width, height] = fitSide(Math.min(MAX_SIDE, Math.max(size.height, size.height * aspect)), aspect)
  const source = {
    picture: zscale ? sourceVideo : withoutColorConversion(sourceVideo),
    scaler: zscale ? ('zscale' as const) : ('scale' as const),
  }
  const graph = [
    `[${videoSpecifier(usedPids(media))}]`,
    [
      ...steadyFilters(source.picture),
      ...(read.frames > 1 ? ['fps=1:start_time=0:round=up'] : []),
      // Deinterlaces: moving objects would otherwise show combing. Frames not flagged as interlaced stay unchanged.
      ...(video.fieldOrder === 'progressive' ? [] : ['bwdif=mode=send_frame:parity=auto:deint=interlaced']),
      ...previewFilters(source, width, height),
      'split=2[still][copy]',
    ].join(','),
    `;[copy]scale=${SCORE_SIZE}:${SCORE_SIZE}:flags=area,format=gray[grey]`,
  ].join('')
  const count = ['-frames:v', `${read.frames}`]
  return [
    ...steadyFrameInput(source.picture),
    ...['-i', read.url],
    ...['-filter_complex', graph],
    ...previewArgs('[still]', count, `pipe:${FIRST_PIPE_FD}`),
    ...['-map', '[grey]', ...count, '-c:v', 'rawvideo', '-fps_mode', 'passthrough'],
    ...['-f', 'rawvideo', `pipe:${FIRST_PIPE_FD + 1}`],
  ]
}

async function captureStill(
  engine: Engine,
  args: readonly string[],
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<ScoredStill[]> {
  let jpegs: Uint8Array[] = []
  let greys = Buffer.alloc(0)
  const pipeReaders = [
    async (stream: Readable) => void (jpegs = (await readJpegs(stream)) ?? []),
    async (stream: Readable) => {
      for await (const block of stream) greys = Buffer.concat([greys, block as Buffer])
    },
  ]
  await runFfmpeg(engine, args, { cwd, purpose: 'make the poster', signal, stallMs: TOTAL_MS, pipeReaders })
  const size = SCORE_SIZE * SCORE_SIZE
  return jpegs.flatMap((jpeg, index) => {
    const grey = greys.subarray(index * size, (index + 1) * size)
    return grey.length === size ? [{ jpeg, score: stillScore(grey) }] : []
  })
}

/** 1 and more: the image shows something. Below 1, brighter images with more detail have a higher score. */
export function stillScore(grey: Uint8Array): number {
  const sorted = grey.toSorted()
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  return Math.min(mean / MIN_MEAN, (at(0.95) - at(0.05)) / MIN_SPREAD)
}
