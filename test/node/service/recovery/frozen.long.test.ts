// In charge of: a transcoder or a runtime that is there but does nothing: it is noticed and replaced.
import { expect, test } from 'vitest'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

test('a stopped transcoder (SIGSTOP) is reported by /health and restarted, and its job completes', async () => {
  await using tempDir = await tempDirectory()
  await using media = await PausableFileServer.start(await makeClip(tempDir.file('clip.mp4'), { seconds: 4 }))
  await using service = await Service.start({ ALLOW_PRIVATE_HOSTS: media.host })
  media.pauseAt(0.6)
  const id = await service.create(jobRequest(media.url, 'http'))
  await waitFor('the job to run', async () => (await service.status(id))?.state === 'running')
  const frozen = service.transcoder()?.pid
  if (frozen === undefined) throw new Error('there is no transcoder')
  process.kill(frozen, 'SIGSTOP')
  const health = async (): Promise<Record<string, unknown>> =>
    (await (await fetch(`${service.base}/health`)).json()) as Record<string, unknown>
  const told = await waitFor('/health to tell it', async () => {
    const now = await health()
    return now['transcoders_silent'] === 1 ? now : null
  })
  expect(told['status']).toBe('degraded')
  await waitFor('another one', () => (service.transcoder()?.pid ?? frozen) !== frozen, JOB_TIMEOUT_MS)
  media.resume()
  expect(await service.waitForEnd(id, JOB_TIMEOUT_MS)).toMatchObject({ state: 'ready', error: null })
  await waitFor('/health to be well', async () => (await health())['status'] === 'ok')
  // Which task it was stands there if the transcoder was asked since it began (transcoderProbe.test.ts).
  expect(service.stderr()).toMatch(/^Restarting the transcoder: it has not responded for 30 s[.,]/m)
})

test('a runtime that stops, also one that was restarted before, is replaced', async () => {
  await using service = await Service.start()
  const worker = service.worker()!.pid
  process.kill(worker, 'SIGKILL')
  const isOther = async (old: number): Promise<boolean> =>
    (service.worker()?.pid ?? old) !== old && (await service.isServing())
  await waitFor('the Worker to be back', () => isOther(worker))
  const frozen = service.worker()!.pid
  process.kill(service.runtime()!.pid, 'SIGSTOP')
  await waitFor('another one', () => isOther(frozen), JOB_TIMEOUT_MS)
  expect(service.stderr()).toMatch(/^Restarting the Worker: \/health does not answer\./m)
})
