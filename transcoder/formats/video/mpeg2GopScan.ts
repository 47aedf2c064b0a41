// In charge of: whether an access unit of MPEG-2 begins a closed group of pictures with its sequence header, and that
// header (ISO/IEC 13818-2, 6.2.2).
// Not in charge of: finding access units (segmenter/cutters).
import { concatBytes } from '../concatBytes.ts'
import { hex } from '../encodeBytes.ts'
import { FormatError } from '../formatError.ts'
import type { KeyFrameScan } from './keyFrameScan.ts'

const [PICTURE, SEQUENCE, GROUP] = [0x00, 0xb3, 0xb8]
const [FIRST_SLICE, LAST_SLICE] = [0x01, 0xaf]
/** The start code and 25 bits of time code come before closed_gop; then broken_link. */
const FLAGS_AT = 4 + 3
const CLOSED = 0x40
/** The start code and 10 bits of temporal_reference come before picture_coding_type. */
const TYPE_AT = 4 + 1
const INTRA = 1
/** Headers and captions have some hundred bytes. */
const LONGEST = 65_536

/** Reads up to the first slice. */
export class Mpeg2GopScan implements KeyFrameScan {
  #bytes: Uint8Array = new Uint8Array()
  isIdr: boolean | null = null
  /** Hex: the sequence header and its extensions; '' = the access unit does not begin with them. */
  sequenceHeader = ''

  /** Throws FormatError. */
  push(bytes: Uint8Array): void {
    if (this.isIdr !== null) return
    this.#bytes = concatBytes([this.#bytes, bytes])
    const codes = startCodes(this.#bytes)
    if (!codes.some(({ code }) => code >= FIRST_SLICE && code <= LAST_SLICE)) {
      if (this.#bytes.length > LONGEST) throw new FormatError('damaged', 'The encoder wrote a picture without slices.')
      return
    }
    const [first] = codes
    const group = codes.find(({ code }) => code === GROUP)
    const picture = codes.find(({ code }) => code === PICTURE)
    const begins = first?.at === 0 && first.code === SEQUENCE && group !== undefined && picture !== undefined
    if (begins) this.sequenceHeader = hex(this.#bytes.subarray(0, group.at))
    this.isIdr =
      begins &&
      (this.#bytes[group.at + FLAGS_AT]! & CLOSED) !== 0 &&
      ((this.#bytes[picture.at + TYPE_AT]! >> 3) & 7) === INTRA
  }
}

function startCodes(bytes: Uint8Array): { at: number; code: number }[] {
  const found: { at: number; code: number }[] = []
  for (let at = 0; at + 3 < bytes.length; at++)
    if (bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 1) found.push({ at, code: bytes[at + 3]! })
  return found
}
