// In charge of: splicepoint.toml, the operator's own file: its environments, each checked by name.
// Not in charge of: what a value changes in wrangler's configuration (wranglerConfig.ts).
import { parse } from 'smol-toml'
import { SERVICE_VARIABLES, variableProblems } from '#contract/serviceVariables.ts'

export type Table = Record<string, unknown>

/** One environment. What is undefined keeps the value of wrangler.toml. */
export interface Deployment {
  environment: string
  /** Name of the Worker. */
  name: string
  account_id: string | undefined
  domain: string | undefined
  database_name: string
  database_id: string
  bucket: string
  queue: string
  dead_letter_queue: string
  max_transcoders: number | undefined
  instance_type: string | undefined
  rollout_active_grace_period: number | undefined
  image_vars: Record<string, string> | undefined
  requests_per_minute_and_location: number | undefined
  vars: Record<string, string | number>
  /** Any other setting of wrangler, merged last. */
  wrangler: Table
}

interface Setting {
  expects: string
  isValid: (value: unknown) => boolean
}

const text = (expects: string, pattern: RegExp): Setting => ({
  expects,
  isValid: (value) => typeof value === 'string' && pattern.test(value),
})
const whole = (least: number, most: number): Setting => ({
  expects: `a whole number from ${least} to ${most}`,
  isValid: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
})
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
/** Names of Workers, buckets, queues and databases. */
const resourceName = text('3 to 63 lower-case letters, digits and hyphens', /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/)

const SETTINGS: Readonly<Record<string, Setting>> = {
  name: resourceName,
  account_id: text('the 32 hexadecimal digits of a Cloudflare account', /^[0-9a-f]{32}$/),
  domain: text(
    'a host name of one of your zones, like "transcode.example.com"',
    /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  ),
  database_name: resourceName,
  database_id: text(
    'the id that "npm run cloudflare -- d1 create" prints, like "3c1a…"',
    /^(?!0{8}-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  ),
  bucket: resourceName,
  queue: resourceName,
  dead_letter_queue: resourceName,
  max_transcoders: whole(1, 10_000),
  instance_type: text('an instance type of Cloudflare Containers, like "standard-4"', /^[a-z]+(-[0-9a-z]+)*$/),
  rollout_active_grace_period: whole(0, 604_800),
  image_vars: {
    expects: 'a table of texts',
    isValid: (value) => isTable(value) && Object.values(value).every((one) => typeof one === 'string'),
  },
  requests_per_minute_and_location: whole(1, 1_000_000),
  vars: {
    expects: 'a table of texts and numbers',
    isValid: (value) =>
      isTable(value) && Object.values(value).every((one) => typeof one === 'string' || typeof one === 'number'),
  },
  wrangler: { expects: "a table of wrangler's configuration", isValid: isTable },
}

/** The first environment has the plain names, so that it may take over resources that exist. */
const NAME = 'splicepoint'

/**
 * The environments of a file, in its order.
 *
 * @throws Error with every problem, one on each line, by name.
 */
export function readDeployments(toml: string): Deployment[] {
  const file = parse(toml)
  const problems: string[] = []
  const deployments = Object.entries(file).map(([environment, given], position) => {
    if (!isTable(given) || !/^[a-z][a-z0-9-]{0,30}$/.test(environment)) {
      problems.push(`${environment} must be a table with a name of lower-case letters, like [production]`)
      return null
    }
    return readDeployment(environment, given, position === 0 ? NAME : `${NAME}-${environment}`, problems)
  })
  if (deployments.length === 0) problems.push('there is no environment; begin with [production]')
  const read = deployments.filter((one) => one !== null)
  problems.push(...sharedResources(read))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return read
}

function readDeployment(environment: string, given: Table, name: string, problems: string[]): Deployment {
  for (const [setting, value] of Object.entries(given)) {
    const known = SETTINGS[setting]
    if (known === undefined)
      problems.push(`${environment}.${setting} is not a setting. Settings: ${Object.keys(SETTINGS).join(', ')}`)
    else if (!known.isValid(value)) problems.push(`${environment}.${setting} must be ${known.expects}`)
  }
  if (given['database_id'] === undefined)
    problems.push(`${environment}.database_id is missing: ${SETTINGS['database_id']!.expects}`)
  const vars = isTable(given['vars']) ? given['vars'] : {}
  for (const variable of Object.keys(vars))
    if (SERVICE_VARIABLES[variable] === undefined)
      problems.push(
        `${environment}.vars.${variable} is not a variable of the Worker. Variables: ${Object.keys(SERVICE_VARIABLES).join(', ')}; secrets are set with "npm run cloudflare -- secret put"`,
      )
  for (const problem of variableProblems(vars)) problems.push(`${environment}.vars.${problem}`)
  const base = typeof given['name'] === 'string' ? given['name'] : name
  // Every value was checked above; a file with a problem is refused as a whole.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for that reason
  return {
    name: base,
    database_name: base,
    bucket: base,
    queue: `${base}-tasks`,
    dead_letter_queue: `${base}-tasks-dead`,
    wrangler: {},
    ...given,
    vars,
    environment,
  } as Deployment
}

/** Two environments that write one database or read one queue would take each other's jobs. */
function sharedResources(deployments: readonly Deployment[]): string[] {
  const users = new Map<string, string>()
  return deployments.flatMap((deployment) =>
    (['name', 'database_id', 'bucket', 'queue'] as const).flatMap((setting) => {
      const key = `${setting} ${deployment[setting]}`
      const other = users.get(key)
      users.set(key, deployment.environment)
      return other === undefined || deployment[setting] === undefined
        ? []
        : [`${other} and ${deployment.environment} have the same ${setting}; each needs its own`]
    }),
  )
}
