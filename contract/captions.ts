// In charge of: the formats of caption files that jobs can bring, and what their addresses and languages may be.
// Not in charge of: reading them (transcoder/formats/captions), the fields of a request (job/requestSchema.ts).

export const CAPTION_FORMATS = ['srt', 'webvtt', 'ttml', 'scc', 'stl'] as const
export type CaptionFormat = (typeof CAPTION_FORMATS)[number]

/** What messages and documents call them. */
export const captionFormatNames: Readonly<Record<CaptionFormat, string>> = {
  srt: 'SubRip',
  webvtt: 'WebVTT',
  ttml: 'TTML',
  scc: 'SCC',
  stl: 'EBU STL',
}

/** BCP 47 (RFC 5646, 2.1), without extensions: a language of ISO 639, then script, region and variants. */
export const LANGUAGE_TAG =
  /^[A-Za-z]{2,3}(-[A-Za-z]{3})?(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?(-([A-Za-z0-9]{5,8}|\d[A-Za-z0-9]{3})){0,4}$/

/** In its canonical form (RFC 5646, 4.5): `ger` → `de`, `PT-br` → `pt-BR`. null = not a tag. */
export function canonicalLanguage(tag: string): string | null {
  if (!LANGUAGE_TAG.test(tag)) return null
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null
  } catch {
    return null
  }
}
