// In charge of: the shapes of answers as they go over the wire, one place for the Worker that makes them and for the client and
// the dashboard that read them. The OpenAPI document calls them the same (scripts/openapi/answerSchemas.ts).
// Not in charge of: a job's status (status.ts), its events (events.ts), what is published as limits (limits.ts).
import type { Warning } from '../errorCodes.ts'
import type { JobConfig } from '../job/validateJob.ts'
import type { PublicStatus } from './status.ts'

/** What every answer that names a job says of it. Times are ISO 8601, here and below. */
interface NamedJob {
  _auto_generated_id_: number
  job_id: string
  /** The kind of store that its outputs go to. */
  cloud: string
  updated_at: string
  status: PublicStatus
}

export interface Created extends NamedJob {
  dry_run?: true
  /** Number of the job that it repeats. */
  retry_of?: number
  warnings: Warning[]
}

export interface JobRead {
  status: PublicStatus
  config: JobConfig
}

export interface ListedJob extends NamedJob {
  input: string
  /** As the job was created with; {} where it was without. */
  metadata: Record<string, string>
}

export interface JobList {
  jobs: ListedJob[]
  /** null = these were the last. */
  next_cursor: string | null
}

/** A page that plays a job's outputs for whoever has its address. */
export interface Share {
  share_id: string
  /** The page. Its address works without a key, until `expires_at` or until it is revoked. */
  url: string
  /** The same as a bare player, to be framed by other pages. */
  embed_url: string
  /** An iframe of it, ready to paste. */
  embed_html: string
  title: string
  created_at: string
  expires_at: string
}

export interface ShareList {
  shares: Share[]
}

/** What the share page reads: `GET /s/<token>/data`. All addresses are signed and need no key. */
export interface SharedMedia {
  title: string
  poster_url: string | null
  /** Width over height of the video as it is shown, 1.7778; null where there is none. */
  aspect_ratio: number | null
  duration_seconds: number | null
  /** What can be played, the best for a browser first. */
  sources: { kind: 'hls' | 'dash' | 'file'; url: string; content_type: string; label: string }[]
  /** WebVTT with the little pictures of the seek bar; null where the job made none. */
  storyboard_url: string | null
  captions: { url: string; language: string | null; label: string }[]
  /** Outputs that are whole files, also those that a browser cannot play. */
  downloads: { url: string; name: string; size: number; content_type: string }[]
  /** When the page ends. */
  expires_at: string
  /** The addresses above work until then; read this again for new ones. */
  addresses_expire_at: string
}

/** Leave to upload, for a page that must not know an API key. The token is in this answer and in no other. */
export interface UploadToken {
  /** What uploads are listed by (`GET /uploads?token=`), and the token is revoked by. Opens nothing. */
  token_id: string
  token: string
  /** Where to upload to: raw body, multipart/form-data or tus, with `Authorization: Bearer <token>`. */
  upload_url: string
  /** The issuer's own, shown with each upload. */
  name: string
  /** Of each file. */
  max_bytes: number
  max_files: number
  expires_at: string
}

/** A job without its source and credentials, by name. */
export interface Preset {
  preset_id: string
  name: string
  description: string
  /** Comes with the service; cannot be changed. */
  built_in: boolean
  /** Members of a job's body, as POST /api/v0/job takes them. */
  job: Record<string, unknown>
  /** null for those of the service. */
  updated_at: string | null
}

export interface PresetList {
  presets: Preset[]
}

/** What the transcoder did, attempt by attempt: for the one whose job it is. Nothing in it is a secret. */
export interface JobLog {
  attempts: {
    attempt: number
    /** The ffmpeg that ran, as it calls itself. */
    engine: string | null
    /** Each run of ffmpeg, its arguments as a shell would take them. The source is an address on the transcoder's loopback. */
    commands: { purpose: string; command: string; seconds: number; exit_code: number | null }[]
    lines: { time: string; level: 'info' | 'warn' | 'error'; message: string }[]
  }[]
}

interface NamedUpload {
  uploaded_file_number: number
  /** What a job names as its input. */
  input: string
  name: string
  expires_at: string
}

/** `size` in bytes. */
export interface Upload extends NamedUpload {
  size: number
}

export interface ListedUpload extends NamedUpload {
  content_type: string
  /** Bytes; null while one request brings it. */
  size: number | null
  received: number | null
  state: 'receiving' | 'ready'
  /** The upload token that brought it; null = an API key did. */
  token: { token_id: string; name: string } | null
  created_at: string
}

export interface UploadList {
  uploads: ListedUpload[]
  next_cursor: string | null
}

/** What of a key may be changed after it was issued. */
export interface KeyTerms {
  label: string
  /** null = the default of the service. */
  requests_per_minute: number | null
  /** -10 to 10; higher starts first. */
  priority: number
  /** null = no bound but the account's. */
  max_stored_upload_bytes: number | null
  /** Of jobs that name none. Answers leave its query out. */
  webhook_url: string | null
}

export interface Key extends KeyTerms {
  id: string
  account: string
  scopes: string[]
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}

/** The key itself is in this answer and in no other. */
export interface IssuedKey extends Key {
  key: string
}

export interface ReplacedKey extends IssuedKey {
  /** What the key before had and this one has not. */
  warnings: Warning[]
}

/** One batch of sealing again what older keys of the ring sealed. */
export interface VaultRotation {
  /** Id of the key that seals now. */
  key_id: string
  resealed: number
  /** Whether nothing is left behind `next` and `next_key` that another key sealed. */
  done: boolean
  /** Jobs whose key is in the ring no more: their credentials are lost already. */
  unreadable: number[]
  /** API keys whose webhook_url is lost in the same way. */
  unreadable_keys: string[]
  /** To be given to the next call: the last job and the last API key that were looked at. */
  next: number
  next_key: string
}
