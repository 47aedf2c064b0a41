// In charge of: the proxy injects exactly the configured faults. A fault that does not happen would prove nothing.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FaultProxy, type Fault } from '../../support/http/faultProxy.ts'

const bytes = Buffer.alloc(300_000, 'film')
const received: string[] = []
const server = createServer((request, response) => {
  const hash = createHash('sha256')
  request.on('data', (chunk: Buffer) => hash.update(chunk))
  request.on('end', () => {
    received.push(`${request.method} ${hash.digest('hex')}`)
    response.writeHead(200, { 'content-length': bytes.length, etag: '"one"' }).end(bytes)
  })
})
let proxy: FaultProxy
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy = await FaultProxy.start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

async function get(fault: Fault | null): Promise<string> {
  proxy.chooseFault = () => fault
  try {
    const response = await fetch(proxy.url, { signal: AbortSignal.timeout(2000) })
    const body = Buffer.from(await response.arrayBuffer())
    return `${response.status} ${response.headers.get('etag')} ${body.length}`
  } catch {
    return 'broken'
  }
}

const cases: [string, Fault | null, string][] = [
  ['no fault', null, '200 "one" 300000'],
  ['a reset in the answer', { kind: 'reset', afterBytes: 1000, way: 'down' }, 'broken'],
  ['a refusal', { kind: 'status', status: 503, headers: { 'retry-after': '1' } }, '503 null 0'],
  ['a short answer without a length', { kind: 'short', afterBytes: 1000 }, '200 "one" 1000'],
  ['a short answer with a lie', { kind: 'short', afterBytes: 1000, announced: 1000 }, '200 "one" 1000'],
  ['a short answer with the true length', { kind: 'short', afterBytes: 1000, announced: 300_000 }, 'broken'],
  ['another tag', { kind: 'headers', set: { etag: '"two"' } }, '200 "two" 300000'],
  ['a lost answer', { kind: 'lost answer' }, 'broken'],
]
test.each(cases)('%s', async (_title, fault, outcome) => {
  expect(await get(fault)).toBe(outcome)
})

test('a body that is reset on its way up never reaches the server whole', async () => {
  received.length = 0
  proxy.chooseFault = () => ({ kind: 'reset', afterBytes: 70_000, way: 'up' })
  await expect(fetch(proxy.url, { method: 'PUT', body: bytes })).rejects.toThrow('fetch failed')
  expect(received).toEqual([])
  proxy.chooseFault = () => null
  await fetch(proxy.url, { method: 'PUT', body: bytes })
  expect(received).toEqual([`PUT ${createHash('sha256').update(bytes).digest('hex')}`])
})

test('a stalled answer brings what was said and then nothing, until it is released', async () => {
  proxy.chooseFault = () => ({ kind: 'stall', afterBytes: 1000 })
  const response = await fetch(proxy.url)
  const reader = response.body!.getReader()
  let seen = 0
  while (seen < 1000) seen += (await reader.read()).value?.length ?? 0
  const next = reader.read()
  proxy.releaseAll()
  await expect(next).rejects.toThrow('terminated')
  expect(seen).toBe(1000)
})
