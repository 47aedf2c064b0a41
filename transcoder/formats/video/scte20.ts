// In charge of: converting the ANSI/SCTE 20 closed captions of one MPEG-2 picture into the triplets of ATSC A/53.
// Not in charge of: finding the user data (userData.ts), decoding the bytes (channelScan.ts, cea608.ts).

const USER_DATA_TYPE = 0x03
/** picture_coding_extension (ISO/IEC 13818-2, 6.2.3.1) and its picture_structure. */
const CODING_EXTENSION = 8
const [TOP_FIELD, FRAME] = [1, 3]

export class Scte20Reader {
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
