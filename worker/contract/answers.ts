// In charge of: the shapes of answers as they go over the wire, one place for the Worker that makes them and for the client and
// the dashboard that read them. The OpenAPI document calls them the same (scripts/openapi/schemas.ts).
// Not in charge of: a job's status (status.ts), its events (events.ts), what is published as limits (limits.ts).
import type { Warning } from './errors.ts'
import type { JobConfig } from './job.ts'
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
}

export interface JobList {
  jobs: ListedJob[]
  /** null = these were the last. */
  next_cursor: string | null
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
