// In charge of: `doctor`: checks a running service, passes a small job through it, and reports problems with remedies.
// Not in charge of: the single checks (the other files of this folder), a configuration (scripts/cloudflare/).
import type { Check } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { serviceAddress, type OptionValues } from '../arguments.ts'
import { UsageError } from '../cliErrors.ts'
import { CreatedResources } from './createdResources.ts'
import { makeReport, reportText, type Report } from './doctorReport.ts'
import { checkEndpoint } from './endpointChecks.ts'
import { checkService } from './serviceChecks.ts'
import { parseTargetStore, type TargetStore } from './targetStore.ts'
import { runTestJobs } from './testJobs.ts'

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
