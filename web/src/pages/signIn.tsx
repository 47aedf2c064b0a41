// In charge of: asking for an API key and checking it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { checkKey, asError, type Failure } from '../api/api.ts'
import { Notice } from '../parts/notice.tsx'
import { navigate } from '../parts/router.tsx'
import { signIn } from '../api/session.ts'

export function SignIn({ notice }: { notice: string | null }) {
  const [key, setKey] = useState('')
  const [keep, setKeep] = useState(false)
  const [isShown, setShown] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = key.trim()
    if (given === '') {
      setFailure({ code: 'required', message: 'Enter your API key.' })
      input.current?.focus()
      return
    }
    setBusy(true)
    try {
      const scope = await checkKey(given)
      if (scope === 'admin' && location.pathname === '/') navigate('/keys')
      signIn(given, scope, keep)
    } catch (error) {
      setFailure(asError(error))
      setBusy(false)
      input.current?.focus()
    }
  }

  return (
    <main class="card stack loose sign-in">
      <div class="sign-in-head">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to Splicepoint</h1>
        <p class="help">{location.host}</p>
      </div>
      {notice === null ? null : <Notice kind="warning">{notice}</Notice>}
      {/* Not submitted: it lets password managers recognize the form. */}
      <form class="stack loose" method="post" onSubmit={(event) => void submit(event)}>
        <div class="stack tight">
          <span class="line apart">
            <label for="key">API key</label>
            <button type="button" class="link help" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              {isShown ? 'Hide' : 'Show'}
            </button>
          </span>
          <input
            id="key"
            ref={input}
            {...(isShown ? ({ type: 'text' } as const) : ({ type: 'password' } as const))}
            autocomplete="current-password"
            spellcheck={false}
            placeholder="sp_…"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            aria-describedby={failure ? 'key-problem key-help' : 'key-help'}
            aria-invalid={failure !== null}
          />
          <div aria-live="assertive">
            {failure === null ? null : (
              <p class="problem" id="key-problem">
                {failure.message}
              </p>
            )}
          </div>
          <p id="key-help" class="help">
            Running it yourself? <code>npm start</code> prints one, and an admin key for keys and accounts.
          </p>
        </div>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
          <span>
            Stay signed in
            <span class="help">Keeps the key in this browser until you sign out. Not for shared computers.</span>
          </span>
        </label>
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Checking the key …' : 'Sign in'}
        </button>
      </form>
      <p class="help">
        New here? The <a href="/docs">API reference</a> needs no key.
      </p>
    </main>
  )
}
