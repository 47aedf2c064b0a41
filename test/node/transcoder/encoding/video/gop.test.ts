// GOPs as a packager needs them: every key frame in its place, closed GOPs, anchor frames ip_distance apart. Checked by
// decoding.
import { beforeAll, describe, expect, test } from 'vitest'
import type { VideoCodec } from '#contract/codecs.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { ffmpeg, decodeFrames, makeClip, readPackets, probeStream } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
const clips: Record<string, string> = {}

beforeAll(async () => {
  // Scene cuts every 0.4 s, where an encoder would insert key frames by itself.
  const cuts = "hue=h='360*floor(t/0.4)/7',negate=enable='lt(mod(t,0.8),0.4)'"
  clips['25'] = await makeClip(tempDir.file('25.mp4'), { filters: cuts })
  clips['29.97'] = await makeClip(tempDir.file('2997.mp4'), { rate: '30000/1001', filters: cuts })
})

const silent = (change: Parameters<typeof videoProfile>[0] = {}) => videoProfile({ audioProfiles: [], ...change })

const cases: [VideoCodec, '25' | '29.97', number, number, number][] = [
  ['h264', '25', 1, 25, 100],
  ['h264', '29.97', 1, 30, 120],
  ['hevc', '25', 0.48, 12, 100],
  ['hevc', '29.97', 1, 30, 120],
  ['mpeg2', '25', 1, 25, 100],
  ['mpeg2', '29.97', 1, 30, 120],
]

describe.each(sampled(cases, 2))('%s at %s, gop_length %f', (videoCodec, rate, gopSeconds, gopFrames, count) => {
  test.each(['mp4', 'ts'] as const)('%s has a key frame exactly every GOP and no frame too many', async (container) => {
    const spec: JobSpec = jobSpec({ videoCodec, container, gopSeconds, video: [silent()] })
    const { outputs } = await encode(spec, clips[rate] ?? '')
    const decoded = await decodeFrames(outputs[0])
    expect(decoded).toHaveLength(count)
    const keys = decoded.flatMap((frame, index) => (frame.key_frame === 1 ? [index] : []))
    expect(keys).toEqual(Array.from({ length: Math.ceil(count / gopFrames) }, (_, index) => index * gopFrames))
    // Closed: no frame after a key frame in the file is displayed before it.
    let lastKey = -Infinity
    for (const packet of await readPackets(outputs[0])) {
      const shown = Number(packet.pts_time)
      if (packet.flags.startsWith('K')) lastKey = shown
      expect(shown).toBeGreaterThanOrEqual(lastKey)
    }
    // Anchor frames: ip_distance apart, or less at the end of a GOP.
    const anchors = decoded.flatMap((frame, index) => (frame.pict_type === 'B' ? [] : [index]))
    const distances = new Set(anchors.slice(1).map((anchor, index) => anchor - (anchors[index] ?? 0)))
    expect(Math.max(...distances)).toBe(3)
  })
})

test('hevc in mp4 is hvc1, in ts it is not tagged so', async () => {
  const spec = jobSpec({ videoCodec: 'hevc', video: [silent()] })
  const { outputs } = await encode(spec, clips['25'] ?? '')
  expect((await probeStream(outputs[0], 'video')).codec_tag_string).toBe('hvc1')
})

test('ip_distance 1 has no B-frames, a GOP of one frame has key frames only', async () => {
  const none = await encode(jobSpec({ ipDistance: 1, video: [silent()] }), clips['25'] ?? '')
  expect((await decodeFrames(none.outputs[0])).filter((frame) => frame.pict_type === 'B')).toEqual([])
  const intra = await encode(jobSpec({ gopSeconds: 0.01, video: [silent()] }), clips['25'] ?? '')
  expect((await decodeFrames(intra.outputs[0])).every((frame) => frame.key_frame === 1)).toBe(true)
})

test.each(
  sampled(
    [
      ['hevc', '1/2x', 50, '25/2'],
      ['mpeg2', '2x', 200, '50/1'],
      ['mpeg2', '1/2x', 100, '25/1'],
    ] as const,
    2,
  ),
)('%s at %s has %i frames', async (videoCodec, frameRateFactor, count, rate) => {
  const spec = jobSpec({ videoCodec, video: [silent({ frameRateFactor })] })
  const { outputs } = await encode(spec, clips['25'] ?? '')
  expect(await decodeFrames(outputs[0])).toHaveLength(count)
  expect((await probeStream(outputs[0], 'video')).avg_frame_rate).toBe(rate)
})

test('mpeg2 at half of 25 fps shows every second frame twice, and no other frame', async () => {
  const spec = jobSpec({ videoCodec: 'mpeg2', video: [silent({ frameRateFactor: '1/2x', bitrateKbps: 8000 })] })
  const { outputs } = await encode(spec, clips['25'] ?? '')
  const raw = await ffmpeg(['-i', outputs[0], '-pix_fmt', 'gray', '-f', 'rawvideo', '-'])
  const { width, height } = await probeStream(outputs[0], 'video')
  const picture = (index: number) => raw.subarray(index * width * height, (index + 1) * width * height)
  const difference = (a: Buffer, b: Buffer) =>
    a.reduce((sum, value, at) => sum + Math.abs(value - b[at]!), 0) / a.length
  for (let index = 2; index < 20; index += 2) {
    const [same, next] = [
      difference(picture(index), picture(index + 1)),
      difference(picture(index + 1), picture(index + 2)),
    ]
    expect(same, `pictures ${index} and ${index + 1}`).toBeLessThan(next / 3)
  }
})
