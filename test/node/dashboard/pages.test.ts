// In charge of: what happens on a page while something else is under way: lists that are read again, answers that come late,
// a clipboard that refuses. Not in charge of: whole ways through the dashboard (walk.test.ts, history.test.ts).
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeClip, workspace } from '../media.ts'
import { JOB_PATIENCE_MS } from '../patience.ts'
import { findChromium } from '../players/browser.ts'
import { jobOf, Service } from '../service/service.ts'
import { launch, requireChromium, signIn, visit } from './browser.ts'
import { isRising, KEEP_SHOWN } from './kept.ts'
<<<<<<< HEAD
import { expectCount, expectInPage, expectJson, expectUnchanged, expectValue } from './seen.ts'
=======
import { lookAt, LOOKS } from './look.ts'
import { expectAttribute, expectCount, expectFocus, expectInPage, expectUnchanged, valueLike } from './seen.ts'
>>>>>>> 54d10df (Create jobs from the source on: files that upload while the job is set up, analysed at once, with presets that fit them)

const chromium = await findChromium()
let service: Service
let browser: Browser
let space: Awaited<ReturnType<typeof workspace>>

beforeAll(async () => {
  if (chromium === null) return
  space = await workspace()
  service = await Service.start({ LEASE_SECONDS: '30' })
  browser = await launch(chromium)
})
afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})
beforeEach((context) => requireChromium(context, chromium))

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')

/** Done when the page has asked again and done what it does with the answers: it asks when it is done with the one before. */
async function askedAgain(page: Page, query: string): Promise<void> {
  const answer = () => page.waitForResponse((response) => response.url().includes(query))
  // The first may have been asked for before; the second is behind what came of it.
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

test('a further page that arrives after the filters were changed is not put behind the new list', async () => {
  const { page } = await visit(browser, service.base)
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
    // The page may have given it up.
    await route.fulfill({ json: { jobs: down(25, 1).map(listedJob), next_cursor: null } }).catch(() => undefined)
  })
  await page.goto('/')
  await signIn(page, service.ready.api_key)
  await expectCount(rows(page)).toBe(25)
  const late = { predicate: (request: Request) => request.url().includes('cursor=26') }
  const ended = Promise.race([page.waitForEvent('requestfinished', late), page.waitForEvent('requestfailed', late)])
<<<<<<< HEAD
  await page.getByRole('button', { name: 'Show more' }).click()
=======
  await page.getByRole('button', { name: /^(Load m|M)ore$/ }).click()
>>>>>>> 54d10df (Create jobs from the source on: files that upload while the job is set up, analysed at once, with presets that fit them)
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
<<<<<<< HEAD
  await page.getByRole('button', { name: 'Show more' }).click()
=======
  await page.getByRole('button', { name: /^(Load m|M)ore$/ }).click()
>>>>>>> 54d10df (Create jobs from the source on: files that upload while the job is set up, analysed at once, with presets that fit them)
  await expectCount(rows(page)).toBe(50)
})

test('uploads that were asked for with More stay while one is under way, and one of them is deleted', async () => {
  const { page, complaints } = await visit(browser, service.base)
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

test('a reading of a job that comes after later news does not take its bar back', async () => {
  const { page, complaints } = await visit(browser, service.base)
  const clip = await makeClip(space.file('long.mp4'), { width: 640, height: 360, seconds: 30 })
  const large = { videoProfiles: [{ output: 'video.mp4', width: 1280, height: 720, video_bitrate: 2500 }] }
  const id = await service.create(jobOf(await service.upload(clip), 'file-upload', large))
  await service.encoding(id)
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
  await page.addInitScript(KEEP_SHOWN)
  let before: number
  {
    // Not over before it has been looked at.
    using _frozen = service.frozen()
    await page.goto(`/jobs/${id}`)
    await signIn(page, service.ready.api_key)
    before = await late.promise
  }
  // By the event stream: the second reading is still held back.
  await expectInPage(page, `percents.at(-1) > ${before}`, JOB_PATIENCE_MS).toBe(true)
  release.resolve()
  // The page asks for the third when it is done with the second.
  await next.promise
  await expectInPage<number[]>(page, 'percents').toSatisfy(isRising)
  expect(await complaints()).toEqual([])
})

<<<<<<< HEAD
test('a key is typed beside an address that stays', async () => {
  const { page } = await visit(browser, service.base)
  await page.goto('/new')
  await signIn(page, service.ready.api_key)
  await page.getByRole('radio', { name: 'S3 bucket' }).first().check()
  const address = page.getByRole('textbox', { name: /^Address/ })
  await address.fill('s3://bucket/film.mp4')
  await page.getByRole('textbox', { name: 'Access key' }).first().fill('AKIA')
  // The page is done with the key when it shows that the request has one.
  await page.getByText('The request as JSON').click()
  const request = page.getByLabel('The request as JSON', { exact: true })
  await expectJson(request).toMatchObject({
    input: 's3://bucket/film.mp4',
    cloud_credentials: { input: { access_key: expect.stringContaining('•') } },
  })
  await expectValue(address).toBe('s3://bucket/film.mp4')
=======
test('bounds and a webhook are given to a key when it is issued, refused where they stand, and changed', async () => {
  const { page, complaints } = await visit(browser, service.base)
  await page.addInitScript('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
  await page.goto('/')
  await signIn(page, service.ready.admin_key)
  const form = page.getByRole('form', { name: 'Issue a key' })
  await form.getByLabel('Label').fill('Studio')
  await form.getByText('Bounds and webhook').click()
  await form.getByLabel('Requests a minute').fill('0')
  await form.getByLabel('Bytes of stored uploads').fill('50000000000')
  await form.getByText('50 GB.').waitFor()
  await form.getByLabel('Webhook').fill('https://hooks.example.com/in?token=1')
  await form.getByRole('button', { name: 'Issue a key' }).click()
  await expectAttribute(form.getByLabel('Requests a minute'), 'aria-invalid').toBe('true')
  await expectFocus(page, 'inputMode').toBe('decimal')
  await form.getByLabel('Requests a minute').fill('90')
  await form.getByRole('button', { name: 'Issue a key' }).click()
  await valueLike(page.getByLabel('The new key'), /^sp_/)
  await page.getByRole('button', { name: 'Copy this key' }).click()
  await page.getByRole('alert').getByText('select the text yourself').waitFor()

  const row = rows(page).filter({ hasText: 'Studio' })
  await row.getByText('90 requests a minute · 50 GB of uploads · tells https://hooks.example.com/in').waitFor()
  await row.getByRole('button', { name: 'Change Studio' }).click()
  const change = page.getByRole('form', { name: 'Change Studio' })
  await change.getByLabel('Requests a minute').fill('')
  await change.getByLabel('Priority').fill('11')
  await change.getByRole('button', { name: 'Save' }).click()
  await expectAttribute(change.getByLabel('Priority'), 'aria-invalid').toBe('true')
  await lookAt(page, 'keys-change')
  await change.getByLabel('Priority').fill('4')
  await change.getByRole('button', { name: 'Save' }).click()
  await row.getByText('50 GB of uploads · priority 4 · tells https://hooks.example.com/in').waitFor()
  await expectFocus(page, 'textContent').toBe('Change Studio')
  // Refused: jobs to this key, and what was typed wrongly.
  expect((await complaints()).filter((text) => !/40[03]/.test(text))).toEqual([])
  for (const [look, options] of LOOKS) {
    const { page: other } = await visit(browser, service.base, options)
    await other.goto('/')
    await signIn(other, service.ready.admin_key)
    await other.getByText('Bounds and webhook').click()
    await rows(other).getByRole('button', { name: 'Change' }).first().click()
    await lookAt(other, `keys-terms-${look}`)
    await other.context().close()
  }
>>>>>>> 54d10df (Create jobs from the source on: files that upload while the job is set up, analysed at once, with presets that fit them)
})
