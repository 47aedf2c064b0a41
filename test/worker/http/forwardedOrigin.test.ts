// In charge of: the address that the service uses for itself: BASE_URL, what a trusted proxy reports, or the request's.
// Not in charge of: a real proxy in front of the local service (test/node/service/local/reverseProxy.test.ts).
import { env } from 'cloudflare:workers'
import { createExecutionContext } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { app } from '../../../worker/app.ts'
import { forwardedOrigin } from '../../../worker/http/forwardedOrigin.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { basicAuth, API_KEY } from '../support/apiClient.ts'

const INSIDE = 'http://127.0.0.1:8787/uploads'

test.each<[Record<string, string>, string]>([
  [{}, 'http://127.0.0.1:8787'],
  [{ 'x-forwarded-proto': 'https' }, 'https://127.0.0.1:8787'],
  [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'video.example.com' }, 'https://video.example.com'],
  [{ 'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': 'video.example.com:8443' }, 'https://video.example.com:8443'],
  [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': '[2001:db8::1]' }, 'https://[2001:db8::1]'],
  // The proxy appends its own value to those that a client sent.
  [{ 'x-forwarded-proto': 'http, https', 'x-forwarded-host': 'evil.example, a.example' }, 'https://a.example'],
  [{ forwarded: 'for=192.0.2.1;proto=https;host=a.example' }, 'https://a.example'],
  [
    { forwarded: 'host=evil.example;proto=http, for="[::1]:4711";host="a.example:444";proto=https' },
    'https://a.example:444',
  ],
  // Sent by a client, and passed on unchanged by a proxy that sets the other headers.
  [{ forwarded: 'host=evil.example', 'x-forwarded-proto': 'https' }, 'https://127.0.0.1:8787'],
  [{ 'x-forwarded-proto': 'javascript' }, 'http://127.0.0.1:8787'],
  [{ 'x-forwarded-proto': '' }, 'http://127.0.0.1:8787'],
  ...['a b', 'a/../b', 'user@evil.example', 'evil.example#', 'evil.example?x', '<b>', 'a:99999', 'a:', '"a"', ''].map(
    (host): [Record<string, string>, string] => [{ 'x-forwarded-host': host }, 'http://127.0.0.1:8787'],
  ),
  [{ forwarded: 'host="evil\\".example";proto=https' }, 'https://127.0.0.1:8787'],
  [{ forwarded: `host=${'a'.repeat(2000)};proto=https` }, 'http://127.0.0.1:8787'],
  [{ forwarded: ';;;="' }, 'http://127.0.0.1:8787'],
])('%j leads to %s', (headers, expected) => {
  expect(forwardedOrigin(new Headers(headers), INSIDE)).toBe(expected)
})

const evil = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  forwarded: 'host=evil.example;proto=https',
}

async function uploaded(where: Env, headers: Record<string, string>): Promise<{ input: string; location: string }> {
  const request = new Request(INSIDE, {
    method: 'POST',
    headers: { authorization: basicAuth(API_KEY), 'tus-resumable': '1.0.0', 'upload-length': '5', ...headers },
  })
  const answer = await app.fetch(request, where, createExecutionContext())
  expect(answer.status).toBe(201)
  return { input: (await answer.json<any>()).input, location: answer.headers.get('location') ?? '' }
}

test.each<[string, Record<string, string>, string]>([
  ['without a setting a client’s word is nothing', {}, 'http://127.0.0.1:8787'],
  ['behind a trusted proxy it is the proxy’s', { TRUST_PROXY: '1' }, 'https://evil.example'],
  ['BASE_URL is stronger than any header', { BASE_URL: 'https://video.example.com' }, 'https://video.example.com'],
  ['also with both', { BASE_URL: 'https://video.example.com/', TRUST_PROXY: '1' }, 'https://video.example.com'],
])('%s', async (_, settings, base) => {
  const { input, location } = await uploaded({ ...env, ...settings }, evil)
  expect(input).toMatch(new RegExp(String.raw`^${base}/uploads/\d+$`))
  expect(location).toBe(input)
})

test('a TRUST_PROXY that is neither 1 nor empty is said, and nothing is guessed', async () => {
  const [status, body] = await requestWithEnv({ ...env, TRUST_PROXY: 'yes' }, 'GET', '/api/v0/job', undefined, API_KEY)
  expect([status, body.error.code]).toEqual([503, 'unavailable'])
  expect(body.error.message).toContain('TRUST_PROXY must be 1, or empty')
})
