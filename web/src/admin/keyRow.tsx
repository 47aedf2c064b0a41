// In charge of: one API key in the list: its name, its permissions, its last use.
import type { Key } from '#contract/api/administration.ts'
import { currentKey } from '../api/session.ts'
import { formatAge, formatDateTime, formatTimeLeft } from '../text/format.ts'
import { describeKeyLimits } from './keyLimits.ts'

export type KeyAction = 'edit' | 'rotate' | 'revoke'

interface KeyRowProps {
  of: Key
  onDeed: (deed: KeyAction) => void
}

const PERMISSIONS: Readonly<Record<string, string>> = { jobs: 'Jobs', admin: 'Admin' }

export function KeyRow({ of: key, onDeed }: KeyRowProps) {
  const named = key.label || key.id
  const unusual = describeKeyLimits(key)
  const revoked = key.revoked_at !== null
  const expired = key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()
  return (
    <li class="row">
      <div class="what">
        <span class="line">
          <strong>{key.label || 'Unnamed key'}</strong>
          {currentKey()?.startsWith(key.id) === true ? <span class="badge accent">This session</span> : null}
        </span>
        <code class="help">{key.id}…</code>
      </div>
      <div class="cells">
        <span>{key.account}</span>
        <span>{key.scopes.map((scope) => PERMISSIONS[scope] ?? scope).join(', ')}</span>
        <span class="line">
          {unusual.map((term) => (
            <span class="tag cut" key={term} title={term}>
              {term}
            </span>
          ))}
        </span>
        {key.last_used_at === null ? <span class="help">Never used</span> : <Age of={key.last_used_at} name="Used" />}
        <Age of={key.created_at} name="Created" />
        {key.expires_at === null ? (
          <span class="help" data-name="Expires">
            never
          </span>
        ) : (
          <time class="help" data-name="Expires" dateTime={key.expires_at} title={formatDateTime(key.expires_at)}>
            {formatTimeLeft(key.expires_at, Date.now())}
          </time>
        )}
        {revoked || expired ? (
          <span class="badge cancelled">{revoked ? 'Revoked' : 'Expired'}</span>
        ) : (
          <div class="line actions">
            {(['edit', 'rotate', 'revoke'] as const).map((deed) => (
              <button
                key={deed}
                type="button"
                class={deed === 'revoke' ? 'small danger' : 'small'}
                onClick={() => onDeed(deed)}
              >
                {{ edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' }[deed]}
                <span class="hidden"> {named}</span>
              </button>
            ))}
          </div>
        )}
      </div>
    </li>
  )
}

function Age({ of, name }: { of: string; name: string }) {
  return (
    <time class="help" data-name={name} dateTime={of} title={formatDateTime(of)}>
      {formatAge(of, Date.now())}
    </time>
  )
}
