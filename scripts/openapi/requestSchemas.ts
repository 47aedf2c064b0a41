// In charge of: the JSON Schemas of requests, generated from the schema that validates them.
// Not in charge of: answers (componentSchemas.ts).
import * as z from 'zod/mini'
import { fieldDocs, type FieldDoc } from '#contract/job/fieldDocs.ts'
import { AUDIO_PROFILES, CAPTIONS, INPUTS, METADATA, SOURCE_STREAM, STILLS, VIDEO_PROFILES } from '#contract/limits.ts'
import {
  animatedPreviewSchema,
  audioProfileSchema,
  burnInSchema,
  captionSchema,
  credentialSchema,
  inputSchema,
  jobFieldsSchema,
  NUMBER_AS_TEXT,
  stillsSchema,
  videoProfileSchema,
  waveformSchema,
} from '#contract/job/requestSchema.ts'
import { nullable, schemaRef, type Schema } from './schemaParts.ts'

/** Text of the registry goes into the description. Limits that are checked by code also come from the registry. */
function member(schema: z.core.$ZodType): Schema {
  const meta = fieldDocs.get(schema)!
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  const { $schema: _, minimum: _minimum, maximum: _maximum, ...plain } = made
  const description = `${meta.description} Must be ${meta.expects}.`
  const { default: fallback, ...read } = isRead(schema) ? eitherKind(plain, meta) : plain
  const isNumber = [read['type']].flat().some((type) => type === 'integer' || type === 'number')
  const bounded = isNumber && !('enum' in read) ? { ...read, ...boundsOf(meta) } : read
  return {
    ...(meta.additionalValue === undefined
      ? bounded
      : { anyOf: [{ type: 'integer', enum: [meta.additionalValue] }, bounded] }),
    ...(fallback === undefined ? {} : { default: fallback }),
    description,
  }
}

function boundsOf({ minimum, maximum, exclusiveMinimum, clampTo }: FieldDoc): Schema {
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
function eitherKind({ type, enum: values, ...rest }: Schema, { maximum }: FieldDoc): Schema {
  // Limits instead of a second enum: client generators name the values of an enum, and "2" and 2 would get the same
  // name.
  if (Array.isArray(values)) {
    const numbers = (values as string[]).map(Number)
    const asNumber = { type: 'integer', minimum: Math.min(...numbers), maximum: Math.max(...numbers) }
    return { ...rest, anyOf: [{ type: 'string', enum: values as string[] }, asNumber] }
  }
  if (type === 'string') return { ...rest, type: [maximum === undefined ? 'number' : 'integer', 'string'] }
  return { ...rest, type: [type, 'string'], pattern: NUMBER_AS_TEXT.source }
}

function request(schema: { shape: Record<string, z.core.$ZodType> }, required: readonly string[]): Schema {
  const properties = Object.fromEntries(
    Object.entries(schema.shape).map(([name, one]) => [
      name,
      required.includes(name) ? member(one) : withNull(member(one)),
    ]),
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

// Which lists are required depends on ladder and preset. The descriptions say so, because linters and client generators
// do not support conditions (`if`) of JSON Schema.
const withLists = request(jobFieldsSchema, ['cloud_credentials'])
const members = withLists['properties'] as Record<string, Schema>

const job = {
  ...withLists,
  properties: {
    ...members,
    metadata: {
      ...members['metadata'],
      type: ['object', 'null'],
      maxProperties: METADATA.members,
      propertyNames: { pattern: `^${METADATA.name_pattern}$`, not: { const: '__proto__' } },
      additionalProperties: { type: 'string', pattern: `^${METADATA.value_pattern}$` },
    },
    inputs: {
      type: ['array', 'null'],
      minItems: INPUTS.minimum,
      maxItems: INPUTS.maximum,
      items: schemaRef('Input'),
      description: `${INPUTS.minimum} to ${INPUTS.maximum} sources that are joined in this order, instead of input (docs/inputs.md).`,
    },
    videoProfiles: {
      type: ['array', 'null'],
      maxItems: VIDEO_PROFILES.maximum,
      items: schemaRef('VideoProfile'),
      description: `At most ${VIDEO_PROFILES.maximum} renditions. Left out with ladder "auto", and for a job without video, which then makes something else: an element of audioProfiles with source_stream.`,
    },
    audioProfiles: {
      type: ['array', 'null'],
      maxItems: AUDIO_PROFILES.maximum,
      items: schemaRef('AudioProfile'),
      description: 'Empty for outputs without audio. Required with video, unless a preset has them.',
    },
    captions: {
      type: ['array', 'null'],
      maxItems: CAPTIONS.maximum,
      items: schemaRef('Caption'),
      description: 'Caption files beside the source; they become text tracks of HLS, DASH and mp4.',
    },
    burn_in_captions: {
      ...nullable(schemaRef('BurnInCaptions')),
      description: 'Captions that are drawn into the video of every output: one of the two members.',
    },
    stills: {
      type: ['array', 'null'],
      minItems: STILLS.minimum,
      maxItems: STILLS.maximum,
      items: schemaRef('Stills'),
      description: `Still images of the outputs' frames: ${STILLS.minimum} to ${STILLS.maximum} elements, each with its own times, size and format.`,
    },
    animated_preview: {
      ...nullable(schemaRef('AnimatedPreview')),
      description: 'A short animation of excerpts, without audio.',
    },
    waveform: { ...nullable(schemaRef('Waveform')), description: 'The peaks of the audio, as data or as an image.' },
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

const piece = request(inputSchema, ['input'])
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

export const requestSchemas: Record<string, Schema> = {
  Job: job,
  PresetJob: presetJob(),
  Input: input,
  VideoProfile: request(videoProfileSchema, []),
  AudioProfile: request(audioProfileSchema, []),
  Caption: request(captionSchema, ['input', 'language']),
  BurnInCaptions: request(burnInSchema, []),
  Stills: request(stillsSchema, []),
  AnimatedPreview: request(animatedPreviewSchema, []),
  Waveform: request(waveformSchema, []),
  Credential: request(credentialSchema, []),
}
