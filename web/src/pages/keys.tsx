// In charge of: API keys: listing, issuing and revoking them, for holders of a key with the scope "admin".
import { useEffect, useRef, useState } from 'preact/hooks'
import { createKey, listKeys, revokeKey, type ApiKey } from '../api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, Notice, Trouble, type Failure } from '../parts/notice.tsx'
import { signOut } from '../session.ts'
import { ago, moment } from '../words.ts'

export function Keys() {
  const [keys, setKeys] = useState<ApiKey[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [made, setMade] = useState<string | null>(null)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const load = async (): Promise<void> => {
    try {
      setKeys(await listKeys())
      setFailure(null)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  useEffect(() => void load(), [])

  const revoke = async (key: ApiKey): Promise<void> => {
    setRevoking(null)
    try {
      await revokeKey(key.id)
      await load()
    } catch (error) {
      setFailure(asError(error))
    }
  }

  if (failure?.code === 'forbidden') {
    return (
      <>
        <h1>Keys</h1>
        <Notice kind="warning">
          <p>Keys are issued with an admin key, and yours is not one.</p>
          <p>
            <button type="button" onClick={() => signOut('Sign in with an admin key to issue and revoke keys.')}>
              Sign in with another key
            </button>
          </p>
        </Notice>
      </>
    )
  }
  return (
    <>
      <h1>Keys</h1>
      {failure ? <Trouble failure={failure} retry={() => void load()} /> : null}
      <NewKey
        onMade={(key) => {
          setMade(key)
          void load()
        }}
        onFailure={setFailure}
      />
      <div aria-live="polite">{made === null ? null : <Made secret={made} />}</div>
      {keys === null ? (
        failure ? null : (
          <Loading label="Loading the keys" />
        )
      ) : keys.length === 0 ? (
        <Empty icon="key" title="No key was issued yet">
          <p>Each program and each person gets one of its own, so that it can be revoked alone.</p>
        </Empty>
      ) : (
        <ul class="rows keys">
          {keys.map((key) => (
            <li key={key.id} class={key.revoked_at === null ? 'row' : 'row over'}>
              <div>
                <strong>{key.label || 'Without a label'}</strong> <code>{key.id}</code>
                <div class="help">
                  Account {key.account} · {key.scopes.join(', ')} · issued{' '}
                  <time title={moment(key.created_at)}>{ago(key.created_at, Date.now())}</time> ·{' '}
                  {key.last_used_at === null ? 'never used' : `last used ${ago(key.last_used_at, Date.now())}`}
                </div>
              </div>
              {key.revoked_at === null ? (
                <button type="button" class="danger" onClick={() => setRevoking(key)}>
                  Revoke<span class="hidden"> {key.label || key.id}</span>
                </button>
              ) : (
                <span class="badge cancelled">Revoked</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {revoking ? (
        <Confirm
          question={`Revoke the key ${revoking.label || revoking.id}?`}
          consequence="Whatever uses it is refused within a minute. This cannot be undone."
          action="Revoke"
          onYes={() => void revoke(revoking)}
          onNo={() => setRevoking(null)}
        />
      ) : null}
    </>
  )
}

function NewKey({
  onMade,
  onFailure,
}: {
  onMade: (key: string) => void
  onFailure: (failure: Failure | null) => void
}) {
  const [account, setAccount] = useState('default')
  const [label, setLabel] = useState('')
  const [scope, setScope] = useState('jobs')
  const [busy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      const { key } = await createKey({ account, label, scopes: scope.split(',') })
      setLabel('')
      onFailure(null)
      onMade(key)
    } catch (error) {
      onFailure(asError(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="card filters" onSubmit={(event) => void submit(event)} aria-label="Issue a key">
      <label>
        <span>Label</span>
        <input
          value={label}
          maxLength={100}
          placeholder="What it is for"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>Account</span>
        <input
          value={account}
          pattern="[a-z0-9][a-z0-9\-]{0,39}"
          title="Lower-case letters, digits and hyphens, 40 at most"
          required
          onInput={(event) => setAccount(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>May</span>
        <select value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
          <option value="jobs">run jobs</option>
          <option value="admin">issue keys</option>
          <option value="jobs,admin">do both</option>
        </select>
      </label>
      <button type="submit" class="primary" disabled={busy}>
        Issue a key
      </button>
    </form>
  )
}

function Made({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    field.current?.select()
    await navigator.clipboard.writeText(secret).then(
      () => setCopied(true),
      () => undefined,
    )
  }
  return (
    <Notice kind="good">
      <p>
        <strong>Here is the key. It is shown this once: copy it now.</strong>
      </p>
      <div class="copy">
        <input ref={field} readOnly value={secret} aria-label="The new key" />
        <button type="button" onClick={() => void copy()}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      </div>
    </Notice>
  )
}
