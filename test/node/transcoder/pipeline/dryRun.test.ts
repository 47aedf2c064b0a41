// In charge of: dry runs with the real ffmpeg against the strict task API: what is sent, what is not, and what remains.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  findFfmpegProcesses,
  runRequest,
} from '../../../support/transcoder/attemptFixture.ts'
import { extractTask } from '../../../support/transcoder/extractTasks.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let clip: Buffer
const taskApi = useTaskApi(() => clip)

beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 2)
})
beforeEach(() => {
  taskApi.task = {
    ...describeTask({ container: 'mp4', bitrates: [400, 200] }),
    kind: 'plan',
  }
})

/** Nothing is written or encoded, however the run ends. */
async function expectNothing(): Promise<void> {
  for (const operation of ['plan', 'uploads', 'part', 'finish'] as const)
    expect(taskApi.counts.get(operation), operation).toBeUndefined()
  expect(fixtures.lines.join('')).not.toContain('ffmpeg starts')
  expect(taskApi.beats.every((beat) => beat.bytes_produced === 0 && beat.phase !== 'transcoding')).toBe(true)
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
  expect(taskApi.breaches).toEqual([])
}

test('a dry run sends its estimate, once, and nothing else', async () => {
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.counts.get('estimate')).toBe(1)
  expect(taskApi.estimated).toMatchObject({
    estimate: {
      version: 1,
      probe: { size_bytes: clip.length, video: { codec: 'h264', width: 320, height: 180 }, audio: [{ codec: 'aac' }] },
      plan: { outputs: [{ path: 'out/v0.mp4' }, { path: 'out/v1.mp4' }] },
    },
    progress: { phase: 'probing', transcoded: 0, bytes_stored: 0 },
  })
  await expectNothing()
})

test('a dry run lists images and waveforms by the names that the job then writes', async () => {
  const extracts = { stills: [{ at_seconds: [0.4, 1] }], animated_preview: { format: 'gif' }, waveform: {} }
  taskApi.task = { ...extractTask(extracts, { video: false }), kind: 'plan' }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const { plan, predicted } = (taskApi.estimated as { estimate: Estimate }).estimate
  expect(plan.outputs.map(({ path }) => path)).toEqual([
    'clip_still_0_0001.jpg',
    'clip_still_0_0002.jpg',
    'clip_preview.gif',
    'clip_waveform.json',
  ])
  expect(predicted.output_bytes?.likely).toBeGreaterThan(1000)
})

test.each<[string, number | undefined, object, string[]]>([
  [
    'chunks, if the service accepts parts',
    400,
    { division: { chunks: 3, chunk_seconds: 0.8, chosen_by: 'request' } },
    [],
  ],
  ['why there are none', undefined, {}, ['not_divided']],
])('it shows %s', async (_, parts, shown, warned) => {
  const task = segmentedTask({ segmented_output_dash: true, gop_length: 0.4, segment_length: 0.8 })
  const spec = { ...toSpec(task.config, task.input_name), maxChunkSeconds: 1 }
  const accepts = { ...task.accepts!, ...(parts === undefined ? {} : { parts }) }
  taskApi.task = { ...task, kind: 'plan', spec, accepts }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const { plan, warnings } = taskApi.estimated!.estimate
  expect('division' in plan ? { division: plan.division } : {}).toEqual(shown)
  expect(warnings.map(({ code }) => code)).toEqual(warned)
  await expectNothing()
})

test('a plan that cannot be made ends it in the error of the job', async () => {
  taskApi.task!.config.audioProfiles[0]!.source_stream = '3'
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'audio_stream_missing' } }])
  expect(taskApi.estimated).toBeNull()
  await expectNothing()
})

test('cancelled during the probe, it reports so and sends no estimate', async () => {
  taskApi.instruction = 'cancel'
  // The source stalls until the cancellation has arrived.
  taskApi.faults.input = ({ request }) => new Promise<boolean>((done) => request.socket.once('close', () => done(true)))
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
  expect(taskApi.estimated).toBeNull()
  await expectNothing()
})

test('an attempt that is no longer the current one says nothing more', async () => {
  taskApi.faults.estimate = ({ response }) => {
    sendJson(response, 409, { error: { code: 'stale_attempt', message: 'newer' } })
    return true
  }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  await expectNothing()
})

test('a logo is fetched, planned and forgotten', async () => {
  const task = taskApi.task!
  task.config.logo_url = 'https://example.com/logo.png'
  const file = join(fixtures.directory, 'logo.png')
  execFileSync(fixtures.engine.ffmpeg, `-nostdin -v error -f lavfi -i color=red:s=40x20 -frames:v 1 ${file}`.split(' '))
  taskApi.logo = await readFile(file)
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.estimated?.estimate.plan.outputs[0]!.video!.logo).toMatchObject({
    width: expect.any(Number) as number,
  })
  await expectNothing()
})
