// In charge of: stills, animated previews and waveforms: the files that whole attempts make, as a decoder reads them.
import { writeFile } from 'node:fs/promises'
import { decodeFrames, probeFile } from '../../support/media/media.ts'
import { measurement, rejectedRow, type RowContext, type JobChange, type Measurement, type Row } from '../row.ts'
import { ANY } from '../parameterValues.ts'

const ALONE = { videoProfiles: [], audioProfiles: [] }

type Look = (found: { path: string; bytes: Buffer; file: string }[], bench: RowContext) => Promise<string> | string

function row(path: string, value: unknown, job: JobChange, expected: string, look: Look, quick = false): Row {
  return {
    path,
    value,
    expected,
    job: { ...ALONE, ...job },
    quick,
    measure: async (bench): Promise<Measurement> => {
      const objects = [...(await bench.objects())].filter(([name]) => name.includes('.'))
      const source = await bench.source()
      const found = await Promise.all(
        objects.map(async ([name, bytes], index) => {
          const file = `${source}.extract_${index}.${name.split('.').at(-1)!}`
          await writeFile(file, bytes)
          return { path: name, bytes, file }
        }),
      )
      const measured = await look(found, bench)
      return measurement(measured, measured === expected)
    },
  }
}

/** "2 × mjpeg 320x180" */
const images: Look = async (found) => {
  const kinds = await Promise.all(
    found.map(async ({ file }) => {
      const { streams } = await probeFile(file)
      return `${streams[0]?.codec_name} ${streams[0]?.width}x${streams[0]?.height}`
    }),
  )
  return `${found.length} × ${[...new Set(kinds)].join(', ')}`
}
const names: Look = (found) =>
  found
    .map(({ path }) => path)
    .toSorted()
    .join(' ')

const still = (field: string, value: unknown, change: object, expected: string, look = images, quick = false): Row =>
  row(
    `stills[].${field}`,
    value,
    { stills: [{ count: 1, ...change, ...(value === ANY ? {} : { [field]: value }) }] },
    expected,
    look,
    quick,
  )

const times = (field: string, value: unknown, element: object, expected: string, quick = false): Row =>
  row(`stills[].${field}`, value, { stills: [element] }, expected, images, quick)

/** The lower the quality, the smaller the image. */
function quality(value: number, expected: string, wanted: (bytes: number) => boolean): Row {
  const look: Look = ([image]) => (wanted(image?.bytes.length ?? 0) ? expected : `${image?.bytes.length} bytes`)
  return row('stills[].quality', value, { stills: [{ count: 1, quality: value }] }, expected, look)
}

const stills: Row[] = [
  times('at_seconds', ANY, { at_seconds: [0, '00:00:01.000'] }, '2 × mjpeg 320x180', true),
  times('every_seconds', 0.1, { every_seconds: 0.1 }, '20 × mjpeg 320x180'),
  times('every_seconds', 86_400, { every_seconds: 86_400 }, '1 × mjpeg 320x180'),
  times('count', 1, { count: 1 }, '1 × mjpeg 320x180'),
  times('count', 1000, { count: 1000, width: 16 }, '1000 × mjpeg 16x9'),
  still('width', 16, {}, '1 × mjpeg 16x9'),
  still('width', 7680, {}, '1 × mjpeg 7680x4320'),
  still('height', 16, {}, '1 × mjpeg 28x16'),
  still('height', 4320, {}, '1 × mjpeg 7680x4320'),
  still('format', 'jpeg', {}, '1 × mjpeg 320x180'),
  still('format', 'webp', {}, '1 × webp 320x180', images, true),
  still('format', 'avif', {}, '1 × av1 320x180', images),
  quality(1, 'less than 5 kB', (bytes) => bytes < 5000),
  quality(90, '5 to 30 kB', (bytes) => bytes > 5000 && bytes < 30_000),
  quality(100, 'more than 10 kB', (bytes) => bytes > 10_000),
  still('output', ANY, { count: 2, output: 'p/cover.jpg' }, 'p/cover_0001.jpg p/cover_0002.jpg', names),
  still('output', '', {}, 'clip_still_0_0001.jpg', names),
]

/** "20 frames of 320x180, 2.0 s" */
const animation: Look = async ([found]) => {
  const { streams, format } = await probeFile(found!.file)
  const frames = (await decodeFrames(found!.file)).length
  return `${frames} frames of ${streams[0]?.width}x${streams[0]?.height}, ${Number(format.duration).toFixed(1)} s`
}
const preview = (field: string, value: unknown, expected: string, change: object = {}, look = animation): Row =>
  row(
    `animated_preview.${field}`,
    value,
    { animated_preview: { ...change, ...(value === ANY ? {} : { [field]: value }) } },
    expected,
    look,
    field === 'format' && value === 'mp4',
  )
const animatedWebp: Look = ([found]) => {
  const text = found!.bytes.toString('latin1')
  return `${text.slice(8, 12)} with ${text.split('ANMF').length - 1} frames`
}

const previews: Row[] = [
  preview('format', 'mp4', '20 frames of 320x180, 2.0 s'),
  preview('format', 'gif', '20 frames of 320x180, 2.0 s'),
  preview('format', 'webp', 'WEBP with 20 frames', {}, animatedWebp),
  preview('seconds', 0.5, '4 frames of 320x180, 0.4 s'),
  preview('seconds', 4, '20 frames of 320x180, 2.0 s'),
  preview('seconds', 30, '20 frames of 320x180, 2.0 s'),
  preview('parts', 1, '10 frames of 320x180, 1.0 s', { seconds: 1 }),
  preview('parts', 4, '12 frames of 320x180, 1.2 s', { seconds: 1.2 }),
  preview('parts', 20, '20 frames of 320x180, 0.8 s', { seconds: 1, frames_per_second: 25 }),
  preview('start_seconds', ANY, '10 frames of 320x180, 1.0 s', { start_seconds: '00:00:01.000' }),
  preview('width', 16, '20 frames of 16x10, 2.0 s'),
  preview('width', 320, '20 frames of 320x180, 2.0 s'),
  preview('width', 1280, '20 frames of 1280x720, 2.0 s'),
  preview('frames_per_second', 1, '2 frames of 320x180, 2.0 s'),
  preview('frames_per_second', 10, '20 frames of 320x180, 2.0 s'),
  preview('frames_per_second', 30, '50 frames of 320x180, 2.0 s'),
]

interface Peaks {
  version: number
  channels: number
  samples_per_pixel: number
  bits: number
  length: number
  data: number[]
}

/** "version 2, 1 channel, 8 bits, 256 samples per pixel, 376 pixels" */
const peaks: Look = ([found]) => {
  const {
    version,
    channels,
    bits,
    samples_per_pixel: samples,
    length,
    data,
  } = JSON.parse(found!.bytes.toString()) as Peaks
  const fits = data.length === 2 * channels * length && data.every((value) => Math.abs(value) <= 2 ** (bits - 1))
  return `version ${version}, ${channels} channel${channels === 1 ? '' : 's'}, ${bits} bits, ${samples} samples per pixel, ${length} pixels${fits ? '' : ', wrong values'}`
}
const wave = (field: string, value: unknown, expected: string, change: object = {}, look = peaks): Row =>
  row(
    `waveform.${field}`,
    value,
    { waveform: { ...change, ...(value === ANY ? {} : { [field]: value }) } },
    expected,
    look,
    field === 'format' && value === 'json',
  )
const dat: Look = ([found]) => `version ${found!.bytes.readInt32LE(0)}, ${found!.bytes.length - 24} bytes of values`
/** The colours of the first column, from the top. */
const colors: Look = async ([found]) => {
  const pixels = await decodeFrames(found!.file)
  const palette = found!.bytes.subarray(found!.bytes.indexOf('PLTE') + 4).subarray(0, 6)
  return `${pixels.length} image with ${palette.toString('hex')}`
}
const png = { format: 'png' }
const USUAL = 'version 2, 1 channel, 8 bits, 256 samples per pixel, 376 pixels'

const waveforms: Row[] = [
  wave('format', 'json', USUAL),
  wave('format', 'dat', 'version 2, 752 bytes of values', {}, dat),
  wave('format', 'png', '1 × png 800x240', {}, images),
  wave('source_stream', 1, USUAL),
  rejectedRow(
    { path: 'waveform.source_stream', value: 8, job: { waveform: { source_stream: 8 } }, source: 'plain' },
    'audio_stream_missing',
    'waveform.source_stream',
  ),
  wave('samples_per_pixel', 16, 'version 2, 1 channel, 8 bits, 16 samples per pixel, 6016 pixels'),
  wave('samples_per_pixel', 1_000_000, 'version 2, 1 channel, 8 bits, 1000000 samples per pixel, 1 pixels'),
  wave('pixels_per_second', 1, 'version 2, 1 channel, 8 bits, 48000 samples per pixel, 3 pixels'),
  wave('pixels_per_second', 3000, 'version 2, 1 channel, 8 bits, 16 samples per pixel, 6016 pixels'),
  wave('bits', '8', USUAL),
  wave('bits', '16', 'version 2, 1 channel, 16 bits, 256 samples per pixel, 376 pixels'),
  wave('split_channels', true, 'version 2, 2 channels, 8 bits, 256 samples per pixel, 376 pixels'),
  wave('split_channels', false, USUAL),
  ...[16, 800, 16_384].map((width) => wave('width', width, `1 × png ${width}x240`, png, images)),
  ...[16, 240, 4096].map((height) => wave('height', height, `1 × png 800x${height}`, png, images)),
  wave('background_color', ANY, '1 image with 112233003366', { ...png, background_color: '#112233' }, colors),
  wave('waveform_color', ANY, '1 image with ffffff445566', { ...png, waveform_color: '#445566' }, colors),
]

export const extracts: readonly Row[] = [...stills, ...previews, ...waveforms]
