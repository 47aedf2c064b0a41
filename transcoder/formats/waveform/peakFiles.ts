// In charge of: the two data formats of audiowaveform, version 2: JSON, and a binary header with the values after it.
// Not in charge of: computing the values (peaks.ts).

export interface PeakFile {
  sampleRate: number
  samplesPerPixel: number
  bits: 8 | 16
  channels: number
  /** Pixels. */
  length: number
}

const VERSION = 2
const HEADER_BYTES = 24
/** Bit 0 of the flags: the values have 8 bits. */
const EIGHT_BITS = 1

/** Little-endian: version, flags, sample rate, samples per pixel, length, channels. */
export function datHeader({ sampleRate, samplesPerPixel, bits, channels, length }: PeakFile): Uint8Array {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES))
  view.setInt32(0, VERSION, true)
  view.setUint32(4, bits === 8 ? EIGHT_BITS : 0, true)
  view.setInt32(8, sampleRate, true)
  view.setInt32(12, samplesPerPixel, true)
  view.setUint32(16, length, true)
  view.setInt32(20, channels, true)
  return new Uint8Array(view.buffer)
}

export function datValues(values: Int16Array, bits: 8 | 16): Uint8Array {
  if (bits === 8) return new Uint8Array(Int8Array.from(values, inEightBits).buffer)
  const view = new DataView(new ArrayBuffer(values.length * 2))
  for (const [index, value] of values.entries()) view.setInt16(index * 2, value, true)
  return new Uint8Array(view.buffer)
}

/** The text around the values. */
export function jsonFrame({ sampleRate, samplesPerPixel, bits, channels, length }: PeakFile): [string, string] {
  const head = { version: VERSION, channels, sample_rate: sampleRate, samples_per_pixel: samplesPerPixel, bits, length }
  return [`${JSON.stringify(head).slice(0, -1)},"data":[`, ']}\n']
}

export function jsonValues(values: Int16Array, bits: 8 | 16): string {
  return (bits === 8 ? Int8Array.from(values, inEightBits) : values).join(',')
}

/** Towards zero, as audiowaveform does. */
function inEightBits(value: number): number {
  return Math.trunc(value / 256)
}
