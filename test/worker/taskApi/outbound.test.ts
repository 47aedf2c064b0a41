// The outbound path of a production container: the platform passes its requests for one host name to the entrypoint
// Outbound, which these tests call as the platform does. test/containers runs the same with real containers.
import { env, exports } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { TASK_API_HOST, noteOwnAddress, taskApiUrl } from '../../../worker/transcoders/taskApiUrl.ts'

const TASK_API_URL = `http://${TASK_API_HOST}`
const outbound = (): Fetcher => (exports as unknown as { Outbound: (options: object) => Fetcher }).Outbound({})

it('is defined in one place only, and is the address that the Worker gives to attempts', () => {
  expect(taskApiUrl({ ...env, TASK_API_URL: '', TRANSCODER_URLS: '' })).toBe(TASK_API_URL)
})

it('is, for listed transcoders, where a client of this machine has called: the port of `wrangler dev`', () => {
  const listed = { ...env, TASK_API_URL: '' }
  noteOwnAddress('http://localhost:18787/health')
  noteOwnAddress('https://attacker.test/health')
  expect(taskApiUrl(listed)).toBe('http://localhost:18787')
  expect(taskApiUrl({ ...listed, TASK_API_URL: 'http://10.0.0.1/' })).toBe('http://10.0.0.1')
})

it('leads to the task API, which wants the token of the attempt', async () => {
  const response = await outbound().fetch(`${TASK_API_URL}/task/1`)
  expect(response.status).toBe(401)
})

it.each(['/', '/health', '/api/v0/job', '/metrics', '/uploads', '/o/1/x', '/task', '/cdn-cgi/explorer'])(
  'leads to nothing else of the Worker: %s',
  async (path) => {
    const admin = { authorization: `Basic ${btoa('test-only-admin-key:')}` }
    const response = await outbound().fetch(TASK_API_URL + path, { headers: admin })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type') ?? '').not.toContain('html')
  },
)

it.each([
  'http://example.com/',
  'http://192.0.2.7/',
  'http://sub.door.splicepoint.internal/task/1',
  'http://169.254.169.254/',
])('leads to no other host: %s', async (address) => {
  const response = await outbound().fetch(address)
  expect(response.status).toBe(403)
})
