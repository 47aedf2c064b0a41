// In charge of: an attacker who can write to the database cannot have a job's credentials sent to another address: each
// kind of address is changed in a job's row, and the requests to the other host are checked.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { findJobByJobId } from '../../../worker/db/jobs.ts'
import { webhookAddress } from '../../../worker/webhooks/webhookDelivery.ts'
import { postJson, readJson } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startJob } from '../support/jobFixture.ts'

/** Both may be reached; the client named the first. */
const NAMED = 'logo.test'
const THIEF = 'hooks.test'
const SECRET = 'VICTIM-SECRET-77'

let requests: { host: string; authorization: string | null }[]

beforeEach(() => {
  requests = []
  const dispatch = globalThis.fetch
  vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
    const request = new Request(input, init)
    const { hostname: host } = new URL(request.url)
    if (host.startsWith('transcoder')) return dispatch(input, init)
    requests.push({ host, authorization: request.headers.get('authorization') })
    await request.body?.cancel().catch(() => undefined)
    return new Response('film', { headers: { 'content-length': '4', etag: '"1"' } })
  })
})

const http = { cloud_provider: 'http', access_key: 'victim', secret_key: SECRET }
const aws = { cloud_provider: 'aws', access_key: 'AKIAVICTIM', secret_key: SECRET, endpoint: `https://${NAMED}` }

/** A job with credentials for its source. */
const sealed = {
  input: `https://${NAMED}/film.mp4`,
  cloud_credentials: { input: http, output: { cloud_provider: 'vendor-store' } },
}

/** A single UPDATE statement, as in the security finding. */
async function change(id: number, from: string, to: string): Promise<void> {
  const row = await env.DB.prepare('UPDATE jobs SET config = replace(config, ?2, ?3) WHERE id = ?1 RETURNING config')
    .bind(id, from, to)
    .first<{ config: string }>()
  expect(row?.config).toContain(to)
}

/** The answer to the transcoder, and the job after the transcoder has reported it. */
async function reported(id: number, attempt: FakeAttempt, answer: Response): Promise<unknown> {
  const { error } = await answer.json<any>()
  await attempt.fail(error.code, error)
  return [answer.status, error.code, error.message, (await readStatus(id)).state]
}

const refused = [
  403,
  'credentials_invalid',
  expect.stringContaining('differ from those that its credentials were given for'),
  'error',
]

describe('an address that was changed in the row of a job', () => {
  test('is not asked for the source: the job ends with the reason', async () => {
    const { id, attempt } = await startJob(sealed)
    await change(id, `https://${NAMED}/film.mp4`, `https://${THIEF}/thief`)
    expect(await reported(id, attempt, await attempt.taskApi('GET', '/input'))).toEqual(refused)
    expect(requests).toEqual([])
    const { error } = await readStatus(id)
    expect(error).toMatchObject({ code: 'credentials_invalid', field: 'cloud_credentials.input' })
  })

  test('untouched, the same source is asked with its credentials', async () => {
    const { attempt } = await startJob(sealed)
    expect(await (await attempt.taskApi('GET', '/input')).text()).toBe('film')
    expect(requests).toEqual([{ host: NAMED, authorization: `Basic ${btoa(`victim:${SECRET}`)}` }])
  })

  test.each<[string, string, string, string]>([
    ['the provider', '"cloud_provider":"aws"', '"cloud_provider":"http"', ''],
    ['the bucket', 's3://films', 's3://other', ''],
    ['the directory', 's3://films/june', 's3://films/july', ''],
    ['the host of an http server', `https://${NAMED}/out`, `https://${THIEF}/out`, 'http'],
  ])('is not written to: %s', async (_, from, to, provider) => {
    const directory = provider === 'http' ? `https://${NAMED}/out` : 's3://films/june'
    const output = provider === 'http' ? http : aws
    const { id, attempt } = await startJob({
      input: `https://${NAMED}/film.mp4`,
      bucket_output_path: directory,
      cloud_credentials: { input: { cloud_provider: 'http' }, output },
    })
    await change(id, from, to)
    const begin = { path: 'june/film.mp4', content_type: 'video/mp4', expected_size: 5 }
    expect(await reported(id, attempt, await attempt.taskApi('POST', '/uploads', begin))).toEqual(refused)
    expect(requests).toEqual([])
  })

  test.each<[string, Record<string, unknown>]>([
    ['in clear', { webhook_url: `https://${NAMED}/in` }],
    ['with a sealed query', { webhook_url: `https://${NAMED}/in?token=SEALED` }],
  ])('receives no webhook: %s', async (_, change_) => {
    const { id, attempt } = await startJob(change_)
    const row = (await findJobByJobId(env.DB, attempt.job))!
    expect(await webhookAddress(env, row)).toBe(change_['webhook_url'])
    await change(id, `https://${NAMED}/in`, `https://${THIEF}/in`)
    await postJson(`/api/v0/job/${id}/cancel`, {})
    const webhookScheduler = env.COURIER.get(env.COURIER.idFromName(attempt.job))
    advanceClock(60_000)
    await runDurableObjectAlarm(webhookScheduler)
    expect(requests).toEqual([])
    const { deliveries } = await readJson(`/api/v0/job/${id}/webhooks`)
    expect(deliveries[0].attempts[0].error).toContain('differ from those that its credentials were given for')
  })

  test('is not repeated', async () => {
    const { id, attempt } = await startJob(sealed)
    await attempt.fail('source_not_media')
    await change(id, NAMED, THIEF)
    const answer = await postJson(`/api/v0/job/${id}/retry`, {})
    expect([answer.status, (await answer.json<any>()).error]).toMatchObject([
      409,
      { code: 'credentials_expired', field: 'cloud_credentials', message: expect.stringContaining('Create a new job') },
    ])
    expect(requests).toEqual([])
  })
})
