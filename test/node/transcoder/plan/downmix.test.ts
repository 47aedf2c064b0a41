// Warnings about a downmix before anything is encoded; no ffmpeg.
import { expect, test } from 'vitest'
import type { AudioProfile } from '#contract/job/jobSpec.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import type { AudioStream } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

const SILENT = 'in the 5.1 of audio profile 0 these channels are silent'

test.each<[Partial<AudioProfile>, Partial<AudioStream>, [code: string, field: string, message: string][]]>([
  [{}, { channels: 6, channelLayout: '5.1' }, []],
  [{ channels: 6 }, { channels: 6, channelLayout: '5.1(side)' }, []],
  // A missing LFE is no loss, and the single surround channel of 4.0 goes to both sides.
  [{ channels: 6 }, { channels: 5, channelLayout: '5.0' }, []],
  [{ channels: 6 }, { channels: 4, channelLayout: '4.0' }, []],
  [
    { channels: 6 },
    {},
    [
      [
        'audio_channels_silent',
        'audioProfiles[0].audio_channels',
        `Audio stream 1 of the source is stereo: ${SILENT}: centre, LFE, left surround, right surround.`,
      ],
    ],
  ],
  [
    { channels: 6 },
    { channels: 1, channelLayout: 'mono' },
    [
      [
        'audio_channels_silent',
        'audioProfiles[0].audio_channels',
        `Audio stream 1 of the source is mono: ${SILENT}: left, right, LFE, left surround, right surround.`,
      ],
    ],
  ],
  [
    {},
    { channels: 4, channelLayout: null },
    [
      [
        'audio_layout_unknown',
        'audioProfiles[0].source_channels',
        'Audio stream 1 of the source has 4 channels and does not say which: its first 2 are used as left, right. source_channels selects others, such as "3,4".',
      ],
    ],
  ],
  [
    { channels: 6 },
    { channels: 8, channelLayout: null },
    [
      [
        'audio_layout_unknown',
        'audioProfiles[0].source_channels',
        'Audio stream 1 of the source has 8 channels and does not say which: its first 6 are used as left, right, centre, LFE, left surround, right surround. source_channels selects others, such as "3,4".',
      ],
    ],
  ],
  [
    {
      sourceChannels: [
        { stream: 1, channel: 3 },
        { stream: 1, channel: 4 },
      ],
    },
    { channels: 4, channelLayout: null },
    [],
  ],
  [
    { downmix: 'lt_rt', downmixLfe: true },
    {},
    [
      [
        'no_effect',
        'audioProfiles[0].downmix',
        'audioProfiles[0].downmix has no effect: audio stream 1 of the source has no more than 2 channels.',
      ],
      [
        'no_effect',
        'audioProfiles[0].downmix_lfe',
        'audioProfiles[0].downmix_lfe has no effect: audio stream 1 of the source has no LFE channel.',
      ],
    ],
  ],
  [{ downmix: 'lo_ro', downmixLfe: true }, { channels: 8, channelLayout: '7.1' }, []],
])('%j of %j: %j', (profile, stream, expected) => {
  const plan = planJob(jobSpec({ audio: [audioProfile(profile)] }), mediaInfo({}, { audio: [audioStream(stream)] }))
  expect(plan.warnings.map(({ code, field, message }) => [code, field, message])).toEqual(expected)
})

test.each([
  [{ audioVolume: 50 }, ['audio_volume']],
  [{ loudnessLufs: -23 }, ['loudness_lufs']],
  [{ audioVolume: 100 }, []],
])('%j without audio: no effect of %j', (level, fields) => {
  const silent = [
    jobSpec({ ...level, audio: [] }),
    jobSpec({ ...level, audio: [audioProfile({ optional: true })] }),
    jobSpec({ ...level, video: [videoProfile({ audioProfiles: [] })] }),
  ]
  for (const spec of silent) {
    const { warnings } = planJob(spec, mediaInfo({}, { audio: [] }))
    expect(warnings.flatMap(({ code, field }) => (code === 'no_effect' ? field : []))).toEqual(fields)
  }
  const { warnings } = planJob(jobSpec(level), mediaInfo())
  expect(warnings.filter(({ code }) => code === 'no_effect')).toEqual([])
})
