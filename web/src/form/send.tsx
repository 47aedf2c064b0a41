// In charge of: the last part of the form: sending it, what is in the way, and the request as it will be sent.
import { Copy } from '../parts/copy.tsx'
import { EstimateView } from '../parts/estimate.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice, Trouble } from '../parts/notice.tsx'
import { situation } from '../words.ts'
import { curlLine, shownBody, type Body } from './body.ts'
import type { DryRun } from './dry-run.ts'
import type { Sending } from './sending.ts'

const LISTED = 5

export function Send({ body, sending }: { body: Body; sending: Sending }) {
  const { found, warnings, tried, busy, failure, estimate, send } = sending
  const json = shownBody(body)
  const curl = curlLine(body, location.origin, false)
  return (
    <section class="card sticky send" aria-labelledby="send">
      <h2 id="send">Send it</h2>
      <div class="actions">
        <button type="submit" class="primary" disabled={busy !== null}>
          <Icon name="play" /> {busy === 'create' ? 'Sending …' : 'Start the job'}
        </button>
        <button type="button" disabled={busy !== null} onClick={() => void send('dry')}>
          {busy === 'dry' ? 'Estimating …' : 'Dry run'}
        </button>
      </div>
      <p class="help">A dry run tells what would be made and what it would take, and makes nothing.</p>
      <div aria-live="polite" class="column">
        {tried && found.length > 0 ? (
          <Notice kind="error">
            <p>{found.length === 1 ? 'One thing is' : `${found.length} things are`} not right yet:</p>
            <ul>
              {found.slice(0, LISTED).map(({ field, message }) => (
                <li key={field + message}>{message}</li>
              ))}
            </ul>
            {found.length > LISTED ? <p>and {found.length - LISTED} more, beside their fields.</p> : null}
          </Notice>
        ) : null}
        {failure ? <Trouble failure={failure} /> : null}
        {warnings.length > 0 ? (
          <Notice kind="warning">
            <ul>
              {warnings.map(({ code, message }) => (
                <li key={code + message}>{message}</li>
              ))}
            </ul>
          </Notice>
        ) : null}
        {estimate ? <DryRunResult run={estimate} /> : null}
      </div>
      <Shown title="The request as JSON" text={json} />
      <Shown title="The same with curl" label="The request as a curl command" text={curl} />
    </section>
  )
}

function Shown({ title, label = title, text }: { title: string; label?: string; text: string }) {
  return (
    <details>
      <summary>{title}</summary>
      <div class="quoted">
        <pre class="code" tabIndex={0} aria-label={label}>
          {text}
        </pre>
        <Copy text={text} what={label.toLowerCase().replace('json', 'JSON')} />
      </div>
    </details>
  )
}

function DryRunResult({ run }: { run: DryRun }) {
  const { status } = run
  if (status.error) return <Trouble failure={status.error} />
  if (!status.estimate) return <p>{situation(status)}</p>
  return <EstimateView estimate={status.estimate} />
}
