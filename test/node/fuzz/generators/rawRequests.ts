// In charge of: requests that no client library sends: ambiguous framing, broken chunks, bodies that end early,
// oversized heads, many idle connections; and the rules for their answers.
// Not in charge of: well-formed requests (request.ts).
import { headerOf, type Response } from '../http/responseParser.ts'
import { findLeaks } from '../leakRules.ts'
import type { HeardStream } from '../http/connection.ts'

/** A valid request as a base, with a body or without. */
export interface RawBase {
  name: string
  method: string
  target: string
  /** Further header lines, with placeholders. */
  head: string
  body: string
}

const key = 'Authorization: Basic {{basic.jobs}}\r\n'

export const BASES: readonly RawBase[] = [
  {
    name: 'a job',
    method: 'POST',
    target: '/api/v0/job',
    head: `${key}Content-Type: application/json\r\n`,
    body: '{"input":1}',
  },
  { name: 'a job without a key', method: 'POST', target: '/api/v0/job', head: '', body: '{}' },
  {
    name: 'an upload',
    method: 'POST',
    target: '/uploads',
    head: `${key}Content-Type: video/mp4\r\n`,
    body: 'hello world',
  },
  {
    name: 'a chunk',
    method: 'PATCH',
    target: '/uploads/{{upload.tus}}',
    head: `${key}Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n`,
    body: 'hello world',
  },
  { name: 'a retry', method: 'POST', target: '/api/v0/job/{{job.active}}/retry', head: key, body: '{}' },
  { name: 'a page', method: 'GET', target: '/docs', head: '', body: 'a' },
]

export interface RawForm {
  name: string
  /** All its bytes, in Latin-1, up to where a next request would start. */
  text: (base: RawBase) => string
  /**
   * refuse: its framing or its head cannot be trusted, so it is refused and the connection is closed;
   * serve: it is valid, however odd, and so is what follows it;
   * either: a server may do the one or the other.
   */
  must: 'refuse' | 'serve' | 'either'
  /** The client closes its side afterwards; nothing follows. */
  half?: true
}

const HOST = 'Host: {{host.name}}\r\n'
const line = ({ method, target }: RawBase): string => `${method} ${target} HTTP/1.1\r\n`
/** The base with other framing. */
const framed = (headers: string, body: string) => (base: RawBase) =>
  `${line(base)}${HOST}${base.head}${headers}\r\n\r\n${body}`
const chunks = (body: string) => framed('Transfer-Encoding: chunked', body)
const sized = (base: RawBase): string => `${line(base)}${HOST}${base.head}Content-Length: ${base.body.length}\r\n`

/** If this is answered, a part of a body was treated as a request. */
const INNER = 'GET /api/v0/limits HTTP/1.1\r\nHost: {{host.name}}\r\n\r\n'
export const SENTINEL = 'GET /health HTTP/1.1\r\nHost: {{host.name}}\r\nConnection: close\r\n\r\n'

const lengths: RawForm[] = [
  ['+2', '-2', '0x2', '2 2', '2,3', '2a', '1e0', '', '99999999999999999999999', '2;', '"2"', '\u00b2', '2.0'],
]
  .flat()
  .map((value) => ({
    name: `Content-Length: ${value}`,
    must: 'refuse',
    text: framed(`Content-Length: ${value}`, '{}'),
  }))

const codings: RawForm[] = [
  ['xchunked', 'chunked, identity', 'identity', 'gzip', '\u000bchunked', '"chunked"', 'chunked;a=b', 'chunked\u0000'],
]
  .flat()
  .map((value) => ({
    name: `Transfer-Encoding: ${JSON.stringify(value)}`,
    must: 'refuse',
    text: framed(`Transfer-Encoding: ${value}`, `2\r\n{}\r\n0\r\n\r\n`),
  }))

const framings: RawForm[] = [
  { name: 'two lengths', must: 'refuse', text: framed('Content-Length: 2\r\nContent-Length: 3', '{}') },
  { name: 'two equal lengths', must: 'either', text: framed('Content-Length: 2\r\nContent-Length: 2', '{}') },
  {
    name: 'a length and chunks',
    must: 'either',
    text: framed('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${INNER}`),
  },
  {
    name: 'chunks and a length',
    must: 'either',
    text: framed(`Transfer-Encoding: chunked\r\nContent-Length: ${INNER.length}`, `0\r\n\r\n${INNER}`),
  },
  { name: 'chunked twice', must: 'either', text: framed('Transfer-Encoding: chunked, chunked', '0\r\n\r\n') },
  {
    name: 'two codings',
    must: 'refuse',
    text: framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', `0\r\n\r\n${INNER}`),
  },
  {
    name: 'a space before the colon',
    must: 'refuse',
    text: framed('Transfer-Encoding : chunked', `0\r\n\r\n${INNER}`),
  },
  { name: 'a length with a space before the colon', must: 'refuse', text: framed('Content-Length : 2', '{}') },
  { name: 'a folded coding', must: 'either', text: framed('Transfer-Encoding:\r\n chunked', '2\r\n{}\r\n0\r\n\r\n') },
  {
    name: 'a coding behind a bare line feed',
    must: 'either',
    text: framed('X: y\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'),
  },
  {
    name: 'a coding behind a bare carriage return',
    must: 'refuse',
    text: framed('X: y\rTransfer-Encoding: chunked', ''),
  },
  {
    name: 'chunks to HTTP/1.0',
    must: 'either',
    text: (base) => chunks('0\r\n\r\n')(base).replace('HTTP/1.1', 'HTTP/1.0'),
  },
  {
    name: 'Connection: Content-Length',
    must: 'either',
    text: framed('Connection: content-length\r\nContent-Length: 2', '{}'),
  },
]

const badChunks: RawForm[] = [
  ['no number', 'ZZ\r\n{}\r\n0\r\n\r\n'],
  ['a negative number', '-2\r\n{}\r\n0\r\n\r\n'],
  ['0x', '0x2\r\n{}\r\n0\r\n\r\n'],
  ['a space in front', ' 2\r\n{}\r\n0\r\n\r\n'],
  ['too many digits', `${'F'.repeat(17)}\r\n{}\r\n0\r\n\r\n`],
  ['an empty line', '\r\n2\r\n{}\r\n0\r\n\r\n'],
  ['more than was said', '1\r\n{}\r\n0\r\n\r\n'],
  ['no end of a chunk', '2\r\n{}0\r\n\r\n'],
  ['another request in place of the end', `2\r\n{}\r\n${INNER}`],
].map(([name, body]) => ({ name: `chunks: ${name}`, must: 'refuse', text: chunks(body!) }))

const goodChunks: RawForm[] = [
  { name: 'chunks: an extension', must: 'either', text: chunks('2;a=b;c="d"\r\n{}\r\n0\r\n\r\n') },
  { name: 'chunks: an extension of 20 kB', must: 'either', text: chunks(`2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`) },
  { name: 'chunks: bare line feeds', must: 'either', text: chunks('2\n{}\n0\n\n') },
  {
    name: 'chunks: trailers',
    must: 'either',
    text: chunks('2\r\n{}\r\n0\r\nContent-Length: 5\r\nAuthorization: Basic YTo=\r\n\r\n'),
  },
  { name: 'chunks: leading zeros', must: 'either', text: chunks('000002\r\n{}\r\n000\r\n\r\n') },
  {
    name: 'chunks: one byte each',
    must: 'serve',
    text: ({ body, ...base }) =>
      chunks(
        `${body
          .split('')
          .map((byte) => `1\r\n${byte}\r\n`)
          .join('')}0\r\n\r\n`,
      )({ body, ...base }),
  },
]

const cut: RawForm[] = [
  { name: 'a body that ends early', must: 'either', half: true, text: framed('Content-Length: 100', '{"a"') },
  { name: 'a body that does not begin', must: 'either', half: true, text: framed('Content-Length: 100', '') },
  { name: 'chunks that end early', must: 'either', half: true, text: chunks('5\r\n{"') },
  { name: 'chunks without a last one', must: 'either', half: true, text: chunks('2\r\n{}\r\n') },
  { name: 'a chunk that is malformed, and the end', must: 'either', half: true, text: chunks('ZZ\r\n') },
  { name: 'a head that ends early', must: 'either', half: true, text: (base) => `${line(base)}Host: a` },
  { name: 'half of a first line', must: 'either', half: true, text: ({ method }) => `${method} /he` },
  { name: 'nothing', must: 'either', half: true, text: () => '' },
  {
    name: 'Expect without a body',
    must: 'either',
    half: true,
    text: framed('Expect: 100-continue\r\nContent-Length: 10', ''),
  },
]

const bare =
  (first: string, more = HOST) =>
  () =>
    `${first}\r\n${more}\r\n`
const firstLines: RawForm[] = [
  { name: 'no version', must: 'refuse', text: () => 'GET /health\r\n\r\n' },
  { name: 'two spaces', must: 'either', text: bare('GET  /health HTTP/1.1') },
  { name: 'a tab', must: 'either', text: bare('GET\t/health HTTP/1.1') },
  { name: 'a space in the address', must: 'refuse', text: bare('GET /hea lth HTTP/1.1') },
  { name: 'HTTP/0.9', must: 'either', text: bare('GET /health HTTP/0.9') },
  { name: 'HTTP/1.0', must: 'either', text: bare('GET /health HTTP/1.0') },
  { name: 'HTTP/1.2', must: 'either', text: bare('GET /health HTTP/1.2') },
  { name: 'HTTP/2.0', must: 'either', text: bare('GET /health HTTP/2.0') },
  { name: 'HTTP/9.9', must: 'refuse', text: bare('GET /health HTTP/9.9') },
  { name: 'http/1.1', must: 'refuse', text: bare('GET /health http/1.1') },
  { name: 'HTTP/1.1.1', must: 'refuse', text: bare('GET /health HTTP/1.1.1') },
  { name: 'the preface of HTTP/2', must: 'refuse', text: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  { name: 'empty lines in front', must: 'either', text: bare('\r\n\r\nGET /health HTTP/1.1') },
  { name: 'a space in front', must: 'refuse', text: bare(' GET /health HTTP/1.1') },
  { name: 'a byte order mark in front', must: 'refuse', text: bare('\u00ef\u00bb\u00bfGET /health HTTP/1.1') },
  { name: 'NUL in the address', must: 'refuse', text: bare('GET /hea\0lth HTTP/1.1') },
  { name: 'bytes above ASCII in the address', must: 'either', text: bare('GET /\u00ff\u00fe HTTP/1.1') },
  { name: 'characters that no address has', must: 'either', text: bare('GET /"<>\\^`{|} HTTP/1.1') },
  { name: 'a fragment', must: 'either', text: bare('GET /health#a HTTP/1.1') },
  { name: 'an absolute address', must: 'either', text: bare('GET http://{{host.name}}/health HTTP/1.1') },
  {
    name: 'an absolute address of another host',
    must: 'either',
    text: bare('GET http://made-up-host.invalid/none HTTP/1.1'),
  },
  { name: 'CONNECT', must: 'either', text: bare('CONNECT 127.0.0.1:22 HTTP/1.1') },
  { name: 'OPTIONS *', must: 'either', text: bare('OPTIONS * HTTP/1.1') },
  { name: 'GET *', must: 'either', text: bare('GET * HTTP/1.1') },
  { name: 'no slash', must: 'either', text: bare('GET health HTTP/1.1') },
  { name: 'an address of 100 kB', must: 'either', text: bare(`GET /${'a'.repeat(100_000)} HTTP/1.1`) },
  { name: 'a method of 10 kB', must: 'refuse', text: bare(`${'A'.repeat(10_000)} /health HTTP/1.1`) },
  { name: 'a method with a quote', must: 'refuse', text: bare('G"ET /health HTTP/1.1') },
  { name: 'TRACE', must: 'either', text: bare('TRACE /health HTTP/1.1', `${HOST}X-Echo: made-up-host.invalid\r\n`) },
]

const get = (headers: string) => bare('GET /health HTTP/1.1', headers)
const heads: RawForm[] = [
  { name: 'no Host', must: 'either', text: get('') },
  { name: 'two Hosts', must: 'either', text: get(`${HOST}Host: made-up-host.invalid\r\n`) },
  ...[
    '',
    'a b',
    'a/b',
    '@',
    'user@host',
    'host:99999',
    'host:a',
    '[::1',
    '%00',
    '..',
    ',',
    '\u00ff',
    'a'.repeat(5000),
  ].map((host): RawForm => ({ name: `Host: ${host.slice(0, 20)}`, must: 'either', text: get(`Host: ${host}\r\n`) })),
  { name: 'NUL in a value', must: 'either', text: get(`${HOST}X: a\0b\r\n`) },
  { name: 'a bare carriage return in a value', must: 'either', text: get(`${HOST}X: a\rb\r\n`) },
  { name: 'control characters in a value', must: 'either', text: get(`${HOST}X: a\u0001\u001b[31m\r\n`) },
  { name: 'a space in a name', must: 'either', text: get(`${HOST}X Y: a\r\n`) },
  { name: 'no name', must: 'either', text: get(`${HOST}: a\r\n`) },
  { name: 'no colon', must: 'either', text: get(`${HOST}abc\r\n`) },
  { name: 'a folded line', must: 'either', text: get(`${HOST}X: a\r\n b\r\n`) },
  { name: 'a folded first line', must: 'either', text: get(` X: a\r\n${HOST}`) },
  { name: 'bytes above ASCII in a name', must: 'either', text: get(`${HOST}X-\u00e9: a\r\n`) },
  { name: 'a value of 100 kB', must: 'either', text: get(`${HOST}X: ${'a'.repeat(100_000)}\r\n`) },
  { name: 'a key of 100 kB', must: 'either', text: get(`${HOST}Authorization: Basic ${'QQ'.repeat(50_000)}\r\n`) },
  { name: '5,000 headers', must: 'either', text: get(HOST + 'X: y\r\n'.repeat(5000)) },
  { name: 'a name of 100 kB', must: 'either', text: get(`${HOST}${'X'.repeat(100_000)}: a\r\n`) },
  {
    name: 'two keys',
    must: 'either',
    text: get(`${HOST}Authorization: Basic YTo=\r\nAuthorization: Basic {{basic.jobs}}\r\n`),
  },
  { name: 'no coding is good enough', must: 'either', text: get(`${HOST}Accept-Encoding: identity;q=0, *;q=0\r\n`) },
  {
    name: 'Upgrade to WebSocket',
    must: 'either',
    half: true,
    text: get(
      `${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`,
    ),
  },
  {
    name: 'Upgrade to h2c',
    must: 'either',
    text: get(`${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`),
  },
]

const strangers: RawForm[] = [
  {
    name: 'TLS',
    must: 'refuse',
    text: () => '\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003' + '\u00aa'.repeat(60) + '\r\n\r\n',
  },
  { name: 'SSH', must: 'refuse', text: () => 'SSH-2.0-OpenSSH_9.0\r\n\r\n' },
  { name: 'SMTP', must: 'refuse', text: () => 'EHLO a\r\n\r\n' },
  { name: 'binary zeros', must: 'refuse', text: () => '\0'.repeat(200) + '\r\n\r\n' },
]

export const FORMS: readonly RawForm[] = [
  ...lengths,
  ...codings,
  ...framings,
  ...badChunks,
  ...goodChunks,
  ...cut,
  ...firstLines,
  ...heads,
  ...strangers,
  { name: 'as it should be', must: 'serve', text: (base) => `${sized(base)}\r\n${base.body}` },
  {
    name: 'Expect, and the body at once',
    must: 'serve',
    text: (base) => `${sized(base)}Expect: 100-continue\r\n\r\n${base.body}`,
  },
]

/** Whether the form depends on the base. */
export const isOfBase = ({ text }: RawForm): boolean => BASES.some((base) => text(base) !== text(BASES[0]!))

const isWhole = (answer: Response | undefined): boolean => answer !== undefined && answer.status < 500

/**
 * Problems of the answers; sentences without values. The sentinel, GET /health, was sent after all but half-closed
 * requests.
 */
export function checkRawResponse(
  form: RawForm,
  heard: HeardStream,
  secrets: readonly string[],
  places: readonly string[],
): string[] {
  const { answers, silent, broken, left, raw } = heard
  const [first, ...rest] = answers
  const wrong = findLeaks(raw, secrets, places).map((what) => `the answer has ${what}`)
  if (silent) return [...wrong, 'neither an answer came nor the end']
  if (broken !== null || left.length > 0) wrong.push('the answer is no HTTP')
  for (const { status } of answers) if (status >= 500 && status !== 501 && status !== 505) wrong.push(`${status}`)
  if (raw.includes('"body_bytes"')) wrong.push('a part of its body was taken for a request')
  if (answers.length > 2 || (form.half && answers.length > 1)) wrong.push('there are more answers than requests')
  if (form.must === 'refuse') {
    // Closing the connection without an answer is a refusal too.
    if (first !== undefined && first.status < 400) wrong.push(`${first.status} in place of a refusal`)
    // Bytes that are not a request may be refused again.
    if (rest.some(({ status }) => status < 400)) wrong.push('what stands behind it was read on')
  }
  if (form.must === 'serve' && !(isWhole(first) && rest[0]?.status === 200)) wrong.push('it is not served')
  if (rest[0] !== undefined && headerOf(rest[0], 'content-type') === null) wrong.push('the next answer is another one')
  return [...new Set(wrong)]
}
