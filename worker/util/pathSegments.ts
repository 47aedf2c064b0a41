// In charge of: reading the elements of a path out of an address.

/** Decodes each element; null where one is malformed or hides a slash, which would make two paths out of one. */
export function decodePathSegments(elements: string[]): string[] | null {
  try {
    const decoded = elements.map(decodeURIComponent)
    return decoded.some((element) => element === '' || element.includes('/')) ? null : decoded
  } catch {
    return null
  }
}
