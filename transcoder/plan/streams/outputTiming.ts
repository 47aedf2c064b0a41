// In charge of: where the outputs' time begins on the source's clock, and how long they last.
// Not in charge of: anything in between.
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from '../model/engineFeatures.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import { sourceRate } from '../video/frameRate.ts'
import { toNumber } from '../../formats/rational.ts'
import { planCopiedSubtitles } from './copiedSubtitles.ts'

/** Larger differences are content that begins late: the first picture is held instead of moving the clock. */
const MAX_OFFSET_SECONDS = 0.5
/** Containers whose clock ffmpeg 6 and later begin with the streams that are used (AVFMT_TS_DISCONT). */
const CORRECTED = new Set(['mpegts', 'mpeg', 'ogg'])

/**
 * Seconds to take off ffmpeg's own clock so that it is 0 where the outputs begin. ffmpeg 5 begins it with all streams of a
 * file once anything is taken off (`-itsoffset` turns its own correction off), later versions with those that are used.
 */
export function videoOffset(
  spec: JobSpec,
  media: MediaInfo,
  { clockFromUsedStreams }: Pick<EngineFeatures, 'clockFromUsedStreams'>,
): number {
  // Without video nothing is taken off.
  if (media.video === null) return 0
  const clock = clockFromUsedStreams ? withSubtitles(clockStart(spec, media), spec, media) : fileStart(media)
  return micro(outputStartSeconds(spec, media) - (clock ?? 0))
}

/** Pictures that begin much later are held at 0, but still moved on to the output's grid: else they would be up to half a picture off. */
function offsetFrom(start: number | null, video: VideoStream, spec: JobSpec): number {
  const late = (video.startSeconds ?? 0) - (start ?? video.startSeconds ?? 0)
  const framesPerSecond = toNumber(sourceRate(spec, video).value)
  return Math.abs(late) < MAX_OFFSET_SECONDS ? late : late - Math.round(late * framesPerSecond) / framesPerSecond
}

/** Seconds on the source's clock at which the outputs begin: the same whichever version of ffmpeg makes them. */
export function outputStartSeconds(spec: JobSpec, media: MediaInfo): number {
  const clock = clockStart(spec, media)
  return micro((clock ?? 0) + (media.video === null ? 0 : offsetFrom(clock, media.video, spec)))
}

/**
 * Seconds that an output of these streams should last; null where the source does not say. A stream that nothing uses may be longer
 * than the film: where a used one does not state its length, this is only a limit (requiredLength).
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
  // Where one of them does not say, it may be the longest.
  const end = known.length === 0 || known.length < ends.length ? fileEnd : Math.max(...known)
  return end === null ? null : Math.max(0, Math.min(end, fileEnd ?? end) - startSeconds)
}

/**
 * Seconds that an output of the video and these audio streams must last; null where that is not known. Matroska states the length
 * of the file, and that of a stream only in a tag that many writers leave out: the file's may be that of a stream nobody uses.
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

/** Numbers of the audio streams that some output or file of the job asks for. */
export function usedAudioStreams(spec: JobSpec): number[] {
  const profiles =
    spec.audioDirectory === null
      ? spec.video.flatMap(({ audioProfiles }) => audioProfiles.map((index) => spec.audio[index]))
      : spec.audio
  return [...new Set(profiles.flatMap((profile) => profile?.sourceStream ?? []))]
}

/** Streams that some output or file of the job is made of. */
function usedStreams(spec: JobSpec, media: MediaInfo): (VideoStream | AudioStream)[] {
  const tracks = usedAudioStreams(spec)
  return [
    ...(media.video === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => tracks.includes(number)),
  ]
}

/** The whole file's, of which other programs may have begun hours before. */
function fileStart({ program, startSeconds, video }: MediaInfo): number | null {
  return program?.fileStartSeconds ?? startSeconds ?? video?.startSeconds ?? null
}

/** A stream that is not used, such as cues, may begin earlier than all that are. */
function clockStart(spec: JobSpec, media: MediaInfo): number | null {
  const starts = usedStreams(spec, media).flatMap((stream) => stream.startSeconds ?? [])
  if (starts.length === 0 || !media.formats.some((format) => CORRECTED.has(format))) return fileStart(media)
  return Math.min(...starts)
}

/** Those that are copied count as used, but the outputs do not begin with them. */
function withSubtitles(clock: number | null, spec: JobSpec, media: MediaInfo): number | null {
  const copied = planCopiedSubtitles(spec, media).map(({ pid }) => pid)
  const starts = media.other.flatMap(({ id, startSeconds }) =>
    id !== null && copied.includes(id) && startSeconds !== undefined ? [startSeconds] : [],
  )
  return clock === null ? null : Math.min(clock, ...starts)
}

function micro(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}
