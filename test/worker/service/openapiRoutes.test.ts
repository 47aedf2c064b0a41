// In charge of: the OpenAPI document against the routes of the app: each side lists the same.
// Not in charge of: the answers of the operations (test/node/service/api/openapi.test.ts).
import { expect, test } from 'vitest'
import { operations } from '../../../scripts/openapi/operations.ts'
import { app } from '../../../worker/app.ts'
import { dashboardRoutes } from '../../../worker/service/dashboardRoutes.ts'
import { taskApi } from '../../../worker/taskApi/taskRoutes.ts'
import { registrationRoutes } from '../../../worker/taskApi/registrationRoutes.ts'
import { apiRequest } from '../support/apiClient.ts'

/** Handled by middleware, which app.routes does not distinguish (worker/uploads/tus/tusRoutes.ts). */
const TUS = ['HEAD /uploads/{}', 'PATCH /uploads/{}']
/** Pages of the dashboard, and the task API, whose addresses only transcoders call. */
const apart = new Set(
  [...dashboardRoutes.routes, ...taskApi.routes, ...registrationRoutes.routes].map(({ path }) => path),
)

/** Normalizes parameters: `:id{[1-9]+}`, `{id}` and a trailing `*` become the same. */
const plain = (path: string): string =>
  path
    .replaceAll(/:\w+(\{[^/]*?\})?(?=\/|$)/g, '{}')
    .replaceAll(/\{\w+\}/g, '{}')
    .replace(/^\/o\/.*/, '/o/{}')
    .replace(/(.)\/$/, '$1')

const routes = new Set(
  app.routes
    .filter(({ method, path }) => method !== 'ALL' && method !== 'OPTIONS' && method !== 'HEAD' && !apart.has(path))
    .map(({ method, path }) => `${method} ${plain(path)}`),
)
const described = new Set(
  Object.keys(operations).map((name) => name.replace(/ .*/, (path) => ` ${plain(path.trim())}`)),
)

test('every route of the app is described', () => {
  expect(routes.size).toBeGreaterThan(20)
  expect([...routes].filter((route) => !described.has(route))).toEqual([])
})

test('every operation that is described is a route of the app', () => {
  expect([...described].filter((operation) => !routes.has(operation) && !TUS.includes(operation))).toEqual([])
})

test('what tus adds is served', async () => {
  for (const operation of TUS) {
    const [method = ''] = operation.split(' ')
    const answer = await apiRequest('/uploads/999', {
      method,
      headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0' },
    })
    expect([400, 404, 415], operation).toContain(answer.status)
  }
})

test('every operation has an id in camel case of its own, a summary, and sentences that say what it does', () => {
  const all = Object.entries(operations)
  expect(new Set(all.map(([, { id }]) => id)).size).toBe(all.length)
  for (const [name, { id, summary, description }] of all) {
    expect(id, name).toMatch(/^[a-z]+([A-Z][a-z]+)*$/)
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/)
    expect(description, name).toMatch(/^[A-Z`][^]+\.$/)
    expect(description.split(' ').length, `${name}: a whole sentence`).toBeGreaterThan(5)
  }
})
