// In charge of: how much of the source the parts of a divided job read.
// Not in charge of: their output (dividedOutput.test.ts), single reads (source/expectedBytes.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeClip } from '../../../support/media/media.ts'
import { makeParts, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const SECONDS = 24
/** In segments of 2 s. */
const CHUNKS = [0, 4, 8]

/** Shares of the source that these of its parts requested. */
async function sharesRead(name: string, flags: string[], parts: readonly number[]): Promise<number[]> {
  const noise = ['-g', '25', '-b:v', '12M', '-minrate', '12M', '-maxrate', '12M', '-bufsize', '2M', '-shortest']
  const options = {
    seconds: SECONDS,
    filters: 'noise=alls=60:allf=t',
    audio: [1] as const,
    flags: [...noise, ...flags],
  }
  const bytes = await readFile(await makeClip(join(fixture.directory, name), options))
  const taskApi = await new FakeTaskApi({ bytes }).start()
  try {
    const task = segmentedTask(CMAF)
    await runDividedJob(fixture, taskApi, task, { chunks: CHUNKS, parts: [] })
    const shares: number[] = []
    for (const part of parts) {
      taskApi.inputRanges.length = 0
      await makeParts(taskApi, { ...task, plan: taskApi.storedPlan }, [part], () => fixture.context())
      shares.push(requested(taskApi.inputRanges, bytes.length) / bytes.length)
    }
    expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
    return shares
  } finally {
    await taskApi.stop()
  }
}

/** A request that is ended early counts whole. */
function requested(ranges: readonly string[], size: number): number {
  return ranges.reduce((sum, text) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(text)!
    return sum + Math.min(Number(last), size - 1) - Number(first) + 1
  }, 0)
}

test('a chunk ends to read with its last frame, and the rest reads the audio alone', async () => {
  const [last, rest, first, middle] = await sharesRead('chunks.mp4', ['-chunk_duration', '1000000'], [0, 1, 2, 3])
  // A third, the run-in of 3 s, and what a probe reads. A reader that is slow under load is given more at its end.
  expect(Math.min(last!, middle!, first!)).toBeLessThan(0.55)
  // 96 of 12,100 kb/s, and 5 of 36 MB at which ffprobe and ffmpeg look.
  expect(rest).toBeLessThan(0.45)
}, 120_000)

test('where they alternate frame by frame, the rest reads the source once, with its index at the end', async () => {
  const [, rest] = await sharesRead('frames.mp4', [], [0, 1])
  expect(rest).toBeLessThan(1.2)
}, 120_000)
