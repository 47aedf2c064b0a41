// In charge of: the place in a transport stream at which ffmpeg begins to read for a chunk, and the bytes that it will read.
// Not in charge of: searching the source (transportSeek.ts), sources with an index (expectedBytes.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { UnlikeChunks } from './unlikeChunks.ts'
import { rangeRunIn } from '../plan/argv/rangeArgs.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { partsOf, planOfPart } from './plan/partPlan.ts'
import { isSoughtTransport } from './plan/soughtTransport.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { secondsOfRange } from '../plan/model/encodedRange.ts'
import type { Plan, StampedSeek } from '#contract/task/plan/plan.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'
import { ExpectedBytes } from '../source/expectedBytes.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { TransportSearch, type AccessPoint } from '../analysis/transportSeek.ts'

/** ffmpeg searches by itself, and ends a little earlier. */
const SEARCH_SPREAD_BYTES = 256 * 1024
/** Frames that a decoder holds back, and what the search leaves open. */
const RUN_OUT_SECONDS = 6

type Source = Pick<LoopbackServer, 'open' | 'readRange'>

interface Described {
  spec: JobSpec
  /** Without the cut. */
  media: MediaInfo
}

interface Located {
  seek: StampedSeek
  from: AccessPoint
  search: TransportSearch
  /** The run-in, on the clock of the time stamps. */
  runInSeconds: number
}

/**
 * The plan of a chunk with its place; any other plan as it is. Throws UnlikeChunks where decoding cannot begin near the
 * chunk.
 */
export async function withChunkSeek(source: Source, plan: Plan, about: Described, signal: AbortSignal): Promise<Plan> {
  return withSeek(plan, about, (await locate(source, plan, about, signal))?.seek ?? null)
}

/** The same, and what the chunk will read is expected. */
export async function expectChunk(
  source: Source & Pick<LoopbackServer, 'expect'>,
  plan: Plan,
  about: Described,
  signal: AbortSignal,
): Promise<Plan> {
  if (plan.range == null || !isSoughtTransport(about.media)) return plan
  const located = await locate(source, plan, about, signal)
  source.expect(null)
  const seconds = secondsOfRange(plan)
  if (located === null || seconds === null || plan.range.to === null)
    return withSeek(plan, about, located?.seek ?? null)
  const { search, from, runInSeconds } = located
  const { offset: last } = await search.placeBefore(runInSeconds + seconds + RUN_OUT_SECONDS)
  const first = Math.max(0, from.offset - SEARCH_SPREAD_BYTES)
  if (last > from.offset) source.expect(new ExpectedBytes([{ first, last }]))
  return withSeek(plan, about, located.seek)
}

/**
 * A look at a few places of a source that is to be divided: jobs that one task has to make should not be found when all
 * parts have ended. Why it is one of them, as the end of a sentence; null = nothing was found, or the plan has no chunks.
 */
export async function findHindrance(
  source: Source,
  plan: Plan,
  about: Described,
  signal: AbortSignal,
): Promise<string | null> {
  if (plan.division == null || !isSoughtTransport(about.media)) return null
  const { size } = await source.open()
  if (size === null) return null
  const search = TransportSearch.of((first, count) => source.readRange(first, count, signal), size, about.media)
  if ((await search?.runsOn()) === false) return 'the time stamps of the source jump'
  const chunks = partsOf(plan.division).filter((part) => part.kind === 'chunk')
  const looked = new Set([0, 0.5, 1].map((share) => chunks[Math.round(share * (chunks.length - 1))]!))
  try {
    for (const part of looked) await locate(source, planOfPart(plan, part), about, signal)
    return null
  } catch (error) {
    if (error instanceof UnlikeChunks) return error.message
    throw error
  }
}

function withSeek(plan: Plan, { media }: Described, seek: StampedSeek | null): Plan {
  return plan.range == null || !isSoughtTransport(media) ? plan : { ...plan, range: { ...plan.range, seek } }
}

/** null = the chunk is decoded from the beginning. */
async function locate(
  source: Source,
  plan: Plan,
  { spec, media }: Described,
  signal: AbortSignal,
): Promise<Located | null> {
  const { range } = plan
  const { size, ranges } = await source.open()
  // The first chunk is read from the beginning before a cut, too: that the clock runs on there is seen by no other one.
  if (range == null || range.from === 0 || !isSoughtTransport(media) || !ranges || size === null) return null
  const { cut } = readCut({ ...plan, range: { ...range, seek: null } }, true)
  const clock = rangeRunIn(plan, cut)
  const search = TransportSearch.of((first, count) => source.readRange(first, count, signal), size, media)
  if (clock === null || search === null) return null
  const originSeconds = outputStartSeconds(spec, media) + (plan.cut?.movesClock === true ? plan.cut.startSeconds : 0)
  const runInSeconds = originSeconds + clock
  const from = await search.accessPointBefore(runInSeconds)
  if (from === 'beginning') return null
  if (from === null) throw new UnlikeChunks(`the source has no frame near ${clock} s with which decoding can begin`)
  return { seek: { fromSeconds: from.seconds, fromByte: from.offset, originSeconds }, from, search, runInSeconds }
}
