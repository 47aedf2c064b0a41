// loudness_lufs, by decoding the output and measuring it again (EBU R 128).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readAc3Header } from '../../../../../transcoder/formats/ac3.ts'
import { ffmpeg, lavfi, probeStream } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { measureLoudness, peakLevel, audioSamples } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const SECONDS = 6
/**
 * Speech-like noise with little above 6 kHz, since codecs drop higher frequencies. The third is a chord with bursts, 30
 * dB louder than the rest.
 */
const materials = {
  quiet: 'anoisesrc=c=pink:a=0.004:r=48000,lowpass=f=6000',
  loud: 'anoisesrc=c=pink:a=1:r=48000,volume=6dB,lowpass=f=6000',
  dynamic:
    "aevalsrc='if(lt(mod(t,2),0.15),1,0.03)*(0.3*sin(2*PI*220*t)+0.25*sin(2*PI*554*t)+0.25*sin(2*PI*1318*t)+0.1*sin(2*PI*3520*t)+0.02*(random(0)-0.5))':s=48000",
  silent: 'anullsrc=r=48000',
} as const

async function clip(material: keyof typeof materials, channels: 2 | 6, seconds = SECONDS): Promise<string> {
  const path = tempDir.file(`${material}_${channels}_${seconds}.mkv`)
  if (existsSync(path)) return path
  const names = channels === 6 ? 'FL+FR+FC+LFE+BL+BR' : 'FL+FR'
  const pads = Array.from({ length: channels }, (_, index) => `[${index + 1}:a]`).join('')
  const voices = Array.from({ length: channels }, (_, index) =>
    materials[material].replace('anoisesrc=', `anoisesrc=seed=${index + 1}:`),
  )
  const map = names.split('+').map((name, index) => `${index}.0-${name}`)
  const layout = `channel_layout=${channels === 6 ? '5.1' : 'stereo'}:map=${map.join('|')}`
  await ffmpeg([
    ...lavfi(`color=gray:s=64x64:r=25:d=${seconds}`, ...voices.map((voice) => `${voice},atrim=end=${seconds}`)),
    ...['-filter_complex', `${pads}join=inputs=${channels}:${layout}[a]`],
    ...['-map', '0:v', '-map', '[a]', '-c:v', 'libx264', '-c:a', 'pcm_s16le', path],
  ])
  return path
}

const codecs = [
  audioProfile({ codec: 'aac', bitrateKbps: 256 }),
  audioProfile({ index: 1, codec: 'ac3', bitrateKbps: 384 }),
  audioProfile({ index: 2, codec: 'mp2', bitrateKbps: 384 }),
  audioProfile({ index: 3, codec: 'aac', channels: 6, bitrateKbps: 384 }),
  audioProfile({ index: 4, codec: 'ac3', channels: 6, bitrateKbps: 448 }),
]
const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0, 1, 2, 3, 4] })]

describe.each(
  sampled(
    [
      ['quiet', 2, -23, []],
      ['loud', 2, -23, []],
      ['loud', 6, -16, []],
      ['quiet', 6, -16, []],
      ['dynamic', 2, -23, []],
      ['dynamic', 2, -13, ['loudness_limited']],
      ['dynamic', 6, -12, ['loudness_limited']],
    ] as const,
    2,
  ),
)('%s material of %i channels at %f LUFS', (material, channels, loudnessLufs, codes) => {
  test('is as loud as asked, within 0.5 LU and below −1 dBTP, in every codec', async () => {
    const input = await clip(material, channels)
    const { outputs, plan } = await encode(jobSpec({ container: 'ts', video, audio: codecs, loudnessLufs }), input)
    // Stereo has no signal for four of six channels.
    const silent = channels === 2 ? ['audio_channels_silent'] : []
    expect(new Set(plan.warnings.map(({ code }) => code))).toEqual(new Set([...silent, ...codes]))
    for (const position of codecs.keys()) {
      const { integratedLufs, truePeakDb } = await measureLoudness(outputs[0], position)
      expect
        .soft(Math.abs(integratedLufs! - loudnessLufs), `loudness of ${position}: ${integratedLufs}`)
        .toBeLessThanOrEqual(0.5)
      expect.soft(truePeakDb, `peak of ${position}`).toBeLessThanOrEqual(-1)
      expect((await probeStream(outputs[0], 'audio', position)).sample_rate).toBe('48000')
    }
  })
})

test('a target beyond what peaks allow is said, with what is reached', async () => {
  const { outputs, plan } = await encode(
    jobSpec({
      video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })],
      audio: [audioProfile({ codec: 'mp2', bitrateKbps: 384 })],
      container: 'ts',
      loudnessLufs: -5,
    }),
    await clip('dynamic', 2),
  )
  const [warning, ...more] = plan.warnings
  expect(more).toEqual([])
  expect(warning).toMatchObject({ code: 'loudness_not_reached', field: 'loudness_lufs' })
  const { integratedLufs, truePeakDb } = await measureLoudness(outputs[0])
  expect(truePeakDb).toBeLessThanOrEqual(-1)
  expect(Math.abs(integratedLufs! - Number(/about (-[\d.]+) LUFS/.exec(warning!.message)?.[1]))).toBeLessThan(0.5)
})

test('silence stays silence, with a warning', async () => {
  const { outputs, plan } = await encode(jobSpec({ video, audio: codecs, loudnessLufs: -23 }), await clip('silent', 2))
  expect(new Set(plan.warnings.map(({ code }) => code))).toEqual(
    new Set(['loudness_of_silence', 'dialnorm_not_in_source', 'audio_channels_silent']),
  )
  expect(peakLevel(await audioSamples(outputs[0]))).toBeLessThan(1e-4)
})

test('the limiter changes neither the start nor the duration of the audio', async () => {
  const beep = tempDir.file('beep.mkv')
  const wave = "aevalsrc='if(between(t,1,1.2)+between(t,2,2.2),sin(2*PI*997*t),0.001*sin(2*PI*300*t))':s=48000:d=3"
  await ffmpeg([
    ...lavfi('color=gray:s=64x64:r=25:d=3', `${wave},aformat=channel_layouts=stereo`),
    ...['-c:v', 'libx264', '-c:a', 'pcm_s16le', beep],
  ])
  const narrow = [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })]
  const [plain, loud] = await Promise.all(
    [null, -6].map((loudnessLufs) =>
      encode(jobSpec({ video: narrow, audio: [audioProfile({ bitrateKbps: 256 })], loudnessLufs }), beep),
    ),
  )
  expect(loud!.plan.outputs[0]!.audio[0]!.loudness).toMatchObject({ limited: true })
  const [a, b] = [await audioSamples(plain!.outputs[0]), await audioSamples(loud!.outputs[0])]
  expect(b.length).toBe(a.length)
  const onset = (sound: Float32Array) => {
    const most = sound.reduce((level, value) => Math.max(level, Math.abs(value)), 0)
    return sound.findIndex((value) => Math.abs(value) > most / 2)
  }
  // 2 ms: the pre-echo of the codec.
  expect(Math.abs(onset(a) - onset(b))).toBeLessThan(96)
})

test('dolby_digital_dialnorm 0 states the target', async () => {
  const audio = [audioProfile({ codec: 'ac3', bitrateKbps: 384 })]
  const narrow = [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })]
  const { outputs } = await encode(jobSpec({ video: narrow, audio, loudnessLufs: -24 }), await clip('loud', 2))
  const frame = await ffmpeg(['-i', outputs[0], '-map', '0:a:0', '-c', 'copy', '-frames:a', '1', '-f', 'data', '-'])
  expect(readAc3Header(frame)?.dialnorm).toBe(24)
})
