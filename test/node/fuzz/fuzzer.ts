// In charge of: a run: a number of requests from one seed; each fault is reported once, as a minimal case with a
// command that repeats it.
// Not in charge of: what is sent and what counts as wrong (generators/request.ts, responseRules.ts), which runs exist
// (main.ts, fuzzer.test.ts).
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { OperationSpec } from './apiDocument.ts'
import { taskApiRequest } from './taskApi.ts'
import { checkResponse } from './responseRules.ts'
import { asCurl, requestElsewhere, requestFor, requestOfRuntime, type Request } from './generators/request.ts'
import { headerOf, type Connection, type Heard } from './connection.ts'
import type { ServiceUnderTest } from './serviceUnderTest.ts'

export interface FuzzFinding {
  about: string
  what: string
  seed: number
  request: string
  answer: string
}

/** For a person: what is wrong, and how to repeat it. */
export const describeFinding = ({ about, what, seed, request, answer }: FuzzFinding): string =>
  [
    `${about}: ${what}`,
    `  again: FUZZ_SEED=${seed} FUZZ_ONLY='${about}' npm run long fuzz`,
    `  ${request}`,
    ...answer.split(/\r?\n/).map((line) => `  | ${line}`),
  ].join('\n')

export interface FuzzReport {
  requests: number
  /** Number of answers by status. */
  statuses: Map<number, number>
  findings: FuzzFinding[]
}

/** A request whose answer asks to retry is repeated this often. */
const MAX_AGAIN = 20
/** Attempts to shrink a failing case. */
const MAX_SMALLER = 150

/** A job has a hundred members, a file has ranges and conditions; other operations only have an id and a query. */
function weightOf({ name, body, parameters }: OperationSpec): number {
  if (name === 'POST /api/v0/job') return 8
  if (parameters.some((each) => each.name === 'Range')) return 4
  return body === null ? 1 : 2
}

interface Lane {
  name: string
  arbitrary: () => Arbitrary<Request>
  weight: number
}

const isAskedAgain = ({ answer }: Heard): boolean => answer?.status === 503 && headerOf(answer, 'retry-after') !== null

export class Fuzzer {
  readonly #world: ServiceUnderTest
  readonly #wire: Connection
  readonly #known = new Set<string>()
  readonly report: FuzzReport = { requests: 0, statuses: new Map(), findings: [] }

  constructor(world: ServiceUnderTest, wire: Connection) {
    this.#world = world
    this.#wire = wire
  }

  #lanes(): Lane[] {
    const { document } = this.#world
    return [
      ...document.operations.map((one) => ({
        name: one.name,
        arbitrary: () => requestFor(document, one),
        weight: weightOf(one),
      })),
      { name: 'the task API', arbitrary: () => taskApiRequest(document), weight: 6 },
      { name: 'other addresses', arbitrary: () => requestElsewhere, weight: 3 },
      { name: 'the runtime', arbitrary: () => requestOfRuntime, weight: 1 },
    ]
  }

  names(): string[] {
    return this.#lanes().map(({ name }) => name)
  }

  /** Spreads the requests over all operations and other addresses. @param only names of operations; none = all */
  async run(requests: number, seed: number, only: readonly string[] = []): Promise<void> {
    const lanes = this.#lanes().filter(({ name }) => only.length === 0 || only.includes(name))
    const parts = lanes.reduce((sum, { weight }) => sum + weight, 0)
    for (const { arbitrary, weight } of lanes)
      await this.explore(arbitrary(), Math.ceil((requests * weight) / parts), seed)
  }

  /** Generates that many requests; continues after each fault. */
  async explore(arbitrary: Arbitrary<Request>, runs: number, seed: number): Promise<void> {
    for (let left = runs, at = seed; left > 0; at++) {
      const hunt: { what: string | null; tries: number; last: Omit<FuzzFinding, 'what' | 'seed'> | null } = {
        what: null,
        tries: 0,
        last: null,
      }
      const { numRuns, failed } = await fc.check(
        fc.asyncProperty(arbitrary, async (request) => {
          if (hunt.tries > MAX_SMALLER) return true
          const { complaints, shown } = await this.try(request)
          hunt.what ??= complaints.find((what) => !this.#known.has(`${request.about}: ${what}`)) ?? null
          if (hunt.what === null || !complaints.includes(hunt.what)) return true
          hunt.tries++
          hunt.last = { about: request.about, ...shown }
          return false
        }),
        { seed: at, numRuns: left },
      )
      left -= numRuns
      if (!failed || hunt.what === null || hunt.last === null) break
      this.#known.add(`${hunt.last.about}: ${hunt.what}`)
      this.report.findings.push({ what: hunt.what, seed, ...hunt.last })
    }
  }

  /** Sends one request and checks the answer. */
  async try(request: Request): Promise<{ complaints: string[]; shown: { request: string; answer: string } }> {
    const world = this.#world
    const shownRequest = asCurl(request, world.fill)
    let heard = await this.#wire(request, world.fill)
    for (let again = 0; again < MAX_AGAIN && isAskedAgain(heard); again++) heard = await this.#wire(request, world.fill)
    this.report.requests++
    const { answer } = heard
    this.report.statuses.set(answer?.status ?? 0, (this.report.statuses.get(answer?.status ?? 0) ?? 0) + 1)
    const { document, secrets, fill } = world
    const complaints = checkResponse(request, heard, { document, fill, secrets, places: [world.service.stateDir] })
    await world.waitForIdle(request, answer)
    return { complaints, shown: { request: shownRequest, answer: heard.raw.subarray(0, 1500).toString('utf8') } }
  }
}
