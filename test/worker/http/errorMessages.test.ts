// In charge of: the error messages for typical mistakes of new users: each answer says what would be correct.
import { expect, test } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import { apiRequest, jobBody, postJson, ADMIN_KEY, readJson } from '../support/apiClient.ts'

test.each([
  ['limit=1000', 'limit', 'In the query: limit must be a whole number from 1 to 100; "1000" was given.'],
  ['cursor=abc', 'cursor', 'In the query: cursor must be the next_cursor of the previous page, or left out'],
  ['state=done', 'state', 'state must be one or more of ready, queued, running, committing, completed, error, failed'],
  ['state=running,done,odd', 'state', '"running,done,odd" was given'],
  ['created_from=yesterday', 'created_from', 'such as 2026-11-21T10:00:00Z; "yesterday" was given'],
  ['page=2', 'page', 'page is unknown; known are limit, cursor, search, metadata, state'],
])('GET /api/v0/job?%s', async (query, field, message) => {
  const answer = await apiRequest(`/api/v0/job?${query}`)
  expect(answer.status).toBe(400)
  const { error } = await answer.json<any>()
  expect(error).toMatchObject({ code: 'invalid_request', field, details: [{ field }] })
  expect(error.message).toContain(message)
})

test.each([
  ['dry_run=1', 'dry_run must be true, false or unlisted; "1" was given'],
  ['dryrun=true', 'dryrun is unknown; known are dry_run'],
])('POST /api/v0/job?%s makes no job', async (query, message) => {
  const answer = await postJson(`/api/v0/job?${query}`, jobBody())
  expect(answer.status).toBe(400)
  expect((await answer.json<any>()).error.message).toContain(message)
})

test.each([
  ['/api/v0/keys', 'POST', { account: 'Me!' }, 'account must be 1 to 40 lower-case letters'],
  ['/api/v0/keys', 'POST', { scope: ['jobs'] }, 'scope is unknown; known are account, scopes, label'],
  ['/api/v0/keys', 'POST', [], 'the body must be a JSON object; an array was given'],
  ['/api/v0/accounts/me', 'PUT', { weight: 0 }, 'weight must be a number from 0.01 to 100; 0 was given'],
  ['/api/v0/vault/rotate?after=x', 'POST', {}, 'after must be the next of the last answer'],
])('%s by %s with %j', async (path, method, body, message) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await apiRequest(path, { method, key: ADMIN_KEY, headers, body: JSON.stringify(body) })
  expect(answer.status).toBe(400)
  expect((await answer.json<any>()).error.message).toContain(message)
})

test.each([
  ['PATCH', '/api/v0/job', 'GET, HEAD, POST'],
  ['PUT', '/api/v0/job/1', 'GET, HEAD, DELETE'],
  ['GET', '/api/v0/job/1/cancel', 'POST'],
  ['PUT', '/uploads', 'GET, HEAD, POST'],
  ['POST', '/api/v0/limits', 'GET, HEAD'],
  ['POST', '/health', 'GET, HEAD'],
])('%s %s lists the allowed methods', async (method, path, allow) => {
  const answer = await apiRequest(path, { method })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe(allow)
  expect((await answer.json<any>()).error).toEqual({
    code: 'method_not_allowed',
    message: `This route accepts ${allow}.`,
    ...errorHelp('method_not_allowed'),
  })
})

test('an unknown route and a missing object have different messages', async () => {
  const absent = async (path: string) => (await readJson(path)).error
  expect(await absent('/api/v1/job')).toMatchObject({
    code: 'not_found',
    message: 'There is no such route in this version. /docs lists all of them.',
  })
  for (const id of [crypto.randomUUID(), 'abc', '0'])
    expect((await absent(`/api/v0/job/${id}`)).message).toContain('_auto_generated_id_')
  expect((await absent('/api/v0/job/999')).message).toBe('Not found for this account.')
})

test('allowed methods are not listed without a key', async () => {
  expect((await apiRequest('/api/v0/job', { method: 'PATCH', key: 'wrong' })).status).toBe(401)
})
