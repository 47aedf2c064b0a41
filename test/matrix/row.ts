// In charge of: the type of a row: one value of one parameter, the smallest job that uses it, and how its effect is
// measured.
// Not in charge of: the rows (rows/), running them (runner.ts).
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { readFile } from 'node:fs/promises'
import type { Problem } from '#contract/errors.ts'
import type { ValidationResult } from '#contract/job/validateJob.ts'
import type { EngineFeatures } from '../../transcoder/plan/model/engineFeatures.ts'
import type { SourceName } from './sourceClips.ts'

type Json = Record<string, unknown>

/** Its key among the objects of a job: the service stores it separately. */
export const SOURCE_POSTER = '(poster of the source)'

/** Changes to the base job; a profile is merged into the base profile. */
export interface JobChange extends Json {
  videoProfiles?: Json[]
  audioProfiles?: Json[]
}

export interface Measurement {
  /** Rounded, so that two runs give the same text. */
  measured: string
  ok: boolean
}

/** Results of a row's job, computed when they are needed. Rows with the same job and source share one encode. */
export interface RowContext {
  features: EngineFeatures
  validation(): ValidationResult
  /** The file that the row measures. */
  file(): Promise<string>
  /** All files that the job wrote: their output path, and where they are stored. */
  files(): Promise<{ path: string; file: string }[]>
  /** Segmented output as stored in the destination, by path below `show`. */
  objects(): Promise<ReadonlyMap<string, Buffer>>
  source(): Promise<string>
  /** Codes of the warnings from validation and planning. */
  warnings(): Promise<string[]>
  /** The same without an encode; `without` = as if ffmpeg lacked it. */
  planWarnings(without?: 'zscale' | 'hevcMain10'): Promise<string[]>
  /** Code and field of the error with which the job was refused, or failed before its encode; null = neither. */
  rejection(): Promise<(Pick<Problem, 'field'> & { code: string }) | null>
  /** The file of another job with the same source, for comparison. */
  encodeOther(job: JobChange): Promise<string>
}

export interface Row {
  path: string
  value: unknown
  /** As text, from the contract. */
  expected: string
  job: JobChange
  /** Default `plain`. */
  source?: SourceName
  /** Which of the job's files is measured. Default 0. */
  output?: number
  measure: (context: RowContext) => Promise<Measurement> | Measurement
  /** What a divided job keeps instead, as docs/internals/divided-jobs.md says: its chunks are seconds long here. */
  divided?: { expected: string; measure: (context: RowContext) => Promise<Measurement> }
  /** The test that proves it, `file: title`, if the matrix does not run the job itself. */
  test?: string
  /** Also runs in `npm test`. */
  quick?: boolean
}

export function measurement(measured: string, ok: boolean): Measurement {
  return { measured, ok }
}

/** A job that must be refused, or must fail before its encode. */
export function rejectedRow(row: Pick<Row, 'path' | 'value' | 'job' | 'source'>, code: string, field: string): Row {
  return {
    ...row,
    expected: `refused: ${code}`,
    quick: row.source === undefined,
    measure: async (context) => {
      const refusal = await context.rejection()
      const measured = refusal === null ? 'accepted' : `${refusal.code} at ${refusal.field}`
      return measurement(measured, refusal?.code === code && refusal.field === field)
    },
  }
}

/**
 * A row that a test proves, because its source or environment would be too costly here. The existence of the test is
 * checked.
 */
export function provenByTest(row: Pick<Row, 'path' | 'value' | 'expected'>, file: string, title: string): Row {
  return {
    ...row,
    job: {},
    test: `${file}: ${title}`,
    quick: true,
    measure: async () => {
      const text = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8').catch(() => '')
      return text.includes(title) ? measurement('in the test', true) : measurement('no such test', false)
    },
  }
}

/** A row about the stored configuration of an accepted job. */
export function storedConfigRow(
  row: Pick<Row, 'path' | 'value' | 'job' | 'expected'>,
  inspect: (config: JobConfig, accepted: ValidationResult & { ok: true }) => Measurement,
): Row {
  return {
    ...row,
    quick: true,
    measure: (context) => {
      const judged = context.validation()
      return judged.ok
        ? inspect(judged.config, judged)
        : measurement(judged.problems.map(({ code, field }) => `${code} at ${field}`).join(', '), false)
    },
  }
}
