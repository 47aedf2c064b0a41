// In charge of: how many creates and reads per second the API serves within the latency goals, whether a job is lost,
// and where the CPU time of a request goes, by process and by layer.
// Not in charge of: sending (loadGenerator.ts), single requests (api.ts).
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadOptions, LoadResult } from '../loadGenerator.ts'
import { median, stopwatch, waitForIdleMachine } from '../stopwatch.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'
import { createRequestBody as job, storedOutputs } from '../worker/createBody.ts'
import { basic, startBenchWorker } from '../worker/start.ts'

const ACCOUNTS = 10
const LAYER_SECONDS = 3
const ROUNDS = 3
const STAGE_SECONDS = 15
const IN_FLIGHT = 32
/** docs/internals/reliability.md: the goals. */
const GOALS = { create: { rate: 500, p99Ms: 250 }, read: { rate: 1500, p99Ms: 60 } }
/** Fractions of the closed loop's rate. They are tried in this order until one meets the latency goal. */
const SHARES = [0.95, 0.85, 0.75, 0.6, 0.45, 0.3]

/** As in comparison.ts: if other processes used more cores than this, a missed goal proves nothing. */
const FOREIGN_CORES = 0.3
const QUIET_MS = 30_000

const ms = (value: number): string => `${value.toFixed(2)} ms`

type Routes = Record<'read' | 'read queued' | 'create', Route> & Record<string, Route>
type Route = Pick<LoadOptions, 'method' | 'targets' | 'body' | 'expected'>
type Measured = LoadResult & { rate: number; cpuMs: Record<Side, number>; otherCores: number }
/** node: this process, which contains the reverse proxy. */
const sides = ['generator', 'runtime', 'node'] as const
type Side = (typeof sides)[number]

export async function load({ runs, note }: BenchOptions): Promise<Row[]> {
  await using worker = await startBenchWorker()
  const child = fork(join(import.meta.dirname, '..', 'loadGenerator.ts'), { serialization: 'advanced' })
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('The load generator ended.')))
  gone.catch(() => undefined) // also when end() kills it
  const end = (): void => void child.kill()
  process.on('exit', end)
  try {
    const pids: Record<Side, number> = { generator: child.pid ?? 0, node: process.pid, ...worker.pids }
    const run = async (route: Route, pace: LoadOptions['pace'], seconds: number): Promise<Measured> => {
      const read = stopwatch()
      const before = cpuOf(pids)
      child.send({ origin: worker.origin, ...route, pace, seconds } satisfies LoadOptions)
      const [outcome] = (await Promise.race([once(child, 'message'), gone])) as [LoadResult]
      const after = cpuOf(pids)
      const count = outcome.latencies.length
      const cpuMs = Object.fromEntries(sides.map((side) => [side, (after[side] - before[side]) / count]))
      for (const [failure, times] of Object.entries(outcome.failures)) note(`${times} × ${failure}`)
      return {
        ...outcome,
        rate: count / outcome.seconds,
        cpuMs: cpuMs as Measured['cpuMs'],
        otherCores: read().otherCores,
      }
    }
    const routes = await prepare(worker)
    const layers = new Map<string, Measured[]>(Object.keys(routes).map((name) => [name, []]))
    const created: LoadResult['created'] = []
    for (const route of Object.values(routes)) await run(route, { inFlight: IN_FLIGHT }, 1)
    for (let round = 0; round < (runs ?? ROUNDS); round++)
      for (const [name, route] of Object.entries(routes)) {
        const measured = await run(route, { inFlight: IN_FLIGHT }, LAYER_SECONDS)
        layers.get(name)?.push(measured)
        created.push(...measured.created)
        routes['read queued'].targets = created.slice(-ACCOUNTS).map(toRead)
      }
    note(`${IN_FLIGHT} at once    rate/s   p50    p99     CPU ms a request: ${sides.join(', ')}; others, in cores`)
    for (const [name, all] of layers) note(tell(name, all))

    const cpu = (name: string): number => median(layers.get(name)?.map(({ cpuMs }) => cpuMs.node + cpuMs.runtime) ?? [])
    const rows = [
      ratioRow('CPU time of a read, against a bare D1 read', [cpu('read'), cpu('D1 read')], null, ms),
      ratioRow('CPU time of a create, against a D1 batch of two inserts', [cpu('create'), cpu('D1 batch')], null, ms),
    ]
    for (const [name, goal] of Object.entries(GOALS)) {
      // Half of the jobs that are read have ended; the other half waits in the queue.
      const targets = [...routes.read.targets, ...routes['read queued'].targets]
      const route: Route = name === 'create' ? routes.create : { ...routes.read, targets }
      const most = median(layers.get(name)?.map(({ rate }) => rate) ?? [])
      let best: number | null = null
      let disturbed = false
      for (const rate of [goal.rate, ...SHARES.map((share) => Math.round((most * share) / 5) * 5)]) {
        // Rates far above the maximum would only measure the queue. Rates far above the goal are not needed.
        if (rate > Math.min(most * 1.2, goal.rate) || rate < 1) continue
        if (!(await waitForIdleMachine(FOREIGN_CORES, QUIET_MS))) {
          disturbed = true
          break
        }
        const measured = await run(route, { rate }, STAGE_SECONDS)
        created.push(...measured.created)
        note(tell(`${name} ${rate}/s`, [measured]))
        disturbed ||= measured.otherCores > FOREIGN_CORES
        const good = quantile(measured.latencies, 0.99) <= goal.p99Ms && Object.keys(measured.failures).length === 0
        if (!good) continue
        best = rate
        break
      }
      // A reached goal counts even on a busy machine; a missed one may be caused by other processes.
      if (disturbed && best !== goal.rate) note(`Others used the machine meanwhile: no row for ${name}s a second.`)
      else
        rows.push({
          name: `${name}s a second with p99 ≤ ${goal.p99Ms} ms, two cores`,
          ours: best === null ? 'none' : `${best}/s`,
          baseline: `${median(layers.get('empty')?.map(({ rate }) => rate) ?? []).toFixed(0)}/s (empty)`,
          ratio: null,
          goal: `${goal.rate}/s`,
          goalMet: best === goal.rate,
        })
    }
    rows.push(await lost(worker.origin, created, note))
    return rows
  } finally {
    process.off('exit', end)
    child.kill()
  }
}

/** Requests from the cheapest to the most complete; each with the keys of several accounts. */
async function prepare(worker: Awaited<ReturnType<typeof startBenchWorker>>): Promise<Routes> {
  const keys = await Promise.all(Array.from({ length: ACCOUNTS }, (_, n) => worker.issueKey(`account-${n}`)))
  const all = (path: string) => keys.map((key) => ({ path, authorization: basic(key) }))
  const create = { method: 'POST', targets: all('/api/v0/job'), body: job, expected: 200 } as const
  const targets: Route['targets'] = []
  for (const { path, authorization } of create.targets) {
    const answer = await fetch(worker.origin + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: job,
    })
    const { _auto_generated_id_: id } = (await answer.json()) as { _auto_generated_id_: number }
    targets.push(toRead({ id, authorization }))
    await fetch(`${worker.origin}/api/bare-setup`, {
      method: 'POST',
      body: JSON.stringify({ job: id, outputs: storedOutputs }),
    })
  }
  const get = { method: 'GET', body: null, expected: 200 } as const
  return {
    empty: { ...get, targets: all('/api/bare') },
    // An unknown route with a valid key: 404 after authentication.
    'key only': { ...get, targets: all('/api/v0/job/none'), expected: 404 },
    'D1 read': { ...get, targets: all('/api/bare-d1-read') },
    read: { ...get, targets },
    'empty, with a body': { ...create, targets: all('/api/bare') },
    'dry: key, validation, seal': { ...create, targets: all('/api/bare-validate') },
    'D1 batch': { ...create, targets: all('/api/bare-d1-batch') },
    create,
    'read queued': { ...get, targets },
  }
}

const toRead = ({ id, authorization }: { id: number; authorization: string }) => ({
  path: `/api/v0/job/${id}`,
  authorization,
})

/**
 * Checks that every job that was answered with 200 is in the database once, with one task, under the id in the answer.
 */
async function lost(origin: string, created: LoadResult['created'], note: (line: string) => void): Promise<Row> {
  const answer = await fetch(`${origin}/api/bare-jobs`)
  const found = new Map<string, { id: number; tasks: number; times: number }>()
  for (const { id, job_id, tasks } of (await answer.json()) as { id: number; job_id: string; tasks: number }[])
    found.set(job_id, { id, tasks, times: (found.get(job_id)?.times ?? 0) + 1 })
  const wrong = created.filter(({ id, jobId }) => {
    const row = found.get(jobId)
    return !(row?.id === id && row.tasks === 1 && row.times === 1)
  })
  note(
    `${created.length} jobs were accepted, ${found.size} are in the ledger, ${wrong.length} not as they were answered`,
  )
  return {
    name: 'jobs lost or doubled of those accepted under load',
    ours: `${wrong.length} of ${created.length}`,
    baseline: '–',
    ratio: null,
    goal: '0',
    goalMet: created.length > 0 && wrong.length === 0 && new Set(created.map(({ id }) => id)).size === created.length,
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

function tell(name: string, all: readonly Measured[]): string {
  const of = (read: (one: Measured) => number): number => median(all.map(read))
  const cpu = sides.map((side) => of(({ cpuMs }) => cpuMs[side]).toFixed(2)).join(' ')
  const [p50, p99] = [0.5, 0.99].map((share) => of(({ latencies }) => quantile(latencies, share)))
  return `${name.padEnd(28)} ${of(({ rate }) => rate).toFixed(0)}/s  p50 ${p50?.toFixed(0)}  p99 ${p99?.toFixed(0)} ms  ${cpu}; ${of(({ otherCores }) => otherCores).toFixed(2)}`
}

/** CPU time of each process since its start, in ms. proc(5): fields 14 and 15, in ticks of 10 ms. */
function cpuOf(pids: Record<Side, number>): Record<Side, number> {
  const of = (pid: number): number => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return Number.NaN
    }
  }
  return Object.fromEntries(sides.map((side) => [side, of(pids[side])])) as Record<Side, number>
}
