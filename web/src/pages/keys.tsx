// In charge of: API keys: listing, issuing, changing and revoking them, for holders of a key with the scope "admin".
// Not in charge of: single keys and forms (keys/).
import { useEffect, useState } from 'preact/hooks'
import type { Key } from '#contract/answers.ts'
import { createKey, listKeys, revokeKey } from '../api.ts'
import { Row } from '../keys/row.tsx'
import { account, label, scopes, wishOf } from '../keys/terms.ts'
import { TermsForm } from '../keys/terms-form.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, Notice, Trouble, type Failure } from '../parts/notice.tsx'
import { signOut } from '../session.ts'

const FRESH = { account: 'default', scopes: 'jobs' }

export function Keys() {
  const [keys, setKeys] = useState<Key[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [made, setMade] = useState<string | null>(null)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const load = async (): Promise<void> => {
    try {
      setKeys(await listKeys())
      setFailure(null)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  useEffect(() => void load(), [])

  const revoke = async (key: Key): Promise<void> => {
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
      <TermsForm
        name="Issue a key"
        class="card"
        initial={FRESH}
        first={[label, account, scopes]}
        folded
        action="Issue a key"
        send={async (typed) => {
          const { key } = await createKey(wishOf(typed))
          setMade(key)
          await load()
        }}
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
            <Row key={key.id} of={key} onChanged={load} onRevoke={() => setRevoking(key)} />
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

function Made({ secret }: { secret: string }) {
  return (
    <Notice kind="good">
      <p>
        <strong>Here is the key. It is shown this once: copy it now.</strong>
      </p>
      <div class="copy">
        <input readOnly value={secret} aria-label="The new key" onFocus={(event) => event.currentTarget.select()} />
        <Copy key={secret} text={secret} what="this key" />
      </div>
    </Notice>
  )
}
