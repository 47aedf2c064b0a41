// In charge of: sending requests to the real app with another environment than the configured one.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { app } from '../../../worker/app.ts'
import { ADMIN_KEY, BASE_URL, basicAuth } from './apiClient.ts'

/** With the admin key, unless another is given. Returns the status and the JSON of the answer. */
export async function requestWithEnv(
  where: Env,
  method: string,
  path: string,
  body?: unknown,
  key = ADMIN_KEY,
): Promise<[number, any]> {
  const context = createExecutionContext()
  const headers = new Headers({ authorization: basicAuth(key), 'content-type': 'application/json' })
  const text = body === undefined ? null : JSON.stringify(body)
  if (text !== null) headers.set('content-length', String(new TextEncoder().encode(text).length))
  const init = { method, headers, body: text }
  const response = await app.fetch(new Request(BASE_URL + path, init), where, context)
  await waitOnExecutionContext(context)
  return [response.status, await response.json<any>()]
}
