// Thumbnails by decoding their sheets: each tile shows the frame of its time.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Plan } from '#contract/task/plan/plan.ts'
import { planThumbnails } from '../../../../../transcoder/plan/video/thumbnailPlan.ts'
import { readJpegs } from '../../../../../transcoder/ffmpeg/jpegReader.ts'
import { buildThumbnailFiles } from '../../../../../transcoder/segmenter/sidecarFiles.ts'
import { ffmpeg, lavfi, probeFile, testFfmpeg } from '../../../../support/media/media.ts'
import { jobSpec, packagingSpec, videoProfile, mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'
import { encodeSegmentStreams } from '../../../../support/media/encodeSegmented.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()

const spec = (change: Parameters<typeof videoProfile>[0] = {}, more: Parameters<typeof jobSpec>[0] = {}) =>
  jobSpec({
    packaging: packagingSpec({ hls: true, segmentSeconds: 1, thumbnails: true }),
    video: [videoProfile({ width: 320, height: 180, output: '', audioProfiles: [], ...change })],
    audio: [],
    ...more,
  })

interface Pixel {
  r: number
  g: number
  b: number
}

let decodes = 0

/** Pixels of a JPEG as RGB. */
async function decode(
  picture: Uint8Array,
): Promise<{ width: number; height: number; at: (x: number, y: number) => Pixel }> {
  decodes += 1
  const file = tempDir.file(`picture_${decodes}.jpg`)
  await writeFile(file, picture)
  const { streams } = await probeFile(file)
  const { width, height } = streams[0]!
  const bytes = await ffmpeg(['-i', file, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'])
  return {
    width,
    height,
    at: (x, y) => {
      const from = 3 * (y * width + x)
      return { r: bytes[from]!, g: bytes[from + 1]!, b: bytes[from + 2]! }
    },
  }
}

async function taken(plan: Plan, file: (name: string) => string, duration: number) {
  const take = async (name: string) => readJpegs(Readable.from([await readFile(file(name))]))
  const [sheets, posters] = [await take('thumbnails'), await take('poster')]
  const { track, vtt } = buildThumbnailFiles(plan.packaging!.thumbnails!, { sheets, posters }, { own: 'j-1', duration })
  return { track, vtt: vtt.body, sheets: sheets!, poster: posters![0]! }
}

/** A different colour for each second, in levels of red and green. */
const LEVELS = [30, 90, 150, 210, 250]
const colorOf = (second: number): Pixel => ({
  r: LEVELS[second % 5]!,
  g: LEVELS[Math.floor(second / 5) % 5]!,
  b: LEVELS[4 - (second % 3)]!,
})
const RATE = 10
function clipSource(seconds: number, size = '320x180'): string {
  const shade = (part: keyof Pixel) =>
    Array.from({ length: seconds }, (_, second) => `eq(floor(T)\\,${second})*${colorOf(second)[part]}`).join('+')
  return `color=s=16x16:r=${RATE}:d=${seconds},format=gbrp,geq=r='${shade('r')}':g='${shade('g')}':b='${shade('b')}',scale=${size.replace('x', ':')}:flags=neighbor,setsar=1`
}

async function clip(name: string, seconds: number, flags: readonly string[] = [], size?: string): Promise<string> {
  const path = tempDir.file(name)
  const tags = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv']
  await ffmpeg([
    ...[...lavfi(clipSource(seconds, size)), '-vf', 'scale=out_color_matrix=bt709:out_range=tv,format=yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '10', ...tags, ...flags, path],
  ])
  return path
}

function expectColor(seen: Pixel, expected: Pixel, what: string): void {
  for (const part of ['r', 'g', 'b'] as const)
    expect(
      Math.abs(seen[part] - expected[part]),
      `${what}: ${JSON.stringify(seen)} for ${JSON.stringify(expected)}`,
    ).toBeLessThan(10)
}

interface Tile {
  start: number
  end: number
  sheet: number
  x: number
  y: number
  w: number
  h: number
}

function tiles(vtt: string): Tile[] {
  const seconds = (clock: string) => clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return [...vtt.matchAll(/^([\d:.]+) --> ([\d:.]+)\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/gm)].map(
    ([, start, end, uri, x, y, w, h]) => ({
      start: seconds(start!),
      end: seconds(end!),
      sheet: Number(/(\d+)\.jpg$/.exec(uri!)![1]) - 1,
      ...{ x: Number(x), y: Number(y), w: Number(w), h: Number(h) },
    }),
  )
}

test('each tile of the WebVTT track shows the frame of its time, over several sheets, the last one partly filled', async () => {
  const seconds = 28
  const { plan, file } = await encodeSegmentStreams(spec(), await clip('counted.mp4', seconds), tempDir.path)
  expect(plan.packaging!.thumbnails).toMatchObject({ width: 160, height: 90, columns: 5, rows: 5, intervalSeconds: 1 })
  const { sheets, vtt, track, poster } = await taken(plan, file, seconds)
  expect(sheets).toHaveLength(2)
  expect(track.sheets.map(({ start, duration }) => [start, duration])).toEqual([
    [0, 25_000],
    [25_000, 3000],
  ])
  const decoded = await Promise.all(sheets.map(decode))
  const placed = tiles(vtt)
  expect(placed).toHaveLength(seconds)
  for (const [second, { start, end, sheet, x, y, w, h }] of placed.entries()) {
    expect([start, end]).toEqual([second, second + 1])
    const picture = decoded[sheet]!
    expect(x + w <= picture.width && y + h <= picture.height).toBe(true)
    // JPEG blocks are 16 pixels wide: near an edge, the neighbouring tile affects the colour.
    for (const [dx, dy] of [
      [16, 16],
      [w / 2, h / 2],
      [w - 16, h - 16],
    ] as const)
      expectColor(picture.at(x + dx, y + dy), colorOf(second), `second ${second}`)
  }
  // A position without a tile.
  expectColor(decoded[1]!.at(400, 400), { r: 0, g: 0, b: 0 }, 'the rest')
  // At a tenth of the duration.
  const large = await decode(poster)
  expect([large.width, large.height]).toEqual([320, 180])
  expectColor(large.at(160, 90), colorOf(2), 'poster')
})

describe('shapes', () => {
  test.for([
    [
      'pixels that are not square',
      ['-vf', 'scale=180:144:out_color_matrix=bt709,setsar=16/15,format=yuv420p'],
      {},
      [160, 120],
    ],
    [
      'upright',
      ['-vf', 'scale=90:160:out_color_matrix=bt709,setsar=1,format=yuv420p'],
      { width: 90, height: 160 },
      [90, 160],
    ],
  ] as const)('%s', async ([name, flags, size, expected]) => {
    const path = await clip(`${name.replaceAll(' ', '_')}.mp4`, 3, flags)
    const { plan, file } = await encodeSegmentStreams(spec({ width: 0, height: 0, ...size }), path, tempDir.path)
    const { sheets } = await taken(plan, file, 3)
    expect([plan.packaging!.thumbnails!.width, plan.packaging!.thumbnails!.height]).toEqual(expected)
    const sheet = await decode(sheets[0]!)
    expect([sheet.width, sheet.height]).toEqual([3 * expected[0], expected[1]])
    for (const second of [0, 1, 2])
      expectColor(sheet.at((second + 0.5) * expected[0], expected[1] / 2), colorOf(second), `second ${second}`)
  })

  test('thumbnails include the bars', async () => {
    const path = await clip('barred.mp4', 2)
    const letterboxed = spec({ width: 240, height: 240 }, { transform: 'letterbox' })
    const { plan, file } = await encodeSegmentStreams(letterboxed, path, tempDir.path)
    const { sheets } = await taken(plan, file, 2)
    const sheet = await decode(sheets[0]!)
    expect([sheet.width, sheet.height]).toEqual([320, 160])
    expectColor(sheet.at(80, 4), { r: 0, g: 0, b: 0 }, 'bar')
    expectColor(sheet.at(80, 80), colorOf(0), 'picture')
  })

  test('a source shorter than the interval has one thumbnail', async () => {
    const path = await clip('short.mp4', 1)
    const long = spec({}, { packaging: packagingSpec({ hls: true, segmentSeconds: 6, thumbnails: true }) })
    const { plan, file } = await encodeSegmentStreams(long, path, tempDir.path)
    const { sheets, vtt } = await taken(plan, file, 1)
    expect(sheets).toHaveLength(1)
    expect(tiles(vtt)).toEqual([{ start: 0, end: 1, sheet: 0, x: 0, y: 0, w: 160, h: 90 }])
  })
})

describe('colours', () => {
  test('full range and BT.601 sources come out as they are', async () => {
    const path = tempDir.file('full.mp4')
    await ffmpeg([
      ...[...lavfi(clipSource(2)), '-vf', 'scale=out_color_matrix=smpte170m:out_range=pc,format=yuvj420p'],
      ...'-c:v libx264 -preset ultrafast -crf 10 -colorspace smpte170m -color_range pc'.split(' '),
      path,
    ])
    const { plan, file } = await encodeSegmentStreams(spec(), path, tempDir.path)
    const { sheets } = await taken(plan, file, 2)
    expect(sheets).toHaveLength(1)
    const sheet = await decode(sheets[0]!)
    for (const second of [0, 1]) expectColor(sheet.at(160 * second + 80, 45), colorOf(second), `second ${second}`)
  })

  test('HDR that stays HDR in hevc has thumbnails for screens without it', async (context) => {
    if (!(await testFfmpeg()).features.zscale) context.skip('no zscale')
    const path = tempDir.file('hdr.mp4')
    // White of 203 cd/m² in PQ is a signal of 58 %: 10 bits, limited range.
    const luma = Math.round(64 + 876 * 0.58)
    await ffmpeg([
      ...lavfi(`color=s=320x180:r=10:d=2,format=yuv420p10le,geq=lum=${luma}:cb=512:cr=512`),
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
      ...'-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 -color_range tv'.split(' '),
      path,
    ])
    const hevc = spec({}, { videoCodec: 'hevc', dynamicRange: 'source' })
    const { plan, file } = await encodeSegmentStreams(hevc, path, tempDir.path)
    expect(plan.picture.hdr?.transfer).toBe('smpte2084')
    const { sheets } = await taken(plan, file, 2)
    const { r, g, b } = (await decode(sheets[0]!)).at(80, 45)
    // Without tone mapping it would be a grey of 148.
    expect(Math.min(r, g, b)).toBeGreaterThan(165)
    expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(6)
  })
})

describe('how many', () => {
  const video = { ...videoProfile(), sar: { num: 1, den: 1 }, frameRate: { num: 25, den: 1 } } as never
  const planned = (durationSeconds: number | null) =>
    planThumbnails(video, 150, mediaInfo({ durationSeconds }, { durationSeconds }))

  test.each([
    [3, 1, 1, 6],
    [60, 5, 2, 6],
    [1200, 5, 5, 6],
    [1201, 5, 5, 12],
    [7200, 5, 5, 36],
    [86_400, 5, 5, 432],
    // Unknown duration: every second segment, without a limit.
    [null, 5, 5, 12],
  ])('%s s', (seconds, columns, rows, intervalSeconds) => {
    expect(planned(seconds)).toMatchObject({ columns, rows, intervalSeconds, intervalFrames: intervalSeconds * 25 })
  })
})
