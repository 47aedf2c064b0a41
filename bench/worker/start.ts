// In charge of: the bench's Worker (main.mts) in a workerd of its own, with a database of its own and keys of several accounts.
// Not in charge of: what is asked of it (rows/api.ts, rows/load.ts).
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { unstable_startWorker } from 'wrangler'
import { migrate } from '../../scripts/local/migrate.ts'
import { childrenOf } from '../../scripts/local/processes.ts'
import { ROOT } from '../../scripts/local/settings.ts'

export interface BenchWorker extends AsyncDisposable {
  origin: string
  /** Of the configuration: no row of the ledger. */
  apiKey: string
  /** The runtime that holds the public port, and the one behind it that runs the Worker and D1; 0 where there is no /proc. */
  pids: { proxy: number; runtime: number }
  issueKey: (account: string) => Promise<string>
}

export async function startBenchWorker(): Promise<BenchWorker> {
  const scratch = await mkdtemp(join(tmpdir(), 'splicepoint-bench-api-'))
  const quiet = {
    CI: '1',
    NO_COLOR: '1',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // As scripts/local/supervisor.ts: no trace of every statement.
    X_LOCAL_OBSERVABILITY: 'false',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_LOG_PATH: join(scratch, 'log'),
  }
  Object.assign(process.env, quiet)
  await migrate(scratch, { ...(process.env as Record<string, string>) })
  const [apiKey, adminKey] = ['bench', randomBytes(32).toString('base64url')]
  const secrets: Record<string, string> = {
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    VAULT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ADMIN_KEY: adminKey,
    API_KEY: apiKey,
    EGRESS: 'listed',
    // Nobody is there, and nobody is asked: /bare-setup takes its only slot.
    TRANSCODER_URLS: 'http://127.0.0.1:9',
  }
  const port = await freePort()
  const others = new Set(runtimes().map(({ pid }) => pid))
  const worker = await unstable_startWorker({
    config: join(ROOT, 'wrangler.toml'),
    entrypoint: join(ROOT, 'bench', 'worker', 'main.mts'),
    envFiles: [devNull],
    bindings: Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [name, { type: 'secret_text' as const, value }]),
    ),
    dev: {
      server: { hostname: '127.0.0.1', port },
      persist: scratch,
      enableContainers: false,
      inspector: false,
      watch: false,
      logLevel: 'none',
    },
  })
  await worker.ready
  const { origin } = await worker.url
  await (await fetch(`${origin}/health`)).arrayBuffer()
  const mine = runtimes().filter(({ pid }) => !others.has(pid))
  const isProxy = ({ argv }: { argv: string[] }): boolean => argv.some((part) => part.endsWith(`:${port}`))
  return {
    origin,
    apiKey,
    pids: { proxy: mine.find(isProxy)?.pid ?? 0, runtime: mine.find((entry) => !isProxy(entry))?.pid ?? 0 },
    issueKey: (account) => issueKey(origin, adminKey, account),
    async [Symbol.asyncDispose]() {
      await worker.dispose()
      await rm(scratch, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function issueKey(origin: string, adminKey: string, account: string): Promise<string> {
  const answer = await fetch(`${origin}/api/v0/keys`, {
    method: 'POST',
    headers: { authorization: basic(adminKey), 'content-type': 'application/json' },
    body: JSON.stringify({ account, label: 'bench' }),
  })
  if (!answer.ok) throw new Error(`A key for ${account} was refused: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { key: string }).key
}

export function basic(key: string): string {
  return `Basic ${Buffer.from(`${key}:`).toString('base64')}`
}

const runtimes = () => childrenOf(process.pid).filter(({ program }) => program === 'workerd')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
