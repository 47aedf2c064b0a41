// In charge of: calling a strict in-memory server directly, instead of over the network.
// Not in charge of: its answers.
import { bytesOf, type FakeAnswer, type FakeRequest } from './objectServer.ts'

export type RequestHandler = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>

export function fetchFrom(handle: RequestHandler): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const request = new Request(url, { ...init, ...(init?.body ? { duplex: 'half' } : {}) })
    const { pathname, search, host } = new URL(request.url)
    const headers = new Map([...request.headers].map(([name, value]) => [name.toLowerCase(), value]))
    headers.set('host', host)
    const body = new Uint8Array(await request.arrayBuffer())
    if (body.length > 0 || request.method === 'POST') headers.set('content-length', String(body.length))
    const answer = await handle({ method: request.method, target: pathname + search, headers, body })
    const bytes = bytesOf(answer.body)
    const answerHeaders = new Headers(answer.headers)
    if (!answerHeaders.has('content-length')) answerHeaders.set('content-length', String(bytes.length))
    const empty = request.method === 'HEAD' || answer.status === 204
    return new Response(empty ? null : new Blob([bytes.slice()]).stream(), {
      status: answer.status,
      headers: answerHeaders,
    })
  }
}
