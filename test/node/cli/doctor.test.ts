// In charge of: `splicepoint doctor` without a real service: mistakes planted in wrangler.toml, the additional checks
// with a logged-in wrangler, the report about addresses that are each wrong in one way, and the video that it
// generates.
// Not in charge of: jobs through a service (node/service/cli/doctor.long.test.ts), what the service finds
// (worker/service/diagnosis.test.ts).
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Check } from '#contract/api/diagnosis.ts'
import type { PublicEvent } from '#contract/api/answers.ts'
import { createTestClip } from '../../../cli/doctor/testClip.ts'
import { checkEndpoint } from '../../../cli/doctor/endpointChecks.ts'
import { checkThresholds } from '../../../cli/doctor/doctorReport.ts'
import { parseTargetStore } from '../../../cli/doctor/targetStore.ts'
import { timingsOf } from '../../../cli/doctor/runTestJob.ts'
import { operations } from '../../../scripts/openapi/operations.ts'
import { decodeFrames, probeStream, tempDirectory } from '../../support/media/media.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const LAUNCHER = resolve(ROOT, 'cli/splicepoint.js')
const TOML = (await readFile(resolve(ROOT, 'wrangler.toml'), 'utf8')).replace(
  '00000000-0000-0000-0000-000000000000',
  '6d2fc8ca-c647-47c3-930e-b50142758edc',
)

let tempDir: Awaited<ReturnType<typeof tempDirectory>>
beforeEach(async () => (tempDir = await tempDirectory()))
afterEach(() => tempDir[Symbol.asyncDispose]())

interface Ran {
  code: number
  stdout: string
  stderr: string
}

function doctor(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const clean = { SPLICEPOINT_URL: '', SPLICEPOINT_KEY: '', SPLICEPOINT_ADMIN_KEY: '' }
  const known = Object.fromEntries(
    Object.entries({ ...process.env, ...clean, ...env }).filter(([, value]) => value !== ''),
  )
  return new Promise((done) => {
    execFile(
      process.execPath,
      [LAUNCHER, 'doctor', ...args],
      { cwd: tempDir.path, env: known },
      (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

/** The checks of a configuration, from the JSON output. */
async function configuration(toml: string): Promise<{ code: number; checks: Check[] }> {
  await writeFile(tempDir.file('wrangler.toml'), toml)
  const { code, stdout } = await doctor(['--json'])
  return { code, checks: JSON.parse(stdout).sections.Configuration }
}

const wrong = (checks: readonly Check[]) => checks.filter(({ verdict }) => verdict === 'fault' || verdict === 'warning')

describe('wrangler.toml', () => {
  test('of the repository is valid except for the database id placeholder', async () => {
    const { code, checks } = await configuration(await readFile(resolve(ROOT, 'wrangler.toml'), 'utf8'))
    expect(code).toBe(1)
    expect(wrong(checks)).toEqual([
      expect.objectContaining({ name: 'database', remedy: expect.stringContaining('cloudflare -- d1 create') }),
    ])
  })

  test('when valid: exit code 0, one line per check, no request to Cloudflare', async () => {
    await writeFile(tempDir.file('wrangler.toml'), TOML)
    const { code, stdout } = await doctor([])
    expect(stdout).toMatch(/0 faults, 0 warnings, \d+ ok\.\n$/)
    expect(stdout).toContain('wrangler is not installed')
    expect(code).toBe(0)
  })

  test.each<[name: string, verdict: Check['verdict'], says: RegExp, changes: [string | RegExp, string][]]>([
    ['slots', 'fault', /MAX_SLOTS 40 is larger than max_instances 20/, [['MAX_SLOTS = "20"', 'MAX_SLOTS = "40"']]],
    ['queue', 'fault', /splicepoint-tasks has no consumer/, [['[[queues.consumers]]', '[[queues.nobody]]']]],
    ['cron', 'fault', /no cron/, [['crons = ["* * * * *"]', 'crons = []']]],
  ])('%s: the planted mistake is reported with exit code 1', async (name, verdict, says, changes) => {
    let toml = TOML
    for (const [from, to] of changes) toml = toml.replace(from, to)
    const { code, checks } = await configuration(toml)
    expect(code).toBe(1)
    expect(wrong(checks)).toEqual([
      expect.objectContaining({ name, verdict, message: expect.stringMatching(says), remedy: expect.any(String) }),
    ])
  })

  // A separate process for each would take long.
  test('every other mistake, planted together', async () => {
    const changes: [string | RegExp, string, string][] = [
      ['compatibility_flags = ["nodejs_compat"]', '', 'compatibility'],
      ['binding = "BUCKET"', 'binding = "STORE"', 'bucket'],
      ['max_batch_timeout = 0', 'max_batch_timeout = 5', 'queue'],
      ['crons = ["* * * * *"]', 'crons = ["0 * * * *"]', 'cron'],
      ['new_sqlite_classes = ["Courier"]', 'new_sqlite_classes = []', 'durable_objects'],
      ['instance_type = "standard-4"', '', 'containers'],
      ['max_instances = 20', 'max_instances = 30', 'slots'],
      ['rollout_active_grace_period = 7200', '', 'rollouts'],
      ['MAX_STORED_UPLOAD_BYTES = ""', 'MAX_STORED_UPLOAD_BYTES = "50GB"', 'variables'],
      ['API_KEY = ""', 'API_KEY = "x"\nSERVICE_SECRET = "in clear"', 'secrets'],
      ['"/task/*",', '', 'assets'],
      [
        '[triggers]',
        '[[ratelimits]]\nname = "RATE_LIMIT"\nnamespace_id = "1"\nsimple = { limit = 5, period = 7 }\n\n[triggers]',
        'rate_limit',
      ],
      ['[observability]\nenabled = true', '', 'logs'],
    ]
    let toml = TOML
    for (const [from, to] of changes) {
      expect(toml).toContain(from)
      toml = toml.replace(from, to)
    }
    const { checks } = await configuration(toml)
    expect(
      wrong(checks)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(changes.map(([, , name]) => name).toSorted())
    for (const one of wrong(checks)) expect(one.remedy, one.name).toMatch(/\w/)
  })

  test('that is no TOML, and one that is not there', async () => {
    expect(wrong((await configuration('[vars\n')).checks)).toMatchObject([{ name: 'file', verdict: 'fault' }])
    expect(await doctor(['--config', 'absent.toml'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('with a wrangler that is logged in: missing secrets, migrations that were not applied', async () => {
    await writeFile(tempDir.file('wrangler.toml'), TOML)
    await mkdir(tempDir.file('node_modules/.bin'), { recursive: true })
    const wrangler = tempDir.file('node_modules/.bin/wrangler')
    await writeFile(
      wrangler,
      `#!/bin/sh\ncase "$1" in\nsecret) echo '[{"name":"ADMIN_KEY","type":"secret_text"},{"name":"VAULT_KEYS","type":"secret_text"}]';;\nd1) echo 'Migrations to be applied:'; echo '│ 0001_init.sql │';;\nesac\n`,
    )
    await chmod(wrangler, 0o755)
    const checks: Check[] = JSON.parse((await doctor(['--json'])).stdout).sections.Configuration
    expect(wrong(checks)).toEqual([
      expect.objectContaining({ name: 'deployed_secrets', remedy: 'npm run cloudflare -- secret put SERVICE_SECRET' }),
      expect.objectContaining({ name: 'deployed_migrations', message: expect.stringContaining('0001_init.sql') }),
    ])
    await writeFile(wrangler, '#!/bin/sh\necho "You must be logged in" >&2\nexit 1\n')
    const without: Check[] = JSON.parse((await doctor(['--json'])).stdout).sections.Configuration
    expect(wrong(without)).toEqual([])
    expect(without.at(-1)).toMatchObject({
      verdict: 'skipped',
      message: expect.stringContaining('cloudflare -- login'),
    })
  })
})

test.each([
  [[], /no wrangler\.toml in this directory/],
  [['ftp://x'], /the form https:/],
  [['https://x.example', '--timeout', 'long'], /--timeout/],
  [['https://x.example', '--store', 'gs://b/p'], /s3:\/\/bucket\/prefix/],
  [['https://x.example', '--store', 's3://b/p'], /AWS_ACCESS_KEY_ID/],
])('%j is wrong usage: exit code 2', async (args, says) => {
  expect(await doctor(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) })
})

describe('an address', () => {
  let server: Server
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let base: string
  beforeEach(async () => {
    server = createServer((request, response) => answer(request.resume(), response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })

  const health = { status: 'ok', missing: [], slots: 2, transcoders: 'containers', egress: 'platform' }
  const paths: Record<string, Record<string, object>> = {}
  for (const name of Object.keys(operations)) {
    const [method = '', path = ''] = name.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: {} }
  }

  /** A healthy service, except for the changes of a test. */
  function serve(change: Record<string, (response: ServerResponse) => void> = {}): void {
    answer = (request, response) => {
      const { pathname } = new URL(request.url ?? '', base)
      const own = change[`${request.method} ${pathname}`] ?? change[pathname]
      if (own) return own(response)
      const json = (body: object, headers: object = {}) =>
        void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      if (pathname === '/health') return json(health)
      if (pathname === '/openapi.json') return json({ info: { title: 'Splicepoint', version: '0' }, paths })
      if (pathname === '/metrics') return void response.end('splicepoint_slots 2\n')
      if (pathname === '/') return void response.end('<!doctype html>')
      const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'Authorization,Content-Type' }
      return json({ jobs: [], next_cursor: null }, cors)
    }
  }

  const keys = { jobs: 'sp_jobs', admin: 'admin' }
  const inspect = () => checkEndpoint(base, keys, new AbortController().signal)

  test('that is as it should be', async () => {
    serve()
    const { checks, figures, ...rest } = await inspect()
    expect(wrong(checks)).toEqual([])
    expect(figures).toMatchObject({ slots: 2, answer_ms: expect.any(Number) })
    expect(rest).toEqual({ isReachable: true, canRunJobs: true, canDiagnose: true })
  })

  const plain =
    (status: number, body: string, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end(body)
  const refused = (status: number, code: string) => plain(status, JSON.stringify({ error: { code, message: 'No.' } }))

  test.each<
    [what: string, name: string, verdict: Check['verdict'], remedy: RegExp, change: Parameters<typeof serve>[0]]
  >([
    [
      'leads elsewhere',
      'reached',
      'fault',
      /https:\/\/other\.example$/,
      { '/health': plain(301, '', { location: 'https://other.example/health' }) },
    ],
    ['is another service', 'reached', 'fault', /route/, { '/health': plain(200, 'hello') }],
    [
      'lacks a secret',
      'health',
      'fault',
      /secret put VAULT_KEYS/,
      {
        '/health': plain(
          503,
          JSON.stringify({ ...health, status: 'not_ready', missing: ['the secret VAULT_KEYS is not set (…)'] }),
        ),
      },
    ],
    [
      'lacks its tables',
      'health',
      'fault',
      /migrations apply DB --remote/,
      {
        '/health': plain(
          503,
          JSON.stringify({ ...health, status: 'not_ready', missing: ['the database lacks tables or columns (…)'] }),
        ),
      },
    ],
    [
      'cannot start',
      'health',
      'fault',
      /log/,
      { '/health': plain(200, JSON.stringify({ ...health, status: 'degraded', starts_failing: 3 })) },
    ],
    [
      'has no transcoder',
      'health',
      'fault',
      /api\/v0\/transcoders/,
      { '/health': plain(200, JSON.stringify({ ...health, status: 'degraded', slots: 0 })) },
    ],
    [
      'has another time',
      'clock',
      'fault',
      /NTP/,
      { '/health': plain(200, JSON.stringify(health), { date: 'Sun, 22 Nov 2020 00:00:00 GMT' }) },
    ],
    [
      'is listed on Cloudflare',
      'egress',
      'warning',
      /platform/,
      { '/health': plain(200, JSON.stringify({ ...health, egress: 'listed' }), { 'cf-ray': '1-FRA' }) },
    ],
    [
      'is older',
      'version',
      'warning',
      /version/,
      {
        '/openapi.json': plain(
          200,
          JSON.stringify({ info: { title: 'Splicepoint' }, paths: { ...paths, '/api/v0/diagnosis': {} } }),
        ),
      },
    ],
    ['lost its CORS', 'cors', 'warning', /in front/, { 'OPTIONS /api/v0/job': plain(204, '') }],
    ['has no dashboard', 'dashboard', 'warning', /assets/, { '/': plain(404, '') }],
    ['does not know the key', 'key', 'fault', /Issue one/, { 'GET /api/v0/job': refused(401, 'unauthorized') }],
    [
      'does not know the admin key',
      'admin_key',
      'fault',
      /SPLICEPOINT_ADMIN_KEY/,
      { '/metrics': refused(401, 'unauthorized') },
    ],
  ])('that %s', async (_what, name, verdict, remedy, change) => {
    serve(change)
    const { checks } = await inspect()
    expect(wrong(checks)).toEqual([expect.objectContaining({ name, verdict, remedy: expect.stringMatching(remedy) })])
  })

  test('when no server listens', async () => {
    const gone = base
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    const { checks, isReachable } = await checkEndpoint(gone, keys, new AbortController().signal)
    expect(isReachable).toBe(false)
    expect(checks).toMatchObject([
      { name: 'reached', verdict: 'fault', message: expect.stringContaining('ECONNREFUSED') },
    ])
    server.listen(0)
    await once(server, 'listening')
  })

  test('without an admin key: metrics that refuse the jobs key are skipped, not reported as a fault', async () => {
    serve({ '/metrics': refused(403, 'forbidden') })
    const { checks, canDiagnose } = await checkEndpoint(
      base,
      { jobs: 'sp_jobs', admin: null },
      new AbortController().signal,
    )
    expect(canDiagnose).toBe(false)
    expect(checks.at(-1)).toMatchObject({ name: 'admin_key', verdict: 'skipped' })
  })
})

test('the generated clip is valid: every video frame and audio sample decodes', async () => {
  const path = tempDir.file('clip.avi')
  await writeFile(path, createTestClip({ width: 320, height: 180, framesPerSecond: 25, seconds: 2 }))
  expect(await decodeFrames(path)).toHaveLength(50)
  expect(await probeStream(path, 'video')).toMatchObject({ codec_name: 'png', width: 320, height: 180 })
  expect(await probeStream(path, 'audio')).toMatchObject({ codec_name: 'pcm_s16le', sample_rate: '48000' })
})

test('phase durations come from the events; a value above its threshold is reported with advice', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 22) + seconds * 1000).toISOString()
  const event = (type: PublicEvent['type'], seconds: number, change: Partial<PublicEvent> = {}): PublicEvent => ({
    id: 1,
    type,
    at: at(seconds),
    attempt: 1,
    slot: null,
    error: null,
    message: '',
    ...change,
  })
  const figures = timingsOf('mp4', 7, [
    event('job.created', 0),
    event('attempt.started', 3, { slot: 4 }),
    event('job.planned', 4),
    event('attempt.lost', 5),
    event('attempt.started', 8, { slot: 5, attempt: 2 }),
    event('job.committing', 20),
    event('job.completed', 21),
  ])
  expect(figures).toMatchObject({ slot: 5, attempt: 2, lost: 1, seconds: { start: 8, commit: 1, total: 21 } })
  expect(checkThresholds({ cold_start_seconds: 3, cancel_seconds: 11 })).toEqual([
    expect.objectContaining({ name: 'cancel_seconds', verdict: 'warning', remedy: expect.any(String) }),
  ])
})

test('a store is named as Amazon names it, or by its endpoint', () => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' }
  expect(parseTargetStore('s3://films/in/', 'run', env)).toMatchObject({
    name: 'store s3://films/in',
    outputPath: 's3://films/in/run',
    credentials: { cloud_provider: 'aws', access_key: 'id', secret_key: 'secret', region: 'eu-west-1' },
  })
  expect(parseTargetStore('s3://films', 'run', { ...env, AWS_ENDPOINT_URL: 'https://s3.example/' })).toMatchObject({
    outputPath: 's3://films/run',
    credentials: { endpoint: 'https://s3.example' },
  })
})
