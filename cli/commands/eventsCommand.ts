// In charge of: `events`: what has happened to a job, and what happens to it until its end.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PublicEvent } from '#contract/api/answers.ts'
import type { Client } from '../../client/nodeClient.ts'

const EVERY_MS = 1000

interface EventOptions {
  /** Until the job has ended. */
  follow: boolean
  /** Called with each event, once and in order. */
  show: (event: PublicEvent) => void
  signal: AbortSignal
  everyMs?: number
}

export async function eventsCommand(
  client: Pick<Client, 'events'>,
  id: number,
  { follow, show, signal, everyMs = EVERY_MS }: EventOptions,
): Promise<void> {
  for (let last = 0; ;) {
    const { events, job_completed: hasEnded } = await client.events(id)
    for (const event of events.filter((each) => each.id > last)) show(event)
    last = events.at(-1)?.id ?? last
    if (!follow || hasEnded) return
    await sleep(everyMs, undefined, { signal })
  }
}
