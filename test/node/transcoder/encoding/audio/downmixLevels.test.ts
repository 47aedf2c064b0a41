// Decoded levels of every channel in stereo and 5.1: one table for every codec, order of profiles and version of
// ffmpeg.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AudioCodec } from '#contract/codecs.ts'
import { ffmpeg, lavfi, probeFile } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { ffmpegVersions } from '../../../../support/media/ffmpegVersions.ts'
import { audioSamplesByChannel, measureLoudness, toneLevelDb } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

/**
 * Frequency in Hz of each channel's tone, chosen so that mp2, the least precise codec, reproduces it within 0.08 dB.
 */
const HERTZ = { FL: 500, FR: 700, FC: 900, LFE: 100, BL: 1100, BR: 1300, SL: 1500, SR: 1700, BC: 1100 }
type Channel = keyof typeof HERTZ
const SECONDS = 2
const TONE_DB = -20

/** Channels, and their levels in left and right, in dB (ITU-R BS.775); channels that are not named are silent. */
type Levels = Partial<Record<Channel, [left: number | null, right: number | null]>>
const sides = { FL: [0, null], FR: [null, 0] } satisfies Levels
const centre = { FC: [-3.01, -3.01] } satisfies Levels
const layouts: Record<string, { channels: Channel[]; heard: Levels }> = {
  mono: { channels: ['FC'], heard: { FC: [0, 0] } },
  stereo: { channels: ['FL', 'FR'], heard: sides },
  '3.0': { channels: ['FL', 'FR', 'FC'], heard: { ...sides, ...centre } },
  quad: { channels: ['FL', 'FR', 'BL', 'BR'], heard: { ...sides, BL: [-3.01, null], BR: [null, -3.01] } },
  '4.0': { channels: ['FL', 'FR', 'FC', 'BC'], heard: { ...sides, ...centre, BC: [-6.02, -6.02] } },
  '5.1': {
    channels: ['FL', 'FR', 'FC', 'LFE', 'BL', 'BR'],
    heard: { ...sides, ...centre, BL: [-3.01, null], BR: [null, -3.01] },
  },
  '5.1(side)': {
    channels: ['FL', 'FR', 'FC', 'LFE', 'SL', 'SR'],
    heard: { ...sides, ...centre, SL: [-3.01, null], SR: [null, -3.01] },
  },
  '7.1': {
    channels: ['FL', 'FR', 'FC', 'LFE', 'BL', 'BR', 'SL', 'SR'],
    heard: { ...sides, ...centre, BL: [-6.02, null], BR: [null, -6.02], SL: [-6.02, null], SR: [null, -6.02] },
  },
}
const names = Object.keys(layouts)

/** One audio stream for each layout; `wave` returns the expression of a channel. */
async function clip(name: string, wave: (channel: Channel) => string, of = names): Promise<string> {
  const path = tempDir.file(`${name}.mov`)
  if (existsSync(path)) return path
  await ffmpeg([
    ...lavfi(`color=gray:s=64x64:r=25:d=${SECONDS}`),
    ...of.flatMap((layout) => [
      ...['-f', 'lavfi', '-i'],
      `aevalsrc=exprs=${layouts[layout]!.channels.map(wave).join('|')}:c=${layout}:s=48000:d=${SECONDS}`,
    ]),
    ...['-map', '0:v', ...of.flatMap((_layout, index) => ['-map', `${index + 1}:a`])],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'pcm_s24le', path],
  ])
  const { streams } = await probeFile(path)
  expect(streams.flatMap(({ codec_type, channel_layout }) => (codec_type === 'audio' ? channel_layout : []))).toEqual(
    of,
  )
  return path
}
const tones = (name: string, of = names) =>
  clip(name, (channel) => `${10 ** (TONE_DB / 20)}*sin(2*PI*${HERTZ[channel]}*t)`, of)

/** Every stream in every codec, in this order. */
function stereoJob(codecs: readonly AudioCodec[], streams = names.length) {
  const audio = Array.from({ length: streams }, (_, stream) =>
    codecs.map((codec, position) =>
      audioProfile({ index: stream * codecs.length + position, codec, bitrateKbps: 384, sourceStream: stream + 1 }),
    ),
  ).flat()
  const video = [
    videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: audio.map(({ index }) => index) }),
  ]
  return jobSpec({ container: 'ts', audio, video })
}

/** Levels of a layout's tones in dB relative to the source; far below = null. */
function heard(sounds: readonly Float32Array[], channels: readonly Channel[]): Record<string, (number | null)[]> {
  return Object.fromEntries(
    channels.map((name) => [
      name,
      sounds.map((sound) => {
        const level = toneLevelDb(sound, HERTZ[name]) - TONE_DB
        return level < -40 ? null : level
      }),
    ]),
  )
}

function requireLevels(found: Record<string, (number | null)[]>, expected: Levels, what: string): void {
  for (const [name, levels] of Object.entries(found))
    for (const [side, level] of levels.entries()) {
      const wanted = expected[name as Channel]?.[side] ?? null
      const text = `${what}, ${name} in ${side === 0 ? 'left' : 'right'}: ${level} instead of ${wanted}`
      if (wanted === null || level === null) expect.soft(level, text).toBe(wanted)
      else expect.soft(Math.abs(level - wanted), text).toBeLessThan(0.1)
    }
}

describe.each(await ffmpegVersions())('ffmpeg %s', (_version, engine) => {
  test.each(
    sampled(
      [
        [['aac', 'mp2', 'ac3']],
        [['mp2', 'aac', 'ac3']],
        [['ac3', 'mp2', 'aac']],
        [['aac']],
        [['mp2']],
        [['ac3']],
      ] as const,
      2,
    ),
  )('stereo of every layout has the levels of BS.775 in %j', async (codecs) => {
    const input = await tones('tones')
    const spec = stereoJob(codecs)
    const { outputs } = await encode(spec, input, { engine })
    const decoded = await audioSamplesByChannel(
      outputs[0],
      spec.audio.map(() => 2),
    )
    expect(decoded).toHaveLength(spec.audio.length)
    for (const { index, codec, sourceStream } of spec.audio) {
      const layout = names[sourceStream! - 1]!
      const { channels, heard: expected } = layouts[layout]!
      requireLevels(heard(decoded[index]!, channels), expected, `${layout} in ${codec}`)
    }
  })

  test('channels in phase at full scale are limited below −1 dBTP in every codec, and as loud as fits', async () => {
    const summed = names.filter((name) => layouts[name]!.channels.length > 2)
    const input = await clip('loud', () => 'sin(2*PI*997*t)', summed)
    const spec = stereoJob(['aac', 'ac3', 'mp2'], summed.length)
    const { outputs } = await encode(spec, input, { engine })
    for (const { index, codec, sourceStream } of spec.audio) {
      const { integratedLufs, truePeakDb } = await measureLoudness(outputs[0], index)
      const what = `${summed[sourceStream! - 1]} in ${codec}`
      expect.soft(truePeakDb, what).toBeLessThanOrEqual(-1)
      // A sine of 997 Hz in both channels has as many LUFS as its peak has dB: if it is louder, it is clipped.
      expect.soft(Math.abs(integratedLufs! + 3), what).toBeLessThan(0.2)
    }
  })

  test('5.1 keeps its channels, and two pairs of surrounds become one', async () => {
    const of = ['5.1', '5.1(side)', '7.1', '4.0']
    const input = await tones('surround', of)
    const audio = of.flatMap((_layout, stream) =>
      (['aac', 'ac3'] as const).map((codec, position) =>
        audioProfile({ index: stream * 2 + position, codec, channels: 6, bitrateKbps: 448, sourceStream: stream + 1 }),
      ),
    )
    const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [...audio.keys()] })]
    const { outputs } = await encode(jobSpec({ container: 'ts', audio, video }), input, { engine })
    const decoded = await audioSamplesByChannel(
      outputs[0],
      audio.map(() => 6),
    )
    const front = { FL: 0, FR: 1, FC: 2, LFE: 3 }
    const behind = {
      '5.1': { BL: [[4, 0]], BR: [[5, 0]] },
      '5.1(side)': { SL: [[4, 0]], SR: [[5, 0]] },
      '7.1': { BL: [[4, -3.01]], BR: [[5, -3.01]], SL: [[4, -3.01]], SR: [[5, -3.01]] },
      '4.0': {
        BC: [
          [4, -3.01],
          [5, -3.01],
        ],
      },
    } as Record<string, Partial<Record<Channel, [output: number, level: number][]>>>
    for (const { index, codec, sourceStream } of audio) {
      const layout = of[sourceStream! - 1]!
      const found = heard(decoded[index]!, layouts[layout]!.channels)
      for (const [name, levels] of Object.entries(found)) {
        const place = front[name as keyof typeof front]
        const wanted: [number, number][] = place === undefined ? (behind[layout]![name as Channel] ?? []) : [[place, 0]]
        for (const [output, level] of levels.entries()) {
          const expected = wanted.find(([at]) => at === output)?.[1] ?? null
          const what = `${layout} in ${codec}, ${name} in channel ${output}: ${level} instead of ${expected}`
          if (expected === null || level === null) expect.soft(level, what).toBe(expected)
          else expect.soft(Math.abs(level - expected), what).toBeLessThan(0.1)
        }
      }
    }
  })
})
