// In charge of: what `POST /api/v0/diagnosis` tells an administrator of a running service: whether each part of it was found to
// work, and what to do where it does not. One shape for the Worker that makes it and the command that shows it.
// Not in charge of: finding out (worker/diagnosis/), what only a client can see (cli/doctor/).

/** `warning`: it works, and probably not as it was meant. `skipped`: nobody looked, and the message says why. */
export type Verdict = 'ok' | 'warning' | 'fault' | 'skipped'

export interface Check {
  name: string
  verdict: Verdict
  /** What was found. Never a secret. */
  message: string
  /** What to do about it; null where there is nothing to be done. */
  remedy: string | null
  /** How long it took; null where that tells nothing. */
  milliseconds: number | null
}

/** What a transcoder says of itself at its own GET /health. */
export interface TranscoderFacts {
  state: string
  version: string
  ffmpeg: string
}

export interface SlotFacts {
  slot: number
  /** A task has it. */
  busy: boolean
  /** null = could not be asked. A container that does not run starts with the next job. */
  running: boolean | null
  /** Of one that answers. */
  transcoder: TranscoderFacts | null
}

export interface Diagnosis {
  at: string
  checks: Check[]
  migrations: { expected: string[]; applied: string[] }
  vault: { key_ids: string[] }
  egress: { policy: string; allow_private_hosts: string[] }
  settings: {
    base_url: string | null
    max_slots: number
    lease_seconds: number
    max_active_jobs: number
    max_stored_upload_bytes: number | null
    requests_per_minute: number | null
    transcoders: 'local' | 'containers'
  }
  cron: { last_ended_at: string | null }
  /** The first of them: at most 32. */
  slots: SlotFacts[]
}

/** A cron that rings every minute is late after this. */
export const CRON_LATE_MS = 3 * 60_000
