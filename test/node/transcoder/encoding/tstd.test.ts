// Transport streams against the decoder model: no buffer overflows, nothing is late, clock references and tables are
// frequent enough.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'
import { multiplexStream } from '../../../../transcoder/pipeline/multiplexOutput.ts'
import { readPcr } from '../../../../transcoder/formats/mpegts/clock.ts'
import type { MultiplexOptions } from '../../../../transcoder/formats/tsMultiplexer/multiplexOptions.ts'
import { splitPackets } from '../../../support/mpegts/cueClips.ts'
import { checkTstd } from '../../../support/mpegts/tstdModel.ts'
import { ffmpeg, lavfi, probeFile, readPackets } from '../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { encodeJob, encoderIn } from '../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
/** Black, then noise, then black, the hardest case for rate control. With a stereo and a 5.1 track. */
let clip = ''

beforeAll(async () => {
  clip = tempDir.file('half.mkv')
  const picture = "color=black:s=320x180:r=25:d=6,noise=alls=100:allf=t:enable='between(t,2,4)'"
  const tones = ['sine=d=6:r=48000,aformat=channel_layouts=stereo', 'anoisesrc=d=6:r=48000,aformat=channel_layouts=5.1']
  await ffmpeg([
    ...[...lavfi(picture), ...tones.flatMap((tone) => ['-f', 'lavfi', '-i', tone])],
    ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'flac', clip],
  ])
})

const tracks: Record<string, AudioProfile[]> = {
  mp2: [audioProfile({ codec: 'mp2', bitrateKbps: 384 })],
  'aac, ac3 5.1': [
    audioProfile({ bitrateKbps: 192 }),
    audioProfile({ index: 1, codec: 'ac3', channels: 6, bitrateKbps: 448, sourceStream: 2 }),
  ],
  'aac 5.1': [audioProfile({ codec: 'aac', channels: 6, bitrateKbps: 384, sourceStream: 2 })],
  none: [],
}

/** With one thread: with more, x264's rate control depends on scheduling and sometimes exceeds its buffer. */
const encodeAlike = (spec: JobSpec, input: string): ReturnType<typeof encodeJob> => encode(spec, input, { threads: 1 })

test.each(
  sampled(
    [
      ['h264', 'cbr', 800, 'mp2'],
      ['h264', 'cbr', 800, 'aac, ac3 5.1'],
      ['h264', 'cbr', 600, 'none'],
      ['h264', 'vbr', 800, 'aac, ac3 5.1'],
      ['h264', 'vbr', 200, 'mp2'],
      ['h264', 'qvbr', 800, 'aac 5.1'],
      ['hevc', 'cbr', 800, 'mp2'],
      ['hevc', 'vbr', 800, 'none'],
      ['mpeg2', 'cbr', 3000, 'aac, ac3 5.1'],
      ['mpeg2', 'vbr', 3000, 'mp2'],
    ] as const,
    4,
  ),
)('%s %s at %i kbps with audio: %s keeps to the T-STD', async (videoCodec, mode, bitrateKbps, name) => {
  const audio = tracks[name]!
  const spec = jobSpec({
    ...{ videoCodec, container: 'ts', audio },
    video: [videoProfile({ mode, bitrateKbps, audioProfiles: audio.map(({ index }) => index) })],
  })
  const { plan, outputs } = await encodeAlike(spec, clip)
  const validation = checkTstd(await readFile(outputs[0]))
  expect(validation.problems).toEqual([])
  const rate = plan.outputs[0]?.muxRateKbps ?? null
  expect(rate !== null).toBe(mode === 'cbr')
  // Up to the rounding of a PCR: 1 tick of 27 MHz in 20 ms.
  if (rate !== null) for (const kbps of validation.kbps) expect(Math.abs(kbps - rate)).toBeLessThan(rate * 2e-5)
  const probed = await probeFile(outputs[0])
  expect(probed.streams).toHaveLength(1 + audio.length)
  expect(await readPackets(outputs[0], 'v:0')).toHaveLength(150)
})

test.each(['h264', 'hevc'] as const)(
  '%s vbr far below its level starts 0.7 s after the clock at most, and no buffer overflows or runs dry',
  async (videoCodec) => {
    const size = { width: 640, height: 360, bitrateKbps: 500 }
    const audio = [audioProfile({ bitrateKbps: 128 })]
    const spec = jobSpec({ videoCodec, container: 'ts', audio, video: [videoProfile({ ...size, mode: 'vbr' })] })
    const { outputs } = await encodeAlike(spec, clip)
    const bytes = await readFile(outputs[0])
    expect(checkTstd(bytes).problems).toEqual([])
    const clock = splitPackets(bytes)
      .map(readPcr)
      .find((ticks) => ticks !== null)!
    const [first] = await readPackets(outputs[0], 'v:0')
    expect(Number(first!.dts_time) - clock / 90_000).toBeLessThan(0.701)
  },
)

test('many small frames keep to the T-STD at a low constant rate', async () => {
  const calm = tempDir.file('calm.mp4')
  await ffmpeg([...lavfi('testsrc2=s=320x180:r=60:d=4'), '-c:v', 'libx264', '-preset', 'ultrafast', calm])
  const video = [videoProfile({ mode: 'cbr', bitrateKbps: 400, audioProfiles: [] })]
  const { outputs } = await encodeAlike(jobSpec({ container: 'ts', audio: [], video }), calm)
  expect(checkTstd(await readFile(outputs[0])).problems).toEqual([])
})

const options: MultiplexOptions = {
  rateKbps: null,
  video: { codec: 'h264', maxKbps: 1000, bufferBits: 700_000, framesPerSecond: 25, hasHrd: false },
  audio: [{ codec: 'aac', channels: 2, bitrateKbps: 128 }],
  profile: null,
  service: { stream: 1, id: 1, name: 'clip', provider: 'tests', type: 1 },
  ...{ mapPid: 0x1000, videoPid: 0x100, audioPid: 0x101, cues: null },
}

test('a file that grows beyond its limit ends with a reason', async () => {
  const piped = tempDir.file('piped.ts')
  await ffmpeg(['-i', clip, '-map', '0:v', '-map', '0:a:0', '-c:v', 'copy', '-c:a', 'aac', '-f', 'mpegts', piped])
  const source = () => createReadStream(piped)
  await expect(multiplexStream(source(), tempDir.file('long.ts'), options, 100_000)).rejects.toMatchObject({
    code: 'output_too_large',
  })
})

test('the same bytes, whatever the chunks', async () => {
  const piped = tempDir.file('chunks.ts')
  await ffmpeg(['-i', clip, '-map', '0:v', '-map', '0:a:0', '-c:v', 'copy', '-c:a', 'aac', '-f', 'mpegts', piped])
  const made: Buffer[] = []
  for (const highWaterMark of [188, 1000, 65_536]) {
    const file = tempDir.file(`chunks-${highWaterMark}.ts`)
    await multiplexStream(createReadStream(piped, { highWaterMark }), file, options, 1e9)
    made.push(await readFile(file))
  }
  expect(made[0]!.length).toBeGreaterThan(100_000)
  expect(made[1]!.equals(made[0]!)).toBe(true)
  expect(made[2]!.equals(made[0]!)).toBe(true)
})

describe('the check itself', () => {
  test('detects the audio buffer errors of ffmpeg’s own constant-rate muxing', async () => {
    const file = tempDir.file('plain.ts')
    const rate = ['-b:v', '800k', '-maxrate', '800k', '-minrate', '800k', '-bufsize', '560k', '-muxrate', '1200k']
    const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-x264-params', 'nal-hrd=cbr:force-cfr=1', ...rate]
    await ffmpeg(['-i', clip, '-map', '0:v', '-map', '0:a:0', ...video, '-c:a', 'mp2', '-b:a', '192k', file])
    const { problems, fullest } = checkTstd(await readFile(file))
    expect(problems.join('\n')).toMatch(/B: PID 257 holds \d+ of 3584 bytes/)
    expect(fullest.get(257)).toBeGreaterThan(7000)
  })

  test('finds planted faults', async () => {
    const spec = jobSpec({ container: 'ts', video: [videoProfile({ mode: 'cbr', bitrateKbps: 800 })] })
    const { outputs } = await encodeAlike(spec, clip)
    const clean = await readFile(outputs[0])
    expect(checkTstd(clean).problems).toEqual([])
    const kinds = (bytes: Buffer) => [...new Set(checkTstd(bytes).problems.map((problem) => problem.split(':')[0]))]
    const without = (wanted: (pid: number, index: number) => boolean): Buffer => {
      const bytes = Buffer.from(clean)
      for (let at = 0, index = 0; at < bytes.length; at += 188, index++)
        if (wanted(bytes.readUInt16BE(at + 1) & 0x1fff, index)) bytes.writeUInt16BE(0x1fff, at + 1)
      return bytes
    }
    const count = clean.length / 188
    expect(kinds(without((pid, index) => pid === 0x101 && index > count / 2 && index < count / 2 + 40))).toContain(
      'continuity',
    )
    expect(kinds(without((pid, index) => pid === 0 && index > count / 3 && index < count / 2))).toContain('PAT')
    expect(kinds(without((pid, index) => pid === 0x11 && index > 20))).toContain('SDT')
    // All clock references 0.9 s later: what was in time becomes late. All earlier: audio stays in its buffer too long.
    const moved = (ticks: number): Buffer => {
      const bytes = Buffer.from(clean)
      for (let at = 0; at < bytes.length; at += 188) {
        const hasClock = (bytes[at + 3]! & 0x20) !== 0 && bytes[at + 4]! >= 7 && (bytes[at + 5]! & 0x10) !== 0
        if (hasClock) bytes.writeUInt32BE(bytes.readUInt32BE(at + 6) + ticks / 2, at + 6)
      }
      return bytes
    }
    expect(kinds(moved(0.9 * 90_000))).toContain('late')
    expect(kinds(moved(-0.9 * 90_000))).toEqual(expect.arrayContaining(['B', 'delay']))
  })
})
