// In charge of: the signing secret of an account's webhooks: whether one exists, and rotating it.
import { useEffect, useState } from 'preact/hooks'
import { Confirm } from '../parts/confirm.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, type Failure } from '../api/api.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { formatAge, formatDateTime } from '../text/format.ts'
import type { WebhookSecret } from '#contract/api/administration.ts'
import { readSecret, rotateSecret } from './adminApi.ts'
import { Secret } from './secret.tsx'

export function Signing() {
  const [facts, setFacts] = useState<WebhookSecret | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [asking, setAsking] = useState(false)
  const run = async (work: () => Promise<void>): Promise<void> => {
    setFailure(null)
    await work().catch((error: unknown) => setFailure(asError(error)))
  }
  const load = (): Promise<void> => run(async () => setFacts(await readSecret()))
  useEffect(() => void load(), [])
  const rotate = (): Promise<void> => {
    setAsking(false)
    return run(async () => {
      const made = await rotateSecret()
      setFacts(made)
      setSecret(made.secret)
    })
  }
  const { rotated_at: rotated = null, previous_valid_until: previous = null } = facts ?? {}
  const overlap = previous !== null && Date.parse(previous) > Date.now() ? previous : null
  return (
    <section class="card stack" aria-labelledby="signing">
      <h2 id="signing">Webhook signing secret</h2>
      <p class="help">
        Webhooks are signed, so that your server can tell them from forged ones. All keys of your account share one
        secret.
      </p>
      {failure ? <ConnectionNotice failure={failure} retry={() => void load()} /> : null}
      {facts === null ? (
        failure ? null : (
          <Loading label="Loading the signing secret" lines={1} />
        )
      ) : (
        <p>
          {rotated === null ? (
            'No secret has been created yet.'
          ) : (
            <>
              Created <time title={formatDateTime(rotated)}>{formatAge(rotated, Date.now())}</time>.
              {overlap === null
                ? ''
                : ` Until ${formatDateTime(overlap)}, webhooks carry a signature of the previous secret as well.`}
            </>
          )}
        </p>
      )}
      <div aria-live="polite">
        {secret === null ? null : (
          <Secret
            name="signing secret"
            secret={secret}
            advice="Store it where your server verifies webhooks, for example as WEBHOOK_SECRET."
          />
        )}
      </div>
      {facts === null ? null : (
        <button type="button" class="add" onClick={() => (rotated === null ? void rotate() : setAsking(true))}>
          {rotated === null ? 'Create secret' : 'Rotate secret'}
        </button>
      )}
      {asking ? (
        <Confirm
          question="Rotate the signing secret?"
          consequence="Webhooks are signed with both secrets for a while, so that you have time to change your server."
          action="Rotate"
          keepLabel="Keep the current one"
          onYes={() => void rotate()}
          onNo={() => setAsking(false)}
        />
      ) : null}
    </section>
  )
}
