// In charge of: what manifests say of captions inside of the pictures.
// Not in charge of: finding them (transcoder/formats/cea), captions as files (TextTrack).
import type { Presentation, VideoTrack } from './presentation.ts'

/** A channel that manifests have a name for; text mode (T1 to T4) has none. */
export interface CaptionChannel {
  /** As HLS names it (INSTREAM-ID): `CC1`, `SERVICE3`. */
  id: string
  standard: '608' | '708'
  number: number
  /** ISO 639-2; null where nothing says it. */
  language: string | null
}

/** Channels of these tracks together, in their order. */
export function embeddedCaptionChannels(tracks: readonly VideoTrack[], { text }: Presentation): CaptionChannel[] {
  const ids = [...new Set(tracks.flatMap(({ captionChannels }) => captionChannels))]
  return ids.flatMap((id) => {
    const [, kind, number] = /^(CC|SERVICE)(\d+)$/.exec(id) ?? []
    if (kind === undefined) return []
    const language = text.find(({ channel }) => channel === id)?.language ?? null
    return [{ id, standard: kind === 'CC' ? '608' : '708', number: Number(number), language }]
  })
}
