// In charge of: `npm start` behind a proxy that terminates TLS: every address that it returns points to the proxy, by
// TRUSTED_PROXIES or by BASE_URL, and works there.
// Not in charge of: which header wins (test/worker/http/forwardedOrigin.test.ts).
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request as plainRequest, type IncomingHttpHeaders } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSettings } from '../../../../scripts/local/localSettings.ts'
import { selfSignedCertificate } from '../../../fakes/selfSignedCertificate.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

/** The proxy's own address. Linux has more than one of loopback, so that others can be told from it. */
const PROXY = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

let service: Service
let proxy: Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
/** The public address. */
let base: string

beforeAll(async () => {
  tempDir = await tempDirectory()
  service = await Service.start({ TRUSTED_PROXIES: `10.0.0.0/8,${PROXY}` })
  // Like nginx or Caddy: the proxy sets its own headers.
  proxy = createServer(selfSignedCertificate('127.0.0.1'), (incoming, response) => {
    const outgoing = plainRequest(service.base + incoming.url, {
      method: incoming.method,
      localAddress: PROXY,
      headers: {
        ...incoming.headers,
        'x-forwarded-proto': 'https',
        'x-forwarded-host': incoming.headers.host,
        'x-forwarded-for': '192.0.2.7',
      },
    })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  base = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterAll(async () => {
  proxy?.closeAllConnections()
  proxy?.close()
  await service?.[Symbol.asyncDispose]()
  await tempDir?.[Symbol.asyncDispose]()
})

interface Told {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  json: any
}

function ask(address: string, { method = 'GET', body, ...headers }: Record<string, string> = {}): Promise<Told> {
  return new Promise((resolve, reject) => {
    const asked = request(address, { method, headers, rejectUnauthorized: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const whole = Buffer.concat(chunks)
        const isJson = answer.headers['content-type']?.startsWith('application/json')
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: whole,
          json: isJson ? JSON.parse(whole.toString()) : null,
        })
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

const key = () => ({ authorization: `Basic ${Buffer.from(`${service.ready.api_key}:`).toString('base64')}` })

/** All addresses in an answer, except those of other hosts. */
const addressesIn = (value: unknown): string[] => JSON.stringify(value).match(/https?:\/\/[^"\\\s]+/g) ?? []

test('behind TLS, uploads, outputs, archive and shares are https addresses of the proxy, and open', async () => {
  const clip = tempDir.file('film.mp4')
  await makeClip(clip, { width: 320, height: 180, seconds: 1, audio: [2] })
  const input = await service.upload(clip)
  const tus = await ask(`${base}/uploads`, {
    ...key(),
    method: 'POST',
    'tus-resumable': '1.0.0',
    'upload-length': '5',
  })
  expect(tus.headers['location']).toMatch(new RegExp(String.raw`^${base}/uploads/\d+$`))
  expect(tus.json.input).toBe(tus.headers['location'])

  const number = /\d+$/.exec(input)![0]
  const created = await ask(`${base}/api/v0/job`, {
    ...key(),
    method: 'POST',
    'content-type': 'application/json',
    body: JSON.stringify(jobRequest(`${base}/uploads/${number}`, 'file-upload')),
  })
  expect(created.status, created.body.toString()).toBe(200)
  const id: number = created.json._auto_generated_id_
  expect(created.headers['location']).toBe(`${base}/api/v0/job/${id}`)
  await waitFor('the end of the job', async () => (await service.status(id))?.job_completed)

  const { json } = await ask(`${base}/api/v0/job/${id}`, key())
  expect(json.status.error).toBeNull()
  const share = await ask(`${base}/api/v0/job/${id}/share`, { ...key(), method: 'POST' })
  const data = await ask(`${share.json.url}/data`)
  const handedOut = addressesIn([json.status.outputs, json.status.archive_url, share.json, data.json])
  expect(handedOut.length).toBeGreaterThan(5)
  expect(handedOut.filter((address) => !address.startsWith(`${base}/`))).toEqual([])
  for (const address of [json.status.outputs[0].url, json.status.archive_url, share.json.url, share.json.embed_url])
    expect((await ask(address)).status, address).toBe(200)
})

test('the headers of a proxy change nothing from any other address, also in the log', async (context) => {
  if (PROXY === '127.0.0.1') skipTest(context, 'this system has one loopback address')
  const forged = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-for': '6.6.6.6',
    forwarded: 'for=6.6.6.6;host=evil.example;proto=https',
    'cf-connecting-ip': '6.6.6.6',
    'tus-resumable': '1.0.0',
    'upload-length': '5',
  }
  const begin = (headers: Record<string, string>) => ({ ...key(), ...forged, ...headers, method: 'POST' })
  const { method, ...headers } = begin({ 'x-request-id': 'from-a-stranger' })
  const direct = await fetch(`${service.base}/uploads`, { method, headers })
  expect(direct.headers.get('location')).toMatch(new RegExp(String.raw`^${service.base}/uploads/\d+$`))
  const behind = await ask(`${base}/uploads`, begin({ 'x-request-id': 'through-the-proxy' }))
  expect(behind.headers['location']).toMatch(new RegExp(String.raw`^${base}/uploads/\d+$`))
  const clientOf = (id: string) =>
    waitFor(`the line of ${id}`, async () => {
      const lines = (await readFile(join(service.stateDir, 'logs/worker.log'), 'utf8')).split('\n')
      const line = lines.find((one) => one.includes(id))
      return line && (JSON.parse(line) as { client: string }).client
    })
  expect([await clientOf('from-a-stranger'), await clientOf('through-the-proxy')]).toEqual(['127.0.0.1', '192.0.2.7'])
})

test('BASE_URL is what the service hands out, and npm start says both addresses', async () => {
  await using other = await Service.start({ BASE_URL: 'https://video.example.com/' })
  const evil = {
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'evil.example',
    'tus-resumable': '1.0.0',
    'upload-length': '5',
  }
  const begun = await other.call('/uploads', { method: 'POST', headers: evil })
  expect(begun.headers.get('location')).toBe('https://video.example.com/uploads/1')
  expect(other.ready.public_url).toBe('https://video.example.com')
  expect(other.ready.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const clip = tempDir.file('small.mp4')
  await makeClip(clip, { width: 320, height: 180, seconds: 1, audio: [2] })
  expect(await other.upload(clip)).toBe('https://video.example.com/uploads/2')
})

test.each([
  'video.example.com',
  'https://video.example.com/path',
  'https://u:p@video.example.com',
  'ftp://a.example',
  'https://a.example/?b',
])('BASE_URL=%s is refused with a sentence', (address) => {
  expect(() => readSettings({ BASE_URL: address })).toThrow('BASE_URL must be an address without a path')
})

test('TRUST_PROXY is 1 or nothing', () => {
  expect(readSettings({ TRUST_PROXY: '1' }).trustedProxies).toBe('all')
  expect(readSettings({}).trustedProxies).toEqual([])
  expect(() => readSettings({ TRUST_PROXY: 'yes' })).toThrow('TRUST_PROXY')
})
