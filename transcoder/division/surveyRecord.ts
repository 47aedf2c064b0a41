// In charge of: the record of a part that surveys the source of a divided job.
// Not in charge of: making it (pipeline/division/surveyPart.ts), what follows from it (analysis/rate/surveyRates.ts).
import * as z from 'zod/mini'
import { TaskError } from '#contract/taskError.ts'

const amount = z.number().check(z.gte(0))

const whole = amount.check(z.int())
const levels = z.object({ steps: z.array(whole), blocks: z.array(whole), truePeakDb: z.nullable(z.number()) })

const surveyRecordSchema = z.object({
  kind: z.literal('survey'),
  samples: z.array(
    z.object({ place: z.number().check(z.int(), z.gte(0)), factors: z.array(amount), bits: z.array(amount) }),
  ),
  /** Of each place of the video, in the source; of the first part only. null = not known. */
  sourceBytes: z.nullable(z.array(amount)),
  /** Of each mix of the plan, or of each gain that is tried; null = it could not be measured. Missing = none was asked for. */
  loudness: z.optional(z.array(z.nullable(levels))),
})
export type SurveyRecord = z.infer<typeof surveyRecordSchema>

/** Throws internal. */
export function decodeSurveyRecord(record: unknown): SurveyRecord {
  const parsed = surveyRecordSchema.safeParse(record)
  if (parsed.success) return parsed.data
  throw new TaskError('internal', 'The record of a part that surveyed the source cannot be read.')
}
