// In charge of: which outputs of a job a browser can play. Pure.
import type { PublicOutput } from '#contract/api/status.ts'
import { isPlayable } from './outputKinds.ts'
import type { PlayerSource } from '../player/playerMedia.ts'

const FILES = /\.(mp4|m4v|m4a|webm|mov|mp2|mp3|opus|flac|wav)$/i

/** Presentations first, then files in their order. Browsers cannot play transport streams and AC-3. */
export function playableSources(outputs: readonly PublicOutput[]): PlayerSource[] {
  const found: PlayerSource[] = []
  const playable = outputs.filter(isPlayable)
  for (const { path, url, media } of playable) {
    const audioOnly = media != null && media.video === null
    const name = path.split('/').at(-1) ?? path
    // A multivariant playlist or a manifest covers all renditions; the one in the tar would be a duplicate.
    if (name === 'master.m3u8') found.push({ kind: 'hls', label: 'HLS', url, audioOnly })
    if (name === 'manifest.mpd') found.push({ kind: 'dash', label: 'DASH', url, audioOnly })
  }
  for (const { path, url, role, content_type: type, segments } of playable) {
    if (role !== 'media' || segments || !FILES.test(path)) continue
    found.push({ kind: 'file', label: path, url, audioOnly: type.startsWith('audio/') })
  }
  return found
}
