// In charge of: making names and types of clients' files safe to store and to use in a header.

const MAX_NAME_CHARACTERS = 255

/** The last segment of a Unix or Windows path, without control characters; null if nothing remains. */
export function sanitizeFileName(name: string | null | undefined): string | null {
  const last = (name ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // oxlint-disable-next-line no-control-regex
  const clean = last.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '').trim()
  const short = clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed()
  return short === '' || short === '.' || short === '..' ? null : short
}

/** RFC 6266 §4.3: filename* takes precedence over filename. */
export function fileNameFromDisposition(header: string | null): string | null {
  if (!header) return null
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1]
  if (extended) {
    try {
      return decodeURIComponent(extended)
    } catch {
      // For a malformed filename*, the plain form is used.
    }
  }
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? token ?? null
}

/** RFC 6266 with the RFC 8187 form for non-ASCII names. */
export function attachmentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const extended = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`
}

/** The type without parameters (RFC 9110 §8.3.1), or application/octet-stream if it is invalid. */
export function safeContentType(header: string): string {
  const type = header.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/.test(type) ? type : 'application/octet-stream'
}
