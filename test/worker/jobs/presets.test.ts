// In charge of: saved presets: what is refused, who may use them, how many are allowed, and jobs that name one.
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import { apiRequest, jobBody, postJson, readJson, createKey } from '../support/apiClient.ts'

beforeEach(async () => {
  await env.DB.batch(['slots', 'jobs', 'presets'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)))
})

const { videoProfiles, audioProfiles } = jobBody()
const small = { videoProfiles, audioProfiles, h264_quality: 'best', gop_length: 4 }
const save = (change: Record<string, unknown> = {}, key?: string) =>
  postJson('/api/v0/presets', { name: 'Small', job: small, ...change }, key === undefined ? {} : { key })
const saved = async (change: Record<string, unknown> = {}, key?: string) => (await save(change, key)).json<any>()
const put = (id: string, value: unknown, key?: string) =>
  apiRequest(`/api/v0/presets/${id}`, {
    method: 'PUT',
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json' },
    ...(key === undefined ? {} : { key }),
  })
/** A job body without the members that a preset supplies. */
const bare = (change: Record<string, unknown> = {}) => {
  const { videoProfiles: _video, audioProfiles: _audio, ...rest } = jobBody()
  return { ...rest, ...change }
}

async function configOf(answer: Response): Promise<any> {
  const { _auto_generated_id_: id } = await answer.json<any>()
  return (await readJson(`/api/v0/job/${id}`)).config
}
async function problems(answer: Response): Promise<string[]> {
  expect(answer.status).toBe(400)
  return (await answer.json<any>()).error.details.map(({ code, field }: any) => `${code} ${field}`)
}

test('it is saved, listed after the built-in ones, read, replaced and deleted', async () => {
  const answer = await save({ description: 'For phones.' })
  expect(answer.status).toBe(201)
  const made = await answer.json<any>()
  expect(made).toEqual({
    preset_id: expect.stringMatching(/^pre_[\w-]{12}$/),
    name: 'Small',
    description: 'For phones.',
    built_in: false,
    job: small,
    updated_at: expect.any(String),
  })
  expect(answer.headers.get('location')).toBe(`https://service.test/api/v0/presets/${made.preset_id}`)
  const { presets } = await readJson('/api/v0/presets')
  expect(presets).toEqual([...builtInPresets, made])
  expect(await readJson(`/api/v0/presets/${made.preset_id}`)).toEqual(made)
  expect(await readJson('/api/v0/presets/hls')).toMatchObject({ preset_id: 'hls', built_in: true })
  const replaced = await put(made.preset_id, { name: 'SMALL', description: null, job: { ...small, gop_length: 2 } })
  expect(await replaced.json()).toMatchObject({ name: 'SMALL', description: '', job: { gop_length: 2 } })
  expect((await apiRequest(`/api/v0/presets/${made.preset_id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await apiRequest(`/api/v0/presets/${made.preset_id}`)).status).toBe(404)
})

test('built-in presets cannot be changed, nor their names used', async () => {
  for (const answer of [
    await put('hls', { name: 'x', job: small }),
    await apiRequest('/api/v0/presets/hls', { method: 'DELETE' }),
  ])
    expect(answer.status).toBe(403)
  for (const name of ['hls', 'HLS and DASH', ' mp4 ', 'pre_123'])
    expect(await problems(await save({ name })), name).toMatchObject([expect.stringMatching(/ name$/)])
})

test('the job is judged as a job is, and all that is wrong is said with its path', async () => {
  const wrong = {
    name: '',
    description: 1,
    other: true,
    job: {
      ...small,
      audio_volume: 201,
      videoProfiles: [{ width: 640, height: 360, video_bitrate: 1 }],
      input: '7',
      preset: 'hls',
    },
  }
  expect(await problems(await save(wrong))).toEqual([
    'unknown_field other',
    'invalid_length name',
    'invalid_type description',
    'not_available job.input',
    'not_available job.preset',
    'out_of_range job.audio_volume',
    'video_bitrate_too_low job.videoProfiles[0].video_bitrate',
  ])
  expect(await problems(await save({ job: { ...small, videoBitrate: 1 } }))).toEqual(['unknown_field job.videoBitrate'])
  expect(await problems(await save({ job: [] }))).toEqual(['invalid_type job'])
  expect(await problems(await save({ job: {} }))).toEqual(['required job.videoProfiles', 'required job.audioProfiles'])
  expect(await problems(await postJson('/api/v0/presets', []))).toEqual(['invalid_type '])
})

test('no credential and no address with a query gets into a preset', async () => {
  const credentials = { input: { cloud_provider: 'aws', access_key: 'A', secret_key: 'CANARY-KEY' } }
  const webhook_url = 'https://hooks.test/in?token=CANARY-QUERY'
  const answer = await save({ job: { ...small, cloud_credentials: credentials, webhook_url } })
  const text = await answer.clone().text()
  expect(await problems(answer)).toEqual(['not_available job.cloud_credentials', 'invalid_value job.webhook_url'])
  expect(text).not.toContain('CANARY')
  expect((await env.DB.prepare('SELECT * FROM presets').all()).results).toEqual([])
})

test('members that would reach a prototype are refused, and reach none', async () => {
  const text = `{"name":"P","job":${JSON.stringify(small).replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},')}}`
  const headers = { 'content-type': 'application/json' }
  const answer = await apiRequest('/api/v0/presets', { method: 'POST', body: text, headers })
  expect(await problems(answer)).toEqual(['unknown_field job.__proto__', 'unknown_field job.constructor'])
  // A row that was edited by hand.
  const made = await saved()
  await env.DB.prepare('UPDATE presets SET job = ?')
    .bind(text.slice(text.indexOf('"job":') + 6, -1))
    .run()
  expect((await configOf(await postJson('/api/v0/job', bare({ preset: made.preset_id })))).gop_length).toBe(4)
  for (const preset of ['__proto__', 'constructor', 'toString'])
    expect(await problems(await postJson('/api/v0/job', bare({ preset }))), preset).toEqual(['preset_not_found preset'])
  expect(({} as any).polluted).toBeUndefined()
})

test('a job that names one, by id or name, has its members where the body has none', async () => {
  const { preset_id: id } = await saved()
  const config = await configOf(await postJson('/api/v0/job', bare({ preset: id })))
  expect(config).toMatchObject({
    preset: id,
    h264_quality: 'best',
    gop_length: 4,
    videoProfiles: [{ output: 'film.mp4' }],
  })
  const [first] = videoProfiles as any[]
  const own = { preset: ' sMALL', gop_length: 2, videoProfiles: [{ ...first, output: 'mine.mp4' }] }
  const merged = await configOf(await postJson('/api/v0/job', bare(own)))
  expect(merged).toMatchObject({ h264_quality: 'best', gop_length: 2, videoProfiles: [{ output: 'mine.mp4' }] })
  expect(merged.videoProfiles).toHaveLength(1)
  const builtIn = await configOf(await postJson('/api/v0/job', bare({ preset: 'hls', audioProfiles: [] })))
  expect(builtIn).toMatchObject({ preset: 'hls', segmented_output_dash: true, audioProfiles: [] })
})

test('second names and alternatives of a member in the body replace the preset’s', async () => {
  await saved({
    job: { ...small, scte35_passthough: true, master_variant_mode: true, loudness_lufs: -16, output_container: 'hls' },
  })
  const change = { preset: 'small', scte35_passthrough: false, separate_audio: false, audio_volume: 50 }
  const config = await configOf(await postJson('/api/v0/job', bare(change)))
  expect(config).toMatchObject({ scte35_passthough: false, master_variant_mode: false, audio_volume: 50 })
  expect(config).not.toHaveProperty('loudness_lufs')
})

test('an unknown preset is reported with the body’s own errors, without those that the preset would have changed', async () => {
  expect(await problems(await postJson('/api/v0/job', bare({ preset: 'nothing', audio_volume: 201 })))).toEqual([
    'preset_not_found preset',
    'out_of_range audio_volume',
  ])
  expect(await problems(await postJson('/api/v0/job', jobBody({ preset: 7 })))).toEqual(['invalid_type preset'])
  expect(await problems(await postJson('/api/v0/job', bare({ preset: '' })))).toContain('invalid_length preset')
})

test('the same idempotency key answers the same job after its preset was deleted', async () => {
  const { preset_id: id } = await saved()
  const send = () => postJson('/api/v0/job', bare({ preset: id }), { headers: { 'idempotency-key': 'preset-once' } })
  const first = await (await send()).json<any>()
  await apiRequest(`/api/v0/presets/${id}`, { method: 'DELETE' })
  const second = await send()
  expect(second.status).toBe(200)
  expect((await second.json<any>())._auto_generated_id_).toBe(first._auto_generated_id_)
  await postJson(`/api/v0/job/${first._auto_generated_id_}/cancel`, {})
  expect((await postJson(`/api/v0/job/${first._auto_generated_id_}/retry`, {})).status).toBe(200)
})

test('another account sees, changes, deletes and uses none of them', async () => {
  const { preset_id: id } = await saved()
  const { key } = await createKey()
  expect((await readJson('/api/v0/presets', { key })).presets).toEqual(builtInPresets)
  expect((await apiRequest(`/api/v0/presets/${id}`, { key })).status).toBe(404)
  expect((await put(id, { name: 'Stolen', job: small }, key)).status).toBe(404)
  expect((await apiRequest(`/api/v0/presets/${id}`, { method: 'DELETE', key })).status).toBe(404)
  for (const preset of [id, 'Small'])
    expect(await problems(await postJson('/api/v0/job', bare({ preset }), { key }))).toEqual([
      'preset_not_found preset',
    ])
  // Names are unique only within an account.
  expect((await save({}, key)).status).toBe(201)
  expect((await apiRequest(`/api/v0/presets/${id}`)).status).toBe(200)
})

test('a name is one in any case; two that want it at once get one', async () => {
  const both = await Promise.all([save({ name: 'Übung' }), save({ name: 'übung' })])
  expect(both.map(({ status }) => status)).toEqual(expect.arrayContaining([201, 409]))
  const { preset_id: id } = await saved()
  const taken = await put(id, { name: 'ÜBUNG', job: small })
  expect(taken.status).toBe(409)
  expect((await taken.json<any>()).error).toMatchObject({ code: 'conflict', field: 'name' })
})

test('an account has 100 at most, also of those that come at once', async () => {
  const statement = `INSERT INTO presets (id, account, name, folded, description, job, created_at, updated_at) VALUES (?1, 'default', ?1, ?1, '', '{}', 0, 0)`
  await env.DB.batch(Array.from({ length: 97 }, (_, n) => env.DB.prepare(statement).bind(`p${n}`)))
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => save({ name: `new ${n}` })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(await answers.find(({ status }) => status === 429)!.json()).toMatchObject({
    error: { code: 'quota_exceeded' },
  })
})
