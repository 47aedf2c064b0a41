// In charge of: redirects, credentials and timeouts of guardedFetch, through which all outbound requests go.
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { guardedFetch } from '../../../worker/storage/guardedFetch.ts'
import type { StoreError } from '../../../worker/storage/objectStore.ts'

const platform = { EGRESS: 'platform', ALLOW_PRIVATE_HOSTS: '' } as unknown as Env
const pinned = { EGRESS: 'pinned', ALLOW_PRIVATE_HOSTS: '' } as unknown as Env

/** A fake network: each address has an answer, and every request is recorded. */
function network(answers: Record<string, () => Response | Promise<Response>>) {
  const seen: Request[] = []
  return {
    seen,
    fetch: async (url: string, init: RequestInit): Promise<Response> => {
      seen.push(new Request(url, init))
      return (answers[url] ?? (() => new Response('no such address', { status: 404 })))()
    },
  }
}

const redirect =
  (location: string, status = 302) =>
  () =>
    new Response(null, { status, headers: { location } })
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'no error',
    (error: StoreError) => error.code,
  )
const start = 'https://a.example.com/start'
const credentials = { authorization: 'Basic x', cookie: 'c=1', 'x-amz-security-token': 't', range: 'bytes=0-1' }

describe('redirects', () => {
  test('three are followed, relative ones too, and each is asked by hand', async () => {
    const net = network({
      [start]: redirect('/2', 301),
      'https://a.example.com/2': redirect('../3', 307),
      'https://a.example.com/3': redirect('https://a.example.com/4', 303),
      'https://a.example.com/4': () => new Response('there'),
    })
    const answer = await guardedFetch(platform, start, { headers: credentials }, { fetch: net.fetch })
    expect(await answer.text()).toBe('there')
    expect(net.seen.map((request) => request.redirect)).toEqual(Array(4).fill('manual'))
    expect(net.seen.at(-1)?.headers.get('authorization')).toBe('Basic x')
  })

  test('a fourth is refused', async () => {
    const net = network({ [start]: redirect(start) })
    expect(await codeOf(guardedFetch(platform, start, {}, { fetch: net.fetch }))).toBe('address_refused')
    expect(net.seen.length).toBe(4)
  })

  test.each([
    'http://127.0.0.1/',
    'https://169.254.169.254/latest/',
    'https://[::1]/',
    'https://localhost/',
    'file:///etc/passwd',
    'https://u:p@b.example.com/',
    '//127.0.0.1/',
    'http://b.example.com/',
    'http://',
  ])('to %s: refused, and nothing is sent there', async (location) => {
    const net = network({ [start]: redirect(location) })
    expect(await codeOf(guardedFetch(platform, start, {}, { fetch: net.fetch }))).toBe('address_refused')
    expect(net.seen.map((request) => request.url)).toEqual([start])
  })

  test('credentials stay with the first origin, also when it comes back to it', async () => {
    const net = network({
      [start]: redirect('https://b.example.com/'),
      'https://b.example.com/': redirect('https://a.example.com/end'),
      'https://a.example.com/end': () => new Response('end'),
    })
    await guardedFetch(platform, start, { headers: credentials }, { fetch: net.fetch })
    expect(net.seen[0]?.headers.get('authorization')).toBe('Basic x')
    for (const request of net.seen.slice(1)) {
      expect(['authorization', 'cookie', 'x-amz-security-token'].map((name) => request.headers.get(name))).toEqual([
        null,
        null,
        null,
      ])
      expect(request.headers.get('range')).toBe('bytes=0-1')
    }
  })

  test('another port is another origin', async () => {
    const net = network({ [start]: redirect('https://a.example.com:8443/') })
    await guardedFetch(platform, start, { headers: credentials }, { fetch: net.fetch })
    expect(net.seen[1]?.headers.get('authorization')).toBe(null)
  })

  test('a request with a body is not repeated elsewhere', async () => {
    const net = network({ [start]: redirect('https://b.example.com/', 307) })
    const put = guardedFetch(platform, start, { method: 'PUT', body: 'x' }, { fetch: net.fetch })
    expect(await codeOf(put)).toBe('invalid')
    expect(net.seen.length).toBe(1)
  })
})

test('what is read is read as it is now; a write says nothing of caches that a store could keep with its object', async () => {
  const net = network({})
  const sent: (RequestInit & { cache?: string })[] = []
  const fetch = async (url: string, init: RequestInit) => (sent.push(init), net.fetch(url, init))
  for (const method of [undefined, 'GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
    await guardedFetch(platform, start, method === undefined ? {} : { method }, { fetch })
  }
  expect(sent.map(({ cache }) => cache)).toEqual(['no-store', 'no-store', 'no-store', undefined, undefined, undefined])
})

test('an address that the guard refuses is never asked', async () => {
  const net = network({})
  expect(await codeOf(guardedFetch(platform, 'http://127.0.0.1/', {}, { fetch: net.fetch }))).toBe('address_refused')
  expect(await codeOf(guardedFetch(env, 'https://a.example.com/', {}, { fetch: net.fetch }))).toBe('address_refused')
  expect(net.seen.length).toBe(0)
})

test('internal headers of the service cannot be set', async () => {
  const net = network({})
  const headers = { 'x-splicepoint-internal': 'stolen', 'x-egress-url': 'http://127.0.0.1/' }
  await guardedFetch(platform, start, { headers }, { fetch: net.fetch })
  await guardedFetch(pinned, start, { headers }, { fetch: net.fetch })
  expect(net.seen.map((request) => request.headers.get('x-splicepoint-internal'))).toEqual([null, null])
  // Node needs the complete address where it connects instead of workerd; no other receiver gets this header.
  expect(net.seen.map((request) => request.headers.get('x-egress-url'))).toEqual([null, start])
})

test('what the local egress refused or failed to reach becomes an error with its sentence', async () => {
  const refused = {
    [start]: () => new Response('It is private.', { status: 470, headers: { 'x-egress-refused': '1' } }),
  }
  const failed = { [start]: () => new Response('It is gone.', { status: 471, headers: { 'x-egress-failed': '1' } }) }
  await expect(guardedFetch(pinned, start, {}, { fetch: network(refused).fetch })).rejects.toMatchObject({
    code: 'address_refused',
    message: 'It is private.',
  })
  await expect(guardedFetch(pinned, start, {}, { fetch: network(failed).fetch })).rejects.toMatchObject({
    code: 'unreachable',
    transient: true,
  })
  // On another platform an upstream server may send this status itself; it has no meaning there.
  expect((await guardedFetch(platform, start, {}, { fetch: network(refused).fetch })).status).toBe(470)
})

test.each(['host_not_found', 'connection_refused', 'tls_failed'])('the local egress says why: %s', async (code) => {
  const failed = (body: string | null) => ({
    [start]: () => new Response(body, { status: 471, headers: { 'x-egress-failed': code } }),
  })
  const get = guardedFetch(pinned, start, {}, { fetch: network(failed('It is so.')).fetch })
  await expect(get).rejects.toMatchObject({ code, message: 'It is so.', transient: true })
  // An answer to HEAD has no body.
  const head = guardedFetch(pinned, start, { method: 'HEAD' }, { fetch: network(failed(null)).fetch })
  await expect(head).rejects.toMatchObject({ code, message: 'a.example.com cannot be reached.' })
})

test.each([
  [521, '', 'connection_refused'],
  [525, '', 'tls_failed'],
  [526, '<html>Invalid SSL certificate</html>', 'tls_failed'],
  [530, 'error code: 1016', 'host_not_found'],
])('Cloudflare’s own error statuses are reported as such: %i %s', async (status, body, code) => {
  const net = network({ [start]: () => new Response(body, { status }) })
  await expect(guardedFetch(platform, start, {}, { fetch: net.fetch })).rejects.toMatchObject({
    code,
    status,
    message: expect.stringContaining('a.example.com '),
    transient: true,
  })
  // With Node as the connector, this status comes from the server itself.
  expect((await guardedFetch(pinned, start, {}, { fetch: net.fetch })).status).toBe(status)
})

test.each([
  [530, 'error code: 1033'],
  [522, ''],
  [500, 'error code: 1016'],
])('and where it does not, the answer is the server’s: %i %s', async (status, body) => {
  const net = network({ [start]: () => new Response(body, { status }) })
  const answer = await guardedFetch(platform, start, {}, { fetch: net.fetch })
  expect([answer.status, await answer.text()]).toEqual([status, body])
})

test('a server that does not answer in time is unreachable', async () => {
  const never = (_: string, init: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  await expect(guardedFetch(platform, start, {}, { fetch: never, headersTimeoutMs: 1 })).rejects.toMatchObject({
    code: 'unreachable',
    message: 'a.example.com did not answer within 0.001 seconds.',
  })
})

test('a failed connection is `unreachable`; an abort by the caller keeps its reason', async () => {
  const broken = async () => {
    throw new TypeError('connection refused')
  }
  expect(await codeOf(guardedFetch(platform, start, {}, { fetch: broken }))).toBe('unreachable')
  const call = guardedFetch(platform, start, { signal: AbortSignal.abort(new Error('mine')) }, { fetch: broken })
  await expect(call).rejects.toThrow('mine')
})
