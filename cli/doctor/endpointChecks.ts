// In charge of: checks from a client's side: the service answers, is ready, and knows the key.
// Not in charge of: the service's own diagnosis (doctorCommand.ts), the test job (testJobs.ts).
import type { Health } from '#contract/api/administration.ts'
import type { Check } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { fetchOrFail } from '../../client/serviceRequest.ts'
import { fault, ok, runCheck, warning } from './checkResult.ts'

const ANSWER_MS = 20_000
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|altname/i
const ISSUE =
  'Issue one: curl -u "$SPLICEPOINT_ADMIN_KEY:" --json \'{"account": "doctor", "label": "canary"}\' <address>/api/v0/keys; then SPLICEPOINT_KEY=sp_….'

export interface EndpointReport {
  checks: Check[]
  /** If not, no further checks are possible. */
  isReachable: boolean
  canRunJobs: boolean
}

/** @param key null = none was given */
export async function checkEndpoint(address: string, key: string | null, signal: AbortSignal): Promise<EndpointReport> {
  const unusable = (check: Check): EndpointReport => ({ checks: [check], isReachable: false, canRunJobs: false })
  const base = new URL(address)
  const from = performance.now()
  let response: Response
  try {
    response = await fetchOrFail(new URL('/health', base), {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    })
  } catch (error) {
    signal.throwIfAborted()
    return unusable(unreachable(error as Error))
  }
  const took = performance.now() - from
  const moved = response.headers.get('location')
  if (response.status >= 300 && response.status < 400) {
    const remedy = `Use the new address: ${moved === null ? '' : new URL(moved, base).origin}`
    return unusable(fault('reached', `It redirects to ${moved}; clients do not send their key there.`, remedy))
  }
  const health = readHealth(await response.text())
  if (health === null) {
    const remedy = 'Check the address, the route or domain of the Worker, and what is in front of it (Access, a proxy).'
    return unusable(fault('reached', `The answer (HTTP ${response.status}) is not from this service.`, remedy))
  }
  const checks = [ok('reached', `Version ${health.version} answers.`, took), ...checkHealth(health)]
  if (base.protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(base.hostname)) {
    const remedy = 'Put a proxy that terminates TLS in front of it, and use its address.'
    checks.push(warning('tls', 'Without TLS, anyone on the network path can read the keys.', remedy))
  }
  const known = await checkKey(address, key, signal)
  return { checks: [...checks, known], isReachable: true, canRunJobs: known.verdict === 'ok' }
}

function unreachable({ message }: Error): Check {
  const remedy = CERTIFICATE.test(message)
    ? 'The certificate is not valid for this address: a custom domain needs some minutes after its first deployment. Otherwise check SSL/TLS of the zone.'
    : 'Is the service running or the Worker deployed (npm run cloudflare -- deployments list), and does this address lead to it (routes, workers_dev, DNS)?'
  return fault('reached', message, remedy)
}

function readHealth(text: string): Health | null {
  try {
    const read = JSON.parse(text) as Health
    return ['ok', 'degraded', 'not_ready'].includes(read.status) ? read : null
  } catch {
    return null
  }
}

function checkHealth(health: Health): Check[] {
  const { status, missing, slots, transcoders, egress, starts_failing: failing, transcoders_silent: silent } = health
  if (status === 'ok') return [ok('health', `${slots} slots (${transcoders}), EGRESS ${egress}`)]
  if (status === 'degraded') {
    if (slots === 0)
      return [fault('health', 'No transcoder can take a job.', 'GET /api/v0/transcoders lists those that registered.')]
    const waiting = `${failing} jobs wait because no transcoder could be started for them.`
    const remedy =
      'Read the events of a waiting job, then the container’s log. See "Starts fail" in docs/troubleshooting.md.'
    return [fault('health', silent > 0 ? `${silent} of the transcoders do not answer. ${waiting}` : waiting, remedy)]
  }
  const remedies: readonly [RegExp, string][] = [
    [/secret (\w+) is not set/, 'npm run cloudflare -- secret put NAME'],
    [/tables/, 'npm run cloudflare -- d1 migrations apply DB --remote'],
    [/./, 'See "Settings" in docs/operating.md.'],
  ]
  return missing.map((text) => {
    const [pattern, command] = remedies.find(([one]) => one.test(text)) ?? [/./, '']
    return fault('health', text, command.replace('NAME', pattern.exec(text)?.[1] ?? ''))
  })
}

async function checkKey(address: string, key: string | null, signal: AbortSignal): Promise<Check> {
  if (key === null) return fault('key', 'No key was given, so no test job can be run.', ISSUE)
  const list = async (): Promise<Check> => {
    await new Client(address, key, signal).list({ limit: '1' })
    return ok('key', 'It may run jobs.')
  }
  return runCheck('key', ISSUE, list, signal)
}
