// In charge of: the dashboard's addresses in the Worker, their headers, and that the API's own answers stay JSON.
// Not in charge of: what is served without calling the Worker (test/node/web/browser).
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { app } from '../../../worker/app.ts'

const get = async (path: string, headers: Record<string, string> = {}) =>
  app.request(`https://service.test${path}`, { headers }, env)

test.for(['/jobs/12', '/new', '/new?from=3', '/files', '/keys', '/accounts', '/limits'])(
  '%s is the dashboard, with a policy that lets nothing in',
  async (path) => {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await answer.text()).toContain('<div id="app">')
  },
)

test.for(['/nope', '/api/v0/nope', '/jobs', '/assets/nope.js'])('%s is a 404 in JSON', async (path) => {
  const answer = await get(path)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } })
})

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test.for(['/nope', '/jobs', '/jobs/x', '/new/more'])('%s is a page for people, with the status 404', async (path) => {
  const answer = await get(path, BROWSER)
  expect(answer.status).toBe(404)
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(await answer.text()).toContain('<div id="app">')
})

test.for(['/api/v0/nope', '/api', '/o/x', '/metrics/x', '/assets/nope.js'])(
  '%s stays JSON for a browser as well',
  async (path) => {
    const answer = await get(path, BROWSER)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await answer.json()).toHaveProperty('error')
  },
)

test('a page for people is whole also for a browser that asks whether it has changed', async () => {
  const etag = (await get('/new', BROWSER)).headers.get('etag')
  expect(etag).not.toBeNull()
  const again = await get('/nope', { ...BROWSER, 'if-none-match': etag! })
  expect(again.status).toBe(404)
  expect(again.headers.get('etag')).toBeNull()
  expect(await again.text()).toContain('<div id="app">')
})
