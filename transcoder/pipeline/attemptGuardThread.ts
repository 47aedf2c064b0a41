// In charge of: the thread that watches the first one: it reports why the attempt ends, and ends the process.
// Not in charge of: the limits (attemptGuard.ts).
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import type { FailPost } from '#contract/task/protocol.ts'
import type { GuardStart } from './attemptGuard.ts'

const LOOK_MS = 250
const REPORT_MS = 10_000

const { address, token, beats, phases, turnSeconds, memoryBytes } = workerData as GuardStart
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
let seen = { beat: -1, cpu: 0 }

const timer = setInterval(() => {
  const beat = Atomics.load(beats, 0)
  if (beat !== seen.beat) seen = { beat, cpu: cpuSeconds() }
  if (cpuSeconds() - seen.cpu > turnSeconds) void end(`${turnSeconds} s of processor time at a stretch`)
  else if (process.memoryUsage.rss() > memoryBytes) void end(`${Math.round(memoryBytes / 2 ** 20)} MiB of memory`)
}, LOOK_MS)

async function end(what: string): Promise<void> {
  clearInterval(timer)
  const phase = phases[Atomics.load(beats, 1)] ?? 'starting'
  const message = `The transcoder needed more than ${what} for this job and was ended (phase: ${phase}). A file of the job is damaged, or made to cost this much.`
  // Not the stream: its bytes would wait for the first thread.
  writeSync(
    1,
    `${JSON.stringify({ time: new Date().toISOString(), level: 'error', msg: 'ended', task: address.split('/').at(-1), error: message })}\n`,
  )
  const post: FailPost = { reason: 'failed', error: { code: 'source_too_costly', message, details: { phase } } }
  await fetch(`${address}/fail`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(post),
    redirect: 'error',
    signal: AbortSignal.timeout(REPORT_MS),
  }).catch(() => undefined)
  process.kill(process.pid, 'SIGKILL')
}
