// source_channels beside other fields, and what it becomes in the job specification.
import { expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, expectRefused, fieldsAndCodes, request } from '../../requestFixture.ts'

const profile = (fields: Record<string, unknown>) => request({ audioProfiles: [fields] })

test.each([
  [
    { source_stream: 2, source_channels: '3, 4' },
    {
      sourceStream: 2,
      sourceChannels: [
        { stream: 2, channel: 3 },
        { stream: 2, channel: 4 },
      ],
    },
  ],
  [
    { source_channels: '9:1,10:1' },
    {
      sourceStream: 9,
      sourceChannels: [
        { stream: 9, channel: 1 },
        { stream: 10, channel: 1 },
      ],
    },
  ],
  [
    { source_stream: 1, source_channels: 2 },
    { sourceStream: 1, sourceChannels: [{ stream: 1, channel: 2 }] },
  ],
])('%j becomes %j', (fields, expected) => {
  const { config, warnings } = expectAccepted(profile(fields))
  expect(warnings).toEqual([])
  expect(toSpec(config).audio[0]).toMatchObject(expected)
})

test.each([
  [{ source_channels: '3,4' }, 'required audioProfiles[0].source_stream'],
  [{ source_stream: 3, source_channels: '1:1,2:1' }, 'conflict audioProfiles[0].source_stream'],
  [
    { source_stream: 1, source_channels: '1,2', audio_channels: 6, audio_bitrate: 384 },
    'conflict audioProfiles[0].source_channels',
  ],
  [
    { source_stream: 1, source_channels: '1,2', audio_codec: 'copy' },
    'unsupported_combination audioProfiles[0].source_channels',
  ],
])('%j is refused: %s', (fields, expected) => {
  expect(fieldsAndCodes(expectRefused(profile(fields)))).toContain(expected)
})

test('several inputs are refused, one is not', () => {
  const of = (...inputs: { input: string }[]) =>
    request({ input: undefined, inputs, audioProfiles: [{ source_stream: 1, source_channels: '1,2' }] })
  expectAccepted(of({ input: '12' }))
  expect(fieldsAndCodes(expectRefused(of({ input: '12' }, { input: '13' })))).toEqual([
    'unsupported_combination audioProfiles[0].source_channels',
  ])
})
