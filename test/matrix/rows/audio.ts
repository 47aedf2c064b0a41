// In charge of: audio: codecs, channels, volume, dialogue level, and which profile goes to which output.
// Not in charge of: bitrates (audioBitrates.ts).
import {
  streamDialnorm,
  levelDb,
  measureLoudness,
  peakLevel,
  dominantFrequency,
  audioSamples,
  toneLevelDb,
} from '../../support/media/audioSamples.ts'
import { probeFile, probeStream } from '../../support/media/media.ts'
import { AUDIO_PURPOSES } from '#contract/job/fields/profiles.ts'
import { measurement, provenByTest, rejectedRow, type JobChange, type Row } from '../row.ts'
import { SURROUND_HZ, trackHz } from '../sourceClips.ts'

const SMALL = { width: 64, height: 64, video_bitrate: 100 }
/** A transport stream carries all three codecs. */
export function audioJob(audioProfiles: Record<string, unknown>[], change: JobChange = {}): JobChange {
  return { output_container: 'ts', ...change, videoProfiles: change.videoProfiles ?? [SMALL], audioProfiles }
}

export const CODECS = ['aac', 'ac3', 'mp2'] as const
const DECODED = { aac: /^aac$/, ac3: /^ac3$/, mp2: /^mp[23]$/ }
const hertz = (value: number) => `${Math.round(value / 10) * 10} Hz`
const decibel = (value: number) => (value < -90 ? 'silence' : `${(value + 0).toFixed(1).replace('-0.0', '0.0')} dB`)

const codecs = CODECS.map((codec, position): Row => ({
  path: 'audioProfiles[].audio_codec',
  value: codec,
  expected: `${codec}, 48 kHz, a tone of 440 Hz for 2 s`,
  job: audioJob(CODECS.map((audio_codec) => ({ audio_codec }))),
  source: 'small',
  quick: true,
  measure: async (bench) => {
    const file = await bench.file()
    const { codec_name: name, sample_rate: rate } = await probeStream(file, 'audio', position)
    const audioTrack = await audioSamples(file, position)
    const [tone, seconds] = [dominantFrequency(audioTrack), audioTrack.length / 48_000]
    const right = DECODED[codec].test(name) && rate === '48000'
    const measured = `${name}, ${rate} Hz, ${hertz(tone)} for ${seconds.toFixed(0)} s`
    return measurement(measured, right && Math.abs(tone - 440) < 4 && Math.abs(seconds - 2) < 0.1)
  },
}))

/** The order of decoded channels is that of ffmpeg's 5.1: FL FR FC LFE SL SR. */
function surroundRow(audio_codec: 'aac' | 'ac3', path = 'audioProfiles[].audio_channels', value: unknown = '6'): Row {
  return {
    path,
    value,
    expected: `${audio_codec} 5.1: each channel has its own tone (${SURROUND_HZ.join(', ')} Hz)`,
    job: audioJob([
      {
        audio_codec,
        audio_channels: '6',
        audio_bitrate: '384',
        ...(value === false ? { primary_audio_downmix_to_stereo: false } : {}),
      },
    ]),
    source: 'surround',
    quick: audio_codec === 'ac3',
    measure: async (bench) => {
      const file = await bench.file()
      const { channels, channel_layout: layout } = await probeStream(file, 'audio')
      const tones = await Promise.all(
        SURROUND_HZ.map(async (_hz, channel) => dominantFrequency(await audioSamples(file, 0, channel))),
      )
      const right = tones.every((tone, index) => Math.abs(tone / SURROUND_HZ[index]! - 1) < 0.05)
      return measurement(
        `${layout}: ${tones.map(hertz).join(', ')}`,
        channels === 6 && layout.startsWith('5.1') && right,
      )
    },
  }
}

/** Stereo from 5.1: each side contains its front, the centre and its surround, and nothing of the other side. */
function stereoRow(path: string, value: unknown, profile: Record<string, unknown>): Row {
  return {
    path,
    value,
    expected: 'stereo of 5.1: the centre on both sides at one level, left and right apart',
    job: audioJob([{ audio_bitrate: '192', ...profile }]),
    source: 'surround',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const { channels } = await probeStream(file, 'audio')
      const [left, right] = [await audioSamples(file, 0, 0), await audioSamples(file, 0, 1)]
      const centre = [toneLevelDb(left, 900), toneLevelDb(right, 900)]
      const fronts = [toneLevelDb(left, 400), toneLevelDb(right, 600)]
      const leaks = [toneLevelDb(left, 600), toneLevelDb(right, 400)]
      const even = Math.abs(centre[0]! - centre[1]!) < 0.5 && centre[0]! > -40
      const apart = Math.min(...fronts) - Math.max(...leaks) > 30
      const measured = `${channels} channels, centre ${even ? 'on both' : 'uneven'}, sides ${apart ? 'apart' : 'mixed'}`
      return measurement(measured, channels === 2 && even && apart)
    },
  }
}

/** The level of a channel in left and right, relative to the front channel of that side. */
function mixRow(
  path: string,
  value: unknown,
  expected: string,
  check: { hertz: number; sides: [left: number | null, right: number | null] },
): Row {
  const [, member = ''] = path.split('.')
  return {
    path,
    value,
    expected,
    job: audioJob([{ audio_bitrate: '192', [member]: value }]),
    source: 'surround',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const fronts = [SURROUND_HZ[0], SURROUND_HZ[1]]
      const levels = await Promise.all(
        fronts.map(async (front, channel) => {
          const sound = await audioSamples(file, 0, channel)
          const level = toneLevelDb(sound, check.hertz) - toneLevelDb(sound, front)
          return level < -40 ? null : level
        }),
      )
      const measured = levels.map((level) => (level === null ? 'nothing' : decibel(level))).join(' and ')
      const right = levels.every((level, side) => {
        const wanted = check.sides[side] ?? null
        return level === null || wanted === null ? level === wanted : Math.abs(level - wanted) < 0.3
      })
      return measurement(measured, right)
    },
  }
}

const [, , , LFE_HZ, LEFT_SURROUND_HZ] = SURROUND_HZ as unknown as [number, number, number, number, number]
const mixes: Row[] = [
  mixRow('audioProfiles[].downmix', 'lo_ro', 'the left surround at −3 dB in left, not in right', {
    hertz: LEFT_SURROUND_HZ,
    sides: [-3.01, null],
  }),
  mixRow('audioProfiles[].downmix', 'lt_rt', 'the left surround at −3 dB in left and right', {
    hertz: LEFT_SURROUND_HZ,
    sides: [-3.01, -3.01],
  }),
  mixRow('audioProfiles[].downmix_lfe', true, 'LFE at −3 dB in left and right', {
    hertz: LFE_HZ,
    sides: [-3.01, -3.01],
  }),
  mixRow('audioProfiles[].downmix_lfe', false, 'no LFE', { hertz: LFE_HZ, sides: [null, null] }),
]

const channels: Row[] = [
  {
    path: 'audioProfiles[].audio_channels',
    value: '2',
    expected: '2 channels',
    job: audioJob(CODECS.map((audio_codec) => ({ audio_codec }))),
    source: 'small',
    quick: true,
    measure: async (bench) => {
      const { streams } = await probeFile(await bench.file())
      const heard = streams.filter((each) => each.codec_type === 'audio').map((each) => each.channels)
      return measurement(heard.join(', '), heard.join() === '2,2,2')
    },
  },
  stereoRow('audioProfiles[].audio_channels', '2', { audio_channels: '2' }),
  surroundRow('aac'),
  surroundRow('ac3'),
  stereoRow('audioProfiles[].primary_audio_downmix_to_stereo', true, {
    audio_channels: '6',
    primary_audio_downmix_to_stereo: true,
  }),
  surroundRow('aac', 'audioProfiles[].primary_audio_downmix_to_stereo', false),
]

const PURPOSE_TEST = 'test/node/transcoder/encoding/audio/audioPurpose.test.ts'

/** The tones that are heard in each channel of the output. */
function channelsRow(value: string, source: 'surround' | 'tracks', channels: 2 | 6, wanted: number[][]): Row {
  const tones = source === 'surround' ? [...SURROUND_HZ] : Array.from({ length: 8 }, (_, index) => trackHz(index))
  const text = (found: number[][]) =>
    found.map((heard) => heard.map((index) => `${tones[index]} Hz`).join('+')).join(', ')
  return {
    path: 'audioProfiles[].source_channels',
    value,
    expected: text(wanted),
    job: audioJob([
      { source_channels: value, audio_channels: `${channels}`, audio_bitrate: channels === 6 ? '384' : '192' },
    ]),
    source,
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const found = await Promise.all(
        wanted.map(async (_heard, channel) => {
          const samples = await audioSamples(file, 0, channel)
          return tones.flatMap((tone, index) => (toneLevelDb(samples, tone) > -45 ? [index] : []))
        }),
      )
      return measurement(text(found), text(found) === text(wanted))
    },
  }
}

const ALL_TRACKS = Array.from({ length: 8 }, (_, index) => ({ source_stream: `${index + 1}` }))

const streams: Row[] = [
  ...ALL_TRACKS.map(({ source_stream }, position): Row => ({
    path: 'audioProfiles[].source_stream',
    value: source_stream,
    expected: `the tone of the source’s audio stream ${source_stream}: ${trackHz(position)} Hz`,
    job: audioJob(ALL_TRACKS),
    source: 'tracks',
    quick: true,
    measure: async (bench) => {
      const tone = dominantFrequency(await audioSamples(await bench.file(), position))
      return measurement(hertz(tone), Math.abs(tone - trackHz(position)) < 5)
    },
  })),
  rejectedRow(
    { path: 'audioProfiles[].source_stream', value: '8', job: audioJob([{ source_stream: '8' }]), source: 'small' },
    'audio_stream_missing',
    'audioProfiles[0].source_stream',
  ),
  ...AUDIO_PURPOSES.map((value) =>
    provenByTest(
      { path: 'audioProfiles[].purpose', value, expected: 'signalled in ts and mp4' },
      PURPOSE_TEST,
      'each purpose',
    ),
  ),
  channelsRow('3', 'surround', 2, [[2], [2]]),
  channelsRow('6,5', 'surround', 2, [[5], [4]]),
  channelsRow('1,2,3,4,5,6', 'surround', 6, [[0], [1], [2], [3], [4], [5]]),
  channelsRow('1:1,2:1', 'tracks', 2, [[0], [1]]),
  rejectedRow(
    {
      path: 'audioProfiles[].source_channels',
      value: '1:1,9:1',
      job: audioJob([{ source_channels: '1:1,9:1' }]),
      source: 'tracks',
    },
    'audio_stream_missing',
    'audioProfiles[0].source_channels',
  ),
  ...(
    [
      ['', [0, 1]],
      ['0', [0]],
      ['1', [1]],
      ['0,1', [0, 1]],
    ] as const
  ).map(([value, wanted]): Row => ({
    path: 'videoProfiles[].audio_profiles',
    value,
    expected: `carries ${wanted.map((index) => `${trackHz(index)} Hz`).join(' and ')}`,
    job: audioJob([{ source_stream: '1' }, { source_stream: '2' }], {
      videoProfiles: [{ ...SMALL, audio_profiles: value }],
    }),
    source: 'tracks',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const count = (await probeFile(file)).streams.length - 1
      const tones: number[] = []
      for (let position = 0; position < count; position += 1)
        tones.push(dominantFrequency(await audioSamples(file, position)))
      const right = wanted.every((index, position) => Math.abs(tones[position]! - trackHz(index)) < 5)
      return measurement(tones.map(hertz).join(', '), right && tones.length === wanted.length)
    },
  })),
]

const DOLBY = { audio_codec: 'ac3', audio_bitrate: '192' }
const levels: Row[] = (
  [
    [0, 24, 100, 'the source’s 24'],
    [0, 30, 50, 'the source’s 24, made quieter by 6 dB: 30'],
    [1, 1, 100, '1'],
    [31, 31, 100, '31'],
  ] as const
).map(([value, level, audio_volume, expected]) => ({
  path: 'audioProfiles[].dolby_digital_dialnorm',
  value,
  expected: `the AC-3 header states ${expected}`,
  job: audioJob([{ ...DOLBY, dolby_digital_dialnorm: value }], audio_volume === 100 ? {} : { audio_volume }),
  source: 'dolby' as const,
  quick: true,
  measure: async (bench) => {
    const stated = await streamDialnorm(await bench.file())
    return measurement(`${stated}`, stated === level)
  },
}))

const volumes: Row[] = [
  ...(
    [
      [50, -6.02],
      [100, 0],
      [200, 6.02],
    ] as const
  ).map(([value, gain]): Row => ({
    path: 'audio_volume',
    value,
    expected: `${gain.toFixed(1)} dB against the source in aac, ac3 and mp2, within 0.1`,
    job: audioJob(
      CODECS.map((audio_codec) => ({ audio_codec, audio_bitrate: '256' })),
      { audio_volume: value },
    ),
    source: 'tone',
    quick: true,
    measure: async (bench) => {
      const before = levelDb(await audioSamples(await bench.source()))
      const file = await bench.file()
      const gains = await Promise.all(
        CODECS.map(async (_codec, position) => levelDb(await audioSamples(file, position)) - before),
      )
      return measurement(
        gains.map(decibel).join(', '),
        gains.every((each) => Math.abs(each - gain) < 0.1),
      )
    },
  })),
  {
    path: 'audio_volume',
    value: 0,
    expected: 'a track of silence, as long as the source',
    job: audioJob([{}], { audio_volume: 0 }),
    source: 'tone',
    quick: true,
    measure: async (bench) => {
      const sound = await audioSamples(await bench.file())
      const [silent, seconds] = [peakLevel(sound) < 1e-4, sound.length / 48_000]
      return measurement(
        `${silent ? 'silence' : 'sound'} for ${seconds.toFixed(0)} s`,
        silent && Math.abs(seconds - 2) < 0.1,
      )
    },
  },
]

const loudnesses: Row[] = [-40, -23, -5].map((value) => ({
  path: 'loudness_lufs',
  value,
  expected: `${value} LUFS within 0.5 in aac, ac3 and mp2, or a warning that it is not reached; true peaks at most −1 dBTP`,
  job: audioJob(
    CODECS.map((audio_codec) => ({ audio_codec, audio_bitrate: '256' })),
    { loudness_lufs: value },
  ),
  source: 'pink' as const,
  measure: async (bench) => {
    const file = await bench.file()
    const heard = await Promise.all(CODECS.map((_codec, position) => measureLoudness(file, position)))
    const warnings = await bench.warnings()
    const short = warnings.includes('loudness_not_reached')
    const near = heard.every(({ integratedLufs }) => Math.abs((integratedLufs ?? 0) - value) <= 0.5)
    const below = heard.every(({ truePeakDb }) => (truePeakDb ?? 0) <= -1)
    const levels = heard.map(({ integratedLufs }) => `${integratedLufs?.toFixed(0)}`).join(', ')
    const measured = `${levels} LUFS${short ? ', loudness_not_reached' : ''}, peaks ${below ? 'below' : 'above'} −1 dBTP`
    return measurement(measured, below && (near || short))
  },
}))

const STREAM_COUNT = 'ts_mode_input_audio_source_stream_count'
const counts: Row[] = [
  ...[0, 8].map((value): Row => ({
    path: STREAM_COUNT,
    value,
    expected: 'the source has 8, which is enough: the last one is carried',
    job: audioJob([{ source_stream: '8' }], { [STREAM_COUNT]: value }),
    source: 'tracks',
    measure: async (bench) => {
      const tone = dominantFrequency(await audioSamples(await bench.file()))
      return measurement(hertz(tone), Math.abs(tone - trackHz(7)) < 5)
    },
  })),
  rejectedRow(
    { path: STREAM_COUNT, value: 100, job: audioJob([{}], { [STREAM_COUNT]: 100 }), source: 'tracks' },
    'audio_stream_missing',
    STREAM_COUNT,
  ),
]

const files: Row[] = [
  {
    path: 'audio_output_path',
    value: 'sound',
    expected: 'sound/clip_audio_0.m4a, .ac3, .mp2, each with 440 Hz',
    job: audioJob(
      CODECS.map((audio_codec) => ({ audio_codec })),
      { audio_output_path: 'sound' },
    ),
    source: 'small',
    quick: true,
    measure: async (bench) => {
      const own = (await bench.files()).slice(1)
      const tones = await Promise.all(own.map(async ({ file }) => dominantFrequency(await audioSamples(file))))
      const names = own.map(({ path }) => path).join(', ')
      const right = names === 'sound/clip_audio_0.m4a, sound/clip_audio_1.ac3, sound/clip_audio_2.mp2'
      return measurement(
        `${names}: ${tones.map(hertz).join(', ')}`,
        right && tones.every((tone) => Math.abs(tone - 440) < 4),
      )
    },
  },
  {
    path: 'audio_output_path',
    value: '',
    expected: 'no audio files of their own',
    job: audioJob([{}], { audio_output_path: '' }),
    source: 'small',
    measure: async (bench) => {
      const all = await bench.files()
      return measurement(`${all.length} file`, all.length === 1)
    },
  },
]

export const audio: Row[] = [
  ...codecs,
  ...channels,
  ...mixes,
  ...streams,
  ...levels,
  ...volumes,
  ...loudnesses,
  ...counts,
  ...files,
]
