// In charge of: bitmap subtitles through the real service and a transcoder in its sandbox: DVB subtitles of an uploaded transport
// stream in two mp4 files, and what the dry run says.
// Not in charge of: places, colours and times of all kinds (transcoder/pipeline/bitmapBurnIn.test.ts).
import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { framesOf, makePages, range, seenInFile, TIMED } from '../../../support/transcoder/bitmapTasks.ts'

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let request: ReturnType<typeof jobRequest>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  service = resources.use(await Service.start())
  await writeFile(tempDir.file('film.ts'), await makePages(tempDir.file, TIMED))
  request = jobRequest(await service.upload(tempDir.file('film.ts')), 'file-upload', {
    burn_in_captions: { source_track: 1 },
    videoProfiles: [
      { output: 'a.mp4', width: 320, height: 180, video_bitrate: 1500 },
      { output: 'b.mp4', width: 160, height: 90, video_bitrate: 900 },
    ],
  })
})

test('each file shows the subtitles in exactly their frames', async () => {
  const status = await service.waitForEnd(await service.create(request))
  expect(status).toMatchObject({ state: 'ready', error: null, warnings: [] })
  for (const [index, width] of [320, 160].entries()) {
    const file = tempDir.file(`${width}.mp4`)
    await writeFile(file, Buffer.from(await (await fetch(status.outputs[index]!.url!)).arrayBuffer()))
    const found = await seenInFile(file, { width, height: (width / 16) * 9 })
    expect(framesOf(found)).toEqual([...range(13, 38), ...range(50, 90)])
  }
})

test('a dry run says what is drawn', async () => {
  const answer = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  const id = ((await answer.json()) as { _auto_generated_id_: number })._auto_generated_id_
  const { estimate, error } = await service.waitForEnd(id)
  expect(error).toBeNull()
  expect(estimate?.plan.burn_in_captions).toEqual({ kind: 'bitmap', caption: null, source_track: 1, captions: 2 })
})
