// In charge of: reading and creating a job, against one bare D1 statement in the same workerd.
// Not in charge of: absolute times: a local D1 is in the process next door, a deployed one across a network.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import { unstable_startWorker } from 'wrangler'
import { migrate } from '../../scripts/local/migrate.ts'
import { ROOT } from '../../scripts/local/settings.ts'
import { median } from '../measure.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'

/** Many short rounds: what else the machine does then falls on all routes alike. */
const ROUNDS = 30
const REQUESTS = 30
const WARM_UP = 100
const KEY = 'bench'

interface Call {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

const order = JSON.stringify({
  input: 'https://media.example.com/films/the-general.mp4',
  output_container: 'mp4',
  video_codec: 'h.264',
  videoProfiles: [
    { output: '1080p.mp4', width: 1920, height: 1080, video_bitrate_mode: 'vbr', video_bitrate: 5000 },
    { output: '720p.mp4', width: 1280, height: 720, video_bitrate_mode: 'vbr', video_bitrate: 2800 },
    { output: '360p.mp4', width: 640, height: 360, video_bitrate_mode: 'vbr', video_bitrate: 800 },
  ],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
  cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
})

const outputs = JSON.stringify(
  ['1080p.mp4', '720p.mp4', '360p.mp4'].map((path, profile) => ({
    path,
    location: `vendor-store/${path}`,
    size: 12_000_000,
    sha256: 'ab'.repeat(32),
    etag: 'cd'.repeat(16),
    content_type: 'video/mp4',
    profile,
    role: 'media',
  })),
)

export async function api({ runs, note }: BenchOptions): Promise<Row[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'splicepoint-bench-api-'))
  const worker = await startBenchWorker(scratch)
  try {
    const client = new Client((await worker.url).origin)
    const call = caller(client)
    const post: Call = { method: 'POST', path: '/api/v0/job', body: order }
    const finished = idOf(await call(post))
    await call({ method: 'POST', path: '/bare-setup', body: JSON.stringify({ job: finished, outputs }) })
    const queued = idOf(await call(post))
    const routes: Record<string, Call> = {
      bare: { method: 'GET', path: '/bare' },
      'bare with a body': { method: 'POST', path: '/bare', body: order },
      'D1 read': { method: 'GET', path: '/bare-d1-read' },
      'read finished': { method: 'GET', path: `/api/v0/job/${finished}` },
      'read queued': { method: 'GET', path: `/api/v0/job/${queued}` },
      'D1 write': { method: 'POST', path: '/bare-d1-write', body: order },
      'D1 batch of two': { method: 'POST', path: '/bare-d1-batch', body: order },
      create: post,
    }
    const names = Object.keys(routes)
    for (const route of Object.values(routes)) for (let n = 0; n < WARM_UP; n++) await call(route)
    const times = new Map<string, number[]>(names.map((name) => [name, []]))
    for (let round = 0; round < (runs ?? ROUNDS); round++) {
      // Shuffled, so that none always follows the same one.
      for (const name of shuffled(names)) {
        // Not counted: what the route before it left to be done.
        await call(routes[name] as Call)
        for (let n = 0; n < REQUESTS; n++) {
          const began = performance.now()
          await call(routes[name] as Call)
          times.get(name)?.push(performance.now() - began)
        }
      }
    }
    await client.close()
    const of = (name: string): number => median(times.get(name) ?? [])
    for (const name of names) note(`${name.padEnd(16)} p50 ${ms(of(name))}`)
    const row = (name: string, ours: string, base: string, limit: number | null): Row => {
      const bare = of(routes[ours]?.body === undefined ? 'bare' : 'bare with a body')
      const net = (of(ours) - bare) / (of(base) - bare)
      note(`${name}: ${net.toFixed(2)} × without what the bare route takes`)
      return ratioRow(name, [of(ours), of(base)], limit, ms)
    }
    return [
      row('GET finished job, against one D1 read', 'read finished', 'D1 read', 1.15),
      row('GET queued job, against one D1 read', 'read queued', 'D1 read', 1.15),
      row('POST job, against one D1 insert', 'create', 'D1 write', 1.25),
      row('POST job, against a D1 batch of two inserts', 'create', 'D1 batch of two', null),
    ]
  } finally {
    await worker.dispose()
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 })
  }
}

function shuffled(names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ name }) => name)
}

const ms = (value: number): string => `${value.toFixed(2)} ms`

const idOf = (text: string): number => (JSON.parse(text) as { _auto_generated_id_: number })._auto_generated_id_

/** One connection, one request at a time. */
function caller(client: Client): (call: Call) => Promise<string> {
  const authorization = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`
  return async ({ method, path, body }) => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await client.request({ method, path, headers, ...(body === undefined ? {} : { body }) })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
    return text
  }
}

async function startBenchWorker(scratch: string) {
  const quiet = {
    CI: '1',
    NO_COLOR: '1',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_LOG_PATH: join(scratch, 'log'),
  }
  Object.assign(process.env, quiet)
  await migrate(scratch, { ...(process.env as Record<string, string>) })
  const secrets: Record<string, string> = {
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    VAULT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ADMIN_KEY: randomBytes(32).toString('base64url'),
    API_KEY: KEY,
    EGRESS: 'listed',
    // Nobody is there, and nobody is asked: /bare-setup takes its only slot.
    TRANSCODER_URLS: 'http://127.0.0.1:9',
  }
  const worker = await unstable_startWorker({
    config: join(ROOT, 'wrangler.toml'),
    entrypoint: join(ROOT, 'bench', 'worker', 'main.mts'),
    envFiles: [devNull],
    bindings: Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [name, { type: 'secret_text' as const, value }]),
    ),
    dev: {
      server: { hostname: '127.0.0.1', port: 0 },
      persist: scratch,
      enableContainers: false,
      inspector: false,
      watch: false,
      logLevel: 'none',
    },
  })
  await worker.ready
  return worker
}
