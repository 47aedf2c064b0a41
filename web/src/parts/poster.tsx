// In charge of: the small image of a job or an upload in a list: its poster, or a symbol.
import { useState } from 'preact/hooks'
import type { PublicStatus } from '#contract/api/status.ts'
import { runningTime } from '../text/mediaTerms.ts'
import { Icon } from './icon.tsx'

export function Poster({ status: { poster, source } }: { status: PublicStatus }) {
  const audioOnly = source !== null && source.video === null
  return (
    <Thumb url={poster?.url ?? null} seconds={source?.duration_seconds ?? null} icon={audioOnly ? 'audio' : 'film'} />
  )
}

interface ThumbProps {
  url: string | null
  seconds?: number | null
  icon?: 'audio' | 'film'
}

export function Thumb({ url, seconds = null, icon = 'film' }: ThumbProps) {
  const [broken, setBroken] = useState(false)
  // The signature in the address changes with each poll; the image does not.
  const [address, setAddress] = useState(url)
  if (address === null && url !== null) setAddress(url)
  return (
    <div class="thumb" aria-hidden="true">
      {address !== null && !broken ? (
        <img src={address} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
      ) : (
        <Icon name={icon} size={24} />
      )}
      {seconds === null ? null : <span class="thumb-time">{runningTime(seconds)}</span>}
    </div>
  )
}
