// source_channels: which channels of which streams make a programme, by decoding outputs in which each channel of the
// source has its own tone.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseSourceChannels } from '#contract/job/sourceChannels.ts'
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { audioSamplesByChannel, measureLoudness, toneLevelDb } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const HERTZ = [300, 500, 700, 60, 1100, 1300] as const
const SECONDS = 3
const wave = (hertz: number) => `0.1*sin(2*PI*${hertz}*t)`

/** Six mono tracks, the second of which ends early; or one stream of six channels without a layout. */
async function clip(name: string, audio: readonly string[], coding: readonly string[] = []): Promise<string> {
  const path = tempDir.file(name)
  if (existsSync(path)) return path
  await ffmpeg([
    ...lavfi(`color=gray:s=64x64:r=25:d=${SECONDS}`, ...audio),
    ...['-map', '0', ...audio.flatMap((_each, index) => ['-map', `${index + 1}`])],
    ...['-c:v', 'mpeg2video', '-c:a', 'pcm_s24le', ...coding, path],
  ])
  return path
}
const tone = (hertz: number, seconds = SECONDS) => `aevalsrc=exprs=${wave(hertz)}:s=48000:d=${seconds}`
const mono = () =>
  clip(
    'mono.mov',
    HERTZ.map((hertz) => tone(hertz)),
  )
const discrete = async () => {
  const labelled = await clip('labelled.mov', [
    `aevalsrc=exprs=${HERTZ.map(wave).join('|')}:c=5.1:s=48000:d=${SECONDS}`,
  ])
  const path = tempDir.file('discrete.mov')
  if (existsSync(path)) return path
  const raw = tempDir.file('discrete.raw')
  await ffmpeg(['-i', labelled, '-map', '0:a', '-f', 's24le', raw])
  await ffmpeg([
    ...['-i', labelled, '-guess_layout_max', '0', '-f', 's24le', '-ar', '48000', '-ac', '6', '-i', raw],
    ...['-map', '0:v', '-map', '1:a', '-c', 'copy', path],
  ])
  return path
}

/** For each channel of the output, the tones in it, by number of the source's channel. */
async function heard(output: string, channels: number): Promise<number[][]> {
  const [sides] = await audioSamplesByChannel(output, [channels])
  return sides!.map((side) => HERTZ.flatMap((hertz, index) => (toneLevelDb(side, hertz) > -45 ? [index + 1] : [])))
}

function specOf(chosen: string | null, change: Partial<AudioProfile> = {}, job: Partial<JobSpec> = {}): JobSpec {
  const named = chosen === null ? null : parseSourceChannels(chosen)
  const sourceStream = named?.[0]?.stream ?? 1
  return jobSpec({
    container: 'ts',
    video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })],
    audio: [
      audioProfile({
        ...{ bitrateKbps: 384, sourceStream, ...change },
        ...(named === null
          ? {}
          : { sourceChannels: named.map(({ stream, channel }) => ({ stream: stream ?? sourceStream, channel })) }),
      }),
    ],
    ...job,
  })
}

describe('the channels that are named', () => {
  test.each<[string, () => Promise<string>, string, 2 | 6, number[][]]>([
    ['two mono tracks', mono, '1:1,2:1', 2, [[1], [2]]],
    ['two mono tracks, swapped', mono, '6:1,5:1', 2, [[6], [5]]],
    ['one mono track', mono, '3:1', 2, [[3], [3]]],
    ['six mono tracks', mono, '1:1,2:1,3:1,4:1,5:1,6:1', 6, [[1], [2], [3], [4], [5], [6]]],
    ['a pair of a stream', discrete, '5,6', 2, [[5], [6]]],
    ['left alone', discrete, '1', 2, [[1], [1]]],
  ])('%s', async (_name, input, chosen, channels, expected) => {
    const { outputs, plan } = await encode(specOf(chosen, { channels }), await input())
    expect(plan.warnings.filter(({ code }) => code.startsWith('audio'))).toEqual([])
    expect(await heard(outputs[0], channels)).toEqual(expected)
  })

  test('six are mixed to stereo as 5.1 is', async () => {
    const { outputs } = await encode(specOf('1:1,2:1,3:1,4:1,5:1,6:1'), await mono())
    expect(await heard(outputs[0], 2)).toEqual([
      [1, 3, 5],
      [2, 3, 6],
    ])
  })

  test.each(['1:1,2:1', '2:1,1:1'])('%s: a track that ends early is silent from there on', async (chosen) => {
    const input = await clip('early.mov', [tone(HERTZ[0]), tone(HERTZ[1], 1)])
    const { outputs } = await encode(
      specOf(chosen, {}, { cut: { start: { kind: 'seconds', seconds: 0.5 }, end: null } }),
      input,
    )
    const [sides] = await audioSamplesByChannel(outputs[0], [2])
    const [long, short] = chosen.startsWith('1') ? [sides![0]!, sides![1]!] : [sides![1]!, sides![0]!]
    expect(Math.abs(long.length / 48_000 - (SECONDS - 0.5))).toBeLessThan(0.05)
    const at = (side: Float32Array, from: number, to: number) => side.slice(from * 48_000, to * 48_000)
    expect(toneLevelDb(at(long, 1, 2.4), HERTZ[0])).toBeGreaterThan(-24)
    expect(toneLevelDb(at(short, 0.1, 0.4), HERTZ[1])).toBeGreaterThan(-24)
    expect(toneLevelDb(at(short, 1, 2.4), HERTZ[1])).toBeLessThan(-70)
  })

  test('the loudness is that of these channels', async () => {
    const { outputs, plan } = await encode(specOf('1:1,2:1', {}, { loudnessLufs: -20 }), await mono())
    expect(plan.outputs[0]!.audio[0]!.loudness).not.toBeNull()
    expect(Math.abs((await measureLoudness(outputs[0])).integratedLufs! + 20)).toBeLessThanOrEqual(0.3)
  })
})

test('channels without a layout are not mixed: the first two are stereo', async () => {
  const { outputs, plan } = await encode(specOf(null), await discrete())
  expect(plan.warnings.map(({ code }) => code)).toContain('audio_layout_unknown')
  expect(await heard(outputs[0], 2)).toEqual([[1], [2]])
})

test('half of a pair of mono tracks is warned of', async () => {
  const { plan } = await encode(specOf(null, { sourceStream: 2 }), await mono())
  expect(plan.warnings.map(({ message }) => message).join()).toContain('source_channels "1:1,2:1" makes stereo of them')
})

test.each([
  [
    '7:1',
    'channel 1 of audio stream 7 does not exist: the source has 6 audio streams (by number of channels: 1 with 1,',
  ],
  ['1:1,2:2', 'channel 2 of audio stream 2 does not exist'],
])('%s: what the source lacks is an error that says what it has', async (chosen, message) => {
  await expect(encode(specOf(chosen), await mono())).rejects.toThrow(message)
  const { plan } = await encode(specOf(chosen, { optional: true }), await mono())
  expect(plan.outputs[0]!.audio).toEqual([])
  expect(plan.warnings.map(({ code }) => code)).toContain('audio_left_out')
})
