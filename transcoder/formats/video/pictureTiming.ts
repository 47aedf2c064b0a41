// In charge of: the first access unit of an H.264 encode that continues another one: its timing message counts from the
// buffering period before (ITU-T H.264, D.2.3), and the encoder's own message, which its rate control does not count, is
// left out.
// Not in charge of: the length of its fields (hrdLengths.ts).
import { concatBytes } from '../concatBytes.ts'
import { FormatError } from '../formatError.ts'
import { unescapeNal } from './annexB.ts'

const SEI = 6
const PICTURE_TIMING = 1
const UNREGISTERED = 5
const STOP = 0x80

/** `ticks` from the last buffering period; `bits` of that field. Units have length fields. Throws FormatError. */
export function continuedUnit(
  unit: Uint8Array,
  lengthBytes: number,
  { ticks, bits }: { ticks: number; bits: number },
): Uint8Array {
  const parts: Uint8Array[] = []
  let isTimed = false
  for (let at = 0; at < unit.length;) {
    const size = lengthAt(unit, at, lengthBytes)
    const nal = unit.subarray(at + lengthBytes, at + lengthBytes + size)
    if (nal.length !== size || size === 0) throw broken()
    at += lengthBytes + size
    const message = (nal[0]! & 31) === SEI ? onlyMessage(nal) : null
    if (message?.type === UNREGISTERED) continue
    if (message?.type !== PICTURE_TIMING) parts.push(unit.subarray(at - lengthBytes - size, at))
    else {
      const timed = messageUnit(nal[0]!, { type: PICTURE_TIMING, payload: withField(message.payload, ticks, bits) })
      parts.push(lengthField(timed.length, lengthBytes), timed)
      isTimed = true
    }
  }
  if (!isTimed) throw new FormatError('damaged', 'The encoder wrote no time of an access unit.')
  return concatBytes(parts)
}

interface Message {
  type: number
  payload: Uint8Array
}

/** x264 writes each message as a unit of its own; null = there are several. */
function onlyMessage(nal: Uint8Array): Message | null {
  const bytes = unescapeNal(nal, nal.length)
  let at = 1
  const number = (): number => {
    let value = 0
    for (; bytes[at] === 255; at++) value += 255
    return value + (bytes[at++] ?? 0)
  }
  const type = number()
  const size = number()
  return bytes.length === at + size + 1 && bytes[at + size] === STOP
    ? { type, payload: bytes.subarray(at, at + size) }
    : null
}

function messageUnit(header: number, { type, payload }: Message): Uint8Array<ArrayBuffer> {
  return escapeNal(Uint8Array.from([header, type, payload.length, ...payload, STOP]))
}

/** Sets the first bits. */
function withField(payload: Uint8Array, value: number, bits: number): Uint8Array {
  if (payload.length >= 255 || payload.length * 8 < bits) throw broken()
  const copy = Uint8Array.from(payload)
  for (let bit = 0; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7)
    const isSet = Math.floor(value / 2 ** (bits - 1 - bit)) % 2 === 1
    copy[bit >> 3] = isSet ? copy[bit >> 3]! | mask : copy[bit >> 3]! & ~mask
  }
  return copy
}

/** 7.4.1: two zeros are not followed by a byte below 4. */
function escapeNal(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const escaped: number[] = []
  let zeros = 0
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      escaped.push(3)
      zeros = 0
    }
    escaped.push(byte)
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return Uint8Array.from(escaped)
}

function lengthAt(unit: Uint8Array, at: number, lengthBytes: number): number {
  let length = 0
  for (let byte = 0; byte < lengthBytes; byte++) length = length * 256 + (unit[at + byte] ?? 0)
  return length
}

function lengthField(length: number, lengthBytes: number): Uint8Array {
  return Uint8Array.from({ length: lengthBytes }, (_, at) => (length / 2 ** (8 * (lengthBytes - 1 - at))) & 0xff)
}

function broken(): FormatError {
  return new FormatError('damaged', 'The encoder wrote a broken access unit.')
}
