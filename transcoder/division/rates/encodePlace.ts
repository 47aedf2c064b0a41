// In charge of: encoding a place of a source as a chunk would, and counting the bits of its GOPs.
// Not in charge of: which GOPs, and what follows (findRateFactors.ts), the plan (division/plan/samplePlan.ts).
import type { Readable } from 'node:stream'
import { UnlikeChunks } from '../unlikeChunks.ts'
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegPrograms } from '../../ffmpeg/run.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { ffmpegArgs, NO_FILES } from '../../plan/argv/ffmpegArgs.ts'
import type { RatePlace } from '../plan/rateSampling.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedPipes } from '../../plan/model/plannedPipes.ts'

export interface SampleOptions {
  cwd: string
  signal: AbortSignal
  threads: number
  cores: number
  /** Completes the plan of a sample with its place in the source; missing = the source has an index. */
  locate?: (sample: Plan) => Promise<Plan>
  /** The videos with captions for its frames; missing = none is needed. */
  carriers?: (sample: Plan) => Promise<string[]>
}

/** Bits of the place's counted GOPs, for each rendition of the sample's plan; null = it has not all of them. */
export async function encodePlace(
  engine: FfmpegPrograms,
  url: string,
  sample: Plan,
  place: RatePlace,
  { threads, cores, locate, carriers, ...run }: SampleOptions,
): Promise<number[] | null> {
  const gops: number[][] = plannedPipes(sample).map(() => [])
  const located = await placed(sample, locate)
  if (located === null) return null
  const args = ffmpegArgs(located, {
    input: { kind: 'source', url, flags: inputFlags(url), bursts: [], seekable: true, steady: null },
    files: carriers === undefined ? NO_FILES : { ...NO_FILES, carriers: await carriers(located) },
    carrierClock: 'filter',
    outputs: gops.map((_gop, index) => `pipe:${FIRST_PIPE_FD + index}`),
    threads,
    cores,
  })
  const { ended, code } = await runFfmpeg(engine, args, {
    ...run,
    purpose: 'sample the bitrate',
    pipeReaders: gops.map((sizes) => (stream) => readGops(stream, sizes)),
    limits: { cpuSeconds: 0 },
  })
  run.signal.throwIfAborted()
  const { first, end } = countedGops(place)
  if (ended !== 'exit' || code !== 0 || gops.some(({ length }) => length < end)) return null
  return gops.map((sizes) => 8 * sizes.slice(first, end).reduce((sum, bytes) => sum + bytes, 0))
}

/** Positions among the GOPs that are encoded, of which the first can begin in its middle. */
function countedGops({ sharesPerGop, from, counted, to }: RatePlace): { first: number; end: number } {
  const first = Math.ceil((counted - from) / sharesPerGop)
  return { first, end: first + (to - counted) / sharesPerGop }
}

async function placed(sample: Plan, locate: SampleOptions['locate']): Promise<Plan | null> {
  try {
    return locate === undefined ? sample : await locate(sample)
  } catch (error) {
    if (error instanceof UnlikeChunks) return null
    throw error
  }
}

/** Each fragment is one GOP. */
async function readGops(stream: Readable, sizes: number[]): Promise<void> {
  const boxes = new BoxReader()
  for await (const chunk of stream)
    for (const event of boxes.push(chunk)) if (event.kind === 'mdat') sizes.push(event.bytes)
}
