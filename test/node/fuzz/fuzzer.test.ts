// In charge of: the short form of `npm run long fuzz`: some hundred requests from fixed seeds, each raw form once, and
// planted faults, each of which must be found.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pipelineRequests, rawSendings, sendRaw, holdIdleConnections } from './http/heldConnections.ts'
import { Fuzzer, describeFinding, type FuzzFinding } from './fuzzer.ts'
import { PLANTED_FAULTS, withFault } from './plantedFaults.ts'
import { connectTo, type Connection } from './http/connection.ts'
import { ServiceUnderTest } from './serviceUnderTest.ts'

const SEEDS = [1, 2, 3]
const REQUESTS = 200
/** Requests to the faulty operation until the fault must have been found. */
const UNTIL_FOUND = 80

let world: ServiceUnderTest
let wire: Connection

beforeAll(async () => {
  world = await ServiceUnderTest.open()
  wire = connectTo(world.service.base)
})
afterAll(async () => world?.[Symbol.asyncDispose]())

const described = (findings: readonly FuzzFinding[]): string[] => findings.map(describeFinding)

test.each(SEEDS)(
  'answers are as the document says, seed %i',
  async (seed) => {
    const fuzz = new Fuzzer(world, wire)
    await fuzz.run(REQUESTS, seed)
    expect(described(fuzz.report.findings)).toEqual([])
    expect(fuzz.report.requests).toBeGreaterThanOrEqual(REQUESTS)
    for (const status of [200, 400, 401, 403, 404])
      expect(fuzz.report.statuses.get(status), `${status}`).toBeGreaterThan(0)
  },
  300_000,
)

test('malformed HTTP requests are refused or answered completely, and never read as another request', async () => {
  const found: FuzzFinding[] = []
  for (const sending of rawSendings(1)) found.push(...(await sendRaw(world, wire, sending)))
  expect(described(found)).toEqual([])
}, 300_000)

test('others are served while connections stand still, and many requests on one connection are answered', async () => {
  expect(await holdIdleConnections(world, wire, 60)).toEqual([])
  expect(await pipelineRequests(world, wire, 20)).toEqual([])
}, 120_000)

describe('a fault that is planted is found', () => {
  test.each(PLANTED_FAULTS)(
    '$name',
    async (fault) => {
      const fuzz = new Fuzzer(world, withFault(wire, fault), 0, fault.finds)
      await fuzz.run(UNTIL_FOUND, 1, [fault.lane])
      expect(fuzz.report.findings.map(({ what }) => what)).toContainEqual(expect.stringMatching(fault.finds))
    },
    120_000,
  )

  test('a service that does not answer', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const heard = await connectTo(
      `http://127.0.0.1:${port}`,
      50,
    )({ bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), methods: ['GET'] })
    server.close()
    expect(heard.silent).toBe(true)
  })
})
