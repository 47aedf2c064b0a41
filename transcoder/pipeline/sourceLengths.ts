// In charge of: the lengths, the first picture and the display aspect ratios of an open source.
// Not in charge of: how they are measured (analysis/mediaLength.ts).
import { withDisplayRatios } from '../analysis/aspectChanges.ts'
import { measureLengths, withMeasuredLengths } from '../analysis/mediaLength.ts'
import { withFirstPicture } from '../analysis/firstPicture.ts'
import { TaskError } from '#contract/taskError.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Attempt } from '../attempt.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { outputDuration, outputStartSeconds, usedAudioStreams } from '../plan/streams/outputTiming.ts'

/** They are measured if its clock seems to jump. Every part of a job has to find the same. */
export async function withLengths(
  { engine, loopback, workspace, controller }: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  media: MediaInfo,
  size: number | null,
): Promise<MediaInfo> {
  const { signal } = controller
  // A source that is read in order allows one connection only.
  if (!(await loopback.open()).ranges) return media
  const read = (first: number, count: number) => loopback.readRange(first, count, signal)
  const options = { signal, cwd: workspace.cwd }
  const measured = await withMeasuredLengths(engine, loopback.url, media, { read, size }, options)
  if (measured.clockJumps !== undefined && measured.formats.includes('flv')) loopback.readAsLive()
  const begun = await withFirstPicture(engine, loopback.url, measured, options)
  return engine.features.followsAspect ? begun : withDisplayRatios(begun, { read, size })
}

/** Throws source_too_long. A source that states no length (null) is stopped while it is encoded (encode.ts). */
export function requireSourceSeconds(most: number | undefined, seconds: number | null): void {
  if (most !== undefined && seconds !== null && seconds > most + LENGTH_TOLERANCE_SECONDS) throw tooLong(seconds, most)
}

/** What the job uses of a source that is cut to its part (plan/streams/cut.ts); null = it states no length. */
export function usedSeconds(spec: JobSpec, media: MediaInfo): number | null {
  const numbers = usedAudioStreams(spec)
  const used = [
    ...[media.video].filter((video) => video !== null),
    ...media.audio.filter(({ number }) => numbers.includes(number)),
  ]
  return outputDuration(media, used, outputStartSeconds(spec, media))
}

/** Of a source that is as long as is allowed: its last frame and the last packets of its sound. */
const LENGTH_TOLERANCE_SECONDS = 1

export function tooLong(seconds: number, most: number): TaskError {
  return new TaskError(
    'source_too_long',
    `The outputs would last ${Math.ceil(seconds)} s or more; this service makes at most ${most} s in one job. Set start_seconds and end_seconds to make a part, or ask its operator (MAX_SOURCE_SECONDS). If the source is not as long as that, its time stamps are wrong.`,
    { details: { source_seconds: seconds, maximum: most } },
  )
}

/** By all of its packets; null = they cannot be read. */
export function measureSourceLengths(
  { engine, loopback, workspace, controller }: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  media: MediaInfo,
): Promise<MediaInfo | null> {
  return measureLengths(engine, loopback.url, media, { signal: controller.signal, cwd: workspace.cwd })
}
