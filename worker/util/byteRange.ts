// In charge of: reading a Range header against the size of an object (RFC 9110 §14).
// Not in charge of: whether the header applies at all (If-Range, the method): the caller decides that.

export interface ByteSpan {
  offset: number
  length: number
}

/**
 * 'whole': no range, one in a unit or shape that we do not know, or several: RFC 9110 §14.2 allows to ignore those.
 * 'unsatisfiable': answer 416 with `Content-Range` naming the size.
 */
export type RangeResult = ByteSpan | 'whole' | 'unsatisfiable'

// RFC 9110 §14.1.2: int-range = first-pos "-" [ last-pos ], suffix-range = "-" suffix-length; the unit is case-insensitive.
const oneRange = /^bytes[ \t]*=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/** `size` in bytes. */
export function parseRange(header: string | null | undefined, size: number): RangeResult {
  const match = header ? oneRange.exec(header) : null
  if (!match) return 'whole'
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    if (Number(suffix) === 0) return 'unsatisfiable'
    // An empty object has no byte that a Content-Range could name; all of it is what was asked for.
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

/** Content-Range of an answer 206, or of a 416 where `span` is null. */
export function contentRange(span: ByteSpan | null, size: number): string {
  return span ? `bytes ${span.offset}-${span.offset + span.length - 1}/${size}` : `bytes */${size}`
}

export interface ContentRange {
  offset: number
  length: number
  /** Null where the server says `*`. */
  total: number | null
}

/** Reads another server's Content-Range (RFC 9110 §14.4); null where it is not one of bytes, or contradicts itself. */
export function parseContentRange(header: string | null): ContentRange | null {
  const match = header ? /^bytes[ \t]+(\d+)-(\d+)\/(\d+|\*)$/i.exec(header.trim()) : null
  if (!match) return null
  const offset = Number(match[1])
  const end = Number(match[2])
  const total = match[3] === '*' ? null : Number(match[3])
  if (end < offset || (total !== null && end >= total)) return null
  return { offset, length: end - offset + 1, total }
}

/** The size that the Content-Range of a 416 names. */
export function sizeFromUnsatisfiedRange(header: string | null): number | null {
  const match = header ? /^bytes[ \t]+\*\/(\d+)$/i.exec(header.trim()) : null
  return match ? Number(match[1]) : null
}
