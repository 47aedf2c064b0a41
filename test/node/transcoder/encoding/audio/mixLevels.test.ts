// A decoded downmix, controlled by the options of its profile and by the metadata of AC-3 and E-AC-3 sources.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AudioProfile } from '#contract/job/jobSpec.ts'
import { readAc3Header } from '../../../../../transcoder/formats/ac3.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { audioSamplesByChannel, measureLoudness, toneLevelDb } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const HERTZ = { FL: 500, FR: 700, FC: 900, LFE: 60, SL: 1100, SR: 1300 }
const names = Object.keys(HERTZ) as (keyof typeof HERTZ)[]
const SURROUND = '5.1(side)'

/** Each channel of 5.1 with a different tone at −20 dB, encoded with these flags. */
async function clip(name: string, coding: readonly string[], seconds = 2): Promise<string> {
  const path = tempDir.file(name)
  if (existsSync(path)) return path
  await ffmpeg([
    ...lavfi(`color=gray:s=64x64:r=25:d=${seconds}`),
    ...['-f', 'lavfi', '-i'],
    `aevalsrc=exprs=${names.map((each) => `0.1*sin(2*PI*${HERTZ[each]}*t)`).join('|')}:c=${SURROUND}:s=48000:d=${seconds}`,
    ...['-c:v', 'libx264', '-preset', 'ultrafast', ...coding, path],
  ])
  return path
}
const pcm = () => clip('pcm.mov', ['-c:a', 'pcm_s24le'])
const dolby = (codec: 'ac3' | 'eac3', name: string, flags: readonly string[]) =>
  clip(`${name}.ts`, ['-c:a', codec, '-b:a', '640k', ...flags])

/** Linear gain of each tone in left and right. */
async function gains(input: string, change: Partial<AudioProfile>) {
  const spec = jobSpec({
    container: 'ts',
    video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })],
    audio: [audioProfile({ bitrateKbps: 256, ...change })],
  })
  const { outputs, plan } = await encode(spec, input)
  const [sides] = await audioSamplesByChannel(outputs[0], [2])
  const found = Object.fromEntries(
    names.map((name) => [name, sides!.map((side) => 10 ** ((toneLevelDb(side, HERTZ[name]) + 20) / 20))]),
  )
  return { found, sides: sides!, plan, output: outputs[0] }
}

function requireGains(found: Record<string, number[]>, expected: Record<string, [number, number]>): void {
  for (const [name, [left, right]] of Object.entries(expected)) {
    // 0.1 dB.
    expect.soft(Math.abs(found[name]![0]! - left), `${name} in left: ${found[name]![0]}`).toBeLessThan(0.012)
    expect.soft(Math.abs(found[name]![1]! - right), `${name} in right: ${found[name]![1]}`).toBeLessThan(0.012)
  }
}

const fronts = { FL: [1, 0], FR: [0, 1] } satisfies Record<string, [number, number]>
const HALF = Math.SQRT1_2

describe('options of an audio profile', () => {
  test('lt_rt has both surrounds in both sides, in opposite phase', async () => {
    const { found, output } = await gains(await pcm(), { downmix: 'lt_rt' })
    requireGains(found, { ...fronts, FC: [HALF, HALF], LFE: [0, 0], SL: [HALF, HALF], SR: [HALF, HALF] })
    // What is in phase is front, what is in opposite phase is surround, as a matrix decoder separates them.
    const both = (sign: '+' | '-') =>
      ffmpeg(['-i', output, '-map', '0:a:0', '-af', `pan=mono|c0=0.5*c0${sign}0.5*c1`, '-f', 'f32le', '-'])
    const wave = (bytes: Buffer) =>
      new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
    const [front, behind] = [wave(await both('+')), wave(await both('-'))]
    expect(toneLevelDb(front, HERTZ.SL)).toBeLessThan(-60)
    expect(toneLevelDb(behind, HERTZ.FC)).toBeLessThan(-60)
    expect(Math.abs(toneLevelDb(front, HERTZ.FC) + 23.01)).toBeLessThan(0.1)
    expect(Math.abs(toneLevelDb(behind, HERTZ.SL) + 23.01)).toBeLessThan(0.1)
  })

  test('the loudness of each mix is measured by itself', async () => {
    const audio = [
      audioProfile({ bitrateKbps: 256 }),
      audioProfile({ index: 1, bitrateKbps: 256, downmix: 'lt_rt' }),
      audioProfile({ index: 2, bitrateKbps: 256, downmixLfe: true }),
    ]
    const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0, 1, 2] })]
    const spec = jobSpec({ container: 'ts', audio, video, loudnessLufs: -20 })
    const { outputs, plan } = await encode(spec, await pcm())
    expect(new Set(plan.outputs[0]!.audio.map(({ loudness }) => loudness?.gainDb)).size).toBeGreaterThan(1)
    for (const position of audio.keys())
      expect(Math.abs((await measureLoudness(outputs[0], position)).integratedLufs! + 20)).toBeLessThanOrEqual(0.3)
  })
})

describe('mix levels from the source’s bitstream', () => {
  const coarse = ['-center_mixlev', '0.5', '-surround_mixlev', '0.5']
  const fine = ['-ltrt_cmixlev', '1.0', '-ltrt_surmixlev', '0.5', '-loro_cmixlev', '0.595', '-loro_surmixlev', '0.841']
  test.each(
    sampled(
      [
        // Header metadata; the downmix; centre, surround.
        ['ac3', 'plain', coarse, 'lo_ro', 0.5, 0.5],
        // The base header has no field for it.
        ['ac3', 'plain', coarse, 'lt_rt', HALF, HALF],
        ['ac3', 'without_surrounds', ['-center_mixlev', '0.707', '-surround_mixlev', '0'], 'lo_ro', HALF, 0],
        ['ac3', 'extended', fine, 'lo_ro', 0.595, 0.841],
        ['ac3', 'extended', fine, 'lt_rt', 1, 0.5],
        ['eac3', 'extended_e', fine, 'lo_ro', 0.595, 0.841],
        ['eac3', 'extended_e', fine, 'lt_rt', 1, 0.5],
      ] as const,
      4,
    ),
  )('%s %s %j in %s: centre %f, surround %f', async (codec, name, flags, downmix, centre, surround) => {
    const { found, plan } = await gains(await dolby(codec, name, flags), { downmix })
    expect(plan.warnings).toEqual([])
    const behind: Record<string, [number, number]> =
      downmix === 'lt_rt'
        ? { SL: [surround, surround], SR: [surround, surround] }
        : { SL: [surround, 0], SR: [0, surround] }
    requireGains(found, { ...fronts, FC: [centre, centre], ...behind })
  })

  test('damaged and foreign bytes say nothing', async () => {
    expect(readAc3Header(new Uint8Array())).toBeNull()
    expect(readAc3Header(Uint8Array.of(0x0b, 0x77, 0, 0, 0, 0xff, 0, 0, 0))).toBeNull()
    const source = await dolby('ac3', 'extended', fine)
    const bytes = await ffmpeg(`-i ${source} -map 0:a:0 -c copy -frames:a 1 -f data -`.split(' '))
    // A truncated header is read as zeros and never throws.
    for (let length = 0; length < 40; length += 1) expect(() => readAc3Header(bytes.subarray(0, length))).not.toThrow()
  })
})
