// In charge of: connection errors that retries rarely resolve. They last for a minute before the job fails, so this is
// part of the long form.
// Not in charge of: how often a request is repeated (test/node/transcoder/taskApi/retry.test.ts).
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { selfSignedCertificate } from '../../../fakes/selfSignedCertificate.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service } from '../../../support/service.ts'

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('an untrusted certificate and a closed port fail the job at its first attempt, with a clear message', async () => {
  await using tempDir = await tempDirectory()
  await using secure = createSecureServer(selfSignedCertificate('127.0.0.1'), (_, response) => void response.end())
  const securePort = await portOf(secure)
  const closedServer = createServer()
  const closed = await portOf(closedServer)
  await closedServer[Symbol.asyncDispose]()
  await using service = await Service.start({
    TRANSCODERS: '2',
    ALLOW_PRIVATE_HOSTS: [securePort, closed].map((port) => `127.0.0.1:${port}`).join(','),
  })
  const upload = await service.upload(await makeClip(tempDir.file('clip.mp4'), { seconds: 2 }))
  const store = { cloud_provider: 'aws', access_key: 'A', secret_key: 'B', endpoint: `http://127.0.0.1:${closed}` }
  const toStore = {
    bucket_output_path: 's3://films/x',
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: store },
  }
  const expected = [
    [
      jobRequest(`https://127.0.0.1:${securePort}/a.mp4`, 'http'),
      { code: 'tls_failed', field: 'input', message: expect.stringMatching(/certificate that is not accepted/) },
    ],
    [
      jobRequest(upload, 'file-upload', toStore),
      {
        code: 'connection_refused',
        field: 'cloud_credentials.output',
        message: expect.stringContaining(`127.0.0.1:${closed} refuses connections`),
      },
    ],
  ] as const
  const ids = await Promise.all(expected.map(([job]) => service.create(job)))
  for (const [n, id] of ids.entries()) {
    expect(await service.waitForEnd(id)).toMatchObject({ state: 'error', error: expected[n]![1] })
    expect((await service.events(id)).map(({ type }) => type)).not.toContain('attempt.lost')
  }
})
