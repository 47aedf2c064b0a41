// In charge of: message boxes: errors with advice, and warnings.
import type { ComponentChildren } from 'preact'
import { errorAdvice } from '../text/errorAdvice.ts'
import type { Failure } from '../api/api.ts'

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

/** The error message, and advice. */
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
