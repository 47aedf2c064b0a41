// In charge of: whether an access unit begins with a frame that needs no other: IDR of H.264 and of HEVC.
// Not in charge of: finding access units (segmenter/cutters).

/** Selects the NAL unit types. */
export type NalFamily = 'avc' | 'hevc'

/** null = the NAL unit is not part of a coded picture. */
function idr(family: NalFamily, header: number): boolean | null {
  if (family === 'avc') {
    const type = header & 31
    return type >= 1 && type <= 5 ? type === 5 : null
  }
  const type = (header >> 1) & 63
  // 19 and 20: IDR_W_RADL, IDR_N_LP (ITU-T H.265, table 7-1).
  return type < 32 ? type === 19 || type === 20 : null
}

/** Reads NAL units with length fields, in blocks of any size, up to the first slice of a picture. */
export class NalLengthScanner {
  readonly #family: NalFamily
  readonly #lengthBytes: number
  #skip = 0
  #length = 0
  #read = 0
  /** null = not yet known. */
  isIdr: boolean | null = null

  constructor(family: NalFamily, lengthBytes: number) {
    this.#family = family
    this.#lengthBytes = lengthBytes
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.isIdr === null;) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, bytes.length - at)
        this.#skip -= step
        at += step
      } else if (this.#read < this.#lengthBytes) {
        this.#length = this.#length * 256 + bytes[at++]!
        this.#read += 1
      } else {
        if (this.#length > 0) this.isIdr = idr(this.#family, bytes[at]!)
        this.#skip = this.#length
        this.#read = 0
        this.#length = 0
      }
    }
  }
}

/** Reads H.264 with start codes (annex B), in blocks of any size, up to the first slice of a picture. */
export class StartCodeScanner {
  #zeros = 0
  #header = false
  /** Bytes of a sequence parameter set that are still missing. */
  #wanted = 0
  isIdr: boolean | null = null
  /** profile_idc, constraint flags, level_idc of the sequence parameter set. */
  readonly profile: number[] = []

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.isIdr !== null) return
      if (this.#header) {
        this.#header = false
        this.isIdr = idr('avc', byte)
        if ((byte & 31) === 7 && this.profile.length === 0) this.#wanted = 3
      } else if (this.#wanted > 0) {
        this.profile.push(byte)
        this.#wanted -= 1
      }
      if (byte === 1 && this.#zeros >= 2) this.#header = true
      this.#zeros = byte === 0 ? this.#zeros + 1 : 0
    }
  }
}
