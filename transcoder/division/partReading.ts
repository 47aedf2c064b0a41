// In charge of: how a part reads the source: where it begins, and which bytes it will read. What a transport stream has
// instead of an index is found here.
// Not in charge of: finding the place (chunkPlace.ts, keyFrameSeek.ts), the bytes (expectedBytes.ts).
import type { Attempt } from '../attempt.ts'
import type { OpenTask } from '../pipeline/openTask.ts'
import { skipsVideo } from '../plan/model/encodedRange.ts'
import { applyCut } from '../plan/streams/cut.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { expectChunk } from './chunkPlace.ts'
import { expectPart, readTracks } from './expectedBytes.ts'
import { withKeyFrame } from './keyFrameSeek.ts'

/** `plan`: of the part (planOfPart). */
export async function withReading({ attempt, spec, media, timeline }: OpenTask, plan: Plan): Promise<Plan> {
  const { loopback, controller } = attempt
  const used = applyCut(media, timeline, plan.cut === null ? null : { ...plan.cut, endsAfterSource: false })
  const startSeconds = outputStartSeconds(spec, used)
  const tracks = await readTracks(loopback, media, controller.signal)
  // Before much is expected: it reads the beginning of a frame.
  const begun = await withKeyFrame(loopback, plan, { media, startSeconds }, controller.signal)
  expectPart(loopback, { plan, startSeconds }, tracks)
  const located = await expectChunk(loopback, begun, { spec, media }, controller.signal)
  const videoOffsetSeconds = offsetOfPart(located, { media, timeline }, attempt.engine.features)
  return { ...located, videoOffsetSeconds }
}

/**
 * Any but 0, with which ffmpeg 5 begins its clock of a transport stream with the streams that a run uses. Less than a tick
 * of its time stamps: they stay as they are.
 */
const NO_OFFSET_SECONDS = 1e-6

/** Versions of ffmpeg that begin their clock with the streams that a run uses begin it elsewhere in each part. */
function offsetOfPart(
  plan: Plan,
  { media, timeline }: Pick<OpenTask, 'media' | 'timeline'>,
  features: Attempt['engine']['features'],
): number {
  if (!media.formats.includes('mpegts')) return plan.videoOffsetSeconds
  const isChunk = plan.range != null
  if (!isChunk && !skipsVideo(plan)) return plan.videoOffsetSeconds
  const offset = isChunk ? timeline.offsets.frames : timeline.offsets.sound
  return offset === 0 && !features.clockFromUsedStreams ? NO_OFFSET_SECONDS : offset
}
