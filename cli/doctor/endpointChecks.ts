// In charge of: checks from a client's side: the service answers, over TLS, with the right clock; it is a Splicepoint
// of a matching version; pages may call it; the keys are valid.
// Not in charge of: the service's own diagnosis (serviceChecks.ts), test jobs (testJobChecks.ts).
import type { Check } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import { fetchOrFail } from '../../client/serviceRequest.ts'
import { fault, runCheck, ok, skipped, warning, type CheckList } from './checkResult.ts'

const ANSWER_MS = 20_000
const SKEW_SECONDS = 5
const MAX_SKEW_SECONDS = 300
const ORIGIN = 'https://page.example'
/** The operations that this command uses. */
const REQUIRED_OPERATIONS = [
  'GET /health',
  'GET /api/v0/limits',
  'POST /uploads',
  'PATCH /uploads/{number}',
  'DELETE /uploads/{number}',
  'POST /api/v0/job',
  'GET /api/v0/job/{id}',
  'GET /api/v0/job/{id}/events',
  'POST /api/v0/job/{id}/cancel',
  'DELETE /api/v0/job/{id}',
  'POST /api/v0/diagnosis',
  'GET /metrics',
]
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|altname/i

export interface DoctorKeys {
  /** null = no key was given. */
  jobs: string | null
  admin: string | null
}

export interface EndpointReport {
  checks: CheckList
  figures: Record<string, number>
  /** Whether the service is reachable. If not, no further checks are possible. */
  isReachable: boolean
  /** Whether the keys permit test jobs and the diagnosis. */
  canRunJobs: boolean
  canDiagnose: boolean
}

interface Health {
  status?: unknown
  missing?: unknown
  slots?: unknown
  starts_failing?: unknown
  transcoders_silent?: unknown
  transcoders?: unknown
  egress?: unknown
}

export async function checkEndpoint(address: string, keys: DoctorKeys, signal: AbortSignal): Promise<EndpointReport> {
  const made: EndpointReport = { checks: [], figures: {}, isReachable: false, canRunJobs: false, canDiagnose: false }
  const base = new URL(address)
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetchOrFail(new URL(path, base), {
      redirect: 'manual',
      ...init,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    })

  let response: Response
  const from = performance.now()
  try {
    response = await ask('/health')
  } catch (error) {
    signal.throwIfAborted()
    made.checks.push(unreachable(error as Error))
    return made
  }
  const took = performance.now() - from
  const moved = response.headers.get('location')
  if (response.status >= 300 && response.status < 400) {
    made.checks.push(
      fault(
        'reached',
        `It redirects to ${moved}; clients do not send their key there.`,
        `Use the new address: ${moved === null ? '' : new URL(moved, base).origin}`,
      ),
    )
    return made
  }
  const body = await response.text()
  const health = readHealth(body)
  if (health === null) {
    made.checks.push(
      fault(
        'reached',
        `The answer (HTTP ${response.status}) is not from this service.`,
        'Check the address, the route or domain of the Worker, and what is in front of it (Access, a proxy).',
      ),
    )
    return made
  }
  made.isReachable = true
  const ray = response.headers.get('cf-ray')
  made.checks.push(ok('reached', `It answers${ray === null ? '' : ` (Cloudflare, ${ray.split('-').at(-1)})`}.`, took))
  made.checks.push(...checkHealth(health, response.status))
  made.checks.push(checkClock(response.headers.get('date'), took))
  if (ray !== null && health.egress !== 'platform') {
    made.checks.push(
      warning('egress', `On Cloudflare, EGRESS is "${String(health.egress)}".`, 'Set EGRESS = "platform" and deploy.'),
    )
  }
  made.checks.push(await runCheck('tls', '', () => checkTls(base, signal), signal))
  made.checks.push(
    await runCheck(
      'version',
      'Use the command of the service’s version.',
      async () => checkVersion(await ask('/openapi.json')),
      signal,
    ),
  )
  made.checks.push(await runCheck('cors', '', async () => checkCors(await ask('/api/v0/job', preflight)), signal))
  made.checks.push(await runCheck('dashboard', '', async () => checkDashboard(await ask('/')), signal))
  made.figures['answer_ms'] = await median(5, async () => (await ask('/health')).text())
  await checkKeys(address, keys, made, signal)
  return made
}

const preflight: RequestInit = {
  method: 'OPTIONS',
  headers: {
    origin: ORIGIN,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
}

function unreachable(error: Error): Check {
  const { message } = error
  if (CERTIFICATE.test(message)) {
    return fault(
      'reached',
      message,
      'The certificate is not valid for this address: a custom domain needs some minutes after its first deployment. Otherwise check SSL/TLS of the zone.',
    )
  }
  return fault(
    'reached',
    message,
    'Is the Worker deployed (npm run cloudflare -- deployments list), and does this address lead to it (routes, workers_dev, DNS)?',
  )
}

function readHealth(text: string): Health | null {
  try {
    const read = JSON.parse(text) as Health
    return ['ok', 'degraded', 'not_ready'].includes(String(read.status)) ? read : null
  } catch {
    return null
  }
}

function checkHealth(health: Health, code: number): Check[] {
  const { status, missing, slots, transcoders, egress } = health
  const said = Array.isArray(missing) ? missing.map(String) : []
  if (status === 'ok' && code === 200) {
    return [ok('health', `${String(slots)} slots (${String(transcoders)}), EGRESS ${String(egress)}`)]
  }
  if (status === 'degraded') {
    const remedy =
      'Read the events of a waiting job, then the container’s log. See "Jobs wait for ever" in docs/troubleshooting.md.'
    const waiting = `${String(health.starts_failing)} jobs wait because no transcoder could be started for them.`
    const silent = Number(health.transcoders_silent)
    if (health.slots === 0)
      return [fault('health', 'No transcoder can take a job.', 'GET /api/v0/transcoders lists those that registered.')]
    return [fault('health', silent > 0 ? `${silent} of the transcoders do not answer. ${waiting}` : waiting, remedy)]
  }
  const remedies: readonly [RegExp, string][] = [
    [/secret (\w+) is not set/, 'npm run cloudflare -- secret put NAME'],
    [/tables/, 'npm run cloudflare -- d1 migrations apply DB --remote'],
  ]
  return (said.length > 0 ? said : [`HTTP ${code}`]).map((text) => {
    const [pattern, command = 'See "Settings" in docs/operating.md.'] = remedies.find(([one]) => one.test(text)) ?? [
      /(?:)/,
    ]
    return fault('health', text, command.replace('NAME', pattern.exec(text)?.[1] ?? ''))
  })
}

function checkClock(date: string | null, tookMs: number): Check {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return skipped('clock', 'The answer has no Date header.')
  // The Date header has whole seconds.
  const skew = (Date.now() - tookMs / 2 - theirs - 500) / 1000
  const text = `This machine is ${Math.abs(skew).toFixed(0)} s ${skew > 0 ? 'ahead of' : 'behind'} the service.`
  if (Math.abs(skew) <= SKEW_SECONDS) return ok('clock', 'The clocks agree.')
  const remedy = 'Set the clocks (NTP): signatures for stores and the expiry of signed addresses depend on them.'
  return Math.abs(skew) > MAX_SKEW_SECONDS ? fault('clock', text, remedy) : warning('clock', text, remedy)
}

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

async function checkTls(base: URL, signal: AbortSignal): Promise<Check> {
  if (base.protocol === 'http:') {
    return isLoopback(base)
      ? skipped('tls', 'This machine.')
      : warning(
          'tls',
          'Without TLS, anyone on the network path can read the keys.',
          'Put a proxy that terminates TLS in front of it, and use its address.',
        )
  }
  if (base.port !== '') return ok('tls', 'The certificate is valid.')
  const plain = await fetch(`http://${base.host}/health`, {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  }).catch(() => null)
  await plain?.body?.cancel()
  return plain?.status === 200
    ? warning(
        'tls',
        'It also answers over http: with a mistyped address, the key is sent unencrypted.',
        'Turn on "Always Use HTTPS" for the zone.',
      )
    : ok('tls', 'The certificate is valid, and http is not served.')
}

async function checkVersion(response: Response): Promise<Check> {
  const remedy = 'Use the command of the service’s version: npx splicepoint in a checkout of it.'
  const document = (await response.json()) as {
    info?: { title?: string; version?: string }
    paths?: Record<string, object>
  }
  if (document.info?.title !== 'Splicepoint') return fault('version', '/openapi.json is not from this service.', remedy)
  const missing = REQUIRED_OPERATIONS.filter((one) => {
    const [method = '', path = ''] = one.split(' ')
    return !Object.hasOwn(document.paths?.[path] ?? {}, method.toLowerCase())
  })
  return missing.length > 0
    ? warning('version', `The service has another version, which lacks ${missing.join(', ')}.`, remedy)
    : ok('version', `API ${document.info.version}, with all operations that this command uses.`)
}

async function checkCors(response: Response): Promise<Check> {
  await response.body?.cancel()
  const origin = response.headers.get('access-control-allow-origin')
  const allowed = (response.headers.get('access-control-allow-headers') ?? '').toLowerCase()
  if (origin !== '*' && origin !== ORIGIN) {
    return warning(
      'cors',
      'Pages of other origins cannot call it: the answer to their preflight request is missing.',
      'Check what is in front of the Worker (Access, a proxy).',
    )
  }
  return allowed.includes('authorization')
    ? ok('cors', 'Pages of any origin may call it with a key.')
    : warning(
        'cors',
        'Pages of other origins cannot send a key.',
        'Check what is in front of the Worker (Access, a proxy).',
      )
}

async function checkDashboard(response: Response): Promise<Check> {
  const text = await response.text()
  return response.status === 200 && text.includes('<')
    ? ok('dashboard', 'It is served.')
    : warning(
        'dashboard',
        `It answers ${response.status}.`,
        'Check [assets] in wrangler.toml; npm run build:web builds the files.',
      )
}

async function median(times: number, ask: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let index = 0; index < times; index++) {
    const from = performance.now()
    await ask()
    took.push(performance.now() - from)
  }
  return took.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0
}

const ISSUE =
  'Issue one: curl -u "$ADMIN_KEY:" --json \'{"account": "doctor", "label": "canary"}\' <address>/api/v0/keys; then SPLICEPOINT_KEY=sp_….'

async function checkKeys(address: string, keys: DoctorKeys, made: EndpointReport, signal: AbortSignal): Promise<void> {
  const { jobs, admin } = keys
  if (jobs === null) made.checks.push(fault('key', 'No key was given, so no test job can be run.', ISSUE))
  else {
    made.checks.push(
      await runCheck(
        'key',
        ISSUE,
        async () => {
          await new Client(address, jobs, signal).list({ limit: '1' })
          made.canRunJobs = true
          return ok('key', 'It may run jobs.')
        },
        signal,
      ),
    )
  }
  const key = admin ?? jobs
  if (key === null) return
  const remedy = 'Set SPLICEPOINT_ADMIN_KEY to the ADMIN_KEY of the service, or to a key with the scope admin.'
  made.checks.push(
    await runCheck(
      'admin_key',
      remedy,
      async () => {
        try {
          Object.assign(made.figures, parseMetrics(await new Client(address, key, signal).metrics()))
        } catch (error) {
          if (admin === null && error instanceof ServiceError && error.status === 403) {
            return skipped('admin_key', `None was given, so the diagnosis of the service is not available. ${remedy}`)
          }
          throw error
        }
        made.canDiagnose = true
        return ok('admin_key', 'It may administer; /metrics answers.')
      },
      signal,
    ),
  )
}

/** The metrics that are needed, parsed from the Prometheus text. */
function parseMetrics(text: string): Record<string, number> {
  const read = (name: string): number | null => {
    const value = new RegExp(`^splicepoint_${name} (\\S+)$`, 'm').exec(text)?.[1]
    return value === undefined ? null : Number(value)
  }
  return Object.fromEntries(
    ['slots', 'slots_busy', 'queue_age_seconds', 'attempts_lost_last_hour'].flatMap((name) => {
      const value = read(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}
