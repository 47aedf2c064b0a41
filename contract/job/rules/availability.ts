// In charge of: what the contract allows and this version has not built. Such a request is refused, never accepted and ignored.
// Not in charge of: what the contract itself forbids (requestSchema.ts, combinations.ts). Later versions only shrink this table.
import type { Findings } from '../findings.ts'
import type { Draft } from '../requestSchema.ts'

interface Unavailable {
  /** Path without indexes: `videoProfiles[].video_format`. */
  field: string
  /** The values that are not available; or, with `except`, all but these. Null, '' and absent ask for nothing and are always fine. */
  values?: readonly unknown[]
  except?: readonly (string | number | boolean)[]
}

const UNAVAILABLE: readonly Unavailable[] = [
  // file-upload is input only, by the contract (outputPaths.ts).
  { field: 'cloud_credentials.output.cloud_provider', values: ['file-upload'] },
]

/** Whether the outputs are segmented: by container or by flag. */
export function isSegmented(job: Record<string, unknown>): boolean {
  return (
    job['output_container'] === 'hls' ||
    job['output_container'] === 'silverlight' ||
    job['segmented_output_hls'] === true ||
    job['segmented_output_dash'] === true
  )
}

/** Of the values that the contract lists for a field, those that this version accepts; all of them when none is left. */
export function availableValues<T>(path: string, values: readonly T[]): readonly T[] {
  const row = rowOf(path.replace(/\[\d+\]/g, '[]'))
  const left = row === undefined ? values : values.filter((value) => !isRefused(row, value))
  return left.length === 0 ? values : left
}

/** What this version accepts of a field, for documentation: null = everything that the contract does. */
export function acceptedValues(path: string, values: readonly unknown[]): readonly unknown[] | null {
  const row = rowOf(path)
  if (row === undefined) return null
  return row.values === undefined ? (row.except ?? []) : values.filter((value) => !isRefused(row, value))
}

/** Whether the provider can be used on that side of a job. */
export function isProviderAvailable(side: 'input' | 'output', provider: string): boolean {
  const row = rowOf(`cloud_credentials.${side}.cloud_provider`)
  return row === undefined || !isRefused(row, provider)
}

export function notAvailable(what: string): string {
  return `${what} is not available in this version of Splicepoint`
}

/** Reports every set field of the draft that this version does not have. Credentials are judged in credentials.ts. */
export function checkAvailability(draft: Draft, findings: Findings): void {
  for (const row of UNAVAILABLE) {
    const [list, name] = row.field.split('[].')
    if (row.field.startsWith('cloud_credentials.')) continue
    if (name === undefined) checkOne(row, { ...draft }, row.field, row.field, findings)
    else {
      const profiles = list === 'videoProfiles' ? draft.videoProfiles : draft.audioProfiles
      for (const [index, profile] of profiles.entries()) {
        checkOne(row, { ...profile }, name, `${list}[${index}].${name}`, findings)
      }
    }
  }
}

function checkOne(
  row: Unavailable,
  around: Record<string, unknown>,
  name: string,
  path: string,
  findings: Findings,
): void {
  const value = around[name]
  if (!isRefused(row, value)) return
  const accepted = row.except ?? []
  const what = row.values === undefined ? name : `${name} ${JSON.stringify(value)}`
  const instead =
    accepted.length > 0
      ? `; only ${accepted.map((each) => JSON.stringify(each)).join(', ')} is`
      : row.values === undefined
        ? '; leave it out'
        : ''
  findings.problem(
    'not_available',
    path,
    notAvailable(what) + instead,
    accepted.length > 0 ? { allowed: accepted } : {},
  )
}

function rowOf(field: string): Unavailable | undefined {
  return UNAVAILABLE.find((row) => row.field === field)
}

function isRefused(row: Unavailable, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return row.values === undefined ? row.except?.some((each) => each === value) === false : row.values.includes(value)
}
