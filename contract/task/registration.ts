// In charge of: the messages with which a transcoder on another machine registers itself, and their times.
// Not in charge of: what either side does with them (worker/taskApi/registerTranscoder.ts, transcoder/registration/).
import * as z from 'zod/mini'

/** A transcoder repeats its registration this often. */
export const REGISTRATION_MS = 10_000
/** After this time without a registration, a transcoder gets no new attempt. */
export const SILENT_MS = 30_000
/** After this time it is no longer listed, and its slot may become another's. */
export const FORGOTTEN_MS = 15 * 60_000

/** As long as `openssl rand -hex 16` makes them; generated ones have 43 characters. */
export const MIN_TRANSCODER_SECRET = 32

export const TRANSCODER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function registrationPath(id: string): string {
  return `/task/transcoders/${id}`
}

const ORIGIN = /^(https?):\/\/(\[[\da-f:.]+\]|[a-z\d](?:[a-z\d._-]*[a-z\d])?)(:\d{1,5})?\/?$/i

/** http or https, a host and perhaps a port, and nothing else: no credentials, no path. Null for anything else. */
export function transcoderOrigin(text: string): string | null {
  const [, scheme = '', host = '', port = ''] = ORIGIN.exec(text) ?? []
  return host === '' || Number(port.slice(1)) > 65_535 ? null : `${scheme}://${host}${port}`.toLowerCase()
}

/** After the version of an ffmpeg, in /health and in the diagnosis: npm's build is not updated (docs/security.md). */
export const WITHOUT_FIXES = '(npm, without security fixes)'

/** The body of `PUT /task/transcoders/:id`. Members that are not known are ignored, so that versions may differ. */
export const registrationSchema = z.object({
  /** Random, of the process. Two processes with one id are told apart by it. */
  instance: z.string().check(z.regex(/^[A-Za-z0-9_-]{16,64}$/)),
  /** Where the service reaches the transcoder. */
  url: z.string().check(
    z.maxLength(300),
    z.refine((text) => transcoderOrigin(text) !== null, 'an http or https address without a path'),
  ),
  /** TASK_PROTOCOL of the transcoder. */
  protocol: z.number().check(z.int(), z.positive()),
  version: z.string().check(z.minLength(1), z.maxLength(64)),
  ffmpeg: z.nullable(z.string().check(z.maxLength(200))),
  /** ready: it accepts an attempt, or works on one. draining: it ends after the one that it has. */
  state: z.enum(['ready', 'draining']),
})
export type Registration = z.infer<typeof registrationSchema>

/** The body of `DELETE /task/transcoders/:id`: only the process that registered is removed. */
export const deregistrationSchema = z.object({ instance: z.string().check(z.maxLength(64)) })

export type RegistrationState = Registration['state'] | 'unreachable' | 'incompatible'

export interface RegistrationReply {
  slot: number
  /** unreachable, incompatible: `problem` says why, and the transcoder gets no attempt. */
  state: RegistrationState
  problem: string | null
  /** When to register again. */
  next_ms: number
}
