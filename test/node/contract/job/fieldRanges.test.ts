// In charge of: the values that each field of a job accepts and refuses.
import { describe, expect, it } from 'vitest'
import { fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

type Case = [field: string, code: string, ...values: unknown[]]

describe('the range of each field', () => {
  const top: Case[] = [
    ['input', 'required', null],
    ['input', 'invalid_type', true, {}],
    ['input', 'invalid_length', '', 'x'.repeat(4097)],
    ['output_container', 'invalid_value', 'mkv', 1],
    ['audio_output_path', 'invalid_type', 1],
    ['bucket_output_path', 'invalid_length', 'x'.repeat(1025)],
    ['master_variant_mode', 'invalid_type', 'true', 1],
    ['segmented_output_hls', 'invalid_type', 'false'],
    ['segmented_output_dash', 'invalid_type', 0],
    ['segment_length', 'invalid_type', 'six', Number.NaN, Number.POSITIVE_INFINITY],
    ['video_codec', 'invalid_value', 'h264', 'vp9'],
    ['ip_distance', 'invalid_type', 1.5, '1.5'],
    ['scte35_passthough', 'invalid_type', 'false'],
    ['scte35_passthrough', 'invalid_type', 'false'],
    ['scte35_pid_remap', 'out_of_range', 0, 31, 8191, -2],
    ['ts_profile', 'invalid_value', 'isdb'],
    ['service_name', 'invalid_type', true],
    ['service_provider', 'invalid_type', true],
    ['service_id', 'out_of_range', 0, 65_536],
    ['transport_stream_id', 'out_of_range', -1, 65_536],
    ['pmt_pid', 'out_of_range', 31, 8187],
    ['video_pid', 'out_of_range', 31, 8187],
    ['audio_pid', 'out_of_range', 31, 8187],
    ['create_tar_file', 'invalid_type', 'no'],
    ['audio_volume', 'out_of_range', -1, 201],
    ['h264_quality', 'invalid_value', 'BEST'],
    ['video_aspect_ratio', 'invalid_value', '4:3'],
    ['rotation_blackness', 'out_of_range', -1, 101],
    ['closed_captions', 'invalid_type', 'true'],
    ['force_progressive', 'invalid_type', 'false'],
    ['keep_fps', 'invalid_type', 'true'],
    ['logo_url', 'invalid_type', 4],
    ['auto_detelecine_flag', 'invalid_type', 'false'],
    ['picture_transform', 'invalid_value', 'mirror'],
    ['separate_audio', 'invalid_type', 'false'],
    ['ts_mode_input_audio_source_stream_count', 'out_of_range', -1, 101],
  ]
  it.each(top)('%s: %s', (field, code, ...values) => {
    for (const value of values)
      expect(fieldsAndCodes(expectRefused(request({ [field]: value })))).toEqual([`${code} ${field}`])
  })

  const video: Case[] = [
    ['output', 'invalid_type', 1],
    ['width', 'out_of_range', 1, 15, 7681, -2],
    ['width', 'invalid_type', 'wide', 1280.5, '1e3', true, Number.NaN],
    ['width', 'required', undefined, null],
    ['height', 'out_of_range', 15, 4321],
    ['height', 'required', undefined, null],
    ['video_bitrate', 'invalid_type', 'fast', Number.POSITIVE_INFINITY],
    ['video_bitrate', 'out_of_range', -1],
    ['video_bitrate', 'required', undefined, null],
    ['video_bitrate_mode', 'invalid_value', 'abr', 'CBR'],
    ['video_framerate', 'invalid_value', '3x', 1],
    ['audio_profiles', 'invalid_value', '8', '0,', 'all', 0.5],
    ['audio_profiles', 'invalid_type', [0]],
    ['audio_profiles', 'out_of_range', '1', '0,1', 7],
    ['video_format', 'invalid_value', 'interlaced'],
  ]
  it.each(video)('videoProfiles[0].%s: %s', (field, code, ...values) => {
    for (const value of values) {
      expect(fieldsAndCodes(expectRefused(request({}, { [field]: value })))).toEqual([
        `${code} videoProfiles[0].${field}`,
      ])
    }
  })

  const audio: Case[] = [
    ['audio_codec', 'invalid_value', 'vorbis'],
    ['audio_channels', 'invalid_value', 1, '8', 2.5],
    ['audio_bitrate', 'invalid_value', 100, '257'],
    ['source_stream', 'invalid_value', 0, 9, 'one'],
    ['primary_audio_downmix_to_stereo', 'invalid_type', 'true'],
    ['dolby_digital_dialnorm', 'out_of_range', -1, 32],
  ]
  it.each(audio)('audioProfiles[0].%s: %s', (field, code, ...values) => {
    for (const value of values) {
      expect(fieldsAndCodes(expectRefused(request({}, {}, { [field]: value })))).toEqual([
        `${code} audioProfiles[0].${field}`,
      ])
    }
  })

  it('says what was given and what is allowed', () => {
    expect(expectRefused(request({ audio_volume: 250 }))).toEqual([
      {
        code: 'out_of_range',
        field: 'audio_volume',
        message: 'audio_volume must be a number from 0 to 200; 250 was given',
        minimum: 0,
        maximum: 200,
      },
    ])
    expect(expectRefused(request({ video_codec: 'vp9' }))).toEqual([
      {
        code: 'invalid_value',
        field: 'video_codec',
        message: 'video_codec must be one of "h.264", "mpeg2", "hevc", "copy"; "vp9" was given',
        allowed: ['h.264', 'mpeg2', 'hevc', 'copy'],
      },
    ])
    expect(expectRefused(request({ video_codec: 'v'.repeat(100_000) }))[0]!.message.length).toBeLessThan(200)
  })
})
