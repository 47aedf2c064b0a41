// In charge of: `doctor`: checks a configuration and a deployed service, runs small test jobs, and reports problems
// with remedies.
// Not in charge of: the single checks (doctor/).
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Check } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { serviceAddress, type OptionValues } from '../arguments.ts'
import { checkWranglerToml } from './wranglerTomlChecks.ts'
import { runCheck } from './checkResult.ts'
import {
  recheckCron,
  diagnoseService,
  waitForIdleContainers,
  checkIdleContainers,
  type ServiceReport,
} from './serviceChecks.ts'
import { checkEndpoint } from './endpointChecks.ts'
import { checkThresholds, makeReport, reportText, type Report } from './doctorReport.ts'
import { parseTargetStore } from './targetStore.ts'
import { CreatedResources } from './createdResources.ts'
import { runTestJobs, type TestJobOptions } from './testJobChecks.ts'
import { checkDeployment } from './wranglerCliChecks.ts'
import { UsageError } from '../cliErrors.ts'

const CONFIGURATION = 'wrangler.toml'
const PATIENCE_SECONDS = 300

interface DoctorOptions {
  address: string | null
  jobs: string | null
  admin: string | null
  configuration: string | null
  runJobs: boolean
  waitIdle: boolean
  timeoutMs: number
  input: string | null
  stores: TestJobOptions['stores']
}

/** @throws UsageError */
async function readOptions(
  words: readonly string[],
  values: OptionValues,
  env: NodeJS.ProcessEnv,
): Promise<DoctorOptions> {
  const named = words[0] ?? (values['url'] as string | undefined)
  const address = named ?? env['SPLICEPOINT_URL']
  const seconds = Number(values['timeout'] ?? PATIENCE_SECONDS)
  if (!(seconds > 0 && seconds <= 86_400)) throw new UsageError('--timeout must be a number of seconds, at most 86400.')
  const asked = values['config'] as string | undefined
  const path = resolve(asked ?? CONFIGURATION)
  // With an address, the local configuration may belong to another deployment, so it is checked only if it is named.
  const isMeant =
    asked !== undefined ||
    (named === undefined &&
      (await access(path).then(
        () => true,
        () => false,
      )))
  if (!isMeant && address === undefined) {
    throw new UsageError(
      `There is no ${CONFIGURATION} in this directory. Give one with --config, or the address of a service.`,
    )
  }
  const run = `splicepoint-doctor-${crypto.randomUUID().slice(0, 8)}`
  return {
    address: address === undefined ? null : serviceAddress(address),
    jobs: String(values['key'] ?? env['SPLICEPOINT_KEY'] ?? '') || null,
    admin: String(values['admin-key'] ?? env['SPLICEPOINT_ADMIN_KEY'] ?? '') || null,
    configuration: isMeant ? path : null,
    runJobs: named !== undefined && values['no-jobs'] !== true,
    waitIdle: values['idle'] === true,
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
  const options = await readOptions(words, values, env)
  const sections: Record<string, Check[]> = {}
  const figures: Record<string, number> = {}
  let jobs: Report['jobs'] = []
  if (options.configuration !== null) {
    note(`checking ${options.configuration} …`)
    sections['Configuration'] = [
      ...(await checkWranglerToml(options.configuration)),
      ...(await checkDeployment(options.configuration, signal)),
    ]
  }
  if (options.address !== null) {
    jobs = await checkService(options, options.address, sections, figures, signal, note)
    const beyond = checkThresholds(figures)
    if (beyond.length > 0) sections['Thresholds'] = beyond
  }
  const answer = makeReport({ address: options.address, sections, figures, jobs })
  return { answer, text: reportText(answer) }
}

async function checkService(
  options: DoctorOptions,
  address: string,
  sections: Record<string, Check[]>,
  figures: Record<string, number>,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<Report['jobs']> {
  note(`checking ${address} …`)
  const began = Date.now()
  const outside = await checkEndpoint(address, options, signal)
  sections['Address'] = outside.checks
  Object.assign(figures, outside.figures)
  const admin = outside.canDiagnose ? new Client(address, options.admin ?? options.jobs ?? '', signal) : null
  let inside: ServiceReport | null = null
  if (admin) {
    note('requesting the diagnosis of the service …')
    inside = { checks: [], diagnosis: null }
    const remedy = 'See the log of the Worker: npm run cloudflare -- tail.'
    const failed = await runCheck(
      'diagnosis',
      remedy,
      async () => {
        inside = await diagnoseService(admin)
        return inside.diagnosis ? checkIdleContainers(inside.diagnosis) : inside.checks[0]!
      },
      signal,
    )
    sections['Service'] = inside.diagnosis || inside.checks.length === 0 ? [...inside.checks, failed] : inside.checks
    inside.checks = sections['Service']
  }
  let jobs: Report['jobs'] = []
  if (options.runJobs && outside.canRunJobs) {
    const created = new CreatedResources()
    const key = options.jobs ?? ''
    try {
      const bench = { client: new Client(address, key, signal), created, signal, timeoutMs: options.timeoutMs, note }
      const { input, stores } = options
      const made = await runTestJobs(bench, { input, stores, before: inside?.diagnosis ?? null })
      sections['Jobs'] = made.checks
      Object.assign(figures, made.figures)
      ;({ jobs } = made)
    } finally {
      // Also runs after Ctrl-C.
      const removed = await created.removeAll(new Client(address, key))
      sections['Jobs'] = [...(sections['Jobs'] ?? []), removed]
      if (removed.verdict === 'fault') note(removed.message)
    }
  }
  if (admin && inside?.diagnosis) {
    await recheckCron(admin, inside, began, signal)
    if (options.waitIdle) inside.checks.push(await waitForIdleContainers(admin, note, signal))
  }
  return jobs
}
