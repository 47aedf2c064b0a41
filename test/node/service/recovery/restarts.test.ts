import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frames, makeClip, workspace } from '../../../support/media/media.ts'
import { MediaServer } from '../../../support/http/pausableFileServer.ts'
import { jobOf, Service, until } from '../../../support/service.ts'

let service: Service
let media: MediaServer
let space: Awaited<ReturnType<typeof workspace>>
beforeAll(async () => {
  space = await workspace()
  const clip = await makeClip(space.file('clip.mp4'), {
    seconds: 8,
    // Pictures that carry no captions, so that the held source is first read by the encoder and not by whoever looks for some.
    flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
  })
  media = await MediaServer.start(clip)
  service = await Service.start({ ALLOW_PRIVATE_HOSTS: media.host })
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await media?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})

const victims: { name: string; find: () => number | undefined; isBack: (old: number) => boolean | Promise<boolean> }[] =
  [
    {
      name: 'the transcoder',
      find: () => service.transcoder()?.pid,
      isBack: (old) => (service.transcoder()?.pid ?? old) !== old,
    },
    {
      name: 'the Worker’s runtime',
      find: () => service.runtime()?.pid,
      isBack: async (old) => (service.runtime()?.pid ?? old) !== old && (await service.isServing()),
    },
    {
      name: 'the process that holds the Worker',
      find: () => service.worker()?.pid,
      isBack: async (old) => (service.worker()?.pid ?? old) !== old && (await service.isServing()),
    },
  ]

test.each(victims)('a job outlives SIGKILL of $name', async ({ find, isBack }) => {
  media.hold(0.6)
  const id = await service.create(jobOf(media.url, 'http'))
  await service.encoding(id)
  const victim = find()
  if (victim === undefined) throw new Error('there is no such process')
  process.kill(victim, 'SIGKILL')
  await until('it to be back', () => isBack(victim))
  media.release()
  const status = await service.ended(id)
  expect(status).toMatchObject({ state: 'ready', error: null, tcode_progress: '100', xfer_progress: '100' })
  const path = space.file('out.mp4')
  await writeFile(path, Buffer.from(await (await fetch(status.outputs[0]?.url ?? '')).arrayBuffer()))
  expect(await frames(path)).toHaveLength(200)
  await until('the scratch space to be empty', async () => (await service.leftOver()).length === 0)
  expect(service.encoders()).toEqual([])
})
