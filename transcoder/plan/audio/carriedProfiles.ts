// In charge of: which audio profiles of a job some output carries.
// Not in charge of: the tracks that they become (audioTracks.ts).
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'

/** All of them where each is separate: as a file, or as segments without video. */
export function carriedProfiles({ audioDirectory, audio, video }: JobSpec): AudioProfile[] {
  if (audioDirectory !== null || video.length === 0) return audio
  return audio.filter(({ index }) => video.some(({ audioProfiles }) => audioProfiles.includes(index)))
}
