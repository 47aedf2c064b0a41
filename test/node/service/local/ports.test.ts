// In charge of: no process that listens on this machine for `npm start` serves more than the service itself.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import { findOpenPorts } from './portScan.ts'
import { Service } from '../../../support/service.ts'
import { listeningPaths, listeningPorts, rawRequest, sendRaw } from './listeningSockets.ts'

let service: Service
beforeAll(async () => {
  service = await Service.start({ TRANSCODERS: '2' })
  await service.call('/uploads', { method: 'POST', body: 'what only its account may read' })
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
})

/** Keys of the objects in the bucket. */
function objectKeys(): string[] {
  const directory = join(service.stateDir, 'v3/r2/miniflare-R2BucketObject')
  return readdirSync(directory)
    .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
    .flatMap((name) => {
      const database = new DatabaseSync(join(directory, name), { readOnly: true })
      try {
        return database
          .prepare('SELECT key FROM _mf_objects')
          .all()
          .map(({ key }) => String(key))
      } finally {
        database.close()
      }
    })
}

const front = (): { host: string; port: number } => ({ host: '127.0.0.1', port: Number(new URL(service.base).port) })
const authorization = (): string => `Basic ${Buffer.from(`${service.ready.api_key}:`).toString('base64')}`

// Reads the kernel's own list of sockets.
describe.skipIf(process.platform !== 'linux')('what listens', () => {
  test('no port of any process serves anything of miniflare or wrangler, under any name', async () => {
    const keys = objectKeys()
    expect(keys).not.toEqual([])
    const ports = listeningPorts(service.ready.pids.start)
    expect(ports.map(({ port }) => port)).toContain(front().port)
    for (const url of service.ready.transcoder_urls)
      expect(ports.map(({ port }) => port)).toContain(Number(new URL(url).port))
    expect(await findOpenPorts(service.ready.pids.start, keys)).toEqual([])
    // The scan crashed no process either; the ports are the same.
    expect(listeningPorts(service.ready.pids.start)).toEqual(ports)
    expect(await service.isServing()).toBe(true)
    expect(service.stderr()).toBe('')
  })

  test('a socket that is no port lies where only its owner gets', () => {
    const paths = listeningPaths(service.ready.pids.start)
    expect(paths).not.toEqual([])
    expect(paths.filter(({ isPrivate }) => !isPrivate)).toEqual([])
  })

  test('the same scan finds every open port of a runtime without the front server', async () => {
    const planted = spawn(process.execPath, [join(import.meta.dirname, 'openRuntime.ts')], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    })
    try {
      await once(createInterface({ input: planted.stdout as Readable }), 'line')
      const found = await findOpenPorts(planted.pid ?? 0, ['planted.txt'])
      const asked = found.filter(({ status }) => status === 200).map((one) => one.asked)
      expect(asked).toContain('/cdn-cgi/local/explorer/api/d1/database')
      expect(asked).toContain('/cdn-cgi/local/r2/public/splicepoint/planted.txt')
      expect(asked).toContain('/health/../cdn-cgi/local/r2/public/splicepoint/planted.txt')
      expect(asked).toContain('/cdn-cgi/local/scheduled')
      expect(found.map((one) => one.asked)).toContain('/health {"MF-CF-Blob":"x"}')
    } finally {
      planted.kill('SIGTERM')
    }
  })

  test('a transcoder answers /health to everybody, and nothing else', async () => {
    for (const url of service.ready.transcoder_urls) {
      expect((await fetch(`${url}/health`)).status).toBe(200)
      for (const path of ['/run', '/cancel']) {
        for (const given of [{}, { authorization: 'Bearer x' }, { authorization: authorization() }]) {
          const answer = await fetch(url + path, { method: 'POST', headers: given, body: '{}' })
          expect(answer.status).toBe(401)
        }
      }
      expect((await fetch(`${url}/`)).status).toBe(404)
    }
  })
})

describe('the headers of the runtime, from a client', () => {
  test.each([
    ['MF-Original-URL', 'http://evil.invalid/uploads?limit=1'],
    ['MF-Original-URL', '/relative'],
    ['mf-original-url', 'http://evil.invalid/uploads?limit=1'],
    ['MF-CF-Blob', 'x'],
    ['MF-Proxy-Shared-Secret', 'x'],
    ['MF-Route-Override', 'x'],
    ['MF-Disable-Pretty-Error', 'x'],
    ['CF-Connecting-IP', '203.0.113.7'],
  ])('%s: %s changes nothing', async (name, value) => {
    const [plain, with_] = await Promise.all([
      service.call('/health'),
      service.call('/health', { headers: { [name]: value } }),
    ])
    expect(with_.status).toBe(200)
    expect(await with_.text()).toBe(await plain.text())
  })
})

describe('what is not HTTP', () => {
  const chunked = 'Transfer-Encoding: chunked\r\n'
  const post = (headers: string, body: string): string =>
    `POST /api/v0/job HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization()}\r\n${headers}\r\n${body}`
  const cases: [string, () => string][] = [
    ['a chunk whose length is no number', () => `POST /api/v0/job HTTP/1.1\r\nHost: a\r\n${chunked}\r\nZZ\r\n`],
    ['the same with a key', () => post(chunked, 'ZZ\r\n')],
    ['a broken chunk behind a good one', () => post(chunked, '5\r\n{"inp\r\nZZ\r\n')],
    ['a chunked body that stops half-way', () => post(chunked, '5\r\n{"inp\r\n')],
    ['a body that is shorter than it says', () => post('Content-Length: 100\r\n', '{"input":')],
    [
      'an upload that is shorter than it says',
      () => post('Content-Length: 100\r\n', 'x').replace('/api/v0/job', '/uploads'),
    ],
    ['two lengths', () => post('Content-Length: 2\r\nContent-Length: 3\r\n', '{} ')],
    ['a length and chunks', () => post(`Content-Length: 2\r\n${chunked}`, '0\r\n\r\n')],
    ['no host', () => 'GET /health HTTP/1.1\r\n\r\n'],
    ['two hosts', () => 'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['a host that is none', () => 'GET /health HTTP/1.1\r\nHost: a b/c\r\n\r\n'],
    ['a header without a name', () => 'GET /health HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['no HTTP at all', () => 'hello\r\n\r\n'],
    ['another version', () => 'GET /health HTTP/3.7\r\nHost: a\r\n\r\n'],
  ]
  test.each(cases)('%s: 400 in the shape of every error, and nothing of the machine', async (_name, bytes) => {
    const answer = await sendRaw(front(), bytes(), { end: true })
    expect(answer.status).toBe(400)
    expect(answer.headers.toLowerCase()).toContain('content-type: application/json')
    expect(JSON.parse(answer.body)).toEqual({
      error: {
        code: 'invalid_request',
        message: expect.stringMatching(/^[A-Z].*\.$/) as string,
        ...errorHelp('invalid_request'),
      },
    })
    expect(await service.isServing()).toBe(true)
  })

  test('headers without end are refused as too large', async () => {
    const answer = await sendRaw(front(), rawRequest('/health', { 'X-Long': 'x'.repeat(200_000) }))
    expect([answer.status, (JSON.parse(answer.body) as { error: unknown }).error]).toEqual([
      413,
      { code: 'too_large', message: expect.any(String) as string, ...errorHelp('too_large') },
    ])
  })

  test.each(['M-SEARCH', 'LINK', 'MKCALENDAR', 'TRACE'])('%s, which no address takes: 405', async (method) => {
    const answer = await sendRaw(front(), rawRequest('/api/v0/job', {}, method))
    expect([answer.status, answer.body]).toEqual([405, expect.stringContaining('method_not_allowed')])
  })

  test('CONNECT makes no tunnel', async () => {
    const answer = await sendRaw(front(), 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n')
    expect([answer.status, answer.body]).toEqual([405, expect.stringContaining('method_not_allowed')])
  })
})
