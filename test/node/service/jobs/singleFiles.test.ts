import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { decodeFrames, makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
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

test.each(['', 'x'])('the polling client of the specification gets its files (password "%s")', async (password) => {
  const authorization = `Basic ${btoa(`${service.ready.api_key}:${password}`)}`
  const input = await service.upload(tempDir.file('clip.mp4'))
  const created = await fetch(`${service.base}/api/v0/job`, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(
      jobRequest(input, 'file-upload', {
        videoProfiles: [
          { output: 'a.mp4', width: 320, height: 180, video_bitrate: 400 },
          { output: 'b/b.mp4', width: 160, height: 90, video_bitrate: 150 },
        ],
      }),
    ),
  })
  expect(created.status).toBe(200)
  const id = ((await created.json()) as { _auto_generated_id_: number })._auto_generated_id_

  const seen: [number, number][] = []
  const job = await waitFor('the job to end', async () => {
    const response = await fetch(`${service.base}/api/v0/job/${id}`, { headers: { Authorization: authorization } })
    expect(response.status).toBe(200)
    const body: any = await response.json()
    seen.push([Number(body.status.tcode_progress), Number(body.status.xfer_progress)])
    return body.status.job_completed === true ? body : null
  })
  for (const [index, [transcoded, transferred]] of seen.entries()) {
    expect(transcoded).toBeGreaterThanOrEqual(seen[index - 1]?.[0] ?? 0)
    expect(transferred).toBeGreaterThanOrEqual(seen[index - 1]?.[1] ?? 0)
  }
  expect(seen.at(-1)).toEqual([100, 100])
  expect(job.status).toMatchObject({ state: 'ready', error: null, phase: 'done' })
  expect(job.config.input).toBe(input)
  expect(job.status.outputs.map((output: any) => output.path)).toEqual(['a.mp4', 'b/b.mp4'])

  for (const [index, output] of job.status.outputs.entries()) {
    const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer())
    expect(bytes.length).toBe(output.size)
    const path = tempDir.file(`out${password}${index}.mp4`)
    await writeFile(path, bytes)
    const { streams, format } = await probeFile(path)
    expect(streams.map((stream) => stream.codec_name)).toEqual(['h264', 'aac'])
    expect(streams[0]).toMatchObject(index === 0 ? { width: 320, height: 180 } : { width: 160, height: 90 })
    expect(Math.abs(Number(format.duration) - 8)).toBeLessThan(0.2)
    expect(await decodeFrames(path)).toHaveLength(200)
  }
  expect(await service.workDirEntries()).toEqual([])
})

test('a file without audio is transcoded when no audio is requested', async () => {
  const clip = await makeClip(tempDir.file('silent.mp4'), { seconds: 2, audio: [] })
  const id = await service.create(jobRequest(await service.upload(clip), 'file-upload', { audioProfiles: [] }))
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
})

// ts: through our own multiplexer, at a constant rate.
test.each<[string, Record<string, string>]>([
  ['mp4', {}],
  ['ts', { output_container: 'ts', video_bitrate_mode: 'cbr' }],
])('cancel ends ffmpeg, and the next job runs (%s)', async (_container, change) => {
  media.pauseAt(0.6)
  const id = await service.create(jobRequest(media.url, 'http', change))
  await service.waitForEncoding(id)
  expect(service.encoders()).toHaveLength(1)
  const response = await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  expect(response.status).toBe(200)
  await waitFor('ffmpeg to end', () => service.encoders().length === 0)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
  expect(await service.status(id)).toMatchObject({ state: 'cancelled', job_completed: true, outputs: [] })
  media.resume()
  const next = await service.create(jobRequest(media.url, 'http', change))
  expect(await service.waitForEnd(next)).toMatchObject({ state: 'ready', error: null })
  // A cancelled job stays cancelled.
  expect(await service.status(id)).toMatchObject({ state: 'cancelled' })
})
