// In charge of: the description of captions inside the video for manifests.
// Not in charge of: finding them (transcoder/formats/cea), captions as files (TextTrack).
import type { Presentation, VideoTrack } from './presentation.ts'

/** A channel that manifests can name. Text mode (T1 to T4) has no name. */
export interface CaptionChannel {
  /** The HLS name (INSTREAM-ID): `CC1`, `SERVICE3`. */
  id: string
  standard: '608' | '708'
  number: number
  /** ISO 639-2 or BCP 47; null where it is unknown. */
  language: string | null
  /** Shown to viewers. */
  name: string
}

/** The channels of all these tracks, in order. */
export function embeddedCaptionChannels(
  tracks: readonly VideoTrack[],
  { text, embedded }: Presentation,
): CaptionChannel[] {
  const ids = [...new Set(tracks.flatMap(({ captionChannels }) => captionChannels))]
  return ids.flatMap((id) => {
    const [, kind, number] = /^(CC|SERVICE)(\d+)$/.exec(id) ?? []
    if (kind === undefined) return []
    const own = embedded?.find(({ channel }) => channel === id)
    const language = own === undefined ? (text.find(({ channel }) => channel === id)?.language ?? null) : own.language
    const name = own === undefined || own.label === '' ? id : own.label
    return [{ id, standard: kind === 'CC' ? '608' : '708', number: Number(number), language, name }]
  })
}
