// In charge of: dry runs against the real service: the job then does what they predict, and they write nothing.
import { readdir, writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let service: Service
let media: PausableFileServer
let broken: PausableFileServer
let held: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  media = resources.use(
    await PausableFileServer.start(
      await makeClip(tempDir.file('clip.mp4'), { seconds: 6, audio: [2, 6], flags: ['-movflags', '+faststart'] }),
    ),
  )
  await writeFile(tempDir.file('broken.mp4'), Buffer.alloc(4000, 'no film '))
  broken = resources.use(await PausableFileServer.start(tempDir.file('broken.mp4')))
  held = resources.use(await PausableFileServer.start(tempDir.file('clip.mp4')))
  const hosts = [media, broken, held].map(({ host }) => host).join(',')
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: hosts, DRY_RUN_TRANSCODERS: '1' }))
})

async function dryRun(body: object): Promise<number> {
  const response = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  const created: any = await response.json()
  expect(created).toMatchObject({ dry_run: true, status: { dry_run: true, estimate: null } })
  return created._auto_generated_id_
}

/** All objects in the object store. */
async function stored(): Promise<string[]> {
  const entries = await readdir(`${service.stateDir}/v3/r2`, { recursive: true }).catch(() => [])
  return entries.filter((name) => name.includes('/blobs/')).toSorted()
}

const body = () =>
  jobRequest(media.url, 'http', {
    videoProfiles: [
      { output: 'vbr.mp4', width: 320, height: 180, video_bitrate: 400 },
      { output: 'cbr.mp4', width: 160, height: 0, video_bitrate: 150, video_bitrate_mode: 'cbr' },
      { output: 'qvbr.mp4', width: 320, height: 180, video_bitrate: 600, video_bitrate_mode: 'qvbr' },
    ],
    audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 2 }],
    gop_length: 2,
  })

test('a dry run does not wait for the job that holds the only transcoder for jobs', async () => {
  held.pauseAt(0.5)
  const job = await service.create(jobRequest(held.url, 'http'))
  await expect.poll(async () => (await service.status(job))?.state).toBe('running')
  expect(await service.waitForEnd(await dryRun(body()))).toMatchObject({ state: 'ready', error: null })
  expect(await service.status(job)).toMatchObject({ state: 'running' })
  held.resume()
  expect(await service.waitForEnd(job)).toMatchObject({ state: 'ready', error: null })
})

test('a dry run predicts what the job then does, and stores only its poster and log', async () => {
  const before = await stored()
  const dry = await service.waitForEnd(await dryRun(body()))
  expect(dry).toMatchObject({ state: 'ready', error: null, dry_run: true, outputs: [], tcode_time: null })
  const estimate = dry.estimate as Estimate
  expect(estimate.probe).toMatchObject({
    video: { codec: 'h264', width: 320, height: 180, frame_rate: '25/1', scan: 'progressive', hdr: false },
    audio: [{ channels: 2 }, { source_stream: 2, codec: 'aac', channels: 6 }],
  })
  expect(estimate.probe.duration_seconds).toBeCloseTo(6, 1)
  // What is stored about any job, and nothing else.
  expect((await stored()).filter((name) => !before.includes(name))).toHaveLength(2)
  expect(dry.source).toEqual(estimate.probe)
  const poster = await fetch(dry.poster!.url)
  expect([poster.status, poster.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  expect(dry.poster).toMatchObject({ width: 320, height: 180 })
  expect(await service.workDirEntries()).toEqual([])

  const real = await service.run(body())
  expect(real).toMatchObject({ error: null, dry_run: false, estimate: null })
  expect((await stored()).length).toBeGreaterThan(before.length)
  expect(real.warnings).toEqual(dry.warnings)
  expect(estimate.warnings.every((warning) => real.warnings.some(({ message }) => message === warning.message))).toBe(
    true,
  )
  expect(estimate.plan.outputs.map(({ path }) => path)).toEqual(real.outputs.map(({ path }) => path))
  for (const [index, output] of real.outputs.entries()) {
    const planned = estimate.plan.outputs[index]!
    expect(output.size).toBeLessThanOrEqual(planned.output_bytes!.high)
    expect(output.size).toBeGreaterThanOrEqual(planned.output_bytes!.low)
    const path = tempDir.file(output.path)
    await writeFile(path, Buffer.from(await (await fetch(output.url!)).arrayBuffer()))
    const { streams } = await probeFile(path)
    expect(streams[0]).toMatchObject({
      width: planned.video!.width,
      height: planned.video!.height,
      r_frame_rate: planned.video!.frame_rate,
    })
    expect(streams.slice(1).map((stream) => stream.codec_name)).toEqual(planned.audio.map(({ codec }) => codec))
  }
})

test('a dry run outlives SIGKILL of its transcoder', async () => {
  media.pauseAt(0)
  const id = await dryRun(body())
  await waitFor('it to probe', async () => (await service.status(id))?.phase === 'probing')
  const killedProcess = service.transcoder()!.pid
  process.kill(killedProcess, 'SIGKILL')
  await waitFor('it to be back', () => (service.transcoder()?.pid ?? killedProcess) !== killedProcess)
  media.resume()
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null, estimate: { version: 1 } })
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
})

test.each([
  ['a source that is no media', () => jobRequest(broken.url, 'http')],
  [
    'a stream that is not there',
    () =>
      jobRequest(media.url, 'http', {
        audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 5 }],
      }),
  ],
])('%s ends the dry run in the error of the job', async (_name, make) => {
  const dry = await service.waitForEnd(await dryRun(make()))
  const real = await service.run(make())
  expect(dry).toMatchObject({ state: 'error', estimate: null })
  expect(dry.error).toEqual(real.error)
  expect(dry.error?.code).toMatch(/^(source_not_media|audio_stream_missing)$/)
})
