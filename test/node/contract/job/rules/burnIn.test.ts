// In charge of: what a request with burn_in_captions needs, what excludes it, and what the transcoder gets.
// Not in charge of: the source (transcoder/pipeline/burnIn.test.ts).
import { expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, expectRefused, fieldsAndCodes, request } from '../../requestFixture.ts'

const FILE = { input: 'https://h.example/a.srt', language: 'de' }
const drawn = (burnIn: unknown, more: Record<string, unknown> = {}) =>
  request({ captions: [FILE, FILE], burn_in_captions: burnIn, ...more })

test.each([
  [{ captions: 1 }, { kind: 'caption', caption: 1 }],
  [{ captions: '0' }, { kind: 'caption', caption: 0 }],
  [{ source_track: 2 }, { kind: 'source track', track: 2 }],
  [
    { captions: null, source_track: '3' },
    { kind: 'source track', track: 3 },
  ],
  [null, null],
])('%j gives the transcoder %j', (burnIn, expected) => {
  const { config, warnings } = expectAccepted(drawn(burnIn))
  expect(warnings).toEqual([])
  expect(toSpec(config).burnIn).toEqual(expected)
})

test('without the field, the specification says so', () => {
  expect(toSpec(expectAccepted(request()).config).burnIn).toBeNull()
})

test.each<[title: string, body: Record<string, unknown>, expected: string]>([
  ['neither member', drawn({}), 'required burn_in_captions'],
  ['both members', drawn({ captions: 0, source_track: 1 }), 'conflict burn_in_captions'],
  ['a number', drawn(1), 'invalid_type burn_in_captions'],
  ['a list', drawn([{ captions: 0 }]), 'invalid_type burn_in_captions'],
  ['a file that the job lacks', drawn({ captions: 2 }), 'out_of_range burn_in_captions.captions'],
  [
    'a job without caption files',
    request({ burn_in_captions: { captions: 0 } }),
    'out_of_range burn_in_captions.captions',
  ],
  [
    'a job without video',
    drawn({ source_track: 1 }, { videoProfiles: [], audio_output_path: 'a' }),
    'unsupported_combination burn_in_captions',
  ],
  [
    'copied video',
    request({ burn_in_captions: { source_track: 1 }, videoProfiles: [{ video_codec: 'copy' }] }),
    'unsupported_combination burn_in_captions',
  ],
])('%s is refused', (_title, body, expected) => {
  expect(fieldsAndCodes(expectRefused(body))).toEqual([expected])
})

test('with copy_if_possible the video is encoded, with a warning', () => {
  const body = drawn({ captions: 0 }, { video_codec: 'copy', copy_if_possible: true })
  const { config, warnings } = expectAccepted(body)
  expect(fieldsAndCodes(warnings)).toContain('copy_not_possible burn_in_captions')
  expect(toSpec(config).video[0]?.copy).toBe(false)
})

test.each<[title: string, body: Record<string, unknown>, expected: string[]]>([
  [
    'an output without tracks draws its only file',
    drawn({ captions: 0 }, { captions: [FILE], output_container: 'ts' }),
    [],
  ],
  ['a file that is only drawn', drawn({ captions: 0 }, { output_container: 'ts' }), ['no_effect captions[1]']],
  ['a drawn source track', drawn({ source_track: 1 }, { output_container: 'ts' }), ['no_effect captions']],
  [
    'a file that players would show a second time',
    drawn({ captions: 1 }, { captions: [FILE, { ...FILE, default: true, forced: true }] }),
    ['no_effect captions[1].default', 'no_effect captions[1].forced'],
  ],
  ['an unknown member', drawn({ captions: 0, colour: 'red' }), ['unknown_field burn_in_captions.colour']],
])('%s gives the right warnings', (_title, body, expected) => {
  expect(fieldsAndCodes(expectAccepted(body).warnings)).toEqual(expected)
})

test('a misspelt member is named', () => {
  const { warnings } = expectAccepted(drawn({ captions: 0, source_tracks: 1 }))
  expect(warnings[0]?.message).toContain('did you mean source_track?')
})
