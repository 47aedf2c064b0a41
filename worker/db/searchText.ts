// In charge of: what a search compares: the name of a job's source, its address as it is stored, the
// values of its metadata, and what was typed.
// Not in charge of: the statement that searches (jobs.ts).
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'

/** One spelling for all of them: SQLite's lower() knows ASCII alone, and LIKE takes 50 bytes at most on D1. */
export function normalizeSearchText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** `uploadName` of a job from an upload, whose address says nothing but a number. */
export function displayInputName(config: JobConfig, uploadName: string | null): string {
  return uploadName ?? lastPathSegment(config.input)
}

/** The line break keeps a search from matching across two of them. Addresses are stored without their secrets. */
export function searchTextOf(config: JobConfig, name: string): string {
  return normalizeSearchText([name, config.input, ...Object.values(config.metadata ?? {})].join('\n'))
}
