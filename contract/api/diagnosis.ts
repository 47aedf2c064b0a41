// In charge of: the schema of `POST /api/v0/diagnosis`: for each part of the service whether it works, and what to do
// if not.
// Not in charge of: running the checks (worker/diagnosis/), checks from a client's side (cli/doctor/). The service
// imports only the types.
import * as z from 'zod'
import { count, time } from '../schemaParts.ts'

const verdict = z.enum(['ok', 'warning', 'fault', 'skipped'])
/** `warning`: it works, but probably not as intended. `skipped`: it was not checked; the message gives the reason. */
export type CheckStatus = z.infer<typeof verdict>

const check = z.object({
  name: z.string(),
  verdict,
  message: z.string().describe('The finding. It contains no secrets.'),
  remedy: z.string().nullable().describe('How to fix it.'),
  milliseconds: count.nullable().describe('How long the check took; null if that is not meaningful.'),
})
export type Check = z.infer<typeof check>

/** What a transcoder reports at its own GET /health. */
const transcoderFacts = z.object({ state: z.string(), version: z.string(), ffmpeg: z.string() })
export type TranscoderFacts = z.infer<typeof transcoderFacts>

const slotFacts = z.object({
  slot: count,
  busy: z.boolean().describe('Whether a task is assigned to it.'),
  // A stopped container starts with the next job.
  running: z.boolean().nullable().describe('null = it did not answer.'),
  transcoder: transcoderFacts.nullable().describe('Version of a transcoder that answered.'),
})
export type SlotFacts = z.infer<typeof slotFacts>

export const diagnosis = z.object({
  at: time,
  checks: z.array(check),
  migrations: z.object({ expected: z.array(z.string()), applied: z.array(z.string()) }),
  vault: z.object({ key_ids: z.array(z.string()).describe('Ids of the keys; the first one encrypts.') }),
  egress: z.object({ policy: z.string(), allow_private_hosts: z.array(z.string()) }),
  settings: z.object({
    base_url: z.string().nullable(),
    max_slots: count,
    lease_seconds: z.number(),
    max_active_jobs: count,
    max_stored_upload_bytes: count.nullable(),
    requests_per_minute: count.nullable(),
    transcoders: z.enum(['local', 'registered', 'containers']),
  }),
  cron: z.object({ last_ended_at: time.nullable() }),
  slots: z.array(slotFacts).describe('At most 32.'),
})
export type Diagnosis = z.infer<typeof diagnosis>
