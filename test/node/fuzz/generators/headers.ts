// In charge of: additional request headers: conditions, ranges, forwarded ones, headers of other programs.
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

/** Invented by the client; no answer may repeat it. */
export const MADE_UP_HOST = 'made-up-host.invalid'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const some: Record<string, readonly string[]> = {
  Range: [
    [
      'bytes=0-',
      'bytes=0-',
      'bytes=0-0',
      'bytes=1-2',
      'bytes=-1',
      'bytes=-0',
      'bytes=5-2',
      'bytes=99999999-',
      'bytes=0-1,3-4',
      'items=0-1',
    ],
    ['bytes', 'bytes=', 'bytes=a-b', 'bytes=0-99999999999999999999', 'BYTES = 0-1', 'bytes=-99999999999999999999'],
  ].flat(),
  'If-Match': ['*', '"a"', 'W/"a"', '', '"'],
  'If-None-Match': ['*', '"a"', 'W/"a", "b"', 'a'],
  'If-Modified-Since': ['Sat, 01 Jan 2050 00:00:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 'tomorrow', '0'],
  'If-Unmodified-Since': ['Sat, 01 Jan 2050 00:00:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', '-1'],
  'If-Range': ['"a"', 'Thu, 01 Jan 1970 00:00:00 GMT', ''],
  Accept: ['*/*', 'text/event-stream', 'application/xml', 'text/html;q=1', 'a', ''],
  'Accept-Encoding': ['gzip', 'br, gzip', '', 'a'],
  'Accept-Language': ['de', '*'],
  Expect: ['100-continue', 'a-miracle'],
  'X-HTTP-Method-Override': [...METHODS, 'get', 'PATCH ', '__proto__', ''],
  'X-HTTP-Method': METHODS,
  'X-Forwarded-Host': [MADE_UP_HOST, `${MADE_UP_HOST}:1`, `a, ${MADE_UP_HOST}`],
  'X-Forwarded-Proto': ['https', 'javascript'],
  'X-Forwarded-For': ['127.0.0.1', MADE_UP_HOST, '::1, 10.0.0.1'],
  'X-Forwarded-Prefix': [`//${MADE_UP_HOST}`],
  Forwarded: [`for=127.0.0.1;host=${MADE_UP_HOST};proto=https`],
  'X-Original-URL': ['/api/v0/keys', `http://${MADE_UP_HOST}/uploads`],
  'X-Rewrite-URL': ['/metrics'],
  'X-Real-IP': ['127.0.0.1'],
  'CF-Connecting-IP': ['127.0.0.1', 'a'],
  'CF-Worker': [MADE_UP_HOST],
  'CDN-Loop': ['cloudflare', 'cloudflare; loops=10'],
  'X-Account': ['other', 'default'],
  'X-Length': ['1', '-1'],
  'X-Splicepoint-Internal': ['1', ''],
  'X-Splicepoint-Transcoder': ['1'],
  'X-Splicepoint-Job': ['00000000-0000-4000-8000-000000000000'],
  Origin: [`http://${MADE_UP_HOST}`, 'null', 'http://localhost:1'],
  'Access-Control-Request-Method': ['DELETE', 'a'],
  'Access-Control-Request-Headers': ['authorization', `x-${'a'.repeat(500)}`],
  'Sec-Fetch-Mode': ['cors', 'navigate'],
  Cookie: ['a=b', `session=${'a'.repeat(4000)}`, ';'],
  Upgrade: ['h2c', 'a/1'],
  TE: ['trailers', 'gzip'],
  'Content-Language': ['x'],
  'Content-Disposition': [
    ['attachment; filename="a.mp4"', "attachment; filename*=utf-8''%ff", 'attachment; filename="..\\..\\a"', ';;;'],
  ].flat(),
  'Content-MD5': ['a'],
  'Idempotency-Key': ['one', 'one', 'two', '', 'a b', '\u00e9', 'a'.repeat(255), 'a'.repeat(256), '{{key.jobs}}', '"'],
  'Last-Event-ID': ['0', '1', '999999999', '9999999999', '-1', 'a', ''],
  'Tus-Resumable': ['1.0.0', '1.0.0', '1.0.0', '0.2.2', '', '1.0.0, 1.0.0'],
  'Upload-Length': ['0', '1', '11', '100000000001', '-1', '1e3', '99999999999999999999', 'a'],
  'Upload-Offset': ['0', '0', '1', '-1', '99999999999999999999', '', 'a'],
  'Upload-Defer-Length': ['1', '0'],
  'Upload-Concat': ['partial', 'final;/uploads/1'],
  'Upload-Metadata': [
    [
      'filename ZmlsbS5tcDQ=',
      'filename ZmlsbS5tcDQ=,filename ZmlsbS5tcDQ=',
      'filename',
      'filename !',
      ',',
      ' ',
      'a b c',
    ],
    ['filename Li4vLi4vYQ==,filetype dGV4dC9odG1s', `a ${'QUFB'.repeat(1100)}`, 'filename /w==', 'é YQ=='],
  ].flat(),
  'Upload-Checksum': [
    'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
    'sha1 a',
    'crc32 AAAA',
    'md5',
    '__proto__ AAAA',
    'sha1  AAAA',
  ],
  Traceparent: ['00-0-0-0'],
  'X-Long': ['a'.repeat(7000)],
  'X-Bytes': ['\u00e9\u00ff\u0080', '\t a\tb '],
}

/** Headers of the runtime that serves local mode: clients must not influence them. */
const ofRuntime: Record<string, readonly string[]> = {
  'MF-Original-URL': [`http://${MADE_UP_HOST}/uploads?limit=1`, '/uploads', 'a', ''],
  'MF-Original-Hostname': [MADE_UP_HOST],
  'MF-CF-Blob': ['x', '{}'],
  'MF-Route-Override': ['a', 'core:user:splicepoint'],
  'MF-Custom-Service': ['a'],
  'MF-Custom-Fetch-Service': ['a'],
  'MF-Proxy-Shared-Secret': ['a'],
  'MF-Disable-Pretty-Error': ['1'],
  'MF-Live-Reload': ['1'],
  'MF-Binding': ['DB'],
  'MF-Op': ['GET'],
  'MF-Op-Key': ['a'],
}

export const headersOfRuntime: Arbitrary<[string, string][]> = fc
  .constantFrom(...Object.entries(ofRuntime))
  .chain(([name, values]) => fc.constantFrom(...values).map((value): [string, string][] => [[name, value]]))

export const NAMES = Object.keys(some)

const pairs = (names: readonly string[]) =>
  fc
    .constantFrom(...names)
    .chain((name) => fc.constantFrom(...(some[name] ?? ['1'])).map((value) => [name, value] as const))

/** Up to three headers, none twice. `own`: those of the operation, which are chosen more often. */
export function headersFor(own: readonly string[]): Arbitrary<[string, string][]> {
  const given = own.filter((name) => name in some)
  const often = given.length === 0 ? [] : [fc.uniqueArray(pairs(given), { selector: ([name]) => name, maxLength: 4 })]
  return fc
    .tuple(
      fc.oneof(fc.constant([]), ...often, ...often),
      fc.oneof(
        { arbitrary: fc.constant([]), weight: 3 },
        {
          arbitrary: fc.uniqueArray(pairs(NAMES), { selector: ([name]) => name, minLength: 1, maxLength: 3 }),
          weight: 2,
        },
      ),
    )
    .map(([first, second]) => [
      ...new Map([...second, ...first].map(([name, value]): [string, string] => [name, value])),
    ])
}
