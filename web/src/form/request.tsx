// In charge of: the request as JSON and as a curl command, and the switch that shows the API's names in the form.
import { Copy } from '../parts/copy.tsx'
import { curlLine, shownBody, type FormBody } from './model/formBody.ts'

interface RequestProps {
  body: FormBody
  names: boolean
  onNames: (shown: boolean) => void
}

export function Request({ body, names, onNames }: RequestProps) {
  return (
    <details class="card">
      <summary>
        <h2>API request</h2>
      </summary>
      <div class="stack">
        <p class="help">The API request for this job. Secrets are hidden and have to be filled in.</p>
        <label class="check">
          <input type="checkbox" checked={names} onChange={(event) => onNames(event.currentTarget.checked)} />
          <span>Show API names in the form</span>
        </label>
        <Shown label="Request as JSON" text={shownBody(body)} />
        <Shown label="Request with curl" text={curlLine(body, location.origin, false)} />
      </div>
    </details>
  )
}

function Shown({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <h3>{label}</h3>
      <div class="quoted">
        <pre class="code" tabIndex={0} aria-label={label}>
          {text}
        </pre>
        <Copy text={text} what={`the ${label.replace(/^R/, 'r')}`} />
      </div>
    </div>
  )
}
