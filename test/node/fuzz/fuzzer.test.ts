// In charge of: the short form of `npm run long fuzz`: some hundred requests from fixed seeds.
// Not in charge of: what HTTP itself refuses (test/node/scripts/front.test.ts).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fuzzer, describeFinding } from './fuzzer.ts'
import { connectTo, type Connection } from './connection.ts'
import { ServiceUnderTest } from './serviceUnderTest.ts'

const SEEDS = [1, 2, 3]
const REQUESTS = 200

let world: ServiceUnderTest
let wire: Connection

beforeAll(async () => {
  world = await ServiceUnderTest.open()
  wire = connectTo(world.service.base)
})
afterAll(async () => world?.[Symbol.asyncDispose]())

test.each(SEEDS)(
  'answers are as the document says, seed %i',
  async (seed) => {
    const fuzz = new Fuzzer(world, wire)
    await fuzz.run(REQUESTS, seed)
    expect(fuzz.report.findings.map(describeFinding)).toEqual([])
    expect(fuzz.report.requests).toBeGreaterThanOrEqual(REQUESTS)
    for (const status of [200, 400, 401, 403, 404])
      expect(fuzz.report.statuses.get(status), `${status}`).toBeGreaterThan(0)
  },
  300_000,
)
