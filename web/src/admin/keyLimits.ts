// In charge of: the limits of a key and of an account, as form fields and as the API's members. Pure.
// Not in charge of: validating them (worker/admin/apiKeyRoutes.ts, worker/admin/accountRoutes.ts).
import type { Key, KeyTerms, Account } from '#contract/api/administration.ts'
import type { Problem } from '#contract/errors.ts'
import type { FieldInfo } from '../form/model/schema.ts'
import { formatBytes } from '../text/format.ts'

/** Absent = the field is empty. */
export type FormValues = Record<string, unknown>

function text(name: string, label: string, description: string): FieldInfo {
  return {
    name,
    label,
    description,
    kind: 'text',
    values: [],
    minimum: undefined,
    maximum: undefined,
    preset: undefined,
  }
}
const number = (name: string, label: string, description: string): FieldInfo => ({
  ...text(name, label, description),
  kind: 'number',
})

export const SCOPES = [
  { value: 'jobs', label: 'Jobs: create, read and delete jobs and uploads' },
  { value: 'admin', label: 'Admin: manage API keys and accounts' },
  { value: 'jobs,admin', label: 'Jobs and admin' },
]

const DAY = 86_400
export const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: `${30 * DAY}`, label: 'In 30 days' },
  { value: `${90 * DAY}`, label: 'In 90 days' },
  { value: `${365 * DAY}`, label: 'In a year' },
]

export const label = text('label', 'Name', 'What the key is for, for example “Production site”.')
export const account = text(
  'account',
  'Account',
  'Keys of one account see the same jobs. Lower-case letters, digits and hyphens, up to 40.',
)
export const scopes: FieldInfo = { ...text('scopes', 'Permissions', ''), kind: 'choice' }

const EXPIRES = 'expires_in_seconds'
export const expiry: FieldInfo = { ...text(EXPIRES, 'Expires', ''), kind: 'choice' }

/** Entered in gigabytes, sent in bytes. */
const STORED = 'max_stored_upload_bytes'
const GIGABYTE = 1e9

const ofUploads = (description: string): FieldInfo => number(STORED, 'Stored uploads (GB)', description)

export const keyLimits: readonly FieldInfo[] = [
  number('requests_per_minute', 'Requests per minute', 'Leave empty for the service’s default.'),
  ofUploads('Leave empty for no limit beyond the account’s.'),
  number('priority', 'Priority', 'From -10 to 10. Queued jobs with a higher priority start first.'),
  text('webhook_url', 'Webhook address', 'Notified when a job without its own webhook address ends.'),
]

export const quotaFields: readonly FieldInfo[] = [
  number('max_active_jobs', 'Active jobs', 'Queued and running together. Leave empty for the service’s default.'),
  number('max_running', 'Running jobs', 'At the same time. Leave empty for no limit.'),
  ofUploads('Leave empty for the service’s default.'),
  number('weight', 'Weight', 'From 0.01 to 100. With 2, twice as many jobs start as with 1 when both accounts wait.'),
]

export const spendFields: readonly FieldInfo[] = [
  number('spend_cap', 'Spend cap per month', 'In the currency of the price list. Leave empty for no cap.'),
  text('spend_webhook_url', 'Webhook address of the cap', 'Notified when 80 % and 100 % of the cap are spent.'),
]

const NO_LIMITS: KeyTerms = {
  label: '',
  requests_per_minute: null,
  max_stored_upload_bytes: null,
  priority: 0,
  webhook_url: null,
}

const toFormValue = (name: string, value: unknown): unknown =>
  name === STORED && typeof value === 'number' ? value / GIGABYTE : value
const toApiValue = (name: string, value: unknown): unknown =>
  name === STORED && typeof value === 'number' ? Math.round(value * GIGABYTE) : value

/** Initial values of the form. */
export function keyFormValues(key: KeyTerms): FormValues {
  return Object.fromEntries(
    Object.entries(NO_LIMITS)
      .map(([name, nothing]) => [name, key[name as keyof KeyTerms], nothing] as const)
      .flatMap(([name, value, nothing]) => (value === nothing ? [] : [[name, toFormValue(name, value)]])),
  )
}

/**
 * Only the changed fields: the service shows an address without its query, so the shown value is not the stored one.
 */
export function keyChanges(key: KeyTerms, typed: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(NO_LIMITS).flatMap(([name, nothing]) => {
      const newValue = toApiValue(name, typed[name]) ?? nothing
      return newValue === key[name as keyof KeyTerms] ? [] : [[name, newValue]]
    }),
  )
}

const sent = (typed: FormValues): FormValues =>
  Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, toApiValue(name, value)]))

/** Scopes are one field of the form; empty fields are left to the service. */
export const newKeyBody = ({ scopes: may, [EXPIRES]: lifetime, ...typed }: FormValues): FormValues => ({
  ...sent(typed),
  ...(lifetime ? { [EXPIRES]: Number(lifetime) } : {}),
  scopes: String(may).split(','),
})

/** Limits of a key that differ from the defaults; empty if there are none. */
export function describeKeyLimits(key: Key): string[] {
  const { requests_per_minute: requests, max_stored_upload_bytes: kept, priority, webhook_url: webhook } = key
  return [
    ...(requests === null ? [] : [`${requests} ${requests === 1 ? 'request' : 'requests'} per minute`]),
    ...(kept === null ? [] : [`${formatBytes(kept)} of uploads`]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(webhook === null ? [] : [`webhook ${webhook}`]),
  ]
}

/** The service's limits for an account without limits of its own. */
export interface Defaults {
  max_active_jobs: number
  max_stored_upload_bytes: number | null
}

/** A value equal to the default is left out, so that saving another field does not store it for the account. */
export function quotaFormValues(of: Account, defaults: Defaults): FormValues {
  return Object.fromEntries(
    Object.entries({
      max_active_jobs: of.max_active_jobs === defaults.max_active_jobs ? null : of.max_active_jobs,
      max_running: of.max_running,
      [STORED]: of.max_stored_upload_bytes === defaults.max_stored_upload_bytes ? null : of.max_stored_upload_bytes,
      weight: of.weight === 1 ? null : of.weight,
      spend_cap: of.spend_cap,
      spend_webhook_url: of.spend_webhook_url,
    }).flatMap(([name, value]) => (value === null ? [] : [[name, toFormValue(name, value)]])),
  )
}

export const quotaBody = (typed: FormValues): FormValues => sent(typed)

const grouped = (value: number): string => value.toLocaleString('en')

/** A problem with the label of the form field, and in the unit in which the value was entered. */
export function labelledProblem(problem: Problem, info: FieldInfo): Problem {
  const { minimum, maximum } = problem
  if (info.name === STORED) return { ...problem, message: 'Enter a number of gigabytes, 0 or more.' }
  if (info.kind === 'number' && minimum !== undefined && maximum !== undefined) {
    const whole = Number.isInteger(minimum) ? 'whole ' : ''
    return { ...problem, message: `Enter a ${whole}number from ${grouped(minimum)} to ${grouped(maximum)}.` }
  }
  if (info.kind === 'text' && maximum !== undefined) {
    return { ...problem, message: `Enter at most ${grouped(maximum)} characters.` }
  }
  const message = problem.message.replaceAll(problem.field, info.label)
  return {
    ...problem,
    message: message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? '' : '.'),
  }
}
