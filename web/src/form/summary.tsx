// In charge of: the summary of outputs, costs and problems, and the button that creates the job.
import type { Problem, Warning } from '#contract/errors.ts'
import type { Estimate, PlannedFile } from '#contract/task/dryRunEstimate.ts'
import { bitrate } from '../text/mediaDetails.ts'
import { channelsName, codecName, dimensions, framesPerSecond } from '../text/mediaTerms.ts'
import type { Failure } from '../api/api.ts'
import { Notice, ConnectionNotice } from '../parts/notice.tsx'
import { formatBytes, formatDollars, formatDuration } from '../text/format.ts'
import type { Analysis } from './model/sourceAnalysis.ts'
import { renditionsOf, totalOf, type Total } from './model/estimate.ts'
import { fieldTitle, reworded } from './model/messages.ts'
import type { Source } from './model/sources.ts'

interface SummaryProps {
  /** One for each job. */
  sources: readonly Source[]
  /** The job joins several sources. */
  isJoined: boolean
  analyses: ReadonlyMap<string, Analysis>
  /** Problems that prevent the job; shown after the button was pressed. */
  problems: readonly Problem[]
  warnings: readonly Warning[]
  provider: string
  busy: boolean
  failure: Failure | null
  onCreate: () => void
  onShow: (problem: Problem) => void
}

/** Warnings about what the user explicitly asked for: allow_upscaling and optional audio. */
const BY_DESIGN: readonly string[] = ['rung_left_out', 'audio_left_out']

const unstored = ({ input }: Source): boolean => input === null

export function Summary(props: SummaryProps) {
  const { sources, isJoined, analyses, problems, warnings, provider, busy, failure, onCreate, onShow } = props
  const found = sources.flatMap(({ key }) => analyses.get(key) ?? [])
  const estimates = found.flatMap(({ estimate }) => estimate ?? [])
  const complete = sources.length > 0 && estimates.length === sources.length
  const waiting = sources.filter(unstored).length
  const count = Math.max(1, sources.length)
  const refused = found.flatMap(({ failure: reason, source }) => (reason && source ? [reason] : []))
  const planned = estimates.flatMap((each) => each.warnings)
  // Left out on request: shown as a note, not as a warning.
  const notes = planned.filter(({ code }) => BY_DESIGN.includes(code))
  const told = [
    ...warnings.map(({ message }) => message),
    ...planned.filter((each) => !notes.includes(each)).map(({ message }) => reworded(message)),
  ]
  return (
    <section class="card stack sticky" aria-labelledby="summary">
      <h2 id="summary">{sources.length > 1 ? `Summary of ${sources.length} jobs` : 'Summary'}</h2>
      <div class="stack">
        <Figures
          total={complete ? totalOf(estimates) : null}
          pending={found.some((each) => each.busy)}
          empty={
            sources.length === 0
              ? 'Add a source to see time, size and cost.'
              : waiting > 0
                ? 'Shown when the upload is complete.'
                : null
          }
        />
        {complete && estimates[0] ? <Planned estimate={estimates[0]} isMultiple={sources.length > 1} /> : null}
        {notes.length === 0 ? null : (
          <ul class="stack">
            {[...new Set(notes.map(({ message }) => reworded(message)))].map((message) => (
              <li key={message} class="help">
                {message}
              </li>
            ))}
          </ul>
        )}
        <Warnings messages={[...new Set(told)]} />
        {refused.map((reason) => (
          <ConnectionNotice key={reason.message} failure={reason} />
        ))}
      </div>
      <div aria-live="polite" class="stack">
        {problems.length > 0 ? (
          <Notice kind="error">
            <p>
              <strong>
                {problems.length === 1 ? '1 setting needs attention' : `${problems.length} settings need attention`}
              </strong>
            </p>
            <ul class="stack">
              {problems.map((problem) => (
                <li key={problem.field + problem.message} class="stack tight">
                  <button type="button" class="link" onClick={() => onShow(problem)}>
                    {fieldTitle(problem.field, provider)}
                  </button>
                  <span>{problem.message}</span>
                </li>
              ))}
            </ul>
          </Notice>
        ) : null}
        {failure ? <ConnectionNotice failure={failure} /> : null}
      </div>
      <div class="stack create-bar">
        <button type="button" class="primary" disabled={busy || (isJoined && waiting > 0)} onClick={onCreate}>
          {busy ? 'Creating …' : count > 1 ? `Create ${count} jobs` : 'Create job'}
        </button>
        {waiting > 0 ? (
          <p class="help">
            {isJoined
              ? 'Sources can be joined when their uploads are complete.'
              : sources.length > 1
                ? 'Each job starts when its upload is complete.'
                : 'Starts when the upload is complete.'}
          </p>
        ) : null}
      </div>
    </section>
  )
}

function Warnings({ messages }: { messages: readonly string[] }) {
  if (messages.length === 0) return null
  return (
    <Notice kind="warning">
      <ul class="stack tight">
        {messages.map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </Notice>
  )
}

interface FiguresProps {
  total: Total | null
  pending: boolean
  /** Why the list is empty. */
  empty: string | null
}

function Figures({ total, pending, empty }: FiguresProps) {
  if (total === null && !pending && empty !== null) return <p class="help">{empty}</p>
  const spell = (name: string, range: Total['seconds'], label: (figure: number) => string) => (
    <div class="line apart">
      <dt>{name}</dt>
      <dd>
        {total === null ? (
          pending ? (
            <span class="pulse" />
          ) : (
            '–'
          )
        ) : range === null ? (
          'Unknown'
        ) : (
          <>
            ~{label(range.likely)}
            {range.low === range.high ? null : (
              <span class="help">
                {label(range.low)} to {label(range.high)}
              </span>
            )}
          </>
        )}
      </dd>
    </div>
  )
  return (
    <dl class="stack estimate" aria-busy={pending}>
      {spell('Encoding time', total?.seconds ?? null, (seconds) =>
        formatDuration(seconds < 10 ? Number(seconds.toPrecision(2)) : Math.round(seconds)),
      )}
      {spell('Output size', total?.bytes ?? null, formatBytes)}
      {spell('Cost', total?.dollars ?? null, formatDollars)}
    </dl>
  )
}

function Planned({ estimate, isMultiple }: { estimate: Estimate; isMultiple: boolean }) {
  const videos = renditionsOf(estimate).flatMap(({ path, video }) => (video ? [{ path, video }] : []))
  const lines = new Set(videos.map(({ video }) => `${codecName(video.codec)} · ${framesPerSecond(video.frame_rate)}`))
  const audio = audioOf(estimate.plan.outputs)
  return (
    <div class="stack">
      <h3>{isMultiple ? 'Outputs of the first source' : 'Outputs'}</h3>
      {[...lines].map((line) => (
        <p key={line} class="help">
          {line}
        </p>
      ))}
      <ul class="stack tight">
        {videos.map(({ path, video }) => (
          <li key={path} class="line apart">
            <strong>{dimensions(video.width, video.height)}</strong>
            <span>{bitrate(video.bitrate_kbps)}</span>
          </li>
        ))}
        {audio.map(({ label, kbps }) => (
          <li key={label + kbps} class="line apart">
            <strong>{label}</strong>
            <span>{bitrate(kbps)}</span>
          </li>
        ))}
        {audio.length === 0 ? <li>No audio</li> : null}
      </ul>
      <details>
        <summary>Full plan</summary>
        <ul class="stack">
          {estimate.plan.outputs.map(({ path, description }) => (
            <li key={path} class="stack tight">
              <strong>{path}</strong>
              <span class="help">{description.join(' ')}</span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

/** Each kind of track once, whatever the number of outputs that carry it. */
function audioOf(outputs: readonly PlannedFile[]): { label: string; kbps: number }[] {
  const tracks = outputs.flatMap(({ audio }) =>
    audio.map(({ codec, channels, bitrate_kbps: kbps }) => ({
      label: `${codecName(codec)} ${channelsName(channels)}`,
      kbps,
    })),
  )
  return [...new Map(tracks.map((track) => [track.label + track.kbps, track])).values()]
}
