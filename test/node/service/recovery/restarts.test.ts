import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let service: Service
let media: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('clip.mp4'), {
    seconds: 8,
    // A codec without captions, so that the encoder is the first to read the held part of the source, not the caption
    // probe.
    flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
  })
  media = resources.use(await PausableFileServer.start(clip))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: media.host }))
})

const victims: {
  name: string
  told: string
  find: () => number | undefined
  isBack: (old: number) => boolean | Promise<boolean>
}[] = [
  {
    name: 'the transcoder',
    told: 'The transcoder exited (signal SIGKILL)',
    find: () => service.transcoder()?.pid,
    isBack: (old) => (service.transcoder()?.pid ?? old) !== old,
  },
  {
    name: 'the Worker’s runtime',
    told: 'The runtime crashed; another one runs.',
    find: () => service.runtime()?.pid,
    isBack: async (old) => (service.runtime()?.pid ?? old) !== old && (await service.isServing()),
  },
  {
    name: 'the process that holds the Worker',
    told: 'The worker exited (signal SIGKILL)',
    find: () => service.worker()?.pid,
    isBack: async (old) => (service.worker()?.pid ?? old) !== old && (await service.isServing()),
  },
]

test.each(victims)('a job outlives SIGKILL of $name', async ({ told, find, isBack }) => {
  media.pauseAt(0.6)
  const id = await service.create(jobRequest(media.url, 'http'))
  await service.waitForEncoding(id)
  const killedProcess = find()
  if (killedProcess === undefined) throw new Error('there is no such process')
  process.kill(killedProcess, 'SIGKILL')
  await waitFor('it to be back', () => isBack(killedProcess))
  await waitFor('its operator to be told', () => service.stderr().includes(told))
  media.resume()
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null, tcode_progress: '100', xfer_progress: '100' })
  const path = tempDir.file('out.mp4')
  await writeFile(path, Buffer.from(await (await fetch(status.outputs[0]?.url ?? '')).arrayBuffer()))
  expect(await decodeFrames(path)).toHaveLength(200)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
  expect(service.encoders()).toEqual([])
})
