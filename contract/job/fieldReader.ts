// In charge of: reading fields and lists one by one, so that all problems of a body are reported, not only the first.
// Not in charge of: which fields exist (fields/).
import type * as z from 'zod/mini'
import { suggestField } from './fieldHints.ts'
import type { Bounds, Findings, ProblemCode } from './findings.ts'
import { redactUnknownValue, looksSecret, printableValue } from './redact.ts'
import type { Field, Fields, FieldsOf } from './fields/field.ts'

export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own member of a body, never an inherited one. */
export function ownMember(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Decision "numbers and strings": `null` = absent. For members that are read without a schema. */
export function presentMember(object: JsonObject, name: string): unknown {
  return ownMember(object, name) ?? undefined
}

export function joinFieldPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/**
 * Reads the known members. A member that is wrong, or absent without a default, is absent from the result. `null` as
 * the object was reported already; the result has no members then.
 */
export function readFields<F extends Fields>(
  fields: F,
  object: JsonObject | null,
  path: string,
  findings: Findings,
  mayShow: (name: string) => boolean = () => true,
): Partial<FieldsOf<F>> {
  const read: JsonObject = {}
  if (object === null) return {}
  for (const [name, field] of Object.entries(fields)) {
    const { schema } = field
    const value = ownMember(object, name)
    const direct = schema.safeParse(value)
    // `null` = absent, even if the schema does not allow null.
    const result = direct.success || value !== null ? direct : schema.safeParse(undefined)
    if (!result.success) {
      const issue = result.error.issues[0]!
      reportField(field, value ?? undefined, issue, joinFieldPath(path, name), findings, mayShow(name))
    } else if (result.data !== undefined) read[name] = clamp(field, result.data, joinFieldPath(path, name), findings)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each member was read by the schema of its name
  return read as Partial<FieldsOf<F>>
}

/** Decision "fields without effect": out-of-range values that a template may contain are clamped, with a warning. */
function clamp(field: Field, value: unknown, path: string, findings: Findings): unknown {
  const { clampTo, minimum, maximum, exclusiveMinimum } = field
  if (clampTo === undefined || minimum === undefined || maximum === undefined || typeof value !== 'number') return value
  const isLow = exclusiveMinimum === true ? value <= minimum : value < minimum
  if (!isLow && value <= maximum) return value
  const used = isLow ? clampTo.belowMinimum : clampTo.aboveMaximum
  const span = exclusiveMinimum === true ? `above ${minimum} and at most ${maximum}` : `from ${minimum} to ${maximum}`
  findings.warn('value_clamped', path, `${path} ${value} is out of range: it must be ${span}, so ${used} is used`)
  return used
}

function reportField(
  field: Field,
  value: unknown,
  issue: z.core.$ZodIssue,
  path: string,
  findings: Findings,
  mayShow: boolean,
): void {
  const { kind, expects, allowed = kind === 'flag' ? [true, false] : undefined, minimum, maximum } = field
  const bounds: Bounds = {
    ...(allowed && { allowed }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  }
  if (value === undefined) {
    findings.problem('required', path, `${path} is required; it must be ${expects}`, bounds)
    return
  }
  const given = mayShow ? `${printableValue(value)} was given` : 'the given value is not'
  findings.problem(codeOf(issue, value), path, `${path} must be ${expects}; ${given}`, bounds)
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): ProblemCode {
  if (issue.code === 'too_small' || issue.code === 'too_big') {
    return typeof value === 'string' && issue.origin === 'string' ? 'invalid_length' : 'out_of_range'
  }
  if (issue.code === 'custom') return 'out_of_range'
  return issue.code === 'invalid_type' ? 'invalid_type' : 'invalid_value'
}

/**
 * Reads a list of objects; null for an element that is not an object. Elements beyond the limit are not read, since the
 * length is refused anyway.
 */
export function readObjectList(
  object: JsonObject,
  name: string,
  bounds: { minimum: number; maximum: number },
  findings: Findings,
): (JsonObject | null)[] {
  const value = presentMember(object, name)
  const span = `an array of ${bounds.minimum} to ${bounds.maximum} objects`
  if (value === undefined) {
    findings.problem('required', name, `${name} is required; it must be ${span}`, bounds)
    return []
  }
  if (!Array.isArray(value)) {
    findings.problem('invalid_type', name, `${name} must be ${span}; ${printableValue(value)} was given`, bounds)
    return []
  }
  if (value.length < bounds.minimum || value.length > bounds.maximum) {
    const message = `${name} must be ${span}; ${value.length} elements were given`
    findings.problem('invalid_length', name, message, bounds)
  }
  return value.slice(0, bounds.maximum).map((element: unknown, index) => {
    if (isJsonObject(element)) return element
    const path = `${name}[${index}]`
    findings.problem('invalid_type', path, `${path} must be an object; ${printableValue(element)} was given`)
    return null
  })
}

/** Beyond this many, unknown fields are summed up in one warning. */
const MAX_UNKNOWN_WARNINGS = 50

/** A name that is safe in a warning: limited in length, on one line. */
export function printableName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '?').slice(0, 100)
}

/** Decision "unknown fields": accepted, echoed in `config`, listed in warnings. */
export function keepUnknownFields(known: readonly string[], object: JsonObject, path: string, findings: Findings) {
  const copied: JsonObject = {}
  const names = Object.keys(object).filter((name) => !known.includes(name))
  for (const [index, name] of names.entries()) {
    const hidden = name === '__proto__' || looksSecret(name)
    if (name !== '__proto__') copied[name] = hidden ? null : redactUnknownValue(object[name])
    if (index >= MAX_UNKNOWN_WARNINGS) continue
    const kept = hidden ? 'its value is not kept' : 'it is kept in config'
    findings.warn(
      'unknown_field',
      joinFieldPath(path, printableName(name)),
      `${joinFieldPath(path, printableName(name))} is not a known field: it has no effect and ${kept}${suggestField(name, path)}`,
    )
  }
  if (names.length > MAX_UNKNOWN_WARNINGS) {
    const more = names.length - MAX_UNKNOWN_WARNINGS
    findings.warn('unknown_field', path, `${more} more fields are unknown and have no effect`)
  }
  return copied
}

/** Whether a body stays within the limits of nesting and number of values. Not recursive. */
export function isWithinSizeLimits(body: unknown, maxNesting: number, maxValues: number): boolean {
  const open: [value: unknown, depth: number][] = [[body, 0]]
  let seen = 0
  while (open.length > 0) {
    const [value, depth] = open.pop()!
    seen += 1
    if (depth > maxNesting || seen + open.length > maxValues) return false
    if (typeof value !== 'object' || value === null) continue
    for (const member of Object.values(value)) open.push([member, depth + 1])
  }
  return true
}
