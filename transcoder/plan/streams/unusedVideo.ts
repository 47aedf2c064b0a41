// In charge of: a source with video for a job that makes none: its video is neither read nor decoded, but still says
// where the outputs begin and what a timecode means.
// Not in charge of: what such a job makes (planWithoutVideo.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import { wantsFrames } from '../extracts/wantsFrames.ts'
import { outputStartSeconds } from './outputTiming.ts'

/** Whether an output of the job shows frames of the source. */
export function needsVideo(spec: JobSpec): boolean {
  return spec.video.length > 0 || wantsFrames(spec)
}

/** The source as every later step of such a job sees it: without video. */
export function withoutUnusedVideo(spec: JobSpec, media: MediaInfo): MediaInfo {
  return needsVideo(spec) ? media : withoutVideo(media, outputStartSeconds(spec, media))
}

/** The same for the files of a job that are not made of frames. */
export function withoutVideo(media: MediaInfo, startSeconds: number): MediaInfo {
  if (media.video === null) return media
  // The same start as in a job with video: a cut has the same audio in both jobs.
  return { ...media, video: null, unusedVideo: media.video, outputStart: startSeconds }
}
