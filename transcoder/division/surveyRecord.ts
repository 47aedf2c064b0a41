// In charge of: the record of a part that surveys the source of a divided job.
// Not in charge of: making it (division/surveyPart.ts), what follows from it (division/rates/surveyRates.ts).
import * as z from 'zod/mini'
import { MAX_AMOUNT } from '#contract/task/reportSchemas.ts'
import { TaskError } from '#contract/taskError.ts'

const amount = z.number().check(z.gte(0), z.lte(MAX_AMOUNT))

const surveyRecordSchema = z.object({
  kind: z.literal('survey'),
  samples: z.array(
    z.object({ place: z.number().check(z.int(), z.gte(0)), factors: z.array(amount), bits: z.array(amount) }),
  ),
  /** Bytes that each place of the video has in the source. Only the first part states them. null = not known. */
  sourceBytes: z.nullable(z.array(amount)),
})
export type SurveyRecord = z.infer<typeof surveyRecordSchema>

/** `targets`: number of renditions whose bits each sample states. Throws internal. */
export function decodeSurveyRecord(record: unknown, targets: number): SurveyRecord {
  const parsed = surveyRecordSchema.safeParse(record)
  if (!parsed.success) throw new TaskError('internal', 'The record of a part that surveyed the source cannot be read.')
  const isOther = ({ factors, bits }: { factors: number[]; bits: number[] }) =>
    factors.length !== targets || bits.length !== targets
  if (parsed.data.samples.some(isOther))
    throw new TaskError('internal', `The samples of a part are not those of ${targets} renditions.`)
  return parsed.data
}
