// In charge of: streams that are copied, and fields that exclude a copy.
import { audioPackets, videoPackets, type HashedPacket } from '../../support/media/packetHashes.ts'
import { measurement, rejectedRow, type JobChange, type Row, type RowContext } from '../row.ts'

const COPIED: JobChange = { videoProfiles: [{ video_codec: 'copy' }], audioProfiles: [{ audio_codec: 'copy' }] }

function same(output: readonly HashedPacket[], source: readonly HashedPacket[]): string {
  const shift = (output[0]?.time ?? 0) - (source[0]?.time ?? 0)
  const isSame =
    output.length === source.length &&
    output.every(({ hash, time }, at) => hash === source[at]!.hash && Math.abs(time - source[at]!.time - shift) < 0.001)
  return isSame ? `the source’s ${output.length} packets` : 'other packets'
}

const video = async (bench: RowContext): Promise<string> =>
  same(await videoPackets(await bench.file()), await videoPackets(await bench.source()))
const audio = async (bench: RowContext): Promise<string> =>
  same(await audioPackets(await bench.file()), await audioPackets(await bench.source()))

function row(
  path: string,
  value: unknown,
  job: JobChange,
  measure: (bench: RowContext) => Promise<string>,
  expected: string,
): Row {
  return {
    path,
    value,
    expected,
    job,
    quick: true,
    measure: async (bench) => {
      const measured = await measure(bench)
      return measurement(measured, measured === expected)
    },
  }
}

const refused = (change: JobChange, field: string): Row =>
  rejectedRow(
    { path: 'videoProfiles[].video_codec', value: 'copy', job: { ...COPIED, ...change } },
    'unsupported_combination',
    field,
  )
const refusedAudio = (change: JobChange, field: string): Row =>
  rejectedRow(
    { path: 'audioProfiles[].audio_codec', value: 'copy', job: { ...COPIED, ...change } },
    'unsupported_combination',
    field,
  )
const audioWith = (member: Record<string, unknown>): JobChange => ({
  audioProfiles: [{ audio_codec: 'copy', ...member }],
})
const videoWith = (member: Record<string, unknown>): JobChange => ({
  videoProfiles: [{ video_codec: 'copy', ...member }],
})

const withLogo = { ...COPIED, logo_url: 'https://example.com/logo.png' }

export const copy: Row[] = [
  row('video_codec', 'copy', { ...COPIED, video_codec: 'copy', videoProfiles: [{}] }, video, 'the source’s 50 packets'),
  row('videoProfiles[].video_codec', 'copy', COPIED, video, 'the source’s 50 packets'),
  row('audioProfiles[].audio_codec', 'copy', COPIED, audio, 'the source’s 95 packets'),
  row(
    'audioProfiles[].audio_codec',
    'copy',
    { audioProfiles: [{ audio_codec: 'copy' }] },
    audio,
    'the source’s 95 packets',
  ),
  row(
    'copy_if_possible',
    true,
    { ...COPIED, copy_if_possible: true, picture_transform: 'hflip' },
    async (bench) => `${await video(bench)}; ${(await bench.warnings()).join(' ')}`,
    'other packets; copy_not_possible',
  ),
  row(
    'copy_if_possible',
    true,
    { ...COPIED, copy_if_possible: true },
    async (bench) => `${await video(bench)}; ${(await bench.warnings()).join(' ')}`,
    'the source’s 50 packets; ',
  ),
  rejectedRow(
    { path: 'copy_if_possible', value: false, job: { ...withLogo, copy_if_possible: false } },
    'unsupported_combination',
    'logo_url',
  ),
  refused({ logo_url: 'https://example.com/logo.png' }, 'logo_url'),
  refused({ picture_transform: 'hflip' }, 'picture_transform'),
  refused({ video_aspect_ratio: 'force_4:3' }, 'video_aspect_ratio'),
  refused({ force_progressive: true }, 'force_progressive'),
  refused(videoWith({ video_format: 'progressive' }), 'videoProfiles[0].video_format'),
  refused({ auto_detelecine_flag: true }, 'auto_detelecine_flag'),
  refused(videoWith({ video_framerate: '1/2x' }), 'videoProfiles[0].video_framerate'),
  refused({ dynamic_range: 'sdr' }, 'dynamic_range'),
  refused({ closed_captions: false }, 'closed_captions'),
  refusedAudio({ loudness_lufs: -23 }, 'loudness_lufs'),
  refusedAudio({ audio_volume: 50 }, 'audio_volume'),
  refusedAudio(audioWith({ dolby_digital_dialnorm: 20 }), 'audioProfiles[0].dolby_digital_dialnorm'),
  refusedAudio(
    audioWith({ primary_audio_downmix_to_stereo: true }),
    'audioProfiles[0].primary_audio_downmix_to_stereo',
  ),
  refusedAudio(audioWith({ downmix: 'lo_ro' }), 'audioProfiles[0].downmix'),
  refusedAudio(audioWith({ downmix_lfe: true }), 'audioProfiles[0].downmix_lfe'),
  rejectedRow(
    { path: 'video_codec', value: 'copy', job: { video_codec: 'copy', ladder: 'auto', videoProfiles: [] } },
    'unsupported_combination',
    'ladder',
  ),
]
