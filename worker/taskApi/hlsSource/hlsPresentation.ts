// In charge of: the resources of an HLS presentation: the variant with the highest bandwidth, its audio renditions, and
// the address of every segment, each fetched through guardedFetch.ts.
// Not in charge of: parsing a playlist (hlsPlaylist.ts), serving resources (serveHlsSource.ts).
import { MAX_HLS_AUDIO, type HlsDescription } from '#contract/task/protocol.ts'
import { basicAuthorization, httpSource, type HttpCredentials } from '../../storage/http/httpSource.ts'
import { StoreError, type Source } from '../../storage/objectStore.ts'
import type { FetchFunction } from '../../storage/guardedFetch.ts'
import {
  readPlaylist,
  type HlsByteRange,
  type HlsInitSection,
  type MediaPlaylist,
  type MultivariantPlaylist,
  type HlsVariant,
} from './hlsPlaylist.ts'
import { readBoundedBytes } from '../../storage/boundedBody.ts'
import { PlaylistError } from './playlistError.ts'
import { sha256Hex } from '../../util/encoding.ts'

/** For one playlist: 43,200 segments with an address of 150 characters each. */
const MAX_PLAYLIST_BYTES = 8 * 1024 * 1024
/** Distinct keys of one presentation. */
const MAX_KEYS = 10_000
const PLAYLIST_MS = 30_000

/** Its address is resolved when it is read: with that of the playlist, those of all segments would take much memory. */
export interface HlsResource {
  uri: string
  range: HlsByteRange | null
}

export interface HlsPresentation {
  description: HlsDescription
  /** By track, in the order of the numbers in `HlsDescription.tracks[].segments` and `.maps`. */
  tracks: { url: URL; segments: HlsResource[]; maps: HlsResource[] }[]
  keys: string[]
}

interface FetchedPlaylist<T> {
  url: URL
  playlist: T
}

/**
 * @throws PlaylistError for what is not supported, damaged or too large
 * @throws StoreError for addresses that are refused or cannot be read
 */
export async function openHlsPresentation(
  source: URL,
  access: HttpCredentials,
  transport: FetchFunction,
): Promise<HlsPresentation> {
  const fetchFrom = (url: URL | string) => fetchPlaylist(url, accessFor(url, source, access), transport)
  const top = await fetchFrom(source)
  const { playlist } = top
  if (playlist.kind === 'media') return describePresentation([{ url: top.url, playlist, language: null }])
  const variant = highestVariant(playlist)
  const renditions = playlist.audio.filter(({ group, uri }) => group === variant.audio && uri !== null)
  if (renditions.length > MAX_HLS_AUDIO) {
    throw new PlaylistError('source_too_large', `The playlist has more than ${MAX_HLS_AUDIO} audio renditions.`)
  }
  const wanted = [
    { uri: variant.uri, language: null },
    // An audio-only variant appears in its own audio group too.
    ...renditions.flatMap(({ uri, language }) => (uri === null || uri === variant.uri ? [] : [{ uri, language }])),
  ]
  const tracks = []
  for (const { uri, language } of wanted) {
    const { url, playlist: media } = await fetchFrom(resolve(uri, top.url))
    if (media.kind !== 'media') throw damagedPlaylist('A variant of the playlist is itself a multivariant playlist.')
    tracks.push({ url, playlist: media, language })
  }
  return describePresentation(tracks)
}

/** A segment, map or key as a source. */
export function openResource(url: URL, source: URL, access: HttpCredentials, transport: FetchFunction): Source {
  return httpSource(url, accessFor(url, source, access), transport)
}

/** The playlist's credentials are sent to its own origin only. */
function accessFor(url: URL | string, source: URL, access: HttpCredentials): HttpCredentials {
  return url instanceof URL && url.origin === source.origin ? access : {}
}

function damagedPlaylist(message: string): PlaylistError {
  return new PlaylistError('source_damaged', message)
}

/** Video first, then the highest bandwidth, then the first in the playlist. */
function highestVariant({ variants }: MultivariantPlaylist): HlsVariant {
  const [best] = variants.toSorted((a, b) => Number(b.hasVideo) - Number(a.hasVideo) || b.bandwidth - a.bandwidth)
  return best!
}

async function fetchPlaylist(
  address: URL | string,
  access: HttpCredentials,
  transport: FetchFunction,
): Promise<FetchedPlaylist<MediaPlaylist | MultivariantPlaylist>> {
  const host = address instanceof URL ? address.host : 'The server'
  const problem = (code: StoreError['code'], why: string, status: number | null = null): StoreError =>
    new StoreError(code, 'http', 'playlist', `${host} ${why}${status === null ? '' : ` (${status})`}.`, status)
  const headers = new Headers({ accept: '*/*', 'accept-encoding': 'identity' })
  if (access.username || access.password) {
    headers.set('authorization', basicAuthorization(access.username ?? '', access.password ?? ''))
  }
  const late = AbortSignal.timeout(PLAYLIST_MS)
  const response = await transport(address, { headers, signal: late })
  if (response.status !== 200) {
    await response.body?.cancel()
    const { status } = response
    if (status === 401 || status === 403) throw problem('forbidden', 'refuses access to a playlist', status)
    if (status === 404 || status === 410) throw problem('not_found', 'has no such playlist', status)
    throw problem('unreachable', 'cannot deliver a playlist at the moment', status)
  }
  const announced = Number(response.headers.get('content-length') ?? 'NaN')
  const bytes = await readBoundedBytes(response, MAX_PLAYLIST_BYTES).catch(() => {
    throw problem('unreachable', 'closed the connection in the middle of a playlist')
  })
  if (bytes === null) {
    throw new PlaylistError('source_too_large', `A playlist has more than ${MAX_PLAYLIST_BYTES / 2 ** 20} MiB.`)
  }
  if (bytes.length < announced && !response.headers.has('content-encoding')) {
    throw problem('unreachable', 'closed the connection in the middle of a playlist')
  }
  // RFC 8216, 4.1: relative URIs are resolved against the playlist's address after redirects.
  const url = new URL(response.url || address)
  return { url, playlist: readPlaylist(new TextDecoder().decode(bytes)) }
}

/** An invalid address stays unchanged: guardedFetch.ts refuses it with its own message. */
export function resolve(uri: string, base: URL): URL | string {
  return URL.parse(uri, base) ?? uri
}

async function describePresentation(
  tracks: { url: URL; playlist: MediaPlaylist; language: string | null }[],
): Promise<HlsPresentation> {
  const keys = new Map<string, number>()
  const made = tracks.map(({ url, playlist, language }) => {
    // An address may have 16 kB, and be that of every segment: it is resolved and compared once.
    const known = new Map<string, number>()
    const keyOf = ({ key }: HlsInitSection): { key: number | null; iv: string | null } => {
      if (key === null) return { key: null, iv: null }
      const index = known.get(key.uri) ?? indexIn(keys, String(resolve(key.uri, url)))
      known.set(key.uri, index)
      if (keys.size > MAX_KEYS) throw new PlaylistError('source_too_large', `There are more than ${MAX_KEYS} keys.`)
      return { key: index, iv: key.iv }
    }
    const names = new Map<string, number>()
    const maps: { piece: HlsResource; key: number | null; iv: string | null }[] = []
    const mapOf = new Map<HlsInitSection, number>()
    const indexOfMap = (map: HlsInitSection): number => {
      const resource = { piece: { uri: map.uri, range: map.range }, ...keyOf(map) }
      const index = indexIn(names, JSON.stringify(resource))
      if (index === maps.length) maps.push(resource)
      mapOf.set(map, index)
      return index
    }
    const segments = playlist.segments.map(({ map, seconds, discontinuity, ...segment }) => ({
      piece: { uri: segment.uri, range: segment.range },
      seconds,
      discontinuity,
      map: map === null ? null : (mapOf.get(map) ?? indexOfMap(map)),
      ...keyOf(segment),
    }))
    return { url, language, maps, segments }
  })
  const description = {
    ended: tracks.every(({ playlist }) => playlist.ended),
    target_seconds: Math.max(...tracks.map(({ playlist }) => playlist.targetSeconds)),
    tracks: made.map(({ language, maps, segments }, n) => ({
      language,
      integer_durations: tracks[n]!.playlist.hasIntegerDurations,
      maps: maps.map(({ key, iv }) => ({ key, iv })),
      segments: segments.map(({ piece: _piece, ...segment }) => segment),
    })),
  }
  const pieces = made.map(({ url, maps, segments }) => ({
    url,
    maps: maps.map(({ piece }) => piece),
    segments: segments.map(({ piece }) => piece),
  }))
  return {
    description: { playlist_digest: await playlistDigest([description, pieces]), ...description },
    tracks: pieces,
    keys: [...keys.keys()],
  }
}

/** The position of a name among those that are known; a new one comes last. */
function indexIn(known: Map<string, number>, name: string): number {
  const index = known.get(name) ?? known.size
  known.set(name, index)
  return index
}

/** URLs without their queries: a signed URL whose signature changes still names the same resource. */
async function playlistDigest(value: unknown): Promise<string> {
  const text = JSON.stringify(value, (name, each: unknown) =>
    (name === 'url' || name === 'uri') && typeof each === 'string' ? each.replace(/\?.*$/s, '') : each,
  )
  return (await sha256Hex(text)).slice(0, 32)
}
