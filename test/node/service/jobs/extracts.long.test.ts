// Stills, an animated preview and a waveform through the real service: a job that makes nothing else, its dry run, its
// webhook-independent outputs, and one that is refused.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { Service } from '../../../support/service.ts'

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  service = resources.use(await Service.start())
  input = await service.upload(await makeNumberedClip(tempDir.file('film.mp4'), { seconds: 10 }))
})

const request = (members: object): object => ({
  input,
  cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  ...members,
})

const EXTRACTS = {
  stills: [{ at_seconds: [4, 2.2] }, { at_seconds: 7.96, format: 'webp', output: 'images/cover.webp' }],
  animated_preview: { format: 'gif', seconds: 1, parts: 2, width: 192 },
  waveform: { pixels_per_second: 10 },
}
const FILES: [path: string, role: string, type: string][] = [
  ['upload_still_0_0001.jpg', 'still', 'image/jpeg'],
  ['upload_still_0_0002.jpg', 'still', 'image/jpeg'],
  ['images/cover.webp', 'still', 'image/webp'],
  ['upload_preview.gif', 'preview', 'image/gif'],
  ['upload_waveform.json', 'waveform', 'application/json'],
]

test('a job makes nothing but stills, a preview and a waveform', async () => {
  const id = await service.create(request(EXTRACTS))
  const status: any = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null, warnings: [] })
  expect(status.outputs.map(({ path, role, content_type: type }: any) => [path, role, type])).toEqual(FILES)
  const frames: Record<string, number[]> = {}
  for (const { path, url, size, sha256, content_type: type } of status.outputs) {
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toBe(type)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([size, sha256])
    const file = tempDir.file(path.replace('/', '_'))
    await writeFile(file, bytes)
    if (type.startsWith('image/')) frames[path] = await frameNumbers(file)
    else expect(JSON.parse(bytes.toString())).toMatchObject({ version: 2, bits: 8, channels: 1, length: 101 })
  }
  expect(frames).toEqual({
    'upload_still_0_0001.jpg': [55],
    'upload_still_0_0002.jpg': [100],
    'images/cover.webp': [199],
    'upload_preview.gif': [56, 58, 61, 63, 66, 181, 183, 186, 188, 191],
  })
})

test('a dry run lists the same names', async () => {
  const answer = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request(EXTRACTS)),
  })
  const id = ((await answer.json()) as { _auto_generated_id_: number })._auto_generated_id_
  const status: any = await service.waitForEnd(id)
  expect(status.estimate.plan.outputs.map(({ path }: any) => path)).toEqual(FILES.map(([path]) => path))
  expect(status.estimate.predicted.output_bytes.likely).toBeGreaterThan(1000)
  expect(status.outputs).toEqual([])
})

test('times that no source can have fail the job before anything is stored', async () => {
  const id = await service.create(request({ stills: [{ at_seconds: 5000 }] }))
  const status: any = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'error', outputs: [], error: { code: 'cut_outside_source', field: 'stills' } })
})
