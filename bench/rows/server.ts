// In charge of: how far one server goes: what the service does a second with 1, 4 and 16 transcoders that encode nothing
// (docs/self-hosting.md), and which process is the limit.
// Not in charge of: the latency of single requests (api.ts), the requests per second within a latency (load.ts).
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf } from '../../scripts/local/processes/processGroup.ts'
import { startService, type BenchService } from '../benchService.ts'
import type { LoadOptions, LoadResult } from '../loadGenerator.ts'
import type { StandInAnswer, StandInCounts, StandInOrder } from '../standInTranscoders.ts'
import type { BenchOptions, Row } from '../table.ts'
import { createRequestBody } from '../worker/createBody.ts'
import { basic } from '../worker/start.ts'

const TRANSCODERS = [1, 4, 16]
const SECONDS = 6
const IN_FLIGHT = 32
const MEBIBYTE = 1024 * 1024
/** Of the source that is read and of the output that is stored in each job of the last measurement. */
const JOB_BYTES = 32 * MEBIBYTE
const SECRET = randomBytes(32).toString('base64url')

type Side = 'workerd' | 'proxy' | 'clients'
/** Cores that the processes used, and what the runtime wrote to disk each second. */
type Usage = Record<Side, number> & { writtenMB: number }
interface Rate {
  rate: number
  usage: Usage
}

export async function server({ note }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of TRANSCODERS) {
    const found = await measure(count, note)
    for (const [what, { rate, usage }] of Object.entries(found)) {
      const unit = what.startsWith('bytes') ? 'MB/s' : '/s'
      note(
        `${count} transcoders, ${what}: ${rate.toFixed(1)} ${unit}; cores: workerd ${usage.workerd.toFixed(2)}, proxy ${usage.proxy.toFixed(2)}, clients ${usage.clients.toFixed(2)}; runtime wrote ${usage.writtenMB.toFixed(1)} MB/s`,
      )
      rows.push({
        name: `one server with ${count} transcoder${count === 1 ? '' : 's'}: ${what}`,
        ours: `${rate.toFixed(rate < 20 ? 1 : 0)} ${unit}`,
        // What a core that does nothing else would do, however busy the machine was.
        baseline: `${(rate / usage.workerd).toPrecision(3)} ${unit} a core of workerd`,
        ratio: null,
        goal: '–',
        goalMet: null,
      })
    }
  }
  return rows
}

async function measure(count: number, note: (line: string) => void): Promise<Record<string, Rate>> {
  await using standIns = await StandIns.start(count)
  await using load = new LoadSender()
  await using service = await startService({
    TRANSCODER_URLS: standIns.urls.join(','),
    TRANSCODER_SECRET: SECRET,
  })
  const authorization = basic(service.apiKey)
  const source = await upload(service, authorization)
  const body = JSON.stringify({
    ...(JSON.parse(createRequestBody) as object),
    input: source,
    preview: false,
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  })
  const targetsOfCreates = [{ path: '/api/v0/job', authorization }]
  const create = { method: 'POST' as const, targets: targetsOfCreates, body, expected: 200 }
  const origin = service.baseUrl
  // All transcoders have a job, so the others wait in the queue.
  const held = await load.send({ origin, ...create, pace: { inFlight: 1 }, seconds: 0.5 })
  while ((await standIns.counts()).started < Math.min(count, held.created.length)) await pause(50)

  const measured = async (work: () => Promise<number>): Promise<Rate> => {
    const read = usageOf({ workerd: workerdOf(service), proxy: service.pids.worker, clients: [standIns.pid, load.pid] })
    const began = performance.now()
    const amount = await work()
    const seconds = (performance.now() - began) / 1000
    return { rate: amount / seconds, usage: read(seconds) }
  }
  const requests = (route: Omit<LoadOptions, 'origin' | 'pace' | 'seconds'>) =>
    measured(async () => {
      const { latencies, failures } = await load.send({
        origin,
        ...route,
        pace: { inFlight: IN_FLIGHT },
        seconds: SECONDS,
      })
      for (const [failure, times] of Object.entries(failures)) note(`${times} × ${failure}`)
      return latencies.length
    })
  const targets = held.created.map(({ id }) => ({ path: `/api/v0/job/${id}`, authorization }))
  const difference = async (of: (counts: StandInCounts) => number): Promise<number> => {
    const before = of(await standIns.counts())
    await pause(SECONDS * 1000)
    return of(await standIns.counts()) - before
  }
  const heartbeats = await measured(() => difference((counts) => counts.heartbeats))
  const reads = await requests({ method: 'GET', targets, body: null, expected: 200 })
  const creates = await requests(create)
  // The created jobs are the queue.
  standIns.order({ work: { kind: 'finish', outputBytes: 1000, readSource: false } })
  await pause(1000)
  const jobs = await measured(() => difference(({ finished }) => finished))
  standIns.order({ work: { kind: 'finish', outputBytes: JOB_BYTES, readSource: true } })
  await pause(1000)
  const bytes = await measured(async () => (await difference((c) => c.bytesRead + c.bytesStored)) / 1e6)
  for (const [failure, times] of Object.entries((await standIns.counts()).failures)) note(`${times} × ${failure}`)
  return {
    heartbeats,
    'reads of a status': reads,
    creates,
    'jobs begun and ended': jobs,
    'bytes, half of them read': bytes,
  }
}

class StandIns implements AsyncDisposable {
  readonly #child: ChildProcess
  urls: string[] = []

  private constructor() {
    this.#child = fork(join(import.meta.dirname, '..', 'standInTranscoders.ts'))
  }

  static async start(transcoders: number): Promise<StandIns> {
    const made = new StandIns()
    made.order({ transcoders })
    made.urls = ((await made.#answer()) as { urls: string[] }).urls
    return made
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  order(order: StandInOrder): void {
    this.#child.send(order)
  }

  async counts(): Promise<StandInCounts> {
    this.order('counts')
    return ((await this.#answer()) as { counts: StandInCounts }).counts
  }

  async #answer(): Promise<StandInAnswer> {
    const [answer] = (await once(this.#child, 'message')) as [StandInAnswer]
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill()
    await ended
  }
}

class LoadSender implements AsyncDisposable {
  readonly #child = fork(join(import.meta.dirname, '..', 'loadGenerator.ts'), { serialization: 'advanced' })

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async send(options: LoadOptions): Promise<LoadResult> {
    this.#child.send(options)
    const [result] = (await once(this.#child, 'message')) as [LoadResult]
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill()
    await ended
  }
}

async function upload(service: BenchService, authorization: string): Promise<string> {
  const answer = await fetch(`${service.baseUrl}/uploads?name=film.mp4`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/octet-stream' },
    body: randomBytes(JOB_BYTES),
  })
  if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { input: string }).input
}

const workerdOf = (service: BenchService): number[] =>
  service.workerPids
    .flatMap((pid) => childrenOf(pid))
    .filter(({ program }) => program === 'workerd')
    .map(({ pid }) => pid)

/** Measures from now until the returned function is called. */
function usageOf(pids: Record<Side, readonly number[]>): (seconds: number) => Usage {
  // `proxy` is everything of the service but its runtime.
  const others = pids.proxy.filter((pid) => !pids.workerd.includes(pid))
  const read = () => ({
    workerd: ticks(pids.workerd),
    proxy: ticks(others),
    clients: ticks(pids.clients),
    writtenMB:
      pids.workerd.reduce((sum, pid) => sum + Number(/^write_bytes: (\d+)/m.exec(textOf(`/proc/${pid}/io`))?.[1]), 0) /
      1e6,
  })
  const before = read()
  return (seconds) => {
    const after = read()
    return Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, (value - before[name as keyof Usage]) / seconds]),
    ) as unknown as Usage
  }
}

/** CPU seconds: USER_HZ is 100 on every Linux that Node runs on. NaN without /proc. */
function ticks(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const stat = textOf(`/proc/${pid}/stat`)
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) / 100
  }, 0)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
