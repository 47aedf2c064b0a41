// In charge of: the dashboard's player with a real job's outputs from a captioned source: HLS, DASH and a file play
// with video and audio, at the chosen rendition, with captions shown.
// Not in charge of: other players (test/node/players).
import type { Browser, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { PLAYER_CLIP, makePlayerClip } from '../../../support/media/playerClip.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility } from '../../../support/browser/accessibility.ts'
import {
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectTexts,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
/** A completed job with one file. */
let single: number

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  // The captions are shown for most of the clip.
  const clip = await makePlayerClip(tempDir.file, PLAYER_CLIP.rate * 6)
  service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
  input = await service.upload(clip)
  single = await service.create(jobRequest(input, 'file-upload'))
  const { error } = await service.waitForEnd(single)
  if (error !== null) throw new Error(error.message)
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

// As text: this runs in the page, whose types are not Node's.
const VIDEO = `document.querySelector('video')`
const DECODED = `({ pictures: ${VIDEO}.getVideoPlaybackQuality().totalVideoFrames, sound: ${VIDEO}.webkitAudioDecodedByteCount })`
const SHOWN = `[...${VIDEO}.textTracks].filter(({ mode }) => mode === 'showing')
  .flatMap(({ activeCues }) => [...(activeCues ?? [])].map(({ text }) => text)).join(' ')`
const TILE = `(() => {
  const tile = document.querySelector('.player-tile')
  return tile === null ? '' : tile.style.backgroundImage + ' ' + tile.style.backgroundPosition
})()`
/** Measures the peak of the element's audio from now on, through an analyser node. */
const LISTEN = `(() => {
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  context.createMediaElementSource(${VIDEO}).connect(analyser).connect(context.destination)
  const samples = new Float32Array(analyser.fftSize)
  globalThis.loudest = 0
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples)
    for (const sample of samples) globalThis.loudest = Math.max(globalThis.loudest, Math.abs(sample))
  }, 20)
  return context.resume()
})()`

/** The time advances, frames change, and audio is decoded and audible. */
async function plays(page: Page): Promise<void> {
  // The clip has eight seconds, with a beep in each. It loops, so that a slow test does not miss its end.
  await expectInPage(page, `${VIDEO} !== null && (${VIDEO}.loop = true) && ${VIDEO}.currentTime > 0.2`).toBe(true)
  await page.evaluate(LISTEN)
  const before = await page.evaluate<{ pictures: number; sound: number }>(DECODED)
  await expectInPage(page, `${DECODED}.pictures > ${before.pictures + 20}`).toBe(true)
  await expectInPage(page, `${DECODED}.sound > ${before.sound}`).toBe(true)
  await expectInPage<number>(page, 'globalThis.loudest').toBeGreaterThan(0.3)
}

const chooseSource = (page: Page, label: string) => page.getByRole('combobox', { name: 'Play' }).selectOption({ label })
/** Chooses from a menu of the player. */
async function choose(page: Page, menu: string, label: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitemradio', { name: label, exact: typeof label === 'string' }).click()
  await expectCount(page.getByRole('menu')).toBe(0)
}

test('a captioned source plays as HLS and as DASH: captions are offered and shown, renditions can be chosen', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  const id = await service.create(
    jobRequest(input, 'file-upload', {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      closed_captions: true,
      thumbnails: true,
      master_variant_mode: true,
      segment_length: 2,
      gop_length: 1,
      videoProfiles: [
        { output: 'high', width: 320, height: 180, video_bitrate: 600 },
        { output: 'low', width: 160, height: 90, video_bitrate: 150 },
      ],
    }),
  )
  expect((await service.waitForEnd(id)).error).toBeNull()
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  await expectInPage(page, `${VIDEO}.poster`).toMatch(/\/poster\.jpg$/)
  // Nothing of the media is loaded before playback starts.
  await expectInPage(page, `${VIDEO}.readyState + ${VIDEO}.buffered.length`).toBe(0)
  await page.getByRole('button', { name: 'Play HLS' }).click()
  for (const form of ['HLS', 'DASH']) {
    await chooseSource(page, form)
    await plays(page)

    // Offered, and shown only when chosen.
    await page.getByRole('button', { name: 'Captions', exact: true }).click()
    // Listed once, although they are both in the video and in a file, and not by channel number.
    await expectTexts(page.getByRole('menuitemradio')).toEqual(['Off', 'Captions'])
    await page.keyboard.press('Escape')
    await expectFocus(page, 'ariaLabel').toBe('Captions')
    await expectInPage(page, SHOWN).toBe('')
    await choose(page, 'Captions', 'Captions')
    await expectInPage(page, SHOWN).toContain(PLAYER_CLIP.caption)
    if (form === 'HLS') await checkAccessibility(page, 'job-captions')

    for (const height of [90, 180]) {
      await choose(page, 'Settings', `${height}p`)
      await expectInPage(page, `${VIDEO}.videoHeight`).toBe(height)
    }
    await expectInPage(page, SHOWN).toContain(PLAYER_CLIP.caption)
    await choose(page, 'Captions', 'Off')
    await expectInPage(page, SHOWN).toBe('')
  }
  // The preview image at the pointer, from the sprite sheet of the storyboard.
  const seek = page.getByRole('slider', { name: 'Seek' })
  await seek.hover()
  await expectInPage(page, TILE).toMatch(/\/thumbnails\/[^ ]+\.jpg"?\) -\d+px -?\d+px$/)
  await expectInPage(page, `document.querySelector('.player-preview').textContent`).toBe('0:04')
  expect(await complaints()).toEqual([])
})

test('a file plays, with nothing to choose but its speed, and by the keyboard alone', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  await page.goto(`/jobs/${single}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('button', { name: 'Play video.mp4' }).press('Enter')
  // The start button is removed; the pause button takes its place in the tab order.
  await expectFocus(page, 'ariaLabel').toBe('Pause')
  await plays(page)
  await expectCount(page.getByRole('combobox')).toBe(0)
  await expectCount(page.getByRole('button', { name: 'Captions', exact: true })).toBe(0)
  await page.keyboard.press('k')
  await expectInPage(page, `${VIDEO}.paused`).toBe(true)
  await page.getByRole('slider', { name: 'Seek' }).focus()
  await page.evaluate(`${VIDEO}.currentTime = 0`)
  await expectAttribute(page.getByRole('slider', { name: 'Seek' }), 'aria-valuetext').toMatch(/^0 seconds of/)
  await page.keyboard.press('ArrowRight')
  await expectInPage(page, `Math.round(${VIDEO}.currentTime)`).toBe(5)
  await expectAttribute(page.getByRole('slider', { name: 'Seek' }), 'aria-valuetext').toMatch(
    /^5 seconds of 8 seconds$/,
  )
  await page.keyboard.press('m')
  await expectInPage(page, `${VIDEO}.muted`).toBe(true)
  await page.keyboard.press('f')
  await expectInPage(page, `document.fullscreenElement?.className.includes('player')`).toBe(true)
  await page.keyboard.press('f')
  await expectInPage(page, `document.fullscreenElement === null`).toBe(true)
  await choose(page, 'Settings', '1.5×')
  await expectInPage(page, `${VIDEO}.playbackRate`).toBe(1.5)
  expect(await complaints()).toEqual([])
})

test('a stream that has gone is said to be gone, and tried again', async () => {
  const { page } = await openDashboard(browser, service.base)
  let gone = true
  await page.route('**/o/**', (route) => (gone ? route.fulfill({ status: 404, body: '' }) : route.continue()))
  await page.goto(`/jobs/${single}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('button', { name: 'Play video.mp4' }).click()
  await page.getByRole('alert').getByText('This browser cannot play this file').waitFor()
  await checkAccessibility(page, 'player-failed')
  gone = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await plays(page)
  await expectCount(page.getByRole('alert')).toBe(0)
})
