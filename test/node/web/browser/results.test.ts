// In charge of: using the results of jobs in the dashboard: finding them by their poster, selecting several, copying
// addresses, sharing and revoking, downloading all, reading facts and the log, sending webhooks again.
// Not in charge of: playback (playback.test.ts), running jobs (userJourney.long.test.ts).
import { readFile } from 'node:fs/promises'
import type { Browser, Page, Route } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { ffmpeg, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectTexts,
  expectValue,
  waitForValue,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let source: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
/** A completed job with HLS and DASH. */
let ladder: number
let poster: Buffer
const received: string[] = []
let receiver: LoopbackServer

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('harbour.mp4'), { width: 640, height: 360, seconds: 6, audio: [2] })
  source = resources.use(await PausableFileServer.start(clip))
  receiver = resources.use(
    await LoopbackServer.serve((request, response) =>
      request.resume().once('end', () => {
        received.push(request.headers['webhook-id'] as string)
        response.writeHead(received.length === 1 ? 500 : 204).end()
      }),
    ),
  )
  service = resources.use(
    await Service.start({ LEASE_SECONDS: '30', ALLOW_PRIVATE_HOSTS: `${source.host},${receiver.host}` }),
  )
  browser = resources.use(await launchChromium(chromium))
  ladder = await service.create(
    jobRequest(source.url, 'http', {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      thumbnails: true,
      segment_length: 2,
      gop_length: 1,
      metadata: { customer: 'acme', episode: 'S02E05' },
      webhook_url: `${receiver.url}/hook`,
      videoProfiles: [
        { output: 'video_360p', width: 640, height: 360, video_bitrate: 800 },
        { output: 'video_180p', width: 320, height: 180, video_bitrate: 300 },
      ],
    }),
  )
  const { error } = await service.waitForEnd(ladder)
  if (error) throw new Error(error.message)
  await ffmpeg(['-i', clip, '-frames:v', '1', tempDir.file('poster.jpg')])
  poster = await readFile(tempDir.file('poster.jpg'))
})
beforeEach((context) => requireChromium(context, chromium))

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')

async function open(path: string, options: Parameters<typeof openDashboard>[2] = {}) {
  const visited = await openDashboard(browser, service.base, options)
  await visited.page.goto(path)
  await signIn(visited.page, service.ready.api_key)
  return visited
}

const failing = async (): Promise<number> => {
  source.missing = true
  const id = await service.create(jobRequest(source.url, 'http'))
  await service.waitForEnd(id)
  source.missing = false
  return id
}

test('several jobs are selected, with Shift a range, and deleted at once after a question; what is refused stays selected', async () => {
  const { page, complaints } = await open('/')
  const ids = [await failing(), await failing(), await failing()]
  const [first, , last] = ids as [number, number, number]
  await page.route(`**/api/v0/job/${first}`, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    const error = { code: 'job_active', message: 'The job is being read.' }
    await route.fulfill({ status: 409, json: { error } })
  })
  await page.getByLabel(`Select job ${last}`).check()
  await page.getByLabel(`Select job ${first}`).click({ modifiers: ['Shift'] })
  const selection = page.getByRole('group', { name: 'Selected jobs' })
  await selection.getByText('3 jobs selected').waitFor()
  await checkAccessibility(page, 'jobs-selected')
  await selection.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 3 jobs' }).click()
  await page.getByText('2 jobs deleted.').waitFor()
  await page.getByText(`Job ${first}: The job is being read.`).waitFor()
  await selection.getByText('1 job selected').waitFor()
  await expectCount(page.getByLabel(`Select job ${last}`)).toBe(0)
  expect((await service.call(`/api/v0/job/${last}`)).status).toBe(404)
  expect((await service.call(`/api/v0/job/${first}`)).status).toBe(200)
  await checkAccessibility(page, 'jobs-outcome')
  expect((await complaints()).filter((text) => !text.includes('409'))).toEqual([])
})

test('selected jobs are cancelled and retried, each where it can be', async () => {
  const { page, complaints } = await open('/')
  // First, because the held job keeps the transcoder busy.
  const failed = await failing()
  source.pauseAt(0.5)
  const held = await service.create(jobRequest(source.url, 'http'))
  await page.getByLabel(`Select job ${held}`).check()
  await page.getByLabel(`Select job ${failed}`).check()
  const selection = page.getByRole('group', { name: 'Selected jobs' })
  await selection.getByRole('button', { name: 'Cancel 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 job' }).click()
  await page.getByText('1 job cancelled.').waitFor()
  expect((await service.waitForEnd(held)).state).toBe('cancelled')
  source.resume()
  await page.getByLabel(`Select job ${failed}`).check()
  await selection.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('1 job started again.').waitFor()
  await page.getByLabel(`Select job ${held + 1}`).waitFor()
  expect((await service.status(held + 1))?.retry_of).toBe(failed)
  expect(await complaints()).toEqual([])
})

test('copies the selected address, and the address of each output', async () => {
  const { page, complaints } = await open(`/jobs/${ladder}`, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { outputs } = (await service.status(ladder))!
  const path = (name: string) =>
    new URL(outputs.find((output) => output.path === name)!.url!).pathname.split('/').at(-1)!
  const clipboard = `navigator.clipboard.readText()`
  await page.getByRole('button', { name: 'Copy the playback address of HLS' }).click()
  await expectInPage<string>(page, clipboard).toContain(path('master.m3u8'))
  await page.getByRole('combobox', { name: 'Play' }).selectOption({ label: 'DASH' })
  const address = await waitForValue(page.getByRole('textbox', { name: 'Playback address' }), /manifest\.mpd$/)
  await page.getByRole('button', { name: 'Copy the playback address of DASH' }).click()
  await expectInPage(page, clipboard).toBe(address)
  const copied = await fetch(address)
  expect(await copied.text()).toContain('<MPD')
  await page.getByRole('button', { name: 'Copy the address of master.m3u8' }).click()
  await expectInPage<string>(page, clipboard).toMatch(/\/master\.m3u8$/)
  // Checksums are shown on request only.
  await expectCount(page.getByText('SHA-256')).toBe(0)
  await page.getByLabel('Show checksums').check()
  await page.getByText(outputs.find((output) => output.path === 'master.m3u8')!.sha256).waitFor()
  expect(await complaints()).toEqual([])
})

test('a result is shared by a link and an embed code without a key, and the link is revoked', async () => {
  const { page, complaints } = await open(`/jobs/${ladder}`)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Share' })
  await dialog.getByLabel('Title').fill('Harbour <at> sunset')
  await dialog.getByLabel('Expires after').selectOption({ label: '7 days' })
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('expires in 7 days').waitFor()
  const link = await waitForValue(dialog.getByRole('textbox', { name: 'Link' }), /\/s\//)
  expect(await waitForValue(dialog.getByRole('textbox', { name: 'Embed code' }), /^<iframe /)).toContain(
    `${link}/embed`,
  )
  await checkAccessibility(page, 'job-share', false)

  const { page: viewer, complaints: theirs } = await openDashboard(browser, service.base)
  await viewer.goto(link)
  await viewer.getByRole('heading', { name: 'Harbour <at> sunset' }).waitFor()
  await viewer.getByRole('button', { name: 'Play Harbour <at> sunset' }).click()
  await expectInPage<number>(viewer, `document.querySelector('video')?.currentTime ?? 0`).toBeGreaterThan(0.3)
  await checkAccessibility(viewer, 'shared')
  expect(await theirs()).toEqual([])

  await dialog.getByRole('button', { name: 'Revoke Harbour' }).click()
  await expectCount(dialog.getByRole('textbox', { name: 'Link' })).toBe(0)
  expect((await fetch(link)).status).toBe(404)
  await page.keyboard.press('Escape')
  await expectCount(page.getByRole('dialog')).toBe(0)
  await expectFocus(page, 'textContent').toBe('Share')
  expect(await complaints()).toEqual([])
})

test('all outputs are downloaded as one tar; what is not in the service’s storage offers neither that nor sharing', async () => {
  const { page } = await open(`/jobs/${ladder}`)
  const all = page.getByRole('link', { name: 'Download all' })
  await all.waitFor()
  const address = (await service.status(ladder))!.archive_url!
  await expectAttribute(all, 'href').toMatch(/\/a\//)
  expect((await fetch(address, { method: 'HEAD' })).status).toBe(200)
  const failed = await failing()
  await page.goto(`/jobs/${failed}`)
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await expectCount(page.getByRole('button', { name: 'Share', exact: true })).toBe(0)
  await expectCount(all).toBe(0)
})

test('webhook deliveries are listed with each try, and sent again', async () => {
  const { page, complaints } = await open(`/jobs/${ladder}`)
  const webhooks = page.getByRole('region', { name: 'Webhooks' })
  await webhooks.getByText('Delivered').waitFor()
  const before = received.length
  await webhooks.getByText(/attempts?$/).click()
  await webhooks.getByText('HTTP 500').waitFor()
  await webhooks.getByText('HTTP 204').waitFor()
  await webhooks.getByRole('button', { name: 'Replay job.completed' }).click()
  await expect.poll(() => received.length).toBeGreaterThan(before)
  await webhooks.getByText('Delivered').waitFor()
  // The same message id, so that the receiver can recognize a repetition.
  expect(new Set(received).size).toBe(1)
  expect(await complaints()).toEqual([])
})

test('Ctrl-K opens a page by its name, and a job by what the list’s search finds', async () => {
  const { page, complaints } = await open('/usage')
  const go = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Page or job' }).fill(text)
  }
  await go('S02E05')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `clip.mp4 #${ladder}` })
    .waitFor()
  await checkAccessibility(page, 'palette', false)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'clip.mp4' }).waitFor()
  await go('webh')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
  expect(await complaints()).toEqual([])
})

test('a delivery of an earlier job is replayed from the page of webhooks', async () => {
  const { page, complaints } = await open('/webhooks')
  const row = rows(page).filter({ hasText: `#${ladder}` })
  await row.getByText('HTTP 204').waitFor()
  await checkAccessibility(page, 'webhooks')
  const before = received.length
  await row.getByRole('button', { name: 'Replay job.completed' }).click()
  await expect.poll(() => received.length).toBeGreaterThan(before)
  expect(await complaints()).toEqual([])
})

test('the page of presets begins a job with one', async () => {
  const { page, complaints } = await open('/presets')
  await rows(page).filter({ hasText: 'Podcast' }).waitFor()
  await checkAccessibility(page, 'presets')
  await rows(page).getByRole('link', { name: 'Create job with Podcast' }).click()
  await expectInPage(page, `document.querySelector('[name=preset]:checked')?.closest('label').textContent`).toMatch(
    /^Podcast/,
  )
  expect(await complaints()).toEqual([])
})

test('job metadata is shown and links to jobs with the same value', async () => {
  const { page } = await open(`/jobs/${ladder}`)
  await page.getByRole('region', { name: 'Metadata' }).getByRole('link', { name: 'S02E05' }).click()
  await expectTexts(rows(page).getByRole('link')).toEqual(['clip.mp4'])
  await page.getByRole('button', { name: 'episode: S02E05' }).click()
  await expectInPage<number>(page, `document.querySelectorAll('main li').length`).toBeGreaterThan(1)
})

const MEDIA: MediaFacts = {
  duration_seconds: 6,
  average_bitrate_kbps: 842,
  peak_bitrate_kbps: 1013,
  video: {
    codec: 'h264',
    codec_string: 'avc1.64001e',
    width: 640,
    height: 360,
    display_aspect_ratio: '16:9',
    frame_rate: '25/1',
    frames_per_second: 25,
    scan: 'progressive',
    dynamic_range: 'sdr',
    bitrate_kbps: 740,
  },
  audio: [{ codec: 'aac', channels: 2, sample_rate: 48_000, bitrate_kbps: 96, language: 'eng' }],
  captions: [],
  renditions: [
    { path: 'a.m3u8', width: 640, height: 360, average_bitrate_kbps: 842, peak_bitrate_kbps: 1013 },
    { path: 'b.m3u8', width: 320, height: 180, average_bitrate_kbps: 391, peak_bitrate_kbps: 455 },
  ],
}
const SOURCE = {
  formats: ['mov', 'mp4'],
  duration_seconds: 6,
  size_bytes: 1_234_567,
  bitrate_kbps: 1646,
  video: { codec: 'h264', width: 640, height: 360, rotation: 0, frame_rate: '25/1', scan: 'progressive', captions: [] },
  audio: [{ source_stream: 1, codec: 'aac', channels: 2, sample_rate: 48_000, language: 'eng' }],
}
const LOG = {
  attempts: [
    {
      attempt: 1,
      engine: 'ffmpeg version 7.0',
      commands: [{ purpose: 'Encode', command: `ffmpeg -i 'a b' out`, seconds: 4.2, exit_code: 0 }],
      lines: [{ time: '2026-01-01T00:00:00.000Z', level: 'warn', message: 'A timestamp was repeated.' }],
    },
  ],
}

/** Replaces the transcoder's measurements by known values in the page. */
async function withFacts(page: Page): Promise<void> {
  const dress = (status: PublicStatus): void => {
    if (status.state === 'error') return
    const address = `${service.base}/p/still.jpg`
    Object.assign(status, { source: SOURCE, poster: { url: address, width: 640, height: 360 } })
    for (const output of status.outputs) {
      output.media = /master\.m3u8|manifest\.mpd/.test(output.path) ? MEDIA : null
    }
  }
  const answer = (change: (body: never) => void) => async (route: Route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    const json = (await response.json()) as never
    change(json)
    await route.fulfill({ response, json })
  }
  await page.route('**/p/still.jpg', (route) => route.fulfill({ body: poster, contentType: 'image/jpeg' }))
  await page.route(
    /\/api\/v0\/job\/\d+$/,
    answer(({ status }: { status: PublicStatus }) => dress(status)),
  )
  await page.route(
    /\/api\/v0\/job\?/,
    answer(({ jobs }: { jobs: { status: PublicStatus }[] }) => jobs.forEach(({ status }) => dress(status))),
  )
  await page.route(/\/job\/\d+\/log$/, (route) => route.fulfill({ json: LOG }))
}

test.for(APPEARANCES)('posters, measured facts, the source and the log are shown: %s', async ([look, options]) => {
  const { page, complaints } = await openDashboard(browser, service.base, options)
  await withFacts(page)
  await page.goto('/')
  await signIn(page, service.ready.api_key)
  const row = rows(page).filter({ hasText: 'acme' })
  await expectInPage(page, `[...document.querySelectorAll('.jobs img')].some((image) => image.naturalWidth > 0)`).toBe(
    true,
  )
  await row.getByText('640 × 360').waitFor()
  await expectCount(row.getByText('0:06')).toBe(2)
  await checkAccessibility(page, `jobs-posters-${look}`)
  await row.getByRole('link').click()

  await expectInPage(page, `document.querySelector('video')?.poster`).toMatch(/\/(p\/still|.*poster)\.jpg$/)
  const outputs = page.getByRole('region', { name: 'Outputs' })
  // HLS and DASH of the same segments have the same measurements, shown once.
  await expectCount(outputs.getByText('H.264 · 25 fps')).toBe(1)
  await expectTexts(outputs.locator('.rate-name')).toEqual(['360p 640 × 360', '180p 320 × 180'])
  await outputs.getByText('842 kbit/s').waitFor()
  await outputs.getByText('1.01 Mbit/s').waitFor()
  await outputs.getByText('AAC stereo, 48 kHz, 96 kbit/s, English').waitFor()
  const about = page.getByRole('region', { name: 'Source' })
  await about.getByText('MP4 / QuickTime').waitFor()
  await about.getByText('0:06 · 1.23 MB · 1.65 Mbit/s').waitFor()
  await about.getByText('640 × 360 · H.264').waitFor()
  await page.getByRole('heading', { name: 'Log' }).click()
  await page.getByLabel('Command: Encode').getByText(`ffmpeg -i 'a b' out`).waitFor()
  await page.getByText('A timestamp was repeated.').waitFor()
  await outputs.getByText(/supporting files/).click()
  await checkAccessibility(page, `job-facts-${look}`)
  expect(await complaints()).toEqual([])
})

test('an address that is no page says so, and leads back', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/jobs/none')
  await signIn(page, service.ready.api_key)
  await page
    .getByRole('heading', { name: /not found/i })
    .first()
    .waitFor()
  await page.getByRole('main').getByRole('link').click()
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
  await expectValue(page.getByRole('searchbox')).toBe('')
})
