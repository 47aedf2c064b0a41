// In charge of: where the outputs' time begins on the source's clock.
// Not in charge of: anything that happens later.
import type { JobSpec } from '#contract/spec.ts'
import type { MediaInfo, VideoStream } from './media.ts'
import { sourceRate } from './rate.ts'
import { toNumber } from './rational.ts'

interface ClockAbility {
  clockFromUsedStreams?: boolean
}

/** Larger differences are content that begins late: the first picture is held instead of moving the clock. */
const LARGEST_OFFSET_SECONDS = 0.5
/** Containers whose clock ffmpeg 6 and later begin with the streams that are used (AVFMT_TS_DISCONT). */
const CORRECTED = new Set(['mpegts', 'mpeg', 'ogg'])

/** Seconds by which the video starts after the file's clock, as far as the clock is moved for it. */
export function videoOffset(spec: JobSpec, media: MediaInfo, abilities: ClockAbility): number {
  if (media.video === null) return 0
  const clock = clockStart(spec, media, abilities)
  const ahead = beforeProgram(media, abilities)
  if (ahead === null) return offsetFrom(clock, media.video, spec)
  return Math.round((ahead + offsetFrom(media.startSeconds, media.video, spec)) * 1e6) / 1e6
}

/** Seconds from where ffmpeg's clock begins to where the program does, if that clock counts other programs too. */
function beforeProgram(media: MediaInfo, { clockFromUsedStreams = false }: ClockAbility): number | null {
  const { program, startSeconds } = media
  if (clockFromUsedStreams || startSeconds === null) return null
  return program === null || program.fileStartSeconds === null ? null : startSeconds - program.fileStartSeconds
}

/**
 * The same for a clock that begins at `start`. Pictures that begin much later are held at 0, but still moved on to the
 * output's grid: else they would be up to half a picture off.
 */
export function offsetFrom(start: number | null, video: VideoStream, spec: JobSpec): number {
  const late = (video.startSeconds ?? 0) - (start ?? video.startSeconds ?? 0)
  const framesPerSecond = toNumber(sourceRate(spec, video, []))
  const moved =
    Math.abs(late) < LARGEST_OFFSET_SECONDS ? late : late - Math.round(late * framesPerSecond) / framesPerSecond
  return Math.round(moved * 1e6) / 1e6
}

/** Seconds on the source's clock at which the outputs' pictures begin. */
export function outputStart(spec: JobSpec, media: MediaInfo, abilities: ClockAbility): number {
  return (clockStart(spec, media, abilities) ?? 0) + videoOffset(spec, media, abilities)
}

/** Where ffmpeg's own clock begins. A stream that is not used, such as cues, may begin earlier than all that are. */
function clockStart(spec: JobSpec, media: MediaInfo, { clockFromUsedStreams = false }: ClockAbility): number | null {
  const { startSeconds, video } = media
  if (!clockFromUsedStreams || !media.formats.some((format) => CORRECTED.has(format)))
    return media.program?.fileStartSeconds ?? startSeconds ?? video?.startSeconds ?? null
  const tracks = spec.video.flatMap(({ audioProfiles }) =>
    audioProfiles.map((index) => spec.audio[index]?.sourceStream),
  )
  const used = [video, ...media.audio.filter(({ number }) => tracks.includes(number))]
  const starts = used.flatMap((stream) => stream?.startSeconds ?? [])
  return starts.length === 0 ? startSeconds : Math.min(...starts)
}
