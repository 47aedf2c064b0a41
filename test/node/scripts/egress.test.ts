// In charge of: the local egress guard on real sockets: the test resolves names, servers count connections.
import { createServer as createSecureServer } from 'node:https'
import { createServer, get as get_ } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { selfSignedCertificate } from '../../fakes/selfSignedCertificate.ts'
import type { EgressOptions, EgressRequest } from '../../../scripts/local/egressProxy.ts'
import { createEgressFetcher, createEgressHandler } from '../../../scripts/local/egressProxy.ts'

const open: Server[] = []
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

interface Started {
  port: number
  origin: string
  hits: IncomingMessage[]
  connections: number
}

async function serve(listener: RequestListener): Promise<Started> {
  const started: Started = { port: 0, origin: '', hits: [], connections: 0 }
  const server = createServer((request, response) => {
    started.hits.push(request)
    listener(request, response)
  })
  server.on('connection', () => started.connections++)
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  started.port = (server.address() as AddressInfo).port
  started.origin = `http://127.0.0.1:${started.port}`
  return started
}

const canary = () => serve((_, response) => response.end('canary'))

function egressFor(options: Partial<EgressOptions> = {}) {
  return createEgressFetcher({
    allowPrivateHosts: new Set(),
    internalToken: 'own-token',
    internalOrigins: [],
    ...options,
  })
}

function get(url: string, headers: Record<string, string> = {}): EgressRequest {
  return { url, method: 'GET', headers: Object.entries(headers), body: null }
}

const resolveTo =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

async function expectRefused(response: Response): Promise<void> {
  expect([response.status, response.headers.get('x-egress-refused')]).toEqual([470, '1'])
  expect(await response.text()).toMatch(/\.$/)
}

describe('names that resolve to private addresses', () => {
  const cases: [string, string[]][] = [
    ['loopback', ['127.0.0.1']],
    ['loopback of IPv6', ['::1']],
    ['loopback in IPv4-mapped form', ['::ffff:127.0.0.1']],
    ['a private network', ['10.0.0.1']],
    ['link-local metadata', ['169.254.169.254']],
    ['link-local with a zone', ['fe80::1%lo']],
    ['a public and a loopback address', ['93.184.216.34', '127.0.0.1']],
    ['a loopback and a public address', ['127.0.0.1', '93.184.216.34']],
    ['unique local IPv6', ['fd00:ec2::254']],
  ]
  test.each(cases)('%s: refused, the canary is hit 0 times', async (_, addresses) => {
    const target = await canary()
    const egress = egressFor({ resolve: resolveTo(...addresses) })
    await expectRefused(await egress(get(`http://files.example.com:${target.port}/x`)))
    expect(target.connections).toBe(0)
  })

  test('literal addresses are refused before any lookup', async () => {
    const target = await canary()
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '2130706433', '0x7f.1', '127.1', 'localhost', '0']) {
      await expectRefused(await egressFor()(get(`http://${host}:${target.port}/`)))
    }
    expect(target.connections).toBe(0)
  })

  test('a name is resolved once per connection, so that a second answer cannot move it', async () => {
    const target = await canary()
    let asked = 0
    const egress = egressFor({
      resolve: async () => [{ address: asked++ === 0 ? '192.0.2.1' : '127.0.0.1', family: 4 }],
    })
    await expectRefused(await egress(get(`http://rebind.example.com:${target.port}/`)))
    expect([asked, target.connections]).toEqual([1, 0])
  })
})

describe('addresses that a deployment allows', () => {
  test('host and port must both match', async () => {
    const target = await canary()
    const allowed = new Set([`files.example.com:${target.port}`])
    const egress = egressFor({ allowPrivateHosts: allowed, resolve: resolveTo('127.0.0.1') })
    const answer = await egress(get(`http://files.example.com:${target.port}/x`))
    expect([answer.status, await answer.text()]).toEqual([200, 'canary'])
    await expectRefused(await egress(get(`http://other.example.com:${target.port}/x`)))
    const second = await canary()
    await expectRefused(await egress(get(`http://files.example.com:${second.port}/x`)))
    expect([target.connections, second.connections]).toEqual([1, 0])
  })

  test('a redirect is answered, not followed', async () => {
    const target = await canary()
    const from = await serve((_, response) => response.writeHead(302, { location: target.origin }).end())
    const egress = egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${from.port}`, `127.0.0.1:${target.port}`]) })
    const answer = await egress(get(`${from.origin}/`))
    expect([answer.status, answer.headers.get('location')]).toEqual([302, target.origin])
    expect(target.connections).toBe(0)
  })

  test('the proxy variables of the environment mean nothing', async () => {
    const [proxy, target] = [await canary(), await serve((_, response) => response.end('direct'))]
    process.env.HTTP_PROXY = process.env.http_proxy = proxy.origin
    try {
      const answer = await egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })(get(target.origin))
      expect(await answer.text()).toBe('direct')
      expect(proxy.connections).toBe(0)
    } finally {
      delete process.env.HTTP_PROXY
      delete process.env.http_proxy
    }
  })

  test('compressed bytes, the status and the headers pass unchanged', async () => {
    const packed = gzipSync('hello'.repeat(100))
    const target = await serve((_, response) => {
      response.writeHead(203, [
        'Content-Encoding',
        'gzip',
        'Content-Type',
        'text/plain',
        'Content-Length',
        String(packed.length),
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Egress-Refused',
        '1',
        'X-Egress-Failed',
        '1',
      ])
      response.end(packed)
    })
    const answer = await egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })(get(target.origin))
    expect(answer.status).toBe(203)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(packed.length),
    })
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    // An upstream server cannot pretend that the guard refused.
    expect([answer.headers.get('x-egress-refused'), answer.headers.get('x-egress-failed')]).toEqual([null, null])
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(packed)
  })

  test('a streamed body arrives with its length, and the host stays the name', async () => {
    let received = ''
    const target = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
      request.on('end', () => response.end('stored'))
    })
    const host = `files.example.com:${target.port}`
    const egress = egressFor({ allowPrivateHosts: new Set([host]), resolve: resolveTo('127.0.0.1') })
    const answer = await egress({
      url: `http://${host}/a%2Fb?x=1`,
      method: 'PUT',
      headers: [
        ['content-length', '6'],
        ['x-egress-url', 'http://elsewhere.example.com/'],
        ['mf-custom', '1'],
      ],
      body: new Blob(['abcdef']).stream(),
    })
    expect(await answer.text()).toBe('stored')
    const [hit] = target.hits
    expect([hit?.url, hit?.headers.host, hit?.headers['content-length']]).toEqual(['/a%2Fb?x=1', host, '6'])
    expect([hit?.headers['transfer-encoding'], hit?.headers['x-egress-url'], hit?.headers['mf-custom']]).toEqual(
      Array(3).fill(undefined),
    )
    expect(received).toBe('abcdef')
  })

  test('HEAD keeps the length of what it does not send', async () => {
    const target = await serve((_, response) => response.writeHead(200, { 'content-length': 12345 }).end())
    const egress = egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })
    const answer = await egress({ ...get(target.origin), method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length'), answer.body]).toEqual([200, '12345', null])
  })

  test('a reader that pauses pauses the server', async () => {
    let written = 0
    const total = 256 * 1024 * 1024
    const target = await serve((_, response) => {
      const block = Buffer.alloc(1024 * 1024)
      const more = (): void => {
        while (written < total) {
          written += block.length
          if (!response.write(block)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    const answer = await egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })(get(target.origin))
    const reader = answer.body?.getReader()
    await reader?.read()
    // Both sides stop when the socket buffers are full.
    for (let before = -1; before !== written;) {
      before = written
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(written).toBeLessThan(total / 4)
    await reader?.cancel()
  })

  test('a server that is not there is a failure, not a refusal', async () => {
    const target = await canary()
    const gone = open.pop()
    gone?.close()
    await once(gone!, 'close')
    const answer = await egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })(get(target.origin))
    expect([answer.status, answer.headers.get('x-egress-failed')]).toEqual([471, 'connection_refused'])
    expect(await answer.text()).toBe(`127.0.0.1:${target.port} refuses connections (ECONNREFUSED).`)
  })

  test.each([
    ['does not resolve', 'ENOTFOUND', 'host_not_found'],
    ['cannot be looked up just now', 'EAI_AGAIN', '1'],
  ])('a name that %s is a failure', async (_, code, reported) => {
    const egress = egressFor({
      resolve: async () => {
        throw Object.assign(new Error(`getaddrinfo ${code}`), { code })
      },
    })
    const answer = await egress(get('http://nowhere.example.com/'))
    expect([answer.status, answer.headers.get('x-egress-failed')]).toEqual([471, reported])
    expect(await answer.text()).toContain(code)
  })

  test('an untrusted certificate and a server without TLS have their own errors', async () => {
    const secure = createSecureServer(selfSignedCertificate('127.0.0.1'), (_, response) => void response.end('canary'))
    const plain = await canary()
    secure.listen(0, '127.0.0.1')
    await once(secure, 'listening')
    const { port } = secure.address() as AddressInfo
    const egress = egressFor({ allowPrivateHosts: new Set([`127.0.0.1:${port}`, `127.0.0.1:${plain.port}`]) })
    const reported = []
    for (const at of [port, plain.port]) {
      const answer = await egress(get(`https://127.0.0.1:${at}/`))
      reported.push([answer.status, answer.headers.get('x-egress-failed'), await answer.text()])
    }
    secure.close()
    expect(reported).toEqual([
      [
        471,
        'tls_failed',
        expect.stringMatching(/has a certificate that is not accepted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
      ],
      [471, 'tls_failed', expect.stringMatching(/does not support TLS at that port/)],
    ])
  })
})

describe('requests of the service itself', () => {
  test('pass to their origin, without the header that proves them', async () => {
    const transcoder = await canary()
    const egress = egressFor({ internalOrigins: [transcoder.origin] })
    const answer = await egress(
      get(`${transcoder.origin}/run`, { 'x-splicepoint-internal': 'own-token', 'x-kept': '1' }),
    )
    expect(await answer.text()).toBe('canary')
    expect(transcoder.hits[0]?.headers['x-splicepoint-internal']).toBeUndefined()
    expect(transcoder.hits[0]?.headers['x-kept']).toBe('1')
  })

  test('without the token, or with another one, the origin is as private as any', async () => {
    const transcoder = await canary()
    const egress = egressFor({ internalOrigins: [transcoder.origin] })
    await expectRefused(await egress(get(transcoder.origin)))
    await expectRefused(await egress(get(transcoder.origin, { 'x-splicepoint-internal': 'other-tokn' })))
    const tokenless = egressFor({ internalOrigins: [transcoder.origin], internalToken: '' })
    await expectRefused(await tokenless(get(transcoder.origin, { 'x-splicepoint-internal': '' })))
    expect(transcoder.connections).toBe(0)
  })

  test('the token opens no other origin, and is never sent to one', async () => {
    const [private_, allowed] = [await canary(), await canary()]
    const egress = egressFor({
      internalOrigins: ['http://127.0.0.1:1'],
      allowPrivateHosts: new Set([`127.0.0.1:${allowed.port}`]),
    })
    await expectRefused(await egress(get(private_.origin, { 'x-splicepoint-internal': 'own-token' })))
    expect(private_.connections).toBe(0)
    await (await egress(get(allowed.origin, { 'X-Splicepoint-Internal': 'own-token' }))).text()
    expect(JSON.stringify(allowed.hits[0]?.rawHeaders)).not.toContain('own-token')
  })
})

describe('requests to transcoders that register their addresses', () => {
  test('pass to any origin with the token, and to no private one without it', async () => {
    const transcoder = await canary()
    const egress = egressFor({ internalOrigins: 'any' })
    await expectRefused(await egress(get(transcoder.origin)))
    await expectRefused(await egress(get(transcoder.origin, { 'x-splicepoint-internal': 'other-tokn' })))
    const tokenless = egressFor({ internalOrigins: 'any', internalToken: '' })
    await expectRefused(await tokenless(get(transcoder.origin, { 'x-splicepoint-internal': '' })))
    expect(transcoder.connections).toBe(0)
    const answer = await egress(get(`${transcoder.origin}/run`, { 'x-splicepoint-internal': 'own-token' }))
    expect(await answer.text()).toBe('canary')
    expect(transcoder.hits[0]?.headers['x-splicepoint-internal']).toBeUndefined()
  })
})

describe('as a node handler', () => {
  async function gate(options: Partial<EgressOptions>): Promise<Started> {
    const handler = createEgressHandler({
      allowPrivateHosts: new Set(),
      internalToken: 'own-token',
      internalOrigins: [],
      ...options,
    })
    return serve((request, response) => void handler(request, response))
  }

  test('the named address is fetched, the header stays behind', async () => {
    const target = await canary()
    const taskApi = await gate({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })
    const answer = await fetch(`${taskApi.origin}/x`, { headers: { 'x-egress-url': `${target.origin}/y?z` } })
    expect([answer.status, await answer.text()]).toEqual([200, 'canary'])
    expect([target.hits[0]?.url, target.hits[0]?.headers['x-egress-url']]).toEqual(['/y?z', undefined])
  })

  test('a request that names no address is refused unless it is for an internal origin', async () => {
    const target = await canary()
    const proxy = await gate({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })
    // As workerd forwards a request: to this proxy, with the Host header of the address.
    const request = get_({ port: proxy.port, headers: { host: `127.0.0.1:${target.port}` } })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect([answer.statusCode, answer.headers['x-egress-refused']]).toEqual([470, '1'])
    expect(target.connections).toBe(0)
    const own = await gate({ internalOrigins: [target.origin] })
    const headers = { host: `127.0.0.1:${target.port}`, 'x-splicepoint-internal': 'own-token' }
    const passed = get_({ port: own.port, path: '/run', headers })
    const [second] = (await once(passed, 'response')) as [IncomingMessage]
    expect([second.statusCode, target.hits[0]?.url]).toEqual([200, '/run'])
  })

  test('an upstream body that is cut off is cut off for the client, also without a length', async () => {
    const target = await serve((_, response) => {
      response.write('half')
      response.once('drain', () => undefined)
      setImmediate(() => response.destroy())
    })
    const proxy = await gate({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })
    const read = fetch(proxy.origin, { headers: { 'x-egress-url': target.origin } }).then((answer) => answer.text())
    await expect(read).rejects.toThrow('terminated')
  })

  test.each([true, false])(
    'a reader that leaves ends the request upstream (after the headers: %s)',
    async (started) => {
      const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const target = await serve((request, response) => {
        request.once('close', ended.resolve)
        if (started) response.write('first')
        asked.resolve()
      })
      const proxy = await gate({ allowPrivateHosts: new Set([`127.0.0.1:${target.port}`]) })
      const stop = new AbortController()
      const answer = fetch(proxy.origin, { headers: { 'x-egress-url': target.origin }, signal: stop.signal })
      await (started ? answer : asked.promise)
      stop.abort()
      await Promise.allSettled([answer])
      await expect(ended.promise).resolves.toBeUndefined()
    },
  )
})

test('a host that is sent elsewhere keeps its name, its neighbours stay behind the guard', async () => {
  const there = await canary()
  const connectTo = new Map([['store.example.com:443', `127.0.0.1:${there.port}`]])
  const egress = egressFor({ connectTo, resolve: resolveTo('10.0.0.1') })
  const answer = await egress(get('https://store.example.com/a?b=%20c', { authorization: 'signed' }))
  expect([answer.status, await answer.text()]).toEqual([200, 'canary'])
  const [hit] = there.hits
  expect([hit?.url, hit?.headers.host, hit?.headers.authorization]).toEqual([
    '/a?b=%20c',
    'store.example.com',
    'signed',
  ])
  for (const other of [
    'http://store.example.com/',
    'https://store.example.com:8443/',
    'https://x.store.example.com/',
  ]) {
    expect((await egress(get(other))).status).toBe(470)
  }
  expect(there.hits).toHaveLength(1)
})
