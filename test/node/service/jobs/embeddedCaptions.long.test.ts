// Captions inside the video through the real service and a transcoder in its sandbox: uploaded files in HLS of one source, and of
// two that are joined.
import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
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
  await ffmpeg([...lavfi('testsrc2=size=320x180:rate=25:duration=3'), '-c:v', 'libx264', '-preset', 'ultrafast', clip])
  const text = tempDir.file('film.srt')
  await writeFile(text, '1\n00:00:01,000 --> 00:00:02,000\nEmbedded\n\n2\n00:00:02,800 --> 00:00:04,000\nÀ la fin\n')
  input = await service.upload(clip)
  captions = [{ input: await service.upload(text), language: 'fr', label: 'Français', embed: 'cea-608' }]
})

test.for(['one source', 'joined sources'] as const)('%s: the frames of HLS carry the text', async (kind) => {
  const status = await service.waitForEnd(
    await service.create({
      ...(kind === 'one source' ? { input } : { inputs: [{ input }, { input }] }),
      output_container: 'hls',
      segment_length: 2,
      captions,
      videoProfiles: [{ output: 'video', width: 320, height: 180, video_bitrate: 400 }],
      audioProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
    }),
  )
  expect(status).toMatchObject({ state: 'ready', error: null, warnings: [] })
  const master = status.outputs.find(({ path }) => path.endsWith('master.m3u8'))!
  expect(await (await fetch(master.url!)).text()).toMatch(
    /TYPE=CLOSED-CAPTIONS,.*NAME="Français",LANGUAGE="fr",.*INSTREAM-ID="CC1"/,
  )
  const file = tempDir.file(`${kind.replace(' ', '_')}.mp4`)
  await ffmpeg(['-i', master.url!, '-map', '0:v:0', '-c', 'copy', file])
  const cues = await readCaptions(file)
  expect(cues.map(({ text }) => text)).toEqual(['Embedded', 'À la fin'])
  expect(cues[1]!.seconds[0]! - cues[0]!.seconds[0]!).toBeCloseTo(1.8, 1)
})
