// In charge of: the log of a job: each attempt's ffmpeg commands and the transcoder's log lines. Loaded when it is
// opened.
import { useEffect, useState } from 'preact/hooks'
import type { JobLog } from '#contract/api/answers.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { Copy } from '../parts/copy.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, type Failure } from '../api/api.ts'
import { sleep, whenVisible } from '../api/jobWatch.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { formatTime, formatDuration } from '../text/format.ts'
import { readLog } from './resultApi.ts'

interface LogProps {
  id: number
  /** Changes when the log may have grown: with each attempt, and at the end. */
  version: string
  /** While it runs and is open, the log is read again and again. */
  isRunning: boolean
  chunks: PublicStatus['chunks']
  /** Opens the log at what failed. */
  hasFailed: boolean
}

/** Interval at which the log of a running job is read. */
const LIVE_MS = 3000

export function Log({ id, version, isRunning, chunks, hasFailed }: LogProps) {
  const [open, setOpen] = useState(hasFailed)
  const [chosen, setChosen] = useState<string | null>(null)
  // What failed is what a reader looks for.
  const failed = chunks?.map.indexOf('f') ?? -1
  const part = chosen ?? (failed < 0 ? '' : `${failed}`)
  const [log, setLog] = useState<JobLog | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [wrap, setWrap] = useState(true)
  const choose = (next: string): void => {
    setChosen(next)
    setLog(null)
  }
  useEffect(() => {
    if (!open) return
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      try {
        for (let again = true; again && !signal.aborted; again = isRunning) {
          const next = await readLog(id, part === '' ? null : Number(part))
          if (signal.aborted) return
          setLog(next)
          setFailure(null)
          await sleep(LIVE_MS, signal)
          await whenVisible(signal)
        }
      } catch (error) {
        if (!signal.aborted) setFailure(asError(error))
      }
    }
    void follow()
    return () => stopped.abort()
  }, [id, open, version, isRunning, attempt, part])
  return (
    <section class="card" aria-labelledby="log">
      <details open={open} class={wrap ? '' : 'unwrapped'} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2 id="log">Log</h2> <span class="help">ffmpeg commands and messages of the transcoder</span>
        </summary>
        <div class="line apart">
          {chunks == null ? <span /> : <PartChoice map={chunks.map} value={part} onChange={choose} />}
          {log === null || log.attempts.length === 0 ? null : (
            <div class="line">
              <label class="line">
                <input type="checkbox" checked={wrap} onChange={(event) => setWrap(event.currentTarget.checked)} />
                Wrap lines
              </label>
              <Copy text={textOf(log)} what="all of the log" label="Copy all" />
            </div>
          )}
        </div>
        {failure ? (
          <ConnectionNotice failure={failure} retry={() => setAttempt(attempt + 1)} />
        ) : log === null ? (
          <Loading label="Loading the log" lines={1} />
        ) : log.attempts.length === 0 ? (
          <p class="help">
            {hasFailed ? 'The log is empty.' : 'The log is empty so far. It appears when the encode starts.'}
          </p>
        ) : (
          log.attempts.map((each) => <Attempt key={each.attempt} of={each} only={log.attempts.length === 1} />)
        )}
      </details>
    </section>
  )
}

/** The words for the letters of `status.chunks.map`. */
const PART_STATES: Readonly<Record<string, string>> = {
  '.': 'waiting',
  r: 'running',
  c: 'completed',
  f: 'failed',
  x: 'cancelled',
}

interface PartChoiceProps {
  map: string
  value: string
  onChange: (part: string) => void
}

function PartChoice({ map, value, onChange }: PartChoiceProps) {
  return (
    <label class="stack tight">
      <span>Task</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">Main task</option>
        {map.split('').map((letter, part) => (
          <option key={part} value={`${part}`}>
            {`${part === map.length - 1 ? 'Audio and the rest' : `Chunk ${part}`}: ${PART_STATES[letter] ?? 'waiting'}`}
          </option>
        ))}
      </select>
    </label>
  )
}

type LogAttempt = JobLog['attempts'][number]

const linesOf = ({ lines }: LogAttempt): string =>
  lines.map(({ time, level, message }) => `${formatTime(time)}  ${level.padEnd(5)}  ${message}`).join('\n')

/** All of it, to be pasted into a report. */
function textOf({ attempts }: JobLog): string {
  return attempts
    .map((each) => {
      const commands = each.commands.map(
        ({ purpose, command, seconds, exit_code: code }) =>
          `# ${purpose} (${formatDuration(seconds)}, ${code === null ? 'not ended' : `exit code ${code}`})\n${command}`,
      )
      return [`Attempt ${each.attempt}`, each.engine ?? '', ...commands, linesOf(each)].filter(Boolean).join('\n\n')
    })
    .join('\n\n')
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function Attempt({ of: each, only }: { of: LogAttempt; only: boolean }) {
  const lines = linesOf(each)
  const failed = each.commands.findLastIndex(({ exit_code: code }) => code !== 0)
  // Usually the encode; the others are probes and other short commands.
  const longest = Math.max(...each.commands.map(({ seconds }) => seconds))
  return (
    <div class="stack attempt">
      {only ? null : <h3>Attempt {each.attempt}</h3>}
      {each.engine === null ? null : (
        <p class="help">{/^\d/.test(each.engine) ? `ffmpeg ${each.engine}` : each.engine}</p>
      )}
      {each.commands.map(({ purpose, command, seconds, exit_code: code }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- what has run stays in its place
        <details key={index} open={failed < 0 ? seconds === longest : index === failed}>
          <summary>
            {capital(purpose)}{' '}
            <span class="help">
              {formatDuration(seconds)}
              {code === 0 ? '' : code === null ? ' · still running or stopped' : ` · exit code ${code}`}
            </span>
          </summary>
          <div class="quoted">
            <pre class="code" tabIndex={0} aria-label={`Command: ${purpose}`}>
              {command}
            </pre>
            <Copy text={command} what={`the command: ${purpose}`} />
          </div>
        </details>
      ))}
      {lines === '' ? null : (
        <div class="quoted">
          <pre class="code" tabIndex={0} aria-label={`Messages of attempt ${each.attempt}`}>
            {lines}
          </pre>
          <Copy text={lines} what={`the messages of attempt ${each.attempt}`} />
        </div>
      )}
    </div>
  )
}
