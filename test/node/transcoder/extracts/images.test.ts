// Size and colours of stills, read by decoders that share no code with the encoders: Pillow for JPEG and WebP, dav1d for
// AVIF.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../../../support/longForm.ts'
import { decodeRaw, ffmpeg, lavfi, probeFile } from '../../../support/media/media.ts'
import { missingPython, runPython } from '../../../support/media/pythonReader.ts'
import { skipSuite, skipTest } from '../../../support/requirement.ts'
import { openAttemptFixture, type AttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import { extractTask, runExtracts } from '../../../support/transcoder/extractTasks.ts'

let fixture: AttemptFixture
const path = (name: string): string => join(fixture.directory, name)
const missing = await missingPython(['PIL'])

/** One colour in each quarter. */
const COLORS = [
  [200, 60, 90],
  [30, 60, 90],
  [200, 180, 90],
  [30, 180, 90],
]
const quarters = (size: string) =>
  `color=s=${size}:r=25:d=1,format=gbrp,geq=r='if(lt(X,W/2),200,30)':g='if(lt(Y,H/2),60,180)':b=90`
const tags = (matrix: string, range: string) =>
  `-colorspace ${matrix} -color_primaries ${matrix} -color_trc ${matrix} -color_range ${range}`.split(' ')

/** The same colours by the equations of BT.709: scale of ffmpeg 7.0 writes the matrix of BT.601 in full range. */
const LUMA = '(0.2126*if(lt(X,W/2),200,30)+0.7152*if(lt(Y,H/2),60,180)+0.0722*90)'
const FULL = `format=yuv420p,geq=lum='${LUMA}+0.5':cb='128.5+(90-${LUMA})/1.8556':cr='128.5+(if(lt(X,W/2),200,30)-${LUMA})/1.5748'`

async function clip(name: string, size: string, filters: string, flags: readonly string[]): Promise<void> {
  await ffmpeg([
    ...['-y', ...lavfi(quarters(size)), '-vf', filters, '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0'],
    ...[...flags, path(name)],
  ])
}

beforeAll(async () => {
  fixture = await openAttemptFixture()
  const to = (matrix: string, range: string, format: string) =>
    `scale=out_color_matrix=${matrix}:out_range=${range}:flags=accurate_rnd+full_chroma_int,format=${format}`
  await Promise.all([
    clip('hd.mp4', '1280x720', to('bt709', 'tv', 'yuv420p'), tags('bt709', 'tv')),
    clip('sd.mp4', '320x240', to('smpte170m', 'tv', 'yuv420p'), []),
    clip('full.mp4', '320x180', FULL, tags('bt709', 'pc')),
    clip('wide.mp4', '180x144', `${to('bt709', 'tv', 'yuv420p')},setsar=16/15`, tags('bt709', 'tv')),
  ])
})
afterAll(() => fixture.remove())

async function still(source: string, element: object, more: object = {}): Promise<string> {
  const task = extractTask({ stills: [{ at_seconds: 0.5, ...element }], ...more }, { video: false })
  const { taskApi, objects } = await runExtracts(fixture, path(source), task)
  try {
    expect(taskApi.fails).toEqual([])
    const [[name, bytes] = ['', Buffer.alloc(0)]] = [...objects]
    await writeFile(path(name), bytes)
    return path(name)
  } finally {
    await taskApi.stop()
  }
}

/** Size, and the colour in the middle of each quarter. */
const READ = `
import json, sys
from PIL import Image
image = Image.open(sys.argv[1]); image.load()
kind = image.format
image = image.convert('RGB')
w, h = image.size
print(json.dumps([kind, [w, h], [image.getpixel((w * x // 4, h * y // 4)) for y in (1, 3) for x in (1, 3)]]))`

function expectColors(found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): void {
  for (const [index, color] of expected.entries())
    for (const [channel, level] of color.entries())
      expect(Math.abs(found[index]![channel]! - level), JSON.stringify(found)).toBeLessThanOrEqual(2)
}

describe.skipIf(skipSuite(missing))('as another decoder reads them', () => {
  const cases = [
    { source: 'hd.mp4', format: 'jpeg', element: {}, size: [1280, 720] },
    { source: 'sd.mp4', format: 'webp', element: {}, size: [320, 240] },
    { source: 'full.mp4', format: 'jpeg', element: { width: 161 }, size: [161, 91] },
    { source: 'hd.mp4', format: 'webp', element: { height: 101 }, size: [180, 101] },
    { source: 'sd.mp4', format: 'jpeg', element: { width: 400, height: 90 }, size: [120, 90] },
    { source: 'wide.mp4', format: 'jpeg', element: {}, size: [192, 144] },
    { source: 'full.mp4', format: 'webp', element: { width: 640 }, size: [640, 360] },
  ]
  test.each(sampled(cases, 2))('$format of $source, $element', async ({ source, format, element, size }) => {
    const file = await still(source, { ...element, format, quality: 100 })
    const [kind, found, colors] = (await runPython(READ, [file])) as [string, number[], number[][]]
    expect([kind, found]).toEqual([format.toUpperCase(), size])
    expectColors(colors, COLORS)
  })

  test('turned by the job', async () => {
    const file = await still(
      'hd.mp4',
      { quality: 100, height: 320 },
      { video_aspect_ratio: 'rotate_counterclockwise + invert_aspect_ratio' },
    )
    const [, size, colors] = (await runPython(READ, [file])) as [string, number[], number[][]]
    expect(size).toEqual([180, 320])
    expectColors(colors, [COLORS[1]!, COLORS[3]!, COLORS[0]!, COLORS[2]!])
  })
})

/** PQ in 10 bits of full range, one colour in each quarter: 8 to 150 cd/m², inside of BT.709 and beyond it. */
const PQ = [
  [560, 440, 400],
  [380, 440, 400],
  [560, 520, 400],
  [380, 520, 400],
]

/** PQ → BT.709 primaries → the curve of Hable with white at 1,000 cd/m² → gamma 2.4 (SMPTE ST 2084, BT.2087, BT.1886). */
const TONE_MAPPED = `
import json, sys
import numpy as np
m1, m2, c1, c2, c3 = 2610/16384, 2523/32, 3424/4096, 2413/128, 2392/128
codes = np.array(json.loads(sys.argv[1])) / 1023
power = codes ** (1/m2)
light = 100 * (np.maximum(power - c1, 0) / (c2 - c3 * power)) ** (1/m1)
matrix = np.array([[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]])
light = np.maximum(light @ matrix.T, 0)
hable = lambda x: (x*(0.15*x+0.05)+0.004)/(x*(0.15*x+0.5)+0.06) - 0.02/0.3
most = light.max(axis=1, keepdims=True)
mapped = light * hable(most) / hable(10) / most
print(json.dumps((255 * mapped ** (1/2.4)).tolist()))`

/** Of neighbouring rows, the mean difference in the middle of the image. */
const COMBING = `
import json, sys
import numpy as np
from PIL import Image
rows = np.asarray(Image.open(sys.argv[1]).convert('L')).astype(float)
rows = rows[len(rows) // 4 : 3 * len(rows) // 4]
print(json.dumps(float(np.abs(rows[1:] - rows[:-1]).mean())))`

describe.skipIf(skipSuite(missing ?? (await missingPython(['numpy']))))('of unusual sources', () => {
  test('HDR: the tone-mapped colours', async () => {
    const [first, second, third] = [0, 1, 2].map((channel) => {
      const at = (quarter: number) => PQ[quarter]![channel]!
      return `if(lt(Y,H/2),if(lt(X,W/2),${at(0)},${at(1)}),if(lt(X,W/2),${at(2)},${at(3)}))`
    })
    const colors = `color=s=320x180:r=25:d=1,format=gbrp10,geq=r='${first}':g='${second}':b='${third}'`
    const toYuv = 'scale=out_color_matrix=bt2020:out_range=tv:flags=accurate_rnd+full_chroma_int,format=yuv420p10'
    await ffmpeg([
      ...['-y', ...lavfi(colors), '-vf', toYuv, '-c:v', 'libx265', '-preset', 'ultrafast'],
      ...['-x265-params', 'lossless=1:log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
      ...['-colorspace', 'bt2020nc', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-color_range', 'tv'],
      path('hdr.mp4'),
    ])
    const file = await still('hdr.mp4', { quality: 100 })
    const [, , found] = (await runPython(READ, [file])) as [string, number[], number[][]]
    const wanted = (await runPython(TONE_MAPPED, [JSON.stringify(PQ)])) as number[][]
    for (const [quarter, color] of wanted.entries())
      for (const [channel, level] of color.entries())
        expect(Math.abs(found[quarter]![channel]! - level), JSON.stringify({ found, wanted })).toBeLessThanOrEqual(4)
  })

  test('interlaced: a moving edge without combing', async () => {
    const bar = `color=white:s=320x180:r=50:d=2,format=gray,geq=lum='255*gt(mod(X-6*N,160),80)'`
    const interlaced = 'tinterlace=interleave_top,setfield=tff,format=yuv420p'
    const flags = ['-flags', '+ilme+ildct', '-x264-params', 'tff=1']
    await ffmpeg([
      ...['-y', ...lavfi(bar), '-vf', interlaced, '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10', ...flags],
      path('interlaced.mp4'),
    ])
    await ffmpeg(['-y', '-ss', '1', '-i', path('interlaced.mp4'), '-frames:v', '1', path('combed.png')])
    const file = await still('interlaced.mp4', { at_seconds: 1, quality: 100 })
    expect(await runPython(COMBING, [path('combed.png')])).toBeGreaterThan(10)
    expect(await runPython(COMBING, [file])).toBeLessThan(1)
  })
})

test('AVIF: one image with its colours', async (context) => {
  if (!fixture.engine.features.avif) skipTest(context, 'this ffmpeg has no libaom')
  const file = await still('hd.mp4', { format: 'avif', quality: 100, width: 320 })
  const { streams } = await probeFile(file)
  expect(streams.map(({ codec_name: codec, width, height }) => [codec, width, height])).toEqual([['av1', 320, 180]])
  const pixels = await decodeRaw(file, 'rgb24')
  expect(pixels.length).toBe(320 * 180 * 3)
  const at = (x: number, y: number) => [...pixels.subarray(3 * (y * 320 + x), 3 * (y * 320 + x) + 3)]
  expectColors([at(80, 45), at(240, 45), at(80, 135), at(240, 135)], COLORS)
})

test.each([
  {
    feature: 'webp',
    members: { stills: [{ count: 1, format: 'webp' }] },
    field: 'stills[0].format',
    allowed: ['jpeg'],
  },
  {
    feature: 'avif',
    members: { stills: [{ count: 1, format: 'avif' }] },
    field: 'stills[0].format',
    allowed: ['jpeg', 'webp'],
  },
  {
    feature: 'gif',
    members: { animated_preview: { format: 'gif' } },
    field: 'animated_preview.format',
    allowed: ['mp4'],
  },
] as const)(
  'without $feature in ffmpeg, $field is refused with what it has',
  async ({ feature, members, field, allowed }) => {
    const { engine } = fixture
    const without = { ...engine, features: { ...engine.features, [feature]: false } }
    const lacking = { ...fixture, context: () => ({ ...fixture.context(), engine: without }) }
    const { taskApi } = await runExtracts(lacking, path('hd.mp4'), extractTask(members, { video: false }))
    expect(taskApi.fails[0]?.error).toMatchObject({ code: 'unsupported_combination', field, details: { allowed } })
    await taskApi.stop()
  },
)
