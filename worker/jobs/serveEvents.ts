// In charge of: a job's timeline (`GET /api/v0/job/<id>/events`): as JSON, or as Server-Sent Events for clients that
// follow it.
// Not in charge of: pushing events (monitor/eventStream.ts).
import type { Context } from 'hono'
import type { EventList } from '#contract/api/answers.ts'
import { sseEventText, publicEvents } from '#contract/api/events.ts'
import { jobMonitor } from '../scheduler/applyEvent.ts'
import type { AppEnv } from '../http/context.ts'
import type { Job } from '../db/jobs.ts'
import { findTimeline } from '../db/tasks.ts'
import { sseHeaders } from '../monitor/eventStream.ts'
import { notFound, RequestError } from '../http/requestError.ts'

export async function serveEvents(c: Context<AppEnv>, job: Job): Promise<Response> {
  const found = await findTimeline(c.env.DB, job.job_id)
  if (!found) throw notFound()
  const events = publicEvents(found.timeline)
  const over = found.finished_at !== null
  if (!/\btext\/event-stream\b/i.test(c.req.header('accept') ?? ''))
    return c.json({ events, job_completed: over } satisfies EventList)

  const after = lastEventId(c.req.header('last-event-id'))
  if (!over) {
    const stream = await jobMonitor(c.env, job.job_id).fetch(`http://monitor/?job=${job.job_id}&after=${after}`)
    if (stream.status === 200) return new Response(stream.body, stream)
    throw new RequestError('quota_exceeded', 'Too many clients are already following this job.', {
      headers: { 'retry-after': '15' },
    })
  }
  const missed = events.filter((event) => event.id > after)
  // WHATWG HTML, 9.2.3: 204 tells a client that has all events not to reconnect.
  if (missed.length === 0) return new Response(null, { status: 204 })
  return new Response(missed.map(sseEventText).join(''), { headers: sseHeaders })
}

/** Unknown ids count as 0: the client is sent all events. */
function lastEventId(header: string | undefined): number {
  return /^\d{1,9}$/.test(header ?? '') ? Number(header) : 0
}
