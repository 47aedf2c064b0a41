// In charge of: the dialogue level in the header of an AC-3 or E-AC-3 frame (ETSI TS 102 366).
// Not in charge of: getting the frame (inspect.ts), what becomes of the level (plan/dialnorm.ts).

/** `dialnorm` 1 to 31: dialogue is that many dB below full scale. null where the bytes hold no frame. */
export function readDialnorm(bytes: Uint8Array): number | null {
  for (let at = 0; at + 8 <= bytes.length; at += 1) {
    if (bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) continue
    const level = readFrame(bytes.subarray(at))
    if (level !== null) return level
  }
  return null
}

function readFrame(frame: Uint8Array): number | null {
  const bits = new Bits(frame)
  const identification = frame[5]! >> 3
  if (identification <= 8) {
    // 4.3.1 and 4.3.2: sync word, CRC, rate, frame size, identification, mode.
    bits.skip(16 + 16 + 2 + 6 + 5 + 3)
    const channels = bits.read(3)
    if ((channels & 1) !== 0 && channels !== 1) bits.skip(2) // centre mix level
    if ((channels & 4) !== 0) bits.skip(2) // surround mix level
    if (channels === 2) bits.skip(2) // Dolby Surround mode
    bits.skip(1) // low frequency effects
    return level(bits.read(5))
  }
  // Annex E: sync word, type, substream, frame size, rate, blocks, channels, low frequency effects, identification.
  if (identification >= 11 && identification <= 16) {
    bits.skip(16 + 2 + 3 + 11 + 2 + 2 + 3 + 1 + 5)
    return level(bits.read(5))
  }
  return null
}

/** 4.4.2.8: 0 is reserved and to be read as −31 dB. */
function level(coded: number): number {
  return coded === 0 ? 31 : coded
}

class Bits {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  skip(count: number): void {
    this.#at += count
  }

  read(count: number): number {
    let value = 0
    for (let n = 0; n < count; n += 1, this.#at += 1)
      value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1)
    return value
  }
}
