// In charge of: telling the image formats of a logo by their first bytes. Names and declared types are not believed.
// Not in charge of: whether the image can be decoded.

export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp'

const magic: readonly [LogoType, RegExp][] = [
  ['image/png', /^\u0089PNG\r\n\u001A\n/],
  ['image/jpeg', /^\u00FF\u00D8\u00FF/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
]

export function imageType(bytes: Uint8Array): LogoType | null {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  return magic.find(([, pattern]) => pattern.test(head))?.[0] ?? null
}
