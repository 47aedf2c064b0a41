// In charge of: whether an attempt at a main task hands its job on to parts.
// Not in charge of: the division in the plan (plan/division/), the parts (makePart.ts).
import type { DividePost, TaskDescription } from '#contract/task/protocol.ts'
import type { Log } from '../../log.ts'
import type { Plan } from '../../plan/model/plan.ts'

/** Its survey first, if the plan has one. One more than chunks: the rest. null = this attempt makes the whole job. */
export function partsOfJob(log: Log, { accepts }: TaskDescription, { division }: Plan): DividePost | null {
  if (division == null) return null
  const parts = division.chunks.length + 1
  if (parts <= (accepts?.parts ?? 0))
    return division.survey === undefined ? { parts } : { parts: division.survey.parts, survey: true }
  // Its division is stored by a transcoder that saw another version of the service.
  log.info('the job is not divided: the service does not accept its parts', { parts })
  return null
}
