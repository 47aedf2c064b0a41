// In charge of: every socket on which a process and its descendants listen, as listed by the kernel (/proc), and
// sending raw bytes to one as an attacker would.
// Not in charge of: expectations.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { childrenOf } from '../../../../scripts/local/processes/processGroup.ts'
import { STEP_TIMEOUT_MS } from '../../../support/timeouts.ts'

export interface ListeningPort {
  pid: number
  program: string
  host: string
  port: number
}

export interface ListeningPath {
  pid: number
  program: string
  path: string
  /** Whether only its owner can reach it. */
  isPrivate: boolean
}

/** proc(5), net/tcp: the state of a listening socket. */
const TCP_LISTEN = '0A'
/** A process and all its descendants. */
export function processTree(pid: number): { pid: number; program: string }[] {
  const program = (id: number): string =>
    readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').join(' ').slice(0, 120)
  const below = (id: number): number[] => [id, ...childrenOf(id).flatMap((child) => below(child.pid))]
  return below(pid).flatMap((id) => {
    try {
      return [{ pid: id, program: program(id) }]
    } catch {
      return [] // ended meanwhile
    }
  })
}

/** Inode of each open socket → the process that has it. */
function socketsOf(pid: number): Map<string, { pid: number; program: string }> {
  const found = new Map<string, { pid: number; program: string }>()
  for (const owner of processTree(pid)) {
    let files: string[] = []
    try {
      files = readdirSync(`/proc/${owner.pid}/fd`)
    } catch {
      continue
    }
    for (const file of files) {
      try {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${owner.pid}/fd/${file}`))?.[1]
        if (inode !== undefined) found.set(inode, owner)
      } catch {
        // closed meanwhile
      }
    }
  }
  return found
}

export function listeningPorts(pid: number): ListeningPort[] {
  const sockets = socketsOf(pid)
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
        const owner = sockets.get(inode ?? '')
        if (state !== TCP_LISTEN || owner === undefined) return []
        const port = Number.parseInt(local?.split(':')[1] ?? '', 16)
        return [{ ...owner, host: table === 'tcp' ? '127.0.0.1' : '::1', port }]
      }),
  )
}

export function listeningPaths(pid: number): ListeningPath[] {
  const sockets = socketsOf(pid)
  return readFileSync('/proc/net/unix', 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, , , flags, , , inode, path] = line.trim().split(/\s+/)
      const owner = sockets.get(inode ?? '')
      // __SO_ACCEPTCON: a listening socket.
      if (owner === undefined || path === undefined || (Number.parseInt(flags ?? '', 16) & 0x10000) === 0) return []
      return [{ ...owner, path, isPrivate: isPrivate(path) }]
    })
}

function isPrivate(path: string): boolean {
  // Abstract names (@…) have no owner.
  if (!path.startsWith('/')) return false
  const { mode, uid } = statSync(dirname(path))
  return (mode & 0o077) === 0 && uid === process.getuid?.()
}

export interface RawResponse {
  /** 0: closed or silent, without an answer. */
  status: number
  headers: string
  body: string
}

/** Sends bytes and reads until the other side closes. `end`: closes our side after sending. */
export function sendRaw(
  target: { host: string; port: number },
  bytes: string | Buffer,
  { end = false }: { end?: boolean } = {},
): Promise<RawResponse> {
  return new Promise((resolve) => {
    const socket = connect({ host: target.host, port: target.port, allowHalfOpen: true })
    let text = ''
    const done = (): void => {
      socket.destroy()
      const split = text.indexOf('\r\n\r\n')
      const headers = split < 0 ? text : text.slice(0, split)
      resolve({
        status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(headers)?.[1] ?? 0),
        headers,
        body: split < 0 ? '' : text.slice(split + 4),
      })
    }
    socket.setTimeout(STEP_TIMEOUT_MS, done)
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.once('end', done)
    socket.once('close', done)
    socket.once('error', done)
    if (end) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** A request whose target is exactly this text: no client library normalizes it. */
export function rawRequest(target: string, headers: Record<string, string> = {}, method = 'GET', body = ''): string {
  const all = {
    Host: 'localhost',
    Connection: 'close',
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
