// In charge of: wrangler's configuration of one environment: wrangler.toml with the operator's values.
// Not in charge of: reading and checking them (deployment.ts).
import type { Deployment, Table } from './deployment.ts'

/** `base`: the parsed wrangler.toml. Paths in it stay relative to the same directory. */
export function wranglerConfig(base: Table, deployment: Deployment): Table {
  const { domain, max_transcoders: slots } = deployment
  const own = {
    name: deployment.name,
    account_id: deployment.account_id,
    // Without these two, the service would also answer at workers.dev, where BASE_URL does not lead.
    ...(domain === undefined ? {} : { routes: [{ pattern: domain, custom_domain: true }], workers_dev: false }),
    vars: {
      ...tableOf(base, 'vars'),
      ...(domain === undefined ? {} : { BASE_URL: `https://${domain}` }),
      ...(slots === undefined ? {} : { MAX_SLOTS: String(slots) }),
      ...deployment.vars,
    },
    d1_databases: one(base, 'd1_databases', {
      database_name: deployment.database_name,
      database_id: deployment.database_id,
    }),
    r2_buckets: one(base, 'r2_buckets', { bucket_name: deployment.bucket }),
    queues: {
      producers: one(tableOf(base, 'queues'), 'producers', { queue: deployment.queue }),
      consumers: one(tableOf(base, 'queues'), 'consumers', {
        queue: deployment.queue,
        dead_letter_queue: deployment.dead_letter_queue,
      }),
    },
    containers: one(base, 'containers', {
      max_instances: slots,
      instance_type: deployment.instance_type,
      image_vars: deployment.image_vars,
      rollout_active_grace_period: deployment.rollout_active_grace_period,
    }),
    ratelimits: rateLimit(deployment),
  }
  return merge(merge(base, defined(own)), deployment.wrangler)
}

/** Cloudflare counts in periods of 10 or 60 seconds. The id only has to differ from others of the account. */
function rateLimit({ requests_per_minute_and_location: limit }: Deployment): Table[] | undefined {
  if (limit === undefined) return undefined
  return [{ name: 'RATE_LIMIT', namespace_id: '1001', simple: { limit, period: 60 } }]
}

function tableOf(table: Table, name: string): Table {
  const value = table[name]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrangler.toml of this repository
  return (value ?? {}) as Table
}

/** wrangler.toml has exactly one of each. */
function one(table: Table, name: string, change: Table): Table[] {
  const list = table[name]
  if (!Array.isArray(list) || list.length !== 1) throw new Error(`wrangler.toml must have one [[${name}]]`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrangler.toml of this repository
  return [{ ...(list[0] as Table), ...defined(change) }]
}

function defined(table: Table): Table {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined))
}

/** Tables are merged; everything else is replaced. */
function merge(base: Table, change: Table): Table {
  const isTable = (value: unknown): value is Table =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const result = { ...base }
  for (const [name, value] of Object.entries(change)) {
    const before = result[name]
    result[name] = isTable(before) && isTable(value) ? merge(before, value) : value
  }
  return result
}
