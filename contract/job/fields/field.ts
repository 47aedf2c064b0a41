// In charge of: one row of the table of fields: how a value is read, and everything that is said about it. The validation,
// the reference, the OpenAPI document, the form and the tests walk these rows (request.ts).
// Not in charge of: which fields exist (job.ts, profiles.ts, captions.ts, extracts.ts, credentials.ts).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import * as limits from '../../limits.ts'
import { CUT_TIME } from '../cutTime.ts'
import type { Bounds } from '../findings.ts'

/** How a value is read, and what messages say about it. */
export interface FieldType<S extends z.ZodMiniType = z.ZodMiniType> extends Omit<Bounds, 'allowed'> {
  schema: S
  kind: 'flag' | 'choice' | 'number' | 'text'
  /** Completes "<field> must be …". */
  expects: string
  /** The values of a choice. */
  allowed?: readonly string[]
  /** A value that is allowed in addition to the range. */
  additionalValue?: number
  /** The minimum itself is not allowed. */
  exclusiveMinimum?: boolean
  /** The replacements of values outside the range, which get a warning (fieldReader.ts). */
  clampTo?: ClampedRange
}

/** A row: name and object are its place in the table. */
export interface Field<S extends z.ZodMiniType = z.ZodMiniType> extends FieldType<S> {
  /** A sentence or two for the reference and the OpenAPI document. */
  meaning: string
  /** In the form; absent = the name in words. */
  label?: string
  /** In the form, where people see labels of values instead of the values of the API; absent = `meaning`. */
  hint?: string
  /** The part of the form that shows a field of a job (web/src/form/settings.tsx); null = it has its own place there. */
  group?: FieldGroup | null
  /** What the absence of a flag without default means: the form then shows a switch. */
  absent?: boolean
  /** Labels of values that do not explain themselves; `''` = of absence. */
  valueLabels?: Readonly<Record<string, string>>
}

export type FieldGroup =
  | 'packaging'
  | 'part'
  | 'renditions'
  | 'encoding'
  | 'frame'
  | 'audio'
  | 'broadcast'
  | 'service'
  | 'notice'
  | 'destination'

/** The fields of one object of a request, by name, in the order in which the form and the reference show them. */
export type Fields = Readonly<Record<string, Field>>

/** The schema of the whole object, for types and JSON Schema. Requests are read field by field (fieldReader.ts). */
export function objectOf<F extends Fields>(fields: F): z.ZodMiniObject<{ [K in keyof F]: F[K]['schema'] }> {
  const shape = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same members
  return z.object(shape) as never
}

/** What a request that was read has in an object. */
export type FieldsOf<F extends Fields> = z.infer<z.ZodMiniObject<{ [K in keyof F]: F[K]['schema'] }>>

export interface ClampedRange {
  /** Replaces values that are too small. */
  belowMinimum: number
  aboveMaximum: number
}

type Meta = Omit<FieldType, 'schema' | 'kind'> & Partial<Pick<FieldType, 'kind'>>

/** Of its own kind; `kind` is text unless it is given. */
export const field = <S extends z.ZodMiniType>(schema: S, meta: Meta): FieldType<S> => ({
  schema,
  kind: 'text',
  ...meta,
})

export const NUMBER_AS_TEXT = /^-?\d{1,15}(\.\d{1,15})?$/
/** What NUMBER_AS_TEXT reads as a whole number. */
export const WHOLE_NUMBER_AS_TEXT = /^-?\d{1,15}(\.0{1,15})?$/
/** Decision "numbers and strings": every number may also be sent as a string. */
export const numberFromText = z.transform((value: unknown) =>
  typeof value === 'string' && NUMBER_AS_TEXT.test(value) ? Number(value) : value,
)
export const textFromNumber = z.transform((value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : value,
)

interface Range {
  minimum: number
  maximum: number
  /** A value that is allowed in addition to the range. */
  additionalValue?: number
  integersOnly?: boolean
  exclusiveMinimum?: boolean
  unit?: string
  /** Decision "fields without effect": values that a template may contain are clamped, not refused. */
  clampTo?: ClampedRange
}

export function numberInRange(range: Range) {
  const inside = (value: number) =>
    value === range.additionalValue ||
    ((range.exclusiveMinimum === true ? value > range.minimum : value >= range.minimum) && value <= range.maximum)
  const number = range.integersOnly === true ? z.int() : z.number()
  return z.pipe(numberFromText, range.clampTo === undefined ? number.check(z.refine(inside)) : number)
}

export function rangeMeta(range: Range): Meta {
  const number = range.integersOnly === true ? 'a whole number' : 'a number'
  const span =
    range.exclusiveMinimum === true
      ? `above ${range.minimum} and at most ${range.maximum}`
      : `from ${range.minimum} to ${range.maximum}`
  const also = range.additionalValue === undefined ? '' : `, or ${range.additionalValue}`
  const rest = range.clampTo === undefined ? '' : '; others are clamped with a warning'
  const unit = range.unit === undefined ? '' : ` (${range.unit})`
  const { unit: _unit, integersOnly: _integersOnly, ...bounds } = range
  return { kind: 'number', expects: `${number} ${span}${also}${unit}${rest}`, ...bounds }
}

export function oneOf(allowed: readonly string[]): Meta {
  return { kind: 'choice', expects: `one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`, allowed }
}

export const requiredNumber = (range: Range) => field(numberInRange(range), rangeMeta(range))
export const optionalNumber = (range: Range) => field(z.optional(numberInRange(range)), rangeMeta(range))
export const numberWithDefault = (range: Range, value: number) =>
  field(withDefault(numberInRange(range), value), rangeMeta(range))
const FLAG: Meta = { kind: 'flag', expects: 'true or false' }
export const booleanWithDefault = (value: boolean) => field(withDefault(z.boolean(), value), FLAG)
export const optionalBoolean = () => field(z.optional(z.boolean()), FLAG)
export const enumWithDefault = <const V extends string>(values: readonly V[], value: NoInfer<V>) =>
  field(withDefault(z.enum(values), value), oneOf(values))
export const optionalEnum = <const V extends string>(values: readonly V[]) =>
  field(z.optional(z.enum(values)), oneOf(values))
/** One of several numbers, which may also be sent as text. */
export const optionalChoice = <const V extends string>(values: readonly V[]) =>
  field(z.optional(z.pipe(textFromNumber, z.enum(values))), oneOf(values))
export const optionalText = (maximum: number) =>
  field(z.optional(z.string().check(z.maxLength(maximum))), {
    expects: `a string of at most ${maximum} characters`,
  })
const addressText = z.pipe(textFromNumber, z.string().check(z.minLength(1), z.maxLength(limits.MAX_LENGTH.address)))
const ADDRESS: Meta = { expects: `a string of 1 to ${limits.MAX_LENGTH.address} characters` }
export const address = () => field(addressText, ADDRESS)
export const optionalAddress = () => field(z.optional(addressText), ADDRESS)
/** Seconds, or a timecode. */
export const optionalCutTime = () =>
  field(z.optional(z.union([z.number().check(z.gte(0), z.lte(999_999)), z.string().check(z.regex(CUT_TIME))])), {
    expects: 'seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12"',
  })
