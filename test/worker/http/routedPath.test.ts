// In charge of: paths with an extra slash: they reach the intended route, with its authentication, its method and its
// limits.
import { expect, test } from 'vitest'
import { routedPath } from '../../../worker/http/routedPath.ts'
import { apiRequest, jobBody, API_KEY, postJson, readJson } from '../support/apiClient.ts'

const anonymous = { headers: { authorization: 'Basic bm9ib2R5Og==' } }

test('a slash at the end and doubled slashes are tolerated, also with a query', async () => {
  const created = await postJson('/api/v0/job/', jobBody())
  expect(created.status).toBe(200)
  const { _auto_generated_id_: id } = await created.json<any>()
  for (const path of [`/api/v0/job/${id}/`, `/api//v0/job/${id}`, `//api/v0//job/${id}//`, `/api/v0/job//${id}?x=/`]) {
    const read = await apiRequest(path)
    expect([path, read.status]).toEqual([path, 200])
    expect((await read.json<any>()).status.job_completed).toBe(false)
  }
  expect((await readJson('/api/v0/job/?limit=1')).jobs).toHaveLength(1)
  for (const path of ['/api/v0/limits/', '//api/v0/limits', '/health/', '/uploads/', '//uploads?limit=1'])
    expect([path, (await apiRequest(path)).status]).toEqual([path, 200])
  expect((await postJson(`/api/v0//job/${id}/cancel/`, {})).status).toBe(200)
})

test('the key and the method are asked for all the same', async () => {
  for (const path of ['/api/v0/job/', '//api/v0/job', '/uploads//', '/api/v0//keys/', '//metrics/'])
    expect([path, (await apiRequest(path, anonymous)).status]).toEqual([path, 401])
  expect((await apiRequest('/api/v0//keys/', { key: API_KEY })).status).toBe(
    (await apiRequest('/api/v0/keys', { key: API_KEY })).status,
  )
  const wrong = await apiRequest('/api/v0/limits/', { method: 'POST' })
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await apiRequest('/api/v0/jobs/')).status).toBe(404)
})

test('the paths of objects are names, and stay as they are', () => {
  const of = (path: string): string => routedPath(new Request(`https://service.test${path}`))
  expect(of('/o/1.x/a//b/')).toBe('/o/1.x/a//b/')
  expect(of('/task/1/output/a//b/')).toBe('/task/1/output/a//b/')
  expect(of('//o//x')).toBe('//o//x')
  expect(of('/')).toBe('/')
  expect(of('//')).toBe('//')
  // A slash that is part of a name is encoded as %2F, and dot segments cannot leave the route.
  expect(of('/api/v0/presets/a%2F%2Fb/')).toBe('/api/v0/presets/a%2F%2Fb')
  expect(of('/uploads/..//api/v0/job')).toBe('/api/v0/job')
})
