// Burned-in captions through the real service and a transcoder in its sandbox: an uploaded caption file in a ladder of HLS, and
// what its dry run says.
import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { brightBox, greyFrame } from '../../../support/captions/drawnText.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { ffmpeg, lavfi, tempDirectory } from '../../../support/media/media.ts'
import { Service } from '../../../support/service.ts'

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
let captions: object[]
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  service = resources.use(await Service.start())
  const clip = tempDir.file('film.mp4')
  await ffmpeg([...lavfi('color=0x303030:size=640x360:rate=25:duration=4'), '-c:v', 'libx264', clip])
  const text = tempDir.file('film.srt')
  await writeFile(text, '1\n00:00:01,000 --> 00:00:03,000\nText שלום 字幕\n')
  input = await service.upload(clip)
  captions = [{ input: await service.upload(text), language: 'de' }]
})

const request = (members: object = {}): object => ({
  input,
  output_container: 'hls',
  segment_length: 2,
  captions,
  burn_in_captions: { captions: 0 },
  videoProfiles: [
    { output: 'large', width: 640, height: 360, video_bitrate: 900 },
    { output: 'small', width: 320, height: 180, video_bitrate: 300 },
  ],
  audioProfiles: [],
  cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  ...members,
})

test('every rendition shows the text, in its frames only', async () => {
  const status = await service.waitForEnd(await service.create(request()))
  expect(status).toMatchObject({ state: 'ready', error: null, warnings: [] })
  const master = status.outputs.find(({ path }) => path.endsWith('master.m3u8'))!.url!
  for (const [index, [width, height]] of (
    [
      [640, 360],
      [320, 180],
    ] as const
  ).entries()) {
    const size = { width, height }
    const file = tempDir.file(`${width}.mp4`)
    await ffmpeg(['-i', master, '-map', `0:p:${index}:v`, '-c', 'copy', file])
    const boxes = await Promise.all(
      [10, 24, 26, 60, 74, 76].map(async (frame) => brightBox(await greyFrame(file, frame), size)),
    )
    expect(boxes.map((box) => box !== null)).toEqual([false, false, true, true, true, false])
  }
})

test('a dry run says which captions are drawn', async () => {
  const answer = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request()),
  })
  const id = ((await answer.json()) as { _auto_generated_id_: number })._auto_generated_id_
  const { estimate, error } = await service.waitForEnd(id)
  expect(error).toBeNull()
  expect(estimate?.plan.burn_in_captions).toEqual({ kind: 'text', caption: 0, source_track: null, captions: 1 })
})
