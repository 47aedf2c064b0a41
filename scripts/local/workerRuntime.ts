// In charge of: running the Worker in workerd, with the bindings of wrangler.toml, behind a Unix socket.
// Not in charge of: public access (proxy/reverseProxy.ts), its settings, restarts (workerProcess.ts).
//
// This uses Miniflare directly. wrangler's programmatic start opens a public port with developer features that must not
// be public (/cdn-cgi/*, headers that redirect a request), and runs a second runtime as its proxy.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, stop } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler'
import type { createEgressHandler } from './egressProxy.ts'
import { ROOT } from './localSettings.ts'

export interface RuntimeOptions {
  /** Path of the socket. Every process that can connect has full access. */
  socket: string
  /** The data directory, as for `wrangler dev --persist-to`. */
  stateDir: string
  /** The Worker's entry file, relative to the source tree. */
  entry?: string
  /** Vars and secrets, by name. They override those of wrangler.toml. */
  bindings: Readonly<Record<string, string>>
  /** Handles every outgoing connection of the Worker; undefined = workerd connects itself. */
  outbound?: ReturnType<typeof createEgressHandler>
  /** Called after miniflare has started a workerd that crashed again. */
  onRestart?: () => void
}

/** Resolves when the Worker serves. The dashboard must have been built before. */
export async function startRuntime(options: RuntimeOptions): Promise<Miniflare> {
  const config = join(ROOT, 'wrangler.toml')
  const entry = options.entry ?? 'worker/index.ts'
  // modulesRules apply to files that are not TypeScript; the Worker has none.
  const { modulesRules: _, ...worker } = unstable_getMiniflareWorkerOptions(config).workerOptions
  const { name, vars } = unstable_readConfig({ config })
  const workerd = createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd') as { default: string }
  process.env['MINIFLARE_WORKERD_PATH'] = join(import.meta.dirname, 'workerd.sh')
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: join(options.stateDir, 'v3'),
      ...(options.onRestart === undefined ? {} : { unsafeHandleRuntimeRestart: options.onRestart }),
      unsafeRuntimeEnv: { WORKERD: workerd.default, ENTRY_SOCKET: options.socket },
      // For the cron, which the service triggers itself (processes/workerProbe.ts).
      unsafeTriggerHandlers: true,
      unsafeLocalExplorer: false,
      // Its trace store would write every address that the Worker fetched to disk, with signatures and tokens (I15).
      unsafeObservability: false,
      logRequests: false,
      workers: [
        {
          ...worker,
          ...(name === undefined ? {} : { name }),
          // The vars of wrangler.toml, not those of .dev.vars, whose values are public.
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

/** Bundles like wrangler. Names are kept for the stack traces in the log. */
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
  // Otherwise esbuild's child process would run as long as this process.
  await stop()
  return outputFiles[0]?.text ?? ''
}
