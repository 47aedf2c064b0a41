// In charge of: the frames that a segmented plan and its chunks give to the encoders, and that they are the same.
// Not in charge of: sources.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { fileInputFlags } from '../../../transcoder/ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD } from '../../../transcoder/ffmpeg/run.ts'
import type { WrittenFiles } from '../../../transcoder/plan/argv/ffmpegArgs.ts'
import { ffmpegArgsOf } from '../transcoder/ffmpegArgsOf.ts'
import { partsOf, planOfPart } from '../../../transcoder/division/plan/partPlan.ts'
import { plannedEncodes } from '../../../transcoder/plan/argv/segmentArgs.ts'
import { plannedPipes } from '../../../transcoder/plan/model/plannedPipes.ts'
import type { LogoImage } from '../../../transcoder/plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { jobSpec, packagingSpec, videoProfile } from '../transcoder/jobSpecs.ts'
import { probeAndPlan } from './encodeJob.ts'
import { ffmpeg, tempDirectory, testFfmpeg } from './media.ts'

const SEGMENT_SECONDS = 2

/** HLS without audio. */
export const segmented = (change: Partial<JobSpec> = {}): JobSpec =>
  jobSpec({
    packaging: packagingSpec({ hls: true, segmentSeconds: SEGMENT_SECONDS }),
    video: [videoProfile({ width: 192, height: 48, audioProfiles: [] })],
    audio: [],
    ...change,
  })

export async function planOf(spec: JobSpec, input: string, cwd: string, logo?: LogoImage): Promise<Plan> {
  const engine = await testFfmpeg()
  return (await probeAndPlan(spec, input, cwd, engine, engine.features, logo)).plan
}

/** `chunks`: their first segments. */
export async function expectSameFrames(plan: Plan, source: SourceOfParts, chunks: number[]): Promise<void> {
  const [whole, parts] = [await framesOf(plan, source), await framesOfChunks(plan, chunks, source)]
  for (const [rendition, frames] of whole.entries()) {
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.map(({ time }) => time)).toEqual(frames.map((_frame, number) => number))
    const { segmentFrames } = plan.packaging!.renditions[rendition]!
    for (const [chunk, made] of parts.entries()) {
      const [from, to] = [chunks[chunk]! * segmentFrames, (chunks[chunk + 1] ?? Infinity) * segmentFrames]
      const expected = frames.slice(from, to).map(({ hash }, time) => ({ time, hash }))
      expect(made[rendition], `rendition ${rendition}, chunk ${chunk}`).toEqual(expected)
    }
  }
}

/** `time` counts in frames of the output. */
export interface EncodedFrame {
  time: number
  hash: string
}

export interface SourceOfParts extends Partial<Pick<WrittenFiles, 'logo' | 'bitmaps' | 'burnIn'>> {
  input: string
  seekable?: boolean
  /** Completes the plan of a chunk, as the attempt that makes it does. */
  locate?: (plan: Plan) => Promise<Plan>
}

/** By video rendition. The job must have no audio: its graph would have no output. */
export async function framesOf(plan: Plan, source: SourceOfParts): Promise<EncodedFrame[][]> {
  await using directory = await tempDirectory()
  const args = ffmpegArgsOf(plan, {
    seekable: true,
    ...source,
    input: `file:${source.input}`,
    inputFlags: fileInputFlags(),
    outputs: plannedPipes(plan).map((_pipe, index) => `pipe:${FIRST_PIPE_FD + index}`),
    threads: 0,
  })
  const files = plannedEncodes(plan).map((_encode, position) => directory.file(`${position}.txt`))
  await ffmpeg([
    ...args.slice(0, args.indexOf('-map')),
    ...files.flatMap((file, position) => [
      ...['-map', `[v${position}]`, '-c:v', 'rawvideo', '-fps_mode', 'passthrough'],
      ...['-f', 'framehash', '-hash', 'md5', file],
    ]),
  ])
  return await Promise.all(files.map(async (file) => readFrames(await readFile(file, 'utf8'))))
}

/** Those of all chunks, in their order. */
export async function framesOfChunks(plan: Plan, chunks: number[], source: SourceOfParts): Promise<EncodedFrame[][][]> {
  const parts = partsOf({ chunks }).filter((part) => part.kind === 'chunk')
  const inOrder = parts.toSorted((one, other) => one.from - other.from)
  const made: EncodedFrame[][][] = []
  const { locate = async (each: Plan) => each } = source
  for (const part of inOrder) made.push(await framesOf(await locate(planOfPart(plan, part)), source))
  return made
}

/** `#stream#, dts, pts, duration, size, hash`. The time base is one frame. */
function readFrames(text: string): EncodedFrame[] {
  return text
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [, , pts, , , hash] = line.split(/,\s*/)
      return { time: Number(pts), hash: hash ?? '' }
    })
}
