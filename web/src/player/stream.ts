// In charge of: HLS and DASH in a <video>, with renditions and captions, by shaka-player. Loaded separately when
// playback starts.
// Not in charge of: controls (player.tsx).
import { namedTracks, type NamedTrack } from './captions.ts'
import type { PlayerSource } from './playerMedia.ts'

export interface Stream {
  renditions: NamedTrack[]
  captions: NamedTrack[]
  /** null = automatic. */
  chooseRendition: (id: string | null) => void
  /** null = off. */
  chooseCaptions: (id: string | null) => void
  /** Name of the current rendition. */
  playing: () => string | null
  destroy: () => Promise<void>
}

interface Listener {
  onError: (message: string) => void
  /** Called when the rendition changes. */
  onRendition: () => void
}

interface Variant {
  width?: number | null
  height?: number | null
  videoBandwidth?: number | null
}

/** By the shorter side, so that an upright 720 × 1280 is "720p" as well. */
const sideOf = ({ width, height }: Variant): number => Math.min(width || Infinity, height || Infinity)
const idOf = ({ width, height, videoBandwidth }: Variant): string => `${width}x${height}@${videoBandwidth ?? 0}`

function named(variants: readonly Variant[]): NamedTrack[] {
  const each = new Map(variants.filter(({ height }) => height).map((variant) => [idOf(variant), variant]))
  const sorted = [...each].toSorted(
    ([, a], [, b]) => sideOf(b) - sideOf(a) || (b.videoBandwidth ?? 0) - (a.videoBandwidth ?? 0),
  )
  return sorted.map(([id, variant]) => {
    const side = sideOf(variant)
    const alike = sorted.filter(([, other]) => sideOf(other) === side).length > 1
    const rate = alike && variant.videoBandwidth ? `, ${(variant.videoBandwidth / 1e6).toFixed(1)} Mbit/s` : ''
    return { id, label: `${side}p${rate}` }
  })
}

/** @throws Error with a message for viewers */
export async function openStream(
  video: HTMLVideoElement,
  { url, kind }: PlayerSource,
  { onError, onRendition }: Listener,
): Promise<Stream> {
  const { default: shaka } = await import('shaka-player')
  shaka.polyfill.installAll()
  if (!shaka.Player.isBrowserSupported()) throw new Error('This browser cannot play HLS or DASH.')
  const player = new shaka.Player()
  await player.attach(video)
  player.addEventListener('error', (event) => onError(explain((event as Event & { detail?: unknown }).detail)))
  for (const change of ['adaptation', 'variantchanged']) player.addEventListener(change, onRendition)
  try {
    await player.load(url, null, kind === 'hls' ? 'application/vnd.apple.mpegurl' : 'application/dash+xml')
  } catch (error) {
    await player.destroy()
    throw new Error(explain(error), { cause: error })
  }
  const renditions = named(player.getVariantTracks())
  const captions = namedTracks(
    player.getTextTracks().map((track) => ({
      id: String(track.id),
      language: track.language,
      label: track.label ?? null,
      channel: /cea-?[67]08/i.test(track.mimeType ?? '') ? (track.originalTextId ?? '') : null,
      forced: track.forced,
    })),
  )
  return {
    renditions,
    captions,
    chooseRendition(id) {
      player.configure('abr.enabled', id === null)
      const wanted = player.getVariantTracks().find((variant) => idOf(variant) === id)
      if (wanted) player.selectVariantTrack(wanted, true)
    },
    chooseCaptions(id) {
      player.selectTextTrack(player.getTextTracks().find((track) => String(track.id) === id) ?? null)
    },
    playing() {
      const active = player.getVariantTracks().find((variant) => variant.active)
      return renditions.find(({ id }) => active && id === idOf(active))?.label ?? null
    },
    destroy: () => player.destroy(),
  }
}

/** https://shaka-player-demo.appspot.com/docs/api/shaka.util.Error.html: 1 network, 2 text, 3 media, 4 manifest, 5 streaming. */
function explain(error: unknown): string {
  const { code, category } = error as { code?: number; category?: number }
  const number = ` (shaka ${category ?? '?'}.${code ?? '?'})`
  if (code === 1001) return `The stream is not available: its address may have expired. Load the page again.${number}`
  if (category === 1) return `The stream could not be loaded. Check the connection.${number}`
  if (category === 4 && code === 4032) return `This browser has no decoder for the codecs of this stream.${number}`
  if (category === 3) return `This browser could not decode the stream.${number}`
  return `Playback stopped.${number}`
}
