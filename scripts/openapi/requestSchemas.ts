// In charge of: the JSON Schemas of requests, generated from the schema that validates them.
// Not in charge of: answers (answerSchemas.ts).
import * as z from 'zod/mini'
import { NUMBER_AS_TEXT, WHOLE_NUMBER_AS_TEXT, type Field, type Fields } from '#contract/job/fields/field.ts'
import { REQUEST_OBJECTS } from '#contract/job/fields/request.ts'
import { INPUTS, METADATA, SOURCE_STREAM } from '#contract/limits.ts'
import { nullable, schemaRef, type Schema } from './schemaParts.ts'

/** What the row says goes into the description. Limits that are checked by code also come from the row. */
function member(field: Field): Schema {
  const { schema } = field
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  const { $schema: _, minimum: _minimum, maximum: _maximum, ...plain } = made
  const description = `${field.meaning} Must be ${field.expects}.`
  const { default: fallback, ...read } = isRead(schema) ? eitherKind(plain, field) : plain
  const isNumber = [read['type']].flat().some((type) => type === 'integer' || type === 'number')
  const bounded = isNumber && !('enum' in read) ? { ...read, ...boundsOf(field) } : read
  return {
    ...(field.additionalValue === undefined
      ? bounded
      : { anyOf: [{ type: 'integer', enum: [field.additionalValue] }, bounded] }),
    ...(fallback === undefined ? {} : { default: fallback }),
    description,
  }
}

function boundsOf({ minimum, maximum, exclusiveMinimum, clampTo }: Field): Schema {
  if (clampTo !== undefined) return {}
  return {
    ...(minimum === undefined ? {} : { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

/** Whether the value is converted before validation: then a number may be sent as text, and the other way round. */
function isRead(schema: z.core.$ZodType): boolean {
  const def = schema._zod.def as { type: string; innerType?: z.core.$ZodType }
  return def.innerType ? isRead(def.innerType) : def.type === 'pipe'
}

/** A pattern applies to text, limits apply to numbers; neither restricts the other. */
function eitherKind({ type, enum: values, ...rest }: Schema, { maximum }: Field): Schema {
  // Limits instead of a second enum: client generators name the values of an enum, and "2" and 2 would get the same
  // name.
  if (Array.isArray(values)) {
    const numbers = (values as string[]).map(Number)
    const asNumber = { type: 'integer', minimum: Math.min(...numbers), maximum: Math.max(...numbers) }
    return { ...rest, anyOf: [{ type: 'string', enum: values as string[] }, asNumber] }
  }
  if (type === 'string') return { ...rest, type: [maximum === undefined ? 'number' : 'integer', 'string'] }
  return {
    ...rest,
    type: [type, 'string'],
    pattern: (type === 'integer' ? WHOLE_NUMBER_AS_TEXT : NUMBER_AS_TEXT).source,
  }
}

function request(fields: Fields, required: readonly string[]): Schema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, one]) => [name, required.includes(name) ? member(one) : withNull(member(one))]),
  )
  return { type: 'object', properties, required }
}

/** Decision "numbers and strings": `null` = absent for every optional field. */
function withNull({ description = '', default: fallback, ...schema }: Schema): Schema {
  const { type, anyOf } = schema as { type?: string | string[]; anyOf?: Schema[] }
  const kinds = [type ?? []].flat()
  const nothing = { type: 'null' }
  const made: Schema =
    kinds.includes('null') ||
    anyOf?.some((each) => each['type'] === 'null') === true ||
    Object.keys(schema).length === 0
      ? schema
      : anyOf
        ? { ...schema, anyOf: [...anyOf, nothing] }
        : // An enum would have to list null, for which client generators have no name.
          kinds.length === 0 || 'enum' in schema
          ? nullable(schema)
          : { ...schema, type: [...kinds, 'null'] }
  return { ...made, ...(fallback === undefined ? {} : { default: fallback }), description }
}

const components: Record<string, Schema> = Object.fromEntries(
  REQUEST_OBJECTS.flatMap(({ component, fields, required = [] }) =>
    component === undefined ? [] : [[component, request(fields, required)]],
  ),
)

/** The members of a job that are objects or lists of them. */
const nested = Object.fromEntries(
  REQUEST_OBJECTS.flatMap(({ path, component, meaning, bounds }): [string, Schema][] => {
    if (meaning === undefined || component === undefined) return []
    if (bounds === undefined) return [[path, { ...nullable(schemaRef(component)), description: meaning }]]
    const size = { ...(bounds.minimum > 0 && { minItems: bounds.minimum }), maxItems: bounds.maximum }
    return [
      [path.replace('[]', ''), { type: ['array', 'null'], ...size, items: schemaRef(component), description: meaning }],
    ]
  }),
)

// Which lists are required depends on ladder and preset. The descriptions say so, because linters and client generators
// do not support conditions (`if`) of JSON Schema.
const members = components['Job']!['properties'] as Record<string, Schema>

const job = {
  ...components['Job'],
  properties: {
    ...members,
    metadata: {
      ...members['metadata'],
      type: ['object', 'null'],
      maxProperties: METADATA.members,
      propertyNames: { pattern: `^${METADATA.name_pattern}$`, not: { const: '__proto__' } },
      additionalProperties: { type: 'string', pattern: `^${METADATA.value_pattern}$` },
    },
    ...nested,
    cloud_credentials: {
      type: 'object',
      // null is the same as omitting the member.
      properties: {
        input: nullable(schemaRef('Credential')),
        inputs: {
          type: ['array', 'null'],
          items: schemaRef('Credential'),
          maxItems: INPUTS.maximum,
          description: 'Credentials of each element of inputs. Without it, input applies to all of them.',
        },
        output: nullable(schemaRef('Credential')),
      },
    },
  },
} satisfies Schema

/** A preset refuses unknown members; a job accepts them with a warning. */
function presetJob(): Schema {
  const properties: Record<string, Schema> = job.properties
  const {
    input: _input,
    inputs: _inputs,
    captions: _captions,
    cloud_credentials: _stores,
    preset: _preset,
    ...rest
  } = properties
  const closed = (name: string): Schema => ({
    ...rest[name],
    items: { ...(rest[name]?.['items'] as Schema), unevaluatedProperties: false },
  })
  return {
    type: 'object',
    properties: {
      ...rest,
      videoProfiles: closed('videoProfiles'),
      audioProfiles: closed('audioProfiles'),
      stills: closed('stills'),
    },
    additionalProperties: false,
    description: 'Members of a job’s body, without `input`, `inputs`, `captions`, `cloud_credentials` and `preset`.',
  }
}

const piece = components['Input']!
const pieceMembers = piece['properties'] as Record<string, Schema>
const stream = { minimum: SOURCE_STREAM.minimum, maximum: SOURCE_STREAM.maximum }

/** One piece of a source that is joined from several. */
const input = {
  ...piece,
  properties: {
    ...pieceMembers,
    source_streams: {
      type: ['object', 'null'],
      propertyNames: { pattern: `^[${stream.minimum}-${stream.maximum}]$` },
      additionalProperties: {
        type: ['integer', 'string', 'null'],
        ...stream,
        pattern: `^[${stream.minimum}-${stream.maximum}]$`,
      },
      description: pieceMembers['source_streams']!['description'],
    },
  },
} satisfies Schema

export const requestSchemas: Record<string, Schema> = { ...components, Job: job, Input: input, PresetJob: presetJob() }
