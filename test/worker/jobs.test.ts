import { expect, test } from 'vitest'
import { basic, call, job, post } from './client.ts'

test('a job is created with 200 and the members of 2.5', async () => {
  const response = await post('/api/v0/job', job())
  expect(response.status).toBe(200)
  const body = await response.json<any>()
  expect(Number.isInteger(body._auto_generated_id_)).toBe(true)
  expect(body.cloud).toBe('vendor-store')
  expect(body.updated_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect(response.headers.get('location')).toBe(`https://service.test/api/v0/job/${body._auto_generated_id_}`)
  const read = await (await call(`/api/v0/job/${body._auto_generated_id_}`)).json<any>()
  expect(Object.keys(read)).toEqual(['status', 'config'])
  expect(read.status.job_completed).toBe(false)
})
