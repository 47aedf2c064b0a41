// In charge of: a form about a key: its fields, sending them, and what the service has against them, beside the field it means.
// Not in charge of: what the fields are (terms.ts).
import { useRef, useState } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { ApiError } from '../api.ts'
import { problemAt, withMember } from '../form/body.ts'
import { Fields } from '../form/field.tsx'
import type { FieldInfo } from '../form/schema.ts'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { boundsOf, SCOPES, type Typed } from './terms.ts'

const OFFERED = { scopes: SCOPES }

interface TermsFormProps {
  name: string
  class: string
  initial: Typed
  first: readonly FieldInfo[]
  /** Whether the bounds are folded away at first. */
  folded: boolean
  action: string
  /** The form is emptied when it has resolved. */
  send: (typed: Typed) => Promise<void>
  onCancel?: () => void
}

export function TermsForm({ name, class: looks, initial, first, folded, action, send, onCancel }: TermsFormProps) {
  const [typed, setTyped] = useState(initial)
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const bounds = boundsOf(typed)

  const submit = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    setProblems([])
    try {
      await send(typed)
      setTyped(initial)
    } catch (error) {
      const found = error instanceof ApiError ? error.problems : []
      setProblems(found)
      if (![...first, ...bounds].some((info) => problemAt(found, info.name))) setFailure(asError(error))
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    } finally {
      setBusy(false)
    }
  }
  const fields = (infos: readonly FieldInfo[]) => (
    <Fields
      infos={infos}
      members={typed}
      problems={problems}
      onChange={(member, value) => setTyped((before) => withMember(before, member, value))}
      offered={OFFERED}
    />
  )
  return (
    <form
      class={looks}
      ref={form}
      noValidate
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {fields(folded ? first : [...first, ...bounds])}
      {folded ? (
        <details class="group" open={bounds.some((info) => problemAt(problems, info.name)) || undefined}>
          <summary>
            Bounds and webhook <span class="help">{bounds.map((info) => info.label).join(', ')}</span>
          </summary>
          {fields(bounds)}
        </details>
      ) : null}
      <div aria-live="polite">{failure ? <Trouble failure={failure} /> : null}</div>
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {action}
        </button>
        {onCancel ? (
          <button type="button" onClick={onCancel}>
            Leave it
          </button>
        ) : null}
      </div>
    </form>
  )
}
