// In charge of: unavailable sources and stores in the real service: which failures wait in the queue, which wait with a
// transcoder assigned, which recover in time, and which end a job.
// Not in charge of: how long each is waited for (test/node/transcoder/taskApi/retry.test.ts,
// test/node/contract/task/lifecycle.test.ts).
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

/** For steps that take a minute by themselves, on a busy machine. */
const LONG_MS = 240_000

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let film: Buffer
let upload: string
/** Gives the answer that a test sets. */
let source: Server
let answer: RequestListener
/** A port without a server, until a test starts one. */
let closed: number

const serveFilm: RequestListener = (_, response) => void response.end(film)
const portOf = (server: Server): number => (server.address() as AddressInfo).port
async function listen(server: Server, port = 0): Promise<Server> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}
async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

beforeAll(async () => {
  tempDir = await tempDirectory()
  const path = await makeClip(tempDir.file('clip.mp4'), { seconds: 2, flags: ['-movflags', '+faststart'] })
  film = await readFile(path)
  source = await listen(createServer((request, response) => answer(request, response)))
  const gone = await listen(createServer())
  closed = portOf(gone)
  await close(gone)
  const ports = [portOf(source), closed]
  service = await Service.start({
    TRANSCODERS: '2',
    ALLOW_PRIVATE_HOSTS: ports.map((port) => `127.0.0.1:${port}`).join(','),
  })
  upload = await service.upload(path)
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  if (source) await close(source)
  await tempDir?.[Symbol.asyncDispose]()
})

const lost = (id: number) => async () => (await service.events(id)).find(({ type }) => type === 'attempt.lost')

test(
  'a source that answers 500 holds no transcoder: others have them, and it is read when it is back',
  async () => {
    answer = (_, response) => void response.writeHead(500).end()
    const body = jobRequest(`http://127.0.0.1:${portOf(source)}/a.mp4`, 'http')
    // One for each transcoder.
    const ids = [await service.create(body), await service.create(body)]
    for (const id of ids) {
      const event = await waitFor('the attempt to be given back', lost(id))
      expect(event).toMatchObject({ attempt: 1, error: { code: 'source_unreachable' } })
    }
    expect((await service.status(ids[1]!))?.waiting_for).toMatchObject({
      code: 'source_unreachable',
      message: `127.0.0.1:${portOf(source)} cannot deliver the file at the moment (500).`,
    })
    const other = await service.run(jobRequest(upload, 'file-upload'))
    expect(other).toMatchObject({ state: 'ready', error: null })
    answer = serveFilm
    for (const id of ids) {
      expect(await service.waitForEnd(id, LONG_MS)).toMatchObject({ state: 'ready', error: null, waiting_for: null })
    }
  },
  LONG_MS,
)

test(
  'a source on a port that refuses connections is read once the server is up, by the same attempt',
  async () => {
    const id = await service.create(jobRequest(`http://127.0.0.1:${closed}/a.mp4`, 'http'))
    await waitFor('the source to be looked for', async () => (await service.status(id))?.phase === 'probing')
    const back = await listen(createServer(serveFilm), closed)
    const status = await service.waitForEnd(id, LONG_MS)
    await close(back)
    expect(status).toMatchObject({ state: 'ready', error: null })
    expect(await lost(id)()).toBe(undefined)
  },
  LONG_MS,
)
