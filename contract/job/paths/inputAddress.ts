// In charge of: the forms of `input` (specification 2.1 and the pairing of 2.3), parsed without touching a network.
// Not in charge of: whether an address may be fetched (the guard in front of fetch), what is behind it.
import { MAX_LENGTH, OUTPUT_PATH_BYTES } from '../../limits.ts'
import type { ProblemCode } from '../findings.ts'
import type { Provider } from '../requestSchema.ts'

export type InputAddress =
  | { kind: 'upload'; number: number }
  | { kind: 'http'; url: string }
  | { kind: 's3'; bucket: string; key: string }
  | { kind: 'oci'; namespace: string; bucket: string; key: string }
  | { kind: 'gs'; bucket: string; key: string }
  /** An output of an earlier job in the service's own store; `account` null = the caller's. */
  | { kind: 'own'; account: string | null; jobId: string; path: string }
  | { kind: 'invalid'; code: ProblemCode; message: string }

/** The scheme that belongs to each provider (2.3, pairing seen); none = the path has no scheme. */
export const SCHEMES: Record<Provider, readonly string[]> = {
  aws: ['s3'],
  oracle: ['oci'],
  gcloud: ['gs'],
  http: ['http', 'https'],
  'file-upload': [],
  'vendor-store': [],
}

const FORMS: Record<Provider, string> = {
  aws: 's3://<bucket>/<key>',
  oracle: 'oci://<namespace>/<bucket>/<path>',
  gcloud: 'gs://<bucket>/<key>',
  http: 'http://<host>/<path> or https://<host>/<path>',
  'file-upload': '{base_url}/uploads/<uploaded_file_number>, /uploads/<uploaded_file_number> or the bare number',
  'vendor-store':
    'vendor-store://out/<account>/<job_id>/<path> (the location in status.outputs) or out/<job_id>/<path>',
}

/** The scheme of a path, lower-case, or null when it has none. */
export function schemeOf(path: string): string | null {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(path)?.[1]?.toLowerCase() ?? null
}

/** Reads `input` as the provider's path form. Anything else is `invalid`, with a sentence that shows the form. */
export function parseInput(provider: Provider, input: string, baseUrl: string): InputAddress {
  if (provider === 'file-upload') return parseUpload(input, baseUrl)
  if (provider === 'http') return parseHttp(input)
  // Bucket names: Amazon's "general purpose buckets" rules; Google's "bucket naming guidelines".
  if (provider === 'aws') return parseBucketAndKey('s3', provider, input, /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
  if (provider === 'gcloud') return parseBucketAndKey('gs', provider, input, /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/)
  if (provider === 'oracle') return parseOracle(input)
  return parseOwn(input)
}

function parseOwn(input: string): InputAddress {
  const parts = /^(?:vendor-store:\/\/out\/([^/]+)|out)\/([A-Za-z0-9_-]+)\/(.+)$/su.exec(input)
  if (parts === null) return wrongForm('vendor-store')
  return (
    keyProblem(parts[3]!, OUTPUT_PATH_BYTES['vendor-store']) ?? {
      kind: 'own',
      account: parts[1] ?? null,
      jobId: parts[2]!,
      path: parts[3]!,
    }
  )
}

/** Checks an http(s) address given for another purpose than input (a logo, a webhook). */
export function parseHttp(address: string): InputAddress {
  // A reader that is laxer than this one would drop or turn such characters and see another host.
  if (!isCleanText(address) || /[\\ ]/.test(address)) {
    return invalid('an address must not contain control characters, spaces or backslashes; percent-encode them')
  }
  const parts = /^(https?):\/\/([^/?#]*)([/?#].*)?$/i.exec(address)
  if (parts === null) return wrongForm('http')
  const authority = parts[2]!
  // Decision "unknown fields": user info in a URL is a 400; http credentials are access_key and secret_key.
  if (authority.includes('@')) {
    return invalid(
      'an address must not contain a user name or password; send them as access_key and secret_key of cloud_credentials',
      'user_info_in_address',
    )
  }
  const host = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}\p{M}._-]+)(?::(\d{1,5}))?$/iu.exec(authority)
  if (host === null || Number(host[2] ?? 80) > 65_535 || host[2] === '0') {
    return invalid('the address has no valid host name, or no valid port')
  }
  return { kind: 'http', url: address }
}

/** 2.1 input, `{base_url}/uploads/<uploaded_file_number>`; the path alone and the bare number mean the same. */
function parseUpload(input: string, baseUrl: string): InputAddress {
  const base = splitAddress(baseUrl.replace(/\/+$/, ''))
  const given = splitAddress(input)
  if (given.host !== '' && given.host !== base.host) return wrongForm('file-upload')
  const prefixes = given.host === '' ? ['/uploads/', `${base.path}/uploads/`, ''] : [`${base.path}/uploads/`]
  for (const prefix of prefixes) {
    const digits = given.path.startsWith(prefix) ? given.path.slice(prefix.length) : ''
    if (/^[1-9]\d{0,15}$/.test(digits) && Number.isSafeInteger(Number(digits))) {
      return { kind: 'upload', number: Number(digits) }
    }
  }
  return wrongForm('file-upload')
}

/** http and https are the same place here: a proxy in front of the service may end TLS. */
function splitAddress(address: string): { host: string; path: string } {
  const parts = /^https?:\/\/([^/]*)(.*)$/is.exec(address)
  return parts === null ? { host: '', path: address } : { host: parts[1]!.toLowerCase(), path: parts[2]! }
}

function parseBucketAndKey(kind: 's3' | 'gs', provider: 'aws' | 'gcloud', input: string, name: RegExp): InputAddress {
  const parts = /^[a-z0-9]+:\/\/([^/]+)\/(.+)$/isu.exec(input)
  if (parts === null || schemeOf(input) !== kind) return wrongForm(provider)
  const bucket = parts[1]!
  const key = parts[2]!
  // Decision "Stores": a bucket becomes a host name, so it is validated as one before use.
  if (!name.test(bucket) || bucket.includes('..')) return invalid('the bucket name is not valid')
  return keyProblem(key) ?? { kind, bucket, key }
}

function parseOracle(input: string): InputAddress {
  const parts = /^oci:\/\/([^/]+)\/([^/]+)\/(.+)$/isu.exec(input)
  if (parts === null) return wrongForm('oracle')
  const namespace = parts[1]!
  const bucket = parts[2]!
  const key = parts[3]!
  if (!/^[a-z0-9-]{1,63}$/.test(namespace))
    return invalid('the namespace is not valid: lower-case letters, digits and -')
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,255}$/.test(bucket)) return invalid('the bucket name is not valid')
  return keyProblem(key) ?? { kind: 'oci', namespace, bucket, key }
}

function keyProblem(key: string, maximum: number = MAX_LENGTH.path_bytes): InputAddress | null {
  if (!isCleanText(key)) return invalid('the object key must not contain control characters')
  if (utf8Length(key) > maximum) return invalid(`the object key is longer than ${maximum} bytes`)
  // Readers of addresses resolve these, so the request would reach another object.
  if (key.split('/').some((element) => element === '.' || element === '..')) {
    return invalid('the object key must not contain . or .. as an element')
  }
  return null
}

function wrongForm(provider: Provider): InputAddress {
  return invalid(`with cloud_provider "${provider}", input has the form ${FORMS[provider]}`)
}

function invalid(message: string, code: ProblemCode = 'invalid_input_address'): InputAddress {
  return { kind: 'invalid', code, message }
}

/** No C0 or C1 control character, no line separator, no half of a surrogate pair. */
export function isCleanText(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text) && text.isWellFormed()
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (const character of text) {
    const point = character.codePointAt(0)!
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}

/**
 * The source's file name without directory and extension, safe in a path: `http://h/a/My%20film.final.mp4?x` → `My_film_final`.
 * Without dots, so that a name of a name is itself.
 * For an upload, give the uploaded file's name.
 */
export function inputName(input: string): string {
  const scheme = schemeOf(input)
  const path = scheme === 'http' || scheme === 'https' ? input.replace(/[?#].*$/s, '') : input
  const element =
    path
      .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
      .split(/[/\\]/)
      .at(-1) ?? ''
  const dot = element.lastIndexOf('.')
  const name = decode(dot > 0 ? element.slice(0, dot) : element)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    // A name may not begin as a hidden file or a command-line option does.
    .replace(/^[_-]+/, '')
    .slice(0, MAX_LENGTH.file_name)
    .replace(/[_-]+$/, '')
  return name === '' ? 'input' : name
}

/** The file's name as people know it: `https://h/a/My%20film.mp4?x` → `My film.mp4`. Of an upload: `Upload 12`. */
export function fileNameOf(input: string): string {
  const scheme = schemeOf(input)
  const path = scheme === null || scheme === 'http' || scheme === 'https' ? input.replace(/[?#].*$/s, '') : input
  const number = /^(?:.*\/uploads\/)?(\d+)$/s.exec(path)?.[1]
  if (number !== undefined) return `Upload ${number}`
  const last = path.split('/').findLast((element) => element !== '') ?? input
  return scheme === 'http' || scheme === 'https' ? decode(last) : last
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
