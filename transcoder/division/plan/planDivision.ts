// In charge of: whether a job is divided, and where its chunks begin.
// Not in charge of: which outputs and sources can be divided (notDivided.ts), the plan of one part (partPlan.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { outputDuration, outputStartSeconds } from '../../plan/streams/outputTiming.ts'
import { toNumber } from '../../formats/rational.ts'
import type { DivisionPlan } from '#contract/task/plan/divisionPlan.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { automaticChunkSeconds, tooLongForOneAttempt, type AutomaticDivision } from './automaticDivision.ts'
import { isRegularBoundary, longestChunkSeconds } from './chunkGrid.ts'
import { deadlineChunkSeconds } from './deadlineDivision.ts'
import { encodedSegments, SEGMENT_SECONDS } from './encodedSegments.ts'
import { notDivided } from './notDivided.ts'
import { MAX_SURVEY_PARTS } from './surveyPlan.ts'
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'

export interface DivisionAbilities {
  /** The source can be read from any byte. */
  seekable: boolean
  /** Why the source cannot be divided, as the end of a sentence. Missing or null = nothing was found that prevents it. */
  hindrance?: string | null
  /** The most parts that the service accepts; null = it divides no jobs. */
  maxParts: number | null
  /** What decides for a job that says nothing about chunks; missing = it is not divided. */
  automatic?: AutomaticDivision
}

/** `left_out` is the reason, a sentence; null = one task is what the job asks for. */
export type Division = { division: DivisionPlan } | { left_out: string | null }

/** One part makes everything but the video. */
const OTHER_PARTS = 1
/**
 * The shortest chunk near the end of a job. Starting one takes a second or two, and its buffer begins 40 %
 * full.
 */
const LEAST_LAST_SECONDS = 15
/** Segments of a sum of shares. */
const ROUNDING = 1e-6
/** Seconds of a sum of frame durations. */
export const ROUNDING_SECONDS = 0.001

/** `media`: as in planJob, after a cut. */
export function planDivision(spec: JobSpec, plan: Plan, media: MediaInfo, abilities: DivisionAbilities): Division {
  if (spec.maxChunkSeconds === 0) return { left_out: null }
  if (spec.maxChunkSeconds != null)
    return divideInto({ longest: spec.maxChunkSeconds, slots: 1 }, spec, plan, media, abilities)
  const { automatic } = abilities
  if (automatic === undefined) return { left_out: null }
  const usual = automaticChunkSeconds(plan, media, automatic)
  const inTime = deadlineChunkSeconds(plan, media, automatic)
  if (usual === null && inTime === null) return { left_out: null }
  const longest = Math.min(usual ?? Number.POSITIVE_INFINITY, inTime ?? Number.POSITIVE_INFINITY)
  const result = divideInto({ longest, slots: automatic.slots ?? 1 }, spec, plan, media, abilities)
  if ('division' in result || result.left_out === null || inTime !== null) return result
  // The job did not ask for chunks, and one task has enough time for it.
  const risk = tooLongForOneAttempt(plan, media, automatic)
  return { left_out: risk === null ? null : `${result.left_out}. ${risk}` }
}

/** `longest`: seconds of a chunk; `slots`: transcoders that share the end of the job. */
function divideInto(
  { longest, slots }: { longest: number; slots: number },
  spec: JobSpec,
  plan: Plan,
  media: MediaInfo,
  { seekable, hindrance = null, maxParts }: DivisionAbilities,
): Division {
  const reason =
    maxParts === null ? 'the service divides no jobs' : (notDivided(spec, plan, media, seekable) ?? hindrance)
  if (reason !== null) return { left_out: reason }
  const segmentSeconds = Math.min(SEGMENT_SECONDS, longest)
  const { packaging } = encodedSegments(plan, segmentSeconds)
  if (packaging === null) return { left_out: 'the GOPs of its files begin together too seldom' }
  const seconds = videoSeconds(spec, media)
  if (seconds === null) return { left_out: 'the source does not state the length of its video' }
  const segment = toNumber(packaging.segmentDuration)
  const length = seconds / segment
  const most = Math.max(1, Math.floor((longest + ROUNDING_SECONDS) / segment))
  const least = Math.max(1, LEAST_LAST_SECONDS / segment)
  const shares = taperedShares(length, { most, least, slots }, (maxParts ?? 0) - MAX_SURVEY_PARTS - OTHER_PARTS)
  const chunks = chunkStarts(packaging, length, shares)
  if (chunks.length > 1 && !fitsInRecords(packaging, longestChunkSeconds({ chunks }, packaging)))
    return {
      left_out: 'the list of its segments would be too long: longer segments or fewer renditions make it shorter',
    }
  const ofFiles = segmentSeconds < SEGMENT_SECONDS ? { segmentSeconds } : {}
  if (chunks.length > 1) return { division: { chunks, ...ofFiles } }
  return { left_out: seconds <= longest ? null : 'the video is too short for two chunks of whole segments' }
}

/**
 * Duration of the video. Audio may be longer: a chunk after the end of the video would have no frames. null = the video
 * states no duration; the duration of the file may be the duration of the audio.
 */
function videoSeconds(spec: JobSpec, media: MediaInfo): number | null {
  if (media.video?.durationSeconds == null) return null
  return outputDuration(media, [media.video], outputStartSeconds(spec, media))
}

/** The last chunks have the length of the longest chunk, divided by these. */
const STEPS = [2, 4]

/**
 * The lengths of chunks that are all equally long, in segments; they need not be whole numbers. `length`: of the video;
 * `most`: of the longest chunk.
 */
export function equalShares(length: number, most: number, maxChunks: number): number[] {
  const count = Math.min(Math.ceil(length / most), maxChunks)
  return Array.from({ length: count }, () => length / count)
}

/**
 * The slots take chunks as they become free. If the last chunks were as long as the others, most slots would wait half of
 * that time for the last chunk. So the last ones are shorter: for each slot, one of half the length, then one of a quarter.
 * `least`: length of the shortest chunk.
 */
export function taperedShares(
  length: number,
  { most, least, slots }: { most: number; least: number; slots: number },
  maxChunks: number,
): number[] {
  const tail = STEPS.filter((step) => most / step >= least).flatMap((step) =>
    Array.from({ length: slots }, () => most / step),
  )
  const before = length - tail.reduce((sum, share) => sum + share, 0)
  // Before the shorter chunks, each slot has a chunk of full length.
  const count = Math.ceil(before / most)
  if (slots < 2 || before < slots * most || count + tail.length > maxChunks) return equalShares(length, most, maxChunks)
  return [...equalShares(before, most, count), ...tail]
}

/** `length`: of the video in segments; `shares`: of each chunk. */
function chunkStarts(packaging: PackagingPlan, length: number, shares: readonly number[]): number[] {
  const starts = [0]
  let end = 0
  for (const [chunk, share] of shares.entries()) {
    end += share
    const next = shares[chunk + 1]
    if (next === undefined) break
    const after = starts.at(-1)!
    const regular = candidates(Math.ceil(end - ROUNDING), next).find(
      (start) => start > after && length - start >= next / 2 && isRegularBoundary(packaging, start),
    )
    if (regular !== undefined) starts.push(regular)
  }
  return starts
}

/** The nearest places, the earlier one first: a chunk becomes shorter rather than longer than the job asks for. */
function candidates(start: number, share: number): number[] {
  const distances = Array.from({ length: Math.ceil(share / 2) + 1 }, (_, distance) => distance)
  return distances.flatMap((distance) => (distance === 0 ? [start] : [start - distance, start + distance]))
}

/** The rest of the message is what is not a list of segments. */
const MAX_CHARACTERS = (MAX_PART_RECORD_BYTES * 3) / 4
/** A segment, compressed. Most of it is the hash, which cannot be compressed. */
const SEGMENT_CHARACTERS = 100

/** `chunkSeconds`: of the longest chunk. */
export function fitsInRecords({ renditions, segmentDuration }: PackagingPlan, chunkSeconds: number): boolean {
  // At each splice point begins one more, at most.
  const splices = Math.max(0, ...renditions.map(({ video }) => video?.spliceFrames.length ?? 0))
  const segments = Math.ceil(chunkSeconds / toNumber(segmentDuration)) + splices
  const videos = renditions.filter(({ kind }) => kind === 'video').length
  return segments * videos * SEGMENT_CHARACTERS <= MAX_CHARACTERS
}
