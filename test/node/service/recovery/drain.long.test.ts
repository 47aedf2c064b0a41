// What a stop of the service does to a running job: with time to drain, the job completes in its first attempt.
import { mkdir } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let media: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const flags = ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart']
  media = resources.use(await PausableFileServer.start(await makeClip(tempDir.file('clip.mp4'), { seconds: 8, flags })))
})

/** Starts a job, stops the service while it encodes, starts the service again. @returns the job's events, and its end */
async function stopWhileEncoding(drainSeconds: string) {
  const stateDir = tempDir.file(`state-${drainSeconds}`)
  await mkdir(stateDir)
  const env = { ALLOW_PRIVATE_HOSTS: media.host, DRAIN_SECONDS: drainSeconds, STATE_DIR: stateDir }
  media.pauseAt(0.6)
  await using first = await Service.start(env)
  const id = await first.create(jobRequest(media.url, 'http'))
  await first.waitForEncoding(id)
  const [transcoder] = first.ready.transcoder_urls
  process.kill(first.ready.pids.start, 'SIGTERM')
  // Refused connections: it has returned its task and ended.
  await waitFor('the transcoder to drain', async () => {
    const health = await fetch(`${transcoder}/health`).catch(() => null)
    return health === null || ((await health.json()) as { state: string }).state === 'draining'
  })
  media.resume()
  expect(await first.exited).toEqual({ code: 0, signal: null })
  await using second = await Service.start(env)
  const end = await second.waitForEnd(id)
  return { end, events: (await second.events(id)).map(({ type }) => type) }
}

test('with DRAIN_SECONDS above its remaining time, a job finishes in its first attempt while the service stops', async () => {
  const { end, events } = await stopWhileEncoding('600')
  expect(end).toMatchObject({ error: null, job_completed: true })
  expect(events).not.toContain('attempt.evicted')
  expect(events.filter((type) => type === 'attempt.started')).toHaveLength(1)
})

test('with DRAIN_SECONDS=0 it is returned at once, and completes in its second attempt', async () => {
  const { end, events } = await stopWhileEncoding('0')
  expect(end).toMatchObject({ error: null, job_completed: true })
  expect(events).toContain('attempt.evicted')
  expect(events).not.toContain('attempt.lost')
  expect(events.filter((type) => type === 'attempt.started')).toHaveLength(2)
})
