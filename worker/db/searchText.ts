// In charge of: the text that a search examines: a job's source name, its stored source address, its metadata values;
// and normalizing that text and the search term.
// Not in charge of: the SQL of a search (jobList.ts).
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import { firstInput, jobInputs, type JobConfig } from '#contract/job/jobConfig.ts'

/** Normalized here, because SQLite's lower() handles ASCII only, and LIKE patterns have at most 50 bytes on D1. */
export function normalizeSearchText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Of the first source. `uploadName`: if that is an upload, because its address contains only a number. */
export function displayInputName(config: JobConfig, uploadName: string | null): string {
  return uploadName ?? lastPathSegment(firstInput(config).address)
}

/** Line breaks keep a search term from matching across two values. Addresses are stored without their secrets. */
export function searchTextOf(config: JobConfig, name: string): string {
  const addresses = jobInputs(config).map(({ address }) => address)
  return normalizeSearchText([name, ...addresses, ...Object.values(config.metadata ?? {})].join('\n'))
}
