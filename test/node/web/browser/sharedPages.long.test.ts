// In charge of: share pages in a browser without a key: they play HLS, DASH and files, by themselves, in an iframe of
// another origin, and in the examples of docs/your-site.md; and they look right in every colour scheme.
// Not in charge of: who may open them (test/worker/delivery/shares.test.ts).
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Frame, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Share, SharedMedia } from '#contract/api/answers.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { PLAYER_CLIP, makePlayerClip } from '../../../support/media/playerClip.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'
import { launchChromium, requireChromium, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectText,
  expectTitle,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
/** Has another origin than the service. */
let site: LoopbackServer
let elsewhere: string
const pages = new Map<string, string>()
let hls: Share & { job: number }
let files: Share & { job: number }

async function share(job: number, body: object): Promise<Share & { job: number }> {
  const answer = await service.call(`/api/v0/job/${job}/share`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { ...((await answer.json()) as Share), job }
}

const rungs = [
  { output: 'high', width: 320, height: 180, video_bitrate: 600 },
  { output: 'low', width: 160, height: 90, video_bitrate: 150 },
]

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  // The captions are shown for most of the clip.
  const clip = await makePlayerClip(tempDir.file, PLAYER_CLIP.rate * 6)
  const plain = await makeClip(tempDir.file('plain.mp4'), { width: 320, height: 180, seconds: 5, audio: [2] })
  service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
  const segmented = await service.create(
    jobRequest(await service.upload(clip), 'file-upload', {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      closed_captions: true,
      segment_length: 2,
      gop_length: 1,
      videoProfiles: rungs,
    }),
  )
  const single = await service.create(
    jobRequest(await service.upload(plain), 'file-upload', {
      videoProfiles: rungs.map((rung) => ({ ...rung, output: `${rung.output}.mp4` })),
    }),
  )
  for (const id of [segmented, single]) {
    const { error } = await service.waitForEnd(id)
    if (error !== null) throw new Error(`job ${id}: ${error.message}`)
  }
  hls = await share(segmented, { title: 'Our <b>film</b>' })
  files = await share(single, { title: 'Two versions' })
  const player = await readFile(createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js'))
  site = resources.use(
    await LoopbackServer.serve((request, response) => {
      const page = pages.get(request.url ?? '')
      const isPlayer = request.url === '/hls.min.js'
      response.setHeader('content-type', isPlayer ? 'text/javascript' : 'text/html; charset=utf-8')
      response.writeHead(isPlayer || page !== undefined ? 200 : 204)
      response.end(isPlayer ? player : (page ?? ''))
    }),
  )
  elsewhere = `http://localhost:${site.port}`
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

// As text: this runs in the page, whose types are not Node's.
const VIDEO = `document.querySelector('video')`
const FRAMES = `${VIDEO}.getVideoPlaybackQuality().totalVideoFrames`
const SHOWN = `[...${VIDEO}.textTracks].filter(({ mode }) => mode === 'showing')
  .flatMap(({ activeCues }) => [...(activeCues ?? [])].map(({ text }) => text)).join(' ')`

/** The time advances and frames are decoded. A short clip loops. */
async function plays(page: Page | Frame, playing = 'true'): Promise<void> {
  const inPage = (expression: string) => waitFor(expression, async () => (await page.evaluate(expression)) === true)
  await inPage(`${VIDEO} !== null && (${VIDEO}.loop = true) && ${playing} && ${VIDEO}.currentTime > 0.2`)
  const before = await page.evaluate<number>(FRAMES)
  await inPage(`${FRAMES} > ${before} + 20`)
}

/** All findings of axe-core, whatever their impact. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join()))`,
  )
}

async function looksRight(page: Page, name: string): Promise<void> {
  await checkAccessibility(page, name)
  await expect.poll(() => findings(page), { message: name }).toEqual([])
}

const playButton = (page: Page | Frame) => page.getByRole('button', { name: /^Play (?!again)/ })
/** Chooses from a menu of the player. */
async function choose(page: Page | Frame, menu: string, label: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitemradio', { name: label, exact: true }).click()
}

test.for(APPEARANCES)('the page and its 404 pass the accessibility checks: %s', async ([name, options]) => {
  const { page, complaints } = await openDashboard(browser, service.base, options)
  await page.goto(hls.url)
  await playButton(page).waitFor()
  await looksRight(page, `share-${name}`)
  await playButton(page).click()
  await plays(page)
  await looksRight(page, `share-playing-${name}`)
  await page.goto(files.url)
  await page.getByRole('heading', { name: 'Downloads' }).waitFor()
  await looksRight(page, `share-files-${name}`)
  expect(await complaints()).toEqual([])
  await page.goto(hls.url.slice(0, -1))
  await expectText(page.getByRole('heading')).toBe('This video is not available')
  await looksRight(page, `share-gone-${name}`)
})

test('HLS plays without a key, with quality and captions; the keyboard is enough', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  const keys: string[] = []
  page.on('request', (request) => {
    if (request.headers()['authorization'] !== undefined) keys.push(request.url())
  })
  await page.goto(hls.url)
  await expectTitle(page).toBe('Our <b>film</b>')
  await expectText(page.getByRole('heading', { level: 1 })).toBe('Our <b>film</b>')
  await playButton(page).waitFor()
  // The link preview of other sites.
  const preview = page.locator('meta[property="og:image"]')
  await expectAttribute(preview, 'content').toMatch(new RegExp(`^${service.base}/p/`))
  // Nothing of the player is loaded before playback starts.
  await expectInPage(page, `performance.getEntriesByType('resource').some(({ name }) => name.includes('shaka'))`).toBe(
    false,
  )
  await page.keyboard.press('Tab')
  await expectFocus(page, 'ariaLabel').toBe('Play Our <b>film</b>')
  await page.keyboard.press('Enter')
  await plays(page)
  await expectFocus(page, 'ariaLabel').toBe('Pause')
  for (const height of [90, 180]) {
    await choose(page, 'Settings', `${height}p`)
    await expectInPage(page, `${VIDEO}.videoHeight`).toBe(height)
  }
  await expectInPage(page, SHOWN).toBe('')
  await choose(page, 'Captions', 'Captions')
  await expectInPage(page, SHOWN).toContain(PLAYER_CLIP.caption)
  await choose(page, 'Captions', 'Off')
  await expectInPage(page, SHOWN).toBe('')
  expect(keys).toEqual([])
  expect(await complaints()).toEqual([])
})

test('files play, each version from where the other was, and can be downloaded; the link can be copied', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(files.url)
  await playButton(page).click()
  await plays(page)
  await page.evaluate(`${VIDEO}.pause(); ${VIDEO}.currentTime = 3`)
  await page.getByRole('combobox', { name: 'Version' }).selectOption({ label: 'low.mp4' })
  await expectInPage(page, `${VIDEO}.videoHeight`).toBe(90)
  await expectInPage(page, `${VIDEO}.currentTime >= 3`).toBe(true)
  await plays(page)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'high.mp4' }).click()
  expect((await download).suggestedFilename()).toBe('high.mp4')
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByRole('button', { name: 'Link copied' }).waitFor()
  await expectInPage(page, 'navigator.clipboard.readText()').toBe(files.url)
  expect(await complaints()).toEqual([])
})

test('where HLS fails, DASH plays', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.route('**/master.m3u8', (route) => route.fulfill({ status: 500, body: '' }))
  await page.goto(hls.url)
  await playButton(page).click()
  await plays(page)
  await expectInPage(
    page,
    `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('manifest.mpd'))`,
  ).toBe(true)
})

test('a password opens the page; where the addresses have expired, it goes on with new ones', async () => {
  const locked = await share(hls.job, { password: 'opening night' })
  const { page } = await openDashboard(browser, service.base)
  let reads = 0
  await page.route('**/data', async (route) => {
    const answer = await route.fetch()
    if (!answer.ok()) return route.fulfill({ response: answer })
    const media = (await answer.json()) as SharedMedia
    reads++
    if (reads > 1) return route.fulfill({ response: answer, json: media })
    const stale = media.sources.map((source) => ({ ...source, url: source.url.replace(/\/o\/\d+/, '/o/1') }))
    return route.fulfill({
      response: answer,
      json: { ...media, sources: stale, addresses_expire_at: '2026-01-01T00:00:00.000Z' },
    })
  })
  await page.goto(locked.url)
  await expectText(page.getByRole('heading')).toBe('This video needs a password')
  await looksRight(page, 'share-locked')
  await page.getByLabel('Password').fill('a wrong one')
  await page.keyboard.press('Enter')
  await expectText(page.getByRole('alert')).toContain('The password is wrong.')
  await looksRight(page, 'share-wrong-password')
  await page.getByLabel('Password').fill('opening night')
  await page.getByRole('button', { name: 'Watch' }).click()
  await playButton(page).click()
  await plays(page)
  expect(reads).toBe(2)
})

test('a page of another origin frames the player, and not the page', async () => {
  pages.set('/embed.html', `<!doctype html><html lang="en"><title>x</title><main><h1>Ours</h1>${hls.embed_html}</main>`)
  pages.set('/page.html', `<!doctype html><html lang="en"><title>x</title><iframe src="${hls.url}"></iframe>`)
  const { page, complaints } = await openDashboard(browser, elsewhere)
  await page.goto('/embed.html')
  const frame = page.frame({ url: hls.embed_url }) ?? (await page.waitForEvent('framenavigated'))
  await playButton(frame).click()
  await plays(frame)
  await choose(frame, 'Settings', '90p')
  await waitFor('the low rendition', () => frame.evaluate(`${VIDEO}.videoHeight === 90`))
  await checkAccessibility(page, 'share-embed')
  expect(await complaints()).toEqual([])
  await page.goto('/page.html')
  await expect.poll(complaints).toContainEqual(expect.stringContaining('frame-ancestors'))
})

test('a share that is revoked ends for those who come back', async () => {
  const made = await share(files.job, {})
  const { page } = await openDashboard(browser, service.base)
  await page.goto(made.url)
  await playButton(page).waitFor()
  const gone = await service.call(`/api/v0/job/${made.job}/share/${made.share_id}`, { method: 'DELETE' })
  expect(gone.status).toBe(204)
  await page.reload()
  await expectText(page.getByRole('heading')).toBe('This video is not available')
  await expectCount(page.getByRole('button')).toBe(0)
})

test('the examples of docs/your-site.md play in a page of another origin', async () => {
  const text = await readFile(join(ROOT, 'docs/your-site.md'), 'utf8')
  const blocks = [...text.matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
  expect(blocks).toHaveLength(3)
  for (const [index, block] of blocks.entries()) {
    const { url } = block.includes("'hls'") || block.includes('<iframe') ? hls : files
    const filled = block.replaceAll(/https:\/\/video\.example\.com\/s\/…/g, url)
    expect(filled).not.toBe(block)
    pages.set(`/example-${index}.html`, `<!doctype html><html lang="en"><title>x</title>${filled}`)
    const { page, complaints } = await openDashboard(browser, elsewhere)
    await page.goto(`/example-${index}.html`)
    if (block.includes('<iframe')) {
      const frame = page.frame({ url: hls.embed_url }) ?? (await page.waitForEvent('framenavigated'))
      await playButton(frame).click()
      await plays(frame)
    } else await plays(page, `(${VIDEO}.play().catch(() => undefined), true)`)
    expect(await complaints()).toEqual([])
  }
})
