// In charge of: how long the streams of a source last if its time stamps jump: the container's length is then the
// difference of two clocks. It is measured from the packets, without the jumps, as ffmpeg plays them.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FfprobeError, runFfprobe, type FfmpegPrograms } from '../ffmpeg/run.ts'
import { CLOCK_READERS } from '../formats/clockTimes.ts'
import { TICKS_PER_SECOND, ticksBetween } from '../formats/mpegts/clock.ts'
import {
  keepsJumps,
  type AudioStream,
  type ClockJump,
  type MediaInfo,
  type VideoStream,
} from '../plan/model/mediaInfo.ts'
import type { ReadBytes } from './transportSeek.ts'

/** Containers without a length of their own: it is the last time stamp minus the first one. */
const TIMED_FORMATS: ReadonlySet<string> = new Set(['mpegts', 'mpeg', 'flv', 'live_flv', 'asf'])
/** ffmpeg takes a larger step between two packets of a stream as a jump (-dts_delta_threshold), and one that goes back. */
const JUMP_SECONDS = 10
const STEP_BACK_SECONDS = -0.1
/** A step back looks like the end of the 33 bits, after 26.5 hours: few recordings last half of that. */
const LONG_SECONDS = 12 * 3600
/** Bytes at the beginning, from which the length is estimated. */
const HEAD_BYTES = 256 * 1024
const MIN_HEAD_SECONDS = 0.1
/** The stated length and the estimate differ by more than this factor: the clock is looked at. */
const FAR = 1.3
/** Places at which it is looked at. */
const LOOKS = 16
const LOOK_BYTES = 64 * 1024
/** Between two places, as a multiple of the median. */
const UNEVEN = 3
/** ffprobe takes a step back in a transport or program stream for the end of the 33 bits. */
const WRAP_SECONDS = 2 ** 33 / TICKS_PER_SECOND
const TIMEOUT_MS = 30 * 60_000
/** 24 hours of 100 packets a second. */
const OUTPUT_BYTES = 256 * 1024 * 1024

export function hasTimedLength({ formats }: MediaInfo): boolean {
  return formats.some((format) => TIMED_FORMATS.has(format))
}

/** The source with the lengths of its media, if a few looks at it show that its clock jumps. */
export async function withMeasuredLengths(
  engine: FfmpegPrograms,
  url: string,
  media: MediaInfo,
  bytes: { read: ReadBytes; size: number | null },
  options: { signal: AbortSignal; cwd: string },
): Promise<MediaInfo> {
  if (!hasTimedLength(media)) return media
  const isSuspect = (media.durationSeconds ?? 0) > LONG_SECONDS || (await clockSeemsToJump(media, bytes))
  const measured = isSuspect ? await measureLengths(engine, url, media, options) : null
  return measured?.clockJumps?.length ? measured : media
}

/** By its clock at a few places. */
async function clockSeemsToJump(
  { formats, durationSeconds, programs }: MediaInfo,
  { read, size }: { read: ReadBytes; size: number | null },
): Promise<boolean> {
  const clockTimes = formats.map((format) => CLOCK_READERS[format]).find((reader) => reader !== undefined)
  if (clockTimes === undefined || size === null) return false
  const head = clockTimes(await read(0, HEAD_BYTES))
  const clock = head[0]?.clock
  const own = head.filter((time) => time.clock === clock)
  const headSteps = own.slice(1).map(({ ticks }, index) => ticksBetween(own[index]!.ticks, ticks) / TICKS_PER_SECOND)
  if (headSteps.some((step) => step < 0 || step > JUMP_SECONDS)) return true
  // The looks would be at places that the first one has seen, or before the beginning.
  if (size <= HEAD_BYTES) return false
  const seconds = headSteps.reduce((sum, step) => sum + step, 0)
  if (clock === undefined || seconds < MIN_HEAD_SECONDS) return false
  const estimate = (seconds * size) / Math.min(size, own.at(-1)!.offset - own[0]!.offset)
  if (durationSeconds !== null && durationSeconds < estimate * FAR && durationSeconds > estimate / FAR) return false
  let last = own[0]!.ticks
  const steps: number[] = []
  for (let look = 1; look <= LOOKS; look += 1) {
    const found = clockTimes(await read(Math.floor(((size - LOOK_BYTES) * look) / LOOKS), LOOK_BYTES))
    const at = found.find((time) => time.clock === clock)
    // A clock on another PID began where this one ended.
    if (at === undefined && found.length > 0 && formats.includes('mpegts') && programs.length < 2) return true
    if (at === undefined) continue
    steps.push(ticksBetween(last, at.ticks) / TICKS_PER_SECOND)
    last = at.ticks
  }
  const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
  return steps.some((step) => step < 0 || step > UNEVEN * median + JUMP_SECONDS)
}

/** Reads all packets. null = nothing could be read. Throws only if the signal aborts. */
export async function measureLengths(
  engine: FfmpegPrograms,
  url: string,
  media: MediaInfo,
  options: { signal: AbortSignal; cwd: string },
): Promise<MediaInfo | null> {
  const args = [
    ...inputFlags(url),
    ...['-hide_banner', '-v', 'error', '-of', 'csv=p=0'],
    ...['-show_entries', 'packet=stream_index,dts_time,duration_time', '-i', url],
  ]
  try {
    const run = { purpose: 'measure the length', timeoutMs: TIMEOUT_MS, outputBytes: OUTPUT_BYTES }
    return lengthsOf(await runFfprobe(engine, args, { ...options, ...run }), media)
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof FfprobeError) return null
    throw error
  }
}

interface StreamLength {
  seconds: number
  jumps: ClockJump[]
  last: number | null
  step: number
  /** The step is the length that the last packet states. */
  isStated: boolean
}

/** `packets`: lines of an index, a decoding time and a duration. */
export function lengthsOf(packets: string, media: MediaInfo): MediaInfo {
  const lengths = new Map<number, StreamLength>()
  for (const line of packets.split('\n')) {
    const [index, time, length] = line.split(',').map(Number.parseFloat)
    if (index === undefined || !Number.isFinite(index) || time === undefined || !Number.isFinite(time)) continue
    const known = lengths.get(index) ?? { seconds: 0, jumps: [], last: null, step: 0, isStated: false }
    lengths.set(index, known)
    const step = known.last === null ? 0 : time - known.last
    const isJump = (step > JUMP_SECONDS && !keepsJumps(media)) || step < STEP_BACK_SECONDS
    const back = step > WRAP_SECONDS / 2 && media.formats.some((format) => format.startsWith('mpeg')) ? WRAP_SECONDS : 0
    if (isJump) known.jumps.push({ atSeconds: known.seconds + known.step, bySeconds: step - known.step - back })
    known.seconds += isJump ? known.step : step
    known.isStated = Number.isFinite(length)
    if (known.isStated) known.step = length!
    else if (!isJump && step > 0) known.step = step
    known.last = time
  }
  const measured = <T extends VideoStream | AudioStream>(stream: T): T => {
    const found = lengths.get(stream.index)
    if (found === undefined) return stream
    // The last packet of audio may be any part of the others (WMA).
    const isKnown = found.isStated || stream === media.video
    return { ...stream, durationSeconds: found.seconds + (isKnown ? found.step : 0) }
  }
  const streams = [...(media.video === null ? [] : [media.video]), ...media.audio].map(measured)
  const clockJumps = streams.map(({ index }) => lengths.get(index)?.jumps ?? []).find(({ length }) => length > 0) ?? []
  const start = media.startSeconds ?? 0
  const ends = streams.map((stream) => (stream.startSeconds ?? start) + (stream.durationSeconds ?? 0))
  return {
    ...media,
    video: media.video === null ? null : measured(media.video),
    audio: media.audio.map(measured),
    durationSeconds: Math.max(...ends) - start,
    clockJumps,
  }
}
