// In charge of: what depends on the source: optional audio, profiles larger than the source, the automatic ladder.
import { basename } from 'node:path'
import { decodeFrames, probeFile, probeStream } from '../../support/media/media.ts'
import { measurement, rejectedRow, type RowContext, type JobChange, type Row } from '../row.ts'

const silent = { audioProfiles: [] }

/** "plain_0_180p.mp4 320x180" for each file. */
async function sizes(bench: RowContext): Promise<string> {
  const files = await bench.files()
  const seen = files.map(async ({ path, file }) => {
    const { width, height } = await probeStream(file, 'video')
    return `${basename(path)} ${width}x${height}`
  })
  return (await Promise.all(seen)).join(', ')
}

/** The files with their sizes, and the codes of the warnings. */
function made(row: Pick<Row, 'path' | 'value' | 'job' | 'source'>, wanted: string, codes: string[] = []): Row {
  const words = (measured: string, warned: string[]) => `${measured}; ${warned.join(' ') || 'no warning'}`
  return {
    ...row,
    expected: words(wanted, codes),
    quick: true,
    measure: async (bench) => {
      const measured = words(await sizes(bench), await bench.warnings())
      return measurement(measured, measured === words(wanted, codes))
    },
  }
}

const two: JobChange = {
  ...silent,
  videoProfiles: [
    { width: 0, height: 360, video_bitrate: 900 },
    { width: 0, height: 90, video_bitrate: 200 },
  ],
}

const upscaling: Row[] = [
  made({ path: 'allow_upscaling', value: undefined, job: two }, 'clip_0_360p.mp4 640x360, clip_1_90p.mp4 160x90', [
    'upscaled',
  ]),
  made(
    { path: 'allow_upscaling', value: true, job: { ...two, allow_upscaling: true } },
    'clip_0_360p.mp4 640x360, clip_1_90p.mp4 160x90',
  ),
  made({ path: 'allow_upscaling', value: false, job: { ...two, allow_upscaling: false } }, 'clip_1_90p.mp4 160x90', [
    'rung_left_out',
  ]),
  made(
    {
      path: 'allow_upscaling',
      value: false,
      job: { ...silent, allow_upscaling: false, videoProfiles: [{ width: 0, height: 720, video_bitrate: 2600 }] },
    },
    'clip_0_180p.mp4 320x180',
    ['rung_at_source_size'],
  ),
]

const auto: JobChange = { ...silent, ladder: 'auto', videoProfiles: [] }

const ladder: Row[] = [
  made({ path: 'ladder', value: 'auto', job: auto }, 'clip_0_180p.mp4 320x180'),
  made(
    { path: 'ladder', value: 'auto', job: auto, source: 'detail' },
    'clip_0_360p.mp4 640x360, clip_1_240p.mp4 426x240',
  ),
  rejectedRow({ path: 'ladder', value: 'auto', job: { ladder: 'auto' } }, 'conflict', 'videoProfiles'),
]

/** The kinds of streams of the single file, and the codes of the warnings. */
function streams(value: boolean, source: Row['source'], wanted: string): Row {
  return {
    path: 'audioProfiles[].optional',
    value,
    expected: wanted,
    job: { audioProfiles: [{ optional: value }] },
    ...(source === undefined ? {} : { source }),
    quick: true,
    measure: async (bench) => {
      const kinds = (await probeFile(await bench.file())).streams.map((each) => each.codec_type)
      const measured = `${kinds.join(' and ')}; ${(await bench.warnings()).join(' ') || 'no warning'}`
      return measurement(measured, measured === wanted)
    },
  }
}

const optional: Row[] = [
  streams(true, undefined, 'video and audio; no warning'),
  streams(true, 'grey', 'video; audio_left_out'),
  rejectedRow(
    {
      path: 'audioProfiles[].optional',
      value: false,
      job: { audioProfiles: [{ optional: false }] },
      source: 'grey',
    },
    'audio_stream_missing',
    'audioProfiles[0].source_stream',
  ),
]

/**
 * An undamaged source has no errors, so both bounds accept it (for a damaged one see
 * test/node/transcoder/pipeline/sources/damaged.test.ts).
 */
const errors: Row[] = [0, 1_000_000].map((value) =>
  made(
    {
      path: 'max_source_errors',
      value,
      job: { ...silent, max_source_errors: value, videoProfiles: [{ width: 160, height: 90, video_bitrate: 150 }] },
    },
    'clip_0_90p.mp4 160x90',
  ),
)

/** The number of frames that decode. The source has 25 per second. */
function frames(row: Pick<Row, 'path' | 'value'>, change: JobChange, wanted: number): Row {
  const text = (count: number) => `${count} frames`
  return {
    ...row,
    expected: text(wanted),
    job: { ...silent, ...change, videoProfiles: [{ width: 160, height: 90, video_bitrate: 150 }] },
    quick: true,
    measure: async (bench) => {
      const count = (await decodeFrames(await bench.file())).length
      return measurement(text(count), count === wanted)
    },
  }
}

/** Which frames and samples these are: test/node/transcoder/pipeline/cuts.test.ts. */
const cut: Row[] = [
  frames({ path: 'start_seconds', value: 0.4 }, { start_seconds: 0.4, end_seconds: 1.2 }, 20),
  frames({ path: 'end_seconds', value: '00:00:01:05' }, { end_seconds: '00:00:01:05' }, 30),
  rejectedRow(
    { path: 'end_seconds', value: 1, job: { start_seconds: 2, end_seconds: 1 } },
    'out_of_range',
    'end_seconds',
  ),
  rejectedRow(
    { path: 'start_seconds', value: 1000, job: { start_seconds: 1000 }, source: 'plain' },
    'cut_outside_source',
    'start_seconds',
  ),
]

export const source: readonly Row[] = [...upscaling, ...ladder, ...optional, ...errors, ...cut]
