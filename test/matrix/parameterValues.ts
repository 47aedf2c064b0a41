// In charge of: every value of every parameter that must have a row, read from the schema that validates requests.
// Not in charge of: the rows (rows/). Pure: nothing is encoded here.
import type { Field } from '#contract/job/fields/field.ts'
import { REQUEST_OBJECTS } from '#contract/job/fields/request.ts'
import { WARNING_CODES } from '#contract/warningCodes.ts'

/** The value of a text or an object with free content, whatever a row uses. */
export const ANY = Symbol('any')

export interface ParameterValue {
  /** `videoProfiles[].width` */
  path: string
  value: unknown
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

/** Enumerated values; for a number its bounds and its default; for a text any text; and '' and null if allowed. */
function valuesOf(field: Field): unknown[] {
  const { schema, clampTo, minimum, maximum } = field
  const { def, standard } = core(schema)
  if (def.type === 'boolean') return [true, false]
  if (def.type === 'enum') return Object.values(def.entries ?? {})
  const allows = (value: unknown) =>
    schema.safeParse(value).success && (clampTo === undefined || isWithin(Number(value), field))
  if (def.type === 'number') {
    const bounds = [minimum !== undefined && !allows(minimum) ? ABOVE(minimum) : minimum, maximum, standard, -1, 0]
    return [...new Set(bounds.filter((value) => value !== undefined))].filter(allows)
  }
  return [ANY, ...['', null].filter((value) => def.type === 'string' && allows(value))]
}

/** Values beyond the bounds are clamped, and have no row. */
function isWithin(value: number, { minimum = -Infinity, maximum = Infinity, exclusiveMinimum }: Field): boolean {
  return value <= maximum && (exclusiveMinimum === true ? value > minimum : value >= minimum)
}

/** For an excluded bound: the next number in practice. */
const ABOVE = (minimum: number) => minimum + 0.01

/** Not part of a request: the codes of status.warnings. */
export const WARNING = 'warnings[].code'
const warnings: ParameterValue[] = WARNING_CODES.map((value) => ({ path: WARNING, value }))

/** The credentials of an element of `inputs` are those of `input`, and so are the members of an output but for the provider. */
const isListed = (path: string, name: string): boolean =>
  path !== 'cloud_credentials.inputs[]' && (path !== 'cloud_credentials.output' || name === 'cloud_provider')

const parameters: ParameterValue[] = REQUEST_OBJECTS.flatMap(({ path: object, fields }) =>
  Object.entries<Field>(fields).flatMap(([name, field]) => {
    if (!isListed(object, name)) return []
    const path = object === '' ? name : `${object}.${name}`
    return valuesOf(field).map((value) => ({ path, value }))
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
