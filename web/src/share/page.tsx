// In charge of: the share page: title, player, link and downloads; in an iframe, the player alone. First its password, if
// it has one.
import { useEffect, useState } from 'preact/hooks'
import type { SharedMedia } from '#contract/api/answers.ts'
import { Icon } from '../parts/icon.tsx'
import { formatBytes, formatDuration } from '../text/format.ts'
import { isEmbedded, pageAddress, readMedia } from './shareMedia.ts'
import { Player } from './sharedPlayer.tsx'

type Loaded =
  | { state: 'loading' | 'gone' }
  /** `again`: a password was wrong. */
  | { state: 'locked'; again: boolean }
  | { state: 'failed'; message: string }
  | { state: 'ready'; media: SharedMedia }

export function SharedPage() {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' })
  const load = (password?: string): void => {
    readMedia(password)
      .then((media) =>
        setLoaded(
          media === 'gone'
            ? { state: media }
            : media === 'locked'
              ? { state: media, again: password !== undefined }
              : { state: 'ready', media },
        ),
      )
      .catch((error: unknown) => setLoaded({ state: 'failed', message: (error as Error).message }))
  }
  useEffect(() => load(), [])
  if (loaded.state === 'gone') {
    return (
      <main class="gone">
        <h1>This video is not available</h1>
        <p>The link has expired or was revoked. Ask the person who sent it for a new one.</p>
      </main>
    )
  }
  if (loaded.state === 'locked') return <Locked again={loaded.again} open={load} />
  if (loaded.state === 'failed') {
    return (
      <main class="gone">
        <h1>{document.title}</h1>
        <p role="alert">{loaded.message}</p>
        <button type="button" onClick={() => load()}>
          Try again
        </button>
      </main>
    )
  }
  const media = loaded.state === 'ready' ? loaded.media : null
  return (
    <main aria-busy={media === null}>
      <h1 class={isEmbedded ? 'hidden' : ''}>{media?.title ?? document.title}</h1>
      {media === null ? <div class="screen" /> : <Player media={media} />}
      {media === null || isEmbedded ? null : <Details media={media} />}
    </main>
  )
}

function Locked({ again, open }: { again: boolean; open: (password: string) => void }) {
  const [password, setPassword] = useState('')
  return (
    <main class="gone">
      <h1>This video needs a password</h1>
      <form
        class="line low"
        onSubmit={(event) => {
          event.preventDefault()
          open(password)
        }}
      >
        <label class="stack tight">
          <span>Password</span>
          <input
            type="password"
            autocomplete="off"
            required
            aria-invalid={again}
            aria-describedby={again ? 'wrong' : undefined}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Watch
        </button>
      </form>
      {again ? (
        <p id="wrong" role="alert">
          The password is wrong. Ask the person who sent the link.
        </p>
      ) : null}
    </main>
  )
}

function Details({ media }: { media: SharedMedia }) {
  const { downloads, duration_seconds: seconds, expires_at: end } = media
  return (
    <div class="stack">
      <p class="help">
        {seconds === null ? null : <>{formatDuration(seconds)} · </>}
        Available until <time dateTime={end}>{new Date(end).toLocaleDateString(undefined, { dateStyle: 'long' })}</time>
      </p>
      <CopyLink />
      {downloads.length > 0 ? (
        <section class="stack" aria-labelledby="downloads">
          <h2 id="downloads">Downloads</h2>
          <ul class="stack tight">
            {downloads.map(({ url, name, size }) => (
              <li key={url} class="line">
                <a href={url} download={name}>
                  <Icon name="download" />
                  <span>{name}</span>
                </a>
                <span class="help figures">{formatBytes(size)}</span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  )
}

function CopyLink() {
  const [state, setState] = useState<'copied' | 'refused' | null>(null)
  const copy = (): void => {
    // Without https there is no clipboard; the address can be selected.
    const written = navigator.clipboard?.writeText(pageAddress) ?? Promise.reject(new Error('no clipboard'))
    written.then(() => setState('copied')).catch(() => setState('refused'))
  }
  return (
    <div class="line">
      <button type="button" onClick={copy}>
        <Icon name={state === 'copied' ? 'check' : 'copy'} /> {state === 'copied' ? 'Link copied' : 'Copy link'}
      </button>
      {state === 'refused' ? (
        <input
          readOnly
          aria-label="Link to this page"
          value={pageAddress}
          onFocus={(event) => event.currentTarget.select()}
        />
      ) : null}
    </div>
  )
}
