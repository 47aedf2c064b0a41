// In charge of: the times of the damage that an attempt at a chunk finds, as those of the outputs.
// Not in charge of: finding it (analysis/damage/).
import type { DamageSummary, EventCount } from '../../analysis/damage/damageReport.ts'
import { toNumber } from '../../formats/rational.ts'
import type { PartPlan } from '../../plan/model/divisionPlan.ts'
import type { Plan } from '../../plan/model/plan.ts'

/** The encoder of a chunk counts from 0. */
export function damageOfChunk(
  found: DamageSummary,
  { packaging }: Plan,
  { from }: Extract<PartPlan, { kind: 'chunk' }>,
): DamageSummary {
  const before = packaging === null ? 0 : from * toNumber(packaging.segmentDuration)
  const later = ({ count, seconds }: EventCount): EventCount => ({
    count,
    seconds: seconds.map((each) => each + before),
  })
  return {
    packets: later(found.packets),
    frames: later(found.frames),
    messages: { ...later(found.messages), first: found.messages.first },
    gaps: found.gaps.map((gap) => ({ ...gap, seconds: gap.seconds + before })),
    total: found.total,
  }
}
