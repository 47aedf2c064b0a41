// In charge of: how a job is divided into parts.
// Not in charge of: choosing it (transcoder/division/plan/), what one part makes (partPlan.ts there).
import * as z from 'zod/mini'
import { MAX_JOB_PARTS } from '../../limits.ts'
import { amount, count } from './values.ts'

/** An object that the dividing attempt stored (transcoder/upload/workObjects.ts). */
const storedObject = z.object({
  name: z.string().check(z.regex(/^0-[0-9]{1,6}\/[a-z]{1,40}$/)),
  bytes: count,
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
})
export type StoredObject = z.infer<typeof storedObject>

const sourceVersion = z.object({
  /** Bytes; null = not stated. */
  size: z.nullable(count),
  /** As the server or store states it; null = it does not. */
  etag: z.nullable(z.string().check(z.maxLength(1000))),
})
export type SourceVersion = z.infer<typeof sourceVersion>

const rateFactor = z.number().check(z.gte(0), z.lte(51))

/** Samples of the bitrate, which parts take. */
const surveyPlan = z.object({
  /** How many come before the chunks. */
  parts: count.check(z.gte(2), z.lte(MAX_JOB_PARTS)),
  /** Rate factors with which they begin, in the order of the renditions that need one. */
  factors: z.array(rateFactor).check(z.maxLength(64)),
})
export type SurveyPlan = z.infer<typeof surveyPlan>

/**
 * The parts of a divided job. A chunk is a range of the output's video, of whole segments, which one task encodes for all
 * renditions. One more part makes everything else: audio, captions, thumbnails, stills.
 */
export const divisionPlan = z.object({
  /**
   * The first full segment of each chunk, counted from 0 on the regular grid (multiples of `segmentFrames`; splice points
   * do not count). Ascending, the first is 0. A chunk ends where the next one begins, the last one with the source.
   */
  chunks: z.array(count).check(z.minLength(2), z.maxLength(MAX_JOB_PARTS)),
  /** In which one transcoder is predicted to make all chunks and the rest. Missing = not predicted. */
  seconds: z.optional(amount),
  /** In which it is predicted to take the samples of the bitrate; 0 = none are taken. Missing = not predicted. */
  samplingSeconds: z.optional(amount),
  /** Segments of single files, in chunks shorter than a client may ask for. Missing = the usual length (encodedSegments.ts). */
  segmentSeconds: z.optional(z.number().check(z.gt(0), z.lte(60))),
  /** The version of the source that the job was planned for: every part reads the same one. */
  source: z.optional(sourceVersion),
  /** Parts before the chunks take the samples of the bitrate. Missing = the attempt that planned did it. */
  survey: z.optional(surveyPlan),
  /** Constant rate factor of each rendition's video, in place of an average bitrate; null = as without division. */
  rateFactors: z.optional(z.array(z.nullable(rateFactor)).check(z.maxLength(64))),
  /** The drawn subtitles of the source, which chunks do not read there. Missing = none are drawn. */
  subtitles: z.optional(storedObject),
})
export type DivisionPlan = z.infer<typeof divisionPlan>
