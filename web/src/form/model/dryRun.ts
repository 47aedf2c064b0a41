// In charge of: one dry run: starting it, waiting for its end, keeping its preview, and deleting it, also when its result is
// of no use any more or the page is closed.
// Not in charge of: when to start one (sourceAnalysis.ts).
import type { Estimate, SourceReport } from '#contract/task/dryRunEstimate.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { ApiError, createJob, deleteJobAtLast, isFinal, type Failure } from '../../api/api.ts'
import { watchJob } from '../../api/jobWatch.ts'
import { onSession } from '../../api/session.ts'
import type { FormBody } from './formBody.ts'

export interface DryRunResult {
  source: SourceReport | null
  estimate: Estimate | null
  /** Poster of the source: an object URL of this page. */
  poster: string | null
  failure: Failure | null
}

/** `signal`: the result is of no use any more. @throws ApiError if the service rejects it */
export async function dryRun(
  body: FormBody,
  onNews: (status: PublicStatus) => void,
  signal: AbortSignal,
): Promise<DryRunResult> {
  // A dry run calls no webhook and needs no metadata; only the plan matters.
  const { webhook_url: _hook, metadata: _own, ...asked } = body
  const { _auto_generated_id_: id } = await createJob(asked, true, crypto.randomUUID())
  // Where this is not reached, or fails, the service removes an unlisted dry run by itself.
  const remove = (): void => void deleteJobAtLast(id).catch(() => undefined)
  addEventListener('pagehide', remove)
  let status: PublicStatus
  let poster: string | null
  try {
    status = await ended(id, onNews, signal)
    poster = await posterOf(status)
  } finally {
    removeEventListener('pagehide', remove)
    remove()
  }
  return {
    source: status.source ?? status.estimate?.probe ?? null,
    estimate: status.estimate,
    poster,
    failure: status.error,
  }
}

function ended(id: number, onNews: (status: PublicStatus) => void, signal: AbortSignal): Promise<PublicStatus> {
  const { promise, resolve, reject } = Promise.withResolvers<PublicStatus>()
  const stop = watchJob(id, {
    onJob: ({ status }) => {
      onNews(status)
      if (status.job_completed) resolve(status)
    },
    onTrouble: (trouble) => {
      if (isFinal(trouble)) reject(trouble ?? new Error('no answer'))
    },
  })
  const forget = onSession(({ key }) => {
    if (key === null) reject(new ApiError(0, { code: 'unauthorized', message: 'Signed out.' }))
  })
  const abandon = (): void => reject(signal.reason as Error)
  if (signal.aborted) abandon()
  signal.addEventListener('abort', abandon)
  return promise.finally(() => {
    signal.removeEventListener('abort', abandon)
    stop()
    forget()
  })
}

async function posterOf({ poster }: PublicStatus): Promise<string | null> {
  if (!poster) return null
  try {
    const response = await fetch(poster.url, { credentials: 'omit' })
    return response.ok ? URL.createObjectURL(await response.blob()) : null
  } catch {
    return null
  }
}
