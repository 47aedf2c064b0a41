// In charge of: checks of wrangler.toml: missing values, contradictions, values left from the template.
// Not in charge of: errors that wrangler reports itself (npm run build), what is deployed (wranglerCliChecks.ts,
// serviceChecks.ts).
import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import type { Check } from '#contract/api/diagnosis.ts'
import { UsageError } from '../cliErrors.ts'
import { fault, ok, warning } from './checkResult.ts'

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
      fault('file', `${path} is not valid TOML: ${(error as Error).message.split('\n')[0]}`, 'Correct that line.'),
    ]
  }
  return [
    ok('file', path),
    compatibility(config),
    database(config),
    bucket(config),
    queue(config),
    cron(config),
    objects(config),
    containers(config),
    slots(config),
    rollouts(config),
    variables(config),
    plainSecrets(config),
    assets(config),
    rateLimit(config),
    logs(config),
  ]
}

function compatibility(config: Table): Check {
  const date = text(config['compatibility_date'])
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) {
    return fault('compatibility', 'There is no compatibility_date.', 'Use the value of the repository’s wrangler.toml.')
  }
  if (date > new Date().toISOString().slice(0, 10)) {
    return fault(
      'compatibility',
      `compatibility_date ${date} is in the future: Cloudflare refuses it.`,
      'Set an earlier date.',
    )
  }
  return strings(config['compatibility_flags']).includes('nodejs_compat')
    ? ok('compatibility', `${date}, nodejs_compat`)
    : fault('compatibility', 'The flag nodejs_compat is missing.', 'compatibility_flags = ["nodejs_compat"]')
}

function database(config: Table): Check {
  const found = tables(config['d1_databases']).find(({ binding }) => binding === 'DB')
  const create = 'npx wrangler d1 create splicepoint prints an id. Set database_id to it.'
  if (!found) return fault('database', 'No [[d1_databases]] has the binding DB.', create)
  const id = text(found['database_id'])
  if (id === '' || id === ZERO_ID)
    return fault('database', 'database_id is still the placeholder of the repository.', create)
  return text(found['migrations_dir']) === ''
    ? fault('database', 'migrations_dir is missing.', 'migrations_dir = "migrations"')
    : ok('database', `${text(found['database_name'])} (${id})`)
}

function bucket(config: Table): Check {
  const found = tables(config['r2_buckets']).find(({ binding }) => binding === 'BUCKET')
  return found && text(found['bucket_name']) !== ''
    ? ok('bucket', text(found['bucket_name']))
    : fault(
        'bucket',
        'No [[r2_buckets]] has the binding BUCKET and a bucket_name.',
        'Create one (npx wrangler r2 bucket create splicepoint) and set bucket_name to it.',
      )
}

function queue(config: Table): Check {
  const { producers, consumers } = table(config['queues'])
  const name = text(tables(producers).find(({ binding }) => binding === 'QUEUE')?.['queue'])
  if (name === '') {
    return fault(
      'queue',
      'No [[queues.producers]] has the binding QUEUE.',
      'binding = "QUEUE", queue = "splicepoint-tasks"',
    )
  }
  const consumer = tables(consumers).find((one) => one['queue'] === name)
  if (!consumer) {
    return fault(
      'queue',
      `${name} has no consumer: no job would ever start.`,
      `[[queues.consumers]] with queue = "${name}"`,
    )
  }
  if (text(consumer['max_batch_timeout']) !== '0') {
    return warning(
      'queue',
      `Every job waits up to ${text(consumer['max_batch_timeout']) || '5'} s for others before it starts.`,
      'max_batch_timeout = 0 in [[queues.consumers]]',
    )
  }
  return text(consumer['dead_letter_queue']) === ''
    ? warning(
        'queue',
        'There is no dead_letter_queue: messages that fail ten times are lost without notice.',
        'dead_letter_queue = "splicepoint-tasks-dead"',
      )
    : ok('queue', `${name}, dead letters to ${text(consumer['dead_letter_queue'])}`)
}

function cron(config: Table): Check {
  const crons = strings(table(config['triggers'])['crons'])
  if (crons.length === 0) {
    return fault(
      'cron',
      'There is no cron trigger: lost jobs are never recovered, and expired data is never removed.',
      `[triggers] crons = ["${EVERY_MINUTE}"]`,
    )
  }
  return crons.includes(EVERY_MINUTE)
    ? ok('cron', EVERY_MINUTE)
    : warning('cron', `The reconciler runs only at ${crons.join(', ')}.`, `crons = ["${EVERY_MINUTE}"]`)
}

function objects(config: Table): Check {
  const bound = new Map(
    tables(table(config['durable_objects'])['bindings']).map((one) => [text(one['name']), text(one['class_name'])]),
  )
  const wrong = Object.entries(CLASSES).filter(([name, className]) => bound.get(name) !== className)
  if (wrong.length > 0) {
    return fault(
      'durable_objects',
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
    ? fault('durable_objects', `No [[migrations]] makes ${missing.join(', ')}.`, 'new_sqlite_classes of a new tag')
    : ok('durable_objects', Object.keys(CLASSES).join(', '))
}

const transcoderUrls = (config: Table): string => text(table(config['vars'])['TRANSCODER_URLS'])
const container = (config: Table): Table | undefined =>
  tables(config['containers']).find((one) => one['class_name'] === CLASSES['TRANSCODER'])

function containers(config: Table): Check {
  const found = container(config)
  if (transcoderUrls(config) !== '') return ok('containers', 'TRANSCODER_URLS lists your own transcoders.')
  if (!found) {
    return fault(
      'containers',
      'No [[containers]] has class_name = "Transcoder": nothing would run a job.',
      'Copy the block from the repository’s wrangler.toml.',
    )
  }
  const policy = text(found['scheduling_policy'])
  if (policy !== '' && policy !== 'default') {
    return fault(
      'containers',
      `scheduling_policy = "${policy}": this version supports only the default policy.`,
      'Leave it out (docs/containers.md). It cannot be changed later: a new application is needed.',
    )
  }
  const type = found['instance_type']
  const name =
    typeof type === 'object' ? `${text(table(type)['vcpu'])} vCPUs, ${text(table(type)['memory_mib'])} MiB` : text(type)
  if (name === '' || ['lite', 'dev', 'basic'].includes(name)) {
    return fault(
      'containers',
      `instance_type ${name || 'is missing, so it is "lite"'}: too little memory for ffmpeg.`,
      'instance_type = "standard-4"',
    )
  }
  return name === 'standard-4'
    ? ok('containers', name)
    : warning(
        'containers',
        `instance_type ${name}: jobs are slower than dry runs predict, and the cost differs.`,
        'Set instance_type = "standard-4", or adapt ESTIMATE_PRICES.',
      )
}

function slots(config: Table): Check {
  const found = container(config)
  if (transcoderUrls(config) !== '' || !found) return ok('slots', 'As many as TRANSCODER_URLS lists.')
  const instances = text(found['max_instances'])
  const most = text(table(config['vars'])['MAX_SLOTS'])
  const remedy = 'Set both to the number of jobs that may run at once.'
  if (most === '')
    return fault('slots', `MAX_SLOTS is empty, so it is 1; max_instances is ${instances || 'not set'}.`, remedy)
  if (instances === '') return fault('slots', `max_instances is missing; MAX_SLOTS is ${most}.`, remedy)
  if (Number(most) > Number(instances)) {
    return fault(
      'slots',
      `MAX_SLOTS ${most} is larger than max_instances ${instances}: starts would be refused.`,
      remedy,
    )
  }
  return Number(most) < Number(instances)
    ? warning('slots', `MAX_SLOTS ${most} is smaller than max_instances ${instances}: the rest is never used.`, remedy)
    : ok('slots', `${most} jobs at once`)
}

function rollouts(config: Table): Check {
  const seconds = text(container(config)?.['rollout_active_grace_period'])
  if (transcoderUrls(config) !== '' || !container(config)) return ok('rollouts', 'No Cloudflare Containers are used.')
  return Number(seconds || 0) > 0
    ? ok(
        'rollouts',
        `A rollout does not stop a container in its first ${seconds} s; later it has the time of its drain.`,
      )
    : warning(
        'rollouts',
        'rollout_active_grace_period is 0: every rollout ends jobs that have just begun.',
        'See "New versions" in docs/operating.md.',
      )
}

function variables(config: Table): Check {
  const vars = table(config['vars'])
  const value = (name: string): string => text(vars[name])
  for (const [name, least] of [
    ['MAX_SLOTS', 1],
    ['MAX_ACTIVE_JOBS', 0],
    ['MAX_STORED_UPLOAD_BYTES', 0],
    ['REQUESTS_PER_MINUTE', 1],
  ] as const) {
    const number = Number(value(name))
    if (value(name) !== '' && !(Number.isSafeInteger(number) && number >= least)) {
      return fault(
        'variables',
        `${name} = "${value(name)}" is not a whole number of at least ${least}: every request would be refused.`,
        `Correct ${name}, or leave it empty.`,
      )
    }
  }
  if (value('LEASE_SECONDS') !== '' && !(Number(value('LEASE_SECONDS')) > 0)) {
    return fault(
      'variables',
      `LEASE_SECONDS = "${value('LEASE_SECONDS')}" is not a number above 0.`,
      'LEASE_SECONDS = "30"',
    )
  }
  if (!['', 'platform'].includes(value('EGRESS'))) {
    return warning('variables', `EGRESS is "${value('EGRESS')}".`, 'On Cloudflare: EGRESS = "platform".')
  }
  const filled = ['ALLOW_PRIVATE_HOSTS', 'API_KEY', 'TASK_API_URL'].filter((name) => value(name) !== '')
  if (filled.length > 0 && transcoderUrls(config) === '') {
    return warning(
      'variables',
      `${filled.join(', ')} ${filled.length > 1 ? 'are' : 'is'} not empty.`,
      'Leave it empty in production.',
    )
  }
  const base = value('BASE_URL')
  if (base !== '' && !(URL.canParse(base) && new URL(base).protocol === 'https:')) {
    return fault(
      'variables',
      `BASE_URL = "${base}" is not an https address.`,
      'BASE_URL = "https://transcode.example.com", or leave it empty.',
    )
  }
  return ok('variables', `EGRESS ${value('EGRESS') || 'platform'}, a lease of ${value('LEASE_SECONDS') || '30'} s`)
}

function plainSecrets(config: Table): Check {
  const vars = table(config['vars'])
  const plain = SECRETS.filter((name) => text(vars[name]) !== '')
  return plain.length > 0
    ? fault(
        'secrets',
        `${plain.join(', ')} in [vars]: secrets must not be in a file.`,
        `Remove it there, create a new value, and run npx wrangler secret put ${plain[0]}.`,
      )
    : ok('secrets', 'The file contains no secrets.')
}

function assets(config: Table): Check {
  const { binding, run_worker_first: first } = table(config['assets'])
  if (text(binding) !== 'ASSETS')
    return fault(
      'assets',
      'No [assets] with the binding ASSETS: there is no dashboard.',
      'Copy the block from the repository’s wrangler.toml.',
    )
  const missing = first === true ? [] : WORKER_ROUTES.filter((path) => !strings(first).includes(path))
  return missing.length > 0
    ? warning(
        'assets',
        `run_worker_first lacks ${missing.join(', ')}.`,
        'Use the list of the repository’s wrangler.toml.',
      )
    : ok('assets', 'The dashboard is served, after the Worker’s own addresses.')
}

function rateLimit(config: Table): Check {
  const found = tables(config['ratelimits'])
  if (found.length === 0)
    return ok('rate_limit', 'Cloudflare’s rate limiting is not used; each instance of the Worker counts by itself.')
  const one = found.find(({ name }) => name === 'RATE_LIMIT')
  if (!one)
    return fault('rate_limit', '[[ratelimits]] is not named RATE_LIMIT, so it has no effect.', 'name = "RATE_LIMIT"')
  const { limit, period } = table(one['simple'])
  if (!['10', '60'].includes(text(period)))
    return fault('rate_limit', `The period is ${text(period) || 'missing'}.`, 'period = 10 or 60')
  const perMinute = Number(text(limit)) * (60 / Number(text(period)))
  const own = Number(text(table(config['vars'])['REQUESTS_PER_MINUTE']) || 0)
  return own > perMinute
    ? warning(
        'rate_limit',
        `It permits ${perMinute} requests per minute, but REQUESTS_PER_MINUTE is ${own}.`,
        'Choose a limit above the highest of any key.',
      )
    : ok('rate_limit', `${perMinute} requests per minute and key`)
}

function logs(config: Table): Check {
  return table(config['observability'])['enabled'] === true
    ? ok('logs', 'Logs are stored by Cloudflare.')
    : warning('logs', 'Logs of the Worker and the containers are not stored.', '[observability] enabled = true')
}
