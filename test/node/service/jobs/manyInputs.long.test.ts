// In charge of: a job of 100 sources through the whole service: its frames, how many connections it opens at once,
// and cancelling.
// Not in charge of: several stores (joinedInputs.test.ts).
import { createReadStream } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

const PIECES = 100

test('100 sources are opened a few at a time, and each gives its frame', async () => {
  await using tempDir = await tempDirectory()
  const clip = await makeNumberedClip(tempDir.file('clip.mp4'), { seconds: 5 })
  const { size } = await stat(clip)
  let open = 0
  let mostOpen = 0
  await using web = await LoopbackServer.serve((request, response) => {
    const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? 'bytes=0-') ?? []
    const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
    open += 1
    mostOpen = Math.max(mostOpen, open)
    response.on('close', () => (open -= 1))
    response.writeHead(206, {
      etag: '"1"',
      'content-length': String(end - Number(first) + 1),
      'content-range': `bytes ${first}-${end}/${size}`,
    })
    createReadStream(clip, { start: Number(first), end }).pipe(response)
  })
  await using service = await Service.start({ ALLOW_PRIVATE_HOSTS: web.host })
  const numbers = Array.from({ length: PIECES }, (_, index) => index)
  const inputs = numbers.map((number) => ({
    input: `${web.url}/${number}.mp4`,
    start_seconds: number / 25,
    end_seconds: (number + 1) / 25,
  }))
  const { input: _input, ...body } = jobRequest('', 'http', {
    videoProfiles: [{ output: 'many.mp4', width: 192, height: 48, video_bitrate: 500 }],
    audioProfiles: [],
  }) as Record<string, unknown>
  const status = await service.run({ ...body, inputs })
  expect(status, JSON.stringify(status.error)).toMatchObject({ state: 'ready', error: null })
  expect(mostOpen).toBeLessThan(8)
  const bytes = Buffer.from(await (await fetch(status.outputs[0]?.url ?? '')).arrayBuffer())
  await writeFile(tempDir.file('many.mp4'), bytes)
  expect(await frameNumbers(tempDir.file('many.mp4'))).toEqual(numbers)
})

test('cancelled while an input is decoded, nothing runs on and nothing is left', async () => {
  await using tempDir = await tempDirectory()
  await using service = await Service.start()
  const upload = await service.upload(await makeNumberedClip(tempDir.file('long.mp4'), { seconds: 160 }))
  const { input: _input, ...body } = jobRequest('', 'file-upload') as Record<string, unknown>
  const id = await service.create({ ...body, inputs: Array.from({ length: 20 }, () => ({ input: upload })) })
  // The encoder and the decoder of a piece.
  await waitFor('two programs of ffmpeg', async () => service.encoders().length >= 2)
  await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'cancelled' })
  await waitFor('the programs to end', async () => service.encoders().length === 0)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
})
