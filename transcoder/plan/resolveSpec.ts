// In charge of: what of a job depends on what the source has: optional audio, the rungs of ladder "auto", profiles that would
// be upscaled. Everything behind it plans a job that says all of it.
// Not in charge of: choosing rungs (video/ladder.ts), judging sizes (video/upscaling.ts).
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'
import { describeAudioCount } from './audio/audioTracks.ts'
import { ladderRungs } from './video/ladder.ts'
import type { PlanContext } from './planContext.ts'
import { resolveUpscaling } from './video/upscaling.ts'

/** The job for this source. A ladder of a source without video stays as it is: it has no rungs to make. */
export function resolveSpec(context: PlanContext): JobSpec {
  const { media } = context
  const heard = withoutMissingAudio(context)
  if (media.video === null) return heard
  const [any] = heard.video
  const video =
    heard.ladder === null || any === undefined
      ? resolveUpscaling(context.withSpec(heard), media.video)
      : ladderRungs(heard, media.video, any)
  return { ...heard, video }
}

/** Extension `optional`: where the source lacks the stream, the job is as if the profile were not there. */
function withoutMissingAudio(context: PlanContext): JobSpec {
  const { spec, media } = context
  const has = ({ sourceStream }: AudioProfile) => media.audio.some(({ number }) => number === sourceStream)
  const missing = spec.audio.filter((audio) => audio.optional && audio.sourceStream !== null && !has(audio))
  if (missing.length === 0) return spec
  for (const { index, sourceStream } of missing)
    if (spec.audioDirectory !== null || spec.video.some(({ audioProfiles }) => audioProfiles.includes(index)))
      context.warn({
        code: 'audio_left_out',
        field: `audioProfiles[${index}].source_stream`,
        message: `Audio profile ${index} is left out: the source has ${describeAudioCount(media.audio.length)}, so there is no source_stream ${sourceStream}.`,
      })
  const isLeft = (index: number) => !missing.some((audio) => audio.index === index)
  return {
    ...spec,
    audio: spec.audio.filter(({ index }) => isLeft(index)),
    video: spec.video.map((video) => ({ ...video, audioProfiles: video.audioProfiles.filter(isLeft) })),
  }
}
