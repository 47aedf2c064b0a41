// In charge of: the text of the progress line for an upload, a job and a download.
// Not in charge of: printing it (progressLine.ts).
import { PHASE_LABELS, shownState, STATE_LABELS } from '#contract/api/shownStates.ts'
import { MAX_QUEUE_POSITION } from '#contract/limits.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import type { ProgressState } from './progressLine.ts'
import { formatBytes, formatBytesOf, formatCountdown } from './formatUnits.ts'

/** Bytes per second over the last seconds. */
export class TransferRate {
  readonly #samples: { at: number; done: number }[] = []
  readonly #window: number

  constructor(windowMs = 8000) {
    this.#window = windowMs
  }

  /** @returns null until two measurements are far enough apart */
  add(done: number, at: number = performance.now()): number | null {
    const samples = this.#samples
    samples.push({ at, done })
    while (samples.length > 2 && at - samples[0]!.at > this.#window) samples.shift()
    const [first, last] = [samples[0]!, samples.at(-1)!]
    const ms = last.at - first.at
    return ms < 200 || last.done < first.done ? null : ((last.done - first.done) / ms) * 1000
  }
}

const percent = (fraction: number): string => `${String(Math.floor(fraction * 100)).padStart(3)} %`

/** Without a terminal, one line for each 10 % is enough. */
const tenth = (fraction: number): string => `${Math.floor(fraction * 10) * 10} %`

export function transferProgress(label: string): (done: number, total: number, more?: string) => ProgressState {
  const pace = new TransferRate()
  return (done, total, more) => {
    const speed = pace.add(done)
    const fraction = total === 0 ? 1 : done / total
    const left =
      speed === null || speed === 0 || done >= total ? [] : [`${formatCountdown((total - done) / speed)} left`]
    const figures = [
      percent(fraction),
      formatBytesOf(done, total),
      ...(speed === null ? [] : [`${formatBytes(speed)}/s`]),
      ...left,
    ]
    return {
      label,
      fraction,
      facts: [...figures, ...(more === undefined ? [] : [more])],
      log: `${label}  ${done >= total ? '100 %' : tenth(fraction)} of ${formatBytes(total)}`,
    }
  }
}

export function jobProgress(status: PublicStatus): ProgressState {
  const { phase, tcode_progress, tcode_speed, xfer_progress, xfer_speed, eta_seconds, chunks } = status
  const speed = Number(tcode_speed) > 0 ? [`${Number(tcode_speed).toFixed(1)}x`] : []
  const pace = Number(xfer_speed) > 0 ? [`${Number(xfer_speed).toFixed(1)} MB/s`] : []
  const log = [
    'transcode',
    `${tcode_progress} %`,
    ...speed,
    'transfer',
    `${xfer_progress} %`,
    ...pace,
    phase,
    ...partsOf(chunks),
    ...waiting(status),
  ].join('  ')
  if (phase === 'queued' || phase === 'starting' || phase === 'probing') {
    return { label: PHASE_LABELS[phase], fraction: null, facts: waiting(status), log }
  }
  if (phase === 'done') return { label: STATE_LABELS[shownState(status)], fraction: null, facts: [], log }
  const facts = [
    percent(Number(tcode_progress) / 100),
    [`transfer ${xfer_progress.padStart(3)} %`, ...pace].join('  '),
    ...partsOf(chunks),
    ...speed,
    ...(eta_seconds === null ? [] : [`${formatCountdown(eta_seconds)} left`]),
  ]
  return { label: PHASE_LABELS[phase], fraction: Number(tcode_progress) / 100, facts, log }
}

/** Parts of a divided job; empty if the job is not divided. */
export function partsOf(chunks: PublicStatus['chunks'] | undefined): string[] {
  return chunks == null ? [] : [`${chunks.completed} of ${chunks.total} parts`]
}

function waiting({ phase, queue_position: ahead, waiting_for: away, failed_starts: starts }: PublicStatus): string[] {
  if (phase !== 'queued' && phase !== 'starting') return []
  return [
    ...(ahead === null ? [] : [jobsAhead(ahead)]),
    ...(away === null ? [] : [away.message]),
    ...(starts === null ? [] : [`no transcoder has started in ${starts.count} tries: ${starts.message}`]),
  ]
}

export function jobsAhead(count: number): string {
  if (count === 0) return 'next in the queue'
  return `${count}${count >= MAX_QUEUE_POSITION ? ' or more' : ''} job${count === 1 ? '' : 's'} ahead`
}
