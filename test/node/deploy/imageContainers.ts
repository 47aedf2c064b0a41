// In charge of: containers of the image on a network that reaches only the task API, as on Cloudflare.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { SandboxReport } from '../../../transcoder/ffmpeg/sandboxProbe.ts'
import { docker, succeeds } from '../../../scripts/image/docker.ts'

/**
 * Networks for documentation and tests (RFC 5737); one of them may still be in use on a machine, and its route must not
 * be replaced.
 */
const NETWORKS = ['198.51.100', '203.0.113', '192.0.2']
const NETWORK = NETWORKS.find(
  (prefix) =>
    !Object.values(networkInterfaces())
      .flat()
      .some((own) => own?.address.startsWith(`${prefix}.`)),
)
const GATEWAY = `${NETWORK}.1`
const ADDRESS = `${NETWORK}.2`
/** The host name that worker/scheduler/transcoderContainer.ts assigns to the task API. */
const DOOR = 'door.splicepoint.internal'
const PORT = 8788

/** The flags that docs/operating.md recommends for `docker run`. */
export const CONTAINER_FLAGS = [
  ...['--read-only', '--tmpfs', '/tmp:size=64m', '--tmpfs', '/work:uid=10001,gid=10001,mode=700,size=1g'],
  ...['--cap-drop=ALL', '--security-opt=no-new-privileges', '--pids-limit=512'],
]

/**
 * A network without internet access, and a proxy on the host in place of Cloudflare's outbound handler: it passes
 * requests for the task API to the Worker and refuses all others.
 */
export class IsolatedNetwork {
  readonly #name: string
  readonly #server: Server
  readonly refused: string[] = []
  /** Address of the Worker; set when it runs. */
  worker = ''

  private constructor(name: string) {
    this.#name = name
    this.#server = createServer((incoming, answer) => {
      if (!incoming.url?.startsWith('/task/')) {
        this.refused.push(incoming.url ?? '')
        answer.writeHead(403).end()
        return
      }
      const outgoing = httpRequest(this.worker + incoming.url, { method: incoming.method, headers: incoming.headers })
      outgoing.once('response', (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.once('error', () => answer.destroy()).pipe(answer)
      })
      outgoing.once('error', () => answer.destroy())
      answer.once('close', () => outgoing.destroy())
      incoming.once('error', () => outgoing.destroy()).pipe(outgoing)
    })
  }

  static async open(): Promise<IsolatedNetwork> {
    if (NETWORK === undefined) throw new Error('This machine uses every network that is for tests.')
    const name = `splicepoint-${randomBytes(4).toString('hex')}`
    await docker('network', 'create', '--internal', '--subnet', `${NETWORK}.0/28`, '--gateway', GATEWAY, name)
    const made = new IsolatedNetwork(name)
    made.#server.listen(0, GATEWAY)
    await once(made.#server, 'listening')
    return made
  }

  get taskApiUrl(): string {
    return `http://${DOOR}:${(this.#server.address() as AddressInfo).port}`
  }

  /** As `docker run` accepts them. */
  get dockerFlags(): string[] {
    return ['--network', this.#name, '--ip', ADDRESS, '--add-host', `${DOOR}:${GATEWAY}`]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await docker('network', 'rm', this.#name)
  }
}

export class TranscoderContainer {
  readonly id: string
  readonly url = `http://${ADDRESS}:${PORT}`
  private constructor(id: string) {
    this.id = id
  }

  static async start(image: string, secret: string, flags: readonly string[]): Promise<TranscoderContainer> {
    const id = await docker('run', '--detach', '--env', `TRANSCODER_SECRET=${secret}`, ...flags, image)
    return new TranscoderContainer(id)
  }

  /** Rejects while it does not answer. */
  async health(): Promise<{ state: string; ffmpeg: string; sandbox: SandboxReport }> {
    const response = await fetch(`${this.url}/health`)
    return (await response.json()) as Awaited<ReturnType<TranscoderContainer['health']>>
  }

  exec(...command: string[]): Promise<string> {
    return docker('exec', this.id, ...command)
  }

  /** Runs a Node program in the container and returns its standard output. */
  node(script: string): Promise<string> {
    return this.exec('/usr/local/bin/node', '-e', script)
  }

  async state(): Promise<{ Status: string; ExitCode: number; OOMKilled: boolean; StartedAt: string }> {
    return JSON.parse(await docker('inspect', '--format', '{{json .State}}', this.id)) as Awaited<
      ReturnType<TranscoderContainer['state']>
    >
  }

  logs(): Promise<string> {
    return docker('logs', this.id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await succeeds('rm', '--force', this.id)
  }
}
