// In charge of: which Docker engine the container tests use, and inspecting its containers.
// Not in charge of: starting an engine (start.sh), what runs in it (deployedService.ts).
import { docker, engineVersion, succeeds } from '../../scripts/image/docker.ts'

/**
 * `docker`: the engine of this machine. `NAME=value …`: environment variables for the docker command and wrangler, for
 * an engine that start.sh prepared. Empty: no engine, and these tests are skipped.
 */
const CONTAINERS = (process.env['CONTAINERS'] ?? '').trim()
export const CONTAINERS_ENABLED = CONTAINERS !== ''

/** Sets the environment of this process, by which the docker command and wrangler find the engine. */
export async function selectDockerEngine(): Promise<string> {
  for (const pair of CONTAINERS.split(/\s+/)) {
    const at = pair.indexOf('=')
    if (at > 0) process.env[pair.slice(0, at)] = pair.slice(at + 1)
  }
  const version = await engineVersion()
  if (version === null)
    throw new Error(
      `CONTAINERS is "${CONTAINERS}", but no Docker engine answers${process.env['DOCKER_HOST'] ? ` at ${process.env['DOCKER_HOST']}` : ''}.`,
    )
  return version
}

/** What the sidecar sends on behalf of its container (sidecar/sidecar.py marks it). */
const LEAVING = ['-o', 'eth0', '-m', 'mark', '--mark', '100', '-j', 'DROP']

interface State {
  Status: 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'
  ExitCode: number
  OOMKilled: boolean
  StartedAt: string
}

/** The container of a transcoder. */
export class Container {
  readonly id: string
  readonly name: string
  constructor(id: string, name: string) {
    this.id = id
    this.name = name
  }

  exec(...command: string[]): Promise<string> {
    return docker('exec', this.id, ...command)
  }

  /** Runs a Node program in the container and returns its standard output. */
  node(script: string): Promise<string> {
    return this.exec('/usr/local/bin/node', '--input-type=module', '-e', script)
  }

  /** The health answer of the transcoder; null while it does not answer. */
  async health(): Promise<{ state: string; task_id?: string; attempt?: number } | null> {
    const ask = "console.log(await (await fetch('http://127.0.0.1:8788/health')).text())"
    return this.node(ask).then(
      (text) => JSON.parse(text) as { state: string },
      () => null,
    )
  }

  /** null when the container no longer exists. */
  async state(): Promise<State | null> {
    return docker('inspect', '--format', '{{json .State}}', this.id).then(
      (text) => JSON.parse(text) as State,
      () => null,
    )
  }

  logs(): Promise<string> {
    return docker('logs', this.id).catch(() => '')
  }

  signal(name: string): Promise<string> {
    return docker('kill', '--signal', name, this.id)
  }

  freeze(): Promise<string> {
    return docker('pause', this.id)
  }

  /** All packets to the runtime are dropped, not rejected. Inbound packets still arrive. */
  async disconnect(): Promise<void> {
    await docker('exec', `${this.name}-proxy`, 'iptables', '--insert', 'OUTPUT', ...LEAVING)
  }

  async reconnect(): Promise<void> {
    await docker('exec', `${this.name}-proxy`, 'iptables', '--delete', 'OUTPUT', ...LEAVING)
  }
}

/**
 * The running or frozen transcoders of the Worker of this name, without those of other Workers and without sidecars.
 */
export async function listContainers(worker: string): Promise<Container[]> {
  const list = await docker('ps', '--no-trunc', '--filter', `name=${worker}`, '--format', '{{.ID}} {{.Names}}')
  return list
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([id, name]) => (id && name && !name.endsWith('-proxy') ? [new Container(id, name)] : []))
}

/** Removes transcoders, sidecars and the tags of their images; built layers stay for the next time. */
export async function removeContainers(worker: string): Promise<void> {
  const list = await docker('ps', '--all', '--filter', `name=${worker}`, '--format', '{{.ID}} {{.Image}}')
  const rows = list.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')]))
  for (const [id] of rows) await succeeds('rm', '--force', '--volumes', id!)
}
