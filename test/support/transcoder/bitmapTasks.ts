// In charge of: sources with bitmap subtitles over grey video, attempts that draw them, and what their outputs show.
// Not in charge of: expectations about times.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { decodeRaw, ffmpeg, lavfi, makeClip } from '../media/media.ts'
import { pgsFile, type PgsEvent } from '../media/pgsFile.ts'
import { withSubtitles, type Page } from '../mpegts/subtitlePages.ts'
import { describeTask, runRequest, type AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** In the matrix of HD, BT.709. The outputs of these tests are SD. */
export const RED = { y: 63, cb: 102, cr: 240 }
export const RED_IN_SD = [81, 90, 240]
export const WHITE = [235, 128, 128]

export interface BitmapTest {
  fixtures: AttemptFixture
  taskApi: FakeTaskApi
  /** A file of the test. */
  path: (name: string) => string
}

export function bitmapTest(fixtures: AttemptFixture, taskApi: FakeTaskApi): BitmapTest {
  return { fixtures, taskApi, path: (name) => join(fixtures.directory, name) }
}

export interface Shape {
  width: number
  height: number
}

/** Grey video with a tone and the subtitles. */
export async function makeSource(
  path: (name: string) => string,
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

/** `track` null = nothing is drawn. */
export async function run(
  { fixtures, taskApi }: BitmapTest,
  source: Buffer,
  change: Partial<JobConfig> = {},
  track: number | null = 1,
): Promise<void> {
  taskApi.source.bytes = source
  const task = describeTask({ container: 'mp4', bitrates: [1500] })
  const drawn = track === null ? {} : { burn_in_captions: { source_track: track } }
  taskApi.task = { ...task, config: { ...task.config, ...drawn, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
}

export interface Seen {
  left: number
  top: number
  right: number
  bottom: number
  /** Mean Y, Cb, Cr of its middle. */
  color: [number, number, number]
}

/** `seenInFile` of an output of the attempt. */
export async function seen({ path, taskApi }: BitmapTest, object: string, shape: Shape): Promise<(Seen | null)[]> {
  const file = path(`out-${object.replaceAll('/', '_')}`)
  await writeFile(file, taskApi.objects().get(object)!)
  return seenInFile(file, shape)
}

/** What differs from grey in each frame of a file; null = nothing. */
export async function seenInFile(file: string, { width, height }: Shape): Promise<(Seen | null)[]> {
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

export function framesOf(found: readonly (Seen | null)[]): number[] {
  return found.flatMap((each, frame) => (each === null ? [] : [frame]))
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

export function expectColor(found: Seen | null | undefined, levels: readonly number[]): void {
  for (const [index, level] of levels.entries()) expect(Math.abs(found!.color[index]! - level)).toBeLessThan(6)
}

export function expectPlace(found: Seen | null | undefined, [left, top, right, bottom]: number[]): void {
  const distances = [found!.left - left!, found!.top - top!, found!.right + 1 - right!, found!.bottom + 1 - bottom!]
  for (const distance of distances) expect(Math.abs(distance)).toBeLessThanOrEqual(2)
}

/** Grey video of 4 s with these pages; the first video packet has all of them. */
export async function makePages(path: (name: string) => string, pages: readonly Page[]): Promise<Buffer> {
  const plain = await makeClip(path('plain.ts'), { picture: 'color=c=gray', audio: [1], flags: ['-g', '25'] })
  return withSubtitles(await readFile(plain), 0x200, pages)
}

export const LOW = { x: 90, y: 480, width: 360, height: 48, color: [81, 240, 90] } as const
export const HIGH = { ...LOW, y: 48 } as const
export const TIMED: Page[] = [
  { seconds: 0.52, timeOut: 1, box: LOW },
  { seconds: 2, timeOut: 1, box: HIGH },
  // Repeated, for receivers that have just been switched on.
  { seconds: 2.6, timeOut: 1, box: HIGH },
]
