// In charge of: playing HLS and DASH in a <video>, with its renditions and captions. The player is its own file, loaded
// when somebody wants to see something. Not in charge of: buttons (parts/player.tsx).
import type { Playable } from './playable.ts'

export interface Choice {
  id: string
  label: string
}

export interface Stream {
  renditions: Choice[]
  captions: Choice[]
  /** null = as the connection allows. */
  chooseRendition: (id: string | null) => void
  /** null = none. */
  chooseCaptions: (id: string | null) => void
  destroy: () => Promise<void>
}

/** @throws Error with a sentence for people */
export async function openStream(
  video: HTMLVideoElement,
  { url, kind }: Playable,
  onError: (message: string) => void,
): Promise<Stream> {
  const { default: shaka } = await import('shaka-player')
  shaka.polyfill.installAll()
  if (!shaka.Player.isBrowserSupported()) throw new Error('This browser cannot play HLS or DASH.')
  const player = new shaka.Player()
  await player.attach(video)
  const explain = (error: unknown): string => {
    const { code, category } = error as { code?: number; category?: number }
    return `The player stopped (shaka error ${category ?? '?'}.${code ?? '?'}).`
  }
  player.addEventListener('error', (event) => onError(explain((event as Event & { detail?: unknown }).detail)))
  try {
    await player.load(url, null, kind === 'hls' ? 'application/vnd.apple.mpegurl' : 'application/dash+xml')
  } catch (error) {
    await player.destroy()
    throw new Error(explain(error), { cause: error })
  }
  const variants = player.getVariantTracks()
  const sizes = [...new Set(variants.flatMap(({ height }) => (height ? [height] : [])))].toSorted((a, b) => b - a)
  const texts = player.getTextTracks()
  return {
    renditions: sizes.map((height) => ({ id: String(height), label: `${height}p` })),
    captions: texts.map(({ id, label, language, originalLanguage }) => ({
      id: String(id),
      label: label ?? originalLanguage ?? language,
    })),
    chooseRendition(id) {
      player.configure('abr.enabled', id === null)
      const wanted = player.getVariantTracks().find(({ height }) => String(height) === id)
      if (wanted) player.selectVariantTrack(wanted, true)
    },
    chooseCaptions(id) {
      player.selectTextTrack(player.getTextTracks().find((track) => String(track.id) === id) ?? null)
    },
    destroy: () => player.destroy(),
  }
}
