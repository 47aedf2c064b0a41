// In charge of: the reasons for which a run is aborted, and converting any thrown value into the error sent to the
// Worker.
// Not in charge of: the error of a task (contract/taskError.ts), sending it (runTask.ts).
import type { JobError } from '#contract/errors.ts'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'
import { EngineError, type EngineReason } from './ffmpeg/engineError.ts'

/** The task API answered that this attempt is no longer the current one: stop at once and report nothing more. */
export class StaleAttempt extends Error {
  constructor(message = 'This attempt is no longer the current one.') {
    super(message)
    this.name = 'StaleAttempt'
  }
}

/** Why a run is ended from outside. None of these is an error of the job. */
export type AbortKind = 'cancelled' | 'interrupted' | 'stopped' | 'heartbeat_lost'

/**
 * cancelled: by the client; interrupted: the process ends; stopped: a newer attempt exists; heartbeat_lost: no heartbeat
 * was answered for too long.
 */
export class AttemptAbort extends Error {
  readonly kind: AbortKind
  /** For the owner of the job: why an interrupted run could not finish. */
  readonly why: string | undefined
  constructor(kind: AbortKind, why?: string) {
    super(`The run was ${kind}.`)
    this.name = 'Halt'
    this.kind = kind
    this.why = why
  }
}

/** Removes secrets, loopback addresses and machine paths from a message: output of ffmpeg contains all three. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets) if (secret.length >= 6) clean = clean.replaceAll(secret, '***')
  return clean
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[^\s'"]*/g, '[local]')
    .replaceAll(/(?:file:|(?<![\w.:/]))\/(?:[^\s'"/:)]+\/)+[^\s'":)]*/g, '[path]')
    .slice(0, 2000)
}

function redactValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, secrets)
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, secrets))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, redactValue(entry, secrets)]))
  return value
}

const engineCodes: Record<EngineReason, JobErrorCode> = {
  killed: 'encoder_killed',
  output_too_large: 'output_too_large',
  output_broken: 'encoder_failed',
}

/** The error that is sent to the Worker for any thrown value. Unknown ones become `internal`. */
export function toJobError(thrown: unknown, secrets: readonly string[] = []): JobError {
  const error = thrown instanceof EngineError ? new TaskError(engineCodes[thrown.reason], thrown.message) : thrown
  if (error instanceof TaskError) {
    return {
      code: error.code,
      message: redactText(error.message, secrets),
      ...(error.field === undefined ? {} : { field: error.field }),
      ...(error.details === undefined
        ? {}
        : { details: redactValue(error.details, secrets) as Record<string, unknown> }),
    }
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: 'internal',
    message: `The transcoder met an unexpected problem: ${redactText(text, secrets).slice(0, 500)}`,
  }
}
