// In charge of: the progress of a job: a sentence, a bar while it runs, its key figures, and a cell for each part of a divided job.
import { Tiles, type Tile } from '../parts/tiles.tsx'
import { shownState } from '#contract/api/shownStates.ts'
import { useRef } from 'preact/hooks'
import { MAX_QUEUE_POSITION } from '#contract/limits.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { formatBytes, formatDuration, lastQuarter, describeParts, describeProgress } from '../text/format.ts'
import { Poster } from '../parts/poster.tsx'
import { Bar } from '../parts/progress.tsx'

const known = (text: string | null): text is string => text !== null && !text.startsWith('-')

/** Seconds from the start to the end, or until now. */
function elapsed({ started_at: from, finished_at: to }: PublicStatus, now: number): number | null {
  return from === null ? null : Math.max(0, ((to === null ? now : Date.parse(to)) - Date.parse(from)) / 1000)
}

/** Label and value of what is known. */
function figures(status: PublicStatus, now: number): Tile[] {
  const over = status.job_completed
  const seconds = elapsed(status, now)
  const made = status.outputs.reduce((sum, { size, segments }) => sum + size + (segments?.bytes ?? 0), 0)
  const files = status.outputs.reduce((sum, { segments }) => sum + 1 + (segments?.count ?? 0), 0)
  const before = status.queue_position
  const all: [string, string | null][] = [
    ['Time left', over || status.eta_seconds === null ? null : `about ${formatDuration(status.eta_seconds)}`],
    [
      'Position in queue',
      over || before === null ? null : `${before + 1}${before >= MAX_QUEUE_POSITION ? ' or more' : ''}`,
    ],
    ['Parts', over ? null : describeParts(status)],
    [
      over ? 'Processing time' : 'Running for',
      seconds === null ? null : formatDuration(over ? seconds : Math.round(seconds)),
    ],
    ['Transcode speed', known(status.tcode_speed) ? `${status.tcode_speed} × real time` : null],
    ['Delivered', over || status.xfer_progress === '0' ? null : `${status.xfer_progress} %`],
    ['Transfer speed', known(status.xfer_speed) ? `${status.xfer_speed} MB/s` : null],
    ['Outputs', made > 0 ? `${formatBytes(made)} in ${files} ${files === 1 ? 'file' : 'files'}` : null],
  ]
  return all.flatMap(([label, value]) => (value === null ? [] : [[label, value] satisfies Tile]))
}

/** For screen readers: the phase and the quarter, not every percent, second and queue position. */
function spoken(status: PublicStatus): string {
  const percent = Number(status.tcode_progress)
  const part = status.phase === 'transcoding' && percent >= 25 ? ` ${lastQuarter(percent)} % are transcoded.` : ''
  return describeProgress({ ...status, eta_seconds: null, queue_position: null }) + part
}

/** The last new text, so that updates that overtake each other are not announced twice. */
function useOnce(text: string): string {
  const said = useRef(new Set<string>())
  const last = useRef(text)
  if (!said.current.has(text)) {
    said.current.add(text)
    last.current = text
  }
  return last.current
}

export function JobProgress({ id, status }: { id: number; status: PublicStatus }) {
  const standing = shownState(status)
  const transcoded = Number(status.tcode_progress)
  const told = useOnce(spoken(status))
  const tiles = status.dry_run ? [] : figures(status, Date.now())
  return (
    <section class={`card stack standing ${standing}`} aria-labelledby="progress">
      <h2 id="progress" class="hidden">
        Progress
      </h2>
      {status.error || (standing === 'completed' && !status.dry_run) ? null : (
        <div class="line">
          {status.poster && !status.job_completed ? <Poster status={status} /> : null}
          <h3>{describeProgress(status)}</h3>
        </div>
      )}
      <p class="hidden" role="status">
        Job {id}: {told}
      </p>
      {status.dry_run || status.job_completed ? null : (
        <>
          <Bar label="Transcode" percent={transcoded} />
          <PartMap chunks={status.chunks} />
        </>
      )}
      {tiles.length === 0 ? null : <Tiles tiles={tiles} />}
    </section>
  )
}

/** The letters of `status.chunks.map`. */
const CELL_CLASSES: Readonly<Record<string, string>> = { r: 'runs', c: 'completed', f: 'failed' }

export function PartMap({ chunks }: Pick<PublicStatus, 'chunks'>) {
  if (chunks == null) return null
  return (
    <div class="part-map" aria-hidden="true">
      {chunks.map.split('').map((letter, part) => (
        <i key={part} class={CELL_CLASSES[letter] ?? ''} />
      ))}
    </div>
  )
}
