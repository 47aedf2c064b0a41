// Interlaced, telecined and wrongly flagged sources, checked by decoding: what idet detects, and how content moves from
// field to field.
import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { measureSource } from '../../../../../transcoder/analysis/measureSource.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import {
  decodeFrames,
  ffmpeg,
  lavfi,
  makeClip,
  probeStream,
  sharedClip,
  testFfmpeg,
} from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { barPositions, makeMovingBar } from '../../../../support/media/interlacedClip.ts'
import { frameSimilarities } from '../../../../support/media/frameSimilarity.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const TS_PACKET = 188

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

/** The scan type that the transcoder itself measures in a file, whatever its flags are. */
async function scanOf(path: string) {
  const programs = await testFfmpeg()
  const media = await probe(programs, `file:${path}`, { cwd: tempDir.path })
  const asked = { spec: jobSpec({ detelecine: true }), media, verdict: null }
  return (await measureSource(programs, `file:${path}`, asked, { cwd: tempDir.path })).video?.scan
}

async function make(change: Partial<JobSpec>, profile: Partial<VideoProfile>, input: string) {
  const spec = jobSpec({ video: [videoProfile({ audioProfiles: [], bitrateKbps: 2000, ...profile })], ...change })
  const { outputs, plan } = await encode(spec, input)
  return { file: outputs[0], codes: plan.warnings.map((warning) => warning.code), plan: plan.outputs[0]?.video }
}

describe('interlaced sources stay interlaced', () => {
  const cases: [JobSpec['videoCodec'], 'top' | 'bottom', Partial<VideoProfile>][] = [
    ['h264', 'top', { width: 352, height: 480 }],
    ['h264', 'bottom', { width: 352, height: 576 }],
    ['h264', 'top', { width: 0, height: 0 }],
    ['h264', 'bottom', { width: 352, height: 480, mode: 'cbr' }],
    ['mpeg2', 'top', { width: 352, height: 576 }],
    ['mpeg2', 'bottom', { width: 0, height: 0 }],
  ]
  test.each(sampled(cases, 2))(
    '%s, %s field first, %j: every field is later than the one before',
    async (codec, order, size) => {
      const clip = await makeMovingBar(tempDir.file(`${codec}_${order}_${size.width}.ts`), order)
      const { file, codes, plan } = await make({ videoCodec: codec, allowUpscaling: true }, size, clip)
      // Broadcast rasters of half the width have a sample aspect ratio of almost 2:1.
      expect(codes.filter((code) => code !== 'extreme_pixel_aspect')).toEqual([])
      expect(plan?.scan).toBe(order === 'top' ? 'tff' : 'bff')
      const decoded = await decodeFrames(file)
      expect(decoded).toHaveLength(50)
      expect(decoded.every((frame) => frame.interlaced_frame === 1)).toBe(true)
      const places = await barPositions(file)
      expect(places).toHaveLength(100)
      // 2 of 320 pixels per field. In the wrong field order, every second step would go back.
      const steps = places.slice(1).map((place, index) => place - (places[index] ?? 0))
      expect(Math.min(...steps)).toBeGreaterThan(2)
      expect(Math.max(...steps)).toBeLessThan(11)
    },
  )
})

describe('deinterlacing', () => {
  test.each(
    sampled(
      [
        ['1x', { progressive: true }, 50],
        ['2x', { frameRateFactor: '2x' }, 100],
      ] as const,
      1,
    ),
  )('%s gives progressive frames, all different', async (_factor, profile, count) => {
    const clip = tempDir.file(`tff_${count}.ts`)
    const picture = 'testsrc2=s=320x180:r=50:d=2,interlace=scan=tff'
    await ffmpeg([...lavfi(picture), '-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '4M', clip])
    const { file, codes } = await make({}, profile, clip)
    expect(codes).toContain('deinterlaced')
    const decoded = await decodeFrames(file)
    expect(decoded).toHaveLength(count)
    expect(decoded.some((frame) => frame.interlaced_frame === 1)).toBe(false)
    // mpdecimate drops frames that repeat the previous one; comparing hashes would not work, since an encoder refines
    // repeated frames.
    const kept = await ffmpeg(['-i', file, '-vf', 'mpdecimate', '-fps_mode', 'vfr', '-f', 'framemd5', '-'])
    expect(kept.toString().match(/[0-9a-f]{32}/g)).toHaveLength(count)
  })

  test.each(sampled(['top', 'bottom'] as const, 1))(
    '%s field first without a flag is found by looking',
    async (order) => {
      const clip = tempDir.file(`unflagged_${order}.mp4`)
      const picture = `testsrc2=s=320x180:r=50:d=3,tinterlace=mode=interleave_${order},setfield=prog`
      await ffmpeg([...lavfi(picture), '-c:v', 'libx264', '-qp', '10', '-pix_fmt', 'yuv420p', clip])
      expect((await probeStream(clip, 'video')).field_order).toBe('progressive')
      const { file, codes } = await make({}, { progressive: true, frameRateFactor: '2x' }, clip)
      expect(codes).toEqual(['deinterlaced'])
      expect((await scanOf(file))?.progressive).toBeGreaterThan(130)
    },
  )

  test('progressive frames are not changed, whatever was requested or flagged', async () => {
    const plain = await makeClip(tempDir.file('plain.mp4'), { seconds: 4, audio: [] })
    const flaggedClip = tempDir.file('psf.ts')
    const coding = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M']
    await ffmpeg(['-i', plain, '-vf', 'setfield=tff', ...coding, flaggedClip])
    expect((await decodeFrames(flaggedClip))[0]?.interlaced_frame).toBe(1)
    for (const clip of [plain, flaggedClip]) {
      const { file, plan, codes } = await make({ detelecine: clip === plain }, { progressive: true }, clip)
      expect(plan).toMatchObject({ deinterlace: 'none', scan: 'progressive' })
      expect(codes).toEqual(clip === plain ? ['no_telecine'] : [])
      expect((await decodeFrames(file)).some((frame) => frame.interlaced_frame === 1)).toBe(false)
    }
  })

  test.for(
    sampled(
      [
        ['1x', 25],
        ['2x', 50],
      ] as const,
      1,
    ),
  )('a broadcast is progressive at %s, without combing', async ([frameRateFactor, rate], context) => {
    const clip = sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts')
    const profile = { width: 704, height: 576, bitrateKbps: 4000, progressive: true, frameRateFactor }
    const { file } = await make({}, profile, clip)
    expect((await probeStream(file, 'video')).avg_frame_rate).toBe(`${rate}/1`)
    const scan = await scanOf(file)
    expect(scan?.progressive).toBeGreaterThan(10 * ((scan?.tff ?? 0) + (scan?.bff ?? 0)))
  })

  test('an interlaced broadcast at another size stays top field first', async (context) => {
    const clip = sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts')
    const { file } = await make({}, { width: 480, height: 576, bitrateKbps: 2000 }, clip)
    expect(await probeStream(file, 'video')).toMatchObject({ field_order: 'tt', avg_frame_rate: '25/1' })
    const scan = await scanOf(file)
    expect(scan?.tff).toBeGreaterThan(10 * ((scan?.bff ?? 0) + (scan?.progressive ?? 0)))
  })

  test('a size that nothing shows interlaced is progressive, with a warning', async () => {
    const clip = await makeMovingBar(tempDir.file('small.ts'), 'top')
    const { file, codes } = await make({}, { width: 240, height: 136 }, clip)
    expect(codes).toEqual(['deinterlaced'])
    expect((await decodeFrames(file)).filter((frame) => frame.interlaced_frame === 1)).toEqual([])
    const scan = await scanOf(file)
    expect(scan?.progressive).toBeGreaterThan(10 * ((scan?.tff ?? 0) + (scan?.bff ?? 0)))
  })
})

describe('auto_detelecine_flag', () => {
  // The field order is set twice: old versions neither flag the filter's frames nor read the flag.
  const coding = (top: '0' | '1') => ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-top', top, '-b:v', '6M']

  test.each(
    sampled(
      [
        ['as they are', 'tff', '1'],
        ['the wrong way round', 'bff', '0'],
      ] as const,
      1,
    ),
  )('3:2 pulldown with fields flagged %s is restored to the original frames', async (_how, flag, top) => {
    const film = 'testsrc2=s=320x180:r=24000/1001:d=4'
    const clip = tempDir.file(`telecined_${flag}.ts`)
    await ffmpeg([...lavfi(`${film},telecine=pattern=23,setfield=${flag}`), ...coding(top), clip])
    const { file, codes } = await make({ detelecine: true }, { width: 320, height: 180 }, clip)
    expect(codes).toEqual(['detelecined'])
    expect((await probeStream(file, 'video')).avg_frame_rate).toBe('24000/1001')
    expect((await decodeFrames(file)).length).toBeGreaterThan(93)
    const scores = await frameSimilarities(file, ['-f', 'lavfi', '-i', film])
    expect(Math.min(...scores.slice(0, 90))).toBeGreaterThan(0.93)
  })

  test('frames that are missing in the source delay nothing and advance nothing', async () => {
    const film = 'testsrc2=s=320x180:r=24000/1001:d=8'
    const whole = tempDir.file('telecined_whole.ts')
    await ffmpeg([...lavfi(`${film},telecine=pattern=23,setfield=tff`), ...coding('1'), whole])
    const bytes = await readFile(whole)
    const packet = (share: number) => Math.floor((bytes.length * share) / TS_PACKET) * TS_PACKET
    const clip = tempDir.file('telecined_gap.ts')
    await writeFile(clip, Buffer.concat([bytes.subarray(0, packet(0.4)), bytes.subarray(packet(0.6))]))
    const { file, codes } = await make({ detelecine: true }, { width: 320, height: 180 }, clip)
    expect(codes).toEqual(['detelecined'])
    const scores = await frameSimilarities(file, ['-f', 'lavfi', '-i', film])
    expect(scores.length).toBeGreaterThan(185)
    expect(Math.min(...scores.slice(140, 180))).toBeGreaterThan(0.93)
  })

  test('video of 29.97 is none', async () => {
    const clip = tempDir.file('video_2997.ts')
    const picture = 'testsrc2=s=320x180:r=60000/1001:d=2,interlace=scan=tff'
    await ffmpeg([...lavfi(picture), ...coding('1'), clip])
    const { file, codes } = await make({ detelecine: true }, {}, clip)
    expect(codes).toEqual(['no_telecine'])
    expect((await probeStream(file, 'video')).avg_frame_rate).toBe('30000/1001')
  })
})
