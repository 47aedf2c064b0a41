// In charge of: the pages of docs/play.md, in a browser and on an origin of their own: what they frame or load plays there.
// Not in charge of: the service's own players (dashboard/player.test.ts).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Share } from '#contract/answers.ts'
import type { PublicStatus } from '#contract/status.ts'
import { launch, requireChromium, visit } from '../dashboard/browser.ts'
import { makeClip, workspace } from '../media.ts'
import { findChromium } from '../players/browser.ts'
import { ROOT, Service, until } from '../service/service.ts'
import { Site } from '../service/site.ts'
import { readBlocks } from './readme.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let site: Site
let space: Awaited<ReturnType<typeof workspace>>
let outputs: PublicStatus['outputs']
let poster: string
let share: Share
let page: string
beforeAll(async () => {
  if (chromium === null) return
  page = await readFile(join(ROOT, 'docs/play.md'), 'utf8')
  space = await workspace()
  await makeClip(space.file('film.mp4'), { width: 320, height: 180, seconds: 6, audio: [2] })
  site = await Site.start()
  service = await Service.start({ LEASE_SECONDS: '30' })
  browser = await launch(chromium)
  const input = await service.upload(space.file('film.mp4'))
  const make = async (output_container: 'hls' | 'mp4'): Promise<[number, PublicStatus]> => {
    const id = await service.create({
      input,
      output_container,
      ladder: 'auto',
      audioProfiles: [{ source_stream: 1, optional: true }],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    })
    const ended = await service.ended(id)
    if (ended.error) throw new Error(ended.error.message)
    return [id, ended]
  }
  const [[id, hls], [, mp4]] = [await make('hls'), await make('mp4')]
  outputs = [...hls.outputs, ...mp4.outputs]
  poster = mp4.poster?.url ?? ''
  share = (await (await service.call(`/api/v0/job/${id}/share`, { method: 'POST' })).json()) as Share
})
afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  await site?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})
beforeEach((context) => requireChromium(context, chromium))

/** The example below a heading, on a page of the site, with the addresses of a real job. */
async function open(heading: string, addresses: Record<string, string>): Promise<Page> {
  let html = readBlocks(page).find((block) => block.heading === heading && block.language === 'html')!.text
  for (const [name, address] of Object.entries(addresses)) {
    expect(html).toContain(name)
    html = html.replaceAll(name, address)
  }
  site.files.set('/page.html', Buffer.from(`<!doctype html><title>A page</title>${html}`))
  site.types.set('/page.html', 'text/html')
  const visited = await visit(browser, site.url)
  await visited.page.goto(`${site.url}/page.html`)
  return visited.page
}

const address = (matches: (output: PublicStatus['outputs'][number]) => boolean): string => {
  const { url } = outputs.find(matches)!
  return url
}

/** (As text: this runs in the page, whose types are not Node's.) */
const plays = (frame: Page | Frame) =>
  until('the video to play', () =>
    frame.evaluate<boolean>(`(async () => {
      const video = document.querySelector('video')
      if (video === null) return false
      video.loop = true
      video.muted = true
      await video.play().catch(() => undefined)
      return video.currentTime > 0.3 && video.getVideoPlaybackQuality().totalVideoFrames > 10
    })()`),
  )

test('the iframe shows the share’s player', async () => {
  const embedded = await open('An iframe', { 'https://transcode.example.com/s/TOKEN/embed': share.embed_url })
  const frame = await until('the frame to be loaded', () =>
    embedded.frames().find((one) => one.url() === share.embed_url),
  )
  await frame.getByRole('button', { name: /^Play/ }).first().click()
  await plays(frame)
  expect(share.embed_html).toContain(`src="${share.embed_url}"`)
})

test('the video element plays a file', async () => {
  const file = address(({ role, content_type: type }) => role === 'media' && type === 'video/mp4')
  const shown = await open('A file', { FILE_URL: file, POSTER_URL: poster })
  await plays(shown)
  expect((await fetch(poster)).headers.get('content-type')).toBe('image/jpeg')
})

test('the lines for hls.js play the master playlist, with the version that the tests have', async () => {
  const require = createRequire(import.meta.url)
  const { version } = require('hls.js/package.json') as { version: string }
  expect(page).toContain(`https://cdn.jsdelivr.net/npm/hls.js@${version}"`)
  const library = await readFile(join(require.resolve('hls.js/package.json'), '../dist/hls.min.js'))
  site.files.set('/hls.js', library)
  site.types.set('/hls.js', 'text/javascript')
  await plays(
    await open('HLS with hls.js', {
      MASTER_URL: address(({ path }) => path.endsWith('master.m3u8')),
      [`https://cdn.jsdelivr.net/npm/hls.js@${version}`]: `${site.url}/hls.js`,
    }),
  )
})
