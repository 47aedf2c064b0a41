// In charge of: sources whose jobs one task makes although they ask for chunks: the reason in the warning.
// Not in charge of: the other reasons (division/plan/planDivision.test.ts), divided jobs (dividedJob.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { ffmpeg } from '../../../support/media/media.ts'
import { makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { JoinedTasks } from '../../../support/transcoder/joinedTask.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 2)
const taskApi = useTaskApi(() => clip)

beforeEach(() => {
  const task = segmentedTask({ segmented_output_dash: true, segment_length: 1 })
  // Shorter than a request may ask for.
  const spec = { ...toSpec(task.config, task.input_name), maxChunkSeconds: 1 }
  taskApi.task = { ...task, kind: 'plan', spec }
  taskApi.task.accepts = { ...task.accepts!, parts: MAX_JOB_PARTS }
})

async function remuxed(extension: string): Promise<Buffer> {
  const [from, to] = [`remuxed.mp4`, `remuxed.${extension}`].map((name) => join(fixture.directory, name))
  await writeFile(from!, clip)
  await ffmpeg(['-y', '-i', from!, '-c', 'copy', to!])
  return readFile(to!)
}

async function withBursts(): Promise<Buffer> {
  await remuxed('mov')
  const [sound, bursts, to] = ['sound.ac3', 'sound.spdif', 'bursts.mov'].map((name) => join(fixture.directory, name))
  const from = join(fixture.directory, 'remuxed.mov')
  await ffmpeg(['-i', from, '-map', '0:a', '-ar', '48000', '-c:a', 'ac3', sound!])
  await ffmpeg(['-i', sound!, '-c', 'copy', bursts!])
  const samples = ['-f', 's16le', '-ar', '48000', '-ac', '2', '-i', bursts!]
  await ffmpeg(['-i', from, ...samples, '-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'pcm_s16le', to!])
  return readFile(to!)
}

test.each<[string, () => Promise<typeof taskApi.source>, RegExp]>([
  ['a server without ranges', async () => ({ bytes: clip, ranges: false }), /can only be read from its beginning/],
  ['AC-3 in PCM', async () => ({ bytes: await withBursts() }), /taken out of bursts of data/],
  ['an AVI file', async () => ({ bytes: await remuxed('avi') }), /\(avi\) has no index/],
  [
    'a transport stream whose clock begins again',
    async () => {
      const bytes = await remuxed('ts')
      return { bytes: Buffer.concat([bytes, bytes, bytes]) }
    },
    /time stamps of the source jump/,
  ],
])('%s', async (_, source, reason) => {
  taskApi.source = await source()
  await runTask(runRequest(taskApi), fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const { plan, warnings } = taskApi.estimated!.estimate
  expect(plan).not.toHaveProperty('division')
  const reported = warnings.find(({ code }) => code === 'not_divided')
  expect(reported).toMatchObject({ field: 'max_chunk_seconds', message: expect.stringMatching(reason) as string })
})

test.each(['mov', 'ts'])('%s with ranges is divided', async (extension) => {
  taskApi.source = { bytes: await remuxed(extension) }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.estimated?.estimate.plan.division).toEqual({ chunks: 2, chunk_seconds: 1, chosen_by: 'request' })
})

test('several sources', async () => {
  const joined = new JoinedTasks(fixture)
  afterAll(() => joined.stop())
  await remuxed('mov')
  const parts = ['remuxed.mov', 'remuxed.mp4'].map((file) => ({ file }))
  await joined.attempt(parts, { max_chunk_seconds: 10 }, { segmented: true, kind: 'plan' })
  expect(joined.taskApi.fails).toEqual([])
  expect(joined.taskApi.estimated?.estimate.warnings.map(({ code }) => code)).toContain('not_divided')
})
