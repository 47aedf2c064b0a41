// In charge of: creating jobs in the dashboard: from files, several at once and during their upload, and from
// addresses; what the form shows about the source, the settings and their problems. In a real browser against the real
// service.
// Not in charge of: running jobs (userJourney.long.test.ts).
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAddress,
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectJson,
  expectText,
  expectTexts,
  expectValue,
  jobNumber,
  waitForText,
} from '../../../support/browser/pageAssertions.ts'
import { tabStopsTo } from './tabStops.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let source: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('Harbour.mp4'), { width: 640, height: 360, seconds: 6, audio: [2] })
  await makeClip(tempDir.file('Silent drone.mp4'), { width: 640, height: 360, seconds: 2, audio: [] })
  await makeClip(tempDir.file('Portrait.mp4'), { width: 270, height: 480, seconds: 2, audio: [2, 6] })
  source = resources.use(await PausableFileServer.start(tempDir.file('Harbour.mp4')))
  service = resources.use(await Service.start({ LEASE_SECONDS: '30', ALLOW_PRIVATE_HOSTS: source.host }))
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

async function open(options = {}) {
  const opened = await openDashboard(browser, service.base, options)
  await opened.page.goto('/new')
  await signIn(opened.page, service.ready.api_key)
  await opened.page.getByRole('heading', { name: 'Create job', level: 1 }).waitFor()
  return opened
}
const choose = (page: Page, ...names: string[]) =>
  page.getByLabel('Choose files').setInputFiles(names.map((name) => tempDir.file(name)))
const card = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
const part = (page: Page, title: string) => page.locator('summary').filter({ hasText: title })
const request = async (page: Page) => {
  await page.getByText('API request', { exact: true }).click()
  return page.getByLabel('Request as JSON', { exact: true })
}

test('the source comes first: a file is analysed, and time, size and cost are known before anything is created', async () => {
  const { page, complaints } = await open()
  await choose(page, 'Harbour.mp4')
  const shown = card(page, 'Harbour.mp4')
  await shown.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await expectText(shown.locator('.streams')).toMatch(/H\.264 · 640 × 360 · 25 fps.*AAC · stereo · 48 kHz/)
  await shown.getByRole('img', { name: 'Preview of Harbour.mp4' }).waitFor()
  await expectText(shown.locator('.thumb-time')).toBe('0:06')
  const summary = page.getByRole('region', { name: 'Summary' })
  await summary.getByText(/^~\$0\.\d+/).waitFor({ timeout: JOB_TIMEOUT_MS })
  await summary.getByText('640 × 360', { exact: true }).waitFor()
  // Dry runs that the form starts are not part of the job list.
  const count = async () => ((await (await service.call('/api/v0/job')).json()) as { jobs: unknown[] }).jobs.length
  await expect.poll(count).toBe(0)
  await page.getByRole('radio', { name: /^HLS and DASH/ }).check()
  await summary.getByText(/^~\$0\.\d+/).waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByRole('heading', { name: /Harbour\.mp4/ }).waitFor()
  await expectAddress(page).toMatch(/^\/jobs\/\d+$/)
  expect(await complaints()).toEqual([])
})

test('the dry run of a page that is closed is gone', async () => {
  const { page } = await open()
  source.pauseAt(0)
  await page.getByRole('radio', { name: 'Web address' }).check()
  const made = page.waitForResponse((answer) => answer.url().endsWith('?dry_run=unlisted'))
  await page.getByLabel('Address', { exact: true }).fill(source.url)
  await page.getByRole('button', { name: 'Analyse source' }).click()
  const { _auto_generated_id_: id } = (await (await made).json()) as { _auto_generated_id_: number }
  const status = async () => (await service.call(`/api/v0/job/${id}`)).status
  expect(await status()).toBe(200)
  await page.goto('about:blank')
  await expect.poll(status).toBe(404)
  source.resume()
})

test('from the skip link to Create job Tab makes fewer than 8 stops', async () => {
  const { page } = await open()
  await choose(page, 'Harbour.mp4')
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
  const stops = await tabStopsTo(page, 'Create job')
  expect(stops.length, stops.join(' | ')).toBeLessThan(8)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /Harbour\.mp4/ }).waitFor()
})

test('a source without audio becomes a job with the settings that the form begins with', async () => {
  const { page, complaints } = await open()
  await choose(page, 'Silent drone.mp4')
  await card(page, 'Silent drone.mp4').getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await expectText(card(page, 'Silent drone.mp4').locator('.streams')).toContain('AudioNone')
  const audio = page.getByRole('radio', { name: /^Audio/ })
  await expectAttribute(audio, 'disabled').not.toBeNull()
  await page.getByText('This source has no audio.').first().waitFor()
  await page
    .getByText(/Made at the source’s size, 640.×.360/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByRole('heading', { name: /Silent drone\.mp4/ }).waitFor()
  expect(await service.waitForEnd(await jobNumber(page))).toMatchObject({
    state: 'ready',
    job_completed: true,
    error: null,
  })
  expect(await complaints()).toEqual([])
})

test('a job is created while its file is still being uploaded, and starts when it is stored, whatever page is shown', async () => {
  const { page, complaints } = await open()
  const arrive = Promise.withResolvers<void>()
  await page.route('**/uploads?name=*', async (route) => {
    await arrive.promise
    await route.continue()
  })
  await choose(page, 'Harbour.mp4')
  await page.getByText('Starts when the upload is complete.').waitFor()
  await page.getByRole('radio', { name: /^HEVC/ }).check()
  await checkAccessibility(page, 'create-uploading')
  await page.getByRole('button', { name: 'Create job' }).click()
  const tray = page.getByRole('complementary', { name: 'Uploads in progress' })
  await tray.getByText('Starts when uploaded. Keep this tab open.').waitFor()
  await expectAddress(page).toBe('/')
  await checkAccessibility(page, 'tray')
  await page.getByRole('link', { name: 'Uploads', exact: true }).click()
  arrive.resolve()
  await tray.getByRole('link', { name: /^Job \d+$/ }).click()
  await page.getByRole('heading', { name: /Harbour\.mp4/ }).waitFor()
  const { config } = (await (await service.call(`/api/v0/job/${await jobNumber(page)}`)).json()) as {
    config: { video_codec: string }
  }
  // Chosen during the upload.
  expect(config.video_codec).toBe('hevc')
  await tray.getByRole('button', { name: 'Remove Harbour.mp4' }).click()
  await expectCount(tray).toBe(0)
  expect(await complaints()).toEqual([])
})

test('signing out ends the uploads of the person who began them', async () => {
  const { page } = await open()
  const begun = Promise.withResolvers<void>()
  // Never answered.
  await page.route('**/uploads?name=*', () => begun.resolve())
  await choose(page, 'Harbour.mp4')
  await begun.promise
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  const tray = page.getByRole('complementary', { name: 'Uploads in progress' })
  await tray.getByText('Harbour.mp4', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  await expectCount(tray).toBe(0)
})

test('several files become a job each, with the same settings', async () => {
  const { page, complaints } = await open()
  await choose(page, 'Harbour.mp4', 'Portrait.mp4')
  await expectCount(page.getByText('Source analysed')).toBe(2)
  await expectText(card(page, 'Portrait.mp4').locator('.streams')).toMatch(
    /270 × 480.*1\. AAC · stereo.*2\. AAC · 5\.1/,
  )
  await page.getByRole('heading', { name: 'Summary of 2 jobs' }).waitFor()
  await page.getByText(/^~\$0\.\d+/).waitFor({ timeout: JOB_TIMEOUT_MS })
  await checkAccessibility(page, 'create-several')
  await page.getByRole('button', { name: 'Create 2 jobs' }).click()
  const tray = page.getByRole('complementary', { name: 'Uploads in progress' })
  await expectCount(tray.getByRole('link', { name: /^Job \d+$/ })).toBe(2)
  expect(await complaints()).toEqual([])
})

test('a large upload is paused, resumed and cancelled; the service keeps nothing of what was cancelled', async () => {
  const { page } = await open()
  await writeFile(tempDir.file('Large.mov'), randomBytes(17_000_000))
  const sending = Promise.withResolvers<void>()
  let pieces = 0
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    pieces += 1
    // The first request is never answered: pausing aborts it.
    if (pieces === 1) return sending.resolve()
    await route.continue()
  })
  await choose(page, 'Large.mov')
  await sending.promise
  const shown = card(page, 'Large.mov')
  await shown.getByText(/of 17 MB/).waitFor()
  await shown.getByRole('button', { name: 'Pause the upload of Large.mov' }).click()
  await shown.getByText(/^Paused at/).waitFor()
  await checkAccessibility(page, 'create-paused')
  await shown.getByRole('button', { name: 'Resume the upload of Large.mov' }).click()
  await shown.getByRole('button', { name: 'Remove Large.mov' }).waitFor({ timeout: JOB_TIMEOUT_MS })
  // It is not a video: the source card says so, with advice.
  await shown.getByText('Not readable').waitFor({ timeout: JOB_TIMEOUT_MS })
  await shown.getByText('Check that the address leads to the media file itself').waitFor()
  await checkAccessibility(page, 'create-unreadable')
  await shown.getByRole('button', { name: 'Remove Large.mov' }).click()
  await expectCount(shown).toBe(0)

  pieces = 0
  await page.unroute('**/uploads/*')
  const begun = Promise.withResolvers<string>()
  await page.route('**/uploads/*', (route) =>
    route.request().method() === 'PATCH' ? begun.resolve(route.request().url()) : route.continue(),
  )
  await writeFile(tempDir.file('Other.mov'), randomBytes(17_000_000))
  await choose(page, 'Other.mov')
  const address = new URL(await begun.promise).pathname
  await card(page, 'Other.mov').getByRole('button', { name: 'Cancel the upload of Other.mov' }).click()
  const status = async () =>
    (await service.call(address, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } })).status
  await expect.poll(status).toBe(410)
  await expectInPage(page, 'localStorage.length').toBe(0)
})

test('all errors appear next to their fields at once, with form labels', async () => {
  const { page, complaints } = await open()
  await part(page, 'Renditions').click()
  const rendition = page.getByRole('group', { name: 'Rendition 1' })
  await rendition.getByLabel('Height').fill('99999')
  await rendition.getByLabel('Bitrate (kbps)').fill('5')
  await rendition.getByText('Enter a number from 16 to 4320, or 0 for that of the source.').waitFor()
  await rendition.getByText('Too low: enter at least 100 kbps.').waitFor()
  await expectAttribute(rendition.getByLabel('Height'), 'aria-invalid').toBe('true')
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByText('3 settings need attention').waitFor()
  // The focus goes to the first of them, and the list links to each.
  await expectInPage(page, 'document.activeElement.type').toBe('file')
  await page.getByText('Choose a file.').first().waitFor()
  await page.getByRole('button', { name: 'Rendition 1 · Bitrate (kbps)' }).click()
  await expectInPage(page, 'document.activeElement.value').toBe('5')
  await expectInPage(
    page,
    `/video_bitrate|videoProfiles/.test(document.querySelector('main').innerText.replace(/API request[^]*/, ''))`,
  ).toBe(false)
  await checkAccessibility(page, 'create-problems')
  await expectAddress(page).toBe('/new')
  expect(await complaints()).toEqual([])
})

test('a web address comes first, with a user name and a password only where one is wanted', async () => {
  const { page, complaints } = await open()
  await page.getByRole('radio', { name: 'Web address' }).check()
  await expectCount(page.getByLabel('User name').filter({ visible: true })).toBe(0)
  const address = page.getByLabel('Address', { exact: true })
  await address.fill('not an address')
  await page.getByText('Enter an address like https://example.com/film.mp4').waitFor()
  await address.fill(source.url)
  await page.getByRole('button', { name: 'Analyse source' }).click()
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await checkAccessibility(page, 'create-address')
  await page.getByText('Password-protected address').click()
  await page.getByLabel('User name').fill('reader')
  await expectValue(address).toBe(source.url)
  const json = await request(page)
  await expectJson(json).toMatchObject({
    input: source.url,
    cloud_credentials: { input: { cloud_provider: 'http', access_key: expect.stringContaining('•') } },
  })
  await page.getByLabel('User name').fill('')
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByRole('heading', { name: new RegExp(new URL(source.url).pathname.slice(1)) }).waitFor()
  expect(await complaints()).toEqual([])
})

test('the name of a rendition follows its height, and API names are shown on request', async () => {
  const { page } = await open()
  await part(page, 'Renditions').click()
  const rendition = page.getByRole('group', { name: 'Rendition 1' })
  await expectValue(rendition.getByLabel('Name')).toBe('video.mp4')
  await rendition.getByLabel('Name').fill('video-720p.mp4')
  await rendition.getByLabel('Height').fill('240')
  await expectValue(rendition.getByLabel('Name')).toBe('video-240p.mp4')
  await page.getByText('Modified').waitFor()
  await expectCount(rendition.getByText('video_bitrate', { exact: true })).toBe(0)
  await page.getByText('API request', { exact: true }).click()
  await page.getByLabel('Show API names in the form').check()
  await rendition.getByText('video_bitrate', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await expectValue(rendition.getByLabel('Name')).toBe('video.mp4')
})

test('a setting is found by a word of its label, and its part is open', async () => {
  const { page } = await open()
  await page.getByRole('searchbox', { name: 'Find a setting' }).fill('telecine')
  await page.getByLabel('Inverse telecine').waitFor()
  await expectCount(page.locator('.part:not([hidden])')).toBe(1)
})

test('settings are saved as a preset, chosen again, renamed and deleted', async () => {
  const { page, complaints } = await open()
  await part(page, 'Renditions').click()
  await page.getByRole('button', { name: 'Add rendition' }).click()
  await page.getByRole('group', { name: 'Rendition 2' }).getByLabel('Height').fill('360')
  await page.getByRole('button', { name: 'Save as preset' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Newsroom')
  await dialog.getByLabel('Description').fill('Two sizes for the archive.')
  await checkAccessibility(page, 'preset-save')
  await dialog.getByRole('button', { name: 'Save preset' }).click()
  await page.getByRole('radio', { name: /^Newsroom/, checked: true }).waitFor()
  await page.reload()
  await page.getByRole('radio', { name: /^Newsroom/ }).check()
  const json = await request(page)
  await expectJson(json).toMatchObject({ videoProfiles: [{ height: 720 }, { height: 360 }] })
  // Names are unique.
  await page.getByRole('button', { name: 'Save as preset' }).click()
  await dialog.getByLabel('Name').fill('Newsroom')
  await dialog.getByRole('button', { name: 'Save preset' }).click()
  await dialog.locator('.notice.error').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Rename' }).click()
  await dialog.getByLabel('Name').fill('Archive')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('radio', { name: /^Archive/, checked: true }).waitFor()
  await page.getByRole('button', { name: 'Delete preset' }).click()
  await dialog.getByRole('button', { name: 'Delete preset' }).click()
  await expectCount(page.getByRole('radio', { name: /^Archive/ })).toBe(0)
  // The second name was refused.
  expect((await complaints()).filter((text) => !/40[09]/.test(text))).toEqual([])
})

test('a remembered sign-in applies to every tab of the browser until signing out in one of them', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/')
  await page.getByLabel('Stay signed in').check()
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  const other = await page.context().newPage()
  await other.goto('/files')
  await other.getByRole('heading', { name: 'Uploads', exact: true }).waitFor()
  await other.getByRole('button', { name: 'Account' }).click()
  await checkAccessibility(other, 'menu')
  await other.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await expectInPage(page, 'sessionStorage.length + localStorage.length').toBe(0)
  // Without "stay signed in" the key belongs to the tab only.
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  await expectInPage(page, 'localStorage.length').toBe(0)
})

test('the account menu closes with Escape, with a click elsewhere and when Tab leaves it', async () => {
  const { page } = await open()
  const menu = page.getByRole('button', { name: 'Account' })
  await menu.click()
  await expectAttribute(menu, 'aria-expanded').toBe('true')
  await page.keyboard.press('Escape')
  await expectAttribute(menu, 'aria-expanded').toBe('false')
  await expectFocus(page, 'textContent').toBe('Account')
  await page.keyboard.press('Enter')
  await expectAttribute(menu, 'aria-expanded').toBe('true')
  await page.getByRole('heading', { name: 'Create job' }).click()
  await expectAttribute(menu, 'aria-expanded').toBe('false')
  await menu.click()
  await page.getByRole('link', { name: 'API keys' }).click()
  await expectAttribute(menu, 'aria-expanded').toBe('false')
  await expectAddress(page).toBe('/keys')
})

test('an address that is no page leads back to the jobs', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/')
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  await page.evaluate(`history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))`)
  await page.getByRole('heading', { name: 'Page not found', level: 2 }).waitFor()
  await checkAccessibility(page, 'not-found')
  await page.getByRole('link', { name: 'Go to jobs' }).click()
  await expectAddress(page).toBe('/')
})

test.for(APPEARANCES)('the form passes the accessibility checks at every step: %s', async ([look, options]) => {
  const { page, complaints } = await openDashboard(browser, service.base, options)
  await page.goto('/new')
  await checkAccessibility(page, `sign-in-${look}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Enter your API key.').waitFor()
  await checkAccessibility(page, `sign-in-refused-${look}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Create job', level: 1 }).waitFor()
  await checkAccessibility(page, `create-empty-${look}`)
  await choose(page, 'Harbour.mp4')
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByText(/^~\$0\.\d+/).waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('radio', { name: /^HLS and DASH/ }).check()
  await waitForText(page.locator('.estimate'), /~.*~.*~/)
  await checkAccessibility(page, `create-ready-${look}`)
  await page.evaluate(`for (const group of document.querySelectorAll('details')) group.open = true`)
  await checkAccessibility(page, `create-open-${look}`)
  expect(await complaints()).toEqual([])
})

test('what was chosen before stays when another kind of source is looked at', async () => {
  const { page } = await open()
  await choose(page, 'Harbour.mp4')
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('radio', { name: 'Amazon S3' }).check()
  await page.getByLabel('Location').fill('s3://bucket/film.mp4')
  await page.getByLabel('Access key ID').fill('AKIA')
  await page.getByRole('radio', { name: 'Upload', exact: true }).check()
  await expectTexts(page.getByRole('heading', { level: 3, name: 'Harbour.mp4' })).toEqual(['Harbour.mp4'])
  await page.getByText('Source analysed').waitFor()
})

test('several files become one job that joins them in the chosen order, each with its part', async () => {
  const { page, complaints } = await open()
  await choose(page, 'Harbour.mp4', 'Portrait.mp4')
  await page.getByRole('radio', { name: 'Join in this order' }).check()
  await card(page, 'Portrait.mp4').getByLabel('End').fill('1.5')
  await page.getByRole('button', { name: 'Move Portrait.mp4 up' }).click()
  const shown = page.getByRole('listitem').getByRole('heading', { name: /mp4$/ })
  await expectTexts(shown).toEqual(['Portrait.mp4', 'Harbour.mp4'])
  await card(page, 'Harbour.mp4').getByLabel('Start').fill('later')
  await card(page, 'Harbour.mp4')
    .getByText(/“Start” of source 2/)
    .waitFor()
  await card(page, 'Harbour.mp4').getByLabel('Start').fill('00:00:02')
  await checkAccessibility(page, 'create-joined')
  await expectCount(page.getByRole('button', { name: 'Create job', exact: true })).toBe(1)
  await expectAttribute(page.getByRole('button', { name: 'Create job', exact: true }), 'disabled').toBeNull()
  await page.getByRole('button', { name: 'Create job', exact: true }).click()
  await page.getByRole('heading', { name: /Portrait\.mp4/ }).waitFor()
  const id = await jobNumber(page)
  const read = async () => (await (await service.call(`/api/v0/job/${id}`)).json()) as { config: any }
  const { config } = await read()
  const upload = expect.stringMatching(/\/uploads\/\d+$/)
  const inputs = [
    { input: upload, end_seconds: '1.5' },
    { input: upload, start_seconds: '00:00:02' },
  ]
  expect(config.inputs).toEqual(inputs)
  await page.getByText(/to 1\.5$/).waitFor()

  // A new job from this one has the same sources, in the same order and with the same parts.
  await page.goto(`/new?from=${id}`)
  await expectValue(card(page, 'Portrait.mp4').getByLabel('End')).toBe('1.5')
  await expectJson(await request(page)).toMatchObject({ inputs: config.inputs })
  await page.getByRole('button', { name: 'Remove Harbour.mp4' }).click()
  await expectJson(page.getByLabel('Request as JSON', { exact: true })).toMatchObject({ input: config.inputs[0].input })
  expect(await complaints()).toEqual([])
})

test('several addresses become one job, and the last one left is a single source again', async () => {
  const { page, complaints } = await open()
  await page.getByRole('radio', { name: 'Web address' }).check()
  await page.getByLabel('Address', { exact: true }).fill(source.url)
  await page.getByRole('button', { name: 'Join with another source' }).click()
  await page.getByLabel('Address 2').fill(`${source.url}?second`)
  await page.getByLabel('End').first().fill('2')
  const shown = await request(page)
  await expectJson(shown).toMatchObject({
    inputs: [{ input: source.url, end_seconds: '2' }, { input: expect.stringContaining(source.url) }],
  })
  await page.getByRole('button', { name: /^Move .* down/ }).click()
  await expectJson(shown).toMatchObject({
    inputs: [{ input: expect.stringContaining('?') }, { input: source.url, end_seconds: '2' }],
  })
  await page
    .getByRole('button', { name: /^Remove / })
    .first()
    .click()
  await expectJson(shown).toMatchObject({ input: source.url, end_seconds: '2' })
  await page.getByLabel('Address', { exact: true }).waitFor()
  expect(await complaints()).toEqual([])
})
