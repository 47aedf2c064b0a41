// In charge of: the search in a transport stream for the frame with which a chunk begins to decode: the same frame that
// ffprobe lists, with few reads.
// Not in charge of: the frames that are decoded from there (encoding/video/transportChunks.long.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { TransportSearch } from '../../../../transcoder/analysis/transportSeek.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const SECONDS = 80
/** Of MPEG-2 with two B frames, a multiple of three. */
const GOP_FRAMES = 99
const GOP_SECONDS = GOP_FRAMES / 25
/** Its decoding times wrap before the end. Within a minute of that, ffmpeg would begin below 0. */
const WRAP = 2 ** 33 / 90_000
const START = 95_375

async function searched(
  coding: string[],
  seconds = SECONDS,
): Promise<{ search: TransportSearch; reads: number[]; first: number }> {
  const path = directory.file('searched.ts')
  await ffmpeg([
    ...['-y', ...lavfi(`testsrc2=s=96x64:r=25:d=${seconds},format=yuv420p`, `sine=d=${seconds}`)],
    ...[...coding, '-g', `${GOP_FRAMES}`, '-c:a', 'mp2', '-b:a', '64k'],
    // Most of it is padding: much to search, little to encode.
    ...['-muxrate', '2M', '-output_ts_offset', `${START}`, path],
  ])
  const bytes = await readFile(path)
  const engine = await testFfmpeg()
  const media = await probe(engine, `file:${path}`, { cwd: directory.path })
  const reads: number[] = []
  const search = TransportSearch.of(
    async (first, count) => {
      reads.push(count)
      return bytes.subarray(first, first + count)
    },
    bytes.length,
    media,
  )
  return { search: search!, reads, first: media.video!.startSeconds! }
}

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-sc_threshold', '0']

test.each([
  { name: 'closed GOPs', coding: [...X264, '-bf', '2'] },
  { name: 'open GOPs', coding: [...X264, '-bf', '2', '-x264-params', 'open-gop=1'] },
  { name: 'MPEG-2', coding: ['-c:v', 'mpeg2video', '-bf', '2', '-sc_threshold', '1000000000'] },
])('$name: the last key frame before each time', async ({ coding }) => {
  const { search, reads, first } = await searched(coding)
  expect(first).toBeGreaterThan(START)
  expect(first).toBeLessThan(WRAP)
  for (const wanted of [13.5, 29.1, 66.7, 79]) {
    reads.length = 0
    const found = await search.accessPointBefore(first + wanted)
    if (found === null || found === 'beginning') throw new Error(`nothing before ${wanted} s`)
    const key = Math.floor(wanted / GOP_SECONDS) * GOP_SECONDS
    // Its decoding time: frames are held back.
    expect(found.seconds - first).toBeGreaterThan(key - 0.2)
    expect(found.seconds - first).toBeLessThanOrEqual(key + 0.001)
    expect(reads.length).toBeLessThanOrEqual(16)
    expect(reads.reduce((sum, count) => sum + count, 0)).toBeLessThan(6 * 1024 * 1024)
  }
})

test('near the beginning, and without key frames', async () => {
  const { search, first } = await searched([...X264, '-x264-params', 'intra-refresh=1:keyint=50'])
  expect(await search.accessPointBefore(first + 20)).toMatchObject({ offset: expect.any(Number) as number })
  expect(await search.accessPointBefore(first + 75)).toBeNull()
})

test('the first frames are decoded before the time at which the video begins', async () => {
  const { search } = await searched([...X264, '-bf', '3', '-x264-params', 'b-pyramid=normal'], 0.4)
  expect(await search.runsOn()).toBe(true)
})
