// In charge of: bitmap subtitles of the source drawn into the video, in whole attempts: exactly the expected frames, place and
// colours, decoded from the outputs.
// Not in charge of: text (burnIn.test.ts), places in outputs of other shapes (plan/bitmapPlacement.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { decodeRaw, ffmpeg, lavfi, readPackets } from '../../../support/media/media.ts'
import { pgsFile, type PgsEvent } from '../../../support/media/pgsFile.ts'
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
