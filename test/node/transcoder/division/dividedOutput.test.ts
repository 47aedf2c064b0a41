// In charge of: a whole divided job: its output is that of one task.
// Not in charge of: single frames at the joins (division/plan), all codecs (dividedOutput.long.test.ts).
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { FinishPost } from '#contract/task/protocol.ts'
import { decodePartRecord, encodePartRecord } from '../../../../transcoder/division/partRecord.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { sequencesOf } from '../../../support/media/chunkStream.ts'
import { makeSourceClip, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi, sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { countFrames, joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 7)
const taskApi = useTaskApi(() => clip)

const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const task = (): TaskDescription => segmentedTask(CMAF, [300, 150])

async function undivided(of: TaskDescription): Promise<{ objects: Map<string, Buffer>; finished: FinishPost }> {
  const alone = await new FakeTaskApi({ bytes: clip }).start()
  try {
    alone.task = of
    await runTask(runRequest(alone), fixture.context())
    return { objects: storedObjects(alone), finished: alone.finished! }
  } finally {
    await alone.stop()
  }
}

/** The attempt that puts the parts together is the second one. */
const renamed = (text: string): string => text.replaceAll('j-1-2/', 'j-1-1/')

/** Without the rates, which are those of the encoded video. */
const mpdOf = (objects: ReadonlyMap<string, Buffer>): string =>
  renamed(objects.get('out/manifest.mpd')!.toString()).replaceAll(/bandwidth="\d+"/g, '')

/** Without the header, which states the mean rate of copied audio. */
const mediaOf = (stream: Buffer): Buffer => stream.subarray(stream.indexOf('moof'))

/** Playlists without the names of segments. */
function shapes(objects: ReadonlyMap<string, Buffer>): Map<string, unknown> {
  const playlists = [...objects].filter(([path]) => path.endsWith('.m3u8') && !path.endsWith('master.m3u8'))
  return new Map(playlists.map(([path, body]) => [path, body.toString().match(/#EXTINF:[\d.]+/g)]))
}

test('a divided job has the segments and the manifest of one task, in the directory of its last attempt', async () => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1, 2] })
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  const objects = storedObjects(taskApi)
  const { objects: whole, finished } = await undivided(task())
  expect([...objects.keys()].map(renamed).toSorted()).toEqual([...whole.keys()].toSorted())
  expect(mpdOf(objects)).toBe(mpdOf(whole))
  expect(mpdOf(objects)).toContain('profile:isoff-live')
  expect(shapes(objects)).toEqual(shapes(whole))
  for (const path of shapes(whole).keys()) {
    if (whole.get(path)!.includes('I-FRAMES-ONLY')) continue
    const file = join(fixture.directory, `${path}.mp4`)
    await mkdir(dirname(file), { recursive: true })
    const bytes = joinedSegments(objects, path)
    await writeFile(file, bytes)
    if (path.includes('audio')) expect(mediaOf(bytes).equals(mediaOf(joinedSegments(whole, path)))).toBe(true)
    else expect(await countFrames(fixture.engine, file)).toBe(175)
    expect(sequencesOf(bytes)).toEqual(sequencesOf(joinedSegments(whole, path)))
  }
  expect(taskApi.finished?.usage).toEqual(finished.usage)
  expect(taskApi.finished?.warnings).toEqual(finished.warnings)
})

test('the assembling attempt needs no source', async () => {
  const of = segmentedTask(CMAF)
  await runDividedJob(fixture, taskApi, of, {
    chunks: [0, 1],
    beforeAssembly: () => (taskApi.faults.input = ({ response }) => sendJson(response, 404, {}) === undefined),
  })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect(taskApi.finished).not.toBeNull()
})

/** As if a chunk was encoded where an encoder writes other parameters. */
function changeInit(index: number): void {
  const record = taskApi.records.get(index)!
  const chunk = decodePartRecord(record)
  if (chunk.kind !== 'chunk') throw new Error('it is no chunk')
  const streams = chunk.streams.map((stream) => ({ ...stream, init: { ...stream.init, sha256: '0'.repeat(64) } }))
  taskApi.records.set(index, { ...record, ...encodePartRecord({ ...chunk, streams }) })
}

test('chunks with different parameters are left, and one task makes the job', async () => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1, 2], beforeAssembly: () => changeInit(2) })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const { finished } = taskApi
  expect(finished?.undivided).toBe(true)
  const { objects: whole, finished: alone } = await undivided(task())
  const listed = [...storedObjects(taskApi)]
  expect(listed.map(([path]) => renamed(path)).toSorted()).toEqual([...whole.keys()].toSorted())
  expect(shapes(new Map(listed))).toEqual(shapes(whole))
  expect(finished?.usage).toEqual(alone.usage)
  const warnings = finished!.warnings.filter(({ code }) => code === 'not_divided')
  expect(warnings.map(({ message }) => message)).toEqual([
    'The job is not divided into chunks: the encoders of its chunks wrote different parameters (video_0).',
  ])
  expect(finished!.warnings.filter((warning) => !warnings.includes(warning))).toEqual(alone.warnings)
})

test('the source of chunks with different parameters is needed again', async () => {
  await runDividedJob(fixture, taskApi, segmentedTask(CMAF), {
    chunks: [0, 1],
    beforeAssembly: () => {
      changeInit(2)
      taskApi.faults.input = ({ response }) => {
        response.setHeader('x-source-error', 'source_not_found')
        return sendJson(response, 404, { error: { code: 'source_not_found', message: 'It is gone.' } }) === undefined
      }
    },
  })
  expect(taskApi.finished).toBeNull()
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_not_found' } }])
})

test('a build of ffmpeg that the job was not planned for gives its part back', async () => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1], parts: [0], build: 'another' })
  expect(taskApi.fails).toMatchObject([{ reason: 'interrupted', why: expect.stringContaining('build') as string }])
  expect(taskApi.delivered).toBeNull()
})

test('a part reads the version of the source that the job was planned for, and no other', async () => {
  const size = clip.length
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1], parts: [0], source: { size, etag: '"v1"' } })
  expect(taskApi.fails).toEqual([])
  expect(taskApi.delivered).not.toBeNull()
})

test.each([
  { size: 1, etag: '"v1"' },
  { size: clip.length, etag: '"v0"' },
])('a source that was replaced ends the job: %o', async (source) => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1], parts: [0], source })
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_changed' } }])
  expect(taskApi.delivered).toBeNull()
})

test('a job that another build of ffmpeg planned, and did not divide yet, is planned again', async () => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1], parts: [] })
  const stored = taskApi.storedPlan as Plan
  const plan = { ...stored, engine: { ...stored.engine!, build: 'another' } }
  taskApi.task = { ...task(), accepts: { source: true, preview: true, log: true, parts: 400 }, attempt: 2, plan }
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.plans.map(({ replaces }) => replaces)).toEqual([undefined, true])
})
