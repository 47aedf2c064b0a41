// In charge of: what a row of the everyday is: a kind of thing that people bring, how it is made, what should come out.
// Not in charge of: the rows (rows/), running them (everyday.test.ts).
import { REQUESTS, type Answer, type RequestName } from './requests.ts'
import type { Source, Workshop } from './workshop.ts'

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
  /** Requests that may still fail, and the finding that says why: "web 1" is the first one of the review "web". */
  known?: Partial<Record<RequestName, string>>
}

/** A finding that concerns every request. */
export const every = (finding: string): Record<RequestName, string> =>
  Object.fromEntries(REQUESTS.map((request) => [request, finding])) as Record<RequestName, string>
