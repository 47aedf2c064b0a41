// In charge of: the task API's answers to source requests of every form.
// Not in charge of: providers (test/worker/storage).
import { exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { BASE_URL, apiRequest, createJob } from '../support/apiClient.ts'
import { startNextAttempt } from '../support/jobFixture.ts'

test('a request without a task token gets a WWW-Authenticate challenge (RFC 9110, 15.5.2)', async () => {
  const refused = await apiRequest('/task/none/input')
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

test.each(['"a"', '"abcde"', '"AAAA"', '"____"'])(
  'If-Match %s, no tag of ours, is another object than this one',
  async (tag) => {
    const upload = await apiRequest('/uploads', { method: 'POST', body: 'hello', headers: { 'content-length': '5' } })
    const { uploaded_file_number: number } = await upload.json<{ uploaded_file_number: number }>()
    await createJob({ input: String(number), cloud_credentials: { input: { cloud_provider: 'file-upload' } } })
    const { run } = await startNextAttempt()
    const ask = (headers: Record<string, string>) =>
      exports.default.fetch(
        new Request(`${BASE_URL}/task/${run.task_id}/input`, {
          headers: { authorization: `Bearer ${run.token}`, ...headers },
        }),
      )
    const refused = await ask({ 'if-match': tag })
    expect([refused.status, await refused.json()]).toMatchObject([412, { error: { code: 'source_changed' } }])
    const etag = (await ask({})).headers.get('etag') ?? ''
    expect(await (await ask({ 'if-match': etag })).text()).toBe('hello')
  },
)
