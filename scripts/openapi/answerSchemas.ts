// In charge of: the schemas of the OpenAPI document; those of answers by their types.
// Not in charge of: those of requests (requestSchemas.ts), operations (operations.ts).
import * as z from 'zod/mini'
import type {
  Created,
  IssuedKey,
  JobList,
  JobLog,
  JobRead,
  Key,
  KeyTerms,
  ListedJob,
  ListedUpload,
  Preset,
  PresetList,
  ReplacedKey,
  Share,
  SharedMedia,
  ShareList,
  Upload,
  UploadList,
  UploadToken,
  VaultRotation,
} from '#contract/api/answers.ts'
import type { Check, Diagnosis, SlotFacts, TranscoderFacts } from '#contract/api/diagnosis.ts'
import { jobErrors, requestErrors } from '#contract/errorCodes.ts'
import { publicEvent } from '#contract/api/events.ts'
import {
  MAX_LENGTH,
  MAX_QUEUE_POSITION,
  MAX_RESUMABLE_BYTES,
  PRESETS,
  publishedLimits,
  SHARE_SECONDS,
  SHARE_TITLE_LENGTH,
  UPLOAD_TOKENS,
} from '#contract/limits.ts'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import type { AudioFacts, MediaFacts, VideoFacts } from '#contract/task/mediaFacts.ts'
import type { Poster, PublicOutput, PublicStatus } from '#contract/api/status.ts'
import { answer, count, orNull, ref, text, time, type Schema } from './schemaParts.ts'
import { requestSchemas } from './requestSchemas.ts'

/**
 * The schema of what a function of ours makes, read off values of it. Null stands for a number that is not set; a member that
 * not all of them have is optional; an empty list is one of numbers, as all lists of plain values are here.
 */
function like(...values: unknown[]): Schema {
  const [value] = values
  if (values.every(Array.isArray)) {
    const items = values.flat() as unknown[]
    return { type: 'array', items: items.length > 0 ? like(...items) : { type: 'number' } }
  }
  if (value === null) return { type: ['number', 'null'] }
  if (typeof value !== 'object') return { type: typeof value }
  const objects = values as Record<string, unknown>[]
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  return answer(
    Object.fromEntries(
      names.map((name) => [name, like(...objects.flatMap((one) => (name in one ? [one[name]] : [])))]),
    ),
    names.filter((name) => objects.some((one) => !(name in one))),
  )
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

const kbps: Schema = { type: 'number', minimum: 0, description: 'kbps (1,000 bit/s).' }
const rendition = { path: text, width: count, height: count, average_bitrate_kbps: kbps, peak_bitrate_kbps: kbps }
const videoFacts: Record<keyof VideoFacts, Schema> = {
  codec: text,
  codec_string: { type: ['string', 'null'], description: 'RFC 6381; null where the codec has no such name.' },
  width: count,
  height: count,
  display_aspect_ratio: text,
  frame_rate: { ...text, description: 'A fraction, as "30000/1001".' },
  frames_per_second: { type: 'number' },
  scan: { enum: ['progressive', 'interlaced'] },
  dynamic_range: { enum: ['sdr', 'hdr10', 'hlg'] },
  bitrate_kbps: kbps,
}
const audioFacts: Record<keyof AudioFacts, Schema> = {
  codec: text,
  channels: count,
  sample_rate: count,
  bitrate_kbps: kbps,
  language: { type: ['string', 'null'] },
}
const mediaFacts: Record<keyof MediaFacts, Schema> = {
  duration_seconds: { type: 'number', minimum: 0 },
  average_bitrate_kbps: kbps,
  peak_bitrate_kbps: kbps,
  video: orNull(answer(videoFacts)),
  audio: { type: 'array', items: answer(audioFacts) },
  captions: {
    type: 'array',
    items: answer({ kind: { enum: ['embedded', 'webvtt'] }, name: text, language: { type: ['string', 'null'] } }),
  },
  renditions: { type: 'array', items: answer(rendition) },
}
const orText: Schema = { type: ['string', 'null'] }
const orNumber: Schema = { type: ['number', 'null'] }
const sourceVideo: Record<keyof NonNullable<SourceReport['video']>, Schema> = {
  codec: text,
  width: count,
  height: count,
  sample_aspect_ratio: text,
  rotation: { type: 'number', description: 'Degrees clockwise to stand upright.' },
  frame_rate: orText,
  variable_frame_rate: { type: 'boolean' },
  scan: { enum: ['progressive', 'interlaced', 'telecined'] },
  field_order: text,
  pixel_format: text,
  transfer: text,
  primaries: text,
  matrix: text,
  hdr: { type: 'boolean' },
  captions: { type: 'array', items: text },
  has_captions: { type: 'boolean' },
}
const sourceAudio: Record<keyof SourceReport['audio'][number], Schema> = {
  source_stream: count,
  codec: text,
  channels: count,
  channel_layout: orText,
  sample_rate: count,
  language: orText,
  dialnorm: orNumber,
  duration_seconds: orNumber,
}
const source: Record<keyof SourceReport, Schema> = {
  formats: { type: 'array', items: text },
  duration_seconds: orNumber,
  size_bytes: orNumber,
  bitrate_kbps: orNumber,
  video: orNull(answer(sourceVideo)),
  audio: { type: 'array', items: answer(sourceAudio) },
  cues: orNull(answer({ pids: { type: 'array', items: count }, splice_points: count })),
  other: { type: 'array', items: answer({ type: text, codec: text, language: orText }) },
}
const poster: Record<keyof Poster, Schema> = {
  url: { ...text, description: 'JPEG; signed, needs no key.' },
  width: count,
  height: count,
}

const output: Record<keyof PublicOutput, Schema> = {
  path: text,
  url: {
    type: ['string', 'null'],
    description:
      'Where to download it without a key: a signed address of the service for its own store, elsewhere a presigned one of the store (for an hour, as long as the credentials are kept); null where there is none, and in lists.',
  },
  location: text,
  size: count,
  sha256: text,
  content_type: text,
  profile: { type: ['integer', 'null'] },
  role: { ...text, description: 'media, playlist, manifest, captions, poster, storyboard, tar or report.' },
  segments: answer({ count, bytes: count }),
  media: orNull(ref('MediaFacts')),
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
  source: orNull(ref('Source')),
  poster: orNull(ref('Poster')),
  archive_url: {
    type: ['string', 'null'],
    description:
      'All objects of the job as one tar; null where they are not in the service’s own store, or not finished.',
  },
  retry_of: { type: ['integer', 'null'] },
  input_name: { ...text, description: 'What the source is called: an upload’s name, else the file’s in its address.' },
  queue_position: {
    type: ['integer', 'null'],
    description: `Queued jobs that stand before it; ${MAX_QUEUE_POSITION} = so many or more.`,
  },
  failed_starts: {
    type: ['object', 'null'],
    description: 'While the job waits because no transcoder could be started for it.',
    required: ['count', 'next_try_at'],
    properties: { count: { type: 'integer', description: 'In a row.' }, next_try_at: time },
  },
  waiting_for: {
    type: ['object', 'null'],
    description:
      'While the job waits for a source or a store that is away, or for whatever else ended its last attempt; `attempt.lost` has the same.',
    required: ['code', 'message', 'next_try_at'],
    properties: { code: text, message: text, next_try_at: time },
  },
  eta_seconds: { type: ['number', 'null'] },
  created_at: time,
  started_at: orNull(time),
  finished_at: orNull(time),
}

const orCount: Schema = { type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const key = {
  id: text,
  account: text,
  label: text,
  scopes: { type: 'array', items: { enum: ['jobs', 'admin'] } },
  requests_per_minute: { type: ['integer', 'null'], description: 'null = the default of the service.' },
  priority: { type: 'integer', minimum: -10, maximum: 10, description: 'Higher starts first.' },
  max_stored_upload_bytes: { ...orCount, description: 'null = no bound but the account’s.' },
  webhook_url: { type: ['string', 'null'], description: 'Of jobs that name none; answers leave its query out.' },
  created_at: time,
  last_used_at: orNull(time),
  revoked_at: orNull(time),
} as const satisfies Record<keyof Key, Schema>
const changeable = {
  label: { ...text, maxLength: 100 },
  requests_per_minute: { ...key.requests_per_minute, minimum: 1, maximum: 1_000_000 },
  priority: key.priority,
  max_stored_upload_bytes: key.max_stored_upload_bytes,
  webhook_url: key.webhook_url,
} satisfies Record<keyof KeyTerms, Schema>
const CHANGEABLE = Object.keys(changeable) as (keyof typeof changeable)[]
const id: Schema = { type: 'integer', minimum: 1 }
const base = { _auto_generated_id_: id, job_id: text, cloud: text, updated_at: time, status: ref('Status') }

const presetName: Schema = {
  ...text,
  pattern: `^${PRESETS.name_pattern}$`,
  not: { pattern: String.raw`^\s*([Pp][Rr][Ee]_|$)` },
  description: 'Not like an id, and not that of a built-in preset.',
}
const preset: Record<keyof Preset, Schema> = {
  preset_id: text,
  name: text,
  description: text,
  built_in: { type: 'boolean', description: 'Comes with the service; cannot be changed.' },
  job: ref('PresetJob'),
  updated_at: { ...orNull(time), description: 'null for built-in presets.' },
}

const uploadToken: Record<keyof UploadToken, Schema> = {
  token_id: { ...text, description: 'What uploads are listed by, and the token is revoked by. Opens nothing.' },
  token: { ...text, description: 'In this answer and in no other.' },
  upload_url: { ...text, description: 'Where the page sends the file.' },
  name: text,
  max_bytes: { ...count, description: 'Of each file.' },
  max_files: count,
  expires_at: time,
}
const newUploadToken: Record<string, Schema> = {
  max_bytes: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_RESUMABLE_BYTES,
    default: MAX_RESUMABLE_BYTES,
    description: 'Of each file.',
  },
  max_files: { type: 'integer', ...UPLOAD_TOKENS.max_files },
  expires_in_seconds: { type: 'integer', ...UPLOAD_TOKENS.expires_in_seconds },
  name: {
    ...text,
    pattern: `^${UPLOAD_TOKENS.name_pattern}$`,
    default: '',
    description: 'Yours, such as the visitor’s id: shown with each upload.',
  },
}

const secretFacts = { rotated_at: orNull(time), previous_valid_until: orNull(time) }
const quotas = {
  max_active_jobs: { ...orCount, maximum: 1_000_000, description: 'null = the default of the service.' },
  max_running: { ...orCount, maximum: 1_000_000, description: 'null = no bound of its own.' },
  max_stored_upload_bytes: { ...orCount, description: 'null = the default of the service.' },
  weight: { type: 'number', minimum: 0.01, maximum: 100, default: 1 },
}

export const schemas: Record<string, Schema> = {
  ...requestSchemas,
  Error: answer({
    error: answer(
      {
        code: { enum: Object.keys(requestErrors) },
        message: text,
        field: text,
        details: {
          description: 'Of a request with mistakes: all of them. Otherwise facts that belong to the code.',
          anyOf: [{ type: 'array', items: ref('Problem') }, { type: 'object' }],
        },
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
  MediaFacts: answer(mediaFacts, ['renditions']),
  Source: answer(source),
  Poster: answer(poster),
  Status: answer(status),
  Created: answer<keyof Created>(
    {
      ...base,
      dry_run: { type: 'boolean', enum: [true] },
      retry_of: id,
      warnings: { type: 'array', items: ref('Warning') },
    },
    ['dry_run', 'retry_of'],
  ),
  JobRead: answer<keyof JobRead>({
    status: ref('Status'),
    config: { type: 'object', description: 'As stored: defaults applied, no secret.' },
  }),
  JobLog: answer<keyof JobLog>({
    attempts: {
      type: 'array',
      description: 'The newest of them, in their order.',
      items: answer<keyof JobLog['attempts'][number]>({
        attempt: id,
        engine: { ...orText, description: 'Version of the ffmpeg that ran.' },
        commands: {
          type: 'array',
          items: answer({
            purpose: text,
            command: {
              ...text,
              description: 'As a shell takes it; the source is an address on the transcoder itself.',
            },
            seconds: { type: 'number', minimum: 0 },
            exit_code: { type: ['integer', 'null'], description: 'null: it was ended by a signal.' },
          }),
        },
        lines: {
          type: 'array',
          items: answer({ time, level: { enum: ['info', 'warn', 'error'] }, message: text }),
        },
      }),
    },
  }),
  JobList: answer<keyof JobList>({
    jobs: {
      type: 'array',
      items: answer<keyof ListedJob>({
        ...base,
        input: text,
        metadata: {
          type: 'object',
          additionalProperties: text,
          description: 'As the job was created with; {} where it was without.',
        },
      }),
    },
    next_cursor: { type: ['string', 'null'] },
  }),
  NewShare: {
    ...answer(
      {
        title: {
          ...text,
          minLength: 1,
          maxLength: SHARE_TITLE_LENGTH,
          description: 'Shown on the page. Default: the name of the source.',
        },
        expires_in_seconds: {
          type: 'integer',
          ...SHARE_SECONDS,
          default: SHARE_SECONDS.maximum,
          description: 'A share ends earlier where its outputs are removed earlier.',
        },
      },
      ['title', 'expires_in_seconds'],
    ),
    additionalProperties: false,
  },
  Share: answer<keyof Share>({
    share_id: text,
    url: { ...text, description: 'The page. Works without a key until `expires_at`, or until it is revoked.' },
    embed_url: { ...text, description: 'A bare player, for frames of other pages.' },
    embed_html: { ...text, description: 'An iframe of it, ready to paste.' },
    title: text,
    created_at: time,
    expires_at: time,
  }),
  ShareList: answer<keyof ShareList>({ shares: { type: 'array', items: ref('Share') } }),
  SharedMedia: answer<keyof SharedMedia>({
    title: text,
    poster_url: { type: ['string', 'null'] },
    aspect_ratio: { type: ['number', 'null'], description: 'Width over height of the video as it is shown.' },
    duration_seconds: { type: ['number', 'null'] },
    sources: {
      type: 'array',
      items: answer({ kind: { enum: ['hls', 'dash', 'file'] }, url: text, content_type: text, label: text }),
      description: 'What a browser can play, the best first.',
    },
    storyboard_url: { type: ['string', 'null'], description: 'WebVTT with the thumbnails of the seek bar.' },
    captions: {
      type: 'array',
      items: answer({ url: text, language: { type: ['string', 'null'] }, label: text }),
    },
    downloads: {
      type: 'array',
      items: answer({ url: text, name: text, size: count, content_type: text }),
      description: 'Outputs that are whole files, also those that browsers cannot play.',
    },
    expires_at: { ...time, description: 'When the page ends.' },
    addresses_expire_at: { ...time, description: 'The addresses work until then; read this again for new ones.' },
  }),
  Preset: answer(preset),
  PresetList: answer<keyof PresetList>({
    presets: { type: 'array', items: ref('Preset'), description: 'Built-in ones first.' },
  }),
  NewPreset: {
    ...answer(
      {
        name: presetName,
        description: { ...text, maxLength: PRESETS.description_characters, default: '' },
        job: ref('PresetJob'),
      },
      ['description'],
    ),
    additionalProperties: false,
  },
  Upload: answer<keyof Upload>({ uploaded_file_number: id, input: text, name: text, size: count, expires_at: time }),
  UploadToken: answer(uploadToken),
  NewUploadToken: {
    ...answer(newUploadToken, ['max_bytes', 'max_files', 'expires_in_seconds', 'name']),
    additionalProperties: false,
  },
  UploadList: answer<keyof UploadList>({
    uploads: {
      type: 'array',
      items: answer<keyof ListedUpload>({
        uploaded_file_number: id,
        input: text,
        name: text,
        content_type: text,
        size: { type: ['integer', 'null'], description: 'Bytes; null while a request of its own brings it.' },
        received: { type: ['integer', 'null'], description: 'Bytes of it that are stored.' },
        state: { enum: ['receiving', 'ready'] },
        token: {
          ...orNull(answer({ token_id: text, name: text })),
          description: 'The upload token that brought it; null = an API key did.',
        },
        created_at: time,
        expires_at: time,
      }),
    },
    next_cursor: { type: ['string', 'null'] },
  }),
  Retry: {
    ...answer(
      {
        cloud_credentials: {
          type: ['object', 'null'],
          properties: { input: ref('Credential'), output: orNull(ref('Credential')) },
          required: ['input'],
          description: 'Instead of those that are kept; needed 72 hours after the end.',
        },
        input: { type: ['string', 'null'], minLength: 1, maxLength: MAX_LENGTH.address },
        logo_url: { type: ['string', 'null'], maxLength: MAX_LENGTH.address },
        webhook_url: { type: ['string', 'null'], maxLength: MAX_LENGTH.address },
      },
      ['cloud_credentials', 'input', 'logo_url', 'webhook_url'],
    ),
    additionalProperties: false,
  },
  Events: answer({ events: { type: 'array', items: ref('Event') }, job_completed: { type: 'boolean' } }),
  Event: answer({
    id: { ...id, description: 'In the order in which they happened.' },
    type: z.toJSONSchema(publicEvent.shape.type) as Schema,
    at: time,
    attempt: orCount,
    slot: orCount,
    error: orNull(answer({ code: text, message: text })),
    message: text,
  }),
  Delivery: answer({
    id: text,
    event: { enum: ['job.completed', 'job.failed', 'job.cancelled'] },
    state: { enum: ['pending', 'delivered', 'failed'] },
    tries: count,
    created_at: time,
    next_try_at: orNull(time),
    attempts: {
      type: 'array',
      items: answer({ at: time, status: orCount, error: { type: ['string', 'null'] }, milliseconds: count }),
    },
  }),
  WebhookSecret: answer(secretFacts),
  NewWebhookSecret: answer({ secret: { ...text, description: 'In this answer and in no other.' }, ...secretFacts }),
  NewKey: {
    ...answer(
      {
        account: { ...text, pattern: '^[a-z0-9][a-z0-9-]{0,39}$', default: 'default' },
        scopes: { ...key.scopes, minItems: 1 },
        ...changeable,
      },
      ['account', 'scopes', ...CHANGEABLE],
    ),
    additionalProperties: false,
  },
  KeyChange: { ...answer(changeable, CHANGEABLE), additionalProperties: false },
  Quotas: {
    ...answer(quotas, ['max_active_jobs', 'max_running', 'max_stored_upload_bytes', 'weight']),
    additionalProperties: false,
  },
  Account: answer({ account: text, ...quotas }),
  VaultRotation: answer<keyof VaultRotation>({
    key_id: { ...text, description: 'The key that seals now.' },
    resealed: count,
    done: { type: 'boolean' },
    unreadable: { type: 'array', items: id, description: 'Jobs whose key is in the vault no more.' },
    unreadable_keys: { type: 'array', items: text, description: 'API keys whose webhook_url is lost in the same way.' },
    next: { ...count, description: 'The parameter `after` of the next call.' },
    next_key: { ...text, description: 'The parameter `after_key` of the next call.' },
  }),
  Limits: like(publishedLimits({ maxActiveJobs: 1, maxStoredUploadBytes: null, requestsPerMinute: null })),
  Key: answer(key),
  IssuedKey: answer<keyof IssuedKey>({ ...key, key: { ...text, description: 'In this answer and in no other.' } }),
  ReplacedKey: answer<keyof ReplacedKey>({
    ...key,
    key: { ...text, description: 'In this answer and in no other.' },
    warnings: { type: 'array', items: ref('Warning') },
  }),
  KeyList: answer({ keys: { type: 'array', items: ref('Key') } }),
  Diagnosis: answer<keyof Diagnosis>({
    at: time,
    checks: {
      type: 'array',
      items: answer<keyof Check>({
        name: text,
        verdict: { enum: ['ok', 'warning', 'fault', 'skipped'] },
        message: text,
        remedy: { type: ['string', 'null'], description: 'What to do about it.' },
        milliseconds: orCount,
      }),
    },
    migrations: answer({ expected: { type: 'array', items: text }, applied: { type: 'array', items: text } }),
    vault: answer({ key_ids: { type: 'array', items: text, description: 'The first seals.' } }),
    egress: answer({ policy: text, allow_private_hosts: { type: 'array', items: text } }),
    settings: answer<keyof Diagnosis['settings']>({
      base_url: { type: ['string', 'null'] },
      max_slots: count,
      lease_seconds: { type: 'number' },
      max_active_jobs: count,
      max_stored_upload_bytes: orCount,
      requests_per_minute: orCount,
      transcoders: { enum: ['local', 'containers'] },
    }),
    cron: answer({ last_ended_at: orNull(time) }),
    slots: {
      type: 'array',
      description: 'The first 32.',
      items: answer<keyof SlotFacts>({
        slot: count,
        busy: { type: 'boolean', description: 'A task has it.' },
        running: { type: ['boolean', 'null'], description: 'null = it could not be asked.' },
        transcoder: orNull(answer<keyof TranscoderFacts>({ state: text, version: text, ffmpeg: text })),
      }),
    },
  }),
  Health: answer({
    status: { enum: ['ok', 'degraded', 'not_ready'] },
    missing: { type: 'array', items: text },
    slots: count,
    starts_failing: {
      ...count,
      description: 'Jobs that wait because no transcoder could be started for them three times in a row or more.',
    },
    transcoders_silent: {
      ...count,
      description: 'Of TRANSCODER_URLS; 0 with containers, which start when they are needed.',
    },
    transcoders: { enum: ['local', 'containers'] },
    egress: text,
  }),
}
