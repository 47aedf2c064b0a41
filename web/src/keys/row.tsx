// In charge of: one key: whose it is, what it may do, changing and revoking it.
import { useRef, useState } from 'preact/hooks'
import type { Key } from '#contract/answers.ts'
import { changeKey } from '../api.ts'
import { ago, moment } from '../words.ts'
import { changeOf, label, terms, termsOf } from './terms.ts'
import { TermsForm } from './terms-form.tsx'

interface RowProps {
  of: Key
  onChanged: () => Promise<void>
  onRevoke: () => void
}

export function Row({ of: key, onChanged, onRevoke }: RowProps) {
  const [changing, setChanging] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = (): void => {
    setChanging(false)
    button.current?.focus()
  }
  const name = <span class="hidden"> {key.label || key.id}</span>
  const unusual = terms(key)
  return (
    <li class={key.revoked_at === null ? 'row' : 'row over'}>
      <div class="what">
        <strong>{key.label || 'Without a label'}</strong> <code>{key.id}</code>
        <div class="help">
          Account {key.account} · {key.scopes.join(', ')} · issued{' '}
          <time title={moment(key.created_at)}>{ago(key.created_at, Date.now())}</time> ·{' '}
          {key.last_used_at === null ? 'never used' : `last used ${ago(key.last_used_at, Date.now())}`}
        </div>
        {unusual.length > 0 ? <div class="help address">{unusual.join(' · ')}</div> : null}
      </div>
      {key.revoked_at === null ? (
        <div class="actions">
          <button type="button" ref={button} aria-expanded={changing} onClick={() => setChanging(!changing)}>
            Change{name}
          </button>
          <button type="button" class="danger" onClick={onRevoke}>
            Revoke{name}
          </button>
        </div>
      ) : (
        <span class="badge cancelled">Revoked</span>
      )}
      {changing ? (
        <TermsForm
          name={`Change ${key.label || key.id}`}
          class="change"
          initial={termsOf(key)}
          first={[label]}
          folded={false}
          action="Save"
          send={async (typed) => {
            await changeKey(key.id, changeOf(key, typed))
            await onChanged()
            close()
          }}
          onCancel={close}
        />
      ) : null}
    </li>
  )
}
