// In charge of: requests that are accepted without a warning, and what each provider requires.
// Not in charge of: values that a field refuses (refusedValues.test.ts).
import { describe, expect, it } from 'vitest'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

it.each([
  ['file-upload', 'file-upload can only be an input; use "aws" or "oracle" or "gcloud" or "http" or "vendor-store"'],
  ['azure', 'cloud_credentials.output.cloud_provider must be one of "aws", "oracle", "gcloud", "http", "vendor-store"'],
])('%s is refused as the provider of outputs, with those that can be written to', (cloud_provider, message) => {
  const cloud_credentials = { input: { cloud_provider: 'file-upload' }, output: { cloud_provider } }
  expect(expectRefused(request({ cloud_credentials }))).toMatchObject([
    {
      code: 'invalid_value',
      field: 'cloud_credentials.output.cloud_provider',
      message: expect.stringContaining(message),
      allowed: ['aws', 'oracle', 'gcloud', 'http', 'vendor-store'],
    },
  ])
})

describe('what is accepted', () => {
  it.each([
    [request({ output_container: 'ts' })],
    [request({ output_container: 'hls' })],
    [request({ output_container: 'silverlight' })],
    [request({ segmented_output_hls: true, segmented_output_dash: true, create_tar_file: true })],
    [request({ output_container: 'hls', thumbnails: true })],
    [request({ output_container: 'hls', program_start_time: '2026-01-01T00:00:00Z' })],
    [request({ output_container: 'mp4', segmented_output_hls: false, segmented_output_dash: false })],
    [request({ video_codec: 'hevc' })],
    [request({ video_codec: 'mpeg2' }, { video_bitrate: 3450 })],
    [request({}, { width: 0, height: 0 })],
    [request({}, { width: 0, height: 720 })],
    [request({}, { video_framerate: '1/2x' })],
    [request({}, { video_framerate: '2x' })],
    [request({ gop_length: 0.5, ip_distance: 1, h264_quality: 'best', keep_fps: false })],
    [request({ logo_url: null, audio_output_path: '', create_tar_file: false, auto_detelecine_flag: false })],
    [request({ logo_url: '', picture_transform: 'none', scte35_pid_remap: -1, audio_volume: 100 })],
    [request({ force_progressive: true, auto_detelecine_flag: true }, { video_format: 'progressive' })],
    [request({ logo_url: 'https://h/logo.png', logo_position: 'top_left', logo_opacity: 0 })],
    [request({ video_aspect_ratio: 'force_16:9', picture_transform: 'letterbox' })],
    [request({ video_aspect_ratio: 'rotate_clockwise', rotation_blackness: 50 })],
    [request({ webhook_url: null, thumbnails: false, program_start_time: '' })],
    [request({}, { audio_profiles: '' })],
    [request({ closed_captions: true })],
    [request({ closed_captions: false })],
    [request({ audio_output_path: 'audio' })],
    [request({ ts_mode_input_audio_source_stream_count: 2 })],
    [request({ audio_volume: 0 })],
    [request({ audio_volume: 200 })],
    [request({ program_number: 1 })],
    [request({ dynamic_range: 'sdr' })],
    [request({ dynamic_range: 'source', video_codec: 'hevc' })],
    [request({ loudness_lufs: -23 })],
    [request({}, { video_bitrate_mode: 'qvbr' })],
    [request({}, {}, { audio_codec: 'ac3', dolby_digital_dialnorm: 0 })],
    [request({}, {}, { audio_codec: 'ac3', dolby_digital_dialnorm: 27 })],
    [request({}, {}, { audio_codec: 'mp2', audio_bitrate: '384' })],
    [request({ input: 12 })],
    [
      request({
        input: '12',
        cloud_credentials: {
          input: { cloud_provider: 'file-upload', access_key: null, region: '' },
          output: { cloud_provider: 'vendor-store' },
        },
      }),
    ],
    [
      request({
        input: 'https://h/film.mp4',
        cloud_credentials: { input: { cloud_provider: 'http', access_key: 'u', secret_key: 'p' } },
      }),
    ],
  ])('%#: %j is accepted without a warning', (body) => {
    expect(expectAccepted(body).warnings).toEqual([])
  })
})

describe('what each provider needs', () => {
  const missing = (input: Record<string, unknown>) =>
    expectRefused(request({ input: 's3://bucket/k', cloud_credentials: { input } })).filter(
      (each) => each.code === 'required',
    )

  it.each([
    [{ cloud_provider: 'aws' }, ['access_key', 'secret_key']],
    [{ cloud_provider: 'aws', access_key: 'a', secret_key: '' }, ['secret_key']],
    [{ cloud_provider: 'oracle', access_key: 'a', secret_key: 'b' }, ['region']],
  ])('%j lacks %j', (input, members) => {
    expect(missing(input).map((each) => each.field)).toEqual(members.map((name) => `cloud_credentials.input.${name}`))
  })

  it.each([
    [
      { cloud_provider: 'oracle', region: 'r', tenancy_ocid: 't', user_ocid: 'u' },
      'for the second oci_fingerprint and private_key are missing',
    ],
    [{ cloud_provider: 'gcloud', client_email: 'e' }, 'for the second private_key is missing'],
    [{ cloud_provider: 'gcloud', access_key: 'a' }, 'for the first secret_key is missing'],
  ])('%j: %s', (input, part) => {
    expect(missing(input)).toHaveLength(1)
    expect(missing(input)[0]!.message).toContain(part)
  })

  it.each(['US East', 'eu.west', 'evil.example/', 'a'.repeat(64)])('region %j cannot become a host name', (region) => {
    const input = { cloud_provider: 'aws', access_key: 'a', secret_key: 'b', region }
    const found = expectRefused(request({ input: 's3://bucket/k', cloud_credentials: { input } }))
    expect(fieldsAndCodes(found)).toContain('invalid_value cloud_credentials.input.region')
  })
})
