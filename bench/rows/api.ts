// In charge of: the time to read and to create a job, relative to one bare D1 statement in the same workerd.
// Not in charge of: absolute times: a local D1 is in a process on the same machine, a deployed one across a network.
import { Client } from 'undici'
import { median } from '../stopwatch.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'
import { createRequestBody, storedOutputs } from '../worker/createBody.ts'
import { basic, startBenchWorker } from '../worker/start.ts'

/** Many short rounds, so that other load on the machine affects all routes equally. */
const ROUNDS = 30
const REQUESTS = 30
const WARM_UP = 100

interface Call {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export async function api({ runs, note }: BenchOptions): Promise<Row[]> {
  await using worker = await startBenchWorker()
  const client = new Client(worker.origin)
  const call = caller(client, basic(worker.apiKey))
  const post: Call = { method: 'POST', path: '/api/v0/job', body: createRequestBody }
  const finished = idOf(await call(post))
  await call({
    method: 'POST',
    path: '/api/bare-setup',
    body: JSON.stringify({ job: finished, outputs: storedOutputs }),
  })
  const queued = idOf(await call(post))
  const routes: Record<string, Call> = {
    bare: { method: 'GET', path: '/api/bare' },
    'bare with a body': { method: 'POST', path: '/api/bare', body: createRequestBody },
    'D1 read': { method: 'GET', path: '/api/bare-d1-read' },
    'read finished': { method: 'GET', path: `/api/v0/job/${finished}` },
    'read queued': { method: 'GET', path: `/api/v0/job/${queued}` },
    'D1 write': { method: 'POST', path: '/api/bare-d1-write', body: createRequestBody },
    'D1 batch of two': { method: 'POST', path: '/api/bare-d1-batch', body: createRequestBody },
    create: post,
  }
  const names = Object.keys(routes)
  for (const route of Object.values(routes)) for (let n = 0; n < WARM_UP; n++) await call(route)
  const times = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < (runs ?? ROUNDS); round++) {
    // Shuffled, so that no route always follows the same other one.
    for (const name of shuffled(names)) {
      // A warm-up request that does not count: it absorbs work that the previous route left.
      await call(routes[name] as Call)
      for (let n = 0; n < REQUESTS; n++) {
        const began = performance.now()
        await call(routes[name] as Call)
        times.get(name)?.push(performance.now() - began)
      }
    }
  }
  await client.close()
  const of = (name: string): number => median(times.get(name) ?? [])
  for (const name of names) note(`${name.padEnd(16)} p50 ${ms(of(name))}`)
  const row = (name: string, ours: string, base: string, limit: number | null): Row => {
    const bare = of(routes[ours]?.body === undefined ? 'bare' : 'bare with a body')
    const net = (of(ours) - bare) / (of(base) - bare)
    note(`${name}: ${net.toFixed(2)} × without what the bare route takes`)
    return ratioRow(name, [of(ours), of(base)], limit, ms)
  }
  return [
    row('GET finished job, against one D1 read', 'read finished', 'D1 read', 1.15),
    row('GET queued job, against one D1 read', 'read queued', 'D1 read', 1.15),
    row('POST job, against one D1 insert', 'create', 'D1 write', 1.25),
    row('POST job, against a D1 batch of two inserts', 'create', 'D1 batch of two', null),
  ]
}

function shuffled(names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ name }) => name)
}

const ms = (value: number): string => `${value.toFixed(2)} ms`

const idOf = (text: string): number => (JSON.parse(text) as { _auto_generated_id_: number })._auto_generated_id_

/** One connection, one request at a time. */
function caller(client: Client, authorization: string): (call: Call) => Promise<string> {
  return async ({ method, path, body }) => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await client.request({ method, path, headers, ...(body === undefined ? {} : { body }) })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
    return text
  }
}
