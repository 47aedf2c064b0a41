// In charge of: bitmap subtitles of the source drawn into the video, in whole attempts: exactly the expected frames, place and
// colours, decoded from the outputs.
// Not in charge of: text (burnIn.test.ts), places in outputs of other shapes (plan/bitmapPlacement.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { decodeRaw, ffmpeg, lavfi, makeClip, readPackets } from '../../../support/media/media.ts'
import { pgsFile, type PgsEvent } from '../../../support/media/pgsFile.ts'
import { withSubtitles, type Page } from '../../../support/mpegts/subtitlePages.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()
const path = (name: string): string => join(fixtures.directory, name)
/** In the matrix of HD, BT.709. The outputs of these tests are SD. */
const RED = { y: 63, cb: 102, cr: 240 }
const RED_IN_SD = [81, 90, 240]
const WHITE = [235, 128, 128]

interface Shape {
  width: number
  height: number
}

/** Grey video with a tone and the subtitles. */
async function makeSource(
  name: string,
  canvas: Shape,
  events: readonly PgsEvent[],
  {
    rate = '25',
    seconds = 4,
    size = '320x180',
    flags = ['-c:s', 'copy'],
  }: { rate?: string; seconds?: number; size?: string; flags?: string[] } = {},
): Promise<Buffer> {
  // ffmpeg moves the first set of a file to 0.
  await writeFile(path('made.sup'), pgsFile(canvas, [{ at: 0, shows: [] }, ...events]))
  await ffmpeg([
    ...lavfi(`color=c=gray:s=${size}:r=${rate}:d=${seconds}`, `sine=f=440:r=48000:d=${seconds}`),
    ...['-i', path('made.sup'), '-map', '0', '-map', '1', '-map', '2'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25', '-c:a', 'aac', ...flags],
    path(name),
  ])
  return readFile(path(name))
}

async function run(source: Buffer, change: Partial<JobConfig> = {}, bitrates: number[] = [1500]): Promise<void> {
  taskApi.source.bytes = source
  const task = describeTask({ container: 'mp4', bitrates })
  taskApi.task = { ...task, config: { ...task.config, burn_in_captions: { source_track: 1 }, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
}

interface Seen {
  left: number
  top: number
  right: number
  bottom: number
  /** Mean Y, Cb, Cr of its middle. */
  color: [number, number, number]
}

/** What differs from grey in each frame of an output; null = nothing. */
async function seen(object: string, { width, height }: Shape): Promise<(Seen | null)[]> {
  const file = path(`out-${object.replaceAll('/', '_')}`)
  await writeFile(file, taskApi.objects().get(object)!)
  const planes = await decodeRaw(file, 'yuv444p')
  const plane = width * height
  return Array.from({ length: planes.length / (plane * 3) }, (_, frame) => {
    const at = frame * plane * 3
    const found = { left: width, top: height, right: -1, bottom: -1 }
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        if (Math.abs(planes[at + y * width + x]! - 126) > 30) {
          found.left = Math.min(found.left, x)
          found.right = Math.max(found.right, x)
          found.top = Math.min(found.top, y)
          found.bottom = y
        }
    if (found.right < 0) return null
    const [x, y] = [(found.left + found.right) >> 1, (found.top + found.bottom) >> 1]
    const level = (index: number): number => planes[at + index * plane + y * width + x]!
    return { ...found, color: [level(0), level(1), level(2)] }
  })
}

function framesOf(found: readonly (Seen | null)[]): number[] {
  return found.flatMap((each, frame) => (each === null ? [] : [frame]))
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

test('PGS: each subtitle is in its frames, its place and its colours, in each output', async () => {
  const events = [
    { at: 0.48, shows: [{ x: 200, y: 880, width: 600, height: 120, color: RED }] },
    { at: 1, shows: [{ x: 960, y: 120, width: 480, height: 60 }] },
    { at: 1.04, shows: [] },
    { at: 3, shows: [{ x: 200, y: 880, width: 600, height: 120 }] },
  ]
  const source = await makeSource('a.mkv', { width: 1920, height: 1080 }, events)
  const [first] = describeTask({ container: 'mp4' }).config.videoProfiles
  const videoProfiles = [
    { ...first!, video_bitrate: 1500 },
    { ...first!, output: 'out/v1.mp4', width: 640, height: 360, video_bitrate: 1500 },
  ]
  await run(source, { videoProfiles })
  expect(taskApi.fails).toEqual([])
  for (const [object, shape] of [
    ['out/v0.mp4', { width: 320, height: 180 }],
    ['out/v1.mp4', { width: 640, height: 360 }],
  ] as const) {
    const found = await seen(object, shape)
    expect(framesOf(found)).toEqual([...range(12, 26), ...range(75, 100)])
    const scale = shape.width / 1920
    const place = (x: number, y: number, width: number, height: number): number[] =>
      [x, y, x + width, y + height].map((value) => value * scale)
    expectPlace(found[20], place(200, 880, 600, 120))
    expectPlace(found[25], place(960, 120, 480, 60))
    expectColor(found[20], RED_IN_SD)
    expectColor(found[80], WHITE)
  }
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(taskApi.breaches).toEqual([])
})

function expectColor(found: Seen | null | undefined, levels: readonly number[]): void {
  for (const [index, level] of levels.entries()) expect(Math.abs(found!.color[index]! - level)).toBeLessThan(6)
}

function expectPlace(found: Seen | null | undefined, [left, top, right, bottom]: number[]): void {
  const distances = [found!.left - left!, found!.top - top!, found!.right + 1 - right!, found!.bottom + 1 - bottom!]
  for (const distance of distances) expect(Math.abs(distance)).toBeLessThanOrEqual(2)
}

test('DVB: objects of a transport stream, on the canvas of SD', async () => {
  const events = [{ at: 0.52, shows: [{ x: 100, y: 480, width: 300, height: 60 }] }]
  const source = await makeSource('a.ts', { width: 720, height: 576 }, events, { flags: ['-c:s', 'dvbsub'] })
  await run(source)
  expect(taskApi.fails).toEqual([])
  const found = await seen('out/v0.mp4', { width: 320, height: 180 })
  // ffmpeg's encoder chooses when it clears the screen.
  const [set, clear] = (await readPackets(path('a.ts'), 's:0')).map(({ pts_time }) => Number(pts_time))
  const seconds = Number((0.52 + clear! - set!).toFixed(3))
  expect(framesOf(found)).toEqual(range(13, Math.ceil(seconds * 25)))
  expectPlace(found[20], [100 / 2.25, 480 / 3.2, 400 / 2.25, 540 / 3.2])
  expectColor(found[20], WHITE)
})

/** Grey video of 4 s with these pages; the first video packet has all of them. */
async function makePages(pages: readonly Page[]): Promise<Buffer> {
  const plain = await makeClip(path('plain.ts'), { picture: 'color=c=gray', audio: [1], flags: ['-g', '25'] })
  return withSubtitles(await readFile(plain), 0x200, pages)
}

const LOW = { x: 90, y: 480, width: 360, height: 48, color: [81, 240, 90] } as const
const HIGH = { ...LOW, y: 48 } as const
const TIMED: Page[] = [
  { seconds: 0.52, timeOut: 1, box: LOW },
  { seconds: 2, timeOut: 1, box: HIGH },
  // Repeated, for receivers that have just been switched on.
  { seconds: 2.6, timeOut: 1, box: HIGH },
]

test('DVB: a page ends at its time-out, unless it is repeated', async () => {
  await run(await makePages(TIMED))
  expect(taskApi.fails).toEqual([])
  const found = await seen('out/v0.mp4', { width: 320, height: 180 })
  expect(framesOf(found)).toEqual([...range(13, 38), ...range(50, 90)])
  expectPlace(found[20], [40, 150, 200, 165])
  expectPlace(found[70], [40, 15, 200, 30])
  expectColor(found[20], RED_IN_SD)
  // It is a part of the output, if not as a stream.
  expect(taskApi.plans[0]!.warnings).toEqual([])
  expect(taskApi.plans[0]).toMatchObject({ plan: { burnIn: { kind: 'bitmap', codec: 'dvb_subtitle', cues: 2 } } })
})

test('DVB: a canvas of HD, and a page that clears the screen', async () => {
  const canvas = { width: 1920, height: 1080 }
  const box = { ...LOW, x: 480, y: 900, width: 960, height: 90 }
  await run(
    await makePages([
      { seconds: 1, box, canvas },
      { seconds: 1.24, regions: 0, canvas },
    ]),
  )
  const found = await seen('out/v0.mp4', { width: 320, height: 180 })
  expect(framesOf(found)).toEqual(range(25, 31))
  expectPlace(found[28], [80, 150, 240, 165])
})

test('a part of the source: a subtitle that is on the screen at its beginning starts with it', async () => {
  await run(await makePages(TIMED), { start_seconds: '0.8', end_seconds: '2.52' })
  expect(taskApi.fails).toEqual([])
  const found = await seen('out/v0.mp4', { width: 320, height: 180 })
  expect(found).toHaveLength(43)
  expect(framesOf(found)).toEqual([...range(0, 18), ...range(30, 43)])
})

test('Matroska at 23.976: a cut, and times in whole milliseconds', async () => {
  const shows = [{ x: 200, y: 880, width: 600, height: 120 }]
  const [rate, frame] = ['24000/1001', 1001 / 24_000]
  const events = [10, 17, 40, 41, 60, 61].map((number, index) => ({
    at: number * frame,
    shows: index % 2 === 0 ? shows : [],
  }))
  const source = await makeSource('film.mkv', { width: 1920, height: 1080 }, events, { rate })
  await run(source, { start_seconds: '00:00:00:12', end_seconds: '00:00:02:13' })
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen('out/v0.mp4', { width: 320, height: 180 }))).toEqual([...range(0, 5), 28, 48])
})

test('a track without captions, or with none in the part that is used, gives a warning', async () => {
  await run(await makePages(TIMED), { start_seconds: '3.8' })
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen('out/v0.mp4', { width: 320, height: 180 }))).toEqual([])
  expect(taskApi.plans[0]).toMatchObject({
    plan: { burnIn: { kind: 'bitmap', drawn: null, cues: 0 } },
    warnings: expect.arrayContaining([expect.objectContaining({ code: 'captions_empty' })]),
  })
})

test('a track that is not there is an error that says which there are', async () => {
  const source = await makePages(TIMED)
  await run(source, { burn_in_captions: { source_track: 2 } })
  expect(taskApi.fails).toMatchObject([
    {
      error: {
        code: 'subtitle_track_missing',
        field: 'burn_in_captions.source_track',
        message: expect.stringContaining('dvb_subtitle'),
      },
    },
  ])
})

test('subtitles of a DVD cannot be drawn: the error says which kinds can', async () => {
  const events = [{ at: 1, shows: [{ x: 100, y: 480, width: 300, height: 60 }] }]
  await run(await makeSource('dvd.mkv', { width: 720, height: 576 }, events, { flags: ['-c:s', 'dvdsub'] }))
  expect(taskApi.fails).toMatchObject([
    { error: { code: 'subtitle_track_unsupported', message: expect.stringContaining('DVB and PGS') } },
  ])
})

test('damaged packets: what can be read is drawn, and a warning says so', async () => {
  const source = await makePages([
    { seconds: 0.52, timeOut: 1, box: LOW },
    { seconds: 2, box: HIGH },
  ])
  // The first region has no depth.
  const at = source.indexOf(Buffer.from([0x0f, 0x11, 0, 1, 0, 10]))
  source[at + 12] = 0
  await run(source)
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen('out/v0.mp4', { width: 320, height: 180 }))).toEqual(range(50, 100))
  expect(taskApi.plans[0]!.warnings).toContainEqual(expect.objectContaining({ code: 'captions_damaged' }))
})
