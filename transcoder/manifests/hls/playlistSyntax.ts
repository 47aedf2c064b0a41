// In charge of: the syntax of playlists: attribute lists, quoted strings, dates, numbers (RFC 8216bis, 4.2).
// Not in charge of: choosing the tags.

/** An attribute's value as written in the playlist. */
export type AttributeValue = string | number

/**
 * Throws for characters that a quoted string cannot contain: a double quote, a line feed, a carriage return, and other
 * control characters.
 */
export function quoted(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- controls are what must not be in a playlist (RFC 8216bis, 4)
  if (/["\u0000-\u001F\u007F-\u009F]/.test(text))
    throw new Error('A quoted string of a playlist cannot hold this text.')
  return `"${text}"`
}

/** `#NAME:A=1,B="x"`. Attributes with the value null are omitted. */
export function tag(name: string, attributes: Record<string, AttributeValue | null>): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${value}`)
  return `#${name}:${list.join(',')}`
}

/** Seconds with six decimals, from microseconds. */
export function decimal(microseconds: number): string {
  return `${Math.floor(microseconds / 1_000_000)}.${String(microseconds % 1_000_000).padStart(6, '0')}`
}

/** Seconds with at most six decimals. */
export function seconds(value: number): string {
  return decimal(Math.round(value * 1_000_000))
}

/** ISO 8601 in UTC with milliseconds. `epoch`: milliseconds since 1970; `time`: seconds after it. */
export function date(epoch: number, time: number): string {
  return new Date(Math.round(epoch + time * 1000)).toISOString()
}

/** Each line ends with a line feed, the last one too. */
export function playlist(lines: readonly (string | null)[]): string {
  return `${lines.filter((line) => line !== null).join('\n')}\n`
}
