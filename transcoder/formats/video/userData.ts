// In charge of: the user data inside coded pictures of H.264, HEVC and MPEG-2: caption bytes (ATSC A/53, and SCTE 20 in
// MPEG-2) and AFD.
// Not in charge of: decoding the caption bytes (channelScan.ts).
import type { VideoCodec } from '../codecs.ts'

const USER_DATA_TYPE = 0x03
/** picture_coding_extension (ISO/IEC 13818-2, 6.2.3.1) and its picture_structure. */
const CODING_EXTENSION = 8
const [TOP_FIELD, FRAME] = [1, 3]

class Scte20Reader {
  /** The CEA-608 field of the picture's first field. */
  #first: 0 | 1 = 0
  #triplets: number[] = []

  /** `bytes` follow extension_start_code. */
  extension(bytes: Uint8Array): void {
    if (bytes[0]! >> 4 !== CODING_EXTENSION || bytes.length < 4) return
    const structure = bytes[2]! & 3
    const topFirst = structure === FRAME ? (bytes[3]! & 0x80) !== 0 : structure === TOP_FIELD
    this.#first = topFirst ? 0 : 1
  }

  /** `bytes` follow user_data_start_code. They may be cut anywhere: incomplete data is skipped. */
  userData(bytes: Uint8Array): void {
    // user_data_type_code, seven reserved bits, vbi_data_flag.
    if (bytes[0] !== USER_DATA_TYPE || (bytes[1]! & 0x7f) !== 1) return
    let at = 16
    const bits = (count: number): number => {
      let value = 0
      for (let end = at + count; at < end; at++) value = (value << 1) | (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
      return value
    }
    for (let left = bits(5); left > 0 && at + 26 <= bytes.length * 8; left--) {
      bits(2) // cc_priority
      const field = bits(2)
      bits(5) // line_offset
      const [one, two] = [reversed(bits(8)), reversed(bits(8))]
      bits(1) // marker_bit
      // 0 is forbidden. Field 3 repeats the first field.
      if (field === 0) continue
      const type = field === 2 ? 1 - this.#first : this.#first
      this.#triplets.push(0xfc | type, one, two)
    }
  }

  /** Returns the picture's triplets and clears them. */
  take(): Uint8Array {
    const triplets = Uint8Array.from(this.#triplets)
    this.#triplets = []
    return triplets
  }
}

/** Line 21 sends the lowest bit first, and SCTE 20 keeps that order. */
function reversed(byte: number): number {
  let value = 0
  for (let bit = 0; bit < 8; bit++) value |= ((byte >> bit) & 1) << (7 - bit)
  return value
}

export interface UserData {
  /** cc_data of each picture, in coded order: triplets of (flags, first byte, second byte). */
  captions: Uint8Array[]
  /** An active format description was found. */
  activeFormat: boolean
}

/** Reads an elementary stream (Annex B, or MPEG-2 video). It may be cut anywhere: incomplete data is skipped. */
export function readUserData(stream: Uint8Array, codec: VideoCodec): UserData {
  return readers[codec](stream, { captions: [], activeFormat: false })
}

/** By codec. H.264: SEI is NAL unit 6 after a one-byte header; HEVC: 39 and 40 after two bytes (tables 7-1 of both). */
const readers: Record<VideoCodec, (stream: Uint8Array, found: UserData) => UserData> = {
  h264: (stream, found) => readSei(stream, found, (header) => (header & 0x1f) === 6, 1),
  hevc: (stream, found) => readSei(stream, found, (header) => [39, 40].includes((header >> 1) & 0x3f), 2),
  mpeg2: readMpeg2,
}

function readSei(
  stream: Uint8Array,
  found: UserData,
  isSei: (header: number) => boolean,
  headerBytes: number,
): UserData {
  for (const unit of units(stream)) if (isSei(unit[0]!)) readMessages(unescapeNal(unit.subarray(headerBytes)), found)
  return found
}

/** ISO/IEC 13818-2, table 6-1. */
const [PICTURE_START, USER_DATA, EXTENSION] = [0x00, 0xb2, 0xb5]

/** Cable systems carry the same captions in both forms. Those of SCTE 20 are then dropped. */
function readMpeg2(stream: Uint8Array, found: UserData): UserData {
  const older = new Scte20Reader()
  let before = 0
  const end = () => {
    const triplets = older.take()
    if (found.captions.length === before && triplets.length > 0) found.captions.push(triplets)
    before = found.captions.length
  }
  for (const unit of units(stream)) {
    if (unit[0] === PICTURE_START) end()
    else if (unit[0] === EXTENSION) older.extension(unit.subarray(1))
    else if (unit[0] === USER_DATA) {
      readRegistered(unit.subarray(1), found)
      older.userData(unit.subarray(1))
    }
  }
  end()
  return found
}

/** This many pictures, because one at a cut may contain messages left over from another. */
const SEVERAL_FROM = 3

/**
 * Whether H.264 pictures carry their caption bytes in more than one message each, for example one per field. Decoders
 * before ffmpeg 7 keep only one of them (measured with 5.1), so the encoder's captions are garbled.
 */
export function hasMultipleCaptionMessages(stream: Uint8Array, codec: VideoCodec): boolean {
  if (codec !== 'h264') return false
  let [several, messages] = [0, 0]
  for (const unit of units(stream)) {
    const type = unit[0]! & 0x1f
    if (type === 6) {
      const found: UserData = { captions: [], activeFormat: false }
      readMessages(unescapeNal(unit.subarray(1)), found)
      messages += found.captions.length
    } else if ((type === 1 || type === 5) && (unit[1]! & 0x80) !== 0) {
      // first_mb_in_slice is 0: a picture begins (H.264 7.4.1.2.4).
      if (messages > 1) several += 1
      messages = 0
    }
  }
  return several >= SEVERAL_FROM
}

/** The bytes between start codes (00 00 01). */
function* units(stream: Uint8Array): Generator<Uint8Array> {
  let at = startCode(stream, 0)
  while (at >= 0) {
    const next = startCode(stream, at + 3)
    const unit = stream.subarray(at + 3, next < 0 ? stream.length : next)
    if (unit.length > 1) yield unit
    at = next
  }
}

/** Offset of the next start code; -1 where there is none. */
function startCode(bytes: Uint8Array, from: number): number {
  let one = bytes.indexOf(1, from + 2)
  while (one >= 0 && (bytes[one - 1] !== 0 || bytes[one - 2] !== 0)) one = bytes.indexOf(1, one + 1)
  return one < 0 ? -1 : one - 2
}

/** Removes the emulation prevention bytes (Rec. ITU-T H.264 7.4.1). */
function unescapeNal(unit: Uint8Array): Uint8Array {
  const plain = new Uint8Array(unit.length)
  let [length, zeros] = [0, 0]
  for (const byte of unit) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    plain[length++] = byte
  }
  return plain.subarray(0, length)
}

/** user_data_registered_itu_t_t35. */
const REGISTERED = 4
const UNITED_STATES = 0xb5
const ATSC = 0x0031

/** sei_message (H.264 7.3.2.3.1, H.265 7.3.5): type and size. In both, a byte 0xff means that another byte follows. */
function readMessages(bytes: Uint8Array, found: UserData): void {
  let at = 0
  const number = (): number => {
    let value = 0
    while (bytes[at] === 0xff) {
      value += 255
      at += 1
    }
    value += bytes[at] ?? 0
    at += 1
    return value
  }
  while (at + 2 < bytes.length) {
    const type = number()
    const size = number()
    const payload = bytes.subarray(at, at + size)
    at += size
    const provider = ((payload[1] ?? 0) << 8) | (payload[2] ?? 0)
    if (type === REGISTERED && payload[0] === UNITED_STATES && provider === ATSC)
      readRegistered(payload.subarray(3), found)
  }
}

/** ATSC A/53 part 4, 6.2: an identifier of four letters. */
function readRegistered(data: Uint8Array, found: UserData): void {
  const identifier = String.fromCodePoint(...data.subarray(0, 4))
  if (identifier === 'DTG1' && ((data[4] ?? 0) & 0x40) !== 0) found.activeFormat = true
  // Type 3 is cc_data: flags and a count, a reserved byte, then the triplets.
  if (identifier !== 'GA94' || data[4] !== 3) return
  const flags = data[5] ?? 0
  if ((flags & 0x40) === 0) return
  const triplets = data.subarray(7, 7 + 3 * (flags & 0x1f))
  if (triplets.length > 0) found.captions.push(Uint8Array.from(triplets))
}
