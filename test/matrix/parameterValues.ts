// In charge of: every value of every parameter that must have a row, read from the schema that validates requests.
// Not in charge of: the rows (rows/). Pure: nothing is encoded here.
import * as z from 'zod/mini'
import {
  animatedPreviewSchema,
  audioProfileSchema,
  burnInSchema,
  captionSchema,
  credentialSchema,
  fieldMeta,
  inputSchema,
  jobFieldsSchema,
  outputCredential,
  stillsSchema,
  videoProfileSchema,
  waveformSchema,
  type FieldMeta,
} from '#contract/job/requestSchema.ts'
import { WARNING_CODES } from '#contract/warningCodes.ts'

/** The value of a text or an object with free content, whatever a row uses. */
export const ANY = Symbol('any')

export interface ParameterValue {
  /** `videoProfiles[].width` */
  path: string
  value: unknown
  /** False: a rule always refuses it. */
  available: boolean
}

interface Def {
  type: string
  innerType?: Schema
  in?: Schema
  out?: Schema
  defaultValue?: unknown
  entries?: Record<string, string>
}
interface Schema {
  _zod: { def: Def }
}

/** The schema without default, null and conversions, and its default value. */
function core(schema: Schema): { def: Def; standard: unknown } {
  const { def } = schema._zod
  if (def.innerType !== undefined) {
    const inner = core(def.innerType)
    return def.type === 'default' ? { ...inner, standard: def.defaultValue } : inner
  }
  // A conversion is the input of a pipe; its output schema is the second part.
  return def.type === 'pipe' && def.out !== undefined ? core(def.out) : { def, standard: undefined }
}

const shapes: [string, Record<string, object>][] = [
  ['', jobFieldsSchema.shape],
  ['inputs[].', inputSchema.shape],
  ['videoProfiles[].', videoProfileSchema.shape],
  ['audioProfiles[].', audioProfileSchema.shape],
  ['captions[].', captionSchema.shape],
  ['burn_in_captions.', burnInSchema.shape],
  ['stills[].', stillsSchema.shape],
  ['animated_preview.', animatedPreviewSchema.shape],
  ['waveform.', waveformSchema.shape],
  ['cloud_credentials.input.', credentialSchema.shape],
  // The members are the same; the allowed providers are not.
  ['cloud_credentials.output.', { cloud_provider: outputCredential.shape.cloud_provider }],
]

/** Enumerated values; for a number its bounds and its default; for a text any text; and '' and null if allowed. */
function valuesOf(schema: Schema): unknown[] {
  const meta = fieldMeta.get(schema as never)
  const { def, standard } = core(schema)
  if (def.type === 'boolean') return [true, false]
  if (def.type === 'enum') return Object.values(def.entries ?? {})
  const allows = (value: unknown) =>
    z.safeParse(schema as never, value).success && (meta?.clampTo === undefined || isWithin(Number(value), meta))
  if (def.type === 'number') {
    const { minimum, maximum } = meta ?? {}
    const bounds = [minimum !== undefined && !allows(minimum) ? ABOVE(minimum) : minimum, maximum, standard, -1, 0]
    return [...new Set(bounds.filter((value) => value !== undefined))].filter(allows)
  }
  return [ANY, ...['', null].filter((value) => def.type === 'string' && allows(value))]
}

/** Values beyond the bounds are clamped, and have no row. */
function isWithin(value: number, { minimum = -Infinity, maximum = Infinity, exclusiveMinimum }: FieldMeta): boolean {
  return value <= maximum && (exclusiveMinimum === true ? value > minimum : value >= minimum)
}

/** For an excluded bound: the next number in practice. */
const ABOVE = (minimum: number) => minimum + 0.01

/** Not part of a request: the codes of status.warnings. */
export const WARNING = 'warnings[].code'
const warnings: ParameterValue[] = WARNING_CODES.map((value) => ({ path: WARNING, value, available: true }))

const parameters: ParameterValue[] = shapes.flatMap(([prefix, shape]) =>
  Object.entries(shape).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`
    const values = valuesOf(schema as Schema)
    const { allowed = [] } = fieldMeta.get(schema as never) ?? {}
    const fine = (value: unknown) => allowed.length === 0 || allowed.some((one) => one === value)
    return values.map((value) => ({ path, value, available: fine(value) }))
  }),
)

export const VALUES: readonly ParameterValue[] = [...parameters, ...warnings]

/** Whether a row with `value` covers that enumerated value. */
export function coversValue(value: unknown, wanted: ParameterValue): boolean {
  if (wanted.value !== ANY) return value === wanted.value
  return value !== '' && value !== null && value !== undefined
}

export function showValue(value: unknown): string {
  return value === ANY ? 'any' : JSON.stringify(value)
}
