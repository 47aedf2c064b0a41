// In charge of: serving a strict in-memory server on a socket of the loopback address.
// Not in charge of: its answers.
import { buffer } from 'node:stream/consumers'
import type { RequestHandler } from './fetchTransport.ts'
import { LoopbackServer } from './loopbackServer.ts'
import { bytesOf } from './objectServer.ts'

export class FakeServer extends LoopbackServer {
  private constructor(handle: RequestHandler) {
    super(async (request, response) => {
      const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const body = await buffer(request)
      const answer = await handle({ method: request.method ?? '', target: request.url ?? '', headers, body })
      const bytes = bytesOf(answer.body)
      const length = request.method === 'HEAD' ? {} : { 'content-length': String(bytes.length) }
      response.writeHead(answer.status, { ...length, ...answer.headers }).end(bytes)
    })
  }

  static async start(handle: RequestHandler): Promise<FakeServer> {
    const made = new FakeServer(handle)
    await made.listen()
    return made
  }
}
