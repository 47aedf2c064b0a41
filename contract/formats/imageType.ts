// In charge of: recognising the image format of a logo by its first bytes. File names and declared types are ignored.
// Not in charge of: whether the image can be decoded.

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp'

/** Bytes at positions. PNG: the whole signature. JPEG: SOI and a marker. WebP: RIFF, a size, WEBP. */
const signatures: readonly [ImageType, Readonly<Record<number, string>>][] = [
  ['image/png', { 0: '89504e470d0a1a0a' }],
  ['image/jpeg', { 0: 'ffd8ff' }],
  ['image/webp', { 0: '52494646', 8: '57454250' }],
]

export function imageType(bytes: Uint8Array): ImageType | null {
  const hex = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const found = signatures.find(([, parts]) =>
    Object.entries(parts).every(([at, part]) => hex.startsWith(part, 2 * Number(at))),
  )
  return found?.[0] ?? null
}
