// In charge of: whether an ASF file (WMV, WMA) is protected: its header has a Content Encryption Object (ASF
// specification, 3.14).
// Not in charge of: single streams: one licence applies to all of them.
import { viewOf } from '../../formats/mp4/boxReader.ts'
import type { ReadRange, TrackProtection } from './trackProtection.ts'

/** GUIDs as stored in the file: the first three fields are little-endian. */
const CONTENT_ENCRYPTION = 'fbb3112223bdd211b4b700a0c955fc6e'
const STREAM_PROPERTIES = '9107dcb7b7a9cf118ee600c00c205365'
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b'
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b'
const HEADER_BYTES = 30
const MAX_HEADER = 4 * 1024 * 1024
/** An object that is not larger has no licence: an object header and four empty fields take 40 bytes. */
const EMPTY_BYTES = 40

export async function asfTracks(read: ReadRange): Promise<TrackProtection[]> {
  const head = await read(0, HEADER_BYTES)
  if (head.length < HEADER_BYTES) return []
  const size = Math.min(Number(viewOf(head).getBigUint64(16, true)), MAX_HEADER)
  const header = Buffer.from(await read(0, size))
  const tracks: TrackProtection[] = []
  let isProtected = false
  for (let at = HEADER_BYTES; at + 40 <= header.length;) {
    const name = header.toString('hex', at, at + 16)
    const bytes = Number(header.readBigUInt64LE(at + 16))
    if (bytes < 24) break
    if (name === CONTENT_ENCRYPTION && bytes > EMPTY_BYTES) isProtected = true
    if (name === STREAM_PROPERTIES) {
      const type = header.toString('hex', at + 24, at + 40)
      tracks.push({ kind: type === VIDEO ? 'video' : type === AUDIO ? 'audio' : 'other', protection: null, pid: null })
    }
    at += bytes
  }
  return isProtected ? tracks.map((track) => ({ ...track, protection: 'Windows Media DRM' })) : tracks
}
