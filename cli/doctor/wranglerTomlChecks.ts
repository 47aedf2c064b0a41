// In charge of: checks of wrangler.toml: missing values, contradictions, values left from the template.
// Not in charge of: errors that wrangler reports itself (npm run build), what is deployed (wranglerCliChecks.ts,
// serviceChecks.ts).
import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import { checkOf, fault, ok, warning, type CheckOutcome } from '#contract/api/checkOutcome.ts'
import type { Check } from '#contract/api/diagnosis.ts'
import { variableProblems } from '#contract/serviceVariables.ts'
import { UsageError } from '../cliErrors.ts'

type Table = Record<string, unknown>

const CLASSES: Readonly<Record<string, string>> = {
  MONITOR: 'JobMonitor',
  COURIER: 'Courier',
  TRANSCODER: 'Transcoder',
  UPLOAD: 'ResumableUpload',
}
const SECRETS = ['SERVICE_SECRET', 'VAULT_KEYS', 'ADMIN_KEY', 'TRANSCODER_SECRET', 'INTERNAL_TOKEN']
/** Routes that the Worker handles itself. */
const WORKER_ROUTES = [
  '/api/*',
  '/uploads',
  '/uploads/*',
  '/o/*',
  '/p/*',
  '/a/*',
  '/s/*',
  '/task/*',
  '/health',
  '/metrics',
]
const ZERO_ID = '00000000-0000-0000-0000-000000000000'
const EVERY_MINUTE = '* * * * *'

const table = (value: unknown): Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {}
const tables = (value: unknown): Table[] => (Array.isArray(value) ? value.map(table) : [])
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value).trim() : ''

/** @throws UsageError */
export async function checkWranglerToml(path: string): Promise<Check[]> {
  const toml = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code ?? error.message}).`)
  })
  let config: Table
  try {
    config = parse(toml)
  } catch (error) {
    return [
      checkOf(
        'file',
        fault(`${path} is not valid TOML: ${(error as Error).message.split('\n')[0]}`, 'Correct that line.'),
      ),
    ]
  }
  return [checkOf('file', ok(path)), ...Object.entries(checks).map(([name, check]) => checkOf(name, check(config)))]
}

/** By the names that are printed. */
const checks: Readonly<Record<string, (config: Table) => CheckOutcome>> = {
  compatibility,
  database,
  bucket,
  queue,
  cron,
  durable_objects: durableObjects,
  containers,
  slots,
  rollouts,
  variables,
  secrets: plainSecrets,
  assets,
  rate_limit: rateLimit,
  logs,
}

function compatibility(config: Table): CheckOutcome {
  const date = text(config['compatibility_date'])
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) {
    return fault('There is no compatibility_date.', 'Use the value of the repository’s wrangler.toml.')
  }
  if (date > new Date().toISOString().slice(0, 10)) {
    return fault(`compatibility_date ${date} is in the future: Cloudflare refuses it.`, 'Set an earlier date.')
  }
  return strings(config['compatibility_flags']).includes('nodejs_compat')
    ? ok(`${date}, nodejs_compat`)
    : fault('The flag nodejs_compat is missing.', 'compatibility_flags = ["nodejs_compat"]')
}

function database(config: Table): CheckOutcome {
  const found = tables(config['d1_databases']).find(({ binding }) => binding === 'DB')
  const create = 'npm run cloudflare -- d1 create splicepoint prints an id. Set database_id in splicepoint.toml to it.'
  if (!found) return fault('No [[d1_databases]] has the binding DB.', create)
  const id = text(found['database_id'])
  if (id === '' || id === ZERO_ID) return fault('database_id is still the placeholder of the repository.', create)
  return text(found['migrations_dir']) === ''
    ? fault('migrations_dir is missing.', 'migrations_dir = "migrations"')
    : ok(`${text(found['database_name'])} (${id})`)
}

function bucket(config: Table): CheckOutcome {
  const found = tables(config['r2_buckets']).find(({ binding }) => binding === 'BUCKET')
  return found && text(found['bucket_name']) !== ''
    ? ok(text(found['bucket_name']))
    : fault(
        'No [[r2_buckets]] has the binding BUCKET and a bucket_name.',
        'Create one (npm run cloudflare -- r2 bucket create splicepoint) and set bucket_name to it.',
      )
}

function queue(config: Table): CheckOutcome {
  const { producers, consumers } = table(config['queues'])
  const name = text(tables(producers).find(({ binding }) => binding === 'QUEUE')?.['queue'])
  if (name === '') {
    return fault('No [[queues.producers]] has the binding QUEUE.', 'binding = "QUEUE", queue = "splicepoint-tasks"')
  }
  const consumer = tables(consumers).find((one) => one['queue'] === name)
  if (!consumer) {
    return fault(`${name} has no consumer: no job would ever start.`, `[[queues.consumers]] with queue = "${name}"`)
  }
  if (text(consumer['max_batch_timeout']) !== '0') {
    return warning(
      `Every job waits up to ${text(consumer['max_batch_timeout']) || '5'} s for others before it starts.`,
      'max_batch_timeout = 0 in [[queues.consumers]]',
    )
  }
  return text(consumer['dead_letter_queue']) === ''
    ? warning(
        'There is no dead_letter_queue: messages that fail ten times are lost without notice.',
        'dead_letter_queue = "splicepoint-tasks-dead"',
      )
    : ok(`${name}, dead letters to ${text(consumer['dead_letter_queue'])}`)
}

function cron(config: Table): CheckOutcome {
  const crons = strings(table(config['triggers'])['crons'])
  if (crons.length === 0) {
    return fault(
      'There is no cron trigger: lost jobs are never recovered, and expired data is never removed.',
      `[triggers] crons = ["${EVERY_MINUTE}"]`,
    )
  }
  return crons.includes(EVERY_MINUTE)
    ? ok(EVERY_MINUTE)
    : warning(`The reconciler runs only at ${crons.join(', ')}.`, `crons = ["${EVERY_MINUTE}"]`)
}

function durableObjects(config: Table): CheckOutcome {
  const bound = new Map(
    tables(table(config['durable_objects'])['bindings']).map((one) => [text(one['name']), text(one['class_name'])]),
  )
  const wrong = Object.entries(CLASSES).filter(([name, className]) => bound.get(name) !== className)
  if (wrong.length > 0) {
    return fault(
      `Not bound: ${wrong.map(([name, className]) => `${name} to ${className}`).join(', ')}.`,
      '[[durable_objects.bindings]] with this name and class_name',
    )
  }
  const made = new Set([
    ...tables(config['migrations']).flatMap((one) => strings(one['new_sqlite_classes'])),
    ...Object.keys(table(config['exports'])),
  ])
  const missing = Object.values(CLASSES).filter((className) => !made.has(className))
  return missing.length > 0
    ? fault(`No [[migrations]] makes ${missing.join(', ')}.`, 'new_sqlite_classes of a new tag')
    : ok(Object.keys(CLASSES).join(', '))
}

/** Empty = Cloudflare Containers. */
const ownTranscoders = (config: Table): string =>
  ['TRANSCODER_URLS', 'TRANSCODER_REGISTRATION'].find((name) => text(table(config['vars'])[name]) !== '') ?? ''
const container = (config: Table): Table | undefined =>
  tables(config['containers']).find((one) => one['class_name'] === CLASSES['TRANSCODER'])

function containers(config: Table): CheckOutcome {
  const found = container(config)
  if (ownTranscoders(config) !== '') return ok(`${ownTranscoders(config)}: your own transcoders.`)
  if (!found) {
    return fault(
      'No [[containers]] has class_name = "Transcoder": nothing would run a job.',
      'Copy the block from the repository’s wrangler.toml.',
    )
  }
  const policy = text(found['scheduling_policy'])
  if (policy !== '' && policy !== 'default') {
    return fault(
      `scheduling_policy = "${policy}": this version supports only the default policy.`,
      'Leave it out (docs/containers.md). It cannot be changed later: a new application is needed.',
    )
  }
  const type = found['instance_type']
  const name =
    typeof type === 'object' ? `${text(table(type)['vcpu'])} vCPUs, ${text(table(type)['memory_mib'])} MiB` : text(type)
  if (name === '' || ['lite', 'dev', 'basic'].includes(name)) {
    return fault(
      `instance_type ${name || 'is missing, so it is "lite"'}: too little memory for ffmpeg.`,
      'instance_type = "standard-4"',
    )
  }
  return name === 'standard-4'
    ? ok(name)
    : warning(
        `instance_type ${name}: jobs are slower than dry runs predict, and the cost differs.`,
        'Set instance_type = "standard-4", or adapt ESTIMATE_PRICES.',
      )
}

function slots(config: Table): CheckOutcome {
  const found = container(config)
  if (ownTranscoders(config) !== '' || !found) return ok('As many as there are transcoders of your own.')
  const instances = text(found['max_instances'])
  const most = text(table(config['vars'])['MAX_SLOTS'])
  const remedy = 'Set both to the number of jobs that may run at once.'
  if (most === '') return fault(`MAX_SLOTS is empty, so it is 1; max_instances is ${instances || 'not set'}.`, remedy)
  if (instances === '') return fault(`max_instances is missing; MAX_SLOTS is ${most}.`, remedy)
  if (Number(most) > Number(instances)) {
    return fault(`MAX_SLOTS ${most} is larger than max_instances ${instances}: starts would be refused.`, remedy)
  }
  return Number(most) < Number(instances)
    ? warning(`MAX_SLOTS ${most} is smaller than max_instances ${instances}: the rest is never used.`, remedy)
    : ok(`${most} jobs at once`)
}

function rollouts(config: Table): CheckOutcome {
  const seconds = text(container(config)?.['rollout_active_grace_period'])
  if (ownTranscoders(config) !== '' || !container(config)) return ok('No Cloudflare Containers are used.')
  return Number(seconds || 0) > 0
    ? ok(`A rollout does not stop a container in its first ${seconds} s; later it has the time of its drain.`)
    : warning(
        'rollout_active_grace_period is 0: every rollout ends jobs that have just begun.',
        'See "New versions" in docs/operating.md.',
      )
}

function variables(config: Table): CheckOutcome {
  const vars = table(config['vars'])
  const value = (name: string): string => text(vars[name])
  const problems = variableProblems(vars)
  if (problems.length > 0) return fault(`${problems.join('; ')}: every request would be refused.`, 'Correct it.')
  if (!['', 'platform'].includes(value('EGRESS'))) {
    return warning(`EGRESS is "${value('EGRESS')}".`, 'On Cloudflare: EGRESS = "platform".')
  }
  const filled = ['ALLOW_PRIVATE_HOSTS', 'API_KEY', 'TASK_API_URL'].filter((name) => value(name) !== '')
  if (filled.length > 0 && ownTranscoders(config) === '') {
    return warning(
      `${filled.join(', ')} ${filled.length > 1 ? 'are' : 'is'} not empty.`,
      'Leave it empty in production.',
    )
  }
  const base = value('BASE_URL')
  if (base !== '' && !(URL.canParse(base) && new URL(base).protocol === 'https:')) {
    return fault(
      `BASE_URL = "${base}" is not an https address.`,
      'BASE_URL = "https://transcode.example.com", or leave it empty.',
    )
  }
  return ok(`EGRESS ${value('EGRESS') || 'platform'}, a lease of ${value('LEASE_SECONDS') || '30'} s`)
}

function plainSecrets(config: Table): CheckOutcome {
  const vars = table(config['vars'])
  const plain = SECRETS.filter((name) => text(vars[name]) !== '')
  return plain.length > 0
    ? fault(
        `${plain.join(', ')} in [vars]: secrets must not be in a file.`,
        `Remove it there, create a new value, and run npm run cloudflare -- secret put ${plain[0]}.`,
      )
    : ok('The file contains no secrets.')
}

function assets(config: Table): CheckOutcome {
  const { binding, run_worker_first: first } = table(config['assets'])
  if (text(binding) !== 'ASSETS')
    return fault(
      'No [assets] with the binding ASSETS: there is no dashboard.',
      'Copy the block from the repository’s wrangler.toml.',
    )
  const missing = first === true ? [] : WORKER_ROUTES.filter((path) => !strings(first).includes(path))
  return missing.length > 0
    ? warning(`run_worker_first lacks ${missing.join(', ')}.`, 'Use the list of the repository’s wrangler.toml.')
    : ok('The dashboard is served, after the Worker’s own addresses.')
}

function rateLimit(config: Table): CheckOutcome {
  const found = tables(config['ratelimits'])
  if (found.length === 0)
    return ok('Cloudflare’s rate limiting is not used; each instance of the Worker counts by itself.')
  const one = found.find(({ name }) => name === 'RATE_LIMIT')
  if (!one) return fault('[[ratelimits]] is not named RATE_LIMIT, so it has no effect.', 'name = "RATE_LIMIT"')
  const { limit, period } = table(one['simple'])
  if (!['10', '60'].includes(text(period)))
    return fault(`The period is ${text(period) || 'missing'}.`, 'period = 10 or 60')
  const perMinute = Number(text(limit)) * (60 / Number(text(period)))
  const own = Number(text(table(config['vars'])['REQUESTS_PER_MINUTE']) || 0)
  return own > perMinute
    ? warning(
        `It permits ${perMinute} requests per minute, but REQUESTS_PER_MINUTE is ${own}.`,
        'Choose a limit above the highest of any key.',
      )
    : ok(`${perMinute} requests per minute and key`)
}

function logs(config: Table): CheckOutcome {
  return table(config['observability'])['enabled'] === true
    ? ok('Logs are stored by Cloudflare.')
    : warning('Logs of the Worker and the containers are not stored.', '[observability] enabled = true')
}
