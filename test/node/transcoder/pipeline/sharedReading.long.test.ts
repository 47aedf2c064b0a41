// In charge of: a source in which video and audio alternate frame by frame is read once by all parts of a divided job: chunks
// leave what they read between their frames, and the rest has the same audio as from the source.
// Not in charge of: which bytes chunks read for their video (sourceBytes.long.test.ts), the order of parts
// (test/worker/scheduler/dividedJobs.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { partTaskNumber } from '#contract/taskId.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import type { Plan } from '../../../../transcoder/plan/model/plan.ts'
import { makeClip } from '../../../support/media/media.ts'
import { runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { makeParts, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const SECONDS = 24
/** In segments of 2 s. */
const CHUNKS = [0, 4, 8]
const [LAST, REST, FIRST, MIDDLE] = [0, 1, 2, 3]
const CHUNK_PARTS = [LAST, FIRST, MIDDLE]
let bytes: Buffer
let expected: Map<string, string>

interface Made {
  /** Share of the source that each part requested, by index. */
  shares: number[]
  taskApi: FakeTaskApi
}

beforeAll(async () => {
  const noise = ['-g', '25', '-b:v', '12M', '-minrate', '12M', '-maxrate', '12M', '-bufsize', '2M', '-shortest']
  const options = { seconds: SECONDS, filters: 'noise=alls=60:allf=t', audio: [1] as const, flags: noise }
  bytes = await readFile(await makeClip(join(fixture.directory, 'frames.mp4'), options))
  expected = audioOf((await made({ isShared: false })).taskApi)
}, 300_000)

/** The rest is made behind the chunks. */
async function made({
  isShared = true,
  parts = CHUNK_PARTS,
  beforeRest,
  duringRest,
}: {
  isShared?: boolean
  parts?: readonly number[]
  beforeRest?: (taskApi: FakeTaskApi) => void
  duringRest?: (taskApi: FakeTaskApi) => Promise<void>
} = {}): Promise<Made> {
  const taskApi = await new FakeTaskApi({ bytes }).start()
  try {
    const task = segmentedTask(CMAF)
    const shared = isShared ? { sharedReading: { chunksBeforeRest: CHUNKS.length } } : {}
    await runDividedJob(fixture, taskApi, task, { chunks: CHUNKS, ...shared, parts: [] })
    const shares: number[] = []
    const make = async (part: number): Promise<void> => {
      taskApi.inputRanges.length = 0
      await makeParts(taskApi, { ...task, plan: taskApi.storedPlan }, [part], () => fixture.context())
      shares[part] = requested(taskApi.inputRanges) / bytes.length
    }
    for (const part of parts) await make(part)
    beforeRest?.(taskApi)
    await Promise.all([make(REST), duringRest?.(taskApi)])
    expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
    return { shares, taskApi }
  } finally {
    await taskApi.stop()
  }
}

/** A request that is ended early counts whole. */
function requested(ranges: readonly string[]): number {
  return ranges.reduce((sum, text) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(text)!
    return sum + Math.min(Number(last), bytes.length - 1) - Number(first) + 1
  }, 0)
}

/** Hashes of the audio segments that the rest stored. */
function audioOf({ outputs }: FakeTaskApi): Map<string, string> {
  const own = [...outputs].filter(([path]) => path.includes(`-${partTaskNumber(REST)}/`) || path.includes('audio'))
  return new Map(own.map(([path, body]) => [path, sha256(body)]))
}

test.each([
  { slots: 1, least: 3 },
  { slots: 400, least: 1 },
])(
  'the plan says so, and that the rest begins behind all chunks or fewer, for $slots slots',
  async ({ slots, least }) => {
    const taskApi = await new FakeTaskApi({ bytes }).start()
    try {
      const task = segmentedTask({ ...CMAF, max_chunk_seconds: 8 })
      const videoProfiles = task.config.videoProfiles.map((profile) => ({
        ...profile,
        video_bitrate_mode: 'qvbr' as const,
      }))
      const accepts = { source: false, preview: false, log: false, parts: 400 }
      taskApi.task = { ...task, config: { ...task.config, videoProfiles }, accepts, slots }
      await runTask(runRequest(taskApi), fixture.context())
      expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
      const { division } = taskApi.storedPlan as Plan
      expect(division?.chunks).toEqual(CHUNKS)
      expect(division?.sharedReading?.chunksBeforeRest).toBeGreaterThanOrEqual(least)
      expect(division?.sharedReading?.chunksBeforeRest).toBeLessThanOrEqual(CHUNKS.length)
    } finally {
      await taskApi.stop()
    }
  },
  120_000,
)

test('chunks leave what lies between their frames, and the rest requests none of it', async () => {
  const { shares, taskApi } = await made()
  expect([...taskApi.work.keys()].toSorted()).toEqual(
    CHUNK_PARTS.map((part) => `${partTaskNumber(part)}-1/left.0`).toSorted(),
  )
  // What a probe reads, and the index.
  expect(shares[REST], JSON.stringify(shares)).toBeLessThan(0.03)
  expect(expected.size).toBeGreaterThan(SECONDS / 2)
  expect(audioOf(taskApi)).toEqual(expected)
}, 120_000)

describe('what is missing is read from the source', () => {
  test('an object is gone', async () => {
    const gone = `${partTaskNumber(MIDDLE)}-1/left.0`
    const { shares, taskApi } = await made({ beforeRest: ({ work }) => void work.delete(gone) })
    expect(shares[REST]).toBeGreaterThan(0.3)
    expect(shares[REST]).toBeLessThan(0.45)
    expect(audioOf(taskApi)).toEqual(expected)
  }, 120_000)

  test('an object has other bytes', async () => {
    const { shares, taskApi } = await made({
      beforeRest: ({ work }) => void work.get(`${partTaskNumber(FIRST)}-1/left.0`)!.fill(7, 2000),
    })
    expect(shares[REST]).toBeGreaterThan(0.3)
    expect(audioOf(taskApi)).toEqual(expected)
  }, 120_000)

  test('a chunk waits, and nobody makes it', async () => {
    const { shares, taskApi } = await made({ parts: [LAST, FIRST] })
    expect(shares[REST]).toBeGreaterThan(0.3)
    expect(shares[REST]).toBeLessThan(0.45)
    expect(audioOf(taskApi)).toEqual(expected)
  }, 120_000)
})

test('the rest waits for a chunk that is being made', async () => {
  const { shares, taskApi } = await made({
    beforeRest: ({ atWork }) => void atWork.add(MIDDLE),
    duringRest: async (api) => {
      const asked = () => api.counts.get('record') ?? 0
      const before = asked()
      await api.waitFor(() => asked() > before + CHUNK_PARTS.length + 2)
      api.atWork.delete(MIDDLE)
    },
  })
  expect(shares[REST]).toBeLessThan(0.03)
  expect(audioOf(taskApi)).toEqual(expected)
}, 120_000)
