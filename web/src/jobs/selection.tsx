// In charge of: actions on the selected jobs, in a bar at the bottom of the screen, one after the other.
import { useState } from 'preact/hooks'
import type { ListedJob } from '#contract/api/answers.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { jobsFor, idOf, type BulkAction } from './bulkSelection.ts'
import { cancelJob, deleteJob, retryJob, asError } from '../api/api.ts'

interface SelectionProps {
  jobs: readonly ListedJob[]
  onSelect: (ids: readonly number[]) => void
  /** Called after an action on these jobs. */
  onDone: (deed: BulkAction, ids: readonly number[]) => void
}

const deeds: Readonly<Record<BulkAction, { verb: string; past: string; icon: IconName; consequence: string }>> = {
  cancel: {
    verb: 'Cancel',
    past: 'cancelled',
    icon: 'stop',
    consequence: 'Work done so far is discarded.',
  },
  retry: { verb: 'Retry', past: 'started again', icon: 'retry', consequence: '' },
  delete: {
    verb: 'Delete',
    past: 'deleted',
    icon: 'trash',
    consequence: 'The jobs, their outputs in the service’s storage and their share links are removed.',
  },
}

const count = (jobs: number): string => `${jobs} ${jobs === 1 ? 'job' : 'jobs'}`

export function Selection({ jobs, onSelect, onDone }: SelectionProps) {
  const [asking, setAsking] = useState<BulkAction | null>(null)
  const [progress, setProgress] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<(BulkResult & { action: BulkAction }) | null>(null)

  const run = async (action: BulkAction): Promise<void> => {
    const meant = jobsFor(action, jobs)
    setAsking(null)
    setOutcome(null)
    const say = (done: number): void => setProgress(`${deeds[action].verb}: ${done} of ${meant.length} …`)
    say(0)
    const result = await applyToAll(action, meant, say)
    setProgress(null)
    setOutcome({ ...result, action })
    // Jobs that failed stay selected.
    onSelect(result.failed.map(({ id }) => id))
    onDone(action, result.done)
  }
  return (
    <div class="stack dock">
      <div class="stack" role="status">
        {outcome && outcome.done.length > 0 ? (
          <Notice kind="good">
            <p>
              {count(outcome.done.length)} {deeds[outcome.action].past}.
            </p>
          </Notice>
        ) : null}
        {outcome && outcome.failed.length > 0 ? (
          <Notice kind="error">
            <p>
              <strong>
                {count(outcome.failed.length)} could not be {deeds[outcome.action].past}.
              </strong>
            </p>
            <ul class="stack tight">
              {outcome.failed.map(({ id, message }) => (
                <li key={id}>
                  Job {id}: {message}
                </li>
              ))}
            </ul>
          </Notice>
        ) : null}
        {outcome ? (
          <button type="button" class="small add" onClick={() => setOutcome(null)}>
            Dismiss
          </button>
        ) : null}
      </div>
      {jobs.length === 0 ? null : (
        <div class="box line apart selection" role="group" aria-label="Selected jobs">
          <strong class="figures">{progress ?? `${count(jobs.length)} selected`}</strong>
          <div class="line">
            {(['retry', 'cancel', 'delete'] as const).map((action) => {
              const meant = jobsFor(action, jobs)
              return meant.length === 0 ? null : (
                <button
                  key={action}
                  type="button"
                  class={action === 'retry' ? '' : 'danger'}
                  disabled={progress !== null}
                  onClick={() => (action === 'retry' ? void run(action) : setAsking(action))}
                >
                  <Icon name={deeds[action].icon} /> {deeds[action].verb}
                  {meant.length === jobs.length ? '' : ` ${meant.length}`}
                </button>
              )
            })}
            <button type="button" class="quiet" disabled={progress !== null} onClick={() => onSelect([])}>
              Clear
            </button>
          </div>
        </div>
      )}
      {asking === null ? null : (
        <Confirm
          question={`${deeds[asking].verb} ${count(jobsFor(asking, jobs).length)}?`}
          consequence={deeds[asking].consequence}
          action={`${deeds[asking].verb} ${count(jobsFor(asking, jobs).length)}`}
          keepLabel={asking === 'cancel' ? 'Keep them running' : 'Keep them'}
          onYes={() => void run(asking)}
          onNo={() => setAsking(null)}
        />
      )}
    </div>
  )
}

export const selectedOf = (jobs: readonly ListedJob[], ids: readonly number[]): ListedJob[] =>
  jobs.filter((job) => ids.includes(idOf(job)))

export interface BulkResult {
  done: number[]
  failed: { id: number; message: string }[]
}

const calls: Readonly<Record<BulkAction, (id: number) => Promise<unknown>>> = {
  cancel: cancelJob,
  delete: deleteJob,
  retry: (id) => retryJob(id, crypto.randomUUID()),
}

/** One after the other: a hundred requests at once would be rejected by the rate limit. */
export async function applyToAll(
  deed: BulkAction,
  jobs: readonly ListedJob[],
  onProgress: (count: number) => void,
): Promise<BulkResult> {
  const outcome: BulkResult = { done: [], failed: [] }
  for (const [index, job] of jobs.entries()) {
    const id = idOf(job)
    try {
      await calls[deed](id)
      outcome.done.push(id)
    } catch (error) {
      outcome.failed.push({ id, message: asError(error).message })
    }
    onProgress(index + 1)
  }
  return outcome
}
