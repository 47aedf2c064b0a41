// In charge of: how tests send requests to the real app.
import { exports } from 'cloudflare:workers'
import { expectDescribed } from '../../../scripts/openapi/strictAnswers.ts'

export const API_KEY = 'test-only-api-key'
export const ADMIN_KEY = 'test-only-admin-key'
export const BASE_URL = 'https://service.test'

export function basicAuth(user: string, password = ''): string {
  return `Basic ${btoa(`${user}:${password}`)}`
}

/** Each JSON answer is checked against the OpenAPI document: a member that it does not list fails the test. */
export async function apiRequest(path: string, init: RequestInit & { key?: string } = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (!headers.has('authorization')) headers.set('authorization', basicAuth(init.key ?? API_KEY))
  const response = await exports.default.fetch(new Request(BASE_URL + path, { ...init, headers, redirect: 'manual' }))
  await expectDescribed(init.method ?? 'GET', path, response)
  return response
}

export function postJson(path: string, body: unknown, init: RequestInit & { key?: string } = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('content-type', 'application/json')
  return apiRequest(path, { ...init, method: 'POST', body: JSON.stringify(body), headers })
}

/** The JSON of the answer to a GET, or to what `init` says. */
export async function readJson(path: string, init?: RequestInit & { key?: string }): Promise<any> {
  return (await apiRequest(path, init)).json()
}

/** Status and error code, as in `409 job_active`. */
export async function errorCode(answer: Response): Promise<string> {
  return `${answer.status} ${(await answer.json<any>()).error.code}`
}

/** A new API key, of another account unless `terms` names one. */
export async function createKey(terms: Record<string, unknown> = {}): Promise<any> {
  const answer = await postJson('/api/v0/keys', { account: 'other', ...terms }, { key: ADMIN_KEY })
  if (answer.status !== 201) throw new Error(`a key: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** A small valid job with an existing input. */
export function jobBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    input: 'https://media.test/a.mp4',
    videoProfiles: [{ output: 'film.mp4', width: 640, height: 360, video_bitrate_mode: 'vbr', video_bitrate: 600 }],
    audioProfiles: [],
    cloud_credentials: { input: { cloud_provider: 'http' } },
    ...change,
  }
}

/** Creates that job and returns its number. */
export async function createJob(
  change: Record<string, unknown> = {},
  init: RequestInit & { key?: string } = {},
): Promise<number> {
  const answer = await postJson('/api/v0/job', jobBody(change), init)
  if (answer.status !== 200) throw new Error(`a job: ${answer.status} ${await answer.text()}`)
  return (await answer.json<any>())._auto_generated_id_
}
