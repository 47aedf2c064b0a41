// In charge of: a user's journey through the dashboard, in a real browser against the real service.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import {
  launchChromium,
  requireChromium,
  saveScreenshot,
  signIn,
  trySignIn,
  openDashboard,
} from '../../../support/browser/dashboardPage.ts'
import { isRising, RECORD_PROGRESS } from './shownProgress.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectValue,
  waitForText,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let source: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 640, height: 360, seconds: 6, audio: [2] })
  await makeClip(tempDir.file('long.mp4'), { width: 640, height: 360, seconds: 30, audio: [2] })
  source = resources.use(await PausableFileServer.start(tempDir.file('film.mp4')))
  service = resources.use(await Service.start({ LEASE_SECONDS: '30', ALLOW_PRIVATE_HOSTS: source.host }))
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

/** The time advances, video and audio are decoded. (As text: this runs in the page, whose types are not Node's.) */
const PLAYING = `(() => {
  const video = document.querySelector('video')
  return video !== null && video.currentTime > 0.5 && video.getVideoPlaybackQuality().totalVideoFrames > 10 &&
    video.webkitAudioDecodedByteCount > 0
})()`
const plays = (page: Page) => expectInPage(page, PLAYING).toBe(true)

test('static files have a restrictive Content-Security-Policy, and immutable caching where names are hashed', async () => {
  const page = await fetch(`${service.base}/`)
  for (const answer of [page, await fetch(`${service.base}/jobs/1`)]) {
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
  const script = /src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1]
  const { headers } = await fetch(service.base + script)
  expect(headers.get('content-type')).toMatch(/javascript/)
  expect(headers.get('cache-control')).toContain('immutable')
})

test('a person signs in, uploads a file, follows the job without reloading and plays its result', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  await page.goto('/new')
  await page.getByLabel('API key').waitFor()
  await checkAccessibility(page, 'sign-in')
  await signIn(page, service.ready.api_key)

  // A deep link survives the sign-in.
  await page.getByRole('heading', { name: 'Create job', level: 1 }).waitFor()
  await page.getByLabel('Choose files').setInputFiles(tempDir.file('long.mp4'))
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('radio', { name: /^MP4 ?One/ }).check()
  await checkAccessibility(page, 'create')
  await page.evaluate('globalThis.sameDocument = true')
  await page.evaluate(RECORD_PROGRESS)
  await page.getByRole('button', { name: 'Create job' }).click()

  await page.getByRole('heading', { name: /long.mp4/ }).waitFor()
  const halfWay = 'percents.some((percent) => percent >= 25 && percent < 100)'
  await expectInPage(page, halfWay, JOB_TIMEOUT_MS).toBe(true)
  {
    // Pauses the job while it is checked, however fast the machine is.
    using _frozen = service.pauseEncoders()
    await checkAccessibility(page, 'job-running')
  }
  await page.getByText('All outputs are ready.').first().waitFor({ timeout: JOB_TIMEOUT_MS })
  await expectInPage(page, `'sameDocument' in globalThis`).toBe(true)
  await expectInPage<number[]>(page, 'percents').toSatisfy(isRising)
  // Screen readers got phases and quarters, each once, and the end.
  await expectInPage(page, `told.join(' ')`).toMatch(
    /Transcoding\..* (25|50|75) % are transcoded\..*All outputs are ready\./,
  )
  await expectInPage(page, 'told.length - new Set(told).size').toBe(0)
  await expectInPage<number>(page, 'told.length').toBeLessThan(15)

  await page.getByRole('button', { name: /^Play video/ }).click()
  await plays(page)
  await checkAccessibility(page, 'job-done')
  expect(await complaints()).toEqual([])
})

test('a large file is uploaded in chunks and resumes after a lost connection', async () => {
  const { page } = await openDashboard(browser, service.base)
  const content = randomBytes(90_000_000)
  await writeFile(tempDir.file('large.mp4'), content)
  let pieces = 0
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    pieces++
    return pieces === 2 ? route.abort('connectionreset') : route.continue()
  })
  await page.goto('/new')
  await signIn(page, service.ready.api_key)
  await page.getByLabel('Choose files').setInputFiles(tempDir.file('large.mp4'))
  await page.getByRole('button', { name: 'Remove large.mp4' }).waitFor({ timeout: JOB_TIMEOUT_MS })
  expect(pieces).toBe(3)
  await page.getByText('API request', { exact: true }).click()
  const shown = await waitForText(page.getByLabel('Request as JSON', { exact: true }), /"input": /)
  const { input } = JSON.parse(shown) as { input: string }
  const back = await service.call(new URL(input).pathname)
  expect(Buffer.from(await back.arrayBuffer()).equals(content)).toBe(true)
  await expectInPage(page, 'localStorage.length').toBe(0)
})

test('what the preset HLS and DASH makes plays as both, at the rendition that is chosen', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  await page.goto('/new')
  await signIn(page, service.ready.api_key)
  await page.getByLabel('Choose files').setInputFiles(tempDir.file('film.mp4'))
  await page.getByText('Source analysed').waitFor({ timeout: JOB_TIMEOUT_MS })
  await page.getByRole('radio', { name: /^HLS and DASH/ }).check()
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByText('All outputs are ready.').first().waitFor({ timeout: JOB_TIMEOUT_MS })
  for (const form of ['HLS', 'DASH']) {
    await page.getByRole('combobox', { name: 'Play' }).selectOption({ label: form })
    // Playback is started once; later choices play by themselves.
    if (form === 'HLS') await page.getByRole('button', { name: 'Play HLS' }).click()
    await plays(page)
    await page.getByRole('button', { name: 'Settings', exact: true }).click()
    await page.getByRole('menuitemradio', { name: '240p', exact: true }).click()
    await expectInPage(page, `document.querySelector('video')?.videoHeight`).toBe(240)
  }
  await saveScreenshot(page, 'job-ladder')
  expect(await complaints()).toEqual([])
})

test('a job is cancelled from its page, after a question', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  source.pauseAt(0.5)
  const id = await service.create(jobRequest(source.url, 'http'))
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  // Only the event stream contains that.
  await page.getByText('Attempt 1 started.').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('dialog').waitFor()
  await checkAccessibility(page, 'job-question')
  await page.keyboard.press('Escape')
  await expectCount(page.getByRole('dialog')).toBe(0)
  await expectFocus(page, 'textContent').toBe('Cancel')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel the job' }).click()
  await page.getByText('The job was cancelled.').first().waitFor()
  expect((await service.waitForEnd(id)).state).toBe('cancelled')
  source.resume()
  expect(await complaints()).toEqual([])
})

test('a failed job says once why and what to do, is retried, and the failed one is deleted', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  source.missing = true
  const id = await service.create(jobRequest(source.url, 'http'))
  const { error } = await service.waitForEnd(id)
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  await expectAttribute(page.getByRole('link', { name: 'About source_not_found' }), 'href').toBe(error!.docs)
  await page.getByText('Check the address, bucket and key').waitFor()
  await page.getByText(source.url, { exact: true }).waitFor()
  await page.getByLabel('Messages of attempt 1', { exact: true }).waitFor()
  await expectCount(page.locator('main').getByText(error!.message, { exact: true })).toBe(1)
  await expectCount(page.getByText(`The job failed: ${error!.message}`)).toBe(0)
  // A retry of a permanent error would fail in the same way.
  await expectInPage(
    page,
    `[...document.querySelectorAll('.head .primary')].map((each) => each.textContent.trim())`,
  ).toEqual(['Edit and rerun'])
  for (const [look, options] of APPEARANCES) {
    await page.setViewportSize(options.viewport ?? { width: 1280, height: 900 })
    await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light' })
    await checkAccessibility(page, `job-failed-${look}`)
  }
  source.missing = false
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('link', { name: `job ${id}`, exact: true }).waitFor()
  await page.getByText('All outputs are ready.').first().waitFor({ timeout: JOB_TIMEOUT_MS })
  // The page of an ended job reads its events once more after a moment; a deleted job has none.
  const timeline = page.waitForResponse(
    (response) =>
      response.url().includes(`/job/${id}/events`) && response.headers()['content-type']?.includes('json') === true,
  )
  await page.getByRole('link', { name: `job ${id}`, exact: true }).click()
  await timeline
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the job' }).click()
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  expect((await service.call(`/api/v0/job/${id}`)).status).toBe(404)
  expect(await complaints()).toEqual([])
})

test('without an event stream the page asks again and again', async () => {
  const { page } = await openDashboard(browser, service.base)
  let refused = 0
  await page.route('**/events', (route) => {
    refused++
    return route.fulfill({ status: 503, body: '' })
  })
  source.pauseAt(0.5)
  const id = await service.create(jobRequest(source.url, 'http'))
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  await page.getByText('Running', { exact: true }).waitFor()
  source.resume()
  await page.getByText('All outputs are ready.').first().waitFor({ timeout: JOB_TIMEOUT_MS })
  await expect.poll(() => refused).toBeGreaterThan(0)
})

test('an earlier job is run again with changes, from its stored configuration', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  source.missing = true
  const id = await service.create(jobRequest(source.url, 'http'))
  expect((await service.waitForEnd(id)).error?.code).toBe('source_not_found')
  source.missing = false
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('link', { name: 'Edit and rerun' }).click()
  await expectValue(page.getByLabel('Address', { exact: true })).toBe(source.url)
  expect(await complaints()).toEqual([])
})

test('a job whose source lacks the audio is run without it, from its page', async () => {
  const { page } = await openDashboard(browser, service.base)
  const audio = { audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 3 }
  const id = await service.create({ ...jobRequest(source.url, 'http'), audioProfiles: [audio] })
  expect((await service.waitForEnd(id)).error?.code).toBe('audio_stream_missing')
  await page.goto(`/jobs/${id}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('link', { name: 'Run without that audio' }).click()
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByText('All outputs are ready.').first().waitFor({ timeout: JOB_TIMEOUT_MS })
})

test('a key that stops working leads back to the sign-in with a sentence, and no dialog of the browser', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/limits')
  await trySignIn(page, 'sp_wrong')
  await page.getByText('This API key is unknown').waitFor()
  await signIn(page, service.ready.api_key)
  await page.getByRole('heading', { name: 'Limits', exact: true }).waitFor()
  await page.evaluate(`sessionStorage.setItem('splicepoint.key', 'sp_gone')`)
  await page.goto('/')
  await page.getByText('Your API key is no longer valid.').waitFor()
  await expectInPage(page, 'sessionStorage.length + localStorage.length').toBe(0)
})

test.for(APPEARANCES)('every page is readable: %s', async ([look, options]) => {
  const { page, complaints } = await openDashboard(browser, service.base, options)
  await page.goto('/')
  await checkAccessibility(page, `sign-in-${look}`)
  await signIn(page, service.ready.api_key)
  await page.getByRole('listitem').first().waitFor()
  await checkAccessibility(page, `jobs-${look}`)
  const { jobs } = (await (await service.call('/api/v0/job')).json()) as {
    jobs: { _auto_generated_id_: number; status: { state: string; job_completed: boolean; dry_run: boolean } }[]
  }
  const ids = new Map(jobs.map(({ _auto_generated_id_: id, status }) => [status.dry_run ? 'dry' : status.state, id]))
  for (const [state, id] of ids) {
    await page.goto(`/jobs/${id}`)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    await checkAccessibility(page, `job-${state}-${look}`)
  }
  await page.goto('/limits')
  await page.getByRole('heading', { name: /Video bitrates/ }).waitFor()
  await checkAccessibility(page, `limits-${look}`)
  await page.goto('/keys')
  await page.getByRole('button', { name: 'Sign in with an admin key' }).waitFor()
  await page.getByRole('status', { name: /^Loading/ }).waitFor({ state: 'detached' })
  await checkAccessibility(page, `keys-refused-${look}`)
  await page.goto('/files')
  await page.getByRole('listitem').first().waitFor()
  await checkAccessibility(page, `uploads-${look}`)
  // The service does not show the list of keys to this key: the only permitted error.
  expect((await complaints()).filter((text) => !text.includes('403'))).toEqual([])
})
