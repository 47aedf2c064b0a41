// In charge of: sharing a job's result: pages that play it without a key, their addresses and embed codes, and revoking them.
import { generate } from 'lean-qr'
import { useEffect, useState } from 'preact/hooks'
import type { Share } from '#contract/api/answers.ts'
import { SHARE_PASSWORD_LENGTH } from '#contract/limits.ts'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, type Failure } from '../api/api.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { formatTimeLeft } from '../text/format.ts'
import { createShare, listShares, revokeShare } from './resultApi.ts'

const DAY = 86_400
/** Widths of the embedded player. */
const WIDTHS = [
  ['100%', 'As wide as its place'],
  ['640px', '640 px wide'],
  ['960px', '960 px wide'],
  ['1280px', '1280 px wide'],
] as const
const TERMS = [
  [DAY, '1 day'],
  [7 * DAY, '7 days'],
  [30 * DAY, '30 days'],
] as const

/** Dark on light also where the page is dark, as scanners expect; with its quiet zone. */
const qrCode = (text: string): string =>
  generate(text).toDataURL({ type: 'image/png', scale: 4, on: [0, 0, 0], off: [255, 255, 255] })

interface ShareDialogProps {
  id: number
  name: string
  onClose: () => void
}

export function ShareDialog({ id, name, onClose }: ShareDialogProps) {
  const [shares, setShares] = useState<readonly Share[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [said, setSaid] = useState('')
  const [title, setTitle] = useState(name)
  const [term, setTerm] = useState<number>(7 * DAY)
  const [password, setPassword] = useState('')
  const [width, setWidth] = useState<string>(WIDTHS[0][0])
  const [scanned, setScanned] = useState<Share | null>(null)
  const [busy, setBusy] = useState(false)
  const embedCode = (share: Share): string => share.embed_html.replace('width:100%', `width:${width}`)
  const load = (): Promise<void> => listShares(id).then(setShares)
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setFailure(null)
    await work().catch((error: unknown) => setFailure(asError(error)))
    setBusy(false)
  }
  useEffect(() => void run(load), [id])

  const create = (): Promise<void> =>
    run(async () => {
      const wanted = title.trim()
      await createShare(id, {
        ...(wanted === '' ? {} : { title: wanted }),
        expires_in_seconds: term,
        ...(password === '' ? {} : { password }),
      })
      setPassword('')
      await load()
      setSaid('The share link is ready.')
    })
  const revoke = (share: Share): Promise<void> =>
    run(async () => {
      await revokeShare(id, share.share_id)
      await load()
      setSaid(`The share link “${share.title}” is revoked.`)
    })
  return (
    <Dialog title="Share" wide onClose={onClose}>
      <p class="help">
        A share link opens a page with a player. It works for anyone who has the link, and its password if it has one,
        without an API key, until it expires or you revoke it.
      </p>
      <form
        class="line low"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <label class="stack tight grow">
          <span>Title</span>
          <input value={title} maxLength={200} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <label class="stack tight">
          <span>Expires after</span>
          <select value={term} onChange={(event) => setTerm(Number(event.currentTarget.value))}>
            {TERMS.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label class="stack tight">
          <span>Password</span>
          <input
            placeholder="None"
            size={10}
            autocomplete="off"
            minLength={SHARE_PASSWORD_LENGTH.minimum}
            maxLength={SHARE_PASSWORD_LENGTH.maximum}
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          <Icon name="link" /> Create link
        </button>
      </form>
      {failure ? (
        <ConnectionNotice failure={failure} {...(shares === null ? { retry: () => void run(load) } : {})} />
      ) : null}
      <p class="hidden" role="status">
        {said}
      </p>
      {shares === null ? (
        failure ? null : (
          <Loading label="Loading the share links" lines={1} />
        )
      ) : (
        <ul class="stack">
          {shares.map((share) => (
            <li key={share.share_id} class="box stack">
              <div class="line">
                <strong>{share.title}</strong>
                <span class="help grow">
                  expires {formatTimeLeft(share.expires_at, Date.now())}
                  {share.has_password ? ' · with a password' : ''}
                </span>
                <button
                  type="button"
                  class="small danger"
                  disabled={busy}
                  aria-label={`Revoke ${share.title}`}
                  onClick={() => void revoke(share)}
                >
                  Revoke
                </button>
              </div>
              <div class="line low">
                <label class="stack tight grow">
                  <span>Link</span>
                  <input readOnly value={share.url} onFocus={(event) => event.currentTarget.select()} />
                </label>
                <Copy text={share.url} what={`the link of ${share.title}`} label="Copy" />
                <a class="button small" href={share.url} target="_blank" rel="noreferrer">
                  <Icon name="open" size={16} /> Open
                </a>
                <button type="button" class="small" onClick={() => setScanned(scanned === share ? null : share)}>
                  QR code
                </button>
              </div>
              {scanned === share ? (
                <img class="qr" src={qrCode(share.url)} alt={`QR code of the link of ${share.title}`} />
              ) : null}
              <div class="line low">
                <label class="stack tight grow">
                  <span>Embed code</span>
                  <input readOnly value={embedCode(share)} onFocus={(event) => event.currentTarget.select()} />
                </label>
                <label class="stack tight">
                  <span>Size</span>
                  <select value={width} onChange={(event) => setWidth(event.currentTarget.value)}>
                    {WIDTHS.map(([value, label]) => (
                      <option key={value} value={value}>
                        {label}
                      </option>
                    ))}
                  </select>
                </label>
                <Copy text={embedCode(share)} what={`the embed code of ${share.title}`} label="Copy" />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
