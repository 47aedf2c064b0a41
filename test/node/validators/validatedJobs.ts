// In charge of: the jobs whose outputs are validated: every container, codec, segment format and audio layout at least
// once.
// Not in charge of: expectations.

const RUNGS = [
  { output: 'high', width: 640, height: 360, video_bitrate: 900 },
  { output: 'low', width: 320, height: 180, video_bitrate: 300 },
]
const SEGMENTED = { bucket_output_path: 'show', segment_length: 2, gop_length: 1, videoProfiles: RUNGS }
const SURROUND = { audio_channels: 6, audio_bitrate: 384, source_stream: 1 }
const STEREO = { audio_channels: 2, audio_bitrate: 128, source_stream: 2 }
const CUES = { scte35_passthough: true, closed_captions: true }

const single = (container: 'mp4' | 'ts', profile: object, change: object): object => ({
  output_container: container,
  videoProfiles: [{ output: `film.${container}`, width: 640, height: 360, video_bitrate: 900, ...profile }],
  ...change,
})

/** Members of the request in addition to the input and the credentials. */
export const VALIDATED_JOBS = {
  'mp4-h264': single(
    'mp4',
    {},
    {
      closed_captions: true,
      loudness_lufs: -23,
      audio_output_path: 'audio',
      audioProfiles: [
        { audio_codec: 'aac', ...STEREO },
        { audio_codec: 'ac3', ...SURROUND },
      ],
    },
  ),
  'mp4-hevc': single(
    'mp4',
    { video_bitrate: 600 },
    {
      video_codec: 'hevc',
      audioProfiles: [
        { audio_codec: 'aac', ...SURROUND },
        { audio_codec: 'aac', ...STEREO },
      ],
    },
  ),
  'ts-h264-cbr': single(
    'ts',
    { video_bitrate_mode: 'cbr', video_bitrate: 1500 },
    {
      ...CUES,
      audioProfiles: [
        { audio_codec: 'ac3', ...SURROUND },
        { audio_codec: 'mp2', ...STEREO },
        { audio_codec: 'aac', ...STEREO },
      ],
    },
  ),
  'ts-mpeg2-vbr': single(
    'ts',
    { video_bitrate: 2500 },
    {
      ...CUES,
      video_codec: 'mpeg2',
      audioProfiles: [
        { audio_codec: 'mp2', ...STEREO },
        { audio_codec: 'ac3', ...SURROUND },
      ],
    },
  ),
  'ts-hevc': single(
    'ts',
    { video_bitrate: 600 },
    { ...CUES, video_codec: 'hevc', audioProfiles: [{ audio_codec: 'aac', ...STEREO }] },
  ),
  'hls-ts': {
    ...SEGMENTED,
    ...CUES,
    output_container: 'hls',
    segmented_output_hls: true,
    audioProfiles: [{ audio_codec: 'aac', ...STEREO }],
  },
  'hls-ts-separate': {
    ...SEGMENTED,
    output_container: 'hls',
    segmented_output_hls: true,
    master_variant_mode: true,
    audioProfiles: [
      { audio_codec: 'aac', ...STEREO },
      { audio_codec: 'aac', ...SURROUND, primary_audio_downmix_to_stereo: true },
    ],
  },
  cmaf: {
    ...SEGMENTED,
    ...CUES,
    segmented_output_hls: true,
    segmented_output_dash: true,
    create_tar_file: true,
    thumbnails: true,
    audioProfiles: [
      { audio_codec: 'aac', ...STEREO, source_stream: 1 },
      { audio_codec: 'ac3', ...SURROUND },
    ],
  },
  'cmaf-hevc': {
    ...SEGMENTED,
    scte35_passthough: true,
    video_codec: 'hevc',
    segmented_output_hls: true,
    segmented_output_dash: true,
    audioProfiles: [{ audio_codec: 'aac', ...SURROUND }],
  },
  // From another source: PAL, interlaced, anamorphic, tagged BT.470BG, with teletext.
  'ts-pal-dvb-cbr': single(
    'ts',
    { width: 720, height: 576, video_bitrate_mode: 'cbr', video_bitrate: 4000 },
    {
      video_codec: 'mpeg2',
      ts_profile: 'dvb',
      service_name: 'Erstes Programm',
      service_provider: 'Anstalt',
      audioProfiles: [
        { audio_codec: 'ac3', ...SURROUND, source_stream: 1 },
        { audio_codec: 'mp2', ...STEREO, audio_bitrate: 192, source_stream: 1 },
      ],
    },
  ),
  smooth: { ...SEGMENTED, output_container: 'silverlight', audioProfiles: [{ audio_codec: 'aac', ...STEREO }] },
} as const

export type JobName = keyof typeof VALIDATED_JOBS
