// In charge of: what the front server of local mode does to requests and answers, with a fake runtime.
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { connect, createServer as createSocketServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import { parseTrustedProxies, type TrustedProxies } from '../../../scripts/local/proxy/clientAddress.ts'
import { ReverseProxy } from '../../../scripts/local/proxy/reverseProxy.ts'
import { tempDirectory } from '../../support/media/media.ts'

const toClose: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).toReversed()) await close()
})

async function socketPath(): Promise<string> {
  const tempDir = await tempDirectory()
  toClose.push(() => tempDir[Symbol.asyncDispose]())
  return tempDir.file('runtime')
}

async function door(path: string, options: ConstructorParameters<typeof ReverseProxy>[1] = {}): Promise<number> {
  const front = new ReverseProxy(path, options)
  toClose.push(() => front.close())
  return front.listen(0)
}

/** A front server before a fake runtime that answers with this listener. */
async function before(
  answer: RequestListener,
  trustedProxies: TrustedProxies = [],
  isDiskFull = async () => false,
): Promise<number> {
  const path = await socketPath()
  const runtime = createServer(answer)
  runtime.listen(path)
  await once(runtime, 'listening')
  toClose.push(async () => {
    runtime.closeAllConnections()
    await new Promise((done) => runtime.close(done))
  })
  return door(path, { trustedProxies, isDiskFull })
}

/** The same, before a runtime that does not speak HTTP. */
async function beforeBytes(serve: (socket: Socket) => void): Promise<number> {
  const path = await socketPath()
  const runtime = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    serve(socket)
  })
  runtime.listen(path)
  await once(runtime, 'listening')
  toClose.push(() => new Promise((done) => runtime.close(done)))
  return door(path)
}

interface Asked {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

async function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: Buffer | string } = {},
): Promise<Asked> {
  const { body, ...rest } = options
  const outgoing = request({ port, path, agent: false, ...rest })
  // `once` listens until the answer begins. Behind it, a connection on which more is sent than read may be reset.
  outgoing.on('error', () => undefined)
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
}

const SIZE = 64 * 2 ** 20

/** A source of SIZE bytes that counts how many were read, and knows when reading has stopped. */
function pieces(): { stream: Readable; taken: () => number; stuck: () => Promise<void> } {
  const piece = Buffer.alloc(2 ** 18)
  let taken = 0
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      this.push(taken < SIZE ? piece : null)
      if (taken < SIZE) taken += piece.length
    },
  })
  const stuck = async (): Promise<void> => {
    for (let before = -1; before !== taken;) {
      before = taken
      await pause(250)
    }
  }
  return { stream, taken: () => taken, stuck }
}

/** Returns the received request. */
const echo: RequestListener = (incoming, response) => {
  const answer = async (): Promise<void> => {
    const { method, url, headers } = incoming
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method, url, headers, body: await text(incoming) }))
  }
  void answer()
}

/** Answers when it has read the whole request, which may never come. */
const take: RequestListener = (incoming, response) => {
  incoming.on('error', () => undefined)
  incoming.once('end', () => response.end('taken'))
  incoming.resume()
}

describe('a request on its way to the Worker', () => {
  test('keeps its address, its host, its headers and its body', async () => {
    const port = await before(echo)
    const sent = { host: 'transcode.example.com:8443', range: 'bytes=0-9', cookie: 'a=b' }
    const { body } = await ask(port, '/o/a%20b/%2e%2F?x=%00&y', { method: 'PUT', headers: sent, body: 'bytes' })
    const got = JSON.parse(body) as { headers: object }
    expect(got).toMatchObject({ method: 'PUT', url: '/o/a%20b/%2e%2F?x=%00&y', body: 'bytes' })
    expect(got.headers).toMatchObject({ ...sent, 'content-length': '5' })
  })

  test.each<[string, boolean, Record<string, string | string[]>, Record<string, string>]>([
    ['not a word without a setting', false, { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example' }, {}],
    ['nor in the standard form', false, { Forwarded: 'host=evil.example;proto=https' }, {}],
    [
      'what a trusted proxy says',
      true,
      { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'video.example.com' },
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'video.example.com' },
    ],
    [
      'the proxy’s own word behind that of a client',
      true,
      { 'X-Forwarded-Proto': ['http', 'javascript, https'], Forwarded: 'host=evil.example' },
      { 'x-forwarded-proto': 'https' },
    ],
    ['no scheme but two', true, { 'X-Forwarded-Proto': 'javascript' }, {}],
    ['the standard form alone', true, { Forwarded: 'proto=https' }, { forwarded: 'proto=https' }],
  ])('sets the forwarding headers: %s', async (_, trustProxy, sent, expected) => {
    const port = await before(echo, trustProxy ? 'all' : [])
    const { headers } = JSON.parse((await ask(port, '/x', { headers: sent })).body) as { headers: object }
    expect(Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes('forwarded')))).toEqual(expected)
  })

  const networks = (text: string) => parseTrustedProxies(text)!
  const spoofed = { 'X-Forwarded-For': '6.6.6.6', 'X-Real-IP': '6.6.6.6', 'CF-Connecting-IP': '6.6.6.6' }
  test.each<[string, TrustedProxies, Record<string, string | string[]>, string]>([
    ['its peer, whatever it says', [], spoofed, '127.0.0.1'],
    ['its peer, if another address is the proxy', networks('10.0.0.2,::1'), spoofed, '127.0.0.1'],
    ['its peer, if another network has the proxies', networks('10.0.0.0/8, 128.0.0.0/1'), spoofed, '127.0.0.1'],
    ['what the proxy says', networks('127.0.0.1'), { 'X-Forwarded-For': '192.0.2.7' }, '192.0.2.7'],
    ['what a proxy of the network says', networks('127.0.0.0/8'), { 'X-Forwarded-For': '192.0.2.7' }, '192.0.2.7'],
    [
      'the proxy’s own word behind that of a client',
      networks('127.0.0.1'),
      { 'X-Forwarded-For': ['6.6.6.6', '7.7.7.7, 192.0.2.7'] },
      '192.0.2.7',
    ],
    [
      'the first one that is no proxy, through several',
      networks('127.0.0.1,10.0.0.0/24'),
      { 'X-Forwarded-For': '6.6.6.6, 192.0.2.7, 10.0.0.9, 10.0.0.8' },
      '192.0.2.7',
    ],
    [
      'the last proxy, if that one knows nothing',
      networks('127.0.0.1'),
      { 'X-Forwarded-For': '6.6.6.6, unknown' },
      '127.0.0.1',
    ],
    ['an IPv6 address', networks('127.0.0.1'), { 'X-Forwarded-For': '2001:db8::7' }, '2001:db8::7'],
    ['the standard form', networks('127.0.0.1'), { Forwarded: 'for=6.6.6.6, for="[2001:db8::7]:4711"' }, '2001:db8::7'],
    ['no other header of the proxy', networks('127.0.0.1'), { 'CF-Connecting-IP': '6.6.6.6' }, '127.0.0.1'],
  ])('names the client: %s', async (_, trusted, sent, expected) => {
    const port = await before(echo, trusted)
    const { headers } = JSON.parse((await ask(port, '/x', { headers: sent })).body) as {
      headers: Record<string, string>
    }
    expect(headers['cf-connecting-ip']).toBe(expected)
    expect([headers['x-forwarded-for'], headers['x-real-ip']]).toEqual([undefined, undefined])
  })

  test('hears the scheme and the host from a named proxy only', async () => {
    const said = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'video.example.com' }
    const heard = async (trusted: TrustedProxies) => {
      const port = await before(echo, trusted)
      const { headers } = JSON.parse((await ask(port, '/x', { headers: said })).body) as { headers: object }
      return headers
    }
    expect(await heard(networks('127.0.0.1'))).toMatchObject({
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'video.example.com',
    })
    for (const name of ['x-forwarded-proto', 'x-forwarded-host'])
      expect(await heard(networks('10.0.0.2'))).not.toHaveProperty(name)
  })

  test.each([
    '10.0.0',
    '10/8',
    '10.0.0.0/33',
    '300.1.1.1',
    'proxy.example.com',
    '0x7f.1',
    '::1/129',
    '10.0.0.1 10.0.0.2',
    '*',
  ])('%j is no address of a proxy', (value) => {
    expect(parseTrustedProxies(value)).toBeNull()
  })

  test.each(['POST', 'PUT', 'PATCH'])('has no body with %s when it had none before', async (method) => {
    const port = await before(echo)
    const { headers } = JSON.parse((await ask(port, '/x', { method })).body) as { headers: object }
    expect(headers).not.toHaveProperty('transfer-encoding')
  })

  test('loses what is of one connection, what its Connection header names, and what is of the runtime', async () => {
    const port = await before(echo)
    const { body } = await ask(port, '/x', {
      headers: {
        connection: 'x-private, close',
        'x-private': '1',
        'x-kept': '1',
        te: 'trailers',
        'MF-Original-URL': 'http://evil.invalid/',
        'mf-route-override': 'x',
        'CF-Connecting-IP': '203.0.113.1',
        'proxy-authorization': 'Basic x',
      },
    })
    const names = Object.keys((JSON.parse(body) as { headers: object }).headers)
    expect(names.filter((name) => !['host', 'connection'].includes(name)).toSorted()).toEqual([
      'cf-connecting-ip',
      'mf-disable-pretty-error',
      'x-kept',
    ])
  })

  test.each([
    [
      'POST with chunks',
      { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'in chunks' },
      'in chunks',
    ],
    ['DELETE with chunks', { method: 'DELETE', headers: { 'transfer-encoding': 'chunked' }, body: 'why' }, 'why'],
    ['POST without a body', { method: 'POST' }, ''],
    ['DELETE without a body', { method: 'DELETE' }, ''],
    [
      'a client that waits for 100',
      { method: 'POST', headers: { expect: '100-continue' }, body: 'after it' },
      'after it',
    ],
  ])('%s', async (_name, options, expected) => {
    const port = await before(echo)
    expect(JSON.parse((await ask(port, '/x', options)).body)).toMatchObject({ body: expected })
  })

  test.each([
    ['/../cdn-cgi/local/scheduled'],
    ['/%2e%2e/cdn-cgi/local/scheduled'],
    ['/a/..\\cdn-cgi\\local'],
    ['/%63dn-cgi/local/scheduled'],
    ['/CDN-CGI/trace'],
    ['//cdn-cgi/trace'],
    ['http://localhost/cdn-cgi/trace'],
    ['/cdn-cgi'],
    ['/__cf_local/stream/x'],
  ])('%s never gets there', async (path) => {
    let asked = 0
    const port = await before((_incoming, response) => {
      asked++
      response.end()
    })
    expect((await ask(port, path)).status).toBe(404)
    expect(asked).toBe(0)
  })

  test('an address that names its host is asked of that host', async () => {
    const port = await before(echo)
    const { body } = await ask(port, 'http://other.example/docs?a', { headers: { host: 'first.example' } })
    expect(JSON.parse(body)).toMatchObject({ url: '/docs?a', headers: { host: 'other.example' } })
  })

  test.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length that is no number', 'Content-Length: +2\r\n\r\n{}'],
    ['a space behind the name of the length', 'Content-Length : 2\r\n\r\n{}'],
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a coding that nobody knows', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunks that are coded once more', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a coding behind a bare carriage return', 'X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk whose length is no number', 'Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk that is longer than its length', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n'],
  ])('%s: it is refused, and what stands behind it is not read as a request', async (_name, request) => {
    const asked: string[] = []
    const port = await before((incoming, response) => {
      asked.push(incoming.url ?? '')
      take(incoming, response)
    })
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end(`POST /x HTTP/1.1\r\nHost: a\r\n${request}GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 (?![^]*HTTP\/1\.1)[^]*$/)
    expect(asked).not.toContain('/next')
  })

  test('is answered while others have not said all they have to say', async () => {
    const port = await before(take)
    const still = ['GET /x HTTP/1.1\r\nX: ', 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf', 'G']
    const sockets = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        socket.write(still[n % still.length]!)
        return socket
      }),
    )
    expect((await ask(port, '/x', { method: 'POST', body: 'all' })).body).toBe('taken')
    expect(sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)).toBe(0)
    for (const socket of sockets) socket.destroy()
  })

  test('HTTP/1.0 without Host: the address of the server is used', async () => {
    const port = await before(echo)
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /x HTTP/1.0\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toContain(`"host":"127.0.0.1:${port}"`)
  })

  test('a body that stops is a body that stops there too, and no answer to it goes out', async () => {
    const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
    const port = await before((incoming, response) => {
      incoming.once('data', () => began.resolve())
      incoming.on('error', () => ended.resolve('broke off'))
      incoming.on('end', () => ended.resolve('ended'))
      incoming.on('close', () => response.end('an answer'))
    })
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    await began.promise
    socket.end()
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"invalid_request"[^]*$/)
    expect(await ended.promise).toBe('broke off')
  })

  test('a client that disconnects aborts its request upstream', async () => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const port = await before((_incoming, response) => {
      response.once('close', () => left.resolve())
      arrived.resolve()
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
    await arrived.promise
    socket.resetAndDestroy()
    await expect(left.promise).resolves.toBeUndefined()
  })

  test('is named while it waits for an answer, without its query and names of files', async () => {
    const path = await socketPath()
    const held: ServerResponse[] = []
    const runtime = createServer((_incoming, response) => void held.push(response)).listen(path)
    toClose.push(() => new Promise((done) => runtime.close(done)))
    const front = new ReverseProxy(path)
    toClose.push(() => front.close())
    const port = await front.listen(0)
    const answers = ['/health', '/task/job-3/input/hls?x=1', '/s/secret'].map((each) => ask(port, each))
    await expect.poll(() => held.length).toBe(3)
    expect(front.longestWaiting().toSorted()).toEqual([
      expect.stringMatching(/^GET \/s for \d+ s$/),
      expect.stringMatching(/^GET \/task\/job-3\/input for \d+ s$/),
    ])
    for (const response of held) response.end()
    await Promise.all(answers)
    expect(front.longestWaiting()).toEqual([])
  })

  test('a slow reader there holds the sender back here', async () => {
    const got = Promise.withResolvers<IncomingMessage>()
    const port = await before((incoming, response) => {
      got.resolve(incoming)
      incoming.once('end', () => response.end())
    })
    const outgoing = request({ port, path: '/x', method: 'POST', agent: false })
    const source = pieces()
    source.stream.pipe(outgoing)
    const incoming = await got.promise
    await source.stuck()
    // The client does not read: only a few buffers are in flight.
    expect(source.taken()).toBeLessThan(SIZE / 2)
    incoming.resume()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    expect(source.taken()).toBe(SIZE)
  })
})

describe('an answer on its way to the client', () => {
  test('keeps its status, its headers and its bytes', async () => {
    const bytes = 'x'.repeat(300_000)
    const port = await before((_incoming, response) => {
      response.writeHead(
        206,
        'Partial',
        [
          ['content-type', 'video/mp4', 'content-length', String(bytes.length), 'content-range', 'bytes 0-1/2'],
          ['set-cookie', 'a=1', 'set-cookie', 'b=2', 'mf-experimental-error-stack', 'true'],
        ].flat(),
      )
      response.end(bytes)
    })
    const { status, headers, body } = await ask(port, '/x')
    expect([status, body.length]).toEqual([206, bytes.length])
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(bytes.length),
      'content-range': 'bytes 0-1/2',
      'set-cookie': ['a=1', 'b=2'],
    })
    expect(headers).not.toHaveProperty('mf-experimental-error-stack')
  })

  test.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('%s with %i has no body, and the next request on the connection is answered', async (method, status) => {
    const port = await before((_incoming, response) => {
      response.writeHead(status, { ...(status === 200 ? { 'content-length': '1000' } : {}), 'x-seen': '1' })
      response.end()
    })
    const socket = connect(port, '127.0.0.1')
    const line = `${method} /x HTTP/1.1\r\nHost: a\r\n`
    socket.write(`${line}\r\n${line}Connection: close\r\n\r\n`)
    const answers = (await text(socket)).split('HTTP/1.1 ').slice(1)
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual([String(status), String(status)])
    for (const answer of answers) expect(answer.split('\r\n\r\n')[1]).toBe('')
  })

  test('is streamed chunk by chunk, as event streams need', async () => {
    const streams: ServerResponse[] = []
    const port = await before((_incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      streams.push(response)
    })
    const outgoing = request({ port, path: '/events', agent: false }).end()
    // Before any event arrives.
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      streams[0]?.write(event)
      const [chunk] = (await once(answer, 'data')) as [Buffer]
      expect(chunk.toString()).toBe(event)
    }
    streams[0]?.end()
    answer.resume()
    await once(answer, 'end')
  })

  test('is cut off where the upstream cuts it off', async () => {
    const port = await before((_incoming, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    const outgoing = request({ port, path: '/x', agent: false }).end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    await expect(text(answer)).rejects.toThrow(/aborted/)
  })

  test('waits for a client that reads slowly', async () => {
    const source = pieces()
    const port = await before((_incoming, response) => source.stream.pipe(response))
    const outgoing = request({ port, path: '/x', agent: false }).end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    await source.stuck()
    expect(source.taken()).toBeLessThan(SIZE / 2)
    let read = 0
    for await (const chunk of answer) read += (chunk as Buffer).length
    expect([read, source.taken()]).toEqual([SIZE, SIZE])
  })

  test('reaches a client that has said all it will say', async () => {
    const port = await before(echo)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each(['the runtime', 'the front door'])(
    'of %s reaches a client that closes behind it and is still sending, though nobody wants what it sends',
    async (who) => {
      const body = JSON.stringify({ error: 'no' })
      const port = await before((_incoming, response) => {
        response.writeHead(401, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
      })
      const path = who === 'the runtime' ? '/x' : '/cdn-cgi/x'
      const size = 8 * 2 ** 20
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`
      for (let times = 0; times < 40; times++) {
        const socket = connect({ port, host: '127.0.0.1' })
        socket.write(head)
        socket.write(Buffer.alloc(size))
        expect(await text(socket)).toMatch(who === 'the runtime' ? /^HTTP\/1\.1 401 / : /^HTTP\/1\.1 404 /)
      }
    },
  )

  test.each([10, 70_000, 300_000, 4_000_000])(
    'reaches a client whose %i request bytes were not read, although the upstream connection was closed',
    async (size) => {
      const body = JSON.stringify({ error: 'no' })
      const port = await beforeBytes((socket) => {
        let read = 0
        socket.once('data', () =>
          socket.write(
            `HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          ),
        )
        socket.on('data', (chunk) => {
          read += chunk.length
          if (read > 65_536) socket.destroy()
        })
      })
      for (let times = 0; times < 10; times++) {
        expect(await ask(port, '/x', { method: 'POST', body: Buffer.alloc(size) })).toMatchObject({ status: 401, body })
      }
    },
  )

  test.each([
    ['a stack in words', 500, 'text/plain', 'internal', 500],
    ['a page', 500, 'text/html', 'internal', 500],
    ['words of the runtime', 503, 'text/plain', 'unavailable', 503],
  ] as const)('is the service’s error in place of %s', async (_name, status, type, code, shown) => {
    const port = await before((_incoming, response) => {
      response.writeHead(status, { 'content-type': type })
      response.end('Error\n    at worker.js:1:1')
    })
    const { status: got, body } = await ask(port, '/x')
    expect([got, JSON.parse(body)]).toMatchObject([
      shown,
      { error: { code, message: expect.any(String), ...errorHelp(code) } },
    ])
  })

  test('says that the disk is full where the Worker only knows that it cannot write', async () => {
    let isFull = true
    const listener: RequestListener = (_incoming, response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '2' })
      response.end('{"error":{"code":"unavailable"}}')
    }
    const port = await before(listener, [], async () => isFull)
    const { status, headers, body } = await ask(port, '/x')
    expect([status, headers['retry-after']]).toEqual([503, '60'])
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'unavailable', message: expect.stringContaining('disk') } })
    isFull = false
    expect((await ask(port, '/x')).headers['retry-after']).toBe('2')
  })

  test('is passed on where the Worker itself says 500', async () => {
    const port = await before((_incoming, response) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end('{"error":{"code":"internal"}}')
    })
    expect(await ask(port, '/x')).toMatchObject({ status: 500, body: '{"error":{"code":"internal"}}' })
  })
})

describe('without anybody behind it', () => {
  const large = Buffer.alloc(1_000_000, 'x')

  test('a request is answered with 503 and when to come again, after a while', async () => {
    const port = await door(await socketPath(), { holdMs: 300 })
    for (const options of [{}, { method: 'POST', body: large }]) {
      const { status, headers, body } = await ask(port, '/x', options)
      expect([status, headers['retry-after']]).toEqual([503, '1'])
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'unavailable' } })
    }
  })

  test('it waits for a runtime that is being started, and is then served with all of its body', async () => {
    const path = await socketPath()
    const port = await door(path)
    const asked = [
      ask(port, '/x'),
      ask(port, '/x', { method: 'POST', body: large }),
      ask(port, '/x', { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: large }),
    ]
    // They have arrived, and had no listener.
    await pause(300)
    const runtime = createServer(echo)
    runtime.listen(path)
    toClose.push(() => new Promise((done) => runtime.close(done)))
    const bodies = (await Promise.all(asked)).map(({ body }) => (JSON.parse(body) as { body: string }).body.length)
    expect(bodies).toEqual([0, large.length, large.length])
  })

  test('a read that its runtime died of is asked once more, and nothing else is', async () => {
    const asked: string[] = []
    const port = await beforeBytes((socket) => {
      socket.once('data', (chunk: Buffer) => {
        const [method = '', path = ''] = chunk.toString().split(' ')
        asked.push(method)
        if (path === '/always' || asked.length === 1) socket.destroy()
        else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
    })
    expect(await ask(port, '/once')).toMatchObject({ status: 200, body: 'ok' })
    for (const method of ['GET', 'POST', 'DELETE']) expect((await ask(port, '/always', { method })).status).toBe(503)
    expect(asked).toEqual(['GET', 'GET', 'GET', 'GET', 'POST', 'DELETE'])
  })

  test('a read is repeated on a new connection when the kept-alive one was closed', async () => {
    let connections = 0
    const port = await beforeBytes((socket) => {
      connections++
      let requests = 0
      socket.on('data', () => {
        // The second request on a connection finds it closed.
        if (requests++ > 0) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
    })
    for (let times = 0; times < 5; times++) expect((await ask(port, '/x')).body).toBe('ok')
    expect(connections).toBe(5)
  })
})
