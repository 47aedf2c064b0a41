// In charge of: `/task/:id/captions/:index`: from where a caption file is read and with which credentials, what is
// refused, and that its address stays secret and cannot be replaced in the database.
// Not in charge of: forbidden addresses, which every request to a server shares (test/worker/storage/ssrf.test.ts).
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { apiRequest, createJob, jobBody, postJson, readJson } from '../support/apiClient.ts'
import { startJob, startNextAttempt } from '../support/jobFixture.ts'

const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n'
let requests: { url: string; authorization: string | null }[]
let respond: (url: URL) => Response

beforeEach(() => {
  requests = []
  respond = () => new Response(SRT)
  const dispatch = globalThis.fetch
  vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    if (!/^(logo|hooks)\b/.test(url.hostname)) return dispatch(input, init)
    requests.push({ url: url.href, authorization: request.headers.get('authorization') })
    return respond(url)
  })
})

const caption = (input: string) => ({ captions: [{ input, language: 'de' }] })
const withKey = {
  input: 'https://hooks.test/film.mp4',
  cloud_credentials: {
    input: { cloud_provider: 'http', access_key: 'someone', secret_key: 'PASSWORD-1' },
    output: { cloud_provider: 'vendor-store' },
  },
}

test('the full address is asked, and no reader of the job sees its query', async () => {
  const { id, attempt } = await startJob(caption('https://logo.test/a.srt?sig=TOPSECRET'))
  const answer = await attempt.taskApi('GET', '/captions/0')
  expect([answer.status, await answer.text()]).toEqual([200, SRT])
  expect(requests).toEqual([{ url: 'https://logo.test/a.srt?sig=TOPSECRET', authorization: null }])
  const shown = await readJson(`/api/v0/job/${id}`)
  expect(shown.config.captions).toEqual([{ input: 'https://logo.test/a.srt?…', language: 'de' }])
  const row = await env.DB.prepare('SELECT config FROM jobs WHERE id = ?').bind(id).first<{ config: string }>()
  expect(row?.config).not.toContain('TOPSECRET')
  expect(await (await attempt.taskApi('GET', '')).text()).not.toContain('TOPSECRET')
})

test.for([
  ['the server of the input', 'https://hooks.test/a.srt', `Basic ${btoa('someone:PASSWORD-1')}`],
  ['another server', 'https://logo.test/a.srt', null],
] as const)('credentials of an http input: %s', async ([, input, authorization]) => {
  const { attempt } = await startJob({ ...withKey, ...caption(input) })
  expect((await attempt.taskApi('GET', '/captions/0')).status).toBe(200)
  expect(requests).toEqual([{ url: input, authorization }])
})

test('an address of the provider of the input is read with its keys', async () => {
  const { attempt } = await startJob({
    input: 's3://films/film.mp4',
    ...caption('s3://films/film.srt'),
    cloud_credentials: {
      input: { cloud_provider: 'aws', access_key: 'AKIA', secret_key: 'x', endpoint: 'https://hooks.test' },
      output: { cloud_provider: 'vendor-store' },
    },
  })
  expect(await (await attempt.taskApi('GET', '/captions/0')).text()).toBe(SRT)
  expect(requests).toEqual([
    { url: 'https://hooks.test/films/film.srt', authorization: expect.stringContaining('AWS4-HMAC-SHA256') },
  ])
})

test('an upload, by its number, path and address; another one is refused when the job is created', async () => {
  const stored = await apiRequest('/uploads', {
    method: 'POST',
    body: SRT,
    headers: { 'content-type': 'application/x-subrip' },
  })
  const { uploaded_file_number: number, input } = await stored.json<any>()
  const forms = [`${number}`, `/uploads/${number}`, input]
  const { id, attempt } = await startJob({ captions: forms.map((form) => ({ input: form, language: 'de' })) })
  for (const index of forms.keys()) expect(await (await attempt.taskApi('GET', `/captions/${index}`)).text()).toBe(SRT)
  const { captions } = (await readJson(`/api/v0/job/${id}`)).config
  expect(captions.map((each: { input: string }) => each.input)).toEqual(forms.map(() => `/uploads/${number}`))
  const answer = await postJson('/api/v0/job', jobBody(caption('/uploads/999999')))
  expect((await answer.json<any>()).error).toMatchObject({ field: 'captions[0].input' })
  expect(requests).toEqual([])
})

const cases: [string, () => Response, number, string][] = [
  ['404', () => new Response(null, { status: 404 }), 422, 'captions_unavailable'],
  ['403', () => new Response(null, { status: 403 }), 422, 'captions_unavailable'],
  ['503', () => new Response(null, { status: 503 }), 502, 'unavailable'],
  [
    'a redirect to a private address',
    () => new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/a' } }),
    422,
    'captions_unavailable',
  ],
  [
    'more than 16 MiB',
    () => new Response(new Blob([new Uint8Array(16 * 1024 * 1024 + 1)]).stream()),
    422,
    'captions_unavailable',
  ],
]
test.for(cases)('%s is reported with the field', async ([, answer, status, code]) => {
  respond = answer
  const { attempt } = await startJob(caption('https://logo.test/a.srt'))
  const response = await attempt.taskApi('GET', '/captions/0')
  expect([response.status, await response.json()]).toMatchObject([
    status,
    { error: { code, field: 'captions[0].input' } },
  ])
  expect(requests).toHaveLength(1)
})

test('a caption that the job does not have is none, and a wrong token gets nothing', async () => {
  const { attempt } = await startJob(caption('https://logo.test/a.srt'))
  expect((await attempt.taskApi('GET', '/captions/1')).status).toBe(422)
  expect((await attempt.taskApi('GET', '/captions/x')).status).toBe(404)
  attempt.run.token = 'x'
  expect((await attempt.taskApi('GET', '/captions/0')).status).toBe(401)
  expect(requests).toEqual([])
})

test('an address that was changed in the row of a job is not asked', async () => {
  const { id, attempt } = await startJob({ ...withKey, ...caption('https://hooks.test/a.srt') })
  await env.DB.prepare(`UPDATE jobs SET config = replace(config, 'hooks.test/a.srt', 'logo.test/thief') WHERE id = ?`)
    .bind(id)
    .run()
  expect((await attempt.taskApi('GET', '/captions/0')).status).toBe(422)
  expect(requests).toEqual([])
})

describe('a retry', () => {
  const secret = { ...withKey, ...caption('https://logo.test/a.srt?sig=TOPSECRET') }
  async function failedJob(): Promise<number> {
    const { id, attempt } = await startJob(secret)
    await attempt.fail('captions_unreadable')
    return id
  }
  test('reads the same address', async () => {
    const answer = await postJson(`/api/v0/job/${await failedJob()}/retry`, {})
    expect(answer.status).toBe(200)
    const attempt = await startNextAttempt()
    expect((await attempt.taskApi('GET', '/captions/0')).status).toBe(200)
    expect(requests.at(-1)?.url).toBe('https://logo.test/a.srt?sig=TOPSECRET')
  })
  test('may bring others', async () => {
    const id = await failedJob()
    const answer = await postJson(`/api/v0/job/${id}/retry`, caption('https://logo.test/b.srt'))
    expect(answer.status, await answer.clone().text()).toBe(200)
    const attempt = await startNextAttempt()
    await attempt.taskApi('GET', '/captions/0')
    expect(requests.at(-1)?.url).toBe('https://logo.test/b.srt')
  })
  test('with credentials alone keeps the sealed address', async () => {
    const { cloud_credentials } = withKey
    const answer = await postJson(`/api/v0/job/${await failedJob()}/retry`, { cloud_credentials })
    expect(answer.status, await answer.clone().text()).toBe(200)
    const attempt = await startNextAttempt()
    await attempt.taskApi('GET', '/captions/0')
    expect(requests.at(-1)?.url).toBe('https://logo.test/a.srt?sig=TOPSECRET')
  })
})

test('a job without captions is stored as before', async () => {
  const shown = await readJson(`/api/v0/job/${await createJob()}`)
  expect(shown.config).not.toHaveProperty('captions')
})
