// In charge of: the hint where an unknown field belongs.
import { expect, test, vi } from 'vitest'
import { suggestField } from '#contract/job/fieldHints.ts'
import { expectAccepted, request } from '../requestFixture.ts'

test.each([
  ['videoprofiles', '', '; did you mean videoProfiles?'],
  ['video_profiles', '', '; did you mean videoProfiles?'],
  ['gop_lenght', '', '; did you mean gop_length?'],
  ['segment_lengt', '', '; did you mean segment_length?'],
  ['closed_captionss', '', '; did you mean closed_captions?'],
  ['bitrate', 'videoProfiles[0]', ''],
  ['gop_length', 'videoProfiles[0]', '; gop_length is a field of the job itself, at the level of videoProfiles'],
  ['video_bitrate', '', '; video_bitrate is a field of videoProfiles[]'],
  ['audioCodec', '', '; audio_codec is a field of audioProfiles[]'],
  ['source_stream', 'videoProfiles[2]', '; source_stream is a field of audioProfiles[]'],
  ['secret_key', '', '; secret_key is a field of cloud_credentials.input or .output'],
  ['secretKey', 'cloud_credentials.input', '; did you mean secret_key?'],
  ['with', 'videoProfiles[0]', ''],
  ['', '', ''],
])('%j in %j', (name, path, hint) => {
  expect(suggestField(name, path)).toBe(hint)
})

test('a name that is longer than any field is near to none', () => {
  expect(suggestField(`gop_length${'_'.repeat(90)}`, '')).toBe('; did you mean gop_length?')
  expect(suggestField(`gop_length${'_'.repeat(91)}`, '')).toBe('')
})

test('of thousands of unknown credential members only the reported ones are compared with known names', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`member${n}`, 1]))
  const spelled = vi.spyOn(String.prototype, 'toLowerCase')
  const { warnings } = expectAccepted(
    request({ cloud_credentials: { input: { cloud_provider: 'file-upload', ...many } } }),
  )
  const asked = spelled.mock.contexts.filter((name) => String(name).startsWith('member')).length
  spelled.mockRestore()
  expect([warnings.length, asked]).toEqual([101, 101])
})
