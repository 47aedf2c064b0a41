// In charge of: complete request bodies as a base for variations: the document's example, and what it does not show.
// Not in charge of: changing them (jsonText.ts), values from the schema (schemaValues.ts).

/** Placed in every credential that must never be returned. */
export const CANARY = 'CANARY-9b1f5c7e'

const video = { output: 'a.mp4', width: 640, height: 360, video_bitrate: 900 }
const audio = { audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }
const keys = { access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: `${CANARY}-secret` }

const jobs: unknown[] = [
  {
    input: 's3://bucket/in/film.mp4',
    videoProfiles: [{ ...video, output: 's3://bucket/out/film.mp4' }],
    audioProfiles: [audio],
    cloud_credentials: { input: { cloud_provider: 'aws', region: 'eu-central-1', ...keys } },
  },
  {
    input: `https://example.com/film.mp4?token=${CANARY}-query`,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    bucket_output_path: 'film',
    master_variant_mode: true,
    segment_length: 4,
    videoProfiles: [
      { ...video, output: '' },
      { ...video, output: '', width: 320, height: 180, video_bitrate: 400 },
    ],
    audioProfiles: [audio, { ...audio, source_stream: 2 }],
    webhook_url: `https://example.com/hook?token=${CANARY}-hook`,
    cloud_credentials: {
      input: { cloud_provider: 'http', access_key: 'user', secret_key: `${CANARY}-password` },
      output: { cloud_provider: 'vendor-store' },
    },
  },
  {
    inputs: [
      { input: 's3://bucket/in/film.mp4', start_seconds: 1.5, end_seconds: '00:00:10:12' },
      { input: `https://example.com/film.mp4?token=${CANARY}-piece`, source_streams: { 1: 2, 2: null } },
      { input: '{{upload.ready}}' },
    ],
    ladder: 'auto',
    audioProfiles: [audio, { ...audio, source_stream: 2 }],
    cloud_credentials: {
      inputs: [
        { cloud_provider: 'aws', region: 'eu-central-1', ...keys },
        { cloud_provider: 'http', access_key: 'user', secret_key: `${CANARY}-password` },
        { cloud_provider: 'file-upload' },
      ],
    },
  },
  {
    input: '{{upload.ready}}',
    video_codec: 'mpeg2',
    output_container: 'ts',
    videoProfiles: [{ output: 'a.ts', width: '720', height: '576', video_bitrate: '4000', video_bitrate_mode: 'cbr' }],
    audioProfiles: [{ audio_codec: 'ac3', audio_channels: '6', audio_bitrate: '384', source_stream: '1' }],
    scte35_passthrough: true,
    cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    priority_of_ours: 1,
    password: `${CANARY}-unknown`,
  },
]

/** @param example the document's example */
export function exampleBodies(operation: string, example: unknown): unknown[] {
  if (operation === 'POST /api/v0/job') {
    return [{ ...(example as object), input: '{{upload.ready}}' }, ...jobs]
  }
  if (operation.endsWith('/retry')) {
    const input = { cloud_provider: 'aws', region: 'eu-central-1', ...keys }
    return [
      example,
      { cloud_credentials: { input } },
      { inputs: [{ input: '{{upload.ready}}' }, null], cloud_credentials: { inputs: [input, input] } },
      { input: '{{upload.ready}}' },
      { webhook_url: 'https://a.example/' },
    ]
  }
  return example === undefined ? [] : [example]
}
