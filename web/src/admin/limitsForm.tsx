// In charge of: a form about a key or an account: its fields, sending them, and the service's error message at the
// field that caused it.
// Not in charge of: which fields there are (keyLimits.ts).
import { useRef, useState } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { ApiError, asError, type Failure } from '../api/api.ts'
import { problemAt, withMember } from '../form/model/formBody.ts'
import { Fields } from '../form/field.tsx'
import type { FieldInfo } from '../form/model/schema.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { expiry, LIFETIMES, SCOPES, labelledProblem, type FormValues } from './keyLimits.ts'

const OFFERED = { scopes: SCOPES, [expiry.name]: LIFETIMES }

interface TermsFormProps {
  name: string
  initial: FormValues
  first: readonly FieldInfo[]
  /** Collapsed at first. */
  more?: { title: string; fields: readonly FieldInfo[] }
  action: string
  send: (typed: FormValues) => Promise<void>
  onCancel: () => void
}

export function LimitsForm({ name, initial, first, more, action, send, onCancel }: TermsFormProps) {
  const [typed, setTyped] = useState(initial)
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const infos = [...first, ...(more?.fields ?? [])]

  const submit = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    setProblems([])
    try {
      await send(typed)
    } catch (error) {
      const found = error instanceof ApiError ? error.problems : []
      const placed = infos.flatMap((info) => {
        const problem = problemAt(found, info.name)
        return problem ? [labelledProblem(problem, info)] : []
      })
      setProblems(placed)
      if (placed.length === 0) setFailure(asError(error))
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    } finally {
      setBusy(false)
    }
  }
  const fields = (of: readonly FieldInfo[]) => (
    <Fields
      infos={of}
      members={typed}
      problems={problems}
      onChange={(member, value) => setTyped((before) => withMember(before, member, value))}
      options={OFFERED}
    />
  )
  return (
    <form
      class="stack loose"
      ref={form}
      noValidate
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {fields(first)}
      {more ? (
        <details class="group" open={more.fields.some((info) => problemAt(problems, info.name)) || undefined}>
          <summary>{more.title}</summary>
          {fields(more.fields)}
        </details>
      ) : null}
      <div aria-live="polite">{failure ? <ConnectionNotice failure={failure} /> : null}</div>
      <div class="line actions">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {action}
        </button>
      </div>
    </form>
  )
}
