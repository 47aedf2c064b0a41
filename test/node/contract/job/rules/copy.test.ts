// In charge of: what a request with "copy" needs, what excludes it, and what the transcoder gets.
// Not in charge of: every excluded field (the matrix has a row for each), the source (transcoder/plan/copies.test.ts).
import { describe, expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, expectRefused, fieldsAndCodes, request } from '../../requestFixture.ts'

const bare = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...request(changes),
  videoProfiles: [{ video_codec: 'copy' }],
})

describe('a copied profile', () => {
  test('needs no size and no bitrate', () => {
    const { config, warnings } = expectAccepted(bare())
    expect(warnings).toEqual([])
    expect(toSpec(config).video[0]).toMatchObject({ copy: true, width: 0, height: 0 })
  })

  test('needs them with copy_if_possible', () => {
    expect(fieldsAndCodes(expectRefused(bare({ copy_if_possible: true })))).toEqual([
      'required videoProfiles[0].width',
      'required videoProfiles[0].height',
      'required videoProfiles[0].video_bitrate',
    ])
  })

  test('is told that they have no effect', () => {
    const { warnings } = expectAccepted(request({}, { video_codec: 'copy' }))
    expect(fieldsAndCodes(warnings)).toEqual(
      ['width', 'height', 'video_bitrate', 'video_bitrate_mode'].map((name) => `no_effect videoProfiles[0].${name}`),
    )
  })

  test('is every one with the job’s own video_codec', () => {
    const { config } = expectAccepted(request({ video_codec: 'copy', videoProfiles: [{}, { output: 'b' }] }))
    expect(toSpec(config).video.map(({ copy }) => copy)).toEqual([true, true])
  })

  test('does not change the others', () => {
    const videoProfiles = [{ video_codec: 'copy' }, { width: 640, height: 360, video_bitrate: 800 }]
    const spec = toSpec(expectAccepted(request({ video_codec: 'hevc', videoProfiles })).config)
    expect(spec.video.map(({ copy }) => copy)).toEqual([true, false])
    expect(spec.videoCodec).toBe('hevc')
  })
})

test('audio of any source passes where the codec is not known yet', () => {
  const { config } = expectAccepted(request({}, {}, { audio_codec: 'copy', audio_channels: '6', audio_bitrate: '768' }))
  expect(toSpec(config).audio[0]).toMatchObject({ copy: true, codec: 'aac' })
})

test('a field that changes the stream is refused by name; with copy_if_possible the profile is encoded', () => {
  const changes = { logo_url: 'https://h.example/logo.png' }
  expect(fieldsAndCodes(expectRefused(bare(changes)))).toEqual(['unsupported_combination logo_url'])
  const { config, warnings } = expectAccepted(
    request({ ...changes, copy_if_possible: true }, { video_codec: 'copy' }, { audio_codec: 'copy' }),
  )
  expect(fieldsAndCodes(warnings)).toEqual(['copy_not_possible logo_url'])
  const spec = toSpec(config)
  expect([spec.video[0]?.copy, spec.audio[0]?.copy]).toEqual([false, true])
})

test('copy_if_possible without a copy has no effect', () => {
  expect(fieldsAndCodes(expectAccepted(request({ copy_if_possible: true })).warnings)).toContain(
    'no_effect copy_if_possible',
  )
})

test('joined sources are decoded, so nothing of them is copied', () => {
  const { input, ...rest } = bare()
  const credential = { cloud_provider: 'file-upload' }
  const body = { ...rest, inputs: [{ input }, { input }], cloud_credentials: { input: credential } }
  expect(fieldsAndCodes(expectRefused(body))).toEqual(['unsupported_combination inputs'])
})
