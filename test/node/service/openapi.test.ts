// In charge of: the OpenAPI document: valid by itself, and true of the service that serves it.
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleJob } from '../../../scripts/openapi/document.ts'
import { makeClip, workspace } from '../media.ts'
import { Service } from './service.ts'

let service: Service
let space: Awaited<ReturnType<typeof workspace>>
let document: any
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
beforeAll(async () => {
  space = await workspace()
  await makeClip(space.file('film.mp4'), { width: 320, height: 180, seconds: 1 })
  service = await Service.start()
  document = await (await fetch(`${service.base}/openapi.json`)).json()
  ajv.addSchema(document, 'doc')
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})

/** Calls an operation, and holds its answer against the schema of its status. */
async function call(method: string, template: string, options: { path?: string; body?: unknown; admin?: true } = {}) {
  const user = options.admin ? service.ready.admin_key : service.ready.api_key
  const response = await fetch(service.base + (options.path ?? template), {
    method,
    headers: {
      authorization: `Basic ${btoa(`${user}:`)}`,
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const answer = (await response.json()) as any
  const pointer = [template.split('?')[0]!, method.toLowerCase(), 'responses', String(response.status)]
  const described = pointer.reduce((part, name) => part?.[name], document.paths)
  expect(described, `${method} ${template} answers ${response.status}`).toBeDefined()
  const path = [...pointer, 'content', 'application/json', 'schema'].map((name) =>
    encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  const judge = ajv.compile({ $ref: `doc#/paths/${path.join('/')}` })
  expect(judge(answer) ? [] : judge.errors, `${method} ${template}`).toEqual([])
  return answer
}

test('it is an OpenAPI 3.1 document by another program’s judgement', async () => {
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
})

test('its page loads nothing from elsewhere and runs nothing', async () => {
  const response = await fetch(`${service.base}/docs`)
  const page = await response.text()
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page).not.toMatch(/<script|style=|(?:src|href)="(?:https?:)?\/\//)
  for (const path of Object.keys(document.paths)) expect(page).toContain(path)
  expect((await fetch(`${service.base}/docs.css`)).status).toBe(200)
})

test('its examples are accepted, and the answers are what it says', async () => {
  const judge = ajv.compile({ $ref: 'doc#/components/schemas/Job' })
  expect(judge(exampleJob) ? [] : judge.errors).toEqual([])
  await service.upload(space.file('film.mp4'))
  const { _auto_generated_id_: id } = await call('POST', '/api/v0/job', {
    body: document.paths['/api/v0/job'].post.requestBody.content['application/json'].example,
  })
  await call('GET', '/api/v0/job/{id}', { path: `/api/v0/job/${id}` })
  expect(await service.ended(id)).toMatchObject({ error: null })
  const read = await call('GET', '/api/v0/job/{id}', { path: `/api/v0/job/${id}` })
  expect(read.status.outputs).toHaveLength(1)
  await call('GET', '/api/v0/job')
  await call('GET', '/api/v0/job/{id}/events', { path: `/api/v0/job/${id}/events` })
  await call('GET', '/api/v0/job/{id}/webhooks', { path: `/api/v0/job/${id}/webhooks` })
  await call('POST', '/api/v0/job/{id}/cancel', { path: `/api/v0/job/${id}/cancel` })
  await call('GET', '/api/v0/limits')
  await call('GET', '/health')
  const { id: key } = await call('POST', '/api/v0/keys', {
    admin: true,
    body: { account: 'me', label: 'first', scopes: ['jobs'] },
  })
  await call('PATCH', '/api/v0/keys/{key}', {
    admin: true,
    path: `/api/v0/keys/${key}`,
    body: { label: 'first', webhook_url: null },
  })
  await call('GET', '/api/v0/keys', { admin: true })
  await call('GET', '/api/v0/accounts', { admin: true })
  await call('POST', '/api/v0/webhooks/secret/rotate')
  await call('GET', '/api/v0/webhooks/secret')
  const refused = await call('POST', '/api/v0/job', { body: { ...exampleJob, video_codec: 'vp9' } })
  const problem = ajv.compile({ $ref: 'doc#/components/schemas/Problem' })
  expect(refused.error.details.every((one: unknown) => problem(one))).toBe(true)
  await call('GET', '/api/v0/keys')
})
