// In charge of: the caption tracks to choose from, and their names. Pure.

/** The used members of a player's text track. */
export interface TextTrack {
  id: string
  /** BCP 47, as in the manifest; "und" or empty if unknown. */
  language: string
  /** NAME in HLS, a label in DASH. */
  label: string | null
  /** CEA-608 or CEA-708 inside the video: "CC1", "SERVICE1". */
  channel: string | null
  forced?: boolean
}

export interface NamedTrack {
  id: string
  label: string
}

const CHANNEL = /^(?:CC[1-4]|SERVICE\d{1,2}|SVC\d{1,2})$/i

/**
 * The same captions often come twice, inside the video and as WebVTT converted from them: the WebVTT is kept. Tracks
 * are named by their language; the channel is added only if two would have the same name.
 */
export function namedTracks(tracks: readonly TextTrack[], locale?: string): NamedTrack[] {
  const channelOf = ({ channel, label }: TextTrack): string | null =>
    channel ?? (label !== null && CHANNEL.test(label) ? label : null)
  const files = tracks.filter(({ channel }) => channel === null)
  const asFile = new Set(files.map(channelOf))
  const kept = tracks.filter((track) => track.channel === null || !asFile.has(track.channel))
  const names = kept.map((track) => nameOf(track, locale))
  return kept.map((track, at) => {
    const name = names[at] ?? ''
    const channel = channelOf(track)
    const twice = names.filter((other) => other === name).length > 1
    const place = names.slice(0, at + 1).filter((other) => other === name).length
    return { id: track.id, label: twice ? `${name} (${channel ?? place})` : name }
  })
}

function nameOf({ language, label, forced }: TextTrack, locale: string | undefined): string {
  const own = label !== null && label !== '' && !CHANNEL.test(label) && label !== language ? label : null
  const name = own ?? languageName(language, locale) ?? 'Captions'
  return forced === true ? `${name} (forced)` : name
}

/** "English" for "en"; null if the language is unknown. */
export function languageName(language: string | null, locale?: string): string | null {
  if (language === null || language === '' || /^(?:und|mul|zxx|mis)\b/i.test(language)) return null
  try {
    const name = new Intl.DisplayNames(locale === undefined ? undefined : [locale], {
      type: 'language',
      fallback: 'none',
    }).of(language)
    return name === undefined ? language : name.charAt(0).toLocaleUpperCase(locale) + name.slice(1)
  } catch {
    return language
  }
}
