// In charge of: what a playlist's address leads to: the highest variant, its audio renditions, and the address of every
// piece of them, each fetched through the guard.
// Not in charge of: the text of a playlist (hlsPlaylist.ts), handing pieces out (serveHlsSource.ts).
import type { HlsDescription } from '#contract/task/protocol.ts'
import { MAX_HLS_AUDIO } from '#contract/task/protocol.ts'
import type { HttpAccess } from '../../storage/http/httpSource.ts'
import { basic, httpSource } from '../../storage/http/httpSource.ts'
import type { Source } from '../../storage/objectStore.ts'
import { StoreError } from '../../storage/objectStore.ts'
import type { Transport } from '../../storage/guardedFetch.ts'
import type { Bytes, InitSection, MediaPlaylist, MultivariantPlaylist, Variant } from './hlsPlaylist.ts'
import { readPlaylist } from './hlsPlaylist.ts'
import { PlaylistRefused } from './playlistError.ts'

/** Of one playlist's text: 43,200 segments with an address of 150 characters each. */
const MAX_PLAYLIST_BYTES = 8 * 1024 * 1024
/** Different keys of one presentation. */
const MAX_KEYS = 10_000
const PLAYLIST_MS = 30_000

export interface Piece {
  url: string
  range: Bytes | null
}

export interface Presentation {
  description: HlsDescription
  /** By track: what `HlsDescription.tracks[].segments` and `.maps` number. */
  tracks: { segments: Piece[]; maps: Piece[] }[]
  keys: string[]
}

interface Fetched<T> {
  url: URL
  playlist: T
}

/**
 * @throws PlaylistRefused for what is not supported, damaged or too large
 * @throws StoreError for addresses that are refused or cannot be read
 */
export async function openPresentation(
  address: string,
  access: HttpAccess,
  transport: Transport,
): Promise<Presentation> {
  const origin = new URL(address).origin
  const top = await fetchPlaylist(address, access, origin, transport)
  const { playlist } = top
  if (playlist.kind === 'media') return describe([{ url: top.url, playlist, language: null }])
  const variant = highest(playlist)
  const renditions = playlist.audio.filter(({ group, uri }) => group === variant.audio && uri !== null)
  if (renditions.length > MAX_HLS_AUDIO) {
    throw new PlaylistRefused('source_too_large', `The playlist has more than ${MAX_HLS_AUDIO} audio renditions.`)
  }
  const wanted = [
    { uri: variant.uri, language: null },
    // A variant of sound alone names itself in its group as well.
    ...renditions.flatMap(({ uri, language }) => (uri === null || uri === variant.uri ? [] : [{ uri, language }])),
  ]
  const tracks = []
  for (const { uri, language } of wanted) {
    const { url, playlist: media } = await fetchPlaylist(resolve(uri, top.url), access, origin, transport)
    if (media.kind !== 'media') throw damaged('A variant of the playlist is again a multivariant playlist.')
    tracks.push({ url, playlist: media, language })
  }
  return describe(tracks)
}

/** One piece, or a key, as a source. Credentials are the playlist's: they go to its own origin and to no other. */
export function openPiece(url: string, address: string, access: HttpAccess, transport: Transport): Source {
  return httpSource(url, new URL(url).origin === new URL(address).origin ? access : {}, transport)
}

function damaged(message: string): PlaylistRefused {
  return new PlaylistRefused('source_damaged', message)
}

/** With video before without; then the most bits a second; then the first. */
function highest({ variants }: MultivariantPlaylist): Variant {
  const [best] = variants.toSorted((a, b) => Number(b.hasVideo) - Number(a.hasVideo) || b.bandwidth - a.bandwidth)
  return best!
}

async function fetchPlaylist(
  address: string,
  access: HttpAccess,
  origin: string,
  transport: Transport,
): Promise<Fetched<MediaPlaylist | MultivariantPlaylist>> {
  const host = URL.parse(address)?.host ?? 'The server'
  const problem = (code: StoreError['code'], why: string, status: number | null = null): StoreError =>
    new StoreError(code, 'http', 'playlist', `${host} ${why}${status === null ? '' : ` (${status})`}.`, status)
  const headers = new Headers({ accept: '*/*', 'accept-encoding': 'identity' })
  if ((access.username || access.password) && URL.parse(address)?.origin === origin) {
    headers.set('authorization', basic(access.username ?? '', access.password ?? ''))
  }
  const late = AbortSignal.timeout(PLAYLIST_MS)
  const response = await transport(address, { headers, signal: late })
  if (response.status !== 200) {
    await response.body?.cancel()
    const { status } = response
    if (status === 401 || status === 403) throw problem('forbidden', 'refuses access to a playlist', status)
    if (status === 404 || status === 410) throw problem('not_found', 'has no such playlist', status)
    throw problem('unreachable', 'cannot deliver a playlist now', status)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const announced = Number(response.headers.get('content-length') ?? 'NaN')
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > MAX_PLAYLIST_BYTES) break
      chunks.push(chunk)
    }
  } catch {
    throw problem('unreachable', 'broke off in the middle of a playlist')
  }
  if (size > MAX_PLAYLIST_BYTES) {
    throw new PlaylistRefused('source_too_large', `A playlist has more than ${MAX_PLAYLIST_BYTES / 2 ** 20} MiB.`)
  }
  if (size < announced && !response.headers.has('content-encoding')) {
    throw problem('unreachable', 'broke off in the middle of a playlist')
  }
  // RFC 8216, 4.1: relative addresses are relative to where the playlist came from, redirects followed.
  const url = new URL(response.url || address)
  return { url, playlist: readPlaylist(await new Blob(chunks).text()) }
}

/** What is no address at all stays as it is, for the guard to refuse in its own words. */
function resolve(uri: string, base: URL): string {
  return URL.parse(uri, base)?.href ?? uri
}

async function describe(
  tracks: { url: URL; playlist: MediaPlaylist; language: string | null }[],
): Promise<Presentation> {
  const keys = new Map<string, number>()
  const keyOf = (piece: InitSection, base: URL): { key: number | null; iv: string | null } => {
    if (piece.key === null) return { key: null, iv: null }
    const url = resolve(piece.key.uri, base)
    const index = keys.get(url) ?? keys.set(url, keys.size).size - 1
    if (keys.size > MAX_KEYS) throw new PlaylistRefused('source_too_large', `There are more than ${MAX_KEYS} keys.`)
    return { key: index, iv: piece.key.iv }
  }
  const pieceOf = (piece: InitSection, base: URL): Piece => ({ url: resolve(piece.uri, base), range: piece.range })
  const made = tracks.map(({ url, playlist, language }) => {
    const maps = new Map<string, { index: number; piece: Piece; key: number | null; iv: string | null }>()
    const segments = playlist.segments.map(({ map, ...segment }) => {
      let init: number | null = null
      if (map !== null) {
        const piece = pieceOf(map, url)
        const secret = keyOf(map, url)
        const name = JSON.stringify([piece, secret])
        const known = maps.get(name) ?? { index: maps.size, piece, ...secret }
        maps.set(name, known)
        init = known.index
      }
      const { seconds, discontinuity } = segment
      return { piece: pieceOf(segment, url), seconds, discontinuity, map: init, ...keyOf(segment, url) }
    })
    return { language, maps: [...maps.values()], segments }
  })
  const description = {
    ended: tracks.every(({ playlist }) => playlist.ended),
    target_seconds: Math.max(...tracks.map(({ playlist }) => playlist.targetSeconds)),
    tracks: made.map(({ language, maps, segments }) => ({
      language,
      maps: maps.map(({ key, iv }) => ({ key, iv })),
      segments: segments.map(({ piece: _piece, ...segment }) => segment),
    })),
  }
  const pieces = made.map(({ maps, segments }) => ({
    maps: maps.map(({ piece }) => piece),
    segments: segments.map(({ piece }) => piece),
  }))
  // Said beside what is pinned: a description of an older Worker has the same pin.
  const told = description.tracks.map((track, n) => ({ ...track, rounds: tracks[n]!.playlist.rounds }))
  return {
    description: { pin: await digest([description, pieces]), ...description, tracks: told },
    tracks: pieces,
    keys: [...keys.keys()],
  }
}

/** Without queries: an address that is signed anew every time still names the same piece. */
async function digest(value: unknown): Promise<string> {
  const text = JSON.stringify(value, (name, each: unknown) =>
    name === 'url' && typeof each === 'string' ? each.replace(/\?.*$/s, '') : each,
  )
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
