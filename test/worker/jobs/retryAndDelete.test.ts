import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { openJobSource, openJobSecrets } from '../../../worker/storage/jobStores.ts'
import { findJobByJobId } from '../../../worker/db/jobs.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import {
  apiRequest,
  jobBody,
  postJson,
  ADMIN_KEY,
  readJson,
  errorCode,
  createKey,
  createJob,
} from '../support/apiClient.ts'
import { advanceClock, resetTranscoders, startNextAttempt, startJob } from '../support/jobFixture.ts'

const HOUR = 3600_000

const read = async (id: number) => readJson(`/api/v0/job/${id}`)
const rowOf = (id: number) => env.DB.prepare('SELECT * FROM jobs WHERE id = ?').bind(id).first<any>()

async function failed(change: Record<string, unknown> = {}): Promise<number> {
  const { id, attempt } = await startJob(change)
  await attempt.fail('source_not_media')
  return id
}

const secretInput = {
  input: 'https://media.test/a.mp4?token=TOPSECRET',
  cloud_credentials: { input: { cloud_provider: 'http', access_key: 'someone', secret_key: 'PASSWORD-1' } },
}

test('a retry is a new job with the same request, whose secrets are sealed under the new id', async () => {
  const id = await failed({ ...secretInput, gop_length: 2 })
  // null is the same as leaving it out.
  const nothing = { cloud_credentials: null, input: null, logo_url: null, webhook_url: null }
  const answer = await postJson(`/api/v0/job/${id}/retry`, nothing)
  expect(answer.status).toBe(200)
  const made = await answer.json<any>()
  expect(made).toMatchObject({ retry_of: id, status: { retry_of: id, state: 'ready' } })
  const next = made._auto_generated_id_
  expect(next).not.toBe(id)
  const [before, after] = [await rowOf(id), await rowOf(next)]
  expect(after.config).toBe(before.config)
  expect(after.sealed).not.toBe(before.sealed)
  // The first job stays as it ended, and the second reads its complete address.
  expect((await read(id)).status).toMatchObject({ state: 'error', retry_of: null })
  const repeated = (await findJobByJobId(env.DB, made.job_id))!
  await expect(openJobSource(env, repeated)).resolves.toBeDefined()
  await expect(openJobSource(env, { ...repeated, sealed: before.sealed })).rejects.toThrow()
  const [listed] = (await readJson('/api/v0/job?limit=1')).jobs
  expect(listed.status.retry_of).toBe(id)
  const attempt = await startNextAttempt()
  expect(attempt.job).toBe(made.job_id)
  await attempt.complete()
  expect((await read(next)).status).toMatchObject({ job_completed: true, error: null, retry_of: id })
})

test('only what failed or was cancelled is repeated, and one Idempotency-Key repeats it once', async () => {
  const waiting = await createJob()
  const early = await postJson(`/api/v0/job/${waiting}/retry`, {})
  expect(await errorCode(early)).toBe('409 job_active')
  await postJson(`/api/v0/job/${waiting}/cancel`, {})
  const headers = { 'idempotency-key': 'again-1' }
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => apiRequest(`/api/v0/job/${waiting}/retry`, { method: 'POST', headers })),
  )
  const texts = new Set(await Promise.all(answers.map((response) => response.text())))
  expect(texts.size).toBe(1)
  const count = env.DB.prepare('SELECT COUNT(*) AS n FROM jobs WHERE retry_of = ?').bind(waiting)
  expect(await count.first('n')).toBe(1)
  // The same key for another request of the account is refused.
  const other = await postJson('/api/v0/job', jobBody(), { headers })
  expect(await errorCode(other)).toBe('409 idempotency_conflict')

  await postJson(`/api/v0/job/${JSON.parse([...texts][0]!)._auto_generated_id_}/cancel`, {})
  resetTranscoders()
  const { id: done, attempt } = await startJob()
  await attempt.complete()
  const late = await postJson(`/api/v0/job/${done}/retry`, {})
  expect(await errorCode(late)).toBe('409 job_finished')
})

test('a retry without a body, or with an empty one of unknown length, repeats the job as it was', async () => {
  for (const body of [undefined, '', new Blob([]).stream()]) {
    const id = await failed()
    const answer = await apiRequest(`/api/v0/job/${id}/retry`, {
      method: 'POST',
      ...(body === undefined ? {} : { body }),
    })
    expect(answer.status, await answer.clone().text()).toBe(200)
    const made = await answer.json<any>()
    expect(made.retry_of).toBe(id)
    await postJson(`/api/v0/job/${made._auto_generated_id_}/cancel`, {})
  }
})

test('72 hours after the end a retry needs its credentials anew', async () => {
  const id = await failed(secretInput)
  advanceClock(73 * HOUR)
  await reconcile(env, Infinity)
  const { cloud_credentials, input } = secretInput
  const refused = await postJson(`/api/v0/job/${id}/retry`, {})
  expect([refused.status, (await refused.json<any>()).error]).toMatchObject([409, { code: 'credentials_expired' }])
  // The complete address was encrypted too.
  const half = await postJson(`/api/v0/job/${id}/retry`, { cloud_credentials })
  expect((await half.json<any>()).error).toMatchObject({ code: 'credentials_expired', field: 'input' })
  const answer = await postJson(`/api/v0/job/${id}/retry`, { cloud_credentials, input })
  expect(answer.status).toBe(200)
  expect(JSON.stringify(await answer.json())).not.toMatch(/TOPSECRET|PASSWORD/)
  for (const body of [{ cloud_credentials: 'x' }, { gop_length: 2 }, { cloud_credentials: { input: {} }, input }, []]) {
    expect((await postJson(`/api/v0/job/${id}/retry`, body)).status, JSON.stringify(body)).toBe(400)
  }
})

test('72 hours after the end a retry uses the webhook address of the key again, if the first job did', async () => {
  const HOOK = 'https://hooks.test/in?token=HOOKSECRET'
  const admin = { key: ADMIN_KEY }
  const { id: keyId, key } = await createKey({ account: 'default', webhook_url: HOOK })
  const ended = async (change: Record<string, unknown>): Promise<number> => {
    const id = await createJob(change, { key })
    expect((await postJson(`/api/v0/job/${id}/cancel`, {}, { key })).status).toBe(200)
    return id
  }
  const again = async (id: number): Promise<[number, any]> => {
    const answer = await postJson(
      `/api/v0/job/${id}/retry`,
      { cloud_credentials: jobBody()['cloud_credentials'] },
      { key },
    )
    return [answer.status, await answer.json<any>()]
  }
  const ofKey = await ended({})
  const own = await ended({ webhook_url: 'https://hooks.test/in?token=OWN' })
  // A retry before the secrets are deleted keeps the webhook address and its origin.
  const early = await (await postJson(`/api/v0/job/${ofKey}/retry`, {}, { key })).json<any>()
  await postJson(`/api/v0/job/${early._auto_generated_id_}/cancel`, {}, { key })
  advanceClock(73 * HOUR)
  await reconcile(env, Infinity)
  for (const id of [ofKey, early._auto_generated_id_]) {
    const [status, made] = await again(id)
    expect([status, made.warnings]).toEqual([200, []])
    const row = await rowOf(made._auto_generated_id_)
    expect(JSON.parse(row.config).webhook_url).toBe('https://hooks.test/in?…')
    expect((await openJobSecrets(env, (await findJobByJobId(env.DB, row.job_id))!)).addresses.webhook_url).toBe(HOOK)
    await postJson(`/api/v0/job/${made._auto_generated_id_}/cancel`, {}, { key })
  }
  // Looks the same but is another address: only the caller has the full one.
  const [refused, { error }] = await again(own)
  expect([refused, error.code, error.field]).toEqual([409, 'credentials_expired', 'webhook_url'])
  // The key has no webhook address any more: the retry does not ask for one that the client never sent.
  await apiRequest(`/api/v0/keys/${keyId}`, {
    ...admin,
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ webhook_url: null }),
  })
  advanceClock(2 * 60_000)
  const [status, made] = await again(ofKey)
  expect([status, made.warnings]).toMatchObject([200, [{ code: 'webhook_left_out', field: 'webhook_url' }]])
})

test('a retry that is sent again after its credentials were deleted gets its first answer (I10)', async () => {
  const id = await failed(secretInput)
  advanceClock(71 * HOUR)
  const headers = { 'idempotency-key': 'kept-1' }
  const first = await postJson(`/api/v0/job/${id}/retry`, {}, { headers })
  expect(first.status).toBe(200)
  advanceClock(2 * HOUR)
  await reconcile(env, Infinity)
  expect((await rowOf(id)).sealed).toBeNull()
  const again = await postJson(`/api/v0/job/${id}/retry`, {}, { headers })
  expect([again.status, await again.text()]).toEqual([200, await first.text()])
  // Another request with that key, and the same one without it, are validated against the current state.
  const other = await postJson(`/api/v0/job/${id}/retry`, { webhook_url: '' }, { headers })
  expect(await errorCode(other)).toBe('409 idempotency_conflict')
  expect((await postJson(`/api/v0/job/${id}/retry`, {})).status).toBe(409)
})

test('a job that is sent again after its upload was deleted gets its first answer (I10)', async () => {
  const stored = await apiRequest('/uploads', { method: 'POST', body: 'film' })
  const { uploaded_file_number: number } = await stored.json<any>()
  const body = jobBody({
    input: String(number),
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  })
  const headers = { 'idempotency-key': 'upload-1' }
  const first = await postJson('/api/v0/job', body, { headers })
  expect(first.status).toBe(200)
  expect((await apiRequest(`/uploads/${number}`, { method: 'DELETE' })).status).toBe(204)
  const again = await postJson('/api/v0/job', body, { headers })
  expect([again.status, await again.text()]).toEqual([200, await first.text()])
  expect((await postJson('/api/v0/job', body)).status).toBe(400)
})

test('deleting a job removes record, secrets and objects of the service store; an active job is not deleted', async () => {
  const id = await createJob()
  const early = await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })
  expect(await errorCode(early)).toBe('409 job_active')
  const attempt = await startNextAttempt()
  await attempt.complete()
  const keep = `out/default/${attempt.job}0/film.mp4`
  await env.BUCKET.put(keep, 'of another job')
  expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
  for (const [path, method] of [
    ['', 'GET'],
    ['', 'DELETE'],
    ['/retry', 'POST'],
    ['/cancel', 'POST'],
    ['/events', 'GET'],
  ] as const) {
    expect((await apiRequest(`/api/v0/job/${id}${path}`, { method })).status, path).toBe(404)
  }
  advanceClock(HOUR)
  await reconcile(env, Infinity)
  await vi.waitUntil(async () => (await rowOf(id)) === null, { timeout: STEP_TIMEOUT_MS, interval: 20 })
  expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM tasks WHERE job = ?').bind(id).first('n')).toBe(0)
  expect((await env.BUCKET.list({ prefix: `out/default/${attempt.job}/` })).objects).toEqual([])
  expect(await env.BUCKET.head(keep)).not.toBeNull()
})

test('an interrupted deletion is completed by the reconciler', async () => {
  const id = await failed()
  const { job_id } = await rowOf(id)
  await Promise.all([1, 2, 3].map((n) => env.BUCKET.put(`out/default/${job_id}/${n}`, 'x')))
  vi.spyOn(env.BUCKET, 'delete').mockRejectedValue(new Error('We are unable to do that. (10001)'))
  expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await apiRequest(`/api/v0/job/${id}`)).status).toBe(404)
  vi.restoreAllMocks()
  expect(await rowOf(id)).not.toBeNull()
  advanceClock(26 * HOUR)
  await reconcile(env, Infinity)
  expect(await rowOf(id)).toBeNull()
  expect((await env.BUCKET.list({ prefix: `out/default/${job_id}/` })).objects).toEqual([])
})

test('another account can neither retry, delete nor follow a job (I16)', async () => {
  const id = await failed()
  const { key } = await createKey()
  for (const [path, method] of [
    ['', 'DELETE'],
    ['/retry', 'POST'],
    ['/events', 'GET'],
  ] as const) {
    const foreign = await apiRequest(`/api/v0/job/${id}${path}`, { method, key })
    const missing = await apiRequest(`/api/v0/job/999999${path}`, { method, key })
    expect([foreign.status, await foreign.text()]).toEqual([404, await missing.text()])
  }
  expect((await rowOf(id)).deleted_at).toBeNull()
})

test('a commit that can never be carried out ends the job after its deadline, not never (I1)', async () => {
  const { id, attempt } = await startJob()
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  vi.spyOn(env.BUCKET, 'get').mockRejectedValue(new Error('not today'))
  await attempt.finish([object])
  expect((await read(id)).status).toMatchObject({ phase: 'committing', job_completed: false })
  advanceClock(26 * HOUR)
  await attempt.alarm()
  expect((await read(id)).status).toMatchObject({ state: 'error', error: { code: 'deadline_exceeded' } })
})
