// In charge of: the parts of a job that depend on the source: optional audio, the rungs of ladder "auto", profiles that
// would be upscaled. Later decisions get a job in which these are settled.
// Not in charge of: choosing rungs (video/ladder.ts), comparing sizes (video/upscaling.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { carriedProfiles } from './audio/carriedProfiles.ts'
import { settleCopies, type Copying } from './copy/settleCopies.ts'
import { missingProfileAudio, requestedAudio } from './audio/sourceChannels.ts'
import { ladderRungs } from './video/ladder.ts'
import type { PlanContext } from './planContext.ts'
import { resolveUpscaling } from './video/upscaling.ts'

/** The job for this source. A ladder stays unchanged for a source without video, which can have no rungs. */
export function resolveSpec(context: PlanContext, copying: Copying): JobSpec {
  const { media, timeline } = context
  const resolved = settleCopies(context.withSpec(withoutMissingAudio(context), timeline), copying)
  if (media.video === null || timeline.rate === null) return resolved
  const [any] = resolved.video
  const video =
    resolved.ladder === null || any === undefined
      ? resolveUpscaling(context.withSpec(resolved, timeline), media.video)
      : ladderRungs(resolved, media.video, any, timeline.rate.value)
  return { ...resolved, video }
}

/** Extension `optional`: where the source lacks the stream, the profile is removed from the job. */
function withoutMissingAudio(context: PlanContext): JobSpec {
  const { spec, media } = context
  const missing = spec.audio.filter(
    (audio) => audio.optional && audio.sourceStream !== null && requestedAudio(audio, media.audio) === null,
  )
  if (missing.length === 0) return spec
  const carried = carriedProfiles(spec)
  for (const audio of missing) {
    if (!carried.some(({ index }) => index === audio.index)) continue
    const { field, why } = missingProfileAudio(audio, media)
    context.warn({ code: 'audio_left_out', field, message: `Audio profile ${audio.index} is left out: ${why}.` })
  }
  const isLeft = (index: number) => !missing.some((audio) => audio.index === index)
  return {
    ...spec,
    audio: spec.audio.filter(({ index }) => isLeft(index)),
    video: spec.video.map((video) => ({ ...video, audioProfiles: video.audioProfiles.filter(isLeft) })),
  }
}
