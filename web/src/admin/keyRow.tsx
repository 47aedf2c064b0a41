// In charge of: one API key in the list: its name, its permissions, its last use.
import type { Key } from '#contract/api/administration.ts'
import { formatAge, formatDateTime } from '../text/format.ts'
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
  return (
    <li class={revoked ? 'row over' : 'row'}>
      <div class="what">
        <strong>{key.label || 'Unnamed key'}</strong>
        <code class="help">{key.id}…</code>
        <span class="tags">
          <span class="tag">{key.account}</span>
          {key.scopes.map((scope) => (
            <span class="tag" key={scope}>
              {PERMISSIONS[scope] ?? scope}
            </span>
          ))}
          {unusual.map((term) => (
            <span class="tag" key={term} title={term}>
              {term}
            </span>
          ))}
        </span>
      </div>
      <div class="help used">
        {key.last_used_at === null ? (
          'Never used'
        ) : (
          <>
            Used <time title={formatDateTime(key.last_used_at)}>{formatAge(key.last_used_at, Date.now())}</time>
          </>
        )}
        <span class="help">
          Created <time title={formatDateTime(key.created_at)}>{formatAge(key.created_at, Date.now())}</time>
        </span>
      </div>
      {revoked ? (
        <span class="badge cancelled">Revoked</span>
      ) : (
        <div class="actions">
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
    </li>
  )
}
