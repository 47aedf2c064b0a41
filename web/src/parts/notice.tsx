// In charge of: messages in a frame: errors with what to do about them, warnings, and how a failure becomes one.
import type { ComponentChildren } from 'preact'
import { errorAdvice } from '../text/errorAdvice.ts'
import { ApiError } from '../api/api.ts'

export interface Failure {
  code: string
  message: string
}

export function asError(error: unknown): Failure {
  return error instanceof ApiError
    ? { code: error.code, message: error.message }
    : { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}

const marks = { error: '✕', warning: '!', good: '✓' } as const

export function Notice({ kind, children }: { kind: keyof typeof marks; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`}>
      <span class="mark" aria-hidden="true">
        {marks[kind]}
      </span>
      <div>{children}</div>
    </div>
  )
}

/** What went wrong, and what to do about it. */
export function ConnectionNotice({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const advice = errorAdvice(failure.code)
  return (
    <Notice kind="error">
      <p>
        <strong>{failure.message}</strong>
      </p>
      {advice === null ? null : <p>{advice}</p>}
      <p class="help">
        Code <code>{failure.code}</code>
      </p>
      {retry ? (
        <button type="button" onClick={retry}>
          Try again
        </button>
      ) : null}
    </Notice>
  )
}
