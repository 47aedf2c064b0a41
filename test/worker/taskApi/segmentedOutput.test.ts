// In charge of: the Worker's part of segmented output: objects of an attempt in a separate directory, the commit of
// playlists and manifests, and removing what an unsuccessful attempt left.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, test, vi } from 'vitest'
import type { FinishPost, WrittenObject } from '#contract/task/protocol.ts'
import { MAX_TASK_BODY_BYTES } from '#contract/task/protocol.ts'
import type { JobMonitor } from '../../../worker/monitor/jobMonitor.ts'
import { mapConcurrent } from '../../../worker/util/mapConcurrent.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, postJson, errorCode } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { LONG_FORM } from '../support/longForm.ts'
import { advanceClock, startNextAttempt, readStatus, startJob } from '../support/jobFixture.ts'

const HLS_JOB = {
  output_container: 'hls',
  segmented_output_dash: true,
  create_tar_file: true,
  bucket_output_path: 'hls',
  videoProfiles: [{ output: '', width: 640, height: 360, video_bitrate: 600 }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }],
}

const start = (change: Record<string, unknown> = {}) => startJob({ ...HLS_JOB, ...change })

/** The attempt falls silent, and the job's next attempt starts. */
async function lose(attempt: FakeAttempt): Promise<FakeAttempt> {
  advanceClock(10 * 60_000)
  await attempt.alarm()
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  return startNextAttempt()
}

/** Paths of the job's objects in the service's own store, sorted. */
async function stored(attempt: FakeAttempt): Promise<string[]> {
  const prefix = `out/default/${attempt.job}/`
  const paths: string[] = []
  let cursor: string | undefined
  do {
    const page: R2Objects = await env.BUCKET.list({ prefix, ...(cursor ? { cursor } : {}) })
    paths.push(...page.objects.map((object) => object.key.slice(prefix.length)))
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor)
  return paths
}

const HLS = 'application/vnd.apple.mpegurl'
/** The job's only object that is uploaded in parts. */
const TAR = 'hls/hls.tar'

function written(path: string, body: string, stage: 1 | 2, change: Partial<WrittenObject> = {}): WrittenObject {
  return { path, body, stage, content_type: HLS, profile: null, role: stage === 1 ? 'playlist' : 'manifest', ...change }
}

/** Two playlists and what refers to them. */
function manifests(attempt: FakeAttempt): WrittenObject[] {
  return [
    written('hls/master.m3u8', '#EXTM3U\nvideo_0/playlist.m3u8\n', 2),
    written('hls/manifest.mpd', '<MPD/>', 2, { content_type: 'application/dash+xml' }),
    written('hls/video_0/playlist.m3u8', `#EXTM3U\n${attempt.attemptDirectory}/00001.m4s\n`, 1, {
      profile: 0,
      segments: { count: 1, bytes: 3 },
    }),
    written('hls/audio_0/playlist.m3u8', `#EXTM3U\n${attempt.attemptDirectory}/00001.m4s\n`, 1, {
      segments: { count: 1, bytes: 3 },
    }),
  ]
}

const AT_ONCE = 16

async function segments(attempt: FakeAttempt, count = 2): Promise<string[]> {
  const paths = Array.from(
    { length: count },
    (_, n) => `hls/video_0/${attempt.attemptDirectory}/${String(n + 1).padStart(5, '0')}.m4s`,
  )
  await mapConcurrent(paths, AT_ONCE, async (path) => {
    expect((await attempt.putObject(path, 'abc', 'video/mp4')).status).toBe(200)
  })
  return paths
}

test('segments go to the attempt’s directory, manifests to their fixed names, and a player can resolve all of them', async () => {
  const { id, attempt } = await start()
  const tar = await attempt.storeObject(TAR, new TextEncoder().encode('a film'), 'application/x-tar')
  const paths = await segments(attempt)
  expect(await attempt.putObject(paths[0] ?? '', 'abc', 'video/mp4').then((r) => r.json())).toEqual({
    etag: expect.stringMatching(/^".+"$/),
  })
  expect(await stored(attempt)).toEqual(paths)
  const finished = await attempt.finish([tar], { written: manifests(attempt) })
  expect(await finished.json()).toEqual({ state: 'completed' })
  const { outputs, error } = await readStatus(id)
  expect(error).toBeNull()
  expect(outputs.map(({ path, role, size, segments: list }: any) => [path, role, size, list])).toEqual([
    [TAR, 'media', 6, undefined],
    ['hls/video_0/playlist.m3u8', 'playlist', 8 + attempt.attemptDirectory.length + 11, { count: 1, bytes: 3 }],
    ['hls/audio_0/playlist.m3u8', 'playlist', 8 + attempt.attemptDirectory.length + 11, { count: 1, bytes: 3 }],
    ['hls/master.m3u8', 'manifest', 30, undefined],
    ['hls/manifest.mpd', 'manifest', 6, undefined],
  ])
  // printf '<MPD/>' | sha256sum
  expect(outputs[4].sha256).toBe('a7220cbfb2aad31e19ff3ec129d0c5da5b66af3266e4d3cd996e1047f3840cb5')
  const read = async (address: URL) => {
    const answer = await apiRequest(address.pathname, { headers: { authorization: '' } })
    return { type: answer.headers.get('content-type'), lines: (await answer.text()).split('\n') }
  }
  const master = new URL(outputs[3].url)
  const multivariant = await read(master)
  expect(multivariant.type).toBe(HLS)
  const playlist = new URL(multivariant.lines[1] ?? '', master)
  const media = await read(playlist)
  expect(media.type).toBe(HLS)
  expect(await read(new URL(media.lines[1] ?? '', playlist))).toEqual({ type: 'video/mp4', lines: ['abc'] })
  expect(await stored(attempt)).toHaveLength(7)
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
})

test('an attempt can write only below its own directory: no fixed name, no other attempt, no path traversal', async () => {
  const { attempt } = await start()
  const { attemptDirectory: directory, job: jobId } = attempt
  const refused: [string, number][] = [
    ['hls/master.m3u8', 403],
    ['job.json', 403],
    [directory, 403],
    [`hls/${directory}`, 403],
    [`hls/x${directory}/1.m4s`, 403],
    [`hls/${directory}x/1.m4s`, 403],
    [`hls/${jobId}-2/1.m4s`, 403],
    [`hls/${jobId}-01/1.m4s`, 403],
    [`hls/${jobId}-2/${directory}/1.m4s`, 403],
    [`${directory}/../master.m3u8`, 403],
    [`${directory}/a\nb`, 400],
    [`${directory}/a\\b`, 400],
    [`${directory}/`, 400],
    [`${directory}//x`, 400],
    [`${directory}/${'x'.repeat(1024)}`, 400],
  ]
  for (const [path, expected] of refused) {
    const answer = await attempt.putObject(path, 'abc')
    expect([path, answer.status]).toEqual([path, expected])
  }
  for (const path of [`${directory}%2F..%2Fmaster.m3u8`, `${directory}/%E0%A4%A`, `${directory}/..%2f..%2fx`]) {
    const answer = await attempt.taskApi('PUT', `/output/${path}`, new Uint8Array(3))
    expect([path, answer.status]).toEqual([path, 400])
  }
  expect(await stored(attempt)).toEqual([])
})

test('an object needs its type and its exact length, and has 32 MiB at most', async () => {
  const { attempt } = await start()
  const path = `hls/video_0/${attempt.attemptDirectory}/00001.m4s`
  expect(await errorCode(await attempt.putObject(path, '', 'video/mp4'))).toBe('411 length_required')
  expect((await attempt.putObject(path, 'abc', '')).status).toBe(400)
  expect(
    await errorCode(
      await attempt.putObject(path, 'abc', 'video/mp4', { 'content-length': String(MAX_TASK_BODY_BYTES + 1) }),
    ),
  ).toBe('413 too_large')
  expect((await attempt.putObject(path, 'abc', 'video/mp4', { 'content-length': '4' })).status).toBeGreaterThanOrEqual(
    400,
  )
  expect((await attempt.putObject(path, 'abc', 'video/mp4', { 'content-length': '2' })).status).toBeGreaterThanOrEqual(
    400,
  )
  expect(await stored(attempt)).toEqual([])
  const largest = new Uint8Array(MAX_TASK_BODY_BYTES).fill(7)
  expect((await attempt.putObject(path, largest)).status).toBe(200)
  expect((await env.BUCKET.head(`out/default/${attempt.job}/${path}`))?.size).toBe(MAX_TASK_BODY_BYTES)
})

const MANY = LONG_FORM ? 1000 : 100

test(`a job with ${MANY} segments costs no more writing statements than one with a single file`, async () => {
  const { attempt } = await start()
  let statements = 0
  let writes = 0
  const prepare = env.DB.prepare.bind(env.DB)
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    statements++
    if (/^\s*(INSERT|UPDATE|DELETE)/i.test(sql)) writes++
    return prepare(sql)
  })
  await segments(attempt, MANY)
  expect(writes).toBe(0)
  // One read for each request that was sent before the first one had opened the store.
  expect(statements).toBeLessThanOrEqual(AT_ONCE)
  expect(await (await attempt.finish([], { written: manifests(attempt) })).json()).toEqual({ state: 'completed' })
  // Creation, claim and start are not counted here: see jobFlow.test.ts. Two of these count the usage of the account.
  expect(writes).toBeLessThanOrEqual(8)
}, 60_000)

test('what a lost attempt stored is deleted while the next one runs, and again for late writes when the job has ended', async () => {
  const { id, attempt: first } = await start()
  const old = await segments(first)
  const second = await lose(first)
  expect(second.attemptDirectory).toBe(`${first.job}-2`)
  await second.alarm()
  expect(await stored(second)).toEqual([])
  expect((await first.putObject(old[0] ?? '', 'abc')).status).toBe(409)
  expect((await first.putObject(`hls/video_0/${second.attemptDirectory}/00001.m4s`, 'abc')).status).toBe(403)
  const remaining = await segments(second)
  // A PUT of the first attempt that was in flight all the time arrives now.
  await env.BUCKET.put(`out/default/${first.job}/${old[1]}`, 'late')
  await second.finish([], { written: manifests(second) })
  expect((await readStatus(id)).error).toBeNull()
  const expected = [...manifests(second).map(({ path }) => path), ...remaining].toSorted()
  expect(await stored(second)).toEqual(expected)
  // Another one arrives after the end.
  await env.BUCKET.put(`out/default/${first.job}/${old[0]}`, 'late')
  advanceClock(3 * 60_000)
  expect(await second.alarm()).toBe(true)
  while (await second.alarm());
  expect(await stored(second)).toEqual(expected)
  expect(await storageKeys(second)).toEqual([])
})

async function storageKeys(attempt: FakeAttempt): Promise<string[]> {
  return runInDurableObject(attempt.monitor, async (_, state) => [...(await state.storage.list()).keys()])
}

test('a PUT that arrives after its attempt was replaced is deleted, whatever the upload journal says', async () => {
  const { attempt: first } = await start()
  const path = `hls/video_0/${first.attemptDirectory}/00001.m4s`
  const put = env.BUCKET.put.bind(env.BUCKET)
  let second: FakeAttempt | undefined
  const spy = vi.spyOn(env.BUCKET, 'put').mockImplementation((async (key: string, ...rest: any[]) => {
    if (key.endsWith('/00001.m4s') && !second) second = await lose(first)
    return (put as any)(key, ...rest)
  }) as never)
  expect((await first.putObject(path, 'abc')).status).toBe(409)
  spy.mockRestore()
  expect(second?.run.attempt).toBe(2)
  expect(await stored(first)).toEqual([])
})

test('a repeated PUT that arrives after success deletes nothing', async () => {
  const { attempt } = await start()
  const [path = ''] = await segments(attempt, 1)
  const put = env.BUCKET.put.bind(env.BUCKET)
  let finished = false
  vi.spyOn(env.BUCKET, 'put').mockImplementation((async (key: string, ...rest: any[]) => {
    if (key.endsWith('/00001.m4s') && !finished) {
      finished = true
      await attempt.finish([], { written: manifests(attempt) })
    }
    return (put as any)(key, ...rest)
  }) as never)
  expect((await attempt.putObject(path, 'abc')).status).toBe(409)
  expect(await stored(attempt)).toContain(path)
})

test('cancel between the segments and finish leaves nothing (I7, I8, I9)', async () => {
  const { id, attempt } = await start()
  const [path = ''] = await segments(attempt)
  expect((await postJson(`/api/v0/job/${id}/cancel`, {})).status).toBe(200)
  expect(await stored(attempt)).toEqual([])
  expect((await attempt.putObject(path, 'abc')).status).toBe(409)
  expect((await attempt.finish([], { written: manifests(attempt) })).status).toBe(409)
  await env.BUCKET.put(`out/default/${attempt.job}/${path}`, 'late')
  advanceClock(3 * 60_000)
  while (await attempt.alarm());
  expect(await stored(attempt)).toEqual([])
  expect(await storageKeys(attempt)).toEqual([])
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
})

test('2,500 objects of a failed attempt are deleted in batches, resumed by the alarm, through a store that is away at times', async () => {
  const { id, attempt } = await start()
  const paths = Array.from(
    { length: 2500 },
    (_, n) => `hls/video_0/${attempt.attemptDirectory}/${String(n).padStart(5, '0')}.m4s`,
  )
  // The journal as 2,500 PUTs leave it; only the objects at the ends of the journal and of its batches exist.
  await runInDurableObject(attempt.monitor, async (instance: JobMonitor) => {
    for (const path of paths) await instance.journalObject(1, path)
  })
  const some = [0, 999, 1000, 1999, 2000, 2499].map((n) => paths[n] ?? '')
  for (const path of some) expect((await attempt.putObject(path, 'abc')).status).toBe(200)
  const remove = env.BUCKET.delete.bind(env.BUCKET)
  const sizes: number[] = []
  let away = false
  vi.spyOn(env.BUCKET, 'delete').mockImplementation(async (keys) => {
    if (away) throw new Error('R2 is away (10001)')
    sizes.push(Array.isArray(keys) ? keys.length : 1)
    return remove(keys)
  })
  await attempt.fail('encoder_failed')
  expect(await readStatus(id)).toMatchObject({ state: 'error', job_completed: true })
  expect(sizes[0]).toBe(1000)
  expect(await attempt.heartbeat()).toBe('stop')
  away = true
  await attempt.alarm()
  away = false
  advanceClock(60_000)
  while (sizes.reduce((sum, size) => sum + size) < 2500) expect(await attempt.alarm()).toBe(true)
  expect(sizes).toEqual([1000, 1000, 500])
  expect(await stored(attempt)).toEqual([])
  // Cleans up again for PUTs that were in flight, when those are over.
  advanceClock(180_000)
  while (await attempt.alarm());
  expect(sizes).toEqual([1000, 1000, 500, 1000, 1000, 500])
  expect(await storageKeys(attempt)).toEqual([])
}, 60_000)

interface Failing {
  method: 'put' | 'head' | 'get' | 'delete'
  key: RegExp
  message: string
}

/** The next `times` matching calls of the bucket fail; with `late`, after they have taken effect. */
function plant({ method, key: pattern, message }: Failing, times = 1, late = false): { mockRestore(): void } {
  const bucket = env.BUCKET as any
  const good = bucket[method].bind(bucket)
  let left = times
  return vi.spyOn(bucket, method).mockImplementation((async (key: any, ...rest: unknown[]) => {
    const matches = left > 0 && pattern.test(Array.isArray(key) ? key.join('\n') : String(key))
    if (matches) left--
    if (matches && !late) throw new Error(message)
    const answer = await good(key, ...rest)
    if (matches) throw new Error(message)
    return answer
  }) as never)
}

const AWAY = 'We encountered an internal error. (10001)'

test.each<[string, Failing, boolean]>([
  ['before the record is read', { method: 'get', key: /commit-1\.json$/, message: AWAY }, false],
  ['while it looks what is there', { method: 'head', key: /master\.m3u8$/, message: AWAY }, false],
  ['before it is noted what is there', { method: 'put', key: /before-1\.json$/, message: AWAY }, false],
  ['after it was noted what is there', { method: 'put', key: /before-1\.json$/, message: AWAY }, true],
  ['after the first complete', { method: 'head', key: /hls\.tar$/, message: AWAY }, true],
  ['before a media playlist', { method: 'put', key: /audio_0\/playlist\.m3u8$/, message: AWAY }, false],
  ['after a media playlist', { method: 'put', key: /audio_0\/playlist\.m3u8$/, message: AWAY }, true],
  ['before the multivariant playlist', { method: 'put', key: /master\.m3u8$/, message: AWAY }, false],
  ['after the multivariant playlist', { method: 'put', key: /master\.m3u8$/, message: AWAY }, true],
  ['after everything was put', { method: 'put', key: /manifest\.mpd$/, message: AWAY }, true],
])('a commit broken off %s is resumed without the transcoder', async (_, failing, late) => {
  const { id, attempt } = await start()
  const tar = await attempt.storeObject(TAR, new TextEncoder().encode('a film'), 'application/x-tar')
  const remaining = await segments(attempt)
  const planted: { mockRestore(): void } = plant(failing, 1, late)
  expect(await (await attempt.finish([tar], { written: manifests(attempt) })).json()).toEqual({ state: 'committing' })
  planted.mockRestore()
  expect(await readStatus(id)).toMatchObject({ phase: 'committing', job_completed: false, outputs: [] })
  expect(await attempt.alarm()).toBe(true)
  const end = await readStatus(id)
  expect(end).toMatchObject({ job_completed: true, error: null })
  expect(end.outputs).toHaveLength(5)
  expect(await stored(attempt)).toEqual([TAR, ...manifests(attempt).map(({ path }) => path), ...remaining].toSorted())
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
})

test('no reader meets a manifest before what it points at (I5)', async () => {
  const { attempt } = await start()
  const tar = await attempt.storeObject(TAR, new TextEncoder().encode('a film'), 'application/x-tar')
  const order: string[] = []
  const put = env.BUCKET.put.bind(env.BUCKET)
  vi.spyOn(env.BUCKET, 'put').mockImplementation((async (key: string, ...rest: any[]) => {
    if (key.startsWith('out/')) order.push(key.slice(key.lastIndexOf('/') + 1), String((await stored(attempt)).length))
    return (put as any)(key, ...rest)
  }) as never)
  await attempt.finish([tar], { written: manifests(attempt) })
  expect(order.filter((_, n) => n % 2 === 0).slice(0, 2)).toEqual(['playlist.m3u8', 'playlist.m3u8'])
  expect(
    order
      .filter((_, n) => n % 2 === 0)
      .slice(2)
      .toSorted(),
  ).toEqual(['manifest.mpd', 'master.m3u8'])
  // The video file first; both media playlists before the multivariant playlist and the manifest.
  expect(Number(order[1])).toBeGreaterThanOrEqual(1)
  expect(Number(order[5])).toBeGreaterThanOrEqual(3)
})

test('a final write that fails permanently: new objects are deleted, replaced ones are reported (I7)', async () => {
  const { id, attempt } = await start()
  const tar = await attempt.storeObject(TAR, new TextEncoder().encode('a film'), 'application/x-tar')
  await segments(attempt)
  const older = (path: string) => `out/default/${attempt.job}/${path}`
  // Files of an earlier job: one is replaced before the failure, one is not reached, one is not an output of this job.
  await env.BUCKET.put(older('hls/video_0/playlist.m3u8'), 'older')
  await env.BUCKET.put(older('hls/manifest.mpd'), 'older')
  await env.BUCKET.put(older('hls/notes.txt'), 'older')
  // The Worker crashes after the playlists were replaced: the retry must not treat the new playlists as the earlier
  // state.
  const crash = plant({ method: 'put', key: /hls\/audio_0\/playlist\.m3u8$/, message: AWAY }, 1, true)
  await attempt.finish([tar], { written: manifests(attempt) })
  crash.mockRestore()
  const failing = plant({ method: 'put', key: /hls\/(master|manifest)/, message: 'Invalid name. (10020)' }, 9)
  await attempt.alarm()
  failing.mockRestore()
  expect(await readStatus(id)).toMatchObject({
    state: 'error',
    job_completed: true,
    outputs: [],
    error: {
      code: 'output_incomplete',
      message: expect.stringContaining('Invalid name.'),
      details: { provider: 'vendor-store', operation: 'put', in_place: ['hls/video_0/playlist.m3u8'] },
    },
  })
  expect(await stored(attempt)).toEqual(['hls/manifest.mpd', 'hls/notes.txt', 'hls/video_0/playlist.m3u8'])
  expect(await (await env.BUCKET.get(older('hls/manifest.mpd')))?.text()).toBe('older')
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
})

test('a store that stays away is asked again with growing pauses, until the job’s deadline ends it with its name', async () => {
  const { id, attempt } = await start()
  await segments(attempt)
  const planted = plant({ method: 'put', key: /master\.m3u8$/, message: AWAY }, 1000)
  await attempt.finish([], { written: manifests(attempt) })
  const pauses: number[] = []
  for (let n = 0; n < 8; n++) {
    const at = await runInDurableObject(attempt.monitor, (_, state) => state.storage.getAlarm())
    pauses.push(Math.round(((at ?? 0) - Date.now()) / 1000))
    await attempt.alarm()
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
  expect(await readStatus(id)).toMatchObject({ phase: 'committing', job_completed: false })
  advanceClock(25 * 3600_000)
  await attempt.alarm()
  expect(await readStatus(id)).toMatchObject({
    state: 'error',
    job_completed: true,
    error: { code: 'output_unreachable', message: expect.stringContaining('deadline') },
  })
  planted.mockRestore()
  expect(await stored(attempt)).toEqual([])
})

test.each<[string, (attempt: FakeAttempt) => Partial<FinishPost>, number]>([
  ['nothing', () => ({}), 400],
  ['a path twice', () => ({ written: [written('hls/master.m3u8', 'x', 1), written('hls/master.m3u8', 'x', 2)] }), 400],
  ['a path that climbs', () => ({ written: [written('../hls/master.m3u8', 'x', 1)] }), 400],
  ['another attempt’s directory', ({ job: id }) => ({ written: [written(`${id}-7/a.m3u8`, 'x', 1)] }), 403],
])('finish with %s is refused', async (_, change, expected) => {
  const { id, attempt } = await start()
  expect((await attempt.finish([], change(attempt))).status).toBe(expected)
  expect(await readStatus(id)).toMatchObject({ state: 'running' })
})

test('finish with more paths than a database row can hold is refused', async () => {
  const directory = `${'d'.repeat(700)}/june`
  const { id, attempt } = await start({ bucket_output_path: directory })
  const objects = Array.from({ length: 400 }, (_, n) => {
    const path = `${directory}/video_0/${attempt.attemptDirectory}/${String(n).padStart(5, '0')}.m4s`
    const upload = btoa(JSON.stringify([path, 'x']))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
    const parts = [{ n: 1, etag: 'e' }]
    return {
      path,
      upload,
      size: 1,
      sha256: '0'.repeat(64),
      content_type: 'video/mp4',
      parts,
      profile: 0,
      role: 'media' as const,
    }
  })
  expect((await attempt.finish(objects)).status).toBe(413)
  expect(await readStatus(id)).toMatchObject({ state: 'running' })
})

test('finish with one upload twice is refused, and so is one as a body', async () => {
  const { attempt } = await start()
  const object = await attempt.storeObject(TAR, new Uint8Array(5), 'application/x-tar')
  expect((await attempt.finish([object, object])).status).toBe(400)
  expect((await attempt.finish([object], { written: [written(TAR, 'x', 1)] })).status).toBe(403)
})

test('two jobs in one directory never write one key, except in the commit', async () => {
  const paths: string[][] = []
  for (let n = 0; n < 2; n++) {
    const { attempt } = await start()
    paths.push(await segments(attempt))
    await attempt.finish([], { written: manifests(attempt) })
  }
  expect(paths[0]?.filter((path) => paths[1]?.includes(path))).toEqual([])
})

const named = (output: string) => ({ videoProfiles: [{ output, width: 640, height: 360, video_bitrate: 600 }] })
const smooth = { output_container: 'silverlight', segmented_output_dash: false, create_tar_file: false }

test.each<[string, Record<string, unknown>, string, string]>([
  ['Film.ism/<own>/QualityLevels(500000)/Fragments(video=0)', smooth, 'Film', 'video/mp4'],
  ['字幕 #1?/100% a+b/<own>/00001.m4s', named('字幕 #1?/100% a+b'), 'Größe & Länge', 'video/mp4'],
  ["a;b,c@d:e$f/!*'(x)~/<own>/00001.ts", named("a;b,c@d:e$f/!*'(x)~"), 'x y', 'video/mp2t'],
  ['captions/CC1/<own>/00001.vtt', { closed_captions: true }, 'x', 'text/vtt'],
  ['thumbnails/<own>/00001.jpg', { thumbnails: true }, 'x', 'image/jpeg'],
])('an object named %s is written, and read by its address and in ranges', async (name, change, directory, type) => {
  const { id, attempt } = await start({ ...change, bucket_output_path: directory })
  const below = name.replace('<own>', attempt.attemptDirectory)
  const path = `${directory}/${below}`
  expect((await attempt.putObject(path, 'abcdef', type)).status).toBe(200)
  expect(await stored(attempt)).toEqual([path])
  await attempt.finish([], {
    written: [written(`${directory}/job.json`, 'x', 2, { content_type: 'application/json' })],
  })
  const { outputs } = await readStatus(id)
  const relative = below.split('/').map(encodeURIComponent).join('/')
  const { pathname } = new URL(relative, outputs[0].url)
  const whole = await apiRequest(pathname, { headers: { authorization: '' } })
  expect([whole.status, whole.headers.get('content-type'), await whole.text()]).toEqual([200, type, 'abcdef'])
  const part = await apiRequest(pathname, { headers: { authorization: '', range: 'bytes=2-3' } })
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-3/6', 'cd'])
})

test('fragment addresses that a Smooth client builds are served', async () => {
  const { id, attempt } = await start({ ...smooth, bucket_output_path: 'f' })
  const fragment = `${attempt.attemptDirectory}/QualityLevels(500000)/Fragments(video=0)`
  expect((await attempt.putObject(`f/f.ism/${fragment}`, 'fragment')).status).toBe(200)
  const manifest = written('f/f.ism/Manifest', '<SmoothStreamingMedia/>', 2, {
    content_type: 'application/vnd.ms-sstr+xml',
  })
  await attempt.finish([], { written: [manifest] })
  const { outputs } = await readStatus(id)
  // The client fills the numbers into the manifest's template and encodes nothing.
  const answer = await apiRequest(new URL(fragment, outputs[0].url).pathname, { headers: { authorization: '' } })
  expect([answer.status, await answer.text()]).toEqual([200, 'fragment'])
})

test('segments and records of jobs are swept with their outputs, also of jobs that failed', async () => {
  const good = await start()
  await segments(good.attempt)
  await good.attempt.finish([], { written: manifests(good.attempt) })
  const bad = await start()
  const [path = ''] = await segments(bad.attempt, 1)
  await bad.attempt.fail('encoder_failed')
  expect((await readStatus(bad.id)).outputs).toEqual([])
  // An object that was left in spite of all that.
  await env.BUCKET.put(`out/default/${bad.attempt.job}/${path}`, 'late')
  await env.BUCKET.put(`work/${bad.attempt.job}/commit-1.json`, 'late')
  advanceClock(31 * 86_400_000)
  await reconcile(env, Infinity)
  expect([await stored(good.attempt), await stored(bad.attempt)]).toEqual([[], []])
  expect((await env.BUCKET.list({ prefix: `work/${bad.attempt.job}/` })).objects).toEqual([])
  expect((await readStatus(good.id)).outputs).toEqual([])
})
