// In charge of: assembling the OpenAPI 3.1 document from operations, schemas and examples.
// Not in charge of: its parts (operations.ts, answerSchemas.ts, examples.ts), serving it (scripts/buildWeb.ts).
import { errorHelp } from '#contract/errorAdvice.ts'
import { requestErrorStatus, type RequestErrorCode } from '#contract/errorCodes.ts'
import { errors } from './examples.ts'
import { operations } from './operations.ts'
import type { Operation } from './operations/operation.ts'
import { schemaRef, type Schema } from './schemaParts.ts'
import { answerSchemas } from './answerSchemas.ts'
import { bodySchemas } from './bodySchemas.ts'
import { requestSchemas } from './requestSchemas.ts'

const schemas: Record<string, Schema> = { ...requestSchemas, ...bodySchemas, ...answerSchemas() }

/** Tags by name, with a description. */
const tags = {
  Jobs: 'Create, follow, cancel, retry and delete jobs.',
  Presets: 'Named settings of jobs: built-in ones, and those of the account.',
  Uploads: 'Files to be used as input of jobs: sent in one request, or resumable with tus 1.0.0.',
  Outputs: 'Outputs of jobs, at signed addresses.',
  Shares: 'Pages and players that show the outputs of a job without a key.',
  Webhooks: 'Deliveries of job events to your own address, and the secret that signs them.',
  Keys: 'Create, change, replace and revoke API keys; with the admin key.',
  Usage: 'What accounts used and what it costs, their quotas and spend caps.',
  Service: 'Limits and health of the service.',
  Administration: 'Transcoders, metrics, checks and maintenance; with the admin key.',
} as const

function tagOf(name: string, { auth }: Operation): keyof typeof tags {
  if (name.includes('/keys')) return 'Keys'
  if (/\/(?:usage|accounts)\b/.test(name)) return 'Usage'
  if (auth === 'admin') return 'Administration'
  if (name.includes('webhook')) return 'Webhooks'
  if (name.includes('/share') || name.includes(' /s/')) return 'Shares'
  if (name.includes('/api/v0/job')) return 'Jobs'
  if (name.includes('/presets')) return 'Presets'
  if (name.includes('/uploads')) return 'Uploads'
  return / \/[aop]\//.test(name) ? 'Outputs' : 'Service'
}

/** What parameters mean that say nothing themselves. */
const parameterTexts: Readonly<Record<string, string>> = {
  account: 'Name of the account.',
  after: '`next` of the previous answer.',
  after_key: '`next_key` of the previous answer.',
  created_from: 'Jobs created at this time or later.',
  created_to: 'Jobs created before this time.',
  dry_run: '`true` and `unlisted` only plan.',
  id: 'Number of the job: `_auto_generated_id_` of its creation.',
  'If-Match': 'Answers only if the ETag is one of these.',
  'If-Modified-Since': 'Answers with the bytes only if they changed after this time.',
  'If-None-Match': 'Answers with the bytes only if the ETag is none of these.',
  'If-Range': 'Applies `Range` only if the ETag or time is still this.',
  'If-Unmodified-Since': 'Answers only if nothing changed after this time.',
  key: '`id` of the key.',
  'Last-Event-ID': 'The stream goes on after this event.',
  limit: 'Entries of one page.',
  name: 'Name of the file.',
  number: 'Number of the upload: `uploaded_file_number`.',
  preset: '`id` of the preset.',
  Range: 'One range of bytes, such as `bytes=0-999`.',
  share: '`id` of the share.',
  state: 'Only those in this state.',
  token: 'The token that was issued, or the one in the address of the page.',
  'Tus-Resumable': 'Version of tus.',
  'Upload-Checksum': 'An algorithm, a space and the checksum of the body in Base64.',
  'Upload-Length': 'Bytes of the whole file.',
  'Upload-Metadata': 'Comma-separated: `filename`, a space and the name in Base64.',
  'Upload-Offset': 'Bytes that are stored already.',
  webhook: '`id` of the delivery.',
}

function withText(name: string, schema: Schema, { auth }: Operation, where: string): Schema {
  const part = auth === 'signed' && where === 'path' ? 'Part of the signed address, as it was given.' : undefined
  const description = schema.description ?? part ?? parameterTexts[name]
  if (description === undefined) throw new Error(`the parameter ${name} has no description`)
  return { ...schema, description }
}

const rights: Readonly<Record<string, string>> = {
  jobs: 'Needs an API key.',
  upload: 'Needs an API key or an upload token.',
  admin: 'Needs the admin key, or a key with the scope admin.',
  signed: 'Needs no key: the address is signed and expires.',
  null: 'Needs no key.',
}

/** Errors by status, with an example of each code. Every operation may answer internal and unavailable. */
function errorsOf({ auth, errors: own }: Operation): Record<string, object> {
  const keyed: RequestErrorCode[] =
    auth === null || auth === 'signed' ? [] : ['unauthorized', 'forbidden', 'rate_limited']
  const codes = [...new Set<RequestErrorCode>([...own, ...keyed, 'internal', 'unavailable'])]
  const byStatus = Object.groupBy(codes, (code) => requestErrorStatus[code])
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, of]) => [
      status,
      {
        description: of.join(', '),
        content: {
          'application/json': {
            schema: schemaRef('Error'),
            examples: Object.fromEntries(
              of.map((code) => [code, { value: { error: { code, ...errors[code], ...errorHelp(code) } } }]),
            ),
          },
        },
      },
    ]),
  )
}

const media = ({ type, schema, example }: { type: string; schema: Schema; example?: unknown }): object => ({
  [type]: { schema, ...(example === undefined ? {} : { example }) },
})

/** Answers without errors, by status. One status may have several media types. */
function answersOf({ status, summary, answers, others = [] }: Operation): Record<string, object> {
  const all = [{ status, description: summary, ...answers }, ...others]
  return Object.fromEntries(
    Object.entries(Object.groupBy(all, (each) => each.status)).map(([code, of = []]) => {
      const bodies = of.flatMap(({ type, schema, example }) =>
        type === undefined || schema === undefined ? [] : [media({ type, schema, example })],
      )
      const content = bodies.length > 0 ? { content: Object.assign({}, ...bodies) as object } : {}
      return [code, { description: of[0]?.description, ...content }]
    }),
  )
}

function operation(name: string, one: Operation): object {
  const path = [...name.matchAll(/\{(\w+)\}/g)].map(([, id]) => ({
    name: id,
    in: 'path',
    required: true,
    schema: withText(id!, { type: 'string' }, one, 'path'),
  }))
  const given = (where: string, table: Record<string, Schema> = {}) =>
    Object.entries(table).map(([id, schema]) => ({ name: id, in: where, schema: withText(id, schema, one, where) }))
  const { body } = one
  return {
    operationId: one.id,
    summary: one.summary,
    description: `${one.description} ${rights[String(one.auth)]}`,
    tags: [tagOf(name, one)],
    security:
      one.auth === null || one.auth === 'signed'
        ? []
        : [{ key: [] }, ...(one.auth === 'upload' ? [{ uploadToken: [] }] : [])],
    parameters: [...path, ...given('query', one.query), ...given('header', one.headers)],
    ...(body ? { requestBody: { required: body.optional !== true, content: media(body) } } : {}),
    responses: {
      ...answersOf(one),
      ...errorsOf(one),
    },
    'x-codeSamples': [{ lang: 'Shell', source: one.curl }],
  }
}

export function openapi(): Schema {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, one] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(name, one) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Splicepoint',
      version: '0',
      description:
        'Transcodes video: a job has a source and the outputs to make of it. The user name of HTTP Basic is the API key; the password is ignored.',
      contact: { name: 'Splicepoint', url: 'https://github.com/splicepoint/splicepoint' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'basic' }, uploadToken: { type: 'http', scheme: 'bearer' } },
      schemas,
    },
  }
}
