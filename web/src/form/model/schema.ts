// In charge of: what the form knows about a field, from its row in the table of fields (contract/job/fields/). Pure.
// Not in charge of: titles of the parts (../settings.tsx).
import type { Field, Fields } from '#contract/job/fields/field.ts'
import { fieldAt, requestObjectAt } from '#contract/job/fields/request.ts'

export interface FieldInfo {
  name: string
  label: string
  description: string
  kind: Field['kind']
  /** Values to choose from. */
  values: readonly string[]
  minimum?: number | undefined
  maximum?: number | undefined
  /** A value that is allowed outside the bounds. */
  additionalValue?: number | undefined
  /** The meaning of absence, if the table states it. */
  preset: unknown
  /** Of values that do not explain themselves. */
  valueLabels?: Readonly<Record<string, string>> | undefined
}

function infoOf(name: string, field: Field): FieldInfo {
  const { kind, label = wordsOf(name), hint, meaning, allowed = [], absent } = field
  const def = field.schema._zod.def as { type: string; defaultValue?: unknown }
  const { minimum, maximum, additionalValue, valueLabels } = field
  return {
    name,
    label,
    description: hint ?? meaning,
    kind,
    values: allowed,
    minimum,
    maximum,
    additionalValue,
    preset: def.type === 'default' ? def.defaultValue : absent,
    valueLabels,
  }
}

export function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The fields of an object of the request, by name, in the order of the table. */
export function infosOf(object: string): ReadonlyMap<string, FieldInfo> {
  const fields: Fields = requestObjectAt(object)?.fields ?? {}
  return new Map(Object.entries(fields).map(([name, field]) => [name, infoOf(name, field)]))
}

/** By the path of a field: `videoProfiles[1].height`. */
export function infoAt(path: string): FieldInfo | undefined {
  const field = fieldAt(path)
  return field && infoOf(path.slice(path.lastIndexOf('.') + 1), field)
}

/** The label of a value; '' = absence. */
export const valueLabel = (info: FieldInfo | undefined, value: string): string =>
  info?.valueLabels?.[value] ?? (value || 'Default')

/** For a web server the same members are the parts of HTTP authentication. */
export const httpLabels: Readonly<Record<string, { label: string; description: string }>> = {
  access_key: { label: 'User name', description: 'For HTTP Basic authentication.' },
  secret_key: { label: 'Password', description: 'For HTTP Basic authentication.' },
}
