// In charge of: where an unknown field is said to belong.
import { expect, test } from 'vitest'
import { hintOf } from '#contract/hints.ts'

test.each([
  ['videoprofiles', '', '; did you mean videoProfiles?'],
  ['video_profiles', '', '; did you mean videoProfiles?'],
  ['gop_lenght', '', '; did you mean gop_length?'],
  ['segment_lengt', '', '; did you mean segment_length?'],
  ['closed_captionss', '', '; did you mean closed_captions?'],
  ['bitrate', 'videoProfiles[0]', ''],
  ['gop_length', 'videoProfiles[0]', '; gop_length is a field of the job itself, beside videoProfiles'],
  ['video_bitrate', '', '; video_bitrate is a field of videoProfiles[]'],
  ['audioCodec', '', '; audio_codec is a field of audioProfiles[]'],
  ['source_stream', 'videoProfiles[2]', '; source_stream is a field of audioProfiles[]'],
  ['secret_key', '', '; secret_key is a field of cloud_credentials.input or .output'],
  ['secretKey', 'cloud_credentials.input', '; did you mean secret_key?'],
  ['with', 'videoProfiles[0]', ''],
  ['', '', ''],
])('%j in %j', (name, path, hint) => {
  expect(hintOf(name, path)).toBe(hint)
})
