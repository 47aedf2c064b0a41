// In charge of: requests to the task API, with the token of the running task and with others, and the rules for their
// answers.
// Not in charge of: the meaning of a transition (test/worker/scheduler/jobFlow.test.ts).
import * as z from 'zod/mini'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import {
  estimatePostSchema,
  failPostSchema,
  finishPostSchema,
  planPostSchema,
  progressPostSchema,
  uploadRequestSchema,
} from '#contract/task/protocol.ts'
import { pathSegments } from './generators/paths.ts'
import type { Response } from './connection.ts'
import { bodyForm, framing, parsed } from './generators/body.ts'
import type { OpenapiDocument, JsonSchema } from './apiDocument.ts'
import { headersFor } from './generators/headers.ts'
import { jsonBody, type Fill, type Request } from './generators/request.ts'

const schemaOf = (schema: z.ZodMiniType): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

const progress = {
  phase: 'transcoding',
  transcoded: 0.5,
  transcode_seconds: 1,
  speed: 1,
  bytes_produced: 5,
  bytes_stored: 5,
  transfer_seconds: 0.1,
  eta_seconds: null,
}
const object = {
  path: 'video.mp4',
  upload: 'WyJ2aWRlby5tcDQiLCJhIl0',
  size: 11,
  sha256: 'a'.repeat(64),
  content_type: 'video/mp4',
  parts: [{ n: 1, etag: 'a' }],
  profile: 0,
  role: 'media',
}

interface Post {
  schema: JsonSchema
  examples: unknown[]
}

const posts: Record<string, Post> = {
  plan: { schema: schemaOf(planPostSchema), examples: [] },
  uploads: {
    schema: schemaOf(uploadRequestSchema),
    examples: [
      { path: 'video.mp4', content_type: 'video/mp4', expected_size: 11 },
      { path: '../x', content_type: 'text/html', expected_size: 1 },
    ],
  },
  progress: { schema: schemaOf(progressPostSchema), examples: [progress] },
  finish: {
    schema: schemaOf(finishPostSchema),
    examples: [
      { objects: [object], written: [], warnings: [], progress },
      {
        objects: [],
        written: [
          { path: 'a.m3u8', content_type: 'text/plain', profile: null, role: 'playlist', body: '#EXTM3U', stage: 1 },
        ],
        warnings: [],
        progress,
      },
    ],
  },
  estimate: { schema: schemaOf(estimatePostSchema), examples: [{ estimate: {}, warnings: [], progress }] },
  fail: {
    schema: schemaOf(failPostSchema),
    examples: [{ reason: 'interrupted' }, { reason: 'failed', error: { code: 'internal', message: 'a', details: {} } }],
  },
}

const RIGHT = 'Bearer {{task.token}}'
const token = fc.oneof(
  { arbitrary: fc.constant<string | null>(RIGHT), weight: 6 },
  {
    arbitrary: fc.constantFrom<string | null>(
      ...[
        [
          null,
          '',
          'Bearer',
          'Bearer ',
          'Bearer a',
          'bearer {{task.token}}',
          'Bearer {{task.token}}a',
          'Bearer  {{task.token}}',
        ],
        [
          'Bearer 1.9999999999999.abc',
          'Bearer 2{{task.token}}',
          'Bearer ..',
          'Bearer {{key.jobs}}',
          'Bearer {{key.admin}}',
        ],
        [
          'Basic {{basic.jobs}}',
          'Basic {{basic.admin}}',
          'Basic {{basic.token}}',
          `Bearer ${'a'.repeat(600)}`,
          'Bearer \u00ff',
        ],
      ].flat(),
    ),
    weight: 3,
  },
)

const task = fc.oneof(
  { arbitrary: fc.constant('{{task.id}}'), weight: 10 },
  {
    arbitrary: fc.constantFrom('{{output.job}}-0', '{{output.job}}', '{{task.id}}0', '0', '{{task.id}}%00'),
    weight: 1,
  },
  { arbitrary: pathSegments, weight: 1 },
)

const about = 'the task API'
const sender = token.map((header) => ({ scopes: null, header }))

const posting = (document: OpenapiDocument): Arbitrary<Request>[] =>
  Object.entries(posts).map(([name, { schema, examples }]) =>
    fc
      .record({
        task,
        sender,
        text: jsonBody(document, schema, examples),
        form: bodyForm,
        framing,
        type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', null),
      })
      .map(({ task, sender, ...body }) => ({
        about,
        method: 'POST',
        target: `/task/${task}/${name}`,
        headers: [],
        body,
        sender,
      })),
  )

const GETS = [
  '',
  '/',
  '/input',
  '/input/1',
  '/input/99',
  '/input/hls',
  '/input/hls/a/0/segments/0',
  '/input/hls/a/keys/0',
  '/input/hls/a/0/maps/9999999',
  '/logo',
]

const getting: Arbitrary<Request> = fc
  .record({
    task,
    sender,
    rest: fc.oneof(
      fc.constantFrom(...GETS),
      pathSegments.map((element) => `/${element}`),
    ),
    method: fc.constantFrom('GET', 'GET', 'HEAD', 'DELETE'),
    headers: headersFor(['Range', 'If-Match']),
  })
  .map(({ task, rest, ...more }) => ({ about, target: `/task/${task}${rest}`, body: null, ...more }))

const PUTS = [
  'output/{{task.directory}}/',
  'output/{{output.job}}-1/',
  'output/',
  'uploads/',
  'uploads/WyJhIiwiYiJd/',
  'uploads/WyJh/',
]

const putting: Arbitrary<Request> = fc
  .record({
    task,
    sender,
    place: fc.constantFrom(...PUTS),
    name: fc.oneof(fc.constantFrom('1', '0', '10000', '99999', 'a.ts', 'b/c.ts'), pathSegments),
    headers: headersFor([]),
    text: fc.constantFrom('hello world', ''),
    framing,
    type: fc.constantFrom('video/mp4', 'text/html', 'a', null),
  })
  .map(({ task, place, name, sender, headers, ...body }) => ({
    about,
    method: 'PUT',
    target: `/task/${task}/${place}${name}`,
    headers,
    body: { ...body, form: 'bytes' as const },
    sender,
  }))

export const taskApiRequest = (document: OpenapiDocument): Arbitrary<Request> =>
  fc.oneof(...posting(document), { arbitrary: getting, weight: 2 }, { arbitrary: putting, weight: 2 })

export const isTaskApiRequest = (request: Request): boolean => request.about === about

/** In addition to the rules for every answer. */
export function checkTaskApiResponse(
  request: Request,
  answer: Response,
  document: OpenapiDocument,
  fill: Fill,
): string[] {
  const { status } = answer
  const isOpened = request.sender.header === RIGHT && request.target.startsWith('/task/{{task.id}}/')
  const isRight = request.sender.header === RIGHT && /^\/task\/\{\{task\.id\}\}(?:\/|$)/.test(request.target)
  // An unknown address of the task API may be refused before the token is checked.
  if (!isRight) return status === 401 || status === 404 ? [] : [`${status} without a token of the task`]
  if (status === 401) return ['401 with the token of the task']
  const post = posts[request.target.split('/').at(-1) ?? '']
  if (!isOpened || post === undefined || request.body === null || request.method !== 'POST') return []
  const sent = parsed(request.body, fill)
  const faults = sent === null ? ['it is no JSON'] : document.schemaErrors(post.schema, sent.value)
  return status < 300 && faults.length > 0 ? [`a body is taken that its schema refuses: ${faults[0]}`] : []
}
