// In charge of: parsing a multipart/form-data stream (RFC 7578, RFC 2046 §5.1), however it is divided into blocks.
// (multipasta 0.2.8 was tried: it rejects a form if a boundary or header falls on the end of a block.)
// Not in charge of: what happens to the file (receiveUpload.ts).
import { RequestError } from '../http/requestError.ts'
import { fileNameFromDisposition, safeContentType } from '../http/fileNames.ts'

const MAX_HEADER_BYTES = 16 * 1024
const MAX_PARTS = 50
const CR = 0x0d

export interface FormFile {
  /** As sent by the client, not sanitized. */
  name: string | null
  contentType: string
}

export interface MultipartParser {
  /** `block`: next block of the body; null = its end. Returns the bytes of it that belong to the file, in order. */
  push(block: Uint8Array | null): Uint8Array[]
  /** Null until the headers of the file were read. */
  file(): FormFile | null
}

function malformed(message: string): RequestError {
  return new RequestError('invalid_request', message)
}

/** @throws RequestError for a form without a boundary, malformed, truncated, or with more than one file */
export function parseMultipart(contentType: string): MultipartParser {
  const [, quoted, token] = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  const boundary = quoted ?? token
  if (!boundary) throw malformed('The Content-Type of a form needs its boundary parameter.')
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`)
  const blankLine = new TextEncoder().encode('\r\n\r\n')

  let state: 'skip' | 'file' | 'delimiter' | 'headers' | 'done' = 'skip'
  let file: FormFile | null = null
  let parts = 0
  // The first boundary may be at the very start, without the line break that precedes all others.
  let pending: Uint8Array = new TextEncoder().encode('\r\n')

  /** Each consumes from `at`. → where it stopped because bytes are missing, or the next position with another state. */
  const steps = {
    skip: (bytes: Uint8Array, at: number, out: Uint8Array[]): number => content(bytes, at, out),
    file: (bytes: Uint8Array, at: number, out: Uint8Array[]): number => content(bytes, at, out),

    delimiter(bytes: Uint8Array, at: number): number {
      if (bytes.length - at < 2) return at
      if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) {
        state = 'done'
        return bytes.length
      }
      // RFC 2046 §5.1.1: only white space may follow a boundary on its line.
      for (let end = at; end < bytes.length; end++) {
        if (bytes[end] === CR) {
          state = 'headers'
          // The line break stays: if there are no headers, it starts the blank line.
          return end
        }
        const isBlank = bytes[end] === 0x20 || bytes[end] === 0x09
        if (!isBlank || end - at > MAX_HEADER_BYTES) throw malformed('A boundary of the form is malformed.')
      }
      return at
    },

    headers(bytes: Uint8Array, at: number): number {
      const end = indexOf(bytes, blankLine, at)
      if ((end < 0 ? bytes.length : end) - at > MAX_HEADER_BYTES)
        throw malformed('The headers of a part of the form are too long.')
      if (end < 0) return at
      if (++parts > MAX_PARTS) throw malformed(`The form has more than ${MAX_PARTS} parts.`)
      state = begin(new TextDecoder().decode(bytes.subarray(at, end)))
      // A part without content is directly followed by the delimiter, whose line break is the second of these.
      return end + 2
    },

    done: (bytes: Uint8Array): number => bytes.length,
  }

  // Content starts one line break early (see headers), so that an empty part ends like any other.
  let skipBreak = 0

  function content(bytes: Uint8Array, at: number, out: Uint8Array[]): number {
    const end = indexOf(bytes, delimiter, at)
    // The last bytes may be the start of a delimiter.
    const until = end < 0 ? Math.max(at, bytes.length - delimiter.length + 1) : end
    const skipped = Math.min(skipBreak, until - at)
    skipBreak -= skipped
    if (state === 'file' && until > at + skipped) out.push(bytes.subarray(at + skipped, until))
    if (end < 0) return until
    state = 'delimiter'
    return end + delimiter.length
  }

  function begin(text: string): 'skip' | 'file' {
    const header = (name: string): string | null =>
      new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'im').exec(text.replaceAll('\r\n', '\n'))?.[1]?.trim() ?? null
    const disposition = header('content-disposition')
    if (!disposition || !/^form-data\b/i.test(disposition)) throw malformed('A part of the form has no name.')
    skipBreak = 2
    // RFC 7578 §4.2: a file has a file name, which may be empty. All other parts are fields, which are ignored.
    if (!/;\s*filename\*?\s*=/i.test(disposition)) return 'skip'
    if (file) throw malformed('The form has more than one file. Send one file per request.')
    file = { name: fileNameFromDisposition(disposition), contentType: safeContentType(header('content-type') ?? '') }
    return 'file'
  }

  return {
    file: () => file,
    push(block) {
      if (block === null) {
        if (state !== 'done') throw malformed('The form ended before its closing boundary.')
        return []
      }
      const bytes = pending.length > 0 ? concat(pending, block) : block
      const out: Uint8Array[] = []
      let at = 0
      for (;;) {
        const before = state
        at = steps[state](bytes, at, out)
        if (state === before) break
      }
      pending = bytes.slice(at)
      return out
    },
  }
}

/** First position of `wanted` in `bytes` from `from` on, or −1. `wanted` starts with CR, which is rare in media. */
function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(CR, from); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    if (at + wanted.length > bytes.length) return -1
    let same = 1
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++
    if (same === wanted.length) return at
  }
  return -1
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}
