// In charge of: the schemas of the OpenAPI document: a request as the validating schema says it, answers by their types.
// Not in charge of: operations (operations.ts).
import * as z from 'zod/mini'
import { jobErrors, requestErrors } from '#contract/errors.ts'
import { audioProfile, credential, fields, jobFields, videoProfile, type FieldMeta } from '#contract/request.ts'
import { AUDIO_PROFILES, VIDEO_PROFILES } from '#contract/limits.ts'
import type { PublicOutput, PublicStatus } from '#contract/status.ts'

export type Schema = { description?: string; [name: string]: unknown }

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const text: Schema = { type: 'string' }
const time: Schema = { type: 'string', format: 'date-time' }
const count: Schema = { type: 'integer', minimum: 0 }
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

/** @param optional members that an answer may leave out */
export function answer<K extends string>(properties: Record<K, Schema>, optional: readonly NoInfer<K>[] = []): Schema {
  const required = (Object.keys(properties) as K[]).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required }
}

/** What the registry says in words goes into the description. */
function member(schema: z.core.$ZodType): Schema {
  const meta = fields.get(schema) as FieldMeta
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  const { $schema: _, minimum, maximum, ...rest } = made
  const bounds = Number.isSafeInteger(minimum) && minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum, maximum }
  const described = { ...rest, ...bounds, description: `${meta.description} Must be ${meta.expects}.` }
  return isRead(schema) ? { ...described, ...eitherKind(rest) } : described
}

/** Whether something is done to the value before it is judged: then a number may come as text, and the other way round. */
function isRead(schema: z.core.$ZodType): boolean {
  const def = schema._zod.def as { type: string; innerType?: z.core.$ZodType }
  return def.innerType ? isRead(def.innerType) : def.type === 'pipe'
}

function eitherKind({ type, enum: values }: Schema): Schema {
  return Array.isArray(values)
    ? { type: ['string', 'number'], enum: [...(values as string[]), ...(values as string[]).map(Number)] }
    : { type: [type === 'string' ? 'number' : type, 'string'] }
}

function request(schema: { shape: Record<string, z.core.$ZodType> }, required: readonly string[]): Schema {
  const properties = Object.fromEntries(Object.entries(schema.shape).map(([name, one]) => [name, member(one)]))
  return { type: 'object', properties, required }
}

const problem = answer(
  {
    code: text,
    field: text,
    message: text,
    allowed: { type: 'array', items: { type: ['string', 'number', 'boolean'] } },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
  },
  ['allowed', 'minimum', 'maximum'],
)

const output: Record<keyof PublicOutput, Schema> = {
  path: text,
  url: { ...text, description: 'Where to download it; a signed address for the service’s own store.' },
  location: text,
  size: count,
  sha256: text,
  content_type: text,
  profile: { type: ['integer', 'null'] },
  role: text,
  segments: answer({ count, bytes: count }),
}

const status: Record<keyof PublicStatus, Schema> = {
  job_id: text,
  state: { enum: ['ready', 'running', 'error', 'cancelled'] },
  tcode_progress: { ...text, description: 'Percent.' },
  tcode_time: { type: ['string', 'null'], description: 'Seconds.' },
  tcode_speed: { ...text, description: 'Times real time; "-1" until known.' },
  xfer_progress: { ...text, description: 'Percent.' },
  xfer_time: { ...text, description: 'Seconds.' },
  xfer_speed: { ...text, description: 'MB/s; "-1.0" until known.' },
  job_completed: { type: 'boolean', description: 'True in every terminal state; `error` tells failure from success.' },
  phase: { enum: ['queued', 'starting', 'probing', 'transcoding', 'packaging', 'uploading', 'committing', 'done'] },
  error: orNull(ref('JobError')),
  warnings: { type: 'array', items: ref('Warning') },
  outputs: { type: 'array', items: ref('Output') },
  dry_run: { type: 'boolean' },
  estimate: { type: ['object', 'null'], description: 'Of a dry run that ended well (docs/dry-run.md).' },
  retry_of: { type: ['integer', 'null'] },
  input_name: { ...text, description: 'What the source is called: an upload’s name, else the file’s in its address.' },
  queue_position: { type: ['integer', 'null'] },
  eta_seconds: { type: ['number', 'null'] },
  created_at: time,
  started_at: orNull(time),
  finished_at: orNull(time),
}

const key = {
  id: text,
  account: text,
  label: text,
  scopes: { type: 'array', items: { enum: ['jobs', 'admin'] } },
  requests_per_minute: { type: ['integer', 'null'] },
  priority: { type: 'integer' },
  max_stored_upload_bytes: { type: ['integer', 'null'], description: 'Null: no bound but the account’s.' },
  webhook_url: { type: ['string', 'null'], description: 'Of jobs that name none; without its query.' },
  created_at: time,
  last_used_at: orNull(time),
  revoked_at: orNull(time),
} as const
const id: Schema = { type: 'integer', minimum: 1 }
const base = { _auto_generated_id_: id, job_id: text, cloud: text, updated_at: time, status: ref('Status') }

const withLists = request(jobFields, ['input', 'videoProfiles', 'audioProfiles', 'cloud_credentials'])

export const schemas: Record<string, Schema> = {
  Job: {
    ...withLists,
    properties: {
      ...(withLists['properties'] as object),
      videoProfiles: {
        type: 'array',
        minItems: VIDEO_PROFILES.minimum,
        maxItems: VIDEO_PROFILES.maximum,
        items: ref('VideoProfile'),
      },
      audioProfiles: { type: 'array', maxItems: AUDIO_PROFILES.maximum, items: ref('AudioProfile') },
      cloud_credentials: {
        type: 'object',
        properties: { input: ref('Credential'), output: ref('Credential') },
        required: ['input'],
      },
    },
  },
  VideoProfile: request(videoProfile, ['width', 'height', 'video_bitrate']),
  AudioProfile: request(audioProfile, []),
  Credential: request(credential, ['cloud_provider']),
  Error: answer({
    error: answer(
      {
        code: { enum: Object.keys(requestErrors) },
        message: text,
        field: text,
        details: { description: 'Of a refused job: a list of Problem.' },
      },
      ['field', 'details'],
    ),
  }),
  Problem: problem,
  Warning: answer({ code: text, field: text, message: text }, ['field']),
  JobError: answer(
    { code: { enum: Object.keys(jobErrors) }, message: text, field: text, details: { type: 'object' } },
    ['field', 'details'],
  ),
  Output: answer(output, ['segments']),
  Status: answer(status),
  Created: answer(
    { ...base, dry_run: { const: true }, retry_of: id, warnings: { type: 'array', items: ref('Warning') } },
    ['dry_run', 'retry_of'],
  ),
  JobRead: answer({
    status: ref('Status'),
    config: { type: 'object', description: 'As stored: defaults applied, no secret.' },
  }),
  JobList: answer({
    jobs: { type: 'array', items: answer({ ...base, input: text }) },
    next_cursor: { type: ['string', 'null'] },
  }),
  Upload: answer({ uploaded_file_number: id, input: text, name: text, size: count, expires_at: time }),
  UploadList: answer({
    uploads: {
      type: 'array',
      items: answer({
        uploaded_file_number: id,
        input: text,
        name: text,
        content_type: text,
        size: { type: ['integer', 'null'], description: 'Bytes; null while a request of its own brings it.' },
        received: { type: ['integer', 'null'], description: 'Bytes of it that are stored.' },
        state: { enum: ['receiving', 'ready'] },
        created_at: time,
        expires_at: time,
      }),
    },
    next_cursor: { type: ['string', 'null'] },
  }),
  Key: answer(key),
  IssuedKey: answer({ ...key, key: { ...text, description: 'In this answer and in no other.' } }),
  KeyList: answer({ keys: { type: 'array', items: ref('Key') } }),
  Health: answer({ status: { enum: ['ok', 'not_ready'] }, missing: { type: 'array', items: text } }),
}
