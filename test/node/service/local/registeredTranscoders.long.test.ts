// Several transcoders that register themselves, over the life of a service: lost, added, drained, found again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import {
  findTranscoder,
  listTranscoders,
  startTranscoder,
  TRANSCODER_SECRET,
} from '../../../support/transcoder/registeredTranscoder.ts'

/** The id of the transcoder that has the job. */
const holder = async (service: Service, job: number) =>
  (await listTranscoders(service)).find((one) => one.job === job)?.id

test('register, work, are killed, added, drained, and found again by a service that restarts', async () => {
  await using tempDir = await tempDirectory()
  const stateDir = await mkdtemp(join(tmpdir(), 'splicepoint-registered-'))
  const clip = await makeClip(tempDir.file('clip.mp4'), {
    seconds: 8,
    flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
  })
  await using media = await PausableFileServer.start(clip)
  const settings = {
    ALLOW_PRIVATE_HOSTS: media.host,
    STATE_DIR: stateDir,
    TRANSCODERS: '0',
    TRANSCODER_SECRET,
    LEASE_SECONDS: '4',
  }
  const before = await Service.start(settings)
  const { base } = before
  await using one = startTranscoder(base, { TRANSCODER_ID: 'one', WORK_DIR: tempDir.file('one') })
  await using two = startTranscoder(base, { TRANSCODER_ID: 'two', WORK_DIR: tempDir.file('two') })
  await Promise.all([one.logged('registered'), two.logged('registered')])
  expect(await listTranscoders(before)).toMatchObject([
    { id: 'one', state: 'ready' },
    { id: 'two', state: 'ready' },
  ])

  // Both work; the third job waits.
  media.pauseAt(0.6)
  const jobs = await Promise.all([1, 2, 3].map(() => before.create(jobRequest(media.url, 'http'))))
  await waitFor('both to have a job', async () => (await listTranscoders(before)).every(({ job }) => job !== null))
  const running = (await listTranscoders(before)).map(({ job }) => job!)
  const waiting = jobs.find((job) => !running.includes(job))!
  for (const job of running) await before.waitForEncoding(job)

  // A third one is added: the job that waits is its.
  await using three = startTranscoder(base, { TRANSCODER_ID: 'three', WORK_DIR: tempDir.file('three') })
  await three.logged('registered')
  await waitFor('the added one to have the job that waits', async () => (await holder(before, waiting)) === 'three')

  // One is killed in the middle of its job, which another one completes.
  const orphan = (await findTranscoder(before, 'one'))!.job!
  await one.kill('SIGKILL')
  media.resume()
  for (const job of jobs) expect(await before.waitForEnd(job)).toMatchObject({ state: 'ready', error: null })
  const events = await before.events(orphan)
  expect(events.filter(({ type }) => type === 'attempt.lost')).toHaveLength(1)
  const status = await before.status(orphan)
  await writeFile(
    tempDir.file('out.mp4'),
    Buffer.from(await (await fetch(status?.outputs[0]?.url ?? '')).arrayBuffer()),
  )
  expect(await decodeFrames(tempDir.file('out.mp4'))).toHaveLength(200)

  // One with the id of another is refused, with a sentence.
  await using twin = startTranscoder(base, { TRANSCODER_ID: 'two', WORK_DIR: tempDir.file('twin') })
  expect((await twin.logged('not registered'))['error']).toMatch(/is registered with the id "two" and answers/)
  await twin.kill('SIGTERM')
  expect(await findTranscoder(before, 'two')).toMatchObject({ state: 'ready' })

  // The killed one's id is free at once.
  await using again = startTranscoder(base, {
    TRANSCODER_ID: 'one',
    WORK_DIR: tempDir.file('again'),
    DRAIN_SECONDS: '0',
  })
  await again.logged('registered')

  // The service restarts at the same address; nobody tells the transcoders.
  expect((await before.stop()).code).toBe(0)
  await using service = await Service.start({ ...settings, PORT: new URL(base).port })
  await waitFor('all to be ready', async () => {
    const found = await listTranscoders(service)
    return found.length === 3 && found.every(({ state }) => state === 'ready')
  })
  // SIGTERM in the middle of a job: it returns the job, ends with code 0, and is not listed any more.
  media.pauseAt(0.6)
  const more = await Promise.all([1, 2, 3].map(() => service.create(jobRequest(media.url, 'http'))))
  for (const job of more) await service.waitForEncoding(job)
  const returned = (await findTranscoder(service, 'one'))!.job!
  expect(more).toContain(returned)
  expect(await again.kill('SIGTERM')).toBe(0)
  expect(again.lines.at(-1)).toMatchObject({ msg: 'deregistered' })
  expect((await listTranscoders(service)).map(({ id }) => id)).toEqual(['three', 'two'])
  media.resume()
  for (const job of more) expect(await service.waitForEnd(job)).toMatchObject({ state: 'ready', error: null })
  const told = (await service.events(returned)).map(({ type }) => type)
  expect(told).toContain('attempt.evicted')
  expect(told).not.toContain('attempt.lost')
  await rm(stateDir, { recursive: true, force: true, maxRetries: 3 })
}, 240_000)
