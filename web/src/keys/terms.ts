// In charge of: what may be set of a key: its fields, as a form holds them and as the API takes them. Pure.
// Not in charge of: judging it (worker/routes/keys.ts).
import type { Key, KeyTerms } from '#contract/answers.ts'
import type { FieldInfo } from '../form/schema.ts'
import { bytes } from '../words.ts'

/** Absent = nothing was typed. */
export type Typed = Record<string, unknown>

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
  { value: 'jobs', label: 'run jobs' },
  { value: 'admin', label: 'issue keys' },
  { value: 'jobs,admin', label: 'do both' },
]

export const label = text('label', 'Label', 'What it is for.')
export const account = text('account', 'Account', 'Whose it is: lower-case letters, digits and hyphens, 40 at most.')
export const scopes: FieldInfo = { ...text('scopes', 'May', 'What it lets do.'), kind: 'choice' }

/** Fields of the bounds and of the webhook. A number of bytes is told as people read it, too. */
export function boundsOf(typed: Typed): FieldInfo[] {
  const kept = typed['max_stored_upload_bytes']
  return [
    number('requests_per_minute', 'Requests a minute', 'Empty: as many as the service lets every key send.'),
    number(
      'max_stored_upload_bytes',
      'Bytes of stored uploads',
      typeof kept === 'number' && kept >= 1000 ? `${bytes(kept)}.` : 'Empty: as many as its account may store.',
    ),
    number('priority', 'Priority', 'From -10 to 10: of jobs that wait, those of a higher one start first. Empty: 0.'),
    text('webhook_url', 'Webhook', 'Told of the end of jobs that name no address themselves. Empty: nobody is told.'),
  ]
}

const NOTHING: KeyTerms = {
  label: '',
  requests_per_minute: null,
  max_stored_upload_bytes: null,
  priority: 0,
  webhook_url: null,
}

/** What a form begins with. */
export function termsOf(key: KeyTerms): Typed {
  return Object.fromEntries(
    Object.entries(NOTHING)
      .map(([name, nothing]) => [name, key[name as keyof KeyTerms], nothing] as const)
      .flatMap(([name, value, nothing]) => (value === nothing ? [] : [[name, value]])),
  )
}

/** Only what was changed: the service shows an address without its query, and shown is not what it keeps. */
export function changeOf(key: KeyTerms, typed: Typed): Typed {
  return Object.fromEntries(
    Object.entries(NOTHING).flatMap(([name, nothing]) => {
      const wished = typed[name] ?? nothing
      return wished === key[name as keyof KeyTerms] ? [] : [[name, wished]]
    }),
  )
}

/** Scopes stand in one field; what was not typed is left to the service. */
export const wishOf = ({ scopes: may, ...typed }: Typed): Typed => ({ ...typed, scopes: String(may).split(',') })

/** What is unusual about a key; empty where nothing is. */
export function terms(key: Key): string[] {
  const { requests_per_minute: requests, max_stored_upload_bytes: kept, priority, webhook_url: webhook } = key
  return [
    ...(requests === null ? [] : [`${requests} ${requests === 1 ? 'request' : 'requests'} a minute`]),
    ...(kept === null ? [] : [`${bytes(kept)} of uploads`]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(webhook === null ? [] : [`tells ${webhook}`]),
  ]
}
