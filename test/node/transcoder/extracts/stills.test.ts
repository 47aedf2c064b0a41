// Stills of whole attempts, decoded: each is exactly the frame of its time.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { openAttemptFixture, type AttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import { extractTask, runExtracts } from '../../../support/transcoder/extractTasks.ts'

const SECONDS = 12
const SOURCES = [
  { source: 'b.mkv', rate: 30_000 / 1001 },
  { source: 'a.mp4', rate: 25 },
  { source: 'c.ts', rate: 25 },
]
let fixture: AttemptFixture
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await Promise.all([
    makeNumberedClip(path('a.mp4'), { seconds: SECONDS }),
    makeNumberedClip(path('b.mkv'), { seconds: SECONDS, rate: '30000/1001' }),
    ...(LONG_FORM ? [makeNumberedClip(path('c.ts'), { seconds: SECONDS })] : []),
  ])
})
afterAll(() => fixture.remove())

/** The number of the frame in each image, by path; and all warnings. */
async function stillsOf(
  source: string,
  members: object,
  options: { video?: boolean; ranges?: boolean } = {},
): Promise<{ frames: Record<string, number>; warnings: string[] }> {
  const { taskApi, objects } = await runExtracts(fixture, path(source), extractTask(members, options), options)
  try {
    expect(taskApi.fails).toEqual([])
    expect(taskApi.breaches).toEqual([])
    const files = new Map<string, string>()
    for (const object of taskApi.finished!.objects.filter(({ role }) => role === 'still')) {
      const file = path(object.path.replaceAll('/', '_'))
      await writeFile(file, objects.get(object.path)!)
      files.set(object.path, file)
    }
    const numbers = await Promise.all(
      [...files].map(async ([name, file]) => {
        const [number, ...more] = await frameNumbers(file)
        expect(more).toEqual([])
        return [name, number!] as const
      }),
    )
    const frames = Object.fromEntries(numbers)
    return { frames, warnings: taskApi.finished!.warnings.map(({ code }) => code) }
  } finally {
    await taskApi.stop()
  }
}

describe.each(sampled([{ video: true }, { video: false }], 1))('with video outputs: $video', ({ video }) => {
  test.each(sampled(SOURCES, 1))(
    '$source: every still is the frame that is shown at its time',
    async ({ source, rate }) => {
      const stills = [
        { at_seconds: [10.5, 0, 3.04, '00:00:07.320', 3.05] },
        { every_seconds: 2.5, output: 'all/s.jpg' },
        { count: 4, format: 'webp' },
        { at_seconds: '00:00:05:06', output: 'poster.jpg' },
      ]
      const { frames, warnings } = await stillsOf(source, { stills }, { video })
      const at = (seconds: number) => Math.floor((seconds + 0.0005) * rate + 1e-6)
      const expected = (length: number) => ({
        'clip_still_0_0001.jpg': 0,
        'clip_still_0_0002.jpg': at(3.04),
        'clip_still_0_0003.jpg': at(3.05),
        'clip_still_0_0004.jpg': at(7.32),
        'clip_still_0_0005.jpg': at(10.5),
        'all/s_0001.jpg': 0,
        'all/s_0002.jpg': at(2.5),
        'all/s_0003.jpg': at(5),
        'all/s_0004.jpg': at(7.5),
        'all/s_0005.jpg': at(10),
        'clip_still_2_0001.webp': at((length * 1) / 8),
        'clip_still_2_0002.webp': at((length * 3) / 8),
        'clip_still_2_0003.webp': at((length * 5) / 8),
        'clip_still_2_0004.webp': at((length * 7) / 8),
        'poster.jpg': 5 * Math.round(rate) + 6,
      })
      // Muxers of Matroska differ in whether they count the time that the last frame is shown.
      expect([expected(SECONDS), expected(Math.ceil(SECONDS * rate) / rate)]).toContainEqual(frames)
      expect(warnings).not.toContain('stills_left_out')
    },
  )
})

describe.each(sampled([{ video: false }, { video: true }], 1))('with video outputs: $video', ({ video }) => {
  test('times of a cut count from its beginning', async () => {
    const cut = { start_seconds: 4, end_seconds: 8 }
    const stills = [{ at_seconds: [0, 3.96, 4] }, { count: 2, output: 'n.jpg' }]
    const { frames, warnings } = await stillsOf('a.mp4', { ...cut, stills }, { video })
    expect(frames).toEqual({
      'clip_still_0_0001.jpg': 100,
      'clip_still_0_0002.jpg': 199,
      'n_0001.jpg': 125,
      'n_0002.jpg': 175,
    })
    expect(warnings).toContain('stills_left_out')
  })

  test('a source that can only be read in order', async () => {
    const { frames } = await stillsOf('a.mp4', { stills: [{ at_seconds: [2, 9] }] }, { video, ranges: false })
    expect(Object.values(frames)).toEqual([50, 225])
  })
})
