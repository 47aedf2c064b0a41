// In charge of: the beginning and the index of a large source, which the attempt that divides a job leaves for its parts: they do
// not request them, and make the same.
// Not in charge of: what else parts read (sourceBytes.long.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import type { Plan } from '../../../../transcoder/plan/model/plan.ts'
import { makeClip } from '../../../support/media/media.ts'
import { withOneThread } from '../../../support/transcoder/comparedDivision.ts'
import { runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { makeParts } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = withOneThread(await useAttemptFixture())
const SOURCE_BYTES = 64 * 1024 * 1024
const SECONDS = 24
const [LAST, FIRST, MIDDLE] = [0, 2, 3]
/** A first request, which also tells whether the source has changed. */
const FIRST_BYTES = 256 * 1024
const BEGINNING_BYTES = 6 * 1024 * 1024
let bytes: Buffer

beforeAll(async () => {
  // Frames of 300 KB: ffprobe and ffmpeg read some of them.
  const noise = ['-g', '5', '-qp', '6', '-shortest']
  const size = { width: 640, height: 360, rate: '5', seconds: SECONDS }
  const options = { ...size, filters: 'noise=alls=60:allf=t', audio: [1] as const, flags: noise }
  const clip = await readFile(await makeClip(join(fixture.directory, 'large.mp4'), options))
  // A box that players skip (ISO/IEC 14496-12, 8.1.2).
  const free = Buffer.alloc(SOURCE_BYTES - clip.length)
  free.writeUInt32BE(free.length)
  free.write('free', 4)
  bytes = Buffer.concat([clip, free])
}, 300_000)

interface MadePart {
  /** Bytes requested of the beginning, and of all. */
  requested: { beginning: number; all: number }
  outputs: Map<string, string>
}

async function divided(taskApi: FakeTaskApi): Promise<Plan> {
  const task = segmentedTask({ output_container: 'hls', segmented_output_dash: true, max_chunk_seconds: 8 })
  const videoProfiles = task.config.videoProfiles.map((profile) => ({
    ...profile,
    video_bitrate_mode: 'qvbr' as const,
  }))
  const accepts = { source: false, preview: false, log: false, parts: 400, mainWork: true }
  taskApi.task = { ...task, config: { ...task.config, videoProfiles }, accepts, slots: 1 }
  await runTask(runRequest(taskApi), fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  return taskApi.storedPlan as Plan
}

async function madePart(taskApi: FakeTaskApi, plan: Plan, part: number): Promise<MadePart> {
  taskApi.inputRanges.length = 0
  taskApi.outputs.clear()
  await makeParts(taskApi, { ...taskApi.task!, attempt: 1, plan }, [part], () => fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const ranges = taskApi.inputRanges.map((text) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(text)!
    return { first: Number(first), end: Math.min(Number(last) + 1, bytes.length) }
  })
  const below = (most: number) =>
    ranges.reduce((sum, { first, end }) => sum + Math.max(0, Math.min(end, most) - first), 0)
  return {
    requested: { beginning: below(BEGINNING_BYTES), all: below(Number.POSITIVE_INFINITY) },
    outputs: new Map([...taskApi.outputs].map(([path, body]) => [path, sha256(body)])),
  }
}

test('parts do not request the beginning again, and make the same', async () => {
  const taskApi = await new FakeTaskApi({ bytes }).start()
  try {
    const plan = await divided(taskApi)
    expect(new Set([...taskApi.work.keys()].map((name) => name.replace(/\.\d+$/, '')))).toEqual(
      new Set(['0-1/beginning', '0-1/continuation']),
    )
    expect(plan.division?.beginning?.name).toBe('0-1/beginning')
    const { beginning: _, continuation: _continuation, ...division } = plan.division!
    const without = await madePart(taskApi, { ...plan, division }, MIDDLE)
    const made = await madePart(taskApi, plan, MIDDLE)
    expect(without.requested.beginning).toBeGreaterThan(2 * FIRST_BYTES)
    expect(made.requested.beginning).toBe(FIRST_BYTES)
    expect(without.requested.all - made.requested.all).toBeGreaterThan(FIRST_BYTES)
    expect(made.outputs.size).toBeGreaterThan(3)
    expect(made.outputs).toEqual(without.outputs)
  } finally {
    await taskApi.stop()
  }
}, 120_000)

test('the first chunk does not request what the first attempt read on from there, and makes the same', async () => {
  const taskApi = await new FakeTaskApi({ bytes }).start()
  try {
    const plan = await divided(taskApi)
    const { continuation, ...division } = plan.division!
    expect(continuation?.name).toBe('0-1/continuation')
    expect(continuation!.bytes).toBeGreaterThan(1024 * 1024)
    const without = await madePart(taskApi, { ...plan, division }, FIRST)
    const made = await madePart(taskApi, plan, FIRST)
    const saved = without.requested.all - made.requested.all
    // It may end in the middle of the chunk, or behind it.
    expect(saved).toBeGreaterThan(Math.min(continuation!.bytes, without.requested.all) / 2)
    expect(made.outputs.size).toBeGreaterThan(3)
    expect(made.outputs).toEqual(without.outputs)
    // If it is gone, the source is read.
    for (const name of taskApi.work.keys()) if (name.startsWith('0-1/continuation')) taskApi.work.delete(name)
    const again = await madePart(taskApi, plan, FIRST)
    expect(again.requested.all).toBeGreaterThan(made.requested.all + saved / 2)
    expect(again.outputs).toEqual(made.outputs)
  } finally {
    await taskApi.stop()
  }
}, 120_000)

test.each(['gone', 'changed'])(
  'if the object is %s, the source is read',
  async (fault) => {
    const taskApi = await new FakeTaskApi({ bytes }).start()
    try {
      const plan = await divided(taskApi)
      const made = await madePart(taskApi, plan, LAST)
      if (fault === 'gone') taskApi.work.clear()
      else taskApi.work.get('0-1/beginning.0')!.fill(7, 4000)
      const again = await madePart(taskApi, plan, LAST)
      expect(made.requested.beginning).toBe(FIRST_BYTES)
      expect(again.requested.beginning).toBeGreaterThan(FIRST_BYTES)
      expect(again.outputs).toEqual(made.outputs)
    } finally {
      await taskApi.stop()
    }
  },
  120_000,
)

test('of a small source nothing is left', async () => {
  const taskApi = await new FakeTaskApi({ bytes: bytes.subarray(0, SOURCE_BYTES - 1) }).start()
  try {
    expect((await divided(taskApi)).division?.beginning).toBeUndefined()
    expect(taskApi.work.size).toBe(0)
  } finally {
    await taskApi.stop()
  }
}, 120_000)
