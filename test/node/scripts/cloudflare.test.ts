// In charge of: splicepoint.toml: environments that are separate, values that reach wrangler, mistakes that are named.
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { readDeployments } from '../../../scripts/cloudflare/deployment.ts'
import { wranglerConfig } from '../../../scripts/cloudflare/wranglerConfig.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const run = promisify(execFile)
const base = parse(await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
const id = (digit: number) => `${digit}c1a0000-1111-2222-3333-444455556666`

describe('splicepoint.toml', () => {
  test('one value is enough; all others are those of wrangler.toml', () => {
    const [production] = readDeployments(`[production]\ndatabase_id = "${id(3)}"`)
    const [database] = base['d1_databases'] as object[]
    expect(wranglerConfig(base, production!)).toEqual({ ...base, d1_databases: [{ ...database, database_id: id(3) }] })
  })

  test('a second environment shares no resource with the first', () => {
    const both = readDeployments(`[production]\ndatabase_id = "${id(3)}"\n[staging]\ndatabase_id = "${id(4)}"`)
    const [production, staging] = both.map((each) => wranglerConfig(base, each))
    expect([production!['name'], staging!['name']]).toEqual(['splicepoint', 'splicepoint-staging'])
    expect(staging).toMatchObject({
      d1_databases: [{ binding: 'DB', database_name: 'splicepoint-staging', database_id: id(4) }],
      r2_buckets: [{ binding: 'BUCKET', bucket_name: 'splicepoint-staging' }],
      queues: {
        producers: [{ binding: 'QUEUE', queue: 'splicepoint-staging-tasks' }],
        consumers: [{ queue: 'splicepoint-staging-tasks', dead_letter_queue: 'splicepoint-staging-tasks-dead' }],
      },
    })
  })

  test('values reach every place that must agree on them', () => {
    const [own] = readDeployments(
      [
        '[production]',
        `database_id = "${id(3)}"`,
        'domain = "transcode.example.com"',
        'max_transcoders = 4',
        'instance_type = "standard-2"',
        'requests_per_minute_and_location = 600',
        '[production.vars]',
        'MAX_ACTIVE_JOBS = 500',
        '[production.wrangler.limits]',
        'subrequests = 50000',
      ].join('\n'),
    )
    const config = wranglerConfig(base, own!)
    expect(config).toMatchObject({
      routes: [{ pattern: 'transcode.example.com', custom_domain: true }],
      workers_dev: false,
      vars: { BASE_URL: 'https://transcode.example.com', MAX_SLOTS: '4', MAX_ACTIVE_JOBS: 500, EGRESS: 'platform' },
      containers: [{ max_instances: 4, instance_type: 'standard-2', class_name: 'Transcoder' }],
      ratelimits: [{ name: 'RATE_LIMIT', simple: { limit: 600, period: 60 } }],
      limits: { subrequests: 50_000 },
    })
  })

  test('the example is valid once its id is set, also with every line that is commented out', async () => {
    const example = await readFile(join(ROOT, 'splicepoint.example.toml'), 'utf8')
    expect(() => readDeployments(example)).toThrow('production.database_id must be the id that')
    let count = 0
    const filled = example
      .replace(/^# (?=\[|[a-zA-Z_]+ = )/gm, '')
      .replace(/0{8}-0{4}-0{4}-0{4}-0{12}/g, () => id((count += 1)))
    expect(readDeployments(filled).map(({ environment }) => environment)).toEqual(['production', 'staging'])
  })

  test.each([
    ['', 'there is no environment'],
    ['[production]', 'production.database_id is missing'],
    [`[Production]\ndatabase_id = "${id(3)}"`, 'Production must be a table with a name of lower-case letters'],
    [`[production]\ndatabase_id = "${id(3)}"\nmax_slots = 3`, 'production.max_slots is not a setting. Settings: name,'],
    [
      `[production]\ndatabase_id = "${id(3)}"\nmax_transcoders = 0`,
      'production.max_transcoders must be a whole number',
    ],
    [`[production]\ndatabase_id = "${id(3)}"\ndomain = "https://a.example"`, 'production.domain must be a host name'],
    [
      `[production]\ndatabase_id = "${id(3)}"\n[production.vars]\nMAX_JOBS = 3`,
      'production.vars.MAX_JOBS is not a var',
    ],
    [`[production]\ndatabase_id = "${id(3)}"\n[production.vars]\nADMIN_KEY = "x"`, 'secrets are set with'],
    [
      `[production]\ndatabase_id = "${id(3)}"\n[production.vars]\nLEASE_SECONDS = 0`,
      'LEASE_SECONDS must be a number abo',
    ],
    [
      `[production]\ndatabase_id = "${id(3)}"\n[staging]\ndatabase_id = "${id(3)}"`,
      'production and staging have the same database_id',
    ],
    [`[production\n`, 'Invalid TOML'],
  ])('%j is refused by name', (toml, message) => {
    expect(() => readDeployments(toml)).toThrow(message)
  })
})

test('the configuration of an environment is one that wrangler accepts', async () => {
  const environment = `test-${process.pid}`
  const file = tempDir.file('own.toml')
  await writeFile(file, `[${environment}]\ndatabase_id = "${id(3)}"\ndomain = "transcode.example.com"\n`)
  const config = join(ROOT, `wrangler.${environment}.toml`)
  const script = join(ROOT, 'scripts/cloudflare.ts')
  try {
    const { stdout } = await run(process.execPath, [script, '--file', file, 'config'])
    expect(stdout).toBe(`wrangler.${environment}.toml\n`)
    const wrangler = await run(
      process.execPath,
      [script, '--file', file, 'd1', 'migrations', 'list', 'DB', '--local'],
      {
        env: { ...process.env, NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false', CI: '1' },
      },
    )
    expect(wrangler.stdout).toMatch(/0001_/)
  } finally {
    await rm(config, { force: true })
  }
})

test.each([
  [['deploy'], 'There is no'],
  [['--environment', 'staging', 'deploy'], 'There is no'],
  [['deploy', '--environment'], '--environment needs a value'],
  [[], 'Usage: npm run cloudflare'],
])('%j without a file explains what to do', async (args, message) => {
  const script = join(ROOT, 'scripts/cloudflare.ts')
  const missing = args.length === 0 || args.at(-1) === '--environment' ? [] : ['--file', tempDir.file('none.toml')]
  const error = await run(process.execPath, [script, ...missing, ...args]).catch((failed: unknown) => failed)
  expect(error).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})
