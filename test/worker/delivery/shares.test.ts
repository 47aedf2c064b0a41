// In charge of: share pages: who may create one, what its holder can read, and that everything else gives the same 404.
// Not in charge of: the page in a browser (test/node/web/browser/sharedPages.long.test.ts).
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { RETENTION_DAYS } from '#contract/limits.ts'
import { app } from '../../../worker/app.ts'
import { hmacSign } from '../../../worker/secrets/hmac.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import {
  BASE_URL,
  basicAuth,
  apiRequest,
  API_KEY,
  postJson,
  readJson,
  errorCode,
  createKey,
  createJob,
} from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { runBefore } from '../support/raceBefore.ts'
import { advanceClock, readStatus, startJob } from '../support/jobFixture.ts'

const DAY = 86_400
const video = new Uint8Array(600).fill(7)
/** Only its frame header is read. */
const JPEG = Uint8Array.from([0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 36, 0, 64, 1, 1, 0x11, 0, 0xff, 0xd9])

async function completed(change: Record<string, unknown> = {}): Promise<{ id: number; attempt: FakeAttempt }> {
  const { id, attempt } = await startJob(change)
  expect((await attempt.finish([await attempt.storeObject('film.mp4', video)])).status).toBe(200)
  return { id, attempt }
}

async function share(id: number, body: unknown = {}): Promise<any> {
  const answer = await postJson(`/api/v0/job/${id}/share`, body)
  expect(answer.status, await answer.clone().text()).toBe(200)
  return answer.json()
}

const pathOf = (address: string): string => address.slice(BASE_URL.length)
/** Without a key, as a visitor. */
const visit = (address: string, init: RequestInit = {}) =>
  apiRequest(pathOf(address), { ...init, headers: { ...(init.headers as object), authorization: '' } })
const list = async (id: number) => (await readJson(`/api/v0/job/${id}/share`)).shares

test('a share gives a page, a player and the addresses that they play, without a key', async () => {
  const { id } = await completed()
  const made = await share(id, { title: 'Our film', expires_in_seconds: 7 * DAY })
  expect(made).toMatchObject({ title: 'Our film', embed_url: `${made.url}/embed` })
  expect(made.url).toMatch(/^https:\/\/service\.test\/s\/sh_[\w-]{16}\.[\w-]{43}$/)
  expect(made.embed_html).toContain(`<iframe src="${made.embed_url}" title="Our film"`)
  expect((Date.parse(made.expires_at) - Date.parse(made.created_at)) / 1000).toBe(7 * DAY)
  expect(await list(id)).toEqual([made])

  const data = await visit(`${made.url}/data`)
  expect(data.status).toBe(200)
  expect(data.headers.get('access-control-allow-origin')).toBe('*')
  expect(data.headers.get('cache-control')).toBe('no-store')
  const media = await data.json<any>()
  expect(media).toMatchObject({
    title: 'Our film',
    sources: [{ kind: 'file', content_type: 'video/mp4', label: 'film.mp4' }],
    downloads: [{ name: 'film.mp4', size: video.length, content_type: 'video/mp4' }],
    expires_at: made.expires_at,
  })
  const played = await visit(media.sources[0].url)
  expect(new Uint8Array(await played.arrayBuffer())).toEqual(video)

  const page = await visit(made.url)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await page.text()
  expect(html).toContain('<title>Our film</title>')
  expect(html).toContain(`<meta property="og:url" content="${made.url}" />`)
  expect(html).toContain(`<meta property="twitter:player" content="${made.embed_url}" />`)
  // There is no poster yet: an og:image without a value would look broken.
  expect(html).not.toContain('og:image')
})

test('a share opens what it plays, and not the report with the owner’s settings', async () => {
  const { id } = await completed()
  const [output] = (await readStatus(id)).outputs
  const [, , account = '', jobId = ''] = new URL(output.url).pathname.split('/').slice(1).map(decodeURIComponent)
  await env.BUCKET.put(`out/${account}/${jobId}/job.json`, '{"configuration":{}}')
  const report = (address: string) => address.replace(/film\.mp4$/, 'job.json')
  const [source] = (await (await visit(`${(await share(id)).url}/data`)).json<any>()).sources
  expect((await visit(report(output.url))).status).toBe(200)
  expect(await errorCode(await visit(report(source.url)))).toBe('403 forbidden')
  // Removing the marker of a share from the signature does not help either.
  expect((await visit(report(source.url).replace(/(\/o\/\d+)s\./, '$1.'))).status).toBe(403)
})

test('no address that a share gives outlives it', async () => {
  const { id, attempt } = await startJob()
  expect((await attempt.taskApi('PUT', '/preview', JPEG)).status).toBe(200)
  expect((await attempt.finish([await attempt.storeObject('film.mp4', video)])).status).toBe(200)
  const made = await share(id, { expires_in_seconds: 60 })
  const { poster_url: poster, sources } = await (await visit(`${made.url}/data`)).json<any>()
  const addresses: string[] = [poster, sources[0].url]
  for (const address of addresses) expect((await visit(address)).status).toBe(200)
  advanceClock(61_000)
  for (const address of addresses) expect((await visit(address)).status).toBe(403)
})

test('the page may not be framed, the player by every page; both have a policy that lets nothing else in', async () => {
  const { id } = await completed()
  const made = await share(id)
  const [page, embed] = [await visit(made.url), await visit(made.embed_url)]
  for (const answer of [page, embed]) {
    expect(answer.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self';",
    )
    expect(answer.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await answer.text()).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/)
  }
  expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'$/)
  expect(embed.headers.get('content-security-policy')).toMatch(/frame-ancestors \*$/)
})

test('forged, unknown, expired, revoked, and of a deleted job: one and the same 404', async () => {
  const { id } = await completed()
  const [good, revoked, expired] = [await share(id), await share(id), await share(id, { expires_in_seconds: 60 })]
  expect((await apiRequest(`/api/v0/job/${id}/share/${revoked.share_id}`, { method: 'DELETE' })).status).toBe(204)
  const gone = await completed()
  const deleted = await share(gone.id)
  expect((await apiRequest(`/api/v0/job/${gone.id}`, { method: 'DELETE' })).status).toBe(204)
  advanceClock(61_000)

  const [, , signature = ''] = /(sh_[\w-]+)\.([\w-]{43})$/.exec(good.url) ?? []
  const at = (token: string): string => `${BASE_URL}/s/${token}`
  const refused = [
    revoked.url,
    expired.url,
    deleted.url,
    at(`${good.share_id}.${'A'.repeat(43)}`),
    at(`${revoked.share_id}.${signature}`),
    // Signed by the service for another purpose.
    at(`${good.share_id}.${await hmacSign(env, 'object', good.share_id)}`),
    at(`sh_AAAAAAAAAAAAAAAA.${await hmacSign(env, 'share', 'sh_AAAAAAAAAAAAAAAA')}`),
    good.url.slice(0, -1),
    `${good.url}x`,
    at(good.share_id),
    at('x'),
    at('x'.repeat(5000)),
    at('%00'),
    at('..%2f..%2fapi%2fv0%2fjob'),
    at(`'%20OR%201=1--.${signature}`),
  ]
  for (const [path, type] of [
    ['', 'text/html'],
    ['/embed', 'text/html'],
    ['/data', 'application/json'],
  ] as const) {
    const answers = new Set<string>()
    for (const address of refused) {
      const answer = await visit(address + path)
      expect([address, answer.status]).toEqual([address, 404])
      expect(answer.headers.get('content-type')).toContain(type)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      answers.add(await answer.text())
    }
    expect(answers.size).toBe(1)
    expect((await visit(good.url + path)).status).toBe(200)
  }
  expect((await list(id)).map((each: any) => each.share_id)).toEqual([good.share_id])
})

test('another account can neither share, nor list, nor revoke; and no share opens another job’s files', async () => {
  const { key } = await createKey()
  const { id } = await completed()
  const made = await share(id)
  const path = `/api/v0/job/${id}/share`
  expect(await errorCode(await postJson(path, {}, { key }))).toBe('404 not_found')
  expect(await errorCode(await apiRequest(path, { key }))).toBe('404 not_found')
  expect(await errorCode(await apiRequest(`${path}/${made.share_id}`, { key, method: 'DELETE' }))).toBe('404 not_found')
  const other = await completed()
  expect(
    await errorCode(await apiRequest(`/api/v0/job/${other.id}/share/${made.share_id}`, { method: 'DELETE' })),
  ).toBe('404 not_found')
  expect(await errorCode(await visit(BASE_URL + path))).toBe('401 unauthorized')
  const [source] = (await (await visit(`${made.url}/data`)).json<any>()).sources
  const { attempt } = other
  expect((await visit(source.url.replace(/[0-9a-f-]{36}/, attempt.job))).status).toBe(403)
  expect((await visit(made.url)).status).toBe(200)
})

test('the addresses of a share end with it, and are short-lived where it is not', async () => {
  const { id } = await completed()
  const read = async (body: unknown) => (await visit(`${(await share(id, body)).url}/data`)).json<any>()
  const [long, short] = [await read({}), await read({ expires_in_seconds: 600 })]
  const hours = (media: any) => (Date.parse(media.addresses_expire_at) - Date.now()) / 3600_000
  expect(hours(long)).toBeLessThanOrEqual(13)
  expect(hours(long)).toBeGreaterThanOrEqual(11.9)
  expect(short.addresses_expire_at).toBe(short.expires_at)
  const expiry = (media: any) => Number(/\/o\/(\d+)s\./.exec(media.sources[0].url)?.[1]) * 1000
  expect(expiry(long)).toBe(Date.parse(long.addresses_expire_at))
  advanceClock(601_000)
  expect((await visit(short.sources[0].url)).status).toBe(403)
  expect((await visit(long.sources[0].url)).status).toBe(200)
})

test('a title is text: on the page, in the embed code and in the data', async () => {
  const { id } = await completed()
  const title = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;</title>`
  const made = await share(id, { title })
  const html = await (await visit(made.url)).text()
  expect(html).not.toMatch(/<script>|<img/)
  const found = { title: '', og: '' }
  await new HTMLRewriter()
    .on('title', { text: (chunk) => void (found.title += chunk.text) })
    .on('meta[property="og:title"]', { element: (meta) => void (found.og = meta.getAttribute('content') ?? '') })
    .transform(new Response(html))
    .text()
  expect(found.title).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(found.og).toContain('&lt;script&gt;')
  expect(made.embed_html).not.toMatch(/<script|<img|onerror='/)
  expect(made.embed_html.match(/</g)).toHaveLength(2)
  expect((await (await visit(`${made.url}/data`)).json<any>()).title).toBe(title)
})

test('without a title, it is the name of the source without its extension', async () => {
  const titles = []
  for (const input of [
    'https://media.test/My%20film.v2.mp4',
    'https://media.test/%3Cb%3E.mov',
    'https://media.test/.mp4',
  ]) {
    titles.push((await share((await completed({ input })).id)).title)
  }
  expect(titles).toEqual(['My film.v2', '<b>', '.mp4'])
})

test.each<[string, unknown, string]>([
  ['an empty title', { title: ' ' }, 'title'],
  ['a title that is too long', { title: 'x'.repeat(201) }, 'title'],
  ['a title of control characters', { title: 'a\u0000b' }, 'title'],
  ['a title that is no text', { title: 5 }, 'title'],
  ['too short a time', { expires_in_seconds: 59 }, 'expires_in_seconds'],
  ['too long a time', { expires_in_seconds: 30 * DAY + 1 }, 'expires_in_seconds'],
  ['half a second', { expires_in_seconds: 60.5 }, 'expires_in_seconds'],
  ['a time as a text', { expires_in_seconds: '600' }, 'expires_in_seconds'],
  ['a member that is not known', { password: 'x' }, 'password'],
  ['a list', [], ''],
])('%s is refused with the field', async (_, body, field) => {
  const { id } = await completed()
  const answer = await postJson(`/api/v0/job/${id}/share`, body)
  expect(answer.status).toBe(400)
  expect((await answer.json<any>()).error).toMatchObject({ code: 'invalid_request', field })
  expect(await list(id)).toEqual([])
})

test('only a completed job with outputs in the service store can be shared, and the error says so', async () => {
  const running = await createJob()
  expect(await errorCode(await postJson(`/api/v0/job/${running}/share`, {}))).toBe('409 not_shareable')
  await apiRequest(`/api/v0/job/${running}/cancel`, { method: 'POST' })
  expect(await errorCode(await postJson(`/api/v0/job/${running}/share`, {}))).toBe('409 not_shareable')

  const { id } = await completed()
  await env.DB.prepare(
    `UPDATE jobs SET config = json_set(config, '$.cloud_credentials.output.cloud_provider', 'aws') WHERE id = ?1`,
  )
    .bind(id)
    .run()
  const answer = await postJson(`/api/v0/job/${id}/share`, {})
  expect(await answer.json()).toMatchObject({
    error: {
      code: 'not_shareable',
      message: 'The outputs are in your own store, not in the service’s. Share their addresses in that store.',
    },
  })
})

test('a share never outlives the outputs, and is gone with them', async () => {
  const { id } = await completed()
  advanceClock((RETENTION_DAYS.outputs - 1) * DAY * 1000)
  const made = await share(id)
  expect((Date.parse(made.expires_at) - Date.now()) / 1000).toBeLessThanOrEqual(DAY)
  advanceClock((DAY - 30) * 1000)
  expect(await errorCode(await postJson(`/api/v0/job/${id}/share`, {}))).toBe('409 not_shareable')
  advanceClock(60_000)
  expect((await visit(made.url)).status).toBe(404)
  await reconcile(env, Infinity)
  expect(await errorCode(await postJson(`/api/v0/job/${id}/share`, {}))).toBe('409 not_shareable')
  const left = await env.DB.prepare('SELECT COUNT(*) AS n FROM shares WHERE job = ?1').bind(id).first<{ n: number }>()
  expect(left?.n).toBe(0)
})

test('a job that is deleted while it is shared is not there', async () => {
  const { id } = await completed()
  const remove = () => apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })
  const bindings = { ...env, DB: runBefore(env.DB, 'INSERT INTO shares', remove) }
  const init = { method: 'POST', headers: { authorization: basicAuth(API_KEY) } }
  const answer = await app.request(`${BASE_URL}/api/v0/job/${id}/share`, init, bindings)
  expect(await errorCode(answer)).toBe('404 not_found')
})

test('the rows of a deleted job’s shares are removed with it', async () => {
  const { id } = await completed()
  await share(id)
  await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })
  advanceClock(26 * 3600_000)
  await reconcile(env, Infinity)
  const left = await env.DB.prepare('SELECT COUNT(*) AS n FROM shares WHERE job = ?1').bind(id).first<{ n: number }>()
  expect(left?.n).toBe(0)
})

test('a job has 100 shares at most, also when they are asked for at once; expired ones do not count', async () => {
  const { id } = await completed()
  const now = Date.now()
  await env.DB.batch(
    Array.from({ length: 98 }, (_, n) =>
      env.DB.prepare('INSERT INTO shares VALUES (?1, ?2, ?3, ?4, ?5, NULL)').bind(
        `sh_${n}`,
        id,
        'x',
        now,
        now + 60_000,
      ),
    ),
  )
  const answers = await Promise.all(Array.from({ length: 6 }, () => postJson(`/api/v0/job/${id}/share`, {})))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429, 429, 429])
  expect(await list(id)).toHaveLength(100)
  advanceClock(61_000)
  expect((await postJson(`/api/v0/job/${id}/share`, {})).status).toBe(200)
})

test('with BASE_URL, all addresses begin with it, whatever the request says of itself', async () => {
  const { id } = await completed()
  const where = { ...env, BASE_URL: 'https://video.example.com/' } as Env
  const [, made] = await requestWithEnv(where, 'POST', `/api/v0/job/${id}/share`, {}, API_KEY)
  expect(made.url).toMatch(/^https:\/\/video\.example\.com\/s\//)
  expect(made.embed_html).toContain('src="https://video.example.com/s/')
})

test('a share with a password shows nothing without it, and its passwords cannot be tried out', async () => {
  const { id } = await completed()
  const made = await share(id, { title: 'Secret film', password: 'Überraschung' })
  expect(made).toMatchObject({ has_password: true })
  expect(JSON.stringify([made, await list(id)])).not.toMatch(/berraschung/)
  const rows = await env.DB.prepare('SELECT * FROM shares').all()
  expect(JSON.stringify(rows)).not.toMatch(/berraschung/)
  for (const path of ['', '/embed']) {
    const page = await visit(made.url + path)
    expect(page.status).toBe(200)
    expect(await page.text()).not.toMatch(/Secret film|\/o\/|\/p\//)
  }
  const open = (password: unknown, url = made.url) =>
    visit(`${url}/data`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    })
  expect(await errorCode(await visit(`${made.url}/data`))).toBe('401 unauthorized')
  expect(await errorCode(await open('überraschung'))).toBe('401 unauthorized')
  expect(await errorCode(await open(''))).toBe('401 unauthorized')
  expect(await errorCode(await open(7))).toBe('400 invalid_request')
  // The same text in the other normal form of Unicode, as some keyboards send it.
  const opened = await open('Überraschung'.normalize('NFD'))
  expect(await opened.json()).toMatchObject({ title: 'Secret film', sources: [{ kind: 'file' }] })
  expect(opened.headers.get('cache-control')).toBe('no-store')
  // The clock stands: while many passwords are hashed, further ones become allowed.
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  try {
    const tried = await Promise.all(Array.from({ length: 40 }, (_, n) => open(`wrong ${n}`)))
    expect(new Set(tried.map(({ status }) => status))).toEqual(new Set([401, 429]))
    expect(await errorCode(await open('Überraschung'))).toBe('429 rate_limited')
    vi.setSystemTime(Date.now() + 60_000)
    expect((await open('Überraschung')).status).toBe(200)
  } finally {
    vi.useRealTimers()
  }
  // Another share is not affected, and one without a password has none to send.
  const free = await share(id)
  expect(free.has_password).toBe(false)
  expect((await open('anything', free.url)).status).toBe(200)
  const short = await postJson(`/api/v0/job/${id}/share`, { password: 'short' })
  const { error } = await short.json<any>()
  expect([short.status, error.field, error.details[0].value]).toEqual([400, 'password', undefined])
})
