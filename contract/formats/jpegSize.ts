// In charge of: whether bytes are one whole JPEG, and its size (ITU-T T.81, annex B). Names and declared types are not believed.
// Not in charge of: decoding it.

const START = 0xd8
const END = 0xd9
const SCAN = 0xda

/** Frame headers: SOF0 to SOF15, but for those numbers that mean tables (DHT, JPG, DAC). */
function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc
}

/** null = it is none, or not whole. */
export function jpegSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { byteLength: length } = view
  if (length < 4 || view.getUint16(0) !== (0xff00 | START) || view.getUint16(length - 2) !== (0xff00 | END)) return null
  for (let at = 2; at + 4 <= length; at += 2 + view.getUint16(at + 2)) {
    const code = view.getUint8(at + 1)
    // Every segment before the frame header has a length of two bytes at least.
    if (view.getUint8(at) !== 0xff || code === SCAN || view.getUint16(at + 2) < 2) return null
    if (!isFrame(code)) continue
    if (at + 9 > length) return null
    const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
    return width > 0 && height > 0 ? { width, height } : null
  }
  return null
}
