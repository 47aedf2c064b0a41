// In charge of: where the outputs begin on the source's clock, and how long they last.
// Not in charge of: timing in between (filters.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from '../model/engineFeatures.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import type { Timeline } from '../planContext.ts'
import { carriedProfiles } from '../audio/carriedProfiles.ts'
import { requestedStreams } from '../audio/sourceChannels.ts'
import { sourceRate } from '../video/frameRate.ts'
import { toNumber } from '../../formats/rational.ts'
import { planCopiedSubtitles } from './copiedSubtitles.ts'
import { textSubtitleStreams } from './textSubtitles.ts'

/** With a larger difference, content begins late: the first frame is held and the clock does not move. */
const MAX_OFFSET_SECONDS = 0.5
/** Containers whose clock starts, in ffmpeg 6 and later, with the streams that are used (AVFMT_TS_DISCONT). */
const CORRECTED = new Set(['mpegts', 'mpeg', 'ogg'])

/** Containers with an index of their frames: ffmpeg finds the key frame before a time exactly. */
const INDEXED = new Set(['mov', 'mp4', 'matroska', 'webm'])

type ClockFeatures = Pick<EngineFeatures, 'clockFromUsedStreams'> & Partial<Pick<EngineFeatures, 'teletext'>>

/** `media`: with or without a cut. ffmpeg's own clock is that of the source without it. */
export function timelineOf(spec: JobSpec, media: MediaInfo, features: ClockFeatures): Timeline {
  const whole = media.cut?.whole ?? media
  const startSeconds = outputStartSeconds(spec, media)
  const begin = whole === media ? startSeconds : outputStartSeconds(spec, whole)
  return {
    startSeconds,
    rate: media.video === null ? null : sourceRate(spec, media.video),
    offsets: offsetsOf(spec, whole, features, begin),
    seekOriginSeconds:
      media.cut?.seekOriginSeconds ??
      (media.cut === undefined && isIndexed(media) ? begin - (fileStart(media) ?? 0) : null),
  }
}

export function isIndexed({ formats }: MediaInfo): boolean {
  return formats.some((format) => INDEXED.has(format))
}

/**
 * With `-itsoffset` ffmpeg 5 starts its clock with all streams of the file, because the option turns its own correction
 * off. Later versions start it with the streams that are used.
 */
function offsetsOf(spec: JobSpec, media: MediaInfo, features: ClockFeatures, begin: number): Timeline['offsets'] {
  const offset = (clock: number | null) => micro(begin - (clock ?? 0))
  // A source without video begins where ffmpeg's clock does.
  const beginsWithClock = media.video === null && media.outputStart === undefined
  if (!features.clockFromUsedStreams) {
    const each = offset(fileStart(media))
    return { all: beginsWithClock ? 0 : each, frames: each, sound: each }
  }
  const all = () => withSubtitles(clockStart(spec, withoutBursts(media)), spec, media, features)
  const alone: JobSpec = { ...spec, audio: [], audioDirectory: null, video: [], waveform: null }
  return {
    all: beginsWithClock ? 0 : offset(all()),
    frames: offset(clockStart(alone, media)),
    sound: offset(withSubtitles(clockStart(spec, { ...media, video: null }), spec, media, features)),
  }
}

/** What is taken out of bursts is not read from the source. */
function withoutBursts(media: MediaInfo): MediaInfo {
  return { ...media, audio: media.audio.filter(({ bursts }) => bursts === undefined) }
}

/** Seconds on the source's clock. */
function firstPicture(video: VideoStream): number | null {
  return video.firstPictureSeconds ?? video.startSeconds
}

/**
 * The first frame is held at 0 where video begins much later than sound. It is still moved onto the output's grid:
 * otherwise it would be up to half a frame off.
 */
function offsetFrom(start: number | null, video: VideoStream, spec: JobSpec): number {
  const late = (firstPicture(video) ?? 0) - (start ?? firstPicture(video) ?? 0)
  // Packets before the first picture of a silent recording are nothing that could be shown or heard.
  if (video.firstPictureSeconds !== undefined && usedAudioStreams(spec).length === 0) return late
  const framesPerSecond = toNumber(sourceRate(spec, video).value)
  return Math.abs(late) < MAX_OFFSET_SECONDS ? late : late - Math.round(late * framesPerSecond) / framesPerSecond
}

/** How long the outputs show their first frame before the video begins; none if it is short. */
export function warnFirstFrameHeld(media: MediaInfo, startSeconds: number): Warning[] {
  if (media.video === null || media.cut !== undefined) return []
  const seconds = (firstPicture(media.video) ?? 0) - startSeconds
  if (seconds < MAX_OFFSET_SECONDS) return []
  const message = `The video begins ${seconds.toFixed(2)} s after the sound; until then, its first frame is shown.`
  return [{ code: 'first_frame_held', message }]
}

/** See Timeline. */
export function outputStartSeconds(spec: JobSpec, media: MediaInfo): number {
  if (media.outputStart !== undefined) return media.outputStart
  const clock = clockStart(spec, media)
  return micro((clock ?? 0) + (media.video === null ? 0 : offsetFrom(clock, media.video, spec)))
}

/**
 * Expected duration in seconds of an output with these streams; null where the source does not state it. An unused
 * stream may be longer than the video: where a used stream does not state its duration, this is only an upper limit
 * (requiredDuration).
 */
export function outputDuration(
  media: MediaInfo,
  used: readonly (VideoStream | AudioStream)[],
  startSeconds: number,
): number | null {
  const ends = used.map((stream) =>
    stream.durationSeconds === null ? null : (stream.startSeconds ?? media.startSeconds ?? 0) + stream.durationSeconds,
  )
  const known = ends.filter((end) => end !== null)
  const fileEnd = media.durationSeconds === null ? null : (media.startSeconds ?? 0) + media.durationSeconds
  // A stream that states no duration may be the longest one.
  const end = known.length === 0 || known.length < ends.length ? fileEnd : Math.max(...known)
  return end === null ? null : Math.max(0, Math.min(end, fileEnd ?? end) - startSeconds)
}

/**
 * Required duration in seconds of an output with the video and these audio streams; null where it is unknown. Matroska
 * states the duration of the file. The duration of a stream is only in a tag that many writers leave out. The file's duration
 * may come from an unused stream.
 */
export function requiredDuration(
  media: MediaInfo,
  audioNumbers: readonly number[],
  plannedSeconds: number | null,
  startSeconds: number,
): number | null {
  const used = [
    ...(media.video === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => audioNumbers.includes(number)),
  ]
  const stated = used.filter(({ durationSeconds }) => durationSeconds !== null)
  const unused = media.audio.length + (media.video === null ? 0 : 1) + media.other.length - used.length
  if (stated.length === used.length || unused === 0) return plannedSeconds
  return stated.length === 0 ? null : outputDuration(media, stated, startSeconds)
}

/** Numbers of the audio streams that the job's outputs or audio files use. */
export function usedAudioStreams(spec: JobSpec): number[] {
  const tracks = carriedProfiles(spec).flatMap(requestedStreams)
  return [...new Set([...tracks, ...(spec.waveform === null ? [] : [spec.waveform.sourceStream])])]
}

/** Streams that the job's outputs or audio files use. */
function usedStreams(spec: JobSpec, media: MediaInfo): (VideoStream | AudioStream)[] {
  const tracks = usedAudioStreams(spec)
  return [
    ...(media.video === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => tracks.includes(number)),
  ]
}

/** Start of the whole file: other programs may have begun hours earlier. */
export function fileStart({ program, startSeconds, video }: MediaInfo): number | null {
  return program?.fileStartSeconds ?? startSeconds ?? video?.startSeconds ?? null
}

/** Only used streams count: an unused stream, such as cues, may begin earlier. */
function clockStart(spec: JobSpec, media: MediaInfo): number | null {
  const starts = usedStreams(spec, media).flatMap((stream) => stream.startSeconds ?? [])
  if (starts.length === 0 || !media.formats.some((format) => CORRECTED.has(format))) return fileStart(media)
  return Math.min(...starts)
}

/** For ffmpeg's clock, subtitles that are copied or become tracks count as used. The outputs do not begin with them. */
function withSubtitles(
  clock: number | null,
  spec: JobSpec,
  media: MediaInfo,
  features: Partial<Pick<EngineFeatures, 'teletext'>>,
): number | null {
  const copied = planCopiedSubtitles(spec, media).map(({ pid }) => pid)
  const tracks = textSubtitleStreams(spec, media, features)
  const starts = media.other.flatMap((stream) => {
    const isUsed = (stream.id !== null && copied.includes(stream.id)) || tracks.includes(stream)
    return isUsed && stream.startSeconds !== undefined ? [stream.startSeconds] : []
  })
  return clock === null ? null : Math.min(clock, ...starts)
}

function micro(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}
