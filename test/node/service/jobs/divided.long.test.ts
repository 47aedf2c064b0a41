// In charge of: divided jobs of the whole service: their outputs compared with those of one task, transcoders that are
// killed, jobs that are cancelled.
// Not in charge of: where a job is divided (node/transcoder/division/plan), exact cutting (node/transcoder/pipeline),
// the ledger (worker/scheduler, simulation).
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { childrenOf, type ProcessEntry } from '../../../../scripts/local/processes/processGroup.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { makeSyncClip } from '../../../support/media/syncClip.ts'
import { decodePresentation, type DecodedPlaylist } from '../../../support/manifests/decodedPresentation.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import { findUncleaned } from '../../chaos/cleanupCheck.ts'

const SECONDS = 31
const RATE = 25
const REMAINS_MS = 60_000
let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeSyncClip(tempDir.file('flash.mp4'), {
    rate: '25',
    seconds: SECONDS,
    audioLate: 0,
    audioCodec: 'aac',
  })
  service = resources.use(await Service.start({ TRANSCODERS: '2', DIVIDE_ABOVE_SECONDS: '1' }))
  input = await service.upload(clip)
})

/** It says nothing about chunks, and does not need long. */
const unasked = (change: object = {}) =>
  jobRequest(input, 'file-upload', {
    bucket_output_path: 'show',
    segment_length: 2,
    gop_length: 1,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    thumbnails: true,
    stills: [{ every_seconds: 5, width: 160 }],
    waveform: { pixels_per_second: 10 },
    videoProfiles: [
      { output: '', width: 320, height: 180, video_bitrate: 400, video_bitrate_mode: 'qvbr' },
      { output: 'low', width: 160, height: 90, video_bitrate: 150, video_bitrate_mode: 'qvbr' },
    ],
    ...change,
  })
const job = (change: object = {}) => unasked({ max_chunk_seconds: 0, ...change })
const divided = (change: object = {}) => unasked({ max_chunk_seconds: 10, ...change })

const decodeOutputs = (status: PublicStatus) => {
  expect(status).toMatchObject({ state: 'ready', error: null })
  return decodePresentation(status, (name) => tempDir.file(name))
}

async function requireReported(status: PublicStatus): Promise<void> {
  const report = status.outputs.find(({ path }) => path === 'show/job.json')?.url ?? ''
  const { objects } = (await (await fetch(report)).json()) as {
    objects: { path: string; size: number; sha256: string }[]
  }
  expect(objects.length).toBeGreaterThan(30)
  for (const { path, size, sha256 } of objects) {
    const response = await fetch(new URL(path.replace(/^show\//, ''), report))
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([path, bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([path, size, sha256])
  }
}

/** Everything but the bytes, which depend on the encoder. */
const pictureAndSound = ({ frames, times, samples }: DecodedPlaylist) => ({ frames, times, samples })

const nothingLeft = async (status: PublicStatus) =>
  expect(await findUncleaned(service, [status.job_id], REMAINS_MS)).toEqual([])

const running = (id: number) =>
  waitFor('chunks to run', async () => {
    const status = await service.status(id)
    if (status?.job_completed) throw new Error(`it ended before: ${JSON.stringify(status)}`)
    return (status?.chunks?.running ?? 0) > 0 && (status?.chunks?.completed ?? 0) > 0 ? status : null
  })

/** For what lasts tenths of a second only. */
async function soon<T>(find: () => T | null): Promise<T> {
  for (const end = performance.now() + 120_000; performance.now() < end; await nextTurn()) {
    const found = find()
    if (found !== null) return found
  }
  throw new Error('it did not happen')
}

/** Stills and the waveform. */
const extractsOf = ({ outputs }: PublicStatus) =>
  outputs.flatMap(({ path, role, sha256 }) => (role === 'still' || role === 'waveform' ? [[path, role, sha256]] : []))

let undisturbed: Record<string, DecodedPlaylist>
let extracts: ReturnType<typeof extractsOf>

test('a divided job has the frames, times and samples of one task', async () => {
  const alone = await service.run(job())
  const whole = await decodeOutputs(alone)
  const status = await service.run(divided())
  undisturbed = await decodeOutputs(status)
  expect(Object.keys(undisturbed).toSorted()).toEqual(Object.keys(whole).toSorted())
  for (const [path, { frames, times, samples }] of Object.entries(undisturbed)) {
    expect({ path, frames, times, samples }).toEqual({ path, ...pictureAndSound(whole[path]!) })
    if (!path.includes('audio')) expect(frames).toBe(SECONDS * RATE)
  }
  const mpd = await (await fetch(status.outputs.find(({ path }) => path.endsWith('manifest.mpd'))?.url ?? '')).text()
  expect(mpd).toContain('profile:isoff-live')
  expect(mpd).toContain('<SegmentTemplate')
  extracts = extractsOf(status)
  expect(extracts).toHaveLength(Math.ceil(SECONDS / 5) + 1)
  expect(extracts).toEqual(extractsOf(alone))
  await requireReported(status)
  await nothingLeft(status)
})

test('a job that says nothing is divided if the operator’s threshold is below its predicted time', async () => {
  const id = await service.create(unasked())
  expect(await waitFor('parts', async () => (await service.status(id))?.chunks?.total ?? null)).toBe(3)
  const made = await decodeOutputs(await service.waitForEnd(id))
  for (const [path, playlist] of Object.entries(made))
    expect({ path, ...pictureAndSound(playlist) }).toEqual({ path, ...pictureAndSound(undisturbed[path]!) })
})

test('with an average bitrate, which is found from samples first', async () => {
  const profiles = { videoProfiles: [{ output: '', width: 320, height: 180, video_bitrate: 400 }] }
  const whole = await decodeOutputs(await service.run(job(profiles)))
  const status = await service.run(divided(profiles))
  const parts = await decodeOutputs(status)
  for (const [path, part] of Object.entries(parts))
    expect({ path, ...pictureAndSound(part) }).toEqual({ path, ...pictureAndSound(whole[path]!) })
  await nothingLeft(status)
})

test('killed transcoders cost no frame, and the segments have the same bytes', async () => {
  const id = await service.create(divided())
  let kills = 0
  for (; kills < 3; kills += 1) {
    const before = await running(id).catch(() => null)
    const victim = service.transcoders()[kills % 2]
    if (before === null || victim === undefined) break
    process.kill(victim.pid, 'SIGKILL')
    // The others go on, and what was lost is made again.
    await waitFor('another chunk', async () => {
      const status = await service.status(id)
      const isFurther = (status?.chunks?.completed ?? 0) > (before.chunks?.completed ?? 0)
      return status?.job_completed === true || (isFurther && service.transcoders().length === 2)
    })
  }
  expect(kills).toBeGreaterThan(0)
  const status = await service.waitForEnd(id)
  expect(await decodeOutputs(status)).toEqual(undisturbed)
  expect(extractsOf(status)).toEqual(extracts)
  await requireReported(status)
  await nothingLeft(status)
})

const file = () =>
  jobRequest(input, 'file-upload', {
    bucket_output_path: 'files',
    gop_length: 1,
    max_chunk_seconds: 10,
    output_container: 'mp4',
    videoProfiles: [
      { output: 'a.mp4', width: 320, height: 180, video_bitrate: 400, video_bitrate_mode: 'qvbr' },
      { output: 'b.mp4', width: 160, height: 90, video_bitrate: 150, video_bitrate_mode: 'qvbr' },
    ],
  })

/** It reads what the parts have stored, and no address. */
const isCopying = ({ argv }: ProcessEntry) => argv[argv.indexOf('-protocol_whitelist') + 1] === 'pipe'
const copying = () => service.transcoders().find(({ pid }) => childrenOf(pid).some(isCopying)) ?? null

test('a transcoder that is killed while it copies the parts into files: the copy is made again, of the same bytes', async () => {
  const whole = await service.run(file())
  expect(whole).toMatchObject({
    state: 'ready',
    error: null,
    outputs: [{ path: 'files/a.mp4' }, { path: 'files/b.mp4' }],
  })
  const id = await service.create(file())
  const victim = await soon(copying)
  process.kill(victim.pid, 'SIGKILL')
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null })
  expect(status.outputs.map(({ sha256 }) => sha256)).toEqual(whole.outputs.map(({ sha256 }) => sha256))
  const { attempts } = (await (await service.call(`/api/v0/job/${id}/log`)).json()) as {
    attempts: { attempt: number }[]
  }
  // One divides, one was killed, one made the copy.
  expect(Math.max(...attempts.map(({ attempt }) => attempt))).toBeGreaterThan(2)
  await nothingLeft(status)
})

test('a runtime that is killed while chunks run', async () => {
  const id = await service.create(divided())
  await running(id)
  const pid = service.runtime()?.pid
  expect(pid).toBeDefined()
  process.kill(pid!, 'SIGKILL')
  await waitFor('the service to serve', () => service.isServing())
  const status = await service.waitForEnd(id)
  expect(await decodeOutputs(status)).toEqual(undisturbed)
  await nothingLeft(status)
})

test('a divided job that is cancelled leaves nothing behind', async () => {
  const id = await service.create(divided())
  await running(id)
  expect((await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBeLessThan(300)
  const end = await service.waitForEnd(id)
  expect(end).toMatchObject({ state: 'cancelled' })
  await nothingLeft(end)
})
