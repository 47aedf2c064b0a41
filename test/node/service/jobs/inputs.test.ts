import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeClip, workspace } from '../../../support/media/media.ts'
import { MediaServer } from '../../../support/http/pausableFileServer.ts'
import { jobOf, Service, until } from '../../../support/service.ts'

let service: Service
let listed: MediaServer
let unlisted: MediaServer
let space: Awaited<ReturnType<typeof workspace>>
beforeAll(async () => {
  space = await workspace()
  const clip = await makeClip(space.file('clip.mp4'), { seconds: 3, flags: ['-movflags', '+faststart'] })
  listed = await MediaServer.start(clip)
  unlisted = await MediaServer.start(clip)
  service = await Service.start({ ALLOW_PRIVATE_HOSTS: listed.host })
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await listed?.[Symbol.asyncDispose]()
  await unlisted?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})

describe('a source that cannot be used ends the job with its code, and nothing is left behind', () => {
  const cut = async (name: string, fraction: number, flags: string[]): Promise<string> => {
    const whole = await readFile(await makeClip(space.file(`whole-${name}`), { seconds: 4, flags }))
    await writeFile(space.file(name), whole.subarray(0, Math.floor(whole.length * fraction)))
    return space.file(name)
  }
  const cases: { title: string; code: string; source: () => Promise<string>; change?: object }[] = [
    {
      title: 'text that is named .mp4',
      code: 'source_not_media',
      source: async () => {
        await writeFile(space.file('text.mp4'), 'This is not a film.\n'.repeat(500))
        return space.file('text.mp4')
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
      source: async () => space.file('clip.mp4'),
      change: { audioProfiles: [{ source_stream: '3' }] },
    },
  ]
  test.each(cases)('$title: $code', async ({ code, source, change }) => {
    const id = await service.create(jobOf(await service.upload(await source()), 'file-upload', change))
    const status = await service.ended(id)
    expect(status).toMatchObject({ state: 'error', job_completed: true, outputs: [], error: { code } })
    expect(status.error?.message).toMatch(/^\w+ \w+ /)
    await until('the scratch space to be empty', async () => (await service.leftOver()).length === 0)
    expect(service.encoders()).toEqual([])
  })
})

describe('an input by http', () => {
  test('is read from a private host that ALLOW_PRIVATE_HOSTS names', async () => {
    const status = await service.ended(await service.create(jobOf(listed.url, 'http')))
    expect(status).toMatchObject({ state: 'ready', error: null })
    expect(listed.requests).toBeGreaterThan(0)
  })

  test.each([
    ['a private address', () => unlisted.url],
    ['a name that leads to one', () => unlisted.url.replace('127.0.0.1', 'localhost')],
  ])('is refused from any other, which sees no request: %s', async (_title, url) => {
    const status = await service.ended(await service.create(jobOf(url(), 'http')))
    expect(status).toMatchObject({ state: 'error', error: { code: 'source_address_refused' } })
    expect(unlisted.requests).toBe(0)
  })
})
