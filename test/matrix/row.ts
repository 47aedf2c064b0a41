// In charge of: what a row is: one value of one parameter, the smallest job that uses it, and how its effect is measured.
// Not in charge of: the rows (rows/), running them (runner.ts).
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { readFile } from 'node:fs/promises'
import type { Problem } from '#contract/errors.ts'
import type { ValidationResult } from '#contract/job/validateJob.ts'
import type { EngineFeatures } from '../../transcoder/plan/model/engineFeatures.ts'
import type { SourceName } from './sourceClips.ts'

type Json = Record<string, unknown>

/** What a job has beside the base job; a profile has what is said here beside the base profile. */
export interface JobChange extends Json {
  videoProfiles?: Json[]
  audioProfiles?: Json[]
}

export interface Measurement {
  /** Rounded, so that two runs say the same. */
  measured: string
  ok: boolean
}

/** What came of a row's job, each asked for when it is needed. Rows with the same job and source share one encode. */
export interface RowContext {
  features: EngineFeatures
  validation(): ValidationResult
  /** The file that the row looks at. */
  file(): Promise<string>
  /** All files that the job wrote: where they go, and where they are. */
  files(): Promise<{ path: string; file: string }[]>
  /** Segmented output as it lies in the destination, by path below `show`. */
  objects(): Promise<ReadonlyMap<string, Buffer>>
  source(): Promise<string>
  /** Codes of the warnings, of validation and of planning. */
  warnings(): Promise<string[]>
  /** The same without an encode; `without` = by an engine that lacks it. */
  planWarnings(without?: 'zscale' | 'hevcMain10'): Promise<string[]>
  /** The code and field with which the job was refused, or failed before its encode; null = it did not. */
  rejection(): Promise<(Pick<Problem, 'field'> & { code: string }) | null>
  /** The file of another job with the same source, to compare with. */
  encodeOther(job: JobChange): Promise<string>
}

export interface Row {
  path: string
  value: unknown
  /** In words, from the contract. */
  expected: string
  job: JobChange
  /** Default `plain`. */
  source?: SourceName
  /** Which of the job's files is looked at. Default 0. */
  output?: number
  /** Null: the value has an effect only with another one, which this version does not have. */
  measure: ((context: RowContext) => Promise<Measurement> | Measurement) | null
  /** With `measure` null: a row is due as soon as that value is available. */
  awaits?: { path: string; value: unknown }
  /** The test that shows it, `file: title`, where the matrix does not make the job itself. */
  test?: string
  /** Part of `npm test`. */
  quick?: boolean
}

export function measurement(measured: string, ok: boolean): Measurement {
  return { measured, ok }
}

/** A job that must be refused, or fail before its encode. */
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

/** A row that a test shows, whose source or surroundings would cost too much here. Checked: that the test is there. */
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

/** A row about what is stored of an accepted job. */
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
