// In charge of: a secret that is shown once.
import { Copy } from '../parts/copy.tsx'
import { Notice } from '../parts/notice.tsx'

interface SecretProps {
  /** "API key". */
  name: string
  secret: string
  /** What to do with it. */
  advice: string
}

export function Secret({ name, secret, advice }: SecretProps) {
  return (
    <Notice kind="good">
      <p>
        <strong>Copy the {name} now. It is shown only once.</strong>
      </p>
      <div class="line">
        <input readOnly value={secret} aria-label={`New ${name}`} onFocus={(event) => event.currentTarget.select()} />
        <Copy key={secret} text={secret} what={`the ${name}`} label="Copy" />
      </div>
      <p class="help">{advice}</p>
    </Notice>
  )
}
