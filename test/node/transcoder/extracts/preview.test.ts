// Animated previews of whole attempts, read by a decoder that is not ours: number, order and times of their frames.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../../../support/longForm.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { probeFile } from '../../../support/media/media.ts'
import { missingPython, runPython } from '../../../support/media/pythonReader.ts'
import { skipTest } from '../../../support/requirement.ts'
import { openAttemptFixture, type AttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import { extractTask, runExtracts } from '../../../support/transcoder/extractTasks.ts'

const SECONDS = 20
let fixture: AttemptFixture
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await makeNumberedClip(path('a.mp4'), { seconds: SECONDS })
})
afterAll(() => fixture.remove())

async function previewOf(preview: object, more: object = {}, video = false): Promise<string> {
  const task = extractTask({ animated_preview: preview, ...more }, { video })
  const { taskApi, objects } = await runExtracts(fixture, path('a.mp4'), task)
  try {
    expect(taskApi.fails).toEqual([])
    expect(taskApi.breaches).toEqual([])
    const found = taskApi.finished!.objects.filter(({ role }) => role === 'preview')
    expect(found).toHaveLength(1)
    const file = path(found[0]!.path)
    await writeFile(file, objects.get(found[0]!.path)!)
    return file
  } finally {
    await taskApi.stop()
  }
}

/** The frames that the parts should show. */
function expectedFrames(seconds: number, parts: number, rate: number, from = 0, length = SECONDS): number[] {
  const stretch = (length - from) / parts
  const part = seconds / parts
  return Array.from({ length: parts }, (_, n) => from + stretch * n + (parts === 1 ? 0 : (stretch - part) / 2)).flatMap(
    (begin) => Array.from({ length: Math.round(part * rate) }, (_, n) => Math.floor((begin + n / rate) * 25 + 1e-6)),
  )
}

/** Number of each frame, its milliseconds, and how often it repeats (0 = for ever). */
const READ = `
import json, sys
from PIL import Image
image = Image.open(sys.argv[1])
numbers, times = [], []
for n in range(image.n_frames):
    image.seek(n); image.load()
    grey = image.convert('L').resize((192, 48))
    numbers.append(sum(2 ** bit for bit in range(12) if grey.getpixel((bit * 16 + 8, 24)) > 125))
    times.append(image.info.get('duration'))
print(json.dumps([image.size, numbers, times, image.info.get('loop')]))`

describe.each(sampled([{ video: false }, { video: true }], 1))('with video outputs: $video', ({ video }) => {
  test('mp4: four parts of a second, without audio', async () => {
    const file = await previewOf({ width: 192 }, {}, video)
    expect(await frameNumbers(file)).toEqual(expectedFrames(4, 4, 10))
    const { streams, format } = await probeFile(file)
    expect(
      streams.map(({ codec_type: type, codec_name: codec, width, height, pix_fmt: pixels }) => [
        type,
        codec,
        width,
        height,
        pixels,
      ]),
    ).toEqual([['video', 'h264', 192, 48, 'yuv420p']])
    expect(Number(format.duration)).toBeCloseTo(4, 2)
  })

  test.for(sampled(['gif', 'webp'] as const, 1))(
    '%s: frames, times and loop as another reader finds them',
    async (format, context) => {
      const why = await missingPython(['PIL'])
      if (why !== null) skipTest(context, why)
      const preview = { format, width: 192, seconds: 3, parts: 2, frames_per_second: 8, start_seconds: 6 }
      const file = await previewOf(preview, {}, video)
      const [size, numbers, times, loop] = (await runPython(READ, [file])) as [number[], number[], number[], number]
      expect(size).toEqual([192, 48])
      expect(numbers).toEqual(expectedFrames(3, 2, 8, 6))
      expect(Math.abs(times.reduce((sum, each) => sum + each, 0) - 3000)).toBeLessThanOrEqual(20)
      expect(loop).toBe(0)
    },
  )
})

test('one part from a time, in a cut', async () => {
  const preview = { width: 192, seconds: 2, parts: 1, start_seconds: 3, frames_per_second: 25 }
  const file = await previewOf(preview, { start_seconds: 10, end_seconds: 20 })
  expect(await frameNumbers(file)).toEqual(Array.from({ length: 50 }, (_, n) => 325 + n))
})

test('a source that is shorter than the preview is shown whole', async () => {
  const file = await previewOf({ width: 192, seconds: 10 }, { start_seconds: 10, end_seconds: 12 })
  expect(await frameNumbers(file)).toEqual(Array.from({ length: 20 }, (_, n) => 250 + Math.floor(n * 2.5)))
})
