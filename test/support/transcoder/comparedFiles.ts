// In charge of: single files of a job made twice, by one task and divided: that players read the same from both.
// Not in charge of: making them (comparedDivision.ts).
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { ffmpeg, probeFile, readPackets } from '../media/media.ts'
import { describeTask, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import type { ComparedDivision } from './comparedDivision.ts'

/** Writes `out/v0.mp4` and so on. */
export function filesTask(
  changes: Partial<JobConfig> = {},
  bitrates = [300],
  container: 'mp4' | 'ts' = 'mp4',
): TaskDescription {
  const task = describeTask({ container, bitrates })
  return { ...task, config: { ...task.config, ...changes } }
}

const UNSTATED = { duration: null, duration_ts: null, extradata_size: null }

async function described(directory: string, path: string, bytes: Buffer) {
  const file = join(directory, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
  const { streams } = await probeFile(file)
  const kinds = streams.map(({ codec_type: kind }) => kind)
  const packets = await Promise.all(streams.map((_stream, index) => readPackets(file, String(index))))
  const videos = packets.filter((_each, index) => kinds[index] === 'video')
  const digest = kinds.includes('audio') ? await ffmpeg(['-i', file, '-map', '0:a', '-f', 'md5', '-']) : ''
  return {
    // A transport stream states no length; ffprobe's estimate follows from how frames share packets. Start codes have 3
    // or 4 bytes.
    streams: streams.map((stream) => ({
      ...stream,
      bit_rate: null,
      ...(path.endsWith('.ts') ? UNSTATED : {}),
      // tee leaves the version in it.
      tags: { ...(stream as { tags?: object }).tags, encoder: null },
    })),
    packets: packets.map((each) =>
      each.map(({ pts_time: shown, dts_time: decoded, duration_time: lasts, flags }) => [shown, decoded, lasts, flags]),
    ),
    audio: digest.toString(),
    videoBytes: videos.map((each) => each.reduce((sum, { size }) => sum + Number(size), 0)),
  }
}

/** Every stream, the time of every packet and every sample of the audio. The encoded video has about the same size. */
export async function expectSameMedia(
  { directory }: Pick<AttemptFixture, 'directory'>,
  path: string,
  [one, other]: readonly [Buffer, Buffer],
): Promise<void> {
  const { videoBytes: expected, ...alone } = await described(join(directory, 'alone'), path, one)
  const { videoBytes, ...divided } = await described(join(directory, 'divided'), path, other)
  expect(divided).toEqual(alone)
  for (const [index, size] of expected.entries()) {
    expect(videoBytes[index]! / size).toBeGreaterThan(0.8)
    expect(videoBytes[index]! / size).toBeLessThan(1.25)
  }
}

/** Of all objects. */
export async function expectSameFiles(
  fixture: Pick<AttemptFixture, 'directory'>,
  { alone, divided, onlyAlone, onlyDivided }: ComparedDivision,
): Promise<void> {
  expect(alone.problems).toEqual([])
  expect(divided.problems).toEqual([])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  for (const [path, bytes] of alone.objects) await expectSameMedia(fixture, path, [bytes, divided.objects.get(path)!])
  // ffprobe estimates how long a transport stream is, within a frame of audio: by its last packets.
  const usage = alone.finished?.usage
  const renditions = usage?.renditions.map((each) => ({ ...each, seconds: expect.closeTo(each.seconds, 1) }))
  expect(divided.finished?.usage).toEqual({ ...usage, renditions })
  expect(divided.finished?.warnings).toEqual(alone.finished?.warnings)
}
