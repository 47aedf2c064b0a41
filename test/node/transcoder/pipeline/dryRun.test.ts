// In charge of: dry runs with the real ffmpeg against a strict door: what is sent, what is not, and what is left behind.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { SPEC_VERSION, type JobSpec } from '#contract/job/jobSpec.ts'
import { protocolOf } from '#contract/task/protocol.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { FakeDoor, json } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeClip,
  openBench,
  processesNaming,
  requestFor,
  type Bench,
} from '../../../support/transcoder/attemptFixture.ts'

let bench: Bench
let clip: Buffer
let door: FakeDoor

beforeAll(async () => {
  bench = await openBench()
  clip = await makeClip(bench, 2)
})
afterAll(() => bench.remove())
beforeEach(async () => {
  bench.lines.length = 0
  door = await new FakeDoor({ bytes: clip }).start()
  door.task = {
    ...describeTask({ container: 'mp4', bitrates: [400, 200] }),
    kind: 'plan',
    protocol: protocolOf('plan'),
  }
})
afterEach(() => door.stop())

/** Neither written nor encoded, whatever the ending. */
async function expectNothing(): Promise<void> {
  for (const operation of ['plan', 'uploads', 'part', 'finish'] as const)
    expect(door.counts.get(operation), operation).toBeUndefined()
  expect(bench.lines.join('')).not.toContain('ffmpeg starts')
  expect(door.beats.every((beat) => beat.bytes_produced === 0 && beat.phase !== 'transcoding')).toBe(true)
  expect(await bench.leftOvers()).toEqual([])
  expect(await processesNaming(bench.workDir)).toEqual([])
  expect(door.breaches).toEqual([])
}

test('a dry run sends its estimate, once, and nothing else', async () => {
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toEqual([])
  expect(door.counts.get('estimate')).toBe(1)
  expect(door.estimated).toMatchObject({
    estimate: {
      version: 1,
      probe: { size_bytes: clip.length, video: { codec: 'h264', width: 320, height: 180 }, audio: [{ codec: 'aac' }] },
      plan: { outputs: [{ path: 'out/v0.mp4' }, { path: 'out/v1.mp4' }] },
    },
    progress: { phase: 'probing', transcoded: 0, bytes_stored: 0 },
  })
  await expectNothing()
})

test.each<[string, (spec: JobSpec) => object, string]>([
  ['of this version: it follows the translation', (spec) => ({ spec }), 'translated/v0.mp4'],
  ['of a later version, with members that are not known yet', later, 'translated/v0.mp4'],
  ['of before translations', () => ({ spec: undefined, spec_version: undefined }), 'out/v0.mp4'],
  ['whose translation lacks members', (spec) => ({ spec, spec_version: SPEC_VERSION - 1 }), 'out/v0.mp4'],
])('from a Worker %s', async (_, answer, path) => {
  const { config, input_name: name } = door.task!
  const spec = toSpec(
    { ...config, videoProfiles: [{ ...config.videoProfiles[0]!, output: 'translated/v0.mp4' }] },
    name,
  )
  Object.assign(door.task!, answer(spec))
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toEqual([])
  expect(door.estimated?.estimate.plan.outputs[0]).toMatchObject({ path })
  await expectNothing()
})

function later(spec: JobSpec): object {
  return { spec: { ...spec, addedLater: true }, spec_version: SPEC_VERSION + 1 }
}

test('a plan that cannot be made ends it in the error of the job', async () => {
  door.task!.config.audioProfiles[0]!.source_stream = '3'
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toMatchObject([{ reason: 'failed', error: { code: 'audio_stream_missing' } }])
  expect(door.estimated).toBeNull()
  await expectNothing()
})

test('cancelled while it probes, it tells so and sends no estimate', async () => {
  door.verdict = 'cancel'
  // The source stands still until the verdict has come.
  door.faults.input = ({ request }) => new Promise<boolean>((done) => request.socket.once('close', () => done(true)))
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toEqual([{ reason: 'cancelled' }])
  expect(door.estimated).toBeNull()
  await expectNothing()
})

test('an attempt that is no longer the current one says nothing more', async () => {
  door.faults.estimate = ({ response }) => {
    json(response, 409, { error: { code: 'stale_attempt', message: 'newer' } })
    return true
  }
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toEqual([])
  await expectNothing()
})

test('a logo is fetched, planned and forgotten', async () => {
  const task = door.task!
  task.config.logo_url = 'https://example.com/logo.png'
  const file = join(bench.directory, 'logo.png')
  execFileSync(bench.engine.ffmpeg, [
    '-nostdin',
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'color=red:s=40x20',
    '-frames:v',
    '1',
    file,
  ])
  door.logo = await readFile(file)
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toEqual([])
  expect(door.estimated?.estimate.plan.outputs[0]!.video!.logo).toMatchObject({ width: expect.any(Number) as number })
  await expectNothing()
})
