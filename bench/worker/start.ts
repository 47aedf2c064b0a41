// In charge of: running the benchmark's Worker (main.mts) like the local service runs the product's: in its own
// workerd, behind the reverse proxy, with its own database and keys of several accounts.
// Not in charge of: the requests (rows/api.ts, rows/load.ts).
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReverseProxy } from '../../scripts/local/proxy/reverseProxy.ts'
import { applyMigrations } from '../../scripts/local/applyMigrations.ts'
import { childrenOf } from '../../scripts/local/processes/processGroup.ts'
import { startRuntime } from '../../scripts/local/workerRuntime.ts'
import { openStateDirectory } from '../../scripts/local/stateDirectory.ts'
import { buildWeb } from '../../scripts/buildWeb.ts'

export interface BenchWorker extends AsyncDisposable {
  origin: string
  /** From the configuration, so it has no row in the database. */
  apiKey: string
  /** The workerd process, which runs the Worker and D1; 0 without /proc. The reverse proxy is in this process. */
  pids: { runtime: number }
  issueKey: (account: string) => Promise<string>
}

export async function startBenchWorker(): Promise<BenchWorker> {
  const workDir = await mkdtemp(join(tmpdir(), 'splicepoint-bench-api-'))
  const quiet = {
    CI: '1',
    NO_COLOR: '1',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_LOG_PATH: join(workDir, 'log'),
  }
  Object.assign(process.env, quiet)
  const state = await openStateDirectory(workDir)
  applyMigrations(state.path)
  await buildWeb()
  const [apiKey, adminKey] = ['bench', randomBytes(32).toString('base64url')]
  const others = new Set(runtimes())
  const runtime = await startRuntime({
    socket: state.socket,
    stateDir: state.path,
    entry: 'bench/worker/main.mts',
    bindings: {
      SERVICE_SECRET: randomBytes(32).toString('base64url'),
      VAULT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      ADMIN_KEY: adminKey,
      API_KEY: apiKey,
      EGRESS: 'listed',
      // Nothing listens at this address, and nothing connects to it: /bare-setup occupies the only slot.
      TRANSCODER_URLS: 'http://127.0.0.1:9',
    },
  })
  const front = new ReverseProxy(state.socket)
  const origin = `http://127.0.0.1:${await front.listen(0)}`
  await (await fetch(`${origin}/health`)).arrayBuffer()
  return {
    origin,
    apiKey,
    pids: { runtime: runtimes().find((pid) => !others.has(pid)) ?? 0 },
    issueKey: (account) => issueKey(origin, adminKey, account),
    async [Symbol.asyncDispose]() {
      await front.close()
      await runtime.dispose()
      await rm(workDir, { recursive: true, force: true, maxRetries: 3 })
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

const runtimes = (): number[] =>
  childrenOf(process.pid)
    .filter(({ program }) => program === 'workerd')
    .map(({ pid }) => pid)
