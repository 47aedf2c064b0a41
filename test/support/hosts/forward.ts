// In charge of: passing connections from one address to another: a path is a Unix socket, which processes in different
// network namespaces share; host:port is TCP. `node forward.ts LISTEN TARGET`, in the namespace of one of them.
import { createServer, connect, type Socket } from 'node:net'

const [listen = '', target = ''] = process.argv.slice(2)

function address(text: string): { path: string } | { host: string; port: number } {
  if (text.startsWith('/')) return { path: text }
  const at = text.lastIndexOf(':')
  return { host: text.slice(0, at), port: Number(text.slice(at + 1)) }
}

function join(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy()).on('close', () => other.destroy())
  one.pipe(other)
}

createServer((from) => {
  const to = connect(address(target))
  join(from, to)
  join(to, from)
}).listen(address(listen), () => process.stdout.write('listening\n'))
