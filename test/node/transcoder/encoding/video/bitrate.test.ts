// A constant rate is constant: half of the clip is black, half is noise.
import type { VideoCodec } from '#contract/codecs.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { ffmpeg, kbpsBySecond, lavfi, transportRates } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { readSignalledBuffer, runDecoderBuffer } from '../../../../support/media/decoderBuffer.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let clip = ''

beforeAll(async () => {
  clip = tempDir.file('half.mkv')
  const picture = "color=black:s=320x180:r=25:d=8,noise=alls=100:allf=t:enable='gte(t,4)'"
  const args = lavfi(picture, 'sine=d=8:r=48000')
  await ffmpeg([
    ...args,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-qp',
    '10',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    clip,
  ])
})

/**
 * With several threads, the rate control of x264 follows their timing: each run is another one, and about one in twenty has a
 * frame of this clip that is late (and the job the warning `access_units_late`). With one thread, all runs are equal.
 */
const REPEATABLE = { threads: 1 }

/** Delimiters, parameter sets and timing messages, which x265's rate control does not count. */
const UNCOUNTED = 0.01

/** The decoder's buffer as the stream itself signals it: no frame comes too late, no bit too early. */
async function expectDecodable(file: string, videoCodec: VideoCodec): Promise<void> {
  const { bytes, signalled, ...model } = await readSignalledBuffer(file)
  expect(signalled).toHaveLength(bytes.length)
  const { late, overflow, fullness } = runDecoderBuffer(bytes, model)
  const spare = videoCodec === 'hevc' ? { ...model, rate: model.rate * (1 + UNCOUNTED) } : model
  expect(late.length === 0 ? late : runDecoderBuffer(bytes, spare).late).toEqual([])
  expect(overflow).toBeLessThanOrEqual(0)
  // As full as the stream says, where it says so.
  const seconds = bytes.length / model.framesPerSecond
  for (const [index, bits] of signalled.entries())
    if (bits !== null) expect(Math.abs(bits - fullness[index]!)).toBeLessThan(model.rate * UNCOUNTED * seconds)
}

test('the buffer model finds an access unit that is too large, and bits that have no place', () => {
  const model = { rate: 1000, size: 1000, framesPerSecond: 10, initial: 900 }
  const even = Array.from({ length: 20 }, () => 12.5)
  expect(runDecoderBuffer(even, model)).toMatchObject({ late: [], overflow: 0 })
  expect(runDecoderBuffer(even.with(5, 113), model).late[0]).toBe(5)
  expect(runDecoderBuffer(even.with(5, 4), model).overflow).toBe(0)
  expect(
    runDecoderBuffer(
      even.map((bytes, at) => (at < 3 ? 4 : bytes)),
      model,
    ).overflow,
  ).toBe(68)
})

describe.each(
  sampled(
    [
      ['h264', 800],
      ['hevc', 800],
      ['mpeg2', 3000],
    ] as const,
    2,
  ),
)('%s cbr at %i kbps', (videoCodec, bitrateKbps) => {
  const profile = videoProfile({ mode: 'cbr', bitrateKbps })

  test('mp4: every second carries the rate, black or not', async () => {
    const { outputs } = await encode(jobSpec({ videoCodec, video: [profile] }), clip, REPEATABLE)
    const seconds = await kbpsBySecond(outputs[0])
    // Black: padded up to the rate (the first second lacks what the decoder buffer holds back).
    for (const kbps of seconds.slice(1, 4)) expect(Math.abs(kbps / bitrateKbps - 1)).toBeLessThan(0.02)
    // Noise: no range of whole seconds contains more than the rate and one buffer.
    for (const [from] of seconds.entries())
      for (let to = from + 1; to <= seconds.length; to += 1) {
        const sum = seconds.slice(from, to).reduce((total, kbps) => total + kbps, 0)
        expect(sum).toBeLessThan(bitrateKbps * (to - from + 1) * 1.02)
      }
    const mean = seconds.slice(0, 8).reduce((total, kbps) => total + kbps, 0) / 8
    expect(Math.abs(mean / bitrateKbps - 1)).toBeLessThan(0.1)
    await expectDecodable(outputs[0], videoCodec)
  })

  test('ts: the multiplex has one rate throughout', async () => {
    const spec = jobSpec({
      videoCodec,
      container: 'ts',
      video: [profile],
      audio: [audioProfile({ codec: 'mp2', bitrateKbps: 192 })],
    })
    const { outputs, plan, stderr } = await encode(spec, clip, REPEATABLE)
    const { kbps, counterErrors } = await transportRates(outputs[0])
    const rate = plan.outputs[0]?.muxRateKbps ?? 0
    expect(rate).toBe(Math.ceil(1.1 * bitrateKbps + 211.2 + 60))
    expect(counterErrors).toBe(0)
    expect(Math.min(...kbps)).toBeGreaterThan(rate * 0.995)
    expect(Math.max(...kbps)).toBeLessThan(rate * 1.005)
    expect(stderr).not.toContain('dts < pcr')
    // Also in transport streams, where the headers are repeated at each key frame.
    for (const second of (await kbpsBySecond(outputs[0])).slice(1, 4))
      expect(Math.abs(second / bitrateKbps - 1)).toBeLessThan(0.02)
    await expectDecodable(outputs[0], videoCodec)
  })
})

test('vbr follows the content and stays below its peak', async () => {
  const { outputs } = await encode(jobSpec({ video: [videoProfile({ bitrateKbps: 800 })] }), clip)
  const seconds = await kbpsBySecond(outputs[0])
  expect(Math.min(...seconds.slice(1, 3))).toBeLessThan(100)
  expect(Math.max(...seconds)).toBeGreaterThan(600)
})

test.each(['h264', 'mpeg2'] as const)('vbr of a short %s clip averages what was asked', async (videoCodec) => {
  const moving = tempDir.file('moving.mkv')
  const picture = 'testsrc2=s=320x180:r=25:d=5,noise=alls=20:allf=t'
  await ffmpeg([...lavfi(picture), '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10', moving])
  const bitrateKbps = videoCodec === 'h264' ? 800 : 2000
  const profile = videoProfile({ bitrateKbps, audioProfiles: [] })
  const { outputs } = await encode(jobSpec({ videoCodec, video: [profile] }), moving)
  const mean = (await kbpsBySecond(outputs[0])).reduce((sum, kbps) => sum + kbps, 0) / 5
  expect(Math.abs(mean / bitrateKbps - 1), `${mean.toFixed(0)} kbps`).toBeLessThan(0.04)
})
