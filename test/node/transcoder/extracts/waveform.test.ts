// Waveforms of whole attempts, compared with a computation in NumPy from a WAV of the same audio.
import { writeFile } from 'node:fs/promises'
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ffmpeg } from '../../../support/media/media.ts'
import { sampled } from '../../../support/longForm.ts'
import { missingPython, runPython } from '../../../support/media/pythonReader.ts'
import { skipSuite } from '../../../support/requirement.ts'
import { openAttemptFixture, type AttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import { extractTask, runExtracts } from '../../../support/transcoder/extractTasks.ts'

let fixture: AttemptFixture
const path = (name: string): string => join(fixture.directory, name)
const missing = await missingPython(['PIL', 'numpy'])

beforeAll(async () => {
  fixture = await openAttemptFixture()
  const left = 'aevalsrc=0.9*sin(440*2*PI*t)*t/7|0.5*random(0)-0.25:s=44100:d=7.3'
  await ffmpeg(['-y', '-f', 'lavfi', '-i', left, '-c:a', 'pcm_s16le', path('a.wav')])
  await ffmpeg([
    ...['-y', '-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=7', '-i', path('a.wav')],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'flac', '-shortest', path('a.mkv')],
  ])
  // Six channels, at a time stamp other than 0.
  await ffmpeg(['-y', '-i', path('a.wav'), '-ac', '6', '-c:a', 'ac3', '-f', 'mpegts', path('a.ts')])
})
afterAll(() => fixture.remove())

/** Minimum and maximum of each pixel, from a WAV, as [min, max, …] for each channel in turn. */
const PEAKS = `
import json, sys, wave, numpy
name, mono, per_pixel, bits, first, last = sys.argv[1], sys.argv[2] == 'mono', *map(int, sys.argv[3:7])
if name.endswith('.s16'):
    channels, raw = 6, open(name, 'rb').read()
else:
    with wave.open(name) as wav: channels, raw = wav.getnchannels(), wav.readframes(wav.getnframes())
data = numpy.frombuffer(raw, '<i2').reshape(-1, channels).astype(int)
data = data[first:last if last > 0 else None]
if mono: data = numpy.fix(data.sum(axis=1, keepdims=True) / channels).astype(int)
out = []
for at in range(0, len(data), per_pixel):
    part = data[at:at + per_pixel]
    for channel in range(part.shape[1]): out += [part[:, channel].min(), part[:, channel].max()]
print(json.dumps([int(v if bits == 16 else numpy.fix(v / 256)) for v in out]))
`

async function waveformOf(source: string, waveform: object, more: object = {}, video = false): Promise<Buffer> {
  const { taskApi, objects } = await runExtracts(fixture, path(source), extractTask({ waveform, ...more }, { video }))
  try {
    expect(taskApi.fails).toEqual([])
    expect(taskApi.breaches).toEqual([])
    const found = taskApi.finished!.objects.filter(({ role }) => role === 'waveform')
    expect(found).toHaveLength(1)
    return objects.get(found[0]!.path)!
  } finally {
    await taskApi.stop()
  }
}

interface Waveform {
  version: number
  channels: number
  sample_rate: number
  samples_per_pixel: number
  bits: number
  length: number
  data: number[]
}

const expectedPeaks = (name: string, ...args: (string | number)[]): Promise<unknown> =>
  runPython(PEAKS, [path(name), ...args.map(String)])

describe.skipIf(skipSuite(missing))('the peaks of every pixel are those of NumPy', () => {
  const cases = [
    {
      source: 'a.wav',
      waveform: { bits: 16, split_channels: true, samples_per_pixel: 100 },
      perPixel: 100,
      bits: 16,
      split: true,
    },
    { source: 'a.wav', waveform: {}, perPixel: 256, bits: 8, split: false },
    { source: 'a.wav', waveform: { pixels_per_second: 20, bits: '16' }, perPixel: 2205, bits: 16, split: false },
    { source: 'a.wav', waveform: { samples_per_pixel: 1_000_000 }, perPixel: 1_000_000, bits: 8, split: false },
  ]
  test.each(sampled(cases, 1))('$source, $waveform', async ({ source, waveform, perPixel, bits, split }) => {
    const found = JSON.parse((await waveformOf(source, waveform)).toString()) as Waveform
    const { data, ...head } = found
    const channels = split ? 2 : 1
    expect(head).toEqual({
      version: 2,
      channels,
      sample_rate: 44_100,
      samples_per_pixel: perPixel,
      bits,
      length: Math.ceil((7.3 * 44_100) / perPixel),
    })
    expect(data).toHaveLength(head.length * 2 * channels)
    expect(data).toEqual(await expectedPeaks(source, split ? 'split' : 'mono', perPixel, bits, 0, 0))
  })

  test('beside video, of a part of the source', async () => {
    const cut = { start_seconds: 2, end_seconds: 5.4 }
    const found = JSON.parse((await waveformOf('a.mkv', { bits: 16 }, cut, true)).toString()) as Waveform
    expect(found.data).toEqual(await expectedPeaks('a.wav', 'mono', 256, 16, 2 * 44_100, 238_140))
  })

  test('the mean of six channels', async () => {
    // Decoded by the same decoder: what is compared is the computation.
    await ffmpeg(['-y', '-drc_scale', '0', '-i', path('a.ts'), '-f', 's16le', path('six.s16')])
    const found = JSON.parse((await waveformOf('a.ts', { bits: 16 })).toString()) as Waveform
    const expected = (await expectedPeaks('six.s16', 'mono', 256, 16, 0, 0)) as number[]
    expect(found.data).toHaveLength(expected.length)
    // The decoder's samples are floating-point numbers: rounding may differ.
    for (const [index, value] of found.data.entries()) expect(Math.abs(value - expected[index]!)).toBeLessThanOrEqual(1)
  })

  test.each(sampled([8, 16], 1))(
    'dat with %i bits: the header of the published format, and the same values',
    async (bits) => {
      const bytes = await waveformOf('a.wav', { format: 'dat', bits, split_channels: true })
      const length = Math.ceil((7.3 * 44_100) / 256)
      expect([0, 4, 8, 12, 16, 20].map((at) => bytes.readInt32LE(at))).toEqual([
        2,
        bits === 8 ? 1 : 0,
        44_100,
        256,
        length,
        2,
      ])
      const body = bytes.subarray(24)
      expect(body.length).toBe((length * 4 * bits) / 8)
      const values = Array.from({ length: length * 4 }, (_, n) =>
        bits === 8 ? body.readInt8(n) : body.readInt16LE(2 * n),
      )
      expect(values).toEqual(await expectedPeaks('a.wav', 'split', 256, bits, 0, 0))
    },
  )

  test('png: as high in each column as the samples of that column', async () => {
    const options = { format: 'png', width: 200, height: 100, background_color: '#00112280', waveform_color: '#ffcc00' }
    await writeFile(path('w.png'), await waveformOf('a.wav', options))
    const read = `
import json, sys
from PIL import Image
image = Image.open(sys.argv[1]); image.load()
image = image.convert('RGBA')
columns = []
for x in range(image.width):
    lines = [y for y in range(image.height) if image.getpixel((x, y)) == (255, 204, 0, 255)]
    others = {image.getpixel((x, y)) for y in range(image.height)} - {(255, 204, 0, 255)}
    columns.append([min(lines), max(lines), len(lines), sorted(others)])
print(json.dumps([image.width, image.height, columns]))`
    const [width, height, columns] = (await runPython(read, [path('w.png')])) as [
      number,
      number,
      [number, number, number, number[][]][],
    ]
    expect([width, height]).toEqual([200, 100])
    const perColumn = Math.floor((7.3 * 44_100) / 200)
    const peaks = (await expectedPeaks('a.wav', 'mono', perColumn, 16, 0, 0)) as number[]
    for (const [column, [top, bottom, lines, others]] of columns.entries()) {
      expect(lines).toBe(bottom - top + 1)
      expect(others).toEqual([[0, 17, 34, 128]])
      const line = (sample: number) => ((32_767 - sample) * 100) / 65_536
      // A column covers up to an eighth more on each side.
      expect(Math.abs(top - line(peaks[2 * column + 1]!))).toBeLessThan(4)
      expect(Math.abs(bottom - line(peaks[2 * column]!))).toBeLessThan(4)
    }
  })
})

test('a stream that the source lacks fails the job', async () => {
  const { taskApi } = await runExtracts(
    fixture,
    path('a.wav'),
    extractTask({ waveform: { source_stream: 2 } }, { video: false }),
  )
  expect(taskApi.fails[0]?.error).toMatchObject({ code: 'audio_stream_missing', field: 'waveform.source_stream' })
  await taskApi.stop()
})

test('a source without video: what is made of frames is left out with a warning', async () => {
  const members = { waveform: {}, stills: [{ count: 1 }], animated_preview: {} }
  const { taskApi } = await runExtracts(fixture, path('a.wav'), extractTask(members, { video: false }))
  expect(taskApi.finished?.objects.map(({ role }) => role)).toEqual(['waveform'])
  expect(taskApi.finished?.warnings.map(({ code }) => code)).toEqual(['stills_left_out', 'preview_left_out'])
  await taskApi.stop()
})

test('a source without video fails a job that makes nothing but stills', async () => {
  const task = extractTask({ stills: [{ count: 1 }] }, { video: false })
  const { taskApi } = await runExtracts(fixture, path('a.wav'), task)
  expect(taskApi.fails[0]?.error).toMatchObject({ code: 'no_video' })
  await taskApi.stop()
})
