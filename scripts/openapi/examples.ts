// In charge of: an example of each answer and each error, made by the functions that make the real ones where possible.
// The tests run each command of the reference and compare the answers with these examples.
import { RETENTION_DAYS } from '#contract/limits.ts'
import { VERSION } from '#contract/version.ts'
import type { TranscoderList } from '#contract/api/administration.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import type { Preset, Share, UploadToken } from '#contract/api/answers.ts'
import type { Diagnosis } from '#contract/api/diagnosis.ts'
import type { RequestErrorCode } from '#contract/errorCodes.ts'
import { publicEvents } from '#contract/api/events.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { publishedLimits } from '#contract/api/publishedLimits.ts'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import { embedHtml, sharedMedia } from '#contract/api/sharedMedia.ts'
import { newJobFacts, publicStatus } from '#contract/api/publicStatus.ts'

const BASE = 'https://transcode.example.com'
const AT = '2026-11-21T10:00:00.000Z'
const later = (seconds: number): number => Date.parse(AT) + seconds * 1000
const iso = (seconds: number): string => new Date(later(seconds)).toISOString()
const JOB_ID = '6d2fc8ca-c647-47c3-930e-b50142758edc'

export const job = {
  input: '1',
  videoProfiles: [{ output: 'film-180.mp4', width: 0, height: 180, video_bitrate: 400, video_bitrate_mode: 'vbr' }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }],
  cloud_credentials: { input: { cloud_provider: 'file-upload' } },
}

const checked = validateJob(job, { baseUrl: BASE })
if (!checked.ok) throw new Error('the example is not accepted')
const { config } = checked

const facts = newJobFacts({
  jobId: JOB_ID,
  warnings: [],
  dryRun: false,
  retryOf: null,
  inputName: 'film.mp4',
  createdAt: later(0),
})
const waiting = publicStatus(facts)
const done = publicStatus({
  ...facts,
  job: 'completed',
  task: 'completed',
  progress: {
    phase: 'uploading',
    transcoded: 1,
    transcode_seconds: 3.3,
    transfer_seconds: 0.4,
    speed: 3.31,
    bytes_produced: 512_340,
    bytes_stored: 512_340,
    eta_seconds: null,
  },
  outputs: [
    {
      path: 'film-180.mp4',
      url: `${BASE}/o/1797857486.XgkImO5ks1uR3N8DM595BQfk5Wc8gFc4EDD2JWX9m1o/default/${JOB_ID}/film-180.mp4`,
      location: `vendor-store://out/default/${JOB_ID}/film-180.mp4`,
      size: 512_340,
      sha256: '0393b456a85cec9c84790fe2e360d8767cf1a4d6599ffef67781050aeeeaf2fd',
      content_type: 'video/mp4',
      profile: 0,
      role: 'media',
      media: {
        duration_seconds: 10,
        average_bitrate_kbps: 409.9,
        peak_bitrate_kbps: 512.3,
        video: {
          codec: 'h264',
          codec_string: 'avc1.64000d',
          width: 320,
          height: 180,
          display_aspect_ratio: '16:9',
          frame_rate: '25/1',
          frames_per_second: 25,
          scan: 'progressive',
          dynamic_range: 'sdr',
          bitrate_kbps: 279.2,
        },
        audio: [{ codec: 'aac', channels: 2, sample_rate: 48_000, bitrate_kbps: 128.1, language: null }],
        captions: [],
      },
    },
  ],
  source: {
    formats: ['mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2'],
    duration_seconds: 10,
    size_bytes: 2_104_467,
    bitrate_kbps: 1684,
    video: {
      codec: 'h264',
      width: 1280,
      height: 720,
      sample_aspect_ratio: '1:1',
      rotation: 0,
      frame_rate: '25/1',
      variable_frame_rate: false,
      scan: 'progressive',
      field_order: 'progressive',
      pixel_format: 'yuv420p',
      transfer: 'bt709',
      primaries: 'bt709',
      matrix: 'bt709',
      hdr: false,
      captions: [],
      has_captions: false,
    },
    audio: [
      {
        source_stream: 1,
        codec: 'aac',
        channels: 2,
        channel_layout: 'stereo',
        sample_rate: 48_000,
        language: null,
        dialnorm: null,
        duration_seconds: 10,
      },
    ],
    cues: null,
    other: [],
  },
  poster: {
    url: `${BASE}/p/1797897600.8Qw3nVb5xKc7RtYp2ZsLd6FgHj9mTe4uAi1oBvXyCWE/${JOB_ID}/1.jpg`,
    width: 640,
    height: 360,
  },
  archiveUrl: `${BASE}/a/1797857486.Jm0cGVtq1lX3oT7nKc5yE2rWd9uZb4sHf6iAv8gPQxM/default/${JOB_ID}/film.tar`,
  startedAt: later(0.4),
  finishedAt: later(4),
})

const common = { _auto_generated_id_: 1, job_id: JOB_ID, cloud: 'vendor-store' }
export const created = { ...common, updated_at: AT, status: waiting, warnings: [] }
export const retried = {
  ...created,
  _auto_generated_id_: 2,
  retry_of: 1,
  status: { ...waiting, retry_of: 1 },
}
export const jobRead = { status: done, config }
export const jobCancelled = {
  status: publicStatus({ ...facts, job: 'cancelled', task: 'cancelled', finishedAt: later(1) }),
  config,
}
export const jobLog = {
  attempts: [
    {
      attempt: 1,
      engine: '7.0',
      commands: [
        {
          purpose: 'encode',
          command: "ffmpeg -i 'http://loopback/***' -map 0:V:0 -c:v libx264 -b:v 400k -f mp4 file:out/0.mp4",
          seconds: 3.3,
          exit_code: 0,
        },
      ],
      lines: [{ time: iso(0.5), level: 'info', message: 'task accepted' }],
    },
  ],
}
export const jobList = {
  jobs: [{ ...common, updated_at: iso(4), input: config.input, status: done, metadata: {} }],
  next_cursor: null,
}
const SHARE_URL = `${BASE}/s/sh_9Vb2mKx4QwRt7ZpL.4sHf6iAv8gPQxMJm0cGVtq1lX3oT7nKc5yE2rWd9uZb`
export const newShare = { title: 'Film', expires_in_seconds: 604_800 }
export const share: Share = {
  share_id: 'sh_9Vb2mKx4QwRt7ZpL',
  has_password: false,
  url: SHARE_URL,
  embed_url: `${SHARE_URL}/embed`,
  embed_html: embedHtml(`${SHARE_URL}/embed`, 'Film', { width: 16, height: 9 }),
  title: 'Film',
  created_at: iso(60),
  expires_at: iso(60 + 604_800),
}
export const sharedMediaExample = sharedMedia(done, {
  title: 'Film',
  expires_at: share.expires_at,
  addresses_expire_at: iso(46_800),
})
export const events = {
  events: publicEvents([
    { type: 'job.created', at: later(0) },
    { type: 'attempt.started', at: later(0.4), attempt: 1, slot: 0 },
    { type: 'job.planned', at: later(0.6), attempt: 1 },
    { type: 'job.committing', at: later(3.9), attempt: 1 },
    { type: 'job.completed', at: later(4), attempt: 1 },
  ]),
  job_completed: true,
}

export const upload = {
  uploaded_file_number: 1,
  input: `${BASE}/uploads/1`,
  name: 'film.mp4',
  size: 3_220_812,
  expires_at: iso(7 * 86_400),
}
export const uploadList = {
  uploads: [
    {
      ...upload,
      content_type: 'video/mp4',
      received: 3_220_812,
      state: 'ready',
      token: null,
      last_job: null,
      created_at: AT,
    },
  ],
  next_cursor: null,
}

export const newUploadToken = { max_bytes: 2_000_000_000, expires_in_seconds: 3600, name: 'visitor 4711' }
export const uploadToken = {
  token_id: 'ut_b8Qm2kXh0TzE',
  token: 'ut_b8Qm2kXh0TzE.1797850800000.d0xQnZ2VhK8rYw1sJ5tBqUe7LmC3pGfXaN6iRzO4uTk',
  upload_url: `${BASE}/uploads`,
  name: 'visitor 4711',
  max_bytes: 2_000_000_000,
  max_files: 1,
  expires_at: iso(3600),
} satisfies UploadToken

export const newPreset = {
  name: 'Course videos',
  description: '720p with clear speech.',
  job: { videoProfiles: job.videoProfiles, audioProfiles: job.audioProfiles },
}
export const preset = {
  preset_id: 'pre_Q2b0vTn4kWzS',
  ...newPreset,
  built_in: false,
  updated_at: AT,
} satisfies Preset
export const presetList = { presets: [...builtInPresets, preset] }

export const delivery = {
  id: 'msg_0b1f4f0e-6f0c-4a53-8a52-6d4f3b1c7e21',
  event: 'job.completed',
  state: 'delivered',
  tries: 1,
  created_at: iso(4),
  next_try_at: null,
  attempts: [{ at: iso(4.2), status: 200, error: null, milliseconds: 118 }],
}
export const replayed = { ...delivery, state: 'pending', next_try_at: iso(60) }
export const secretFacts = { rotated_at: AT, previous_valid_until: iso(86_400) }
export const newSecret = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', ...secretFacts }

export const newKey = { account: 'me', label: 'first', scopes: ['jobs'] }
export const key = {
  id: 'sp_Rk3xN7dQe1Zw',
  ...newKey,
  requests_per_minute: null,
  priority: 0,
  max_stored_upload_bytes: null,
  webhook_url: null,
  created_at: AT,
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
}
export const keyChange = { label: 'first', webhook_url: null }
export const issuedKey = { ...key, key: `${key.id}.…` }
export const replacedKey = { ...issuedKey, warnings: [] }
export const quotas = { max_active_jobs: 100, max_running: 4, max_stored_upload_bytes: 1_000_000_000_000, weight: 1 }
export const spendCap = { spend_cap: 500, spend_webhook_url: 'https://example.com/spending' }
export const account = { account: 'me', ...quotas, ...spendCap }
const usageLines = [
  { item: 'source_hours', class: '', quantity: 2.5, unit_price: 0, currency: 'EUR', cost: 0 },
  { item: 'output_hours', class: '1080p h264', quantity: 2.5, unit_price: 0.9, currency: 'EUR', cost: 2.25 },
]
const accountUsage = { account: 'me', lines: usageLines, costs: [{ currency: 'EUR', amount: 2.25 }] }
export const usage = {
  month: '2026-11',
  ...accountUsage,
  spend_cap: { amount: 500, spent: 2.25, currency: 'EUR', resets_at: '2026-12-01T00:00:00.000Z' },
  notices: [],
  months: ['2026-11'],
}
export const usageOfAccounts = { month: '2026-11', accounts: [accountUsage], months: ['2026-11'] }
export const transcoders = {
  transcoders: [
    {
      id: 'encoder-1-8788',
      slot: 0,
      url: 'http://10.0.0.5:8788',
      state: 'ready',
      problem: null,
      version: VERSION,
      protocol: TASK_PROTOCOL,
      ffmpeg: '7.1',
      registered_at: AT,
      seen_at: iso(60),
      job: 42,
    },
  ],
  protocol: TASK_PROTOCOL,
} satisfies TranscoderList
export const rotation = {
  key_id: 'k2',
  resealed: 12,
  done: true,
  unreadable: [],
  unreadable_keys: [],
  next: 40,
  next_key: key.id,
}
export const health = {
  status: 'ok',
  missing: [],
  version: VERSION,
  commit: '0123456789ab',
  slots: 4,
  starts_failing: 0,
  transcoders_silent: 0,
  transcoders: 'containers',
  egress: 'platform',
}
export const diagnosis: Diagnosis = {
  at: AT,
  checks: [
    {
      name: 'bucket',
      verdict: 'ok',
      message: 'R2 stored, returned and deleted an object.',
      remedy: null,
      milliseconds: 31,
    },
    {
      name: 'cron',
      verdict: 'fault',
      message: 'The reconciler has never completed a run.',
      remedy: 'Check [triggers] crons in wrangler.toml: ["* * * * *"].',
      milliseconds: 0,
    },
  ],
  migrations: { expected: ['0001_init.sql'], applied: ['0001_init.sql'] },
  vault: { key_ids: ['k1'] },
  egress: { policy: 'platform', allow_private_hosts: [] },
  settings: {
    base_url: null,
    max_slots: 4,
    lease_seconds: 30,
    max_active_jobs: 10_000,
    max_stored_upload_bytes: null,
    requests_per_minute: null,
    transcoders: 'containers',
  },
  cron: { last_ended_at: null },
  slots: [{ slot: 0, busy: false, running: true, transcoder: { state: 'idle', version: '0.1.0', ffmpeg: '7.1' } }],
}
export const limits: Record<string, unknown> = publishedLimits({
  maxActiveJobs: 10_000,
  maxStoredUploadBytes: null,
  maxSourceSeconds: null,
  requestsPerMinute: null,
  retentionDays: RETENTION_DAYS,
})
export const metrics = `# HELP splicepoint_slots Transcoders that can run at the same time; of registered ones, those that can take a job.
# TYPE splicepoint_slots gauge
splicepoint_slots 4
# HELP splicepoint_jobs_ended_total Jobs that ended, by kind, state and error code.
# TYPE splicepoint_jobs_ended_total counter
splicepoint_jobs_ended_total{kind="transcode",state="completed",code=""} 1042
`

interface ErrorExample {
  message: string
  field?: string
  details?: unknown
}

const refused = validateJob({ ...job, video_codec: 'vp9' }, { baseUrl: BASE })
const problems = refused.ok ? [] : refused.problems

/** An example of every error code; the type ensures that none is missing. */
export const errors: Record<RequestErrorCode, ErrorExample> = {
  invalid_request: { message: problems[0]?.message ?? '', field: 'video_codec', details: problems },
  unauthorized: { message: 'Send your API key as the user name of HTTP Basic authentication (curl: -u YOUR_KEY:).' },
  spend_cap_reached: {
    message:
      'This account has spent 500.12 EUR this month, and its spend cap is 500.00 EUR. The next month begins at 2026-12-01T00:00:00.000Z; an administrator can raise the cap. Accepted jobs continue, and dry runs are allowed.',
    details: {
      spend_cap: 500,
      spent: 500.12,
      expected: 0,
      unfinished_jobs: 0,
      currency: 'EUR',
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  },
  forbidden: { message: 'This key is not permitted to do that: it lacks the scope "admin".' },
  not_found: { message: 'Not found for this account.' },
  method_not_allowed: { message: 'This route accepts GET, HEAD, POST.' },
  conflict: { message: 'The upload has 0 bytes; this chunk starts at 7.', field: 'Upload-Offset' },
  idempotency_conflict: {
    message: 'This Idempotency-Key was already used with a different body or a different dry_run.',
    field: 'Idempotency-Key',
  },
  job_finished: { message: 'The job has already ended.' },
  job_active: { message: 'The job has not ended yet. Cancel it first, or wait.' },
  not_shareable: { message: 'Only a completed job can be shared.' },
  credentials_expired: {
    message:
      'The job ended more than 72 hours ago, so its credentials are no longer stored. Send cloud_credentials with the retry.',
    field: 'cloud_credentials',
  },
  stale_attempt: { message: 'Another attempt is current, or the job has ended: stop.' },
  gone: { message: 'This upload has expired or was deleted. Start a new one.' },
  length_required: {
    message:
      'An upload needs a Content-Length header. Send a file of known size instead of a chunked body (curl: --data-binary @file or -F file=@file).',
  },
  unsupported_version: {
    message: 'This service supports tus 1.0.0: send Tus-Resumable: 1.0.0.',
    field: 'Tus-Resumable',
  },
  too_large: { message: 'The body may have at most 262144 bytes.' },
  unsupported_media_type: {
    message: 'The body must be JSON: send the header "Content-Type: application/json" (curl: -H or --json).',
  },
  range_not_satisfiable: { message: 'The object has 512340 bytes.' },
  locked: { message: 'Another request is writing to this upload.' },
  checksum_mismatch: { message: 'The chunk does not match its checksum. None of it was kept.' },
  rate_limited: { message: 'This key is limited to 1 requests per minute.', details: { requests_per_minute: 1 } },
  quota_exceeded: { message: 'This account has reached its maximum number of active jobs.' },
  internal: { message: 'Something went wrong on our side.' },
  unavailable: { message: 'The service is busy. Try again in a moment.' },
}
