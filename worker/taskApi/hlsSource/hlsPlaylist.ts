// In charge of: parsing one HLS playlist (RFC 8216 and its second edition), and refusing, with the tag's name, what
// cannot be transcoded faithfully. A parser of its own: of the libraries tried, one accepts unknown tags silently, the
// other is four times as large, and neither limits the size of its input.
// Not in charge of: addresses (hlsPresentation.ts resolves them, guardedFetch.ts checks them), choosing a variant.
import { PlaylistError } from './playlistError.ts'

/** Segments in one playlist: 24 hours of two seconds each. */
export const MAX_SEGMENTS = 43_200
const MAX_LINE = 16 * 1024
const MAX_VARIANTS = 200

export interface HlsByteRange {
  offset: number
  length: number
}

/** AES-128 encryption of a whole resource. */
export interface HlsKey {
  uri: string
  /** 32 hexadecimal digits. */
  iv: string
}

export interface HlsInitSection {
  uri: string
  range: HlsByteRange | null
  key: HlsKey | null
}

export interface HlsSourceSegment extends HlsInitSection {
  seconds: number
  /** Timestamps or encoding parameters do not continue from the previous segment. */
  discontinuity: boolean
  map: HlsInitSection | null
}

export interface MediaPlaylist {
  kind: 'media'
  /** False: segments will be added (an EVENT playlist that has not ended). */
  ended: boolean
  targetSeconds: number
  segments: HlsSourceSegment[]
  /** No duration has a decimal point: the playlist may have rounded them. */
  hasIntegerDurations: boolean
}

export interface HlsVariant {
  uri: string
  /** Peak, in bits per second. */
  bandwidth: number
  /** Group id of its audio renditions. */
  audio: string | null
  hasVideo: boolean
}

export interface HlsRendition {
  group: string
  /** Null: the variant's own segments contain it. */
  uri: string | null
  language: string | null
}

export interface MultivariantPlaylist {
  kind: 'multivariant'
  variants: HlsVariant[]
  audio: HlsRendition[]
}

const unsupportedPlaylist = (what: string): PlaylistError => new PlaylistError('source_unsupported', what)
const damagedPlaylist = (what: string): PlaylistError => new PlaylistError('source_damaged', `The playlist ${what}.`)

/** @throws PlaylistError */
export function readPlaylist(text: string): MediaPlaylist | MultivariantPlaylist {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (lines[0] !== '#EXTM3U') throw damagedPlaylist('does not begin with #EXTM3U')
  if (lines.some((line) => line.length > MAX_LINE))
    throw damagedPlaylist(`has a line of more than ${MAX_LINE} characters`)
  const has = (tag: string): boolean => lines.some((line) => line === tag || line.startsWith(`${tag}:`))
  if (has('#EXT-X-DEFINE'))
    throw unsupportedPlaylist('The playlist uses variables (EXT-X-DEFINE), which are not supported.')
  const multivariant = has('#EXT-X-STREAM-INF')
  // RFC 8216, 4.3: a playlist with tags of both kinds is invalid.
  if (multivariant && has('#EXTINF')) throw damagedPlaylist('is a multivariant and a media playlist at once')
  return multivariant ? readMultivariant(lines) : readMedia(lines, has)
}

function readMultivariant(lines: readonly string[]): MultivariantPlaylist {
  const variants: HlsVariant[] = []
  const audio: HlsRendition[] = []
  let open: Omit<HlsVariant, 'uri'> | null = null
  for (const line of lines) {
    const [tag, value] = tagOf(line)
    if (tag === '#EXT-X-STREAM-INF') {
      const attributes = readAttributes(value)
      const codecs = attributes.get('CODECS')
      open = {
        bandwidth: wholeNumber(attributes.get('BANDWIDTH')) ?? 0,
        audio: attributes.get('AUDIO') ?? null,
        // RFC 6381 names of audio codecs. A variant without CODECS is assumed to have video.
        hasVideo:
          attributes.has('RESOLUTION') ||
          codecs === undefined ||
          codecs.split(',').some((codec) => !/^\s*(mp4a|ac-3|ec-3|mp3|opus|flac|alac)\b/i.test(codec)),
      }
    } else if (tag === '#EXT-X-MEDIA') {
      const attributes = readAttributes(value)
      if (attributes.get('TYPE') !== 'AUDIO') continue
      const group = attributes.get('GROUP-ID')
      if (group === undefined) throw damagedPlaylist('has an audio rendition without GROUP-ID')
      audio.push({ group, uri: attributes.get('URI') ?? null, language: attributes.get('LANGUAGE') ?? null })
    } else if (!line.startsWith('#') && open !== null) {
      variants.push({ ...open, uri: line })
      open = null
    }
    if (variants.length > MAX_VARIANTS || audio.length > MAX_VARIANTS) {
      throw new PlaylistError('source_too_large', `The playlist has more than ${MAX_VARIANTS} variants.`)
    }
  }
  if (variants.length === 0) throw damagedPlaylist('has no variant')
  return { kind: 'multivariant', variants, audio }
}

function readMedia(lines: readonly string[], has: (tag: string) => boolean): MediaPlaylist {
  const ended = has('#EXT-X-ENDLIST')
  const type = lines.find((line) => line.startsWith('#EXT-X-PLAYLIST-TYPE:'))?.split(':')[1]
  // RFC 8216, 6.2.1: without a type, segments may be removed from the start while the playlist is read.
  if (!ended && type !== 'EVENT' && type !== 'VOD') {
    throw unsupportedPlaylist('The playlist is a live stream: it has neither EXT-X-ENDLIST nor an EXT-X-PLAYLIST-TYPE.')
  }
  if (has('#EXT-X-I-FRAMES-ONLY'))
    throw unsupportedPlaylist('The playlist contains key frames only (EXT-X-I-FRAMES-ONLY).')
  if (has('#EXT-X-SKIP'))
    throw unsupportedPlaylist('The playlist is a delta update (EXT-X-SKIP), which was not requested.')
  const segments: HlsSourceSegment[] = []
  let sequence = wholeNumber(valueOf(lines, '#EXT-X-MEDIA-SEQUENCE')) ?? 0
  let seconds: number | null = null
  let hasIntegerDurations = true
  let range: string | null = null
  let discontinuity = false
  let map: HlsInitSection | null = null
  let key: { uri: string; iv: string | null } | null = null
  let last: { uri: string; end: number } | null = null
  for (const line of lines) {
    const [tag, value] = tagOf(line)
    switch (tag) {
      case '#EXTINF':
        seconds = decimal(value.split(',')[0])
        if (seconds === null) throw damagedPlaylist('has a segment without a duration')
        hasIntegerDurations &&= !value.split(',')[0]!.includes('.')
        break
      case '#EXT-X-BYTERANGE':
        range = value
        break
      case '#EXT-X-DISCONTINUITY':
        discontinuity = true
        break
      case '#EXT-X-GAP':
        throw damagedPlaylist('says that a segment is missing (EXT-X-GAP)')
      case '#EXT-X-KEY':
        key = readKey(value)
        break
      case '#EXT-X-MAP': {
        const attributes = readAttributes(value)
        const uri = attributes.get('URI')
        if (uri === undefined) throw damagedPlaylist('has an EXT-X-MAP without URI')
        if (key !== null && key.iv === null) throw damagedPlaylist('encrypts an EXT-X-MAP without an IV')
        const bytes = attributes.get('BYTERANGE')
        map = {
          uri,
          // RFC 8216, 4.3.2.5: without an offset the range begins at 0.
          range: bytes === undefined ? null : readRange(bytes, { uri, end: 0 }, uri),
          key: key === null ? null : { uri: key.uri, iv: key.iv! },
        }
        break
      }
      default:
        if (line.startsWith('#')) break
        if (seconds === null) throw damagedPlaylist('has a segment without EXTINF')
        if (segments.length >= MAX_SEGMENTS) {
          throw new PlaylistError('source_too_large', `The playlist has more than ${MAX_SEGMENTS} segments.`)
        }
        {
          const bytes: HlsByteRange | null = range === null ? null : readRange(range, last, line)
          last = bytes === null ? null : { uri: line, end: bytes.offset + bytes.length }
          segments.push({
            uri: line,
            seconds,
            range: bytes,
            discontinuity: discontinuity && segments.length > 0,
            map,
            // RFC 8216, 5.2: without an IV it is the media sequence number, as 128 bits in big-endian order.
            key: key === null ? null : { uri: key.uri, iv: key.iv ?? sequence.toString(16).padStart(32, '0') },
          })
        }
        sequence++
        seconds = range = null
        discontinuity = false
    }
  }
  if (ended && segments.length === 0) throw damagedPlaylist('has no segment')
  const target = decimal(valueOf(lines, '#EXT-X-TARGETDURATION'))
  return {
    kind: 'media',
    ended,
    targetSeconds: target ?? Math.max(1, ...segments.slice(0, 100).map((segment) => segment.seconds)),
    segments,
    hasIntegerDurations,
  }
}

function readKey(value: string): { uri: string; iv: string | null } | null {
  const attributes = readAttributes(value)
  const method = attributes.get('METHOD') ?? 'none at all'
  if (method === 'NONE') return null
  const format = attributes.get('KEYFORMAT') ?? 'identity'
  if (method !== 'AES-128' || format !== 'identity') {
    const name = /^[\w.:-]{1,60}$/.test(method) ? method : 'an unknown method'
    throw unsupportedPlaylist(
      method === 'AES-128'
        ? 'The source is encrypted with DRM (KEYFORMAT), which is not supported.'
        : `The source is encrypted with ${name}, which is not supported; AES-128 is.`,
    )
  }
  const uri = attributes.get('URI')
  const iv = attributes.get('IV')
  if (uri === undefined) throw damagedPlaylist('has a key without URI')
  if (iv !== undefined && !/^0x[0-9a-f]{1,32}$/i.test(iv))
    throw damagedPlaylist('has a key with an IV that is not 128 bits')
  return { uri, iv: iv === undefined ? null : iv.slice(2).toLowerCase().padStart(32, '0') }
}

/** `<length>[@<offset>]`; without an offset it follows the previous range of the same URI. */
function readRange(text: string, last: { uri: string; end: number } | null, uri: string): HlsByteRange {
  const match = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(text.trim())
  const offset = match?.[2] === undefined ? (last?.uri === uri ? last.end : null) : Number(match[2])
  const length = Number(match?.[1])
  if (!match || offset === null || length < 1 || !Number.isSafeInteger(offset + length)) {
    throw damagedPlaylist('has an invalid byte range')
  }
  return { offset, length }
}

function tagOf(line: string): [tag: string, value: string] {
  const colon = line.startsWith('#') ? line.indexOf(':') : -1
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1)]
}

function valueOf(lines: readonly string[], tag: string): string | undefined {
  return lines.find((line) => line.startsWith(`${tag}:`))?.slice(tag.length + 1)
}

/**
 * RFC 8216, 4.2. Quotes are removed: no attribute that is read here has two meanings with and without them. A name begins
 * after a comma only, so that every character is read once.
 */
function readAttributes(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name, quoted, plain] of text.matchAll(/(?<=^|,)[ \t]*([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))(?=,|$)/g)) {
    if (name !== undefined && !found.has(name)) found.set(name, quoted ?? plain ?? '')
  }
  return found
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null
}

function decimal(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}(\.\d{0,12})?$/.test(text.trim()) ? Number(text) : null
}
