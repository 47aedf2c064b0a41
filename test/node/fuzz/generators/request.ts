// In charge of: one request as a value that can be shrunk, printed and sent; generating requests for an operation.
// Not in charge of: the values of its placeholders (serviceUnderTest.ts), the rules for its answer (responseRules.ts).
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { unknownPaths, oddQuery, runtimePaths, pathFor } from './paths.ts'
import { bodyForm, framing, type Body } from './body.ts'
import { exampleBodies } from './exampleBodies.ts'
import type { OperationSpec, OpenapiDocument, JsonSchema } from '../apiDocument.ts'
import { headersFor, headersOfRuntime } from './headers.ts'
import { authorizationFor, type Authorization } from './authorization.ts'
import { change, changed, print, type Change } from './jsonText.ts'
import { edgesOf, oddText, valueOf } from './schemaValues.ts'

export interface Request {
  /** The operation that it was generated for, or another purpose. */
  about: string
  method: string
  /** With its query. Visible ASCII and placeholders. */
  target: string
  headers: [name: string, value: string][]
  body: Body | null
  sender: Authorization
}

export type Fill = (text: string) => string

/** A command that repeats it; what a shell cannot hold is cut. */
export function asCurl(request: Request, fill: Fill): string {
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const short = (text: string) => (text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text)
  const { header } = request.sender
  const headers = [...(header === null ? [] : [['Authorization', header] as const]), ...request.headers]
  const { body } = request
  return [
    `curl --path-as-is -i -X ${quote(request.method)} "$BASE"${quote(short(fill(request.target)))}`,
    ...headers.map(([name, value]) => `-H ${quote(short(`${name}: ${value}`))}`),
    ...(body === null
      ? []
      : [
          ...(body.type === null ? ["-H 'Content-Type:'"] : [`-H ${quote(`Content-Type: ${body.type}`)}`]),
          ...(body.framing === 'chunked' ? ["-H 'Transfer-Encoding: chunked'"] : []),
          `--data-binary ${quote(short(fill(body.text)))}${body.form === 'utf-8' ? '' : ` # ${body.form}`}`,
        ]),
  ].join(' ')
}

const METHODS = [
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'FOO'],
].flat()
/** The methods that a server is expected to know; it may reject others as unknown (RFC 9110, 9.1). */
export const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS.slice(0, 7))

const methodFor = (right: string) =>
  fc.oneof({ arbitrary: fc.constant(right), weight: 16 }, { arbitrary: fc.constantFrom(...METHODS), weight: 1 })

/** A request for an operation of the document, valid or with something wrong. */
export function requestFor(document: OpenapiDocument, one: OperationSpec): Arbitrary<Request> {
  const own = one.parameters.filter((each) => each.in === 'header').map(({ name }) => name)
  return fc
    .record({
      method: methodFor(one.method),
      path: pathFor(one.path),
      query: queryFor(document, one),
      headers: headersFor(own.length > 0 || !one.path.startsWith('/uploads') ? own : ['Range']),
      body: one.body === null ? noBody : bodyFor(document, one, one.body),
      sender: authorizationFor(one.scope),
    })
    .map(({ method, path, query, headers, body, sender }) => ({
      about: one.name,
      method,
      target: query === '' ? path : `${path}?${query}`,
      headers,
      body,
      sender,
    }))
}

/** A request for any address, with any of the keys. */
export const requestElsewhere: Arbitrary<Request> = fc.record({
  about: fc.constant('other addresses'),
  method: fc.oneof({ arbitrary: fc.constant('GET'), weight: 3 }, fc.constantFrom(...METHODS)),
  target: fc
    .tuple(unknownPaths, fc.oneof({ arbitrary: fc.constant(''), weight: 4 }, oddQuery))
    .map(([path, query]) => (query === '' ? path : `${path}?${query}`)),
  headers: headersFor([]),
  body: fc.constant(null),
  sender: fc.oneof(authorizationFor('jobs'), authorizationFor('admin'), authorizationFor(null)),
})

/** Addresses and headers of the runtime that serves local mode; they must have no effect. */
export const requestOfRuntime: Arbitrary<Request> = fc.oneof(
  fc.record({
    about: fc.constant('the runtime'),
    method: fc.constantFrom('GET', 'POST'),
    target: runtimePaths,
    headers: fc.constant<[string, string][]>([]),
    body: fc.constant(null),
    sender: fc.constant({ scopes: null, header: null }),
  }),
  fc.record({
    about: fc.constant('the runtime'),
    method: fc.constant('GET'),
    target: fc.constantFrom('/health', '/api/v0/limits', '/uploads?limit=1', '/none'),
    headers: headersOfRuntime,
    body: fc.constant(null),
    sender: fc.constant({ scopes: ['jobs' as const], header: 'Basic {{basic.jobs}}' }),
  }),
)

function queryFor(document: OpenapiDocument, { parameters }: OperationSpec): Arbitrary<string> {
  const known = parameters.filter((each) => each.in === 'query')
  const pairs = known.map(({ name, schema }) => {
    const edges = edgesOf(document, schema)
    return fc
      .oneof(
        { arbitrary: valueOf(document, schema), weight: 4 },
        ...(edges.length > 0 ? [fc.constantFrom(...edges)] : []),
        { arbitrary: oddText, weight: 1 },
      )
      .map((value) =>
        // For a list, each element is a separate parameter.
        (Array.isArray(value) ? value : [value])
          .map((each) => `${name}=${encodeURIComponent(String(each).toWellFormed())}`)
          .join('&'),
      )
  })
  const right = pairs.length === 0 ? fc.constant('') : fc.subarray(pairs).chain((some) => fc.tuple(...some).map(joined))
  return fc.oneof(
    { arbitrary: fc.constant(''), weight: pairs.length === 0 ? 8 : 2 },
    { arbitrary: right, weight: pairs.length === 0 ? 0 : 6 },
    { arbitrary: oddQuery, weight: 1 },
  )
}

const joined = (parts: string[]): string => parts.join('&')

/** The operation takes no body; sometimes one is sent anyway. */
const noBody: Arbitrary<Body | null> = fc.oneof(
  { arbitrary: fc.constant(null), weight: 12 },
  fc.record({
    text: fc.constantFrom('{}', 'a', ''),
    form: fc.constant('utf-8' as const),
    type: fc.constantFrom('application/json', 'text/plain', null),
    framing,
  }),
)

const types = (right: string): Arbitrary<string | null> =>
  fc.oneof(
    { arbitrary: fc.constant<string | null>(right), weight: 16 },
    {
      arbitrary: fc.constantFrom<string | null>(
        ...[
          [null, 'text/plain', 'application/x-www-form-urlencoded', `${right}; charset=utf-16`, right.toUpperCase()],
          [
            'multipart/form-data',
            'multipart/form-data; boundary=b',
            'application/xml',
            '',
            'a',
            `${right}, text/plain`,
          ],
          ['application/problem+json', '/', 'application/json;', 'x'.repeat(3000), 'text/html'],
        ].flat(),
      ),
      weight: 1,
    },
  )

type Wanted = NonNullable<OperationSpec['body']>

function bodyFor(document: OpenapiDocument, one: OperationSpec, wanted: Wanted): Arbitrary<Body | null> {
  const some =
    wanted.type === 'application/json'
      ? jsonBody(document, wanted.schema, exampleBodies(one.name, wanted.example)).chain((text) =>
          fc.record({ text: fc.constant(text), form: bodyForm, type: types(wanted.type), framing }),
        )
      : bytesBody(wanted.type)
  return fc.oneof({ arbitrary: fc.constant(null), weight: wanted.required ? 1 : 6 }, { arbitrary: some, weight: 24 })
}

/** A body that is valid or almost valid, from its schema and from complete examples. */
export function jsonBody(
  document: OpenapiDocument,
  schema: JsonSchema,
  examples: readonly unknown[],
): Arbitrary<string> {
  const bySchema = valueOf(document, schema)
  const whole: Arbitrary<unknown> =
    examples.length === 0
      ? bySchema
      : fc.oneof(
          { arbitrary: fc.constantFrom(...examples), weight: 3 },
          { arbitrary: fc.tuple(fc.constantFrom(...examples), oneMember(document, schema)).map(merged), weight: 4 },
          { arbitrary: bySchema, weight: 1 },
        )
  const none: Arbitrary<Change[]> = fc.constant([])
  const changes = fc.oneof(
    { arbitrary: none, weight: 4 },
    { arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }), weight: 6 },
  )
  return fc.tuple(whole, changes).map(([value, all]) => print(changed(value, all)))
}

/** One or two members of an object's schema, valid or at their bounds; of nested lists and objects too. */
function oneMember(document: OpenapiDocument, given: JsonSchema): Arbitrary<Record<string, unknown>> {
  const schema = document.resolve(given)
  const members = Object.entries<JsonSchema>(schema['properties'] ?? {}).map(([name, each]) => {
    const edges = edgesOf(document, each)
    const value = valueOf(document, each)
    return fc
      .oneof(
        { arbitrary: value, weight: 2 },
        ...(edges.length > 0 ? [fc.constantFrom(...edges)] : []),
        memberBelow(document, each),
      )
      .map((one): Record<string, unknown> => ({ [name]: one }))
  })
  if (members.length === 0) return fc.constant({})
  return fc
    .array(fc.oneof(...members), { minLength: 1, maxLength: 2 })
    .map((all) => Object.assign({}, ...all) as object) as Arbitrary<Record<string, unknown>>
}

/** Marks a value that is merged into the existing one instead of replacing it. */
class Below {
  readonly members: Record<string, unknown>
  constructor(members: Record<string, unknown>) {
    this.members = members
  }
}

function memberBelow(document: OpenapiDocument, given: JsonSchema): Arbitrary<unknown> {
  const schema = document.resolve(given)
  const below = schema['type'] === 'array' ? document.resolve(schema['items'] ?? {}) : schema
  return below['type'] === 'object'
    ? oneMember(document, below).map((members) => new Below(members))
    : valueOf(document, given)
}

/** The example with the members inserted at their positions. */
function merged([example, members]: [unknown, Record<string, unknown>]): unknown {
  if (Array.isArray(example)) return example.map((each: unknown) => merged([each, members]))
  if (typeof example !== 'object' || example === null) return bare(members)
  const whole: Record<string, unknown> = { ...example }
  for (const [name, value] of Object.entries(members)) {
    whole[name] = value instanceof Below ? merged([whole[name], value.members]) : value
  }
  return whole
}

function bare(value: unknown): unknown {
  if (value instanceof Below) return bare(value.members)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bare(each)]))
}

const FORM = 'multipart/form-data; boundary=b'
const part = (disposition: string, content = 'hello', more = ''): string =>
  `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\n${content}\r\n`

const MULTIPART = [
  '',
  '--b--',
  '--b\r\n',
  '--b\r\n\r\n\r\n--b--',
  'hello',
  '--b\r\nContent-Disposition: form-data',
  `${part('form-data; name="file"; filename="a.mp4"')}--b--\r\n`,
  `${part('form-data; name="a"')}${part('form-data; name="file"; filename="../../a"', 'hello', 'Content-Type: text/html\r\n')}--b--`,
  `${part('form-data; name="file"; filename="a"')}${part('form-data; name="file"; filename="b"')}--b--`,
  `${part('attachment; filename="a"')}--b--`,
  `${part('form-data; name="file"; filename=""', '')}--b--`,
  part('form-data; name="file"; filename="a"'),
  `--b\r\n${'X: y\r\n'.repeat(4000)}\r\n\r\n--b--`,
  part('form-data; name="a"', 'x').repeat(60),
]

/** For uploads: small files, forms, and bodies with the content type of a chunk. */
function bytesBody(type: string): Arbitrary<Body> {
  const plain = fc.record({
    text: fc.oneof(fc.constantFrom('hello world', 'x', ''), fc.string({ unit: 'binary-ascii', maxLength: 200 })),
    form: fc.constantFrom('bytes' as const, 'bytes' as const, 'gzip' as const),
    type: types(type === '*/*' ? 'video/mp4' : type),
    framing,
  })
  const chunk = fc.record({
    text: fc.constantFrom('hello world', 'h', ''),
    form: fc.constant('bytes' as const),
    type: fc.constant('application/offset+octet-stream'),
    framing,
  })
  const multipart = fc.record({
    text: fc.constantFrom(...MULTIPART),
    form: fc.constant('bytes' as const),
    type: fc.constantFrom(FORM, FORM, 'multipart/form-data', 'multipart/form-data; boundary="b"'),
    framing,
  })
  return fc.oneof({ arbitrary: plain, weight: 3 }, { arbitrary: chunk, weight: 2 }, { arbitrary: multipart, weight: 2 })
}
