// In charge of: which tracks of a Matroska or WebM file are encrypted: ContentEncryption (RFC 9559, 5.1.4.1.31).
// Not in charge of: decrypting anything.
import type { ReadRange, TrackProtection } from './trackProtection.ts'

const SEGMENT = 0x18538067
const TRACKS = 0x1654ae6b
const CLUSTER = 0x1f43b675
const TRACK_ENTRY = 0xae
const TRACK_TYPE = 0x83
const CONTENT_ENCODINGS = 0x6d80
const CONTENT_ENCODING = 0x6240
const CONTENT_ENCRYPTION = 0x5035
const MAX_ELEMENTS = 1000
/** Codec private data takes a few kilobytes, and some more for a subtitle format with fonts. */
const MAX_TRACKS = 4 * 1024 * 1024

interface Element {
  id: number
  start: number
  /** Infinity if the size is not stated. */
  end: number
}

/** Empty if no list of tracks precedes the media. */
export async function matroskaTracks(read: ReadRange): Promise<TrackProtection[]> {
  let at = 0
  for (let count = 0; count < MAX_ELEMENTS; count++) {
    const element = headerAt(await read(at, 16), at)
    if (element === null || element.id === CLUSTER) return []
    const { id, start, end } = element
    if (id === TRACKS) {
      const body = await read(start, Math.min(end - start, MAX_TRACKS))
      return [...within(body)].filter((each) => each.id === TRACK_ENTRY).map(({ body: entry }) => trackOf(entry))
    }
    at = id === SEGMENT ? start : end
  }
  return []
}

function trackOf(entry: Uint8Array): TrackProtection {
  const elements = [...within(entry)]
  const type = elements.find(({ id }) => id === TRACK_TYPE)?.body.at(-1)
  const isEncrypted = elements
    .filter(({ id }) => id === CONTENT_ENCODINGS)
    .flatMap(({ body }) => [...within(body)])
    .filter(({ id }) => id === CONTENT_ENCODING)
    .flatMap(({ body }) => [...within(body)])
    .some(({ id }) => id === CONTENT_ENCRYPTION)
  return {
    kind: type === 1 ? 'video' : type === 2 ? 'audio' : 'other',
    protection: isEncrypted ? 'ContentEncryption' : null,
    pid: null,
  }
}

function* within(bytes: Uint8Array): Generator<{ id: number; body: Uint8Array }> {
  for (let at = 0; at < bytes.length;) {
    const element = headerAt(bytes.subarray(at, at + 16), at)
    if (element === null) return
    yield { id: element.id, body: bytes.subarray(element.start, element.end) }
    at = element.end
  }
}

/**
 * RFC 8794, 4: leading zeros state the length of both numbers; the marker bit is part of the ID, but not of the size.
 */
function headerAt(bytes: Uint8Array, at: number): Element | null {
  const idBytes = lengthOf(bytes[0])
  const sizeBytes = lengthOf(bytes[idBytes])
  if (idBytes > 4 || sizeBytes > 8 || bytes.length < idBytes + sizeBytes) return null
  const number = (part: Uint8Array) => part.reduce((sum, byte) => sum * 256 + byte, 0)
  const start = at + idBytes + sizeBytes
  const coded = bytes.slice(idBytes, idBytes + sizeBytes)
  coded[0]! &= 0xff >> sizeBytes
  const size = number(coded)
  return {
    id: number(bytes.subarray(0, idBytes)),
    start,
    end: size >= 2 ** (7 * sizeBytes) - 1 ? Infinity : start + size,
  }
}

/** More than 8 if the byte does not begin a valid number. */
function lengthOf(byte: number | undefined): number {
  return byte === undefined ? 9 : Math.clz32(byte) - 23
}
