// In charge of: the Worker in a workerd of its own, with what wrangler.toml binds to it, behind a Unix socket.
// Not in charge of: who may speak to it (proxy/reverseProxy.ts), its values, restarts (workerProcess.ts).
//
// Miniflare itself, and not wrangler's programmatic start: that one holds a public port, and serves on it what a developer
// may want and nobody else may have (/cdn-cgi/*, headers that move a request), with a second runtime as its proxy.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, stop } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler'
import type { createEgressHandler } from './egressProxy.ts'
import { ROOT } from './localSettings.ts'

export interface RuntimeOptions {
  /** Path of the socket that it listens on. Whoever reaches it may do everything. */
  socket: string
  /** Where `wrangler dev --persist-to` keeps its data, and this too. */
  stateDir: string
  /** Of the Worker, relative to the source tree. */
  entry?: string
  /** Vars and secrets, by name. They win over wrangler.toml's. */
  bindings: Readonly<Record<string, string>>
  /** Every connection that the Worker makes; none = workerd's own. */
  outbound?: ReturnType<typeof createEgressHandler>
}

/** Resolves when it serves. The dashboard must have been built. */
export async function startRuntime(options: RuntimeOptions): Promise<Miniflare> {
  const config = join(ROOT, 'wrangler.toml')
  const entry = options.entry ?? 'worker/index.ts'
  // modulesRules: for files that are no TypeScript; the Worker has none.
  const { modulesRules: _, ...worker } = unstable_getMiniflareWorkerOptions(config).workerOptions
  const { name, vars } = unstable_readConfig({ config })
  const workerd = createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd') as { default: string }
  process.env['MINIFLARE_WORKERD_PATH'] = join(import.meta.dirname, 'workerd.sh')
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: join(options.stateDir, 'v3'),
      unsafeRuntimeEnv: { WORKERD: workerd.default, ENTRY_SOCKET: options.socket },
      // For the cron, which the service rings itself (processes/workerProbe.ts).
      unsafeTriggerHandlers: true,
      unsafeLocalExplorer: false,
      // Its trace store would keep every address that the Worker fetched on disk, with signatures and tokens (I15).
      unsafeObservability: false,
      logRequests: false,
      workers: [
        {
          ...worker,
          ...(name === undefined ? {} : { name }),
          // Not what .dev.vars says: those values are public.
          bindings: { ...(vars as Record<string, string>), ...options.bindings },
          modules: [{ type: 'ESModule', path: join(ROOT, 'index.js'), contents: await bundle(entry) }],
          ...(options.outbound === undefined ? {} : { outboundService: { node: options.outbound } }),
        },
      ],
    }),
  )
  await runtime.ready
  return runtime
}

/** As wrangler bundles it; names are kept for the stack traces in the log. */
async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    write: false,
  })
  // Else a process of esbuild's stays for as long as this one.
  await stop()
  return outputFiles[0]?.text ?? ''
}
