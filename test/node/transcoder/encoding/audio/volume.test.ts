// audio_volume by decoding, after the limiter.
// Not in charge of: the gain of each value, silence (matrix/rows/audio.ts).
import { expect, test } from 'vitest'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { levelDb, peakLevel, audioSamples } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

async function tone(amplitude: number): Promise<string> {
  const path = tempDir.file(`tone_${amplitude}.mkv`)
  const wave = `aevalsrc=exprs=${amplitude}*sin(2*PI*997*t)|${amplitude}*sin(2*PI*997*t):s=48000:d=3`
  const picture = lavfi('color=gray:s=64x64:r=25:d=3')
  await ffmpeg([...picture, '-f', 'lavfi', '-i', wave, '-c:v', 'libx264', '-c:a', 'pcm_s16le', path])
  return path
}

const codecs = [
  audioProfile({ codec: 'aac', bitrateKbps: 256 }),
  audioProfile({ index: 1, codec: 'ac3', bitrateKbps: 384 }),
  audioProfile({ index: 2, codec: 'mp2', bitrateKbps: 384 }),
]
const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0, 1, 2] })]

test('volume 200 of a loud tone is limited to −1 dB, not clipped', async () => {
  const { outputs } = await encode(jobSpec({ audioVolume: 200, video, audio: codecs }), await tone(0.9))
  const audioTrack = await audioSamples(outputs[0])
  // As loud as possible: a limiter that merely halved the volume would fail here.
  expect(peakLevel(audioTrack)).toBeGreaterThan(0.86)
  // The encoder's overshoot is far below the remaining 11 %; a clipped tone would reach 1.
  expect(peakLevel(audioTrack)).toBeLessThan(0.93)
  // Still a sine: its level is 3 dB below its peak. A clipped one would be louder.
  expect(Math.abs(20 * Math.log10(peakLevel(audioTrack)) - levelDb(audioTrack) - 3.01)).toBeLessThan(0.3)
})
