// In charge of: decoding the segments of a URL path.

/** Null if a segment is empty, malformed or contains an encoded slash, which would make two paths equal. */
export function decodePathSegments(elements: string[]): string[] | null {
  try {
    const decoded = elements.map(decodeURIComponent)
    return decoded.some((element) => element === '' || element.includes('/')) ? null : decoded
  } catch {
    return null
  }
}
