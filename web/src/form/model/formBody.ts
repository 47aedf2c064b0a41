// In charge of: the body of a job while the form is being filled in: reading and changing it by path, creating one from
// a stored configuration, and showing it without its secrets. Pure.
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { Problem } from '#contract/errors.ts'
import { isRedacted } from '#contract/job/redact.ts'

export type JobFields = Record<string, unknown>

/** All members except the source and the stores. */
export interface JobRequest extends JobFields {
  videoProfiles: JobFields[]
  audioProfiles: JobFields[]
  captions?: JobFields[]
}

export interface FormBody extends JobRequest {
  cloud_credentials: { input: JobFields; output: JobFields }
}

/** The same job for another source. */
export const withInput = (body: FormBody, input: string | null): FormBody =>
  withMember(body, 'input', input ?? undefined)

/** A copy with the member set; undefined and empty text remove it, so that absence keeps its meaning. */
export function withMember<M extends JobFields>(members: M, name: string, value: unknown): M {
  const { [name]: _old, ...rest } = members
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same members except one, whose type the schema checks
  return (value === undefined || value === '' ? rest : { ...rest, [name]: value }) as M
}

/** Replaces the credentials of the source. The address stays unless the kind of store changes. */
export function withSource(body: FormBody, source: JobFields): FormBody {
  const { input, output } = body.cloud_credentials
  const next = { ...body, cloud_credentials: { input: source, output } }
  if (source['cloud_provider'] === input['cloud_provider']) return next
  return withMember(withMember(next, 'input', undefined), 'inputs', undefined)
}

export const secretMembers = ['access_key', 'secret_key', 'private_key', 'session_token'] as const
const HIDDEN = '••••••'

/** The body to be sent, with dots in place of secrets and of queries of addresses. */
export function shownBody(body: FormBody): string {
  return JSON.stringify(
    body,
    (name, value: unknown) => {
      if (secretMembers.some((secret) => secret === name) && typeof value === 'string') return HIDDEN
      if (typeof value === 'string' && /^https?:\/\/\S+\?/i.test(value)) return value.replace(/\?.*$/, `?${HIDDEN}`)
      return value
    },
    2,
  )
}

/** The curl command that sends the same request. */
export function curlLine(body: FormBody, origin: string, dryRun: boolean): string {
  const quoted = shownBody(body).replaceAll("'", `'\\''`)
  return `curl -sS -u "$KEY:" --json '${quoted}' '${origin}/api/v0/job${dryRun ? '?dry_run=true' : ''}'`
}

const isNothing = (value: unknown) => value === null || value === undefined || value === ''

function clean(members: object, leave: readonly string[] = []): JobFields {
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]) => !isNothing(value) && !leave.includes(name)),
  )
}

/**
 * A stored configuration as a new request. The service returns no secrets, so the user must enter them again. A
 * webhook_url without its query would be rejected, so it is left out: the webhook of the API key applies, if it has
 * one.
 */
export function bodyOf(config: JobConfig): FormBody {
  const { videoProfiles, audioProfiles, captions, cloud_credentials: credentials, ...stored } = config
  // The preset's members are merged already; it may have been changed or deleted since.
  const {
    separate_audio: _same,
    preset: _merged,
    burn_in_captions: burnIn,
    stills,
    animated_preview: preview,
    waveform,
    ...rest
  } = stored
  return {
    ...clean(rest, isRedacted(rest.webhook_url) ? ['webhook_url'] : []),
    ...(rest.inputs === undefined ? {} : { inputs: rest.inputs.map((piece) => clean(piece)) }),
    ...(stills === undefined ? {} : { stills: stills.map((each) => clean(each)) }),
    ...(preview === undefined ? {} : { animated_preview: clean(preview) }),
    ...(waveform === undefined ? {} : { waveform: clean(waveform) }),
    ...(burnIn === undefined ? {} : { burn_in_captions: clean(burnIn) }),
    videoProfiles: videoProfiles.map((profile) => clean(profile)),
    audioProfiles: audioProfiles.map((profile) => clean(profile)),
    ...(captions && { captions: captions.map((caption) => clean(caption)) }),
    cloud_credentials: {
      // The form has one store for all sources.
      input: clean(credentials.input ?? credentials.inputs?.[0] ?? {}, secretMembers),
      output: clean(credentials.output, secretMembers),
    },
  }
}

/** The problem of the field itself; members below it have fields of their own. */
export function problemAt(problems: readonly Problem[], path: string): Problem | undefined {
  return problems.find(({ field }) => field === path)
}

/** The sets of stills in a body that may come from anywhere. */
export function stillsOf(body: FormBody): JobFields[] {
  const { stills } = body
  return Array.isArray(stills) ? stills.filter(isFields) : []
}

/** An object in the body; null = the job does not have it. */
export function membersAt(body: FormBody, name: string): JobFields | null {
  const value = body[name]
  return isFields(value) ? value : null
}

const isFields = (value: unknown): value is JobFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A list of times as one line of text, and back. */
export const listText = (value: unknown): unknown => (Array.isArray(value) ? value.join(', ') : value)
export function textList(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes(',')) return value
  return value.split(',').map((each) => each.trim())
}

const stores = () => ({ input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } })
/** Belong to this job, whatever preset is used. */
const ownMembers = ['input', 'inputs', 'captions', 'metadata', 'webhook_url', 'bucket_output_path'] as const

/**
 * A new body from a preset's members; source, stores and other members of the job itself are kept from the previous
 * body.
 */
export function bodyWith(job: JobFields, before: FormBody | null): FormBody {
  const { videoProfiles = [], audioProfiles = [], ...rest } = structuredClone(job) as Partial<JobRequest>
  const own = Object.fromEntries(
    ownMembers.flatMap((name) => (before?.[name] === undefined ? [] : [[name, before[name]]])),
  )
  return { ...rest, ...own, videoProfiles, audioProfiles, cloud_credentials: before?.cloud_credentials ?? stores() }
}

/** The part of a body that a preset stores: no source, no credentials, nothing that belongs to one job. */
export function jobOfPreset(body: FormBody): JobFields {
  const left: readonly string[] = [...ownMembers, 'cloud_credentials']
  return Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name)))
}
