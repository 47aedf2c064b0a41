// In charge of: API keys: listing, creating, editing, rotating and revoking them with an admin key; for other users,
// how to use their key and where to find the admin key.
// Not in charge of: single keys and forms (../admin/).
import { useEffect, useState } from 'preact/hooks'
import type { Key } from '#contract/api/administration.ts'
import { rotateKey } from '../admin/adminApi.ts'
import { KeyRow, type KeyAction } from '../admin/keyRow.tsx'
import { Secret } from '../admin/secret.tsx'
import { account, expiry, keyChanges, keyLimits, label, scopes, keyFormValues, newKeyBody } from '../admin/keyLimits.ts'
import { LimitsForm } from '../admin/limitsForm.tsx'
import { changeKey, createKey, listKeys, revokeKey, asError, type Failure } from '../api/api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { signOut } from '../api/session.ts'

const FRESH = { account: 'default', scopes: 'jobs' }

const ADVICE = 'Give it to the program or person it is for, and to no one else.'

type Open = { action: 'create' } | { action: KeyAction; key: Key }

export function Keys() {
  const [keys, setKeys] = useState<Key[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [made, setMade] = useState<{ key: string; advice: string } | null>(null)
  const [open, setOpen] = useState<Open | null>(null)
  const load = async (): Promise<void> => {
    try {
      setKeys(await listKeys())
      setFailure(null)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  useEffect(() => void load(), [])
  const close = (): void => setOpen(null)
  const run = async (work: () => Promise<void>): Promise<void> => {
    close()
    try {
      await work()
      await load()
    } catch (error) {
      setFailure(asError(error))
    }
  }

  if (failure?.code === 'forbidden') return <WithoutAdmin />
  const [active, revoked] = [keys?.filter((key) => key.revoked_at === null), keys?.filter((key) => key.revoked_at)]
  const list = (of: readonly Key[]) => (
    <List heads={['Name', 'Account', 'May', 'Limits', 'Last used', 'Created', 'Expires', '']}>
      {of.map((key) => (
        <KeyRow key={key.id} of={key} onDeed={(deed) => setOpen({ action: deed, key })} />
      ))}
    </List>
  )
  return (
    <>
      <div class="head line apart">
        <h1>API keys</h1>
        <button type="button" class="primary" onClick={() => setOpen({ action: 'create' })}>
          <Icon name="plus" /> Create API key
        </button>
      </div>
      {failure ? <ConnectionNotice failure={failure} retry={() => void load()} /> : null}
      <div aria-live="polite">
        {made === null ? null : <Secret name="API key" secret={made.key} advice={made.advice} />}
      </div>
      {!active || !revoked ? (
        failure ? null : (
          <Loading label="Loading the keys" lines={3} />
        )
      ) : (
        <>
          {active.length > 0 ? (
            list(active)
          ) : (
            <Empty icon="key" title="No API keys yet">
              <p>Create one key for each program and each person, so that you can revoke them one by one.</p>
            </Empty>
          )}
          {revoked.length > 0 ? (
            <details>
              <summary>
                {revoked.length} revoked {revoked.length === 1 ? 'key' : 'keys'}
              </summary>
              {list(revoked)}
            </details>
          ) : null}
        </>
      )}
      {open?.action === 'create' ? (
        <Dialog title="Create API key" wide onClose={close}>
          <LimitsForm
            name="Create API key"
            initial={FRESH}
            first={[label, account, scopes, expiry]}
            more={{ title: 'Limits and webhook', fields: keyLimits }}
            action="Create"
            send={async (typed) => {
              const { key } = await createKey(newKeyBody(typed))
              setMade({ key, advice: ADVICE })
              close()
              await load()
            }}
            onCancel={close}
          />
        </Dialog>
      ) : null}
      {open?.action === 'edit' ? (
        <Dialog title={`Edit ${nameOf(open.key)}`} wide onClose={close}>
          <LimitsForm
            name={`Edit ${nameOf(open.key)}`}
            initial={keyFormValues(open.key)}
            first={[label, ...keyLimits]}
            action="Save"
            send={async (typed) => {
              await changeKey(open.key.id, keyChanges(open.key, typed))
              close()
              await load()
            }}
            onCancel={close}
          />
        </Dialog>
      ) : null}
      {open?.action === 'rotate' ? (
        <Confirm
          question={`Rotate ${nameOf(open.key)}?`}
          consequence="You get a new key with the same permissions, limits and uploads. The current one stops working within a minute."
          action="Rotate"
          keepLabel="Keep the current key"
          onYes={() =>
            void run(async () => {
              const { key, warnings } = await rotateKey(open.key.id)
              setMade({ key, advice: [ADVICE, ...warnings.map(({ message }) => message)].join(' ') })
            })
          }
          onNo={close}
        />
      ) : null}
      {open?.action === 'revoke' ? (
        <Confirm
          question={`Revoke ${nameOf(open.key)}?`}
          consequence="Requests with this key are refused within a minute. This cannot be undone."
          action="Revoke"
          keepLabel="Keep the key"
          onYes={() => void run(() => revokeKey(open.key.id))}
          onNo={close}
        />
      ) : null}
    </>
  )
}

const nameOf = (key: Key): string => key.label || key.id

/** For a key without admin rights. */
function WithoutAdmin() {
  const request = `curl -u "$KEY:" ${location.origin}/api/v0/job`
  return (
    <>
      <h1>API keys</h1>
      <div class="stack loose pair">
        <section class="card stack" aria-labelledby="use">
          <h2 id="use">Use your API key</h2>
          <p class="help">
            Programs send it as the user name of HTTP Basic authentication, with an empty password. The{' '}
            <a href="/docs">API reference</a> has a request for each operation.
          </p>
          <div class="quoted">
            <pre class="code" tabIndex={0} aria-label="Example request">
              {request}
            </pre>
            <Copy text={request} what="the example request" />
          </div>
        </section>
        <section class="card stack" aria-labelledby="admin">
          <h2 id="admin">Create and revoke keys</h2>
          <p class="help">
            Keys are managed with an admin key. <code>npm start</code> prints it beside your API key; on a deployment it
            is the secret <code>ADMIN_KEY</code>. If the service is run by someone else, ask them for a key.
          </p>
          <button
            type="button"
            class="add"
            onClick={() => signOut('Sign in with an admin key to manage API keys and accounts.')}
          >
            <Icon name="key" /> Sign in with an admin key
          </button>
        </section>
      </div>
    </>
  )
}
