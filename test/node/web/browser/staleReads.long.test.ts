// In charge of: concurrent updates of a page: lists that are reloaded, late answers, a clipboard that refuses.
// Not in charge of: whole user journeys (userJourney.long.test.ts, history.long.test.ts).
import type { Browser, Page, Request } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { isRising, RECORD_PROGRESS } from './shownProgress.ts'
import { expectCount, expectInPage, expectUnchanged } from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let tempDir: Awaited<ReturnType<typeof tempDirectory>>

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')

/**
 * Resolves when the page has polled again and processed the answers: it polls only after it has processed the previous
 * answer.
 */
async function askedAgain(page: Page, query: string): Promise<void> {
  const answer = () => page.waitForResponse((response) => response.url().includes(query))
  // The first poll may have started before; the second one comes after the answer was processed.
  await answer()
  await answer()
}

/** Numbers from `from` down to `to`, newest first. */
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n)

function listedJob(id: number) {
  const time = '2026-01-01T00:00:00.000Z'
  const status = {
    job_id: `j${id}`,
    state: 'cancelled',
    job_completed: true,
    phase: 'done',
    warnings: [],
    outputs: [],
    poster: null,
    source: null,
    input_name: `film-${id}.mp4`,
    created_at: time,
    started_at: null,
    finished_at: time,
  }
  return {
    _auto_generated_id_: id,
    job_id: `j${id}`,
    input: 'x',
    cloud: 'vendor-store',
    metadata: {},
    updated_at: time,
    status,
  }
}

test('a further page that arrives after the filters were changed is not appended to the new list', async () => {
  const { page } = await openDashboard(browser, service.base)
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  await page.route('**/api/v0/job?*', async (route) => {
    const query = new URL(route.request().url()).searchParams
    if (query.get('state') === 'failed') {
      return route.fulfill({ json: { jobs: down(90, 66).map(listedJob), next_cursor: '66' } })
    }
    if (query.get('cursor') === null) {
      return route.fulfill({ json: { jobs: down(50, 26).map(listedJob), next_cursor: '26' } })
    }
    asked.resolve()
    await release.promise
    // The page may have aborted it.
    await route.fulfill({ json: { jobs: down(25, 1).map(listedJob), next_cursor: null } }).catch(() => undefined)
  })
  await page.goto('/')
  await signIn(page, service.ready.api_key)
  await expectCount(rows(page)).toBe(25)
  const late = { predicate: (request: Request) => request.url().includes('cursor=26') }
  const ended = Promise.race([page.waitForEvent('requestfinished', late), page.waitForEvent('requestfailed', late)])
  await page.getByRole('button', { name: 'Show more' }).click()
  await asked.promise
  await page.getByRole('radio', { name: 'Failed' }).check()
  await page.getByText('film-90.mp4').waitFor()
  await expectCount(rows(page)).toBe(25)
  await expectUnchanged(
    () => rows(page).allTextContents(),
    async () => {
      release.resolve()
      await ended
      await askedAgain(page, 'state=failed')
    },
  )
  await page.getByRole('radio', { name: 'All' }).check()
  await page.getByText('film-50.mp4').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expectCount(rows(page)).toBe(50)
})

test('uploads that were asked for with More stay while one is under way, and one of them is deleted', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  const uploads = new Set(down(60, 1))
  const listed = (number: number) => ({
    uploaded_file_number: number,
    input: `${service.base}/uploads/${number}`,
    name: `film-${number}.mp4`,
    content_type: 'video/mp4',
    size: 1000,
    received: number === 60 ? 100 : 1000,
    state: number === 60 ? 'receiving' : 'ready',
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await page.route('**/uploads?*', async (route) => {
    const before = Number(new URL(route.request().url()).searchParams.get('cursor') ?? Infinity)
    const left = [...uploads].filter((number) => number < before)
    const next = left.length > 50 ? String(left[49]) : null
    await route.fulfill({ json: { uploads: left.slice(0, 50).map(listed), next_cursor: next } })
  })
  await page.route('**/uploads/*', async (route) => {
    uploads.delete(Number(route.request().url().split('/').at(-1)))
    await route.fulfill({ status: 204 })
  })
  await page.goto('/files')
  await signIn(page, service.ready.api_key)
  await expectCount(rows(page)).toBe(50)
  await page.getByRole('button', { name: /^(Load m|M)ore$/ }).click()
  await expectCount(rows(page)).toBe(60)
  const count = () => rows(page).count()
  await expectUnchanged(count, () => askedAgain(page, '/uploads?limit=50'))
  await page.getByRole('button', { name: 'Delete film-3.mp4' }).click()
  await page.getByRole('button', { name: 'Delete upload' }).click()
  await expectCount(rows(page)).toBe(59)
  await expectCount(page.getByText('film-3.mp4')).toBe(0)
  await expectUnchanged(count, () => askedAgain(page, '/uploads?limit=50'))
  expect(await complaints()).toEqual([])
})

test('a late job response does not move the progress bar back', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  const clip = await makeClip(tempDir.file('long.mp4'), { width: 640, height: 360, seconds: 30 })
  const large = { videoProfiles: [{ output: 'video.mp4', width: 1280, height: 720, video_bitrate: 2500 }] }
  const id = await service.create(jobRequest(await service.upload(clip), 'file-upload', large))
  await service.waitForEncoding(id)
  const late = Promise.withResolvers<number>()
  const release = Promise.withResolvers<void>()
  const next = Promise.withResolvers<void>()
  let readings = 0
  await page.route(`**/api/v0/job/${id}`, async (route) => {
    readings += 1
    if (readings === 3) next.resolve()
    if (readings !== 2) return route.continue()
    const response = await route.fetch()
    const { status } = (await response.json()) as { status: { tcode_progress: string } }
    late.resolve(Number(status.tcode_progress))
    await release.promise
    await route.fulfill({ response })
  })
  await page.addInitScript(RECORD_PROGRESS)
  let before: number
  {
    // Keeps the job from ending before it is checked.
    using _frozen = service.pauseEncoders()
    await page.goto(`/jobs/${id}`)
    await signIn(page, service.ready.api_key)
    before = await late.promise
  }
  // From the event stream: the second poll is still held back.
  await expectInPage(page, `percents.at(-1) > ${before}`, JOB_TIMEOUT_MS).toBe(true)
  release.resolve()
  // The page polls a third time when it has processed the second answer.
  await next.promise
  await expectInPage<number[]>(page, 'percents').toSatisfy(isRising)
  expect(await complaints()).toEqual([])
})
