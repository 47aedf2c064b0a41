// In charge of: several sources that are joined in one job: their order, their cuts, and the members of the request that
// they become. Pure.
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import { withMember, type FormBody, type JobFields } from './formBody.ts'
import { isUpload, type Source } from './sources.ts'

/** What the form knows besides its body. Addresses are in `inputs` of the body, with their cuts. */
export interface Joining {
  /** Several uploads become one job, not one for each. */
  isOn: boolean
  /** Members of the element of `inputs`, by the key of an upload. */
  cuts: ReadonlyMap<string, JobFields>
}

export const notJoined: Joining = { isOn: false, cuts: new Map() }

/** The key of the analysis of all sources together. */
export const JOINED = 'joined'

/** The elements of `inputs` in a body whose sources are addresses; null = it has one address. */
export function addressesOf({ inputs }: FormBody): JobFields[] | null {
  return Array.isArray(inputs) ? (inputs as JobFields[]) : null
}

export function isJoined(body: FormBody, sources: readonly Source[], { isOn }: Joining): boolean {
  return isUpload(body) ? isOn && sources.length > 1 : addressesOf(body) !== null
}

/** The request for all sources together. `missing` stands for an upload in progress. */
export function joinedBody(body: FormBody, sources: readonly Source[], { cuts }: Joining, missing: string): FormBody {
  const { input: _input, ...rest } = body
  if (!isUpload(body)) return rest
  const inputs = sources.map(({ key, input }) => ({ input: input ?? missing, ...cuts.get(key) }))
  return { ...rest, inputs }
}

/** All of them as one entry of the summary. Its input is null until everything is stored. */
export function joinedSource(sources: readonly Source[]): Source {
  const [first, ...others] = sources
  const isStored = sources.every(({ input }) => input !== null)
  const name = others.length === 0 ? (first?.name ?? '') : `${first?.name} + ${others.length}`
  return { key: JOINED, name, size: null, input: isStored ? name : null, transfer: null }
}

/** Adds an address after the others. If there was only one, it becomes the first, with the cut of the job. */
export function withAnotherAddress(body: FormBody): FormBody {
  const { input, start_seconds, end_seconds, ...rest } = body
  const first = [input, start_seconds, end_seconds]
    .map((value, index): [string, unknown] => [['input', 'start_seconds', 'end_seconds'][index]!, value])
    .filter(([, value]) => value !== undefined)
  const inputs = addressesOf(body) ?? [Object.fromEntries(first)]
  return { ...rest, inputs: [...inputs, {}] }
}

export function withAddresses(body: FormBody, inputs: readonly JobFields[]): FormBody {
  const [only] = inputs
  if (inputs.length > 1 || !only) return { ...body, inputs: [...inputs] }
  // One is `input` with a cut. What else belongs to it has no place in the form.
  const { inputs: _inputs, ...rest } = body
  const { input, start_seconds, end_seconds } = only
  return [
    ['input', input],
    ['start_seconds', start_seconds],
    ['end_seconds', end_seconds],
  ].reduce((made, [name, value]) => withMember(made, String(name), value), rest)
}

/** A copy with the element moved by one place. */
export function moved<T>(list: readonly T[], index: number, by: -1 | 1): T[] {
  const to = index + by
  if (to < 0 || to >= list.length) return [...list]
  return list.with(index, list[to]!).with(to, list[index]!)
}

/** Whether the form, which has one store for all sources, can show those of a job. */
export function isOneStore({ cloud_credentials: { inputs } }: JobConfig): boolean {
  return inputs === undefined || new Set(inputs.map((each) => JSON.stringify(each))).size === 1
}

export const pieceName = (piece: JobFields, index: number): string =>
  typeof piece['input'] === 'string' && piece['input'] !== '' ? lastPathSegment(piece['input']) : `Source ${index + 1}`
