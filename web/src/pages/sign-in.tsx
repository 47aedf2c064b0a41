// In charge of: asking for an API key and trying it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { tryKey } from '../api.ts'
import { Notice, asError, type Failure } from '../parts/notice.tsx'
import { navigate } from '../router.tsx'
import { signIn } from '../session.ts'

export function SignIn({ notice }: { notice: string | null }) {
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = key.trim()
    if (given === '') {
      setFailure({ code: 'required', message: 'Paste your API key first.' })
      return
    }
    setBusy(true)
    try {
      const scope = await tryKey(given)
      signIn(given)
      if (scope === 'admin' && location.pathname === '/') navigate('/keys')
    } catch (error) {
      setFailure(asError(error))
      setBusy(false)
      input.current?.focus()
    }
  }

  return (
    <main class="sign-in">
      <h1>
        <img src="/icon.svg" alt="" width="40" height="40" />
        Splicepoint
      </h1>
      {notice === null ? null : <Notice kind="warning">{notice}</Notice>}
      <form onSubmit={(event) => void submit(event)}>
        <label for="key">API key</label>
        <input
          id="key"
          ref={input}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          aria-describedby="key-help"
          aria-invalid={failure !== null}
        />
        <p id="key-help" class="help">
          It stays in this tab and is forgotten when the tab is closed. <code>npm start</code> prints one.
        </p>
        <div aria-live="assertive">{failure === null ? null : <Notice kind="error">{failure.message}</Notice>}</div>
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Trying the key …' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}
