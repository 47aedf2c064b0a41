// In charge of: checking one answer to one request, by the document and by rules for every answer.
// Not in charge of: sending, reading the document (apiDocument.ts), the task API (taskApi.ts).
import { requestErrorStatus } from '#contract/errorCodes.ts'
import { NUMBER_AS_TEXT, WHOLE_NUMBER_AS_TEXT } from '#contract/job/fields/field.ts'
import { parsed } from './generators/body.ts'
import type { OperationSpec, OpenapiDocument } from './apiDocument.ts'
import { isTaskApiRequest, checkTaskApiResponse } from './taskApi.ts'
import { findLeaks } from './leakRules.ts'
import { KNOWN_METHODS, type Fill, type Request } from './generators/request.ts'
import { headerOf, isJson, type Heard, type Response } from './connection.ts'

export interface RunContext {
  document: OpenapiDocument
  fill: Fill
  secrets: readonly string[]
  places: readonly string[]
}

/** A proxy in front may refuse an address of this length. */
const MANY_CHARACTERS = 8000

/** Sentences without ids, numbers or values, so that the same fault gives the same sentence. */
export function checkResponse(request: Request, heard: Heard, facts: RunContext): string[] {
  const leaks = findLeaks(heard.raw, facts.secrets, facts.places).map((what) => `the answer has ${what}`)
  return [...leaks, ...(heard.answer === null ? [heard.why] : ofAnswer(request, heard.answer, facts))]
}

function ofAnswer(request: Request, answer: Response, facts: RunContext): string[] {
  const { status } = answer
  if (!KNOWN_METHODS.has(request.method)) {
    // RFC 9110, 9.1: an unrecognized method is 501, one that is not allowed here 405.
    return status >= 400 && (status < 500 || status === 501) ? [] : [`${status} to an unknown method`]
  }
  // Longer than some intermediaries accept (RFC 9110, 15.5.15; RFC 6585, 5); those do not use the service's error
  // format.
  if ([413, 414, 431].includes(status) && request.target.length > MANY_CHARACTERS) return []
  if (status === 503 && errorOf(answer)?.code === 'unavailable') {
    return headerOf(answer, 'retry-after') === null ? ['503 without Retry-After'] : []
  }
  if (status >= 500) return [`${status}${isJson(answer) ? ` ${errorOf(answer)?.code ?? ''}` : ' as no JSON'}`]
  if (isTaskApiRequest(request)) {
    const isShaped = status < 400 || request.method === 'HEAD' || errorOf(answer) !== null
    return [
      ...checkTaskApiResponse(request, answer, facts.document, facts.fill),
      ...(isShaped ? [] : [`${status} without the error shape`]),
    ]
  }
  const target = withoutRepeatedSlashes(facts.fill(request.target))
  const override = request.headers.find(([name]) => name === 'X-HTTP-Method-Override')?.[1].toUpperCase()
  const methods = [...new Set([request.method, override ?? request.method])]
  const read = methods.map((method) => facts.document.schemaAt(method, target))
  const is = read.flatMap((each) => each.is)
  const readings = [...is, ...read.flatMap((each) => each.mayBe)].map((one) => [
    ...ofHead(request, answer),
    ...byDocument(one, request, answer, facts),
    ...byRight(one, request, answer),
    ...(is.length === 1 && methods.length === 1 ? byRequest(one, request, answer, target, facts) : []),
  ])
  // HEAD may be refused without the headers that the document lists for GET.
  const isBare = request.method === 'HEAD' && is.every((one) => one.method !== 'HEAD')
  if (is.length === 0 || override !== undefined || isBare) readings.push(elsewhere(request, answer, target, facts))
  // An address may have several readings: one of them must fit.
  return readings.reduce((least, each) => (each.length < least.length ? each : least))
}

/** As the service reads these addresses (worker/http/routedPath.ts). */
function withoutRepeatedSlashes(target: string): string {
  return target.replace(/^[^?#]*/, (path) => {
    const plain = path.replaceAll(/\/{2,}/g, '/')
    return /^\/(?:api|uploads|health|metrics)(?:\/|$)/.test(plain) ? plain : path
  })
}

interface Failure {
  code: string
  message: string
  field?: string
  details?: unknown
}

/** The error object, or null if the answer does not have the error format. */
function errorOf(answer: Response): Failure | null {
  if (!isJson(answer)) return null
  const error = (jsonOf(answer)?.value as { error?: Partial<Failure> } | undefined)?.error
  return typeof error?.code === 'string' && typeof error.message === 'string' && error.message !== ''
    ? (error as Failure)
    : null
}

function jsonOf(answer: Response): { value: unknown } | null {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(answer.body)) as unknown }
  } catch {
    return null
  }
}

/** The requirements of HTTP for a status (RFC 9110). */
function ofHead(request: Request, answer: Response): string[] {
  const wanted: Record<number, string> = {
    401: 'www-authenticate',
    405: 'allow',
    416: 'content-range',
    206: 'content-range',
    429: 'retry-after',
  }
  const name = wanted[answer.status]
  // A browser would open its own login dialog over the dashboard (authenticate.ts).
  const isQuiet = request.headers.some(([each, value]) => each === 'Sec-Fetch-Mode' && value === 'cors')
  if (answer.status === 401 && isQuiet) return []
  return name === undefined || headerOf(answer, name) !== null ? [] : [`${answer.status} without ${name}`]
}

/**
 * An address that the document does not contain, or not for this method: the answer must be an error in the error
 * format.
 */
function elsewhere(request: Request, answer: Response, target: string, facts: RunContext): string[] {
  const { status } = answer
  // The dashboard's own page, for people.
  const asksForPage = request.headers.some(([name, value]) => name === 'Accept' && value.startsWith('text/html'))
  if (asksForPage && status === 404 && !isJson(answer)) return []
  if (request.method === 'OPTIONS' && (status === 200 || status === 204)) return []
  if (isPage(target) && (request.method === 'GET' || request.method === 'HEAD')) {
    return status < 400 ? [] : refusal(request, answer, [404, 405])
  }
  if (isPage(target)) return status === 404 || status === 405 ? [] : [`${status} to ${request.method} of a page`]
  if (status < 400) return [`${status} at an address that is not in the document`]
  const expected = [401, 403, 404, 405, 429, ...(facts.document.hasOperation(target) ? [400, 410, 412, 413, 415] : [])]
  return [...ofHead(request, answer), ...refusal(request, answer, expected)]
}

/** Pages for people: the dashboard, the reference, their files, and their redirects. */
function isPage(target: string): boolean {
  const path = URL.parse(target.startsWith('//') ? `http://host${target}` : target, 'http://host')?.pathname ?? ''
  return /^\/(?:$|docs|openapi\.json|icon|assets\/|jobs\/\d+$|new$|files$|keys$|limits$|index)/.test(path)
}

function refusal(request: Request, answer: Response, expected: readonly number[]): string[] {
  const { status } = answer
  if (!expected.includes(status)) return [`${status} is not among what may be answered`]
  if (request.method === 'HEAD') return []
  const error = errorOf(answer)
  if (error === null) return [`${status} without the error shape`]
  if ((requestErrorStatus as Record<string, number>)[error.code] !== status)
    return [`${status} with the code ${error.code}`]
  return []
}

/** Status, type, body and code match the operation. */
function byDocument(one: OperationSpec, request: Request, answer: Response, facts: RunContext): string[] {
  const { status } = answer
  const documented = one.responses[String(status)]
  if (documented === undefined) return [`status ${status} is not in the document`]
  const type = headerOf(answer, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? null
  if (request.method === 'HEAD') return []
  if (documented.content === undefined) {
    return answer.body.length > 0 ? [`${status} has a body that is not in the document`] : []
  }
  const ranges = Object.keys(documented.content)
  const range = ranges.find((each) => covers(each, type))
  if (range === undefined) return [`${status} has a type that is not in the document (${type})`]
  const { schema, examples } = documented.content[range]!
  // If an error is a page for people, the document says so by its content type.
  if (!isJson(answer)) return status >= 400 && range !== 'text/html' ? [`${status} without the error shape`] : []
  const value = jsonOf(answer)
  if (value === null) return [`${status} is not the JSON that it says`]
  const wrong = facts.document
    .schemaErrors(schema, value.value)
    .map((what) => `${status} is not as its schema says: ${what}`)
  const code = status >= 400 ? errorOf(answer)?.code : undefined
  if (code !== undefined && examples !== undefined && !(code in examples))
    wrong.push(`${status} with the code ${code}, which is not in the document`)
  return wrong
}

function covers(range: string, type: string | null): boolean {
  if (type === null) return false
  return range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

/** Without a valid key, an answer reveals nothing; resources of another account look missing. */
function byRight(one: OperationSpec, request: Request, answer: Response): string[] {
  const { status } = answer
  const { scopes } = request.sender
  if (one.scope === null) return []
  if (scopes === null) return status === 401 ? [] : [`${status} without a valid key`]
  if (!scopes.includes(one.scope)) return status === 403 ? [] : [`${status} with a key of another scope`]
  if (status === 401 || status === 403) return [`${status} with the right key`]
  const isForeign = /\{\{\w+\.other\}\}/.test(request.target)
  return isForeign && (status < 400 || status === 409 || status === 410)
    ? [`${status} at what another account has`]
    : []
}

/** Codes of problems that only the format of a body decides. */
const OF_SHAPE = new Set([
  'required',
  'invalid_type',
  'invalid_value',
  'invalid_length',
  'out_of_range',
  'unknown_field',
])

/** Rules between members and of addresses, which no schema expresses, use these codes too. */
const BEYOND_SHAPE = [
  { code: /^invalid_value$/, field: /^(?:job\.)?(?:input|logo_url|webhook_url)$|^spend_webhook_url$/ },
  { code: /^(?:required|invalid_value)$/, field: /^(?:job\.)?(?:cloud_credentials\.|bucket_output_path$)/ },
  // One for each element of inputs.
  { code: /^invalid_length$/, field: /^(?:job\.)?cloud_credentials\.inputs$/ },
  { code: /^out_of_range$/, field: /\.(?:audio_profiles|source_channels)$/ },
  // For numbers, the document contains only the bounds (scripts/openapi/requestSchemas.ts).
  {
    code: /^invalid_value$/,
    field: /\.(?:audio_bitrate|audio_channels|audio_sample_rate|source_channels|source_stream)$/,
  },
  // A profile that is encoded needs them, one that copies the source’s video does not; the document has one shape for both.
  { code: /^required$/, field: /^(?:job\.)?videoProfiles\[\d+\]\.(?:width|height|video_bitrate)$/ },
  // At most six decimals.
  { code: /^invalid_value$/, field: /^spend_cap$/ },
  // After start_seconds; one of the job's captions.
  { code: /^out_of_range$/, field: /\bend_seconds$|^(?:job\.)?burn_in_captions\.captions$/ },
  // No control characters.
  { code: /^invalid_value$/, field: /^title$/ },
  // One of several is needed; null is as none of them.
  { code: /^required$/, field: /^(?:job\.)?(?:input|burn_in_captions|videoProfiles|audioProfiles)$/ },
]
const isOfShape = ({ code, field }: { code: string; field: string }): boolean =>
  OF_SHAPE.has(code) && !BEYOND_SHAPE.some((rule) => rule.code.test(code) && rule.field.test(field))

/** An accepted request must match the document, and a matching request must not be refused for its format. */
function byRequest(
  one: OperationSpec,
  request: Request,
  answer: Response,
  target: string,
  facts: RunContext,
): string[] {
  const isTaken = answer.status < 300
  const wrong: string[] = []
  // A query that starts with "?" would lose it.
  const query = new URLSearchParams(`&${target.split('?').slice(1).join('?').split('#')[0] ?? ''}`)
  let isQueryRight = [...query.keys()].every((name) =>
    one.parameters.some((each) => each.in === 'query' && each.name === name),
  )
  for (const { name, schema, in: where } of one.parameters) {
    const value = where === 'query' ? query.get(name) : (request.headers.find(([each]) => each === name)?.[1] ?? null)
    if (value === null || where === 'path') continue
    const { type } = facts.document.resolve(schema)
    const text = facts.fill(value)
    const given = type === 'integer' ? Number(value) : type === 'array' ? query.getAll(name).map(facts.fill) : text
    const isRight = facts.document.schemaErrors(schema, given).length === 0
    if (where === 'query') isQueryRight &&= isRight
    if (isTaken && !isRight) wrong.push(`taken with a ${name} that the document refuses`)
    // Each may be strict about how a number is written.
    const isPlain = type !== 'integer' || /^-?\d+$/.test(value)
    if (isRight && isPlain && isRefused(answer, name) && query.getAll(name).length <= 1)
      wrong.push(`a ${name} is refused that the document takes`)
  }
  const { body } = one
  if (body?.type !== 'application/json') return wrong
  const sent = request.body === null ? null : parsed(request.body, facts.fill)
  const isEmpty = request.body === null || request.body.form === 'empty' || request.body.text === ''
  if (isEmpty) return isTaken && body.required ? [...wrong, 'taken without a body'] : wrong
  const faults =
    sent === null
      ? ['it is no JSON']
      : facts.document.schemaErrors(body.schema, asRead(body.schema, sent.value, facts.document))
  if (isTaken && faults.length > 0) wrong.push(`a body is taken that the document refuses: ${faults[0]}`)
  if (faults.length === 0 && isQueryRight) {
    for (const { code, field } of problemsOf(answer).filter(isOfShape))
      wrong.push(`a body is refused (${code} ${field.replaceAll(/\d+/g, '#')}) that the document takes`)
  }
  return [...new Set(wrong)]
}

function problemsOf(answer: Response): { code: string; field: string }[] {
  const { code, details } = errorOf(answer) ?? {}
  return code === 'invalid_request' && Array.isArray(details) ? (details as { code: string; field: string }[]) : []
}

const isRefused = (answer: Response, name: string): boolean => problemsOf(answer).some(({ field }) => field === name)

/**
 * A number may be sent as text; its bounds then apply to the number in it. JSON Schema cannot express that, so the
 * member's description does.
 */
function asRead(given: { [name: string]: any }, value: unknown, document: OpenapiDocument): unknown {
  const schema = document.resolve(given)
  if (Array.isArray(value))
    return schema['items'] ? value.map((each) => asRead(schema['items'], each, document)) : value
  const kinds = [
    schema,
    ...((schema['anyOf'] ?? []) as { [name: string]: any }[]).map((each) => document.resolve(each)),
  ]
  if (typeof value === 'object' && value !== null) {
    const properties = Object.assign({}, ...kinds.map((kind) => kind['properties'] as object)) as Record<string, object>
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        Object.hasOwn(properties, name) ? asRead(properties[name]!, each, document) : each,
      ]),
    )
  }
  const patterns = [NUMBER_AS_TEXT.source, WHOLE_NUMBER_AS_TEXT.source]
  const isEither = kinds.some(
    ({ type, pattern }) => Array.isArray(type) && type.includes('string') && patterns.includes(pattern as string),
  )
  return isEither && typeof value === 'string' && NUMBER_AS_TEXT.test(value) ? Number(value) : value
}
