// In charge of: the service as deployed, under `wrangler dev` with its container binding: the Worker in its runtime,
// each slot's transcoder in a container without internet access, and the network between them.
// Not in charge of: the container engine (dockerEngine.ts), expectations.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitForGroupExit, signalGroup } from '../../scripts/local/processes/processGroup.ts'
import { ROOT } from '../../scripts/local/localSettings.ts'
import { findBaseImage } from '../../scripts/image/baseImage.ts'
import { succeeds } from '../../scripts/image/docker.ts'
import { TestClient, waitFor } from '../support/testClient.ts'
import { listContainers, removeContainers, type Container } from './dockerEngine.ts'

/** The first run builds everything: it downloads a Debian with ffmpeg. */
const START_MS = 20 * 60_000
const STOP_MS = 30_000
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')

export interface DeployedServiceOptions {
  /** Allowed host:port pairs of sources. */
  allowPrivateHosts: string
  slots: number
  /** Vars of wrangler.toml, by name. */
  vars?: Record<string, string>
}

export class DeployedService extends TestClient {
  /** Name of its Worker: containers are named after it; it is unique to this instance. */
  readonly name: string
  readonly adminKey: string
  readonly #directory: string
  readonly #wrangler: ChildProcess
  readonly output: () => string
  private constructor(
    made: Pick<DeployedService, 'base' | 'apiKey' | 'name' | 'adminKey' | 'output'> & {
      directory: string
      wrangler: ChildProcess
    },
  ) {
    super(made.base, made.apiKey)
    this.name = made.name
    this.adminKey = made.adminKey
    this.output = made.output
    this.#directory = made.directory
    this.#wrangler = made.wrangler
  }

  static async start(options: DeployedServiceOptions): Promise<DeployedService> {
    const name = `splicepoint-${randomBytes(4).toString('hex')}`
    const directory = await mkdtemp(join(tmpdir(), `${name}-`))
    const apiKey = randomBytes(16).toString('hex')
    const adminKey = randomBytes(16).toString('hex')
    const config = join(directory, 'wrangler.toml')
    const state = join(directory, 'state')
    const base = await findBaseImage(await readFile(join(ROOT, 'transcoder/Dockerfile'), 'utf8'), process.env)
    const registry = process.env['NPM_CONFIG_REGISTRY']
    const args = { ...base.args, ...(registry ? { NPM_CONFIG_REGISTRY: registry } : {}) }
    await writeFile(config, await configuration(name, options.slots, args))
    const secrets: Record<string, string> = {
      SERVICE_SECRET: randomBytes(32).toString('hex'),
      VAULT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      ADMIN_KEY: adminKey,
      API_KEY: apiKey,
      EGRESS: 'listed',
      ALLOW_PRIVATE_HOSTS: options.allowPrivateHosts,
      ...options.vars,
    }
    const lines = Object.entries(secrets).map(([key, value]) => `${key}="${value}"\n`)
    await writeFile(join(directory, '.dev.vars'), lines.join(''))
    const places = ['--config', config, '--persist-to', state]
    await finished(wrangler(['d1', 'migrations', 'apply', 'DB', '--local', ...places]))

    const running = wrangler(['dev', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', ...places])
    try {
      const url = await waitFor(
        'wrangler dev to be ready',
        () => {
          if (running.child.exitCode !== null) throw new Error(`wrangler dev ended:\n${running.output()}`)
          return /Ready on (http:\S+)/.exec(running.output())?.[1] ?? null
        },
        START_MS,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${running.output().slice(-4000)}`, { cause: error })
      })
      const made = new DeployedService({
        base: url.replace(/\/$/, ''),
        apiKey,
        name,
        adminKey,
        directory,
        wrangler: running.child,
        output: running.output,
      })
      await waitFor('the Worker to answer', () => made.isServing())
      return made
    } catch (error) {
      await end(running.child)
      await rm(directory, { recursive: true, force: true })
      throw error
    }
  }

  /** Running and frozen containers. */
  containers(): Promise<Container[]> {
    return listContainers(this.name)
  }

  /** The containers that run an attempt. */
  busyContainers(): Promise<Container[]> {
    return this.containers().then(async (containers) => {
      const states = await Promise.all(containers.map((container) => container.health()))
      return containers.filter((_box, index) => states[index]?.state === 'busy')
    })
  }

  async cancel(id: number): Promise<Response> {
    return this.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#wrangler)
    await removeContainers(this.name)
    // The image tag that wrangler used this time; the layers stay, so that the next build is quick.
    for (const [image] of this.output().matchAll(/cloudflare-dev\/[\w.-]+:[\da-f]+/g))
      await succeeds('rmi', '--no-prune', image)
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** wrangler.toml unchanged, but in another directory, with another Worker name and with containers. */
async function configuration(name: string, slots: number, args: Record<string, string>): Promise<string> {
  const variables = Object.entries(args).map(([key, value]) => `${key} = "${value}"`)
  const text = (await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
    .replace(/^name = ".*"/m, `name = "${name}"`)
    .replaceAll(/^(main|directory|migrations_dir|image) = "(?:\.\/)?(.*)"/gm, `$1 = "${ROOT}/$2"`)
    .replaceAll(/^(cwd|image_build_context) = "\."/gm, `$1 = "${ROOT}"`)
    .replace(/^MAX_SLOTS = ".*"/m, `MAX_SLOTS = "${slots}"`)
    .replace(/^DRY_RUN_SLOTS = ".*"/m, 'DRY_RUN_SLOTS = "0"')
    .replace(/^max_instances = .*/m, `max_instances = ${slots}`)
    .replace(/^enable_containers = false/m, 'enable_containers = true')
  if (variables.length === 0) return text
  return text.replace(/^image_build_context.*/m, `$&\nimage_vars = { ${variables.join(', ')} }`)
}

function wrangler(args: string[]): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      CI: '1',
      NO_COLOR: '1',
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // It starts child processes; only a process group ends all of them.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { child, output: () => output }
}

async function finished({ child, output }: ReturnType<typeof wrangler>): Promise<void> {
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`wrangler ended with ${code}:\n${output()}`)
}

/** With SIGTERM first, so that it removes its containers; then the rest of the group is killed. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const { pid } = child
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    await waitFor('wrangler to end', () => child.exitCode !== null || child.signalCode !== null, STOP_MS).catch(
      () => null,
    )
  }
  signalGroup(pid, 'SIGKILL')
  await waitForGroupExit(pid, STOP_MS)
}
