// In charge of: malicious servers in the real service (I13): every job ends with an error that names the problem, and
// neither the Worker nor the transcoder grows. `HOSTILE=long` (`npm run long hostile`) adds those that only a timeout ends.
// Not in charge of: servers that merely break (../stores/httpFaults.long.test.ts), malicious files (hostileSources.test.ts).
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

const LONG = process.env['HOSTILE'] === 'long'
const MOST_RESIDENT_KIB = 700 * 1024
const MOST_UNSIZED = 64 * 1024 * 1024
let service: Service
let server: Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let clip: Buffer
const sockets = new Set<Socket>()

type Answer = (socket: Socket, path: string) => void
const head = (status: string, headers: Record<string, string | number>): string =>
  `HTTP/1.1 ${status}\r\n${Object.entries({ connection: 'close', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
const type = { 'content-type': 'video/mp4' }
const list = { 'content-type': 'application/vnd.apple.mpegurl' }

/** Writes repeatedly as long as the client reads. */
function forever(socket: Socket, chunk: string | Buffer, everyMs = 0): void {
  const more = (): void => {
    if (socket.destroyed) return
    if (everyMs > 0) {
      socket.write(chunk)
      setTimeout(more, everyMs)
    } else if (socket.write(chunk)) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
}

/** Packets without a payload (ISO/IEC 13818-1, 2.4.1), as used for stuffing. */
const nothing = Buffer.concat(
  Array.from({ length: 5000 }, () => Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)])),
)

const answers: Record<string, Answer> = {
  '/redirects': (socket, path) =>
    void socket.end(head('302 Found', { location: `${path.split('?')[0]}?${Math.random()}`, 'content-length': 0 })),
  '/longer': (socket) =>
    void socket.end(
      Buffer.concat([Buffer.from(head('200 OK', { ...type, 'content-length': clip.length * 10 })), clip]),
    ),
  '/shorter': (socket) => {
    socket.write(head('200 OK', { ...type, 'content-length': clip.length >> 1 }))
    socket.end(clip)
  },
  '/no-ranges': (socket) => {
    socket.write(head('200 OK', { ...type, 'content-length': clip.length }))
    socket.end(clip)
  },
  '/wrong-range': (socket) => {
    socket.write(head('206 Partial Content', { ...type, 'content-length': 10, 'content-range': 'bytes 900-909/1000' }))
    socket.end('0123456789')
  },
  '/bomb': (socket) => {
    const bytes = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    socket.write(head('200 OK', { ...type, 'content-encoding': 'gzip', 'content-length': bytes.length }))
    socket.end(bytes)
  },
  '/endless.m3u8': (socket) => {
    socket.write(head('200 OK', list) + '#EXTM3U\n#EXT-X-TARGETDURATION:1\n')
    forever(socket, '#EXTINF:1,\na.ts\n'.repeat(1000))
  },
  '/million.m3u8': (socket) => {
    socket.write(head('200 OK', list) + '#EXTM3U\n#EXT-X-TARGETDURATION:1\n')
    socket.end(`${'#EXTINF:1,\na.ts\n'.repeat(1_000_000)}#EXT-X-ENDLIST\n`)
  },
  '/endless': (socket) => {
    socket.write(head('200 OK', { 'content-type': 'video/mp2t' }))
    forever(socket, nothing)
  },
  '/endless-piece.m3u8': (socket) =>
    void socket.end(`${head('200 OK', list)}#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.1,\nendless\n#EXT-X-ENDLIST\n`),
  '/own-tail.m3u8': (socket, path) =>
    void socket.end(`${head('200 OK', list)}#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${path}?again\n`),
  '/headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    forever(socket, 'x-more: and more\r\n', 500)
  },
  '/large-headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    forever(socket, `x-more: ${'x'.repeat(4000)}\r\n`)
  },
  '/drip': (socket) => {
    socket.write(head('200 OK', { ...type, 'content-length': 1_000_000 }))
    let at = 0
    const more = setInterval(() => socket.write(clip.subarray(at, (at += 1))), 1000)
    socket.once('close', () => clearInterval(more))
  },
  '/silent': () => undefined,
}

/** How each job ends; any of the codes is correct. */
const ends: [path: string, codes: string[]][] = [
  ['/redirects', ['source_address_refused', 'source_unreachable']],
  ['/shorter', ['source_damaged', 'source_incomplete', 'output_incomplete']],
  ['/no-ranges', ['ready']],
  ['/bomb', ['source_unsupported']],
  ['/endless.m3u8', ['source_too_large', 'source_damaged', 'source_not_media', 'source_unsupported']],
  ['/million.m3u8', ['source_too_large', 'source_damaged', 'source_not_media', 'source_unsupported']],
  ['/endless', ['source_too_large']],
  ['/endless-piece.m3u8', ['source_too_large']],
  ['/own-tail.m3u8', ['source_not_media', 'source_damaged', 'source_unsupported']],
]
const slowEnds: typeof ends = [
  ['/longer', ['source_unreachable', 'source_incomplete']],
  ['/wrong-range', ['source_unsupported']],
  ['/large-headers', ['source_unreachable']],
  ['/headers', ['source_unreachable']],
  ['/drip', ['source_unreachable', 'source_incomplete']],
  ['/silent', ['source_unreachable']],
]

beforeAll(async () => {
  tempDir = await tempDirectory()
  clip = await readFile(await makeClip(tempDir.file('clip.mp4'), { seconds: 1, width: 160, height: 90 }))
  server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined)
    socket.once('data', (request) => {
      const path = request.toString('latin1').split(' ')[1] ?? '/'
      const answer = answers[path.split('?')[0]!]
      if (answer === undefined) socket.end(head('404 Not Found', { 'content-length': 0 }))
      else answer(socket, path)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  service = await Service.start({
    ALLOW_PRIVATE_HOSTS: host,
    TRANSCODERS: LONG ? '4' : '1',
    MAX_UNSIZED_BYTES: `${MOST_UNSIZED}`,
  })
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  for (const socket of sockets) socket.destroy()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  await tempDir?.[Symbol.asyncDispose]()
})

function peakKib(pid: number | null | undefined): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

test('a hostile server affects only its own job', { timeout: LONG ? 3_600_000 : 400_000 }, async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const all = LONG ? [...ends, ...slowEnds] : ends
  const ids = await Promise.all(
    all.map(([path]) => service.create(jobRequest(url + path, 'http', { audioProfiles: [] }))),
  )
  const began = Date.now()
  const outcomes: Record<string, string> = {}
  await Promise.all(
    all.map(async ([path], n) => {
      const { error, state } = await service.waitForEnd(ids[n]!, LONG ? 3_000_000 : 300_000)
      outcomes[path] = error?.code ?? state
      if (LONG) console.log(`${path}: ${outcomes[path]} after ${Math.round((Date.now() - began) / 1000)} s`)
    }),
  )
  expect(
    all.filter(([path, codes]) => !codes.includes(outcomes[path]!)).map(([path]) => [path, outcomes[path]]),
  ).toEqual([])
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
  // No process grew, and the service still works.
  for (const pid of [...service.ready.pids.transcoders, service.ready.pids.workerd])
    expect(peakKib(pid)).toBeLessThan(MOST_RESIDENT_KIB)
  expect((await fetch(`${service.base}/health`)).status).toBe(200)
})
