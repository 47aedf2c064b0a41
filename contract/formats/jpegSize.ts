// In charge of: checking that bytes are one complete JPEG, and its size (ITU-T T.81, annex B). File names and declared
// types are ignored.
// Not in charge of: decoding it.

const START = 0xd8
const END = 0xd9
const SCAN = 0xda

/** Frame headers: SOF0 to SOF15, except the codes that mean tables (DHT, JPG, DAC). */
function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc
}

/** @returns null if the bytes are not a JPEG, or not a complete one */
export function jpegSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { byteLength: length } = view
  if (length < 4 || view.getUint16(0) !== (0xff00 | START) || view.getUint16(length - 2) !== (0xff00 | END)) return null
  for (let at = 2; at + 4 <= length; at += 2 + view.getUint16(at + 2)) {
    const code = view.getUint8(at + 1)
    // Every segment before the frame header has a length of at least two bytes.
    if (view.getUint8(at) !== 0xff || code === SCAN || view.getUint16(at + 2) < 2) return null
    if (!isFrame(code)) continue
    if (at + 9 > length) return null
    const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
    return width > 0 && height > 0 ? { width, height } : null
  }
  return null
}
