// In charge of: the parts of an address: existing ids, ids of another account, unknown ids, and odd forms of all.
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

/** Path segments as written in an address. */
const ODD_ELEMENTS = [
  ['0', '-1', '01', '1e0', '1.0', '+1', '0x1', '%31', '9007199254740993', '99999999999999999999', '999999999999999'],
  [
    '1%00',
    '%00',
    'a%00.mp4',
    '%0d%0aX-Injected:%201',
    '%20',
    '1%20',
    '%',
    '%zz',
    '%c0%af',
    '%ff',
    '%ed%a0%80',
    '%u0031',
  ],
  ['..%5cx', '..%2fx', '%2e%2e%2f', '..', '.', '%2e', '...', '..;', ';a=b', '1;a=b', '1,2', '1/', '*', '~', ':', '@'],
  ['%5B1%5D', '(1)', ':id', "'", '$', '&', '=', '+', '!', '__proto__', 'null', 'undefined', '%22', '%3Cb%3E', '%7B%7D'],
  ['%E2%80%AE', '%F0%9F%98%80', '%EF%BC%91', 'sp_AAAAAAAAAAAA', '1'.repeat(300), 'a'.repeat(2000), '%41'.repeat(400)],
].flat()

/** One path segment, rarely one that exists. */
export const pathSegments: Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...ODD_ELEMENTS), weight: 4 },
  { arbitrary: fc.string({ maxLength: 12, unit: 'binary' }).map(encodeLoosely), weight: 1 },
)

function encodeLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || '%20'
}

const present: Record<string, readonly string[]> = {
  number: ['{{upload.ready}}', '{{upload.ready}}', '{{upload.tus}}', '{{upload.tus}}', '{{upload.other}}', '999'],
  id: ['{{job.done}}', '{{job.cancelled}}', '{{job.active}}', '{{job.other}}', '999999'],
  webhook: ['{{webhook.done}}', '{{webhook.done}}', 'msg_00000000-0000-4000-8000-000000000000'],
  key: ['{{keyid.spare}}', '{{keyid.spare}}', '{{keyid.revoked}}', 'sp_AAAAAAAAAAAA'],
  token: ['{{token.own}}', '{{token.own}}', '{{token.other}}', 'ut_AAAAAAAAAAAA'],
  preset: ['{{preset.own}}', '{{preset.own}}', '{{preset.other}}', 'pre_AAAAAAAAAAAA'],
  account: ['fuzzed', 'fuzzed', 'a', 'a'.repeat(40), 'a'.repeat(41), 'A', '-a'],
  grant: ['{{output.grant}}', '{{output.grant}}', '{{output.grant}}A', '1.{{output.grant}}', '9999999999.abc'],
  job: ['{{output.job}}', '{{output.job}}', '00000000-0000-4000-8000-000000000000'],
  path: ['video.mp4', 'video.mp4', 'video.mp4', 'none.mp4', 'a/b/c.ts', 'video.mp4/', 'video.mp4%00', '%00', '..%5cx'],
}

/** The path of an operation with a value for each parameter. */
export function pathFor(template: string): Arbitrary<string> {
  const isOutput = template.startsWith('/o/')
  const places = template.split(/\{(\w+)\}/)
  const parts = places.map((part, index) => {
    if (index % 2 === 0) return fc.constant(part)
    const there = isOutput && part === 'account' ? ['{{output.account}}', 'other'] : (present[part] ?? ['1'])
    return fc.oneof(
      { arbitrary: fc.constantFrom(...there), weight: 12 },
      { arbitrary: pathSegments, weight: isOutput ? 1 : 3 },
    )
  })
  return fc.tuple(...parts).map((all) => all.join(''))
}

/** What a local runtime, a proxy or a framework may serve in addition to the API. */
const ELSEWHERE = [
  [
    '/',
    '/docs',
    '/openapi.json',
    '/favicon.ico',
    '/.env',
    '/.git/config',
    '/wrangler.toml',
    '/package.json',
    '/jobs/1',
  ],
  ['/api', '/api/', '/api/v0', '/api/v1/job', '/API/v0/job', '/api//v0/job', '//api/v0/job', '/api/v0/job/', '/task'],
  ['/task/', '/o', '/o/', '/uploads/', '/metrics/', '/health/', '/health%00', '/api/v0/job%2f1', '/api/v0/%6aob'],
  [
    '/..',
    '/../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%5c..%5cwindows',
    '/assets/../../package.json',
    '/./health',
  ],
  ['/__scheduled', '/__debug', '/core', '/.well-known/security.txt', '/json/version', '/json/list', '/_next', '/admin'],
].flat()

export const unknownPaths: Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...ELSEWHERE), weight: 5 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('/', '/api/', '/api/v0/', '/api/v0/job/', '/task/', '/o/', '/uploads/'), pathSegments)
      .map((parts) => parts.join('')),
    weight: 3,
  },
)

/** What the runtime of local mode serves for itself: clients must not reach it. */
const OF_RUNTIME = [
  ['/cdn-cgi', '/cdn-cgi/', '/cdn-cgi/explorer', '/cdn-cgi/explorer/api', '/cdn-cgi/explorer/api/d1/database'],
  ['/cdn-cgi/explorer/api/r2/buckets', '/cdn-cgi/explorer/api/workers/durable_objects/namespaces', '/cdn-cgi/trace'],
  ['/cdn-cgi/handler/scheduled', '/cdn-cgi/handler/email', '/cdn-cgi/local/r2/public/splicepoint/out/default/a'],
  [
    '/cdn-cgi/mf/scheduled',
    '/cdn-cgi/mf/reload',
    '/cdn-cgi/mf/stream',
    '/CDN-CGI/explorer/api',
    '/%63dn-cgi/explorer/api',
  ],
].flat()

export const runtimePaths: Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...OF_RUNTIME), weight: 5 },
  { arbitrary: pathSegments.map((element) => `/cdn-cgi/${element}`), weight: 1 },
)

/** After the `?`; includes names that no operation has. */
export const oddQuery: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      [
        'limit',
        'limit=',
        'limit=1&limit=2',
        'limit%5B%5D=1',
        'limit=1;state=ready',
        '=',
        '&&&',
        '?',
        '??limit=1',
        '%',
        '%zz=1',
      ],
      [
        'a=%00',
        '%00=a',
        'key={{key.jobs}}',
        'api_key=1',
        '__proto__=1',
        '__proto__%5Ba%5D=1',
        'constructor.prototype=1',
        '/../x',
      ],
      [
        'cursor=%ff',
        'cursor=999999999999999',
        'cursor=0',
        'search=%25',
        'search=_',
        "search='%20or%201=1--",
        'state=,',
      ],
      [
        `search=${'a'.repeat(201)}`,
        `x=${'a'.repeat(8000)}`,
        'limit=1e1',
        'limit=0x10',
        'limit=%201',
        'limit=NaN',
        'dry_run=1',
      ],
      [
        'created_from=2026-13-01T00:00:00Z',
        'created_from=1',
        'created_to=2026-01-01',
        'after=-1',
        'after=1e400',
        'after_key=sp_',
      ],
    ].flat(),
  ),
  fc
    .tuple(fc.string({ maxLength: 6, unit: 'binary' }), pathSegments)
    .map(([name, value]) => `${encodeLoosely(name)}=${value}`),
)
