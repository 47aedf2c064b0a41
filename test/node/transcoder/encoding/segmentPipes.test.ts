// ffmpeg's outputs for segmented jobs: timestamps from 0, no edit lists, key frames at the same times in all
// renditions.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { PackagingSpec } from '#contract/job/jobSpec.ts'
import { SMOOTH_TIMESCALE } from '../../../../transcoder/formats/mp4/movieFragment.ts'
import { TS_ORIGIN_TICKS } from '../../../../transcoder/plan/forms.ts'
import { ffmpeg, lavfi, makeClip, probeStream, readPackets } from '../../../support/media/media.ts'
import { jobSpec, packagingSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { readFragments, type FragmentedFile } from '../../../support/media/fragmentReader.ts'
import { encodeSegmentStreams } from '../../../support/media/encodeSegmented.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'
import { smallCaptionsTest } from '../../../support/captions/captionedClip.ts'

const tempDir = useTempDirectory()

const small = { width: 160, height: 90, bitrateKbps: 200 }
const segmented = (packaging: Partial<PackagingSpec>, change: Parameters<typeof jobSpec>[0] = {}) =>
  jobSpec({ packaging: packagingSpec(packaging), video: [videoProfile({ ...small, output: '' })], ...change })

/** Start times of the fragments; checks that each starts with its only key frame. */
function starts(file: FragmentedFile): number[] {
  for (const { samples, start } of file.fragments) {
    expect(samples.map(({ sync }) => sync)).toEqual(samples.map((_sample, index) => index === 0))
    // The key frame is presented first.
    expect(Math.min(...samples.map(({ time }) => time))).toBe(start)
    expect(samples[0]!.time).toBe(start)
  }
  return file.fragments.map(({ start }) => start / file.timescale)
}

/** Checks that fragments follow each other without a gap. */
function requireContinuous({ fragments }: FragmentedFile): void {
  let next = 0
  for (const { start, samples } of fragments) {
    expect(start).toBe(next)
    next = start + samples.reduce((sum, { duration }) => sum + duration, 0)
  }
}

describe.each(sampled(['25', '30000/1001', '24000/1001', '50'], 1))('%s frames per second', (rate) => {
  test('CMAF, TS and Smooth of all renditions begin at 0 and have their key frames at the same times', async () => {
    const clip = await makeClip(tempDir.file('clip.mp4'), { ...small, rate, seconds: 3, audio: [2] })
    const { plan, file, stderr } = await encodeSegmentStreams(
      segmented(
        { hls: true, dash: true, smooth: true, preferTransportStream: true },
        {
          video: (['1x', '1/2x', '2x'] as const).map((frameRateFactor, index) =>
            videoProfile({ ...small, index, output: '', frameRateFactor, width: 160 - 16 * index }),
          ),
        },
      ),
      clip,
      tempDir.path,
    )
    const complaints = stderr.split('\n').filter((line) => /\[(warning|error|fatal)\]/.test(line))
    expect(complaints.filter((line) => /^\[(mp4|ismv|mpegts|tee)/.test(line))).toEqual([])
    const [num, den = 1] = rate.split('/').map(Number) as [number, number?]
    const gop = (2 * Math.max(1, Math.round(num / den / 2)) * den) / num
    const expected = Array.from({ length: Math.ceil(3 / gop - 0.01) }, (_, index) => index * gop)
    expect(plan.packaging!.renditions.map(({ id, forms }) => [id, ...forms])).toEqual([
      ...[0, 1, 2].map((index) => [`video_${index}`, 'cmaf', 'ts', 'smooth']),
      ['audio_0', 'cmaf', 'smooth'],
    ])
    for (const index of [0, 1, 2]) {
      const cmaf = await readFragments(file(`video_${index} cmaf`))
      expect(cmaf.brands).toContain('cmfc')
      expect(cmaf.boxes.filter((path) => path.includes('edts') || path.includes('mfra'))).toEqual([])
      expect(cmaf.sampleEntry).toBe('avc1')
      requireContinuous(cmaf)
      const smooth = await readFragments(file(`video_${index} smooth`))
      expect(smooth.timescale).toBe(SMOOTH_TIMESCALE)
      for (const form of ['cmaf', 'smooth']) {
        const bytes = await readFile(file(`video_${index} ${form}`))
        // avcC: one SPS, and it is not empty.
        const record = bytes.subarray(bytes.indexOf('avcC') + 4)
        expect([record.readUInt8(5) & 0x1f, record.readUInt16BE(6) > 10, record.readUInt8(8) & 0x1f]).toEqual([
          1,
          true,
          7,
        ])
      }
      expect(smooth.boxes.filter((path) => path.includes('edts'))).toEqual([])
      const sent = (await readPackets(file(`video_${index} ts`))).filter(({ flags }) => flags.startsWith('K'))
      const origin = TS_ORIGIN_TICKS / 90_000
      for (const times of [starts(cmaf), starts(smooth), sent.map(({ pts_time }) => Number(pts_time) - origin)]) {
        expect(times).toHaveLength(expected.length)
        for (const [position, second] of times.entries()) expect(second).toBeCloseTo(expected[position]!, 4)
      }
      expect(starts(cmaf).map((second) => Math.round(second * num))).toEqual(
        expected.map((second) => Math.round(second * num)),
      )
    }
    const audioTrack = await readFragments(file('audio_0 cmaf'))
    expect(audioTrack).toMatchObject({ timescale: 48_000, sampleEntry: 'mp4a' })
    expect(audioTrack.boxes.filter((path) => path.includes('edts'))).toEqual([])
    requireContinuous(audioTrack)
    const last = audioTrack.fragments.at(-1)!
    // The source's audio ends with a whole frame.
    const end = last.start + last.samples[0]!.duration - 3 * 48_000
    expect(end).toBeGreaterThanOrEqual(0)
    expect(end).toBeLessThan(1024)
    const smoothSound = await readFragments(file('audio_0 smooth'))
    expect(smoothSound.fragments[0]!.start).toBe(0)
    for (const [index, { start }] of smoothSound.fragments.entries())
      expect(Math.abs(start / SMOOTH_TIMESCALE - (index * 1024) / 48_000)).toBeLessThan(1e-6)
  })
})

describe('audio and video', () => {
  const seconds = 4
  /** White and a tone, 0.2 s into each second. */
  async function flashes(): Promise<string> {
    const path = tempDir.file('flash.ts')
    const picture = `color=black:s=64x64:r=25:d=${seconds},drawbox=c=white:t=fill:enable='between(mod(n,25),5,6)'`
    const tone = `aevalsrc=exprs='0.7*sin(2*PI*1000*t)*between(mod(t,1),0.2,0.28)':s=48000:d=${seconds}`
    await ffmpeg([
      ...lavfi(picture, tone),
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'mp2', '-b:a', '192k', path],
    ])
    return path
  }
  const edges = (values: readonly (readonly [number, boolean])[]) =>
    values
      .filter(([second, on], index) => on && !values.slice(0, index).some(([s, o]) => o && second - s < 0.5))
      .map(([s]) => s)
  const loud = async (path: string) => {
    const raw = await ffmpeg(['-i', path, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 'f32le', '-'])
    const found: number[] = []
    for (let index = 0; index * 4 < raw.length; index += 1)
      if (Math.abs(raw.readFloatLE(index * 4)) > 0.2 && index - (found.at(-1) ?? -1e6) > 24_000) found.push(index)
    return found
  }
  const bright = async (path: string) =>
    ffmpeg([
      '-i',
      path,
      '-map',
      '0:v:0',
      ...'-fps_mode passthrough -vf scale=1:1 -pix_fmt gray -f rawvideo -'.split(' '),
    ])

  test.each(['aac', 'ac3'] as const)('%s is heard in CMAF where its samples lie', async (codec) => {
    const spec = segmented({ hls: true }, { audio: [audioProfile({ codec, bitrateKbps: 192 })] })
    const { file } = await encodeSegmentStreams(spec, await flashes(), tempDir.path)
    const picture = await readFragments(file('video_0 cmaf'))
    const times = picture.fragments
      .flatMap(({ samples }) => samples.map(({ time }) => time / picture.timescale))
      .toSorted((a, b) => a - b)
    const light = await bright(file('video_0 cmaf'))
    expect(light).toHaveLength(times.length)
    const flashed = edges(times.map((second, index) => [second, light[index]! > 128] as const))
    expect(flashed).toEqual([0.2, 1.2, 2.2, 3.2].map((second) => expect.closeTo(second, 4)))
    // Raw frames, so that no demuxer removes anything: sample n is presented at n / 48000.
    const sound = await readFragments(file('audio_0 cmaf'))
    expect(sound.fragments[0]!.start).toBe(0)
    const raw = tempDir.file(`raw.${codec}`)
    const whole = sound.fragments.flatMap(({ samples }) => samples.map(({ data }) => data))
    await writeFile(raw, Buffer.concat(codec === 'ac3' ? whole : whole.map(withAdts)))
    const beeps = (await loud(raw)).map((sample) => sample / 48_000)
    expect(beeps).toHaveLength(seconds)
    for (const [index, beep] of beeps.entries()) expect(Math.abs(beep - flashed[index]!)).toBeLessThan(0.01)
  })

  test('and in transport streams apart on their common clock', async () => {
    const spec = segmented({ hls: true, separateAudio: true, preferTransportStream: true })
    const { file } = await encodeSegmentStreams(spec, await flashes(), tempDir.path)
    const first = Math.min(...(await readPackets(file('video_0 ts'))).map(({ pts_time }) => Number(pts_time)))
    expect(first).toBe(TS_ORIGIN_TICKS / 90_000)
    const sound = Number((await readPackets(file('audio_0 ts'), 'a:0'))[0]!.pts_time)
    for (const [index, sample] of (await loud(file('audio_0 ts'))).entries())
      expect(Math.abs(sound + sample / 48_000 - first - (0.2 + index))).toBeLessThan(0.01)
  })
})

/** 48 kHz, stereo, AAC-LC. */
function withAdts(frame: Buffer): Buffer {
  const size = frame.length + 7
  const header = [0xff, 0xf1, 0x4c, 0x80 | (size >> 11), (size >> 3) & 0xff, ((size & 7) << 5) | 0x1f, 0xfc]
  return Buffer.concat([Buffer.from(header), frame])
}

test('hevc is hvc1 with an IDR at each boundary; several audio renditions carry their language', async () => {
  const clip = await makeClip(tempDir.file('two.mp4'), { ...small, seconds: 2, audio: [2, 6] })
  const { plan, file } = await encodeSegmentStreams(
    segmented(
      { dash: true },
      {
        videoCodec: 'hevc',
        audio: [
          audioProfile(),
          audioProfile({ index: 1, codec: 'ac3', channels: 6, bitrateKbps: 384, sourceStream: 2 }),
        ],
        video: [videoProfile({ ...small, output: '', audioProfiles: [0, 1] })],
      },
    ),
    clip,
    tempDir.path,
  )
  const video = await readFragments(file('video_0 cmaf'))
  expect(video.sampleEntry).toBe('hvc1')
  expect(starts(video)).toEqual([0, 1])
  for (const { samples } of video.fragments)
    expect(nalTypes(samples[0]!.data, (byte) => (byte >> 1) & 0x3f)).toContain(20)
  expect((await readFragments(file('audio_1 cmaf'))).sampleEntry).toBe('ac-3')
  expect((await probeStream(file('audio_1 cmaf'), 'audio')).channels).toBe(6)
  expect(plan.packaging!.renditions[0]!.audioRenditions).toEqual(['audio_0', 'audio_1'])
})

function nalTypes(sample: Buffer, type: (byte: number) => number): number[] {
  const found: number[] = []
  for (let at = 0; at + 4 < sample.length; at += 4 + sample.readUInt32BE(at)) found.push(type(sample.readUInt8(at + 4)))
  return found
}

test('a splice point is an IDR at the same time in renditions of different rates, in every form', async () => {
  const clip = await makeClip(tempDir.file('splice.ts'), { ...small, seconds: 3 })
  const cues = { pids: [500], cueStreamType: 0x86, splicePoints: [1.5 * 90_000], schedules: 0, damaged: 0 }
  const { file } = await encodeSegmentStreams(
    segmented(
      { hls: true, dash: true, preferTransportStream: true },
      {
        scte35Passthrough: true,
        video: (['1/2x', '2x'] as const).map((frameRateFactor, index) =>
          videoProfile({ ...small, index, output: '', frameRateFactor }),
        ),
      },
    ),
    clip,
    tempDir.path,
    cues,
  )
  // 1.5 s lies between two frames at 12.5 fps; GOPs of 13 of them last 1.04 s.
  const expected = [0, 1.04, 1.52, 2.08]
  for (const index of [0, 1]) {
    const video = await readFragments(file(`video_${index} cmaf`))
    expect(starts(video)).toEqual(expected.map((second) => expect.closeTo(second, 6)))
    for (const { samples } of video.fragments) expect(nalTypes(samples[0]!.data, (byte) => byte & 0x1f)).toContain(5)
    const sent = (await readPackets(file(`video_${index} ts`))).filter(({ flags }) => flags.startsWith('K'))
    expect(sent.map(({ pts_time }) => Number(pts_time) - 10)).toEqual(
      expected.map((second) => expect.closeTo(second, 4)),
    )
  }
})

test('captions stay in the video, and copied source frames use the clock of the transport streams', async (context) => {
  const clip = await smallCaptionsTest(context)
  const spec = segmented(
    { hls: true, dash: true, preferTransportStream: true },
    { closedCaptions: true, video: [videoProfile({ ...small, output: '', audioProfiles: [] })], audio: [] },
  )
  const { plan, file } = await encodeSegmentStreams(spec, clip, tempDir.path)
  expect(plan.packaging!.textTracks).toBe(true)
  // The identifier of caption data in ATSC A/53.
  for (const name of ['video_0 cmaf', 'video_0 ts', 'captions'])
    expect((await readFile(file(name))).includes('GA94'), name).toBe(true)
  const first = async (name: string) =>
    Math.min(...(await readPackets(file(name))).flatMap(({ pts_time }) => Number(pts_time)))
  expect(await first('video_0 ts')).toBe(TS_ORIGIN_TICKS / 90_000)
  expect(await first('captions')).toBeCloseTo(TS_ORIGIN_TICKS / 90_000, 3)
})

test('each key frame of a transport stream brings its parameter sets, also where the encoder was shared', async () => {
  const clip = await makeClip(tempDir.file('sets.mp4'), { ...small, seconds: 2 })
  for (const dash of [false, true]) {
    const { file } = await encodeSegmentStreams(
      segmented({ hls: true, dash, preferTransportStream: true }),
      clip,
      tempDir.path,
    )
    const raw = tempDir.file('sets.h264')
    await ffmpeg(['-i', file('video_0 ts'), '-map', '0:v', '-c', 'copy', '-f', 'h264', raw])
    const types = (await readFile(raw))
      .toString('latin1')
      .split('\0\0\u0001')
      .slice(1)
      .map((nal) => nal.charCodeAt(0) & 0x1f)
    expect(types.filter((type) => type === 7)).toHaveLength(types.filter((type) => type === 5).length)
    expect(types.filter((type) => type === 5).length).toBeGreaterThanOrEqual(2)
  }
})

test('audio that renditions share is the same in each, and as in a rendition alone', async () => {
  const clip = await makeClip(tempDir.file('shared.mp4'), { ...small, seconds: 3, audio: [2] })
  const video = [0, 1, 2].map((index) => videoProfile({ ...small, index, output: '', width: 160 - 16 * index }))
  const ts = { hls: true, preferTransportStream: true }
  const together = await encodeSegmentStreams(segmented(ts, { video }), clip, tempDir.path)
  const alone = await encodeSegmentStreams(segmented(ts), clip, tempDir.path)
  const hashes = async (path: string) => {
    const text = await ffmpeg(['-copyts', '-i', path, '-map', '0:a', '-c', 'copy', '-f', 'framehash', '-'])
    return text
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
  }
  const expected = await hashes(alone.file('video_0 ts'))
  expect(expected.length).toBeGreaterThan(140)
  for (const index of [0, 1, 2]) {
    expect(await hashes(together.file(`video_${index} ts`))).toEqual(expected)
    expect(await readPackets(together.file(`video_${index} ts`))).toHaveLength(75)
  }
})
