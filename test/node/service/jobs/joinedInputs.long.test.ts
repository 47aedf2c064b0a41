// In charge of: jobs with several inputs through the real service: uploads and an http server, segments, a dry run,
// cancelling.
// Not in charge of: exact frames and samples (transcoder/pipeline/joins.test.ts).
import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let service: Service
let server: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeNumberedClip(tempDir.file('clip.mp4'), { seconds: 8 })
  server = resources.use(await PausableFileServer.start(tempDir.file('clip.mp4')))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: server.host }))
})

async function request(change: object = {}): Promise<object> {
  const upload = await service.upload(tempDir.file('clip.mp4'))
  const { input: _input, ...common } = jobRequest('', 'http', change) as { input: string }
  return {
    ...common,
    inputs: [
      { input: server.url, start_seconds: 1, end_seconds: 2 },
      { input: upload, start_seconds: '00:00:05:00', end_seconds: 6.2 },
    ],
    cloud_credentials: {
      inputs: [{ cloud_provider: 'http' }, { cloud_provider: 'file-upload' }],
      output: { cloud_provider: 'vendor-store' },
    },
  }
}

test('an address and an upload become one file, and the status says what was joined', async () => {
  const videoProfiles = [{ output: 'video.mp4', width: 192, height: 48, video_bitrate: 400 }]
  const status = await service.waitForEnd(await service.create(await request({ videoProfiles })))
  expect(status).toMatchObject({ state: 'ready', error: null, source: { formats: ['joined'], duration_seconds: 2.2 } })
  const { url } = status.outputs.find(({ path }) => path === 'video.mp4')!
  const response = await fetch(url!)
  await writeFile(tempDir.file('joined.mp4'), Buffer.from(await response.arrayBuffer()))
  const wanted = [25, 50, 125, 155]
  expect(await frameNumbers(tempDir.file('joined.mp4'))).toEqual([
    ...Array.from({ length: wanted[1]! - wanted[0]! }, (_, index) => wanted[0]! + index),
    ...Array.from({ length: wanted[3]! - wanted[2]! }, (_, index) => wanted[2]! + index),
  ])
})

test('cancelled while an input is decoded, nothing runs on and nothing is left', async () => {
  await makeNumberedClip(tempDir.file('long.mp4'), { seconds: 160 })
  const upload = await service.upload(tempDir.file('long.mp4'))
  const { input: _input, ...common } = jobRequest('', 'file-upload') as { input: string }
  const id = await service.create({ ...common, inputs: Array.from({ length: 20 }, () => ({ input: upload })) })
  // The encoder and the decoder of a piece.
  await waitFor('two programs of ffmpeg', async () => service.encoders().length >= 2)
  await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'cancelled' })
  await waitFor('the programs to end', async () => service.encoders().length === 0)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
})
