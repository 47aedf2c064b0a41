import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let service: Service
let listed: PausableFileServer
let unlisted: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 3, flags: ['-movflags', '+faststart'] })
  listed = resources.use(await PausableFileServer.start(clip))
  unlisted = resources.use(await PausableFileServer.start(clip))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: listed.host }))
})

describe('a source that cannot be used ends the job with its code, and nothing is left behind', () => {
  const cut = async (name: string, fraction: number, flags: string[]): Promise<string> => {
    const whole = await readFile(await makeClip(tempDir.file(`whole-${name}`), { seconds: 4, flags }))
    await writeFile(tempDir.file(name), whole.subarray(0, Math.floor(whole.length * fraction)))
    return tempDir.file(name)
  }
  const cases: { title: string; code: string; source: () => Promise<string>; change?: object }[] = [
    {
      title: 'text that is named .mp4',
      code: 'source_not_media',
      source: async () => {
        await writeFile(tempDir.file('text.mp4'), 'This is not a film.\n'.repeat(500))
        return tempDir.file('text.mp4')
      },
    },
    {
      title: 'an mp4 whose index was cut off',
      code: 'source_damaged',
      source: () => cut('no-index.mp4', 0.7, []),
    },
    {
      title: 'an mp4 whose second half is missing',
      code: 'source_damaged',
      source: () => cut('half.mp4', 0.5, ['-movflags', '+faststart']),
    },
    {
      title: 'a source_stream that is not there',
      code: 'audio_stream_missing',
      source: async () => tempDir.file('clip.mp4'),
      change: { audioProfiles: [{ source_stream: '3' }] },
    },
  ]
  test.each(cases)('$title: $code', async ({ code, source, change }) => {
    const id = await service.create(jobRequest(await service.upload(await source()), 'file-upload', change))
    const status = await service.waitForEnd(id)
    expect(status).toMatchObject({ state: 'error', job_completed: true, outputs: [], error: { code } })
    expect(status.error?.message).toMatch(/^\w+ \w+ /)
    await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
    expect(service.encoders()).toEqual([])
  })
})

describe('an input by http', () => {
  test('is read from a private host that ALLOW_PRIVATE_HOSTS names', async () => {
    const status = await service.run(jobRequest(listed.url, 'http'))
    expect(status).toMatchObject({ state: 'ready', error: null })
    expect(listed.requests).toBeGreaterThan(0)
  })

  test.each([
    ['a private address', () => unlisted.url],
    ['a name that leads to one', () => unlisted.url.replace('127.0.0.1', 'localhost')],
  ])('is refused in the request from any other, which sees none: %s', async (_title, url) => {
    const body = JSON.stringify(jobRequest(url(), 'http'))
    const headers = { 'content-type': 'application/json' }
    const answer = await service.call('/api/v0/job', { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { details: [{ code: 'address_refused', field: 'input' }] } },
    ])
    expect(unlisted.requests).toBe(0)
  })
})
