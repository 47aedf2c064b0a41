import { describe, expect, it } from 'vitest'
import { allowedAudioBitrates } from '#contract/job/rules/audioBitrates.ts'
import { expectAccepted, expectRefused, request } from '../../requestFixture.ts'

const values = [32, 40, 64, 96, 128, 192, 256, 384, 448, 768]

describe('audio legality', () => {
  it.each([
    ['aac', 2, [768]],
    ['aac', 6, [32, 40]],
    ['ac3', 2, [768]],
    ['ac3', 6, [32, 40, 768]],
    ['mp2', 2, [32, 40, 448, 768]],
  ] as const)(
    '%s with %i channels rejects %j and accepts all other bitrates',
    (audio_codec, audio_channels, refused) => {
      const allowed = values.filter((value) => !(refused as readonly number[]).includes(value))
      expect(allowedAudioBitrates(audio_codec, audio_channels)).toEqual(allowed)
      for (const audio_bitrate of allowed)
        expectAccepted(request({}, {}, { audio_codec, audio_channels, audio_bitrate }))
      for (const audio_bitrate of refused) {
        expect(expectRefused(request({}, {}, { audio_codec, audio_channels, audio_bitrate }))).toEqual([
          {
            code: 'audio_bitrate_not_allowed',
            field: 'audioProfiles[0].audio_bitrate',
            message: `audio_bitrate ${audio_bitrate} is not available for ${audio_codec} with ${audio_channels} channels; use one of ${allowed.join(', ')}`,
            allowed,
          },
        ])
      }
    },
  )

  it('mp2 never carries 6 channels', () => {
    expect(allowedAudioBitrates('mp2', 6)).toEqual([])
    expect(expectRefused(request({}, {}, { audio_codec: 'mp2', audio_channels: 6 }))).toMatchObject([
      { code: 'unsupported_combination', field: 'audioProfiles[0].audio_channels', allowed: ['2'] },
    ])
  })

  it('is judged after the downmix', () => {
    const downmix = { audio_channels: 6, primary_audio_downmix_to_stereo: true }
    expectAccepted(request({}, {}, { ...downmix, audio_codec: 'mp2', audio_bitrate: 384 }))
    expectAccepted(request({}, {}, { ...downmix, audio_codec: 'aac', audio_bitrate: 32 }))
    expect(expectRefused(request({}, {}, { ...downmix, audio_codec: 'aac', audio_bitrate: 768 }))).toHaveLength(1)
  })

  it('advises 224 kbps or more for ac3 with 6 channels, and only then', () => {
    const ac3 = { audio_codec: 'ac3', audio_channels: 6 }
    for (const audio_bitrate of [64, 96, 128, 192]) {
      expect(expectAccepted(request({}, {}, { ...ac3, audio_bitrate })).warnings).toMatchObject([
        { code: 'audio_bitrate_low' },
      ])
    }
    expect(expectAccepted(request({}, {}, { ...ac3, audio_bitrate: 256 })).warnings).toEqual([])
  })
})
