// In charge of: parsing a Range header for an object of known size (RFC 9110 §14).
// Not in charge of: whether the header applies (If-Range, the method): the caller decides.

export interface ByteSpan {
  offset: number
  length: number
}

/**
 * 'whole': no range, several ranges, or one in an unknown unit or format: RFC 9110 §14.2 allows to ignore those.
 * 'unsatisfiable': the answer is 416 with the size in `Content-Range`.
 */
export type RangeResult = ByteSpan | 'whole' | 'unsatisfiable'

// RFC 9110 §14.1.2: int-range = first-pos "-" [ last-pos ], suffix-range = "-" suffix-length; the unit is
// case-insensitive.
const oneRange = /^bytes[ \t]*=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/** `size` in bytes. */
export function parseRange(header: string | null | undefined, size: number): RangeResult {
  const match = header ? oneRange.exec(header) : null
  if (!match) return 'whole'
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    if (Number(suffix) === 0) return 'unsatisfiable'
    // In an empty object, no byte could be named in a Content-Range; the whole object is the requested suffix.
    if (size === 0) return 'whole'
    const length = Math.min(Number(suffix), size)
    return { offset: size - length, length }
  }
  const start = Number(first)
  const end = last ? Number(last) : Number.POSITIVE_INFINITY
  // RFC 9110 §14.1.1: an int-range whose last-pos is less than its first-pos is invalid, and an invalid one is ignored.
  if (end < start) return 'whole'
  if (start >= size) return 'unsatisfiable'
  return { offset: start, length: Math.min(end, size - 1) - start + 1 }
}

/** Content-Range of a 206 answer, or of a 416 if `span` is null. */
export function contentRange(span: ByteSpan | null, size: number): string {
  return span ? `bytes ${span.offset}-${span.offset + span.length - 1}/${size}` : `bytes */${size}`
}

export interface ContentRange {
  offset: number
  length: number
  /** Null if the server sends `*`. */
  total: number | null
}

/** Parses another server's Content-Range (RFC 9110 §14.4); null if its unit is not bytes, or it contradicts itself. */
export function parseContentRange(header: string | null): ContentRange | null {
  const match = header ? /^bytes[ \t]+(\d+)-(\d+)\/(\d+|\*)$/i.exec(header.trim()) : null
  if (!match) return null
  const offset = Number(match[1])
  const end = Number(match[2])
  const total = match[3] === '*' ? null : Number(match[3])
  if (end < offset || (total !== null && end >= total)) return null
  return { offset, length: end - offset + 1, total }
}

/** The size in the Content-Range of a 416 answer. */
export function sizeFromUnsatisfiedRange(header: string | null): number | null {
  const match = header ? /^bytes[ \t]+\*\/(\d+)$/i.exec(header.trim()) : null
  return match ? Number(match[1]) : null
}
