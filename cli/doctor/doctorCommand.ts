// In charge of: `doctor`: checks a running service, passes a small job through it, and reports problems with remedies.
// Not in charge of: the single checks (the other files of this folder), a configuration (scripts/cloudflare/).
import type { Check, CheckStatus } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { serviceAddress, type OptionValues } from '../arguments.ts'
import { UsageError, stripControlCharacters } from '../cliErrors.ts'
import { CreatedResources } from './createdResources.ts'
import { checkEndpoint } from './endpointChecks.ts'
import { parseTargetStore, type TargetStore } from './targetStore.ts'
import { runTestJobs } from './testJobs.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import { errorText, fault, skipped } from './checkResult.ts'

const ADMIN = 'Set SPLICEPOINT_ADMIN_KEY to the ADMIN_KEY of the service, or to a key with the scope admin.'

/** @param keys the key for jobs is tried if there is no other one: it may have both scopes */
async function checkService(
  address: string,
  { admin, jobs }: { admin: string | null; jobs: string | null },
  signal: AbortSignal,
): Promise<Check[]> {
  try {
    return (await new Client(address, admin ?? jobs ?? '', signal).diagnose()).checks
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = error instanceof ServiceError && [401, 403].includes(error.status)
    if (isRefused && admin === null)
      return [skipped('admin_key', `None was given, so the service was not asked for its diagnosis. ${ADMIN}`)]
    if (isRefused) return [fault('admin_key', errorText(error), ADMIN)]
    return [fault('diagnosis', errorText(error), 'See the log of the Worker: npm run cloudflare -- tail.')]
  }
}

interface Report {
  /** No check failed. Warnings do not count. */
  ok: boolean
  address: string
  at: string
  sections: Record<string, Check[]>
}

const STATUS_LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  skipped: '-',
}

const count = (checks: readonly Check[], verdict: CheckStatus): number =>
  checks.filter((one) => one.verdict === verdict).length

function makeReport(address: string, sections: Record<string, Check[]>): Report {
  return { ok: count(Object.values(sections).flat(), 'fault') === 0, address, at: new Date().toISOString(), sections }
}

function reportText({ address, sections }: Report): string {
  const lines = [`Service at ${address}`]
  for (const [title, checks] of Object.entries(sections)) {
    lines.push('', title)
    const width = Math.max(...checks.map(({ name }) => name.length))
    for (const { name, verdict, message, remedy } of checks) {
      lines.push(`  ${STATUS_LABELS[verdict].padEnd(7)}  ${name.padEnd(width)}  ${message}`)
      if (remedy !== null && verdict !== 'ok') lines.push(`  ${''.padEnd(7)}  ${''.padEnd(width)}  -> ${remedy}`)
    }
  }
  const all = Object.values(sections).flat()
  const plural = (verdict: CheckStatus): string =>
    `${count(all, verdict)} ${verdict}${count(all, verdict) === 1 ? '' : 's'}`
  lines.push('', `${plural('fault')}, ${plural('warning')}, ${count(all, 'ok')} ok.`)
  return stripControlCharacters(lines.join('\n'))
}

const PATIENCE_SECONDS = 300

interface DoctorOptions {
  address: string
  jobs: string | null
  admin: string | null
  runJobs: boolean
  timeoutMs: number
  input: string | null
  stores: TargetStore[]
}

/** @throws UsageError */
function readOptions(words: readonly string[], values: OptionValues, env: NodeJS.ProcessEnv): DoctorOptions {
  const address = words[0] ?? (values['url'] as string | undefined) ?? env['SPLICEPOINT_URL']
  const seconds = Number(values['timeout'] ?? PATIENCE_SECONDS)
  if (!(seconds > 0 && seconds <= 86_400)) throw new UsageError('--timeout must be a number of seconds, at most 86400.')
  if (address === undefined || address === '') throw new UsageError('Give the address of a service.')
  const run = `splicepoint-doctor-${crypto.randomUUID().slice(0, 8)}`
  return {
    address: serviceAddress(address),
    jobs: String(values['key'] ?? env['SPLICEPOINT_KEY'] ?? '') || null,
    admin: String(values['admin-key'] ?? env['SPLICEPOINT_ADMIN_KEY'] ?? '') || null,
    runJobs: values['no-jobs'] !== true,
    timeoutMs: seconds * 1000,
    input: (values['input'] as string | undefined) ?? null,
    stores: ((values['store'] as string[] | undefined) ?? []).map((store) => parseTargetStore(store, run, env)),
  }
}

export async function doctorCommand(
  words: readonly string[],
  values: OptionValues,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<{ answer: Report; text: string }> {
  const options = readOptions(words, values, env)
  const { address } = options
  note(`checking ${address} …`)
  const endpoint = await checkEndpoint(address, options.jobs, signal)
  const sections: Record<string, Check[]> = { Address: endpoint.checks }
  if (endpoint.isReachable && (options.admin ?? options.jobs) !== null) {
    note('requesting the diagnosis of the service …')
    sections['Service'] = await checkService(address, options, signal)
  }
  if (options.runJobs && endpoint.canRunJobs) sections['Jobs'] = await checkJobs(options, signal, note)
  const answer = makeReport(address, sections)
  return { answer, text: reportText(answer) }
}

async function checkJobs(
  { address, jobs, timeoutMs, input, stores }: DoctorOptions,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<Check[]> {
  const created = new CreatedResources()
  const key = jobs ?? ''
  const checks: Check[] = []
  try {
    const context = { client: new Client(address, key, signal), created, signal, timeoutMs, note }
    checks.push(...(await runTestJobs(context, { input, stores })))
  } finally {
    // Also runs after Ctrl-C.
    const removed = await created.removeAll(new Client(address, key))
    checks.push(removed)
    if (removed.verdict === 'fault') note(removed.message)
  }
  return checks
}
