// In charge of: containers, video codecs and output paths.
import { open } from 'node:fs/promises'
import { checkMp4 } from '../../../transcoder/mp4FileCheck.ts'
import { dominantFrequency, audioSamples } from '../../support/media/audioSamples.ts'
import { decodeFrames, meanColor, probeStream } from '../../support/media/media.ts'
import { measurement, rejectedRow, type Row } from '../row.ts'

/** The codec name that ffprobe reports, in both containers. */
const CODED = { 'h.264': 'h264', mpeg2: 'mpeg2video', hevc: 'hevc' } as const

/** The first bytes of three packets. */
async function syncBytes(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const bytes = Buffer.alloc(3 * 188)
    await handle.read(bytes, 0, bytes.length, 0)
    return [0, 188, 376].every((at) => bytes[at] === 0x47)
  } finally {
    await handle.close()
  }
}

function pathRow(path: string, value: string, job: Row['job'], wanted: string): Row {
  return {
    path,
    value,
    expected: wanted,
    job,
    source: 'small',
    quick: true,
    measure: async (bench) => {
      const names = (await bench.files()).map((file) => file.path).join(', ')
      return measurement(names, names === wanted)
    },
  }
}
const SMALL = { width: 64, height: 64, video_bitrate: 100 }

export const container: Row[] = [
  {
    path: 'output_container',
    value: 'mp4',
    expected: 'a whole mp4 with its header in front, 50 pictures',
    job: { output_container: 'mp4' },
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const { complete, moovBeforeMdat } = await checkMp4(file)
      const count = (await decodeFrames(file)).length
      const measured = `${complete ? 'whole' : 'not whole'}, header ${moovBeforeMdat ? 'in front' : 'behind'}, ${count} pictures`
      return measurement(measured, complete && moovBeforeMdat && count === 50)
    },
  },
  {
    path: 'output_container',
    value: 'ts',
    expected: 'packets of 188 bytes, 50 pictures',
    job: { output_container: 'ts' },
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const [packets, count] = [await syncBytes(file), (await decodeFrames(file)).length]
      return measurement(`${packets ? '188 bytes' : 'no sync bytes'}, ${count} pictures`, packets && count === 50)
    },
  },
  ...(Object.keys(CODED) as (keyof typeof CODED)[]).flatMap((value) =>
    (['mp4', 'ts'] as const).map((output_container): Row => ({
      path: 'video_codec',
      value,
      expected: `${CODED[value]} in ${output_container}, 50 pictures decoded${value === 'hevc' && output_container === 'mp4' ? ', tagged hvc1' : ''}`,
      job: { video_codec: value, output_container },
      quick: value === 'h.264',
      measure: async (bench) => {
        const file = await bench.file()
        const { codec_name: name, codec_tag_string: tag } = await probeStream(file, 'video')
        const count = (await decodeFrames(file)).length
        const tagged = value === 'hevc' && output_container === 'mp4'
        const measured = `${name}, ${count} pictures${tagged ? `, ${tag}` : ''}`
        return measurement(measured, name === CODED[value] && count === 50 && (!tagged || tag === 'hvc1'))
      },
    })),
  ),
  pathRow(
    'videoProfiles[].output',
    'films/a.mp4',
    { videoProfiles: [{ ...SMALL, output: 'films/a.mp4' }] },
    'films/a.mp4',
  ),
  pathRow('videoProfiles[].output', '', { videoProfiles: [{ ...SMALL, output: '' }] }, 'clip_0_64p.mp4'),
  pathRow(
    'bucket_output_path',
    'there',
    { bucket_output_path: 'there', videoProfiles: [SMALL] },
    'there/clip_0_64p.mp4',
  ),
  pathRow('bucket_output_path', '', { bucket_output_path: '', videoProfiles: [SMALL] }, 'clip_0_64p.mp4'),
  ...(
    [
      [1, 'red', 440],
      [65535, 'blue', 880],
    ] as const
  ).map(([value, color, tone]): Row => ({
    path: 'program_number',
    value,
    expected: `program ${value}: ${color}, ${tone} Hz`,
    job: { program_number: value, videoProfiles: [SMALL] },
    source: 'programs',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const [, u, v] = await meanColor(file, 0.5)
      const [shade, hertz] = [v > u ? 'red' : 'blue', dominantFrequency(await audioSamples(file))]
      return measurement(`${shade}, ${Math.round(hertz / 10) * 10} Hz`, shade === color && Math.abs(hertz - tone) < 5)
    },
  })),
  rejectedRow(
    { path: 'program_number', value: 2, job: { program_number: 2 }, source: 'programs' },
    'program_missing',
    'program_number',
  ),
]
