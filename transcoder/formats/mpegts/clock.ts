// In charge of: arithmetic on the 33-bit 90 kHz clock of PTS, DTS, PCR and splice times, and reading the first three.
// Not in charge of: the use of the times (timeline.ts, segmentTiming.ts).

/** ISO/IEC 13818-1, 2.4.3.5: program_clock_reference_base and the time stamps wrap to 0 after 2^33 ticks (26.5 h). */
const PERIOD = 2 ** 33
export const TICKS_PER_SECOND = 90_000
/** Half of the shortest frame (300 per second): a time stamp within this distance is the same despite rounding. */
export const ROUNDING_TICKS = 150

/** Any number of ticks, wrapped to 33 bits. */
export function wrapTicks(ticks: number): number {
  const remainder = ticks % PERIOD
  return remainder < 0 ? remainder + PERIOD : remainder
}

/** Ticks from one time to another, in the direction of the shorter distance: −2^32 … 2^32 − 1. */
export function ticksBetween(from: number, to: number): number {
  const ahead = wrapTicks(to - from)
  return ahead >= PERIOD / 2 ? ahead - PERIOD : ahead
}

/** PCR of a packet in 90 kHz ticks (without the 27 MHz extension); null where it carries none. */
export function readPcr(packet: Uint8Array): number | null {
  const hasField = (packet[3]! & 0x20) !== 0 && packet[4]! >= 7 && (packet[5]! & 0x10) !== 0
  return hasField ? readBase(packet) : null
}

function readBase(packet: Uint8Array): number {
  return packet[6]! * 2 ** 25 + ((packet[7]! << 17) | (packet[8]! << 9) | (packet[9]! << 1) | (packet[10]! >> 7))
}

/** The packet with `ticks` of 27 MHz added to its PCR. The same object where it has no PCR, or for 0. */
export function delayPcr(packet: Uint8Array, ticks: number): Uint8Array {
  if (ticks === 0 || readPcr(packet) === null) return packet
  // Not slice(): on a Buffer it does not copy.
  const later = Uint8Array.from(packet)
  // 2.4.3.5: PCR = base × 300 + extension.
  const sum = readBase(packet) * 300 + (((packet[10]! & 1) << 8) | packet[11]!) + ticks
  const base = wrapTicks(Math.floor(sum / 300))
  const extension = ((sum % 300) + 300) % 300
  new DataView(later.buffer).setUint32(6, Math.floor(base / 2))
  later[10] = ((base % 2) << 7) | 0x7e | (extension >> 8)
  later[11] = extension & 0xff
  return later
}

export interface Timestamps {
  pts: number
  dts: number
}

/** Time stamps of a PES header at the beginning of `payload` (ISO/IEC 13818-1, 2.4.3.6); null where there are none. */
export function readPesTimestamps(payload: Uint8Array): Timestamps | null {
  if (payload.length < 14 || payload[0] !== 0 || payload[1] !== 0 || payload[2] !== 1) return null
  const flags = payload[7]! >> 6
  if (flags < 2) return null
  const pts = readTimestamp(payload, 9)
  return { pts, dts: flags === 3 && payload.length >= 19 ? readTimestamp(payload, 14) : pts }
}

function readTimestamp(bytes: Uint8Array, at: number): number {
  const high = (bytes[at]! >> 1) & 7
  const middle = ((bytes[at + 1]! << 8) | bytes[at + 2]!) >> 1
  const low = ((bytes[at + 3]! << 8) | bytes[at + 4]!) >> 1
  return high * 2 ** 30 + middle * 2 ** 15 + low
}
