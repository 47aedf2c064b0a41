// In charge of: the record of a part that surveys the source of a divided job.
// Not in charge of: making it (pipeline/division/surveyPart.ts), what follows from it (analysis/rate/surveyRates.ts).
import * as z from 'zod/mini'
import { MAX_AMOUNT } from '#contract/task/reportSchemas.ts'
import { TaskError } from '#contract/taskError.ts'

const amount = z.number().check(z.gte(0), z.lte(MAX_AMOUNT))

const whole = amount.check(z.int())
/** Of a hundredth LU: the loudest sample that a float can have is below it, and its power is still a number. */
const step = z.number().check(z.int(), z.gte(0), z.lte(100_000))
const levels = z
  .object({
    steps: z.array(step),
    blocks: z.array(whole),
    truePeakDb: z.nullable(z.number().check(z.gte(-1000), z.lte(1000))),
  })
  .check(z.refine(({ steps, blocks }) => steps.length === blocks.length))

const surveyRecordSchema = z.object({
  kind: z.literal('survey'),
  samples: z.array(
    z.object({ place: z.number().check(z.int(), z.gte(0)), factors: z.array(amount), bits: z.array(amount) }),
  ),
  /** Of each place of the video, in the source; of the first part only. null = not known. */
  sourceBytes: z.nullable(z.array(amount)),
  /** Of each mix of the plan, or of each gain that is tried; null = it could not be measured. Missing = none was asked for. */
  loudness: z.optional(z.array(z.nullable(levels))),
  /** Of the part's share of the source (cueRecord.ts); null = only one reading finds its cues. Missing = none were asked for. */
  cues: z.optional(z.nullable(z.string())),
})
export type SurveyRecord = z.infer<typeof surveyRecordSchema>

/** What a part of one round was asked for. A record of the other round would be added up as if it were of this one. */
export interface AskedSurvey {
  /** Renditions of which each sample tells the bits; 0 = no samples. */
  targets: number
  /** Mixes that were measured, or gains that were tried; null = that is known already. */
  levels: number | null
}

/** `asked`: missing = the caller knows. Throws internal. */
export function decodeSurveyRecord(record: unknown, asked?: AskedSurvey): SurveyRecord {
  const parsed = surveyRecordSchema.safeParse(record)
  if (!parsed.success) throw new TaskError('internal', 'The record of a part that surveyed the source cannot be read.')
  if (asked !== undefined) requireAsked(parsed.data, asked)
  return parsed.data
}

function requireAsked({ samples, loudness = [] }: SurveyRecord, { targets, levels: asked }: AskedSurvey): void {
  const hasOther = ({ factors, bits }: { factors: number[]; bits: number[] }) =>
    factors.length !== targets || bits.length !== targets
  if ((targets === 0 && samples.length > 0) || samples.some(hasOther))
    throw new TaskError('internal', `The samples of a part are not those of ${targets} renditions.`)
  if (asked !== null && loudness.length !== asked)
    throw new TaskError('internal', `A part measured the loudness ${loudness.length} times instead of ${asked}.`)
}
