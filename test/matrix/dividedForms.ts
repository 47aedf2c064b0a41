// In charge of: how a row's job is changed until it can be divided: clips are a few seconds long.
// Not in charge of: making the job (dividedRun.ts), whether it can be divided (transcoder/division/plan/).
import type { JobChange, Row } from './row.ts'
import type { SourceName } from './sourceClips.ts'

/** The changes that a job has so far. */
export interface DividedForm {
  /** GOPs of 0.1 s: two chunks of a clip that lasts less than a second. */
  shortGops: boolean
  /** A video beside what the job makes: without one there is nothing to divide. */
  besideVideo: boolean
}

export const UNCHANGED: DividedForm = { shortGops: false, besideVideo: false }

/** Below the destination; no row names a file so. */
export const BESIDE = 'beside.mp4'

/** Why a job was not divided, where shorter GOPs help: they are too long for two chunks. '' = the video is one chunk. */
const TOO_SHORT = /^$|too short for two chunks/

const NO_VIDEO = 'the job makes no video'

/** null = nothing helps. */
export function nextForm(job: JobChange, form: DividedForm, reason: string): DividedForm | null {
  if (!form.shortGops && TOO_SHORT.test(reason)) return { ...form, shortGops: true }
  return !form.besideVideo && reason === NO_VIDEO && makesExtracts(job) ? { ...form, besideVideo: true } : null
}

function makesExtracts(job: JobChange): boolean {
  return ['stills', 'animated_preview', 'waveform'].some((field) => job[field] !== undefined)
}

/** Seconds of the longest chunk: a segment, or as long as the parts of a clip that differ. */
export function chunkSeconds({ source }: Pick<Row, 'source'>): number {
  return source === 'uneven' ? 4 : 0.001
}

/** One frame cannot be divided. */
export function clipOf({ source = 'plain' }: Pick<Row, 'source'>): SourceName {
  return source === 'single' ? 'few' : source
}

/** GOPs are segments, so that a clip has several. */
export function jobInForm(job: JobChange, { shortGops, besideVideo }: DividedForm): JobChange {
  return {
    segment_length: 0.01,
    ...(shortGops ? { gop_length: 0.1 } : {}),
    ...job,
    ...(besideVideo ? { videoProfiles: [{ output: BESIDE }] } : {}),
    ...(shortGops ? { segment_length: 0.01 } : {}),
  }
}
