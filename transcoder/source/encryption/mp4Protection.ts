// In charge of: which tracks of an MP4 are encrypted: sample entries that replace the original ones (ISO/IEC 14496-12,
// 8.12; ISO/IEC 23001-7), and those of FairPlay.
// Not in charge of: decrypting anything.
import { boxType, viewOf } from '../../formats/mp4/boxReader.ts'
import type { ReadRange, TrackProtection } from './trackProtection.ts'

interface BoxLocation {
  name: string
  /** Positions of the box's body. */
  start: number
  end: number
}

/** A hostile file could claim billions. */
const MAX_BOXES = 1000
/** The sample descriptions of a track precede its tables: they are searched in this much of the track. */
const TRACK_BYTES = 64 * 1024
/**
 * Bytes of a sample entry before its child boxes, without the header. QuickTime audio entries of version 1 and 2 are
 * longer.
 */
const ENTRY_BYTES = { video: [78], audio: [28, 44, 64], other: [8] } as const
const ENCRYPTED = new Set(['encv', 'enca', 'enct', 'encs', 'encm'])
const FAIRPLAY = new Set(['drmi', 'drms', 'drmt'])

/** Empty if there is no movie box. */
export async function mp4Tracks(read: ReadRange): Promise<TrackProtection[]> {
  const moov = await findBox(read, 'moov')
  if (moov === null) return []
  const tracks: TrackProtection[] = []
  for await (const { name, start, end } of boxes(read, moov.start, moov.end))
    if (name === 'trak') tracks.push(trackOf(await read(start, Math.min(end - start, TRACK_BYTES))))
  return tracks
}

async function findBox(read: ReadRange, name: string): Promise<BoxLocation | null> {
  for await (const box of boxes(read, 0, Number.POSITIVE_INFINITY)) if (box.name === name) return box
  return null
}

async function* boxes(read: ReadRange, from: number, end: number): AsyncGenerator<BoxLocation> {
  for (let at = from, count = 0; at + 8 <= end && count < MAX_BOXES; count++) {
    const header = await read(at, 16)
    if (header.length < 8) return
    const short = viewOf(header).getUint32(0)
    const isLong = short === 1 && header.length === 16
    const size = isLong ? Number(viewOf(header).getBigUint64(8)) : short === 0 ? end - at : short
    const begin = isLong ? 16 : 8
    if (size < begin) return
    yield { name: boxType(header, 4), start: at + begin, end: Math.min(end, at + size) }
    at += size
  }
}

function trackOf(trak: Uint8Array): TrackProtection {
  const handler = findChild(trak, 'mdia', 'hdlr')
  const name = handler === null || handler.length < 12 ? '' : boxType(handler, 8)
  const kind = name === 'vide' ? 'video' : name === 'soun' ? 'audio' : 'other'
  const stsd = findChild(trak, 'mdia', 'minf', 'stbl', 'stsd')
  const entries = stsd === null ? [] : [...inside(stsd.subarray(8))]
  const protection = entries.map((entry) => protectionOf(entry, kind)).find((found) => found !== null) ?? null
  return { kind, protection, pid: null }
}

function protectionOf(
  { name, body }: { name: string; body: Uint8Array },
  kind: TrackProtection['kind'],
): string | null {
  if (FAIRPLAY.has(name)) return 'FairPlay'
  if (!ENCRYPTED.has(name)) return null
  for (const before of ENTRY_BYTES[kind]) {
    const sinf = findChild(body.subarray(before), 'sinf')
    if (sinf === null) continue
    const scheme = findChild(sinf, 'schm')
    const tenc = findChild(sinf, 'schi', 'tenc')
    // default_isProtected is 0: the track names the scheme, but its samples are not encrypted.
    if (tenc !== null && tenc.length > 6 && tenc[6] === 0) return null
    return scheme === null || scheme.length < 8 ? 'Common Encryption' : `scheme ${printable(boxType(scheme, 4))}`
  }
  return 'Common Encryption'
}

function printable(text: string): string {
  return /^[\w-]{1,4}$/.test(text) ? text : 'unknown'
}

/** The child boxes; the last one may be incomplete. */
function* inside(bytes: Uint8Array): Generator<{ name: string; body: Uint8Array }> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = viewOf(bytes).getUint32(at)
    if (size < 8) return
    yield { name: boxType(bytes, at + 4), body: bytes.subarray(at + 8, at + size) }
    at += size
  }
}

function findChild(bytes: Uint8Array, ...path: string[]): Uint8Array | null {
  let body: Uint8Array | null = bytes
  for (const name of path) {
    if (body === null) return null
    body = [...inside(body)].find((each) => each.name === name)?.body ?? null
  }
  return body
}
