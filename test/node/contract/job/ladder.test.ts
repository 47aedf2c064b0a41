// What a request may specify about upscaling, the automatic ladder and optional audio, and what is stored of it.
import { describe, expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

const { videoProfiles: _, ...withoutVideo } = request()
const auto = (changes: Record<string, unknown> = {}) => ({ ...withoutVideo, ladder: 'auto', ...changes })

describe('ladder "auto"', () => {
  test('needs no video profiles, and an empty list is as good as none', () => {
    for (const body of [auto(), auto({ videoProfiles: [] })]) {
      const { config, warnings } = expectAccepted(body)
      expect(config).toMatchObject({ ladder: 'auto', videoProfiles: [] })
      expect(warnings).toEqual([])
    }
  })
  test('has a GOP of two seconds unless another is given', () => {
    expect(expectAccepted(auto()).config.gop_length).toBe(2)
    expect(expectAccepted(auto({ gop_length: 1 })).config.gop_length).toBe(1)
    expect(expectAccepted(request()).config.gop_length).toBe(1)
  })
  test('rejects videoProfiles together with ladder, and anything that is not a list', () => {
    expect(
      fieldsAndCodes(expectRefused(auto({ videoProfiles: [{ width: 0, height: 0, video_bitrate: 500 }] }))),
    ).toEqual(['conflict videoProfiles'])
    expect(fieldsAndCodes(expectRefused(auto({ videoProfiles: 'all' })))).toEqual(['conflict videoProfiles'])
  })
  test('carries every audio profile in every rung', () => {
    const { config, warnings } = expectAccepted(auto({ audioProfiles: [{ source_stream: 1 }, { source_stream: 2 }] }))
    expect(warnings).toEqual([])
    const spec = toSpec(config)
    expect(spec.ladder).toBe('auto')
    expect(spec.video).toMatchObject([{ width: 0, height: 0, audioProfiles: [0, 1], rung: null }])
  })
  test('never upscales, so that allow_upscaling true says nothing', () => {
    expect(fieldsAndCodes(expectAccepted(auto({ allow_upscaling: true })).warnings)).toEqual([
      'no_effect allow_upscaling',
    ])
    expect(expectAccepted(auto({ allow_upscaling: false })).warnings).toEqual([])
  })
})

test('allow_upscaling and optional are stored as they were given, and are off where they were not', () => {
  const { config } = expectAccepted(request({ allow_upscaling: false }, {}, { optional: true }))
  expect(config).toMatchObject({ allow_upscaling: false, audioProfiles: [{ optional: true }] })
  expect(toSpec(config)).toMatchObject({ allowUpscaling: false, ladder: null, audio: [{ optional: true }] })
  const plain = expectAccepted(request())
  expect(plain.config).not.toHaveProperty('allow_upscaling')
  expect(toSpec(plain.config)).toMatchObject({ allowUpscaling: null, ladder: null, audio: [{ optional: false }] })
})
