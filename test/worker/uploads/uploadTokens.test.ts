// In charge of: upload tokens: what they permit and what not, for how many files and bytes, until when, and which key's
// end revokes them; each limit is attacked.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hmacSign } from '../../../worker/secrets/hmac.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, jobBody, postJson, ADMIN_KEY, readJson, createKey, errorCode } from '../support/apiClient.ts'

const BYTES = 'visitor’s bytes'
const LENGTH = new TextEncoder().encode(BYTES).length

beforeEach(async () => {
  await env.DB.batch(
    ['slots', 'jobs', 'uploads', 'upload_tokens'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  )
})
afterEach(async () => {
  vi.useRealTimers()
  const { objects: left } = await env.BUCKET.list({ prefix: 'uploads/' })
  await env.BUCKET.delete(left.map(({ key }) => key))
})

const issue = (limits: Record<string, unknown> = {}, key?: string) =>
  postJson('/api/v0/uploads/tokens', limits, key === undefined ? {} : { key })
async function issued(
  limits: Record<string, unknown> = {},
  key?: string,
): Promise<{ token: string; token_id: string }> {
  const answer = await issue(limits, key)
  expect(answer.status).toBe(201)
  return answer.json()
}

const as = (token: string, headers: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...headers })
const raw = (token: string, body: string = BYTES) =>
  apiRequest('/uploads?name=holiday.mp4', {
    method: 'POST',
    body,
    headers: as(token, { 'content-length': String(new TextEncoder().encode(body).length) }),
  })
const tus = { 'tus-resumable': '1.0.0' }
const begin = (token: string, length: number) =>
  apiRequest('/uploads', { method: 'POST', headers: as(token, { ...tus, 'upload-length': String(length) }) })
const chunk = (token: string, number: number, body: string, offset = 0) =>
  apiRequest(`/uploads/${number}`, {
    method: 'PATCH',
    body,
    headers: as(token, { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' }),
  })
function form(token: string, bytes: string, padding = ''): Promise<Response> {
  const part = (name: string, text: string, type = '') =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${type}\r\n\r\n${text}\r\n`
  const body = `${part('note', padding)}${part('file', bytes, '; filename="a.mp4"')}--b--\r\n`
  const headers = as(token, {
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': String(new TextEncoder().encode(body).length),
  })
  return apiRequest('/uploads', { method: 'POST', body, headers })
}
const numberOf = async (answer: Response): Promise<number> => (await answer.json<any>()).uploaded_file_number
const uploads = async (query = '') => (await readJson(`/uploads?${query}`)).uploads
const objects = async () => (await env.BUCKET.list({ prefix: 'uploads/' })).objects.length
const filesOf = (id: string) => env.DB.prepare('SELECT files FROM upload_tokens WHERE id = ?').bind(id).first('files')

test('a token is issued with its limits, and is not stored', async () => {
  const answer = await issue({ max_bytes: 1000, max_files: 3, expires_in_seconds: 600, name: 'visitor 4711' })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const made = await answer.json<any>()
  expect(made).toEqual({
    token_id: expect.stringMatching(/^ut_[\w-]{12}$/),
    token: expect.stringMatching(new RegExp(`^${made.token_id}\\.\\d{13}\\.[\\w-]{43}$`)),
    upload_url: 'https://service.test/uploads',
    name: 'visitor 4711',
    max_bytes: 1000,
    max_files: 3,
    expires_at: expect.any(String),
  })
  const left = Date.parse(made.expires_at) - Date.now()
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(600_000)
  const rows = JSON.stringify((await env.DB.prepare('SELECT * FROM upload_tokens').all()).results)
  expect(rows).not.toContain(made.token.split('.')[2])
  const plain = await readJson('/api/v0/uploads/tokens', { method: 'POST' })
  expect(plain).toMatchObject({ max_bytes: 100_000_000_000, max_files: 1, name: '' })
})

test('limits that are none are refused, all at once', async () => {
  const answer = await issue({ max_bytes: 0, max_files: 1.5, expires_in_seconds: 86_401, name: 'a\nb', other: 1 })
  expect(answer.status).toBe(400)
  const { details } = (await answer.json<any>()).error
  expect(details.map(({ field }: any) => field).toSorted()).toEqual([
    'expires_in_seconds',
    'max_bytes',
    'max_files',
    'name',
    'other',
  ])
  expect((await issue([] as any)).status).toBe(400)
  expect(await errorCode(await issue({}, ADMIN_KEY))).toBe('403 forbidden')
})

test('it uploads from any origin: raw, as a form and by tus; the files are the account’s, listed by their token', async () => {
  const { token, token_id } = await issued({ max_files: 3, name: 'visitor' })
  const preflight = await apiRequest('/uploads', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://visitor.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,tus-resumable,upload-length',
    },
  })
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization')
  const numbers = [await numberOf(await raw(token)), await numberOf(await form(token, BYTES))]
  const begun = await begin(token, LENGTH)
  expect(begun.headers.get('access-control-allow-origin')).toBe('*')
  const third = await numberOf(begun)
  expect((await chunk(token, third, BYTES.slice(0, 4))).status).toBe(204)
  const uploadState = await apiRequest(`/uploads/${third}`, { method: 'HEAD', headers: as(token, tus) })
  expect(uploadState.headers.get('upload-offset')).toBe('4')
  expect((await chunk(token, third, BYTES.slice(4), 4)).status).toBe(204)
  const listed = await uploads(`token=${token_id}`)
  expect(listed.map((each: any) => [each.uploaded_file_number, each.state, each.token])).toEqual(
    [third, ...numbers.toReversed()].map((number) => [number, 'ready', { token_id, name: 'visitor' }]),
  )
  expect(await uploads('token=ut_AAAAAAAAAAAA')).toEqual([])
  expect((await apiRequest('/uploads?token=x')).status).toBe(400)
  expect(await (await apiRequest(`/uploads/${third}`)).text()).toBe(BYTES)
  const input = { input: String(third), cloud_credentials: { input: { cloud_provider: 'file-upload' } } }
  expect((await postJson('/api/v0/job', jobBody(input))).status).toBe(200)
  // Only within the account.
  const { key } = await createKey()
  expect((await readJson(`/uploads?token=${token_id}`, { key })).uploads).toEqual([])
})

test('nothing else: no reading, no lists, no jobs, no tokens, by no method and no override', async () => {
  const { token, token_id } = await issued({ max_files: 2 })
  const number = await numberOf(await raw(token))
  const asks: [string, string, Record<string, string>?][] = [
    ['GET', '/uploads'],
    ['GET', `/uploads?token=${token_id}`],
    ['GET', `/uploads/${number}`],
    ['HEAD', `/uploads/${number}`],
    ['GET', `/uploads/${number}`, tus],
    ['GET', '/uploads', { ...tus, 'x-http-method-override': 'PATCH' }],
    ['GET', `/uploads/${number}`, { 'x-http-method-override': 'HEAD' }],
    ['GET', `/uploads/${number}`, { 'x-http-method-override': 'PATCH' }],
    ['GET', '/uploads', { 'x-http-method-override': 'POST' }],
    ['POST', `/uploads/${number}`],
    ['POST', `/uploads/${number}`, { ...tus, 'x-http-method-override': 'GET' }],
  ]
  for (const [method, path, headers = {}] of asks) {
    const answer = await apiRequest(path, { method, headers: as(token, headers) })
    const text = await answer.text()
    const what = `${method} ${path} ${JSON.stringify(headers)}`
    expect([400, 403, 404, 405, 412, 415], what).toContain(answer.status)
    expect(text, what).not.toContain(BYTES)
    expect(text, what).not.toContain('holiday.mp4')
  }
  const others = [
    '/api/v0/job',
    '/api/v0/presets',
    '/api/v0/keys',
    '/api/v0/webhooks/secret',
    '/metrics',
    `/api/v0/job/1`,
  ]
  for (const path of others)
    expect(await errorCode(await apiRequest(path, { headers: as(token) })), path).toBe('401 unauthorized')
  for (const path of ['/api/v0/job', '/api/v0/uploads/tokens', '/api/v0/presets'])
    expect(await errorCode(await postJson(path, jobBody(), { headers: as(token) })), path).toBe('401 unauthorized')
  expect(
    (await apiRequest(`/api/v0/uploads/tokens/${token_id}`, { method: 'DELETE', headers: as(token) })).status,
  ).toBe(401)
  // It does not work as the user name of Basic authentication either.
  expect((await apiRequest('/uploads', { key: token })).status).toBe(401)
})

test('uploads of others are not there: of a key, of another token, of another account', async () => {
  const { token } = await issued({ max_files: 5 })
  const { token: second } = await issued({ max_files: 5 })
  const { key } = await createKey()
  const { token: foreign } = await issued({ max_files: 5 }, key)
  const byKey = await apiRequest('/uploads', { method: 'POST', headers: { ...tus, 'upload-length': '9' } })
  const numbers = [await numberOf(byKey)]
  for (const other of [second, foreign])
    numbers.push(await numberOf(await begin(other, 9)), await numberOf(await raw(other)))
  for (const number of numbers) {
    expect((await chunk(token, number, 'x')).status).toBe(404)
    expect((await apiRequest(`/uploads/${number}`, { method: 'HEAD', headers: as(token, tus) })).status).toBe(404)
    for (const headers of [as(token), as(token, tus)])
      expect((await apiRequest(`/uploads/${number}`, { method: 'DELETE', headers })).status).toBe(404)
    for (const odd of [`%3${String(number)[0]}`, `${number}/`, `0${number}`, `${number}.0`, `1/../${number}`])
      expect(
        (await apiRequest(`/uploads/${odd}`, { method: 'DELETE', headers: as(token) })).status,
        odd,
      ).toBeGreaterThanOrEqual(400)
  }
  expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM uploads').first('n')).toBe(5)
  // Its own upload can be deleted.
  const own = await numberOf(await begin(token, 9))
  expect((await apiRequest(`/uploads/${own}`, { method: 'DELETE', headers: as(token, tus) })).status).toBe(204)
})

test('forged and altered tokens are refused', async () => {
  const { token, token_id } = await issued()
  const [id, expiry, signature] = token.split('.') as [string, string, string]
  const later = String(Number(expiry) + 1)
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  const ofAnotherLabel = await hmacSign(env, 'api-key', `${id}|${expiry}`)
  const forged = [
    `${id}.${expiry}.${flipped}`,
    `${id}.${later}.${signature}`,
    `ut_AAAAAAAAAAAA.${expiry}.${signature}`,
    `${id}.${expiry}.${ofAnotherLabel}`,
    `${id}.${expiry}`,
    token_id,
    `${token}A`,
    `${token}.${token}`,
    'x'.repeat(5000),
    '',
  ]
  for (const each of forged) expect(await errorCode(await raw(each)), each.slice(0, 80)).toBe('401 unauthorized')
  // Correctly signed, but for a token that was never issued.
  const none = `ut_AAAAAAAAAAAA|${expiry}`
  const neverIssued = `ut_AAAAAAAAAAAA.${expiry}.${await hmacSign(env, 'upload token', none)}`
  expect(await errorCode(await raw(neverIssued))).toBe('401 unauthorized')
  expect(await objects()).toBe(0)
  expect((await raw(token)).status).toBe(201)
})

test('after its expiry it does nothing, not even for uploads it began; the reconciler deletes it and keeps the files', async () => {
  const { token, token_id } = await issued({ max_files: 3, expires_in_seconds: 60 })
  const done = await numberOf(await raw(token))
  const open = await numberOf(await begin(token, 9))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  expect(await errorCode(await raw(token))).toBe('401 unauthorized')
  expect(await errorCode(await chunk(token, open, 'x'))).toBe('401 unauthorized')
  expect((await apiRequest(`/uploads/${open}`, { method: 'DELETE', headers: as(token, tus) })).status).toBe(401)
  await reconcile(env, Infinity)
  expect(await filesOf(token_id)).toBeNull()
  expect((await uploads(`token=${token_id}`)).map((each: any) => each.uploaded_file_number)).toEqual([open, done])
  // An API key can continue it.
  const headers = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
  expect((await apiRequest(`/uploads/${open}`, { method: 'PATCH', body: 'x', headers })).status).toBe(204)
})

test('no file is larger than max_bytes, whatever its length says', async () => {
  const { token, token_id } = await issued({ max_bytes: LENGTH, max_files: 100 })
  const more = `${BYTES}!`
  expect(await errorCode(await raw(token, more))).toBe('413 too_large')
  expect(await errorCode(await begin(token, LENGTH + 1))).toBe('413 too_large')
  expect(await errorCode(await form(token, more))).toBe('413 too_large')
  expect(await errorCode(await form(token, BYTES, 'x'.repeat(200_000)))).toBe('413 too_large')
  // A wrong length: shorter than the body, missing, and by tus.
  const short = await apiRequest('/uploads', {
    method: 'POST',
    body: more,
    headers: as(token, { 'content-length': String(LENGTH) }),
  })
  expect(short.status).toBeGreaterThanOrEqual(400)
  const bytes = new TextEncoder().encode(more)
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
  const chunked = await apiRequest('/uploads', { method: 'POST', body: stream, headers: as(token) })
  expect(await errorCode(chunked)).toBe('411 length_required')
  const open = await numberOf(await begin(token, LENGTH))
  expect(await errorCode(await chunk(token, open, more))).toBe('413 too_large')
  expect((await chunk(token, open, BYTES)).status).toBe(204)
  expect(await errorCode(await chunk(token, open, '!', LENGTH))).toBe('413 too_large')
  expect((await form(token, BYTES, 'x'.repeat(1000))).status).toBe(201)
  const sizes = (await uploads(`token=${token_id}`)).map((each: any) => each.size)
  expect(sizes).toEqual([LENGTH, LENGTH])
  expect(await objects()).toBe(2)
  expect(await filesOf(token_id)).toBe(2)
})

test('of many that race for the last file one gets it; what failed or was given up is given back, what was stored is not', async () => {
  const { token, token_id } = await issued({ max_files: 2 })
  const raced = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? raw(token) : begin(token, 9))))
  expect(raced.filter(({ status }) => status === 201)).toHaveLength(2)
  for (const each of raced.filter(({ status }) => status !== 201))
    expect(await errorCode(each)).toBe('429 quota_exceeded')
  expect(await filesOf(token_id)).toBe(2)
  // From here on with another token: one file is begun, aborted, begun again, stored, deleted.
  const one = await issued()
  const first = await numberOf(await begin(one.token, 9))
  expect((await raw(one.token)).status).toBe(429)
  await apiRequest(`/uploads/${first}`, { method: 'DELETE', headers: as(one.token, tus) })
  expect(await filesOf(one.token_id)).toBe(0)
  expect(await errorCode(await form(one.token, ''))).toBe('400 invalid_request')
  expect(await filesOf(one.token_id)).toBe(0)
  const stored = await numberOf(await raw(one.token))
  expect((await apiRequest(`/uploads/${stored}`, { method: 'DELETE', headers: as(one.token) })).status).toBe(204)
  expect(await filesOf(one.token_id)).toBe(1)
  expect((await raw(one.token)).status).toBe(429)
})

test('it counts against the quotas of its account and its key', async () => {
  const { key } = await createKey({ max_stored_upload_bytes: LENGTH + 5 })
  const { token } = await issued({ max_files: 9 }, key)
  expect((await raw(token)).status).toBe(201)
  const answer = await raw(token)
  expect(answer.status).toBe(429)
  expect((await answer.json<any>()).error).toMatchObject({ code: 'quota_exceeded', details: { scope: 'key' } })
})

test('has its own rate limit, equal to that of its key', async () => {
  const { key } = await createKey({ requests_per_minute: 3 })
  const { token } = await issued({ max_files: 9 }, key)
  const answers = [await raw(token), await raw(token), await raw(token), await raw(token)]
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429])
  // The key itself is unaffected.
  expect((await apiRequest('/uploads', { key })).status).toBe(200)
})

test('it ends with its key, at once: revoked or replaced; a revoked key issues none', async () => {
  for (const end of ['revoke', 'rotate'] as const) {
    const { key, id } = await createKey()
    const { token } = await issued({ max_files: 9 }, key)
    const open = await numberOf(await begin(token, 9))
    if (end === 'revoke') await apiRequest(`/api/v0/keys/${id}`, { method: 'DELETE', key: ADMIN_KEY })
    else await postJson(`/api/v0/keys/${id}/rotate`, {}, { key: ADMIN_KEY })
    expect(await errorCode(await raw(token)), end).toBe('401 unauthorized')
    expect(await errorCode(await chunk(token, open, 'x')), end).toBe('401 unauthorized')
    // This isolate still caches the key as valid; the SQL statement checks it.
    expect(await errorCode(await issue({}, key)), end).toBe('401 unauthorized')
  }
})

test('a token of the configured key ends when another key is configured', async () => {
  const { token } = await issued({ max_files: 9 })
  await env.DB.prepare(`UPDATE upload_tokens SET key_hash = ?`).bind('A'.repeat(43)).run()
  expect(await errorCode(await raw(token))).toBe('401 unauthorized')
})

test('it is revoked by its id, by its account alone', async () => {
  const { token, token_id } = await issued()
  const { key } = await createKey()
  const revoke = (asker?: string) =>
    apiRequest(`/api/v0/uploads/tokens/${token_id}`, {
      method: 'DELETE',
      ...(asker === undefined ? {} : { key: asker }),
    })
  expect((await revoke(key)).status).toBe(404)
  expect((await revoke()).status).toBe(204)
  expect((await revoke()).status).toBe(404)
  expect(await errorCode(await raw(token))).toBe('401 unauthorized')
})

test('an account has only so many at a time, also of those that are asked for at once', async () => {
  const fill = `INSERT INTO upload_tokens (id, account, key_id, name, max_bytes, max_files, created_at, expires_at)
    WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?)
    SELECT 'ut_' || value, 'default', 'k', '', 1, 1, 0, 9e15 FROM n`
  await env.DB.prepare(fill).bind(9998).run()
  const answers = await Promise.all(Array.from({ length: 5 }, () => issue()))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
  expect(await errorCode(answers.find(({ status }) => status === 429)!)).toBe('429 quota_exceeded')
})
