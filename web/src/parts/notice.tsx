// In charge of: message boxes: errors with advice, and warnings.
import type { ComponentChildren } from 'preact'
import type { Failure } from '../api/api.ts'

const marks = { error: '✕', warning: '!', good: '✓' } as const

export function Notice({ kind, children }: { kind: keyof typeof marks; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`}>
      <strong aria-hidden="true">{marks[kind]}</strong>
      <div class="stack tight">{children}</div>
    </div>
  )
}

/** The error message, and what to do. */
export function ConnectionNotice({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const { message, advice, docs, code } = failure
  return (
    <Notice kind="error">
      <p>
        <strong>{message}</strong>
      </p>
      {advice === undefined ? null : <p>{advice}</p>}
      <p class="help">{docs === undefined ? <code>{code}</code> : <a href={docs}>About {code}</a>}</p>
      {retry ? (
        <button type="button" onClick={retry}>
          Try again
        </button>
      ) : null}
    </Notice>
  )
}
