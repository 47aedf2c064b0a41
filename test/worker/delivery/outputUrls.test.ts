// In charge of: `status.outputs[].url` of outputs in customers' stores: an address that the store accepts, or null.
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { FakeS3 } from '../../fakes/s3.ts'
import { apiRequest, jobBody, postJson } from '../support/apiClient.ts'

const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'canary/secret+KEY/of/the/store/EXAMPLEKEY' }
const REGION = 'eu-west-1'
const aws = { cloud_provider: 'aws', access_key: keys.accessKey, secret_key: keys.secretKey, region: REGION }
const bytes = new TextEncoder().encode('not really a film')
let fake: FakeS3
beforeEach(() => {
  fake = new FakeS3({ accounts: [keys], buckets: ['films', 'sound'], region: REGION })
})

const audioProfiles = [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }]
const toS3 = (output: object = aws): Record<string, unknown> =>
  jobBody({
    audioProfiles,
    bucket_output_path: 's3://films/2026',
    audio_output_path: 's3://sound',
    cloud_credentials: { input: { cloud_provider: 'http' }, output },
  })

const stored = (path: string, location: string, role = 'media') => ({
  path,
  location,
  role,
  size: bytes.length,
  sha256: '0'.repeat(64),
  etag: '"x"',
  content_type: 'video/mp4',
  profile: 0,
})
const FILM = stored('2026/film.mp4', 's3://films/2026/film.mp4')
const AUDIO = stored('@sound/a_audio_0.m4a', 's3://sound/a_audio_0.m4a')

/** An ended job with these outputs, inserted without running it. */
async function ended(body: unknown, outputs: readonly object[]): Promise<number> {
  const created = await postJson('/api/v0/job', body)
  expect(created.status).toBe(200)
  const { _auto_generated_id_: id } = await created.json<any>()
  const now = Date.now()
  await env.DB.prepare(`UPDATE jobs SET state = 'completed', outputs = ?2, finished_at = ?3 WHERE id = ?1`)
    .bind(id, JSON.stringify(outputs), now)
    .run()
  return id
}

const outputsOf = async (path: string): Promise<any[]> => {
  const answer = await apiRequest(path)
  const text = await answer.text()
  expect(text).not.toContain('canary')
  const { status, jobs } = JSON.parse(text)
  return (status ?? jobs[0].status).outputs
}

test('outputs in two buckets have addresses that the store accepts, and that show no secret', async () => {
  fake.put('films/2026/film.mp4', bytes, 'video/mp4')
  fake.put('sound/a_audio_0.m4a', bytes, 'audio/mp4')
  const id = await ended(toS3(), [FILM, AUDIO])
  const outputs = await outputsOf(`/api/v0/job/${id}`)
  expect(outputs.map(({ location }) => location)).toEqual(['s3://films/2026/film.mp4', 's3://sound/a_audio_0.m4a'])
  for (const { url } of outputs) {
    const answer = await fake.fetch(url)
    expect([answer.status, await answer.text()]).toEqual([200, 'not really a film'])
  }
  // Stable between reads, so that a page does not load it again.
  expect((await outputsOf(`/api/v0/job/${id}`)).map(({ url }) => new URL(url).pathname)).toEqual([
    '/2026/film.mp4',
    '/a_audio_0.m4a',
  ])
})

test('in lists there is none: nothing is unsealed for them', async () => {
  await ended(toS3(), [FILM])
  expect((await outputsOf('/api/v0/job?limit=1'))[0]).toMatchObject({ url: null, location: FILM.location })
})

test('without the credentials there is none', async () => {
  const id = await ended(toS3(), [FILM])
  await env.DB.prepare('UPDATE jobs SET sealed = NULL WHERE id = ?1').bind(id).run()
  expect(await outputsOf(`/api/v0/job/${id}`)).toMatchObject([{ url: null, location: FILM.location }])
})

test('temporary credentials have none: their token would be in it', async () => {
  const id = await ended(toS3({ ...aws, session_token: 'canary-token' }), [FILM])
  expect(await outputsOf(`/api/v0/job/${id}`)).toMatchObject([{ url: null }])
})

test('an http server has no signed address, and never gets one of the service', async () => {
  const id = await ended(
    jobBody({
      bucket_output_path: 'https://media.test/films',
      cloud_credentials: {
        input: { cloud_provider: 'http' },
        output: { cloud_provider: 'http', secret_key: 'canary' },
      },
    }),
    [stored('films/film.mp4', 'https://media.test/films/film.mp4')],
  )
  expect(await outputsOf(`/api/v0/job/${id}`)).toMatchObject([
    { url: null, location: 'https://media.test/films/film.mp4' },
  ])
})

test('a changed database row cannot use the credentials for another address', async () => {
  // The outputs name another object of the same bucket; the destination is another bucket.
  const other = await ended(toS3(), [FILM, stored('payroll.csv', 's3://films/payroll.csv')])
  expect((await outputsOf(`/api/v0/job/${other}`)).map(({ url }) => url !== null)).toEqual([true, false])
  const moved = await ended(toS3(), [FILM])
  await env.DB.prepare(`UPDATE jobs SET config = replace(config, 's3://films/2026', 's3://sound/2026') WHERE id = ?1`)
    .bind(moved)
    .run()
  expect(await outputsOf(`/api/v0/job/${moved}`)).toMatchObject([{ url: null }])
})
