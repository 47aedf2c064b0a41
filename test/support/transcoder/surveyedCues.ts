// In charge of: a source with cues whose survey finds them, and the job that carries them.
// Not in charge of: expectations.
import { join } from 'node:path'
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { SurveyPlan } from '../../../transcoder/plan/model/divisionPlan.ts'
import type { Plan } from '../../../transcoder/plan/model/plan.ts'
import { cueAtSeconds, makeCueClip } from '../mpegts/cueClips.ts'
import { spliceInsert, timeSignal } from '../mpegts/spliceSections.ts'
import type { AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'
import { segmentedTask } from './segmentedTask.ts'

const S = 90_000
const cues = [
  cueAtSeconds(0.9, spliceInsert({ eventId: 1, out: true, pts: 2.4 * S })),
  cueAtSeconds(2.3, spliceInsert({ eventId: 1, out: true, pts: 2.4 * S })),
  // At a regular boundary of segments, which is then no place for a chunk to begin.
  cueAtSeconds(3.1, timeSignal(4.08 * S)),
  cueAtSeconds(5, spliceInsert({ eventId: 2, out: false, pts: null }), 'frame'),
]

export const cueSurvey: SurveyPlan = { parts: 3, factors: [], cues: { parts: 3 } }

export function makeSurveyedCues({ directory }: AttemptFixture): Promise<Buffer> {
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  return makeCueClip(join(directory, 'surveyed-cues.ts'), { seconds: 8, audio: [1], flags }, cues)
}

export function cueTask(): TaskDescription {
  const forms = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
  return segmentedTask({ ...forms, scte35_passthough: true })
}

/** The plan as the first attempt leaves it if parts look for cues. */
export function forgetCues({ storedPlan }: FakeTaskApi): void {
  for (const { video } of (storedPlan as Plan).packaging!.renditions) if (video !== null) video.spliceFrames = []
}
