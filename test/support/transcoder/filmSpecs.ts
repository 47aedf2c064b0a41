// In charge of: a job that takes long, and sources for it: what division is decided for.
// Not in charge of: their plan (transcoder/plan).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo, VideoStream } from '../../../transcoder/plan/model/mediaInfo.ts'
import { audioProfile, audioStream, jobSpec, mediaInfo, packagingSpec, videoProfile } from './jobSpecs.ts'

export const FILM_RUNGS = [1080, 720, 540, 360].map((height) =>
  videoProfile({ output: '', width: 0, height, bitrateKbps: height * 5 }),
)

/** HLS and DASH. */
export function filmLadder(change: Partial<JobSpec> = {}): JobSpec {
  return jobSpec({
    quality: 'better',
    gopSeconds: 2,
    packaging: packagingSpec({ hls: true, dash: true }),
    video: FILM_RUNGS,
    audio: [audioProfile({ optional: true })],
    ...change,
  })
}

/** 1080p, with one audio stream. */
export function filmOf(seconds: number, video: Partial<VideoStream> = {}, change: Partial<MediaInfo> = {}): MediaInfo {
  return mediaInfo(
    { width: 1920, height: 1080, durationSeconds: seconds, ...video },
    { durationSeconds: seconds, audio: [audioStream({ durationSeconds: seconds })], ...change },
  )
}
