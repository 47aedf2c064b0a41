// In charge of: serving a strict in-memory server on a socket of the loopback address.
// Not in charge of: its answers.
import { buffer } from 'node:stream/consumers'
import { LoopbackServer } from '../support/http/loopbackServer.ts'
import type { RequestHandler } from './fetchTransport.ts'
import { bytesOf } from './objectServer.ts'

export class FakeServer extends LoopbackServer {
  static start(handle: RequestHandler): Promise<FakeServer> {
    return new FakeServer(async (request, response) => {
      const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const body = await buffer(request)
      const answer = await handle({ method: request.method ?? '', target: request.url ?? '', headers, body })
      const bytes = bytesOf(answer.body)
      const length = request.method === 'HEAD' ? {} : { 'content-length': String(bytes.length) }
      response.writeHead(answer.status, { ...length, ...answer.headers }).end(bytes)
    }).listen()
  }
}
