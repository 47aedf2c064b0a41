// In charge of: one small test job: create, follow, download the outputs, compare them with what was announced, and
// take the duration of each phase from its events.
// Not in charge of: which jobs are run (testJobChecks.ts), removing them (createdResources.ts).
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobRead, PublicEvent } from '#contract/api/answers.ts'
import type { Check } from '#contract/api/diagnosis.ts'
import type { PublicOutput } from '#contract/api/status.ts'
import type { Client } from '../../client/nodeClient.ts'
import { download } from '../../client/download/downloadFile.ts'
import { follow } from '../../client/followJob.ts'
import { fetchOrFail } from '../../client/serviceRequest.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { fault, ok, warning } from './checkResult.ts'
import type { CreatedResources } from './createdResources.ts'

const POLL_MS = 500
const SILENCE_MS = 30_000
const LOST =
  'See "attempts are lost" in docs/troubleshooting.md, and the log of the Worker and of the container (npm run cloudflare -- tail; [observability]).'

const EVICTED = 'A rollout or the restart of a host is in progress. Run this again afterwards.'

export interface PhaseSeconds {
  /** From creation until the transcoder asked for its task: queue, container start, transcoder start. */
  start: number | null
  /** Until the source was probed and the job planned. */
  probe: number | null
  /** Until everything was encoded and stored. */
  encode: number | null
  /** Until the outputs were at their final paths. */
  commit: number | null
  total: number | null
}

export interface JobTimings {
  name: string
  job: number
  slot: number | null
  /** The attempt that delivered the result. */
  attempt: number | null
  lost: number
  seconds: PhaseSeconds
}

export interface TestJob {
  name: string
  body: JobRequest
  dryRun?: true
  /** Minimum number of outputs. */
  outputs: number
  /** For outputs outside of the service's own store. @returns what is wrong, or null */
  verify?: (outputs: readonly PublicOutput[]) => Promise<string | null>
}

export interface TestContext {
  client: Client
  created: CreatedResources
  signal: AbortSignal
  /** Time limit of one job. */
  timeoutMs: number
  note: (text: string) => void
}

export interface TestJobResult {
  check: Check
  figures: JobTimings | null
}

export async function runTestJob(bench: TestContext, trial: TestJob): Promise<TestJobResult> {
  const { client, created: traces, note } = bench
  const { name } = trial
  note(`job "${name}" …`)
  const created = await client.create(trial.body, { dryRun: trial.dryRun === true })
  const id = created._auto_generated_id_
  traces.addJob(id)
  const job = await waitForEnd(bench, id)
  const { events } = await client.events(id)
  const figures = timingsOf(name, id, events)
  const remedy = `See docs/troubleshooting.md and the events of job ${id}.`
  const wrong = (message: string, what = remedy): TestJobResult => ({ check: fault(name, message, what), figures })
  if (job === null)
    return wrong(`It did not end within ${bench.timeoutMs / 1000} s; the last event is ${events.at(-1)?.type}.`)
  const { error, outputs } = job.status
  if (error) return wrong(`It failed: ${error.message} (${error.code})`)
  if (job.status.state !== 'ready') return wrong(`It ended as ${job.status.state}.`)
  const lost = lostAttemptOf(events, figures)
  if (lost !== null) return wrong(lost, LOST)
  if (trial.dryRun && job.status.estimate === null) return wrong('It has no estimate.')
  if (outputs.length < trial.outputs) return wrong(`It has ${outputs.length} outputs instead of ${trial.outputs}.`)
  const damage = await (trial.verify ?? ((list) => verifyOutputs(list, bench.signal)))(outputs)
  if (damage !== null) return wrong(damage)
  const bytes = outputs.reduce((sum, { size, segments }) => sum + size + (segments?.bytes ?? 0), 0)
  const evicted = events.find(({ type }) => type === 'attempt.evicted')
  if (evicted) return { check: warning(name, evicted.message, EVICTED), figures }
  const made = trial.dryRun
    ? 'planned'
    : `${outputs.length} ${outputs.length === 1 ? 'output' : 'outputs'}, ${bytes} bytes, as announced`
  return { check: ok(name, `${made}; attempt 1.`, (figures.seconds.total ?? 0) * 1000), figures }
}

/** null = the job did not end within the time limit. */
export async function waitForEnd({ client, signal, timeoutMs }: TestContext, id: number): Promise<JobRead | null> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), timeoutMs)
  const stop = (): void => over.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await follow(client, id, {
      pollMs: POLL_MS,
      silenceMs: SILENCE_MS,
      show: () => undefined,
      signal: over.signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    if (over.signal.aborted) return null
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

export function timingsOf(name: string, job: number, events: readonly PublicEvent[]): JobTimings {
  const at = (type: PublicEvent['type']): number | null => {
    const event = events.findLast((one) => one.type === type)
    return event ? Date.parse(event.at) : null
  }
  const between = (from: number | null, to: number | null): number | null =>
    from === null || to === null ? null : (to - from) / 1000
  const started = events.findLast(({ type }) => type === 'attempt.started')
  const [created, running, planned, committing] = [
    at('job.created'),
    at('attempt.started'),
    at('job.planned'),
    at('job.committing'),
  ]
  const end = at('job.completed') ?? at('job.cancelled') ?? at('job.failed')
  return {
    name,
    job,
    slot: started?.slot ?? null,
    attempt: started?.attempt ?? null,
    lost: events.filter(({ type }) => type === 'attempt.lost').length,
    seconds: {
      start: between(created, running),
      probe: between(running, planned),
      encode: between(planned, committing),
      commit: between(committing, end),
      total: between(created, end),
    },
  }
}

/** The first attempt must succeed. */
function lostAttemptOf(events: readonly PublicEvent[], { attempt, lost }: JobTimings): string | null {
  if (lost > 0) {
    const told = events.find(({ type }) => type === 'attempt.lost')
    return `${lost} of its attempts ${lost === 1 ? 'was' : 'were'} lost: ${told?.message}`
  }
  const starts = events.find(({ type }) => type === 'attempt.start_failed')
  if (starts) return starts.message
  if (events.some(({ type }) => type === 'attempt.evicted')) return null
  if (attempt !== null && attempt > 1) return `Its first ${attempt - 1} starts failed: no transcoder accepted it.`
  return null
}

/** Checks each output and each segment of a playlist. @returns what is wrong, or null */
async function verifyOutputs(outputs: readonly PublicOutput[], signal: AbortSignal): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-doctor-'))
  try {
    for (const output of outputs) {
      const { file } = await download(output, directory, signal)
      if (!output.segments) continue
      const found = await verifySegments(output, await readFile(file, 'utf8'), signal)
      if (found !== null) return found
    }
    return null
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function verifySegments(output: PublicOutput, playlist: string, signal: AbortSignal): Promise<string | null> {
  const addresses = new Set(
    playlist.split(/\r?\n/).flatMap((line) => {
      if (line !== '' && !line.startsWith('#')) return [line]
      const map = /^#EXT-X-MAP:.*\bURI="([^"]+)"/.exec(line)?.[1]
      return map === undefined ? [] : [map]
    }),
  )
  let bytes = 0
  for (const address of addresses) {
    const response = await fetchOrFail(new URL(address, output.url ?? undefined), { signal })
    const body = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200) return `${address} of ${output.path} answers ${response.status}.`
    bytes += body.length
  }
  return addresses.size > 0 && bytes >= (output.segments?.bytes ?? 0)
    ? null
    : `${output.path} lists ${addresses.size} segments of ${bytes} bytes instead of ${output.segments?.bytes}.`
}
