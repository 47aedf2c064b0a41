// `/task/:id/logo`: which answers of a third-party server are accepted as a logo, and what the transcoder is told about
// the others.
import { beforeEach, expect, test, vi } from 'vitest'
import { apiRequest } from '../support/apiClient.ts'
import { startJob } from '../support/jobFixture.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])
let requests: string[]
let respond: (url: URL) => Response | Promise<Response>

beforeEach(() => {
  requests = []
  const dispatch = globalThis.fetch
  vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
    const url = new URL(new Request(input).url)
    if (!url.hostname.startsWith('logo')) return dispatch(input, init)
    requests.push(url.href)
    return respond(url)
  })
})

test('the full address is asked, with its signature, which no reader of the job sees', async () => {
  respond = () => new Response(PNG, { headers: { 'content-type': 'text/plain' } })
  const { attempt, id } = await startJob({ logo_url: 'https://logo.test/l.png?X-Amz-Signature=SECRETSIGNATURE' })
  const response = await attempt.taskApi('GET', '/logo')
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(PNG)
  expect(requests).toEqual(['https://logo.test/l.png?X-Amz-Signature=SECRETSIGNATURE'])
  expect(await (await apiRequest(`/api/v0/job/${id}`)).text()).not.toContain('SECRETSIGNATURE')
  expect(await (await attempt.taskApi('GET', '')).text()).not.toContain('SECRETSIGNATURE')
})

const cases: [string, () => Response, number, string][] = [
  ['a page', () => new Response('<html>', { headers: { 'content-type': 'image/png' } }), 422, 'logo_unavailable'],
  ['an SVG', () => new Response('<svg/>'), 422, 'logo_unavailable'],
  ['nothing', () => new Response(null), 422, 'logo_unavailable'],
  ['404', () => new Response(null, { status: 404 }), 422, 'logo_unavailable'],
  ['503', () => new Response(null, { status: 503 }), 502, 'unavailable'],
  [
    'a redirect to a private address',
    () => new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/logo' } }),
    422,
    'logo_unavailable',
  ],
  ['more than 5 MB', () => new Response(new Blob([PNG, new Uint8Array(5_000_000)]).stream()), 422, 'logo_unavailable'],
]
test.each(cases)('%s is no logo', async (_title, answer, status, code) => {
  respond = answer
  const { attempt } = await startJob({ logo_url: 'https://logo.test/l.png' })
  const response = await attempt.taskApi('GET', '/logo')
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ error: { code, field: 'logo_url' } })
  expect(requests).toHaveLength(1)
})

test('a job without a logo has none, and a wrong token gets nothing', async () => {
  const { attempt } = await startJob()
  expect((await attempt.taskApi('GET', '/logo')).status).toBe(422)
  attempt.run.token = 'x'
  expect((await attempt.taskApi('GET', '/logo')).status).toBe(401)
})
