// In charge of: the formats of caption files that jobs can bring, and what their addresses and languages may be.
// Not in charge of: reading them (transcoder/formats/captions), the fields of a request (job/fields/).

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

/** Forms of captions inside the frames of a video. */
export const EMBEDDED_CAPTIONS = ['cea-608'] as const

/** Channels of CEA-608: the first two are in field 1 of line 21. */
export const CHANNELS_608 = ['CC1', 'CC2', 'CC3', 'CC4'] as const
export type Channel608 = (typeof CHANNELS_608)[number]

/** For captions without a channel: fields have their own bandwidth, so each gets one before any is shared. */
const PREFERRED_CHANNELS: readonly Channel608[] = ['CC1', 'CC3', 'CC2', 'CC4']

interface Embedding {
  embed?: (typeof EMBEDDED_CAPTIONS)[number] | undefined
  embed_channel?: Channel608 | undefined
}

/** By position: the channel of each caption file that is embedded; null = it is not, or no channel is left. */
export function assignChannels(captions: readonly Embedding[]): (Channel608 | null)[] {
  const taken = new Set(captions.flatMap((each) => (each.embed === undefined ? [] : (each.embed_channel ?? []))))
  return captions.map(({ embed, embed_channel: chosen }) => {
    if (embed === undefined) return null
    const channel = chosen ?? PREFERRED_CHANNELS.find((each) => !taken.has(each)) ?? null
    if (channel !== null) taken.add(channel)
    return channel
  })
}
