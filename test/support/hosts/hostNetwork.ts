// In charge of: machines of a private network, each a network namespace of Linux with one address, connected by a switch.
// Nothing of it is in the machine's own network. Needs root and iproute2.
// Not in charge of: what runs on them; the file system, which they share.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { isAlive } from '../../../scripts/local/processes/processGroup.ts'
import { runProgram } from '../runProgram.ts'
import { waitFor } from '../testClient.ts'

/** What is missing on this machine; null = nothing. */
export async function missingForHosts(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'network namespaces need root on Linux'
  const name = `spl-try-${process.pid}`
  const { code, stderr } = await runProgram('ip', ['netns', 'add', name])
  if (code !== 0) return `network namespaces cannot be made (iproute2): ${stderr.trim()}`
  await runProgram('ip', ['netns', 'del', name])
  return null
}

async function ip(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram('ip', args)
  if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Of runs that were killed. */
async function removeLeftOvers(): Promise<void> {
  for (const [name, pid] of (await ip('netns', 'list')).matchAll(/^spl(\d+)-\w+/gm))
    if (!isAlive(Number(pid))) await new Host('', name, { switchName: '', port: '' }).remove()
}

export interface RunOnHost {
  env?: Record<string, string>
  cwd?: string
}

/** A program that runs on a host. */
export interface HostProcess {
  /** Its standard output and error. */
  output: () => string
  /** Sends SIGTERM, and resolves with the exit code. */
  stop: () => Promise<number | null>
}

export class HostNetwork implements AsyncDisposable {
  readonly #prefix = `spl${process.pid}`
  readonly #hosts = new Set<Host>()

  static async create(): Promise<HostNetwork> {
    await removeLeftOvers()
    const made = new HostNetwork()
    await ip('netns', 'add', made.switchName)
    await ip('-n', made.switchName, 'link', 'add', 'switch', 'type', 'bridge')
    await ip('-n', made.switchName, 'link', 'set', 'switch', 'up')
    return made
  }

  get switchName(): string {
    return `${this.#prefix}-switch`
  }

  async addHost(name: string, address: string): Promise<Host> {
    const namespace = `${this.#prefix}-${name}`
    const port = `p${this.#hosts.size}`
    await ip('netns', 'add', namespace)
    const host = new Host(name, namespace, { switchName: this.switchName, port })
    this.#hosts.add(host)
    await ip('-n', this.switchName, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    await ip('-n', this.switchName, 'link', 'set', port, 'master', 'switch', 'up')
    await ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0')
    await ip('-n', namespace, 'link', 'set', 'lo', 'up')
    await ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    return host
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.#hosts) await host.remove()
    await ip('netns', 'del', this.switchName)
  }
}

export class Host {
  readonly namespace: string
  readonly #name: string
  #removed = false
  readonly #cable: { switchName: string; port: string }

  constructor(name: string, namespace: string, cable: { switchName: string; port: string }) {
    this.#name = name
    this.namespace = namespace
    this.#cable = cable
  }

  /** Runs a script in bash to its end, and gives its standard output. */
  async run(script: string, { env = {}, cwd }: RunOnHost = {}): Promise<string> {
    const { code, stdout, stderr } = await runProgram('ip', this.#bash(script), {
      env,
      ...(cwd === undefined ? {} : { cwd }),
    })
    if (code !== 0) throw new Error(`exit code ${code} of:\n${script}\n${stdout}${stderr}`)
    return stdout
  }

  /** Starts a script in bash that goes on. */
  start(script: string, { env = {}, cwd }: RunOnHost = {}): HostProcess {
    const child = spawn('ip', this.#bash(script), {
      env: { ...process.env, ...env },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const ended = once(child, 'close').then(([code]) => code as number | null)
    const stop = (): Promise<number | null> => {
      child.kill('SIGTERM')
      return ended
    }
    return { output: () => output, stop }
  }

  /** Connections to `listen` of this host, or of a socket that others see, go to `target`. Resolves when it listens. */
  async forward(listen: string, target: string): Promise<void> {
    const args = [process.execPath, join(import.meta.dirname, 'forward.ts'), listen, target]
    const child = spawn('ip', ['netns', 'exec', this.namespace, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(createInterface({ input: child.stdout }), 'line')
  }

  /** The cable is pulled, as seen by all: no packet arrives, no connection is closed. */
  async cutOff(): Promise<void> {
    await ip('-n', this.#cable.switchName, 'link', 'set', this.#cable.port, 'down')
  }

  async reconnect(): Promise<void> {
    await ip('-n', this.#cable.switchName, 'link', 'set', this.#cable.port, 'up')
  }

  /** All of its processes are killed at once, and nobody learns of it. */
  async losePower(): Promise<void> {
    await this.cutOff()
    await this.#signal('SIGKILL')
  }

  /** As if it had never been there. Nothing happens the second time. */
  async remove(): Promise<void> {
    if (this.#removed) return
    this.#removed = true
    await this.#signal('SIGKILL')
    await ip('netns', 'del', this.namespace)
  }

  /** Each machine has its own host name. */
  #bash(script: string): string[] {
    const named = `hostname ${this.#name}\n${script}`
    return ['netns', 'exec', this.namespace, 'unshare', '--uts', 'bash', '--norc', '-euc', named]
  }

  async #pids(): Promise<number[]> {
    return (await ip('netns', 'pids', this.namespace)).split('\n').filter(Boolean).map(Number)
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    await waitFor(`the processes of ${this.namespace} to end`, async () => {
      const pids = await this.#pids()
      for (const pid of pids) {
        try {
          process.kill(pid, signal)
        } catch {
          // It has ended meanwhile.
        }
      }
      return pids.length === 0
    })
  }
}
