// In charge of: the webhook deliveries of a job: what was sent, how the receiver responded, and sending it again.
import { useEffect, useState } from 'preact/hooks'
import { isFinal, asError, type Failure } from '../api/api.ts'
import { sleep, whenVisible } from '../api/jobWatch.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { formatDateTime } from '../text/format.ts'
import type { Delivery } from '#contract/api/answers.ts'
import { listDeliveries, replayDelivery } from './resultApi.ts'

const EVERY_MS = 2000

export const DELIVERY_STATES: Readonly<Record<Delivery['state'], [label: string, looks: string]>> = {
  pending: ['Pending', 'queued'],
  delivered: ['Delivered', 'completed'],
  failed: ['Failed', 'failed'],
}

interface DeliveriesProps {
  id: number
  /** Deliveries are possible only after the job has ended. */
  ended: boolean
  /** The job's own webhook address; the webhook of its key is not shown with the job. */
  address: string | null
}

export function Deliveries({ id, ended, address }: DeliveriesProps) {
  const [deliveries, setDeliveries] = useState<readonly Delivery[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [said, setSaid] = useState('')
  const [version, setVersion] = useState(0)
  useEffect(() => {
    if (!ended) return
    const stopped = new AbortController()
    const { signal } = stopped
    // Polls until no delivery is pending.
    const follow = async (): Promise<void> => {
      for (let failures = 0; !signal.aborted;) {
        try {
          const read = await listDeliveries(id)
          if (signal.aborted) return
          setDeliveries(read)
          setFailure(null)
          failures = 0
          if (!read.some(({ state }) => state === 'pending')) return
        } catch (error) {
          if (signal.aborted) return
          failures += 1
          setFailure(asError(error))
          if (isFinal(error)) return
        }
        await sleep(EVERY_MS * 2 ** Math.min(failures, 4), signal)
        await whenVisible(signal)
      }
    }
    void follow()
    return () => stopped.abort()
  }, [id, ended, version])

  const replay = async (delivery: Delivery): Promise<void> => {
    try {
      const next = await replayDelivery(id, delivery.id)
      setDeliveries((before) => before?.map((each) => (each.id === next.id ? next : each)) ?? null)
      setSaid(`${delivery.event} is being sent again.`)
      setVersion((before) => before + 1)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const shown = deliveries ?? []
  // Most jobs have no deliveries; then the section is left out.
  if (shown.length === 0 && !address) return null
  return (
    <section class="card stack" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      {address ? <p class="help">{address}</p> : null}
      {failure ? <ConnectionNotice failure={failure} retry={() => setVersion(version + 1)} /> : null}
      {shown.length === 0 && !failure ? (
        <p class="help">{ended ? 'Nothing was sent.' : 'Sent when the job ends.'}</p>
      ) : null}
      <ul class="stack deliveries">
        {shown.map((delivery) => (
          <li key={delivery.id} class="stack tight">
            <div class="line apart">
              <span class="line">
                <code>{delivery.event}</code>
                <span class={`badge ${DELIVERY_STATES[delivery.state][1]}`}>{DELIVERY_STATES[delivery.state][0]}</span>
              </span>
              <button
                type="button"
                class="small"
                disabled={delivery.state === 'pending'}
                aria-label={`Replay ${delivery.event}`}
                onClick={() => void replay(delivery)}
              >
                Replay
              </button>
            </div>
            {delivery.next_try_at && delivery.tries > 0 ? (
              <span class="help">Next try {formatDateTime(delivery.next_try_at)}</span>
            ) : null}
            {delivery.attempts.length > 0 ? (
              <details>
                <summary>
                  {delivery.attempts.length} {delivery.attempts.length === 1 ? 'attempt' : 'attempts'}
                </summary>
                <ol class="stack tight">
                  {delivery.attempts.map(({ at, status, error, milliseconds }) => (
                    <li key={at} class="stack tight">
                      {status === null ? (error ?? 'No response') : `HTTP ${status}`} · {milliseconds} ms
                      <span class="help">{formatDateTime(at)}</span>
                    </li>
                  ))}
                </ol>
              </details>
            ) : null}
          </li>
        ))}
      </ul>
      <p class="hidden" role="status">
        {said}
      </p>
    </section>
  )
}
