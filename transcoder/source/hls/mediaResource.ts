// In charge of: one resource of an HLS source: its kind of media, its decryption, the time stamp of packed audio.
// Not in charge of: fetching it (hlsDownload.ts).
import { createDecipheriv } from 'node:crypto'
import { TaskError } from '#contract/taskError.ts'

/** mpegts: 188-byte packets; mp4: fragments after an initialisation section; audio: bare frames (RFC 8216, 3.4). */
export type ResourceKind = 'mpegts' | 'mp4' | 'audio'

/** Enough for two packets of a transport stream. */
export const SNIFF_BYTES = 189

/** By its first bytes, never by its name. Null = not HLS media: another playlist, text, an HTML page. */
export function resourceKind(head: Uint8Array, hasMap: boolean): ResourceKind | null {
  if (hasMap) return 'mp4'
  if (head[0] === 0x47 && (head.length < SNIFF_BYTES || head[188] === 0x47)) return 'mpegts'
  const begins = (...bytes: number[]): boolean => bytes.every((byte, at) => head[at] === byte)
  const isFrame = head[0] === 0xff && (head[1]! & 0xe0) === 0xe0 // ADTS and MPEG audio
  if (begins(0x49, 0x44, 0x33) || begins(0x0b, 0x77) || isFrame) return 'audio'
  return null
}

/**
 * RFC 8216, 4.3.2.4: AES-128, CBC, PKCS#7 padding over the whole resource. A truncated resource is detected by its
 * padding.
 */
export async function* decryptAes128(
  blocks: AsyncIterable<Uint8Array>,
  key: Uint8Array,
  iv: string,
): AsyncGenerator<Uint8Array> {
  const decipher = createDecipheriv('aes-128-cbc', key, Buffer.from(iv, 'hex'))
  for await (const block of blocks) {
    const clear = decipher.update(block)
    if (clear.length > 0) yield clear
  }
  let last: Buffer
  try {
    last = decipher.final()
  } catch (error) {
    const why = 'A segment of the source cannot be decrypted: it is truncated, or the key is wrong.'
    throw new TaskError('source_damaged', why, { cause: error })
  }
  if (last.length > 0) yield last
}

const ID3_HEADER = 10
/** A tag with only a time stamp has 73 bytes; some contain an image. */
const MAX_ID3 = 4 * 1024 * 1024
const TIMESTAMP_OWNER = 'com.apple.streaming.transportStreamTimestamp'

/**
 * Packed audio without the ID3 tag at the start of each resource; the tags would otherwise be in the middle of the
 * joined file.
 * `onTicks` receives the time of the first sample, in 1/90,000 s (RFC 8216, 3.4).
 */
export async function* withoutId3Tag(
  blocks: AsyncIterable<Uint8Array>,
  onTicks: (ticks: number) => void,
): AsyncGenerator<Uint8Array> {
  let buffered = Buffer.alloc(0)
  let bytesNeeded: number | null = ID3_HEADER
  for await (const block of blocks) {
    if (bytesNeeded === null) {
      yield block
      continue
    }
    buffered = Buffer.concat([buffered, block])
    if (bytesNeeded === ID3_HEADER && buffered.length >= ID3_HEADER) bytesNeeded = id3TagBytes(buffered)
    if (buffered.length < bytesNeeded) continue
    const ticks = id3Timestamp(buffered.subarray(0, bytesNeeded))
    if (ticks !== null) onTicks(ticks)
    if (buffered.length > bytesNeeded) yield buffered.subarray(bytesNeeded)
    bytesNeeded = null
  }
  if (bytesNeeded !== null && buffered.length > 0) yield buffered
}

/** ID3v2.4, 3.1: 28 bits, seven to a byte. 0 = there is no tag. */
function id3TagBytes(head: Buffer): number {
  if (head.toString('latin1', 0, 3) !== 'ID3') return 0
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head[at]! & 0x7f), 0) + ID3_HEADER
  if (size > MAX_ID3)
    throw new TaskError('source_damaged', 'A segment of the source begins with an ID3 tag that has no end.')
  return size
}

function id3Timestamp(tag: Buffer): number | null {
  const at = tag.indexOf(TIMESTAMP_OWNER, 0, 'latin1') + TIMESTAMP_OWNER.length + 1
  if (at <= TIMESTAMP_OWNER.length || at + 8 > tag.length) return null
  // 33 bits in the lower end of eight bytes.
  return Number(tag.readBigUInt64BE(at) & 0x1ffffffffn)
}
