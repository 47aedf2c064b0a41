// In charge of: the small image of a job in a list: its poster, or a symbol.
import { useState } from 'preact/hooks'
import type { PublicStatus } from '#contract/api/status.ts'
import { runningTime } from '../text/mediaTerms.ts'
import { Icon } from './icon.tsx'

export function Poster({ status }: { status: PublicStatus }) {
  const { poster, source } = status
  const [broken, setBroken] = useState(false)
  // The signature in the address changes with each poll; the image does not.
  const [address, setAddress] = useState(poster?.url ?? null)
  if (address === null && poster !== null) setAddress(poster.url)
  const seconds = source?.duration_seconds ?? null
  const audioOnly = source !== null && source.video === null
  return (
    <div class="thumb" aria-hidden="true">
      {address !== null && !broken ? (
        <img src={address} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
      ) : (
        <Icon name={audioOnly ? 'audio' : 'film'} size={24} />
      )}
      {seconds === null ? null : <span class="thumb-time">{runningTime(seconds)}</span>}
    </div>
  )
}
