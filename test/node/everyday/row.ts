// In charge of: what a row of the everyday is: a kind of thing that people bring, how it is made, what should come out.
// Not in charge of: the rows (rows/), running them (everyday.test.ts).
import type { Answer, RequestName } from './requests.ts'
import type { Source, Workshop } from './workshop.ts'

/** `npm run long everyday`. */
export const WHOLE_TABLE = process.env['EVERYDAY'] === '1'

export interface Row {
  /** What people call it, and what is special about it. */
  kind: string
  make: (shop: Workshop) => Promise<Source>
  /** Also in `npm test`. */
  short?: true
  /** Every request is refused with this code and sentence. */
  refused?: { code: string; says: RegExp }
  /** Codes of warnings that each job must have. */
  warns?: readonly string[]
  /** Further faults of an output. */
  also?: (answer: Answer, request: RequestName) => Promise<string[]>
  /** Faults that an output may still have. */
  known?: { why: string; faults: RegExp }
}
