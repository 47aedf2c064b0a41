// In charge of: finding jobs and uploads in the dashboard, and using it without a mouse.
import type { Browser, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAddress,
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectTexts,
  expectTitle,
  expectValue,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
/** Has no file. */
let empty: LoopbackServer

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('Große Übung.mp4'), { seconds: 1 })
  empty = resources.use(await LoopbackServer.serve((_request, response) => response.writeHead(404).end()))
  service = resources.use(await Service.start({ LEASE_SECONDS: '30', ALLOW_PRIVATE_HOSTS: empty.host }))
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')

test('an account without jobs sees how to start', async () => {
  for (const [look, options] of APPEARANCES) {
    const { page, complaints } = await openDashboard(browser, service.base, options)
    await page.goto('/')
    await signIn(page, service.ready.api_key)
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor()
    await checkAccessibility(page, `jobs-empty-${look}`)
    await page.goto('/files')
    await page.getByRole('heading', { name: 'No uploads yet' }).waitFor()
    await checkAccessibility(page, `uploads-empty-${look}`)
    expect(await complaints()).toEqual([])
  }
})

test.for<[name: string, begin: (page: Page) => Promise<void>]>([
  ['Große Übung.mp4', (page) => page.getByLabel('Choose files').setInputFiles(tempDir.file('Große Übung.mp4'))],
  ['sample.mp4', (page) => page.getByRole('button', { name: /sample/ }).click()],
])(
  'where there are no jobs yet, a dropped file or the sample is the source of the first one: %s',
  async ([name, begin]) => {
    const { page, complaints } = await openDashboard(browser, service.base)
    await page.goto('/')
    await signIn(page, service.ready.api_key)
    await begin(page)
    await expectAddress(page).toBe('/new')
    await page.getByRole('status').filter({ hasText: 'Source analysed' }).waitFor()
    await rows(page).filter({ hasText: name }).waitFor()
    expect(await complaints()).toEqual([])
    await page.context().close()
    const { uploads } = (await (await service.call('/uploads')).json()) as {
      uploads: { uploaded_file_number: number }[]
    }
    for (const { uploaded_file_number: number } of uploads)
      await service.call(`/uploads/${number}`, { method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } })
  },
)

test('the history is searched and filtered by the service, and its address brings the same again', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  const ids: number[] = []
  for (const name of ['first', 'second', 'first-again']) {
    ids.push(await service.create(jobRequest(`${empty.url}/${name}.mp4`, 'http')))
  }
  for (const id of ids) await service.waitForEnd(id)
  await page.goto('/')
  await signIn(page, service.ready.api_key)
  await expectCount(rows(page)).toBe(3)
  await page.getByRole('searchbox').fill('FIRST')
  await expectTexts(rows(page).getByRole('link')).toEqual(['first-again.mp4', 'first.mp4'])
  await page.getByText('2 jobs.').waitFor()
  await page.getByRole('radio', { name: 'Failed' }).check()
  await page.getByRole('combobox', { name: 'Created' }).selectOption({ label: 'Last hour' })
  await expectAddress(page).toBe('/?search=FIRST&state=failed&created=hour')
  await checkAccessibility(page, 'jobs-search')

  // Back from a job shows the same list, also after a reload.
  await rows(page).first().getByRole('link').click()
  await page.getByRole('heading', { name: /first-again/ }).waitFor()
  await page.goBack()
  await expectCount(rows(page)).toBe(2)
  await page.reload()
  await expectCount(rows(page)).toBe(2)
  await expectValue(page.getByRole('searchbox')).toBe('FIRST')

  await page.getByRole('radio', { name: 'Cancelled' }).check()
  await page.getByRole('heading', { name: 'No matching jobs' }).waitFor()
  await checkAccessibility(page, 'jobs-none')
  await page.getByRole('button', { name: 'Show all jobs' }).click()
  await expectCount(rows(page)).toBe(3)
  await expectAddress(page).toBe('/')

  await page.getByRole('heading', { name: 'Jobs' }).click()
  for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
  await expectFocus(page, 'textContent').toBe('first-again.mp4')
  for (const key of ['/', 'k']) await page.keyboard.press(key)
  await expectValue(page.getByRole('searchbox')).toBe('k')
  await page.getByRole('searchbox').fill('')
  await expectCount(rows(page)).toBe(3)

  await page.getByRole('combobox', { name: 'Created' }).selectOption({ label: 'Date range' })
  await page.getByRole('textbox', { name: 'Last day' }).fill('2020-01-01')
  await page.getByRole('heading', { name: 'No matching jobs' }).waitFor()
  await expectAddress(page).toBe('/?to=2020-01-01')
  await page.getByRole('textbox', { name: 'Last day' }).fill('')
  await page.getByRole('searchbox').fill(String(ids[1]))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /second/ }).waitFor()
  expect(await complaints()).toEqual([])
})

test('uploads are listed with what there is of them, become jobs, and are deleted', async () => {
  const { page, complaints } = await openDashboard(browser, service.base)
  await page.goto('/files')
  await signIn(page, service.ready.api_key)
  await page.getByLabel('Choose files').setInputFiles(tempDir.file('Große Übung.mp4'))
  await expectCount(rows(page).filter({ hasText: 'Create job from Große Übung.mp4' })).toBe(1)
  await expectCount(rows(page)).toBe(1)
  const tus = { 'tus-resumable': '1.0.0' }
  const begun = await service.call('/uploads', {
    method: 'POST',
    headers: { ...tus, 'upload-length': '4000', 'upload-metadata': `filename ${btoa('unfinished.mov')}` },
  })
  const { uploaded_file_number: number } = (await begun.json()) as { uploaded_file_number: number }
  await service.call(`/uploads/${number}`, {
    method: 'PATCH',
    headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    body: 'x'.repeat(1000),
  })
  await page.reload()
  const unfinished = rows(page).filter({ hasText: 'unfinished.mov' })
  await expectAttribute(unfinished.getByRole('progressbar'), 'aria-valuenow').toBe('25')
  for (const [look, options] of APPEARANCES) {
    const { page: other } = await openDashboard(browser, service.base, options)
    await other.goto('/files')
    await signIn(other, service.ready.api_key)
    await rows(other).first().waitFor()
    await checkAccessibility(other, `uploads-${look}`)
    await other.context().close()
  }

  await unfinished.getByRole('button', { name: 'Delete unfinished.mov' }).click()
  await page.getByRole('button', { name: 'Delete upload' }).click()
  await expectCount(rows(page)).toBe(1)
  expect((await service.call(`/uploads/${number}`, { method: 'HEAD', headers: tus })).status).toBe(410)

  await page.getByRole('link', { name: 'Create job from Große Übung.mp4' }).click()
  await page.getByRole('heading', { name: 'Große Übung.mp4', level: 3 }).waitFor()
  await page.getByRole('button', { name: 'Create job' }).click()
  await expectAddress(page).toMatch(/^\/jobs\/\d+$/)
  await page.getByRole('heading', { name: /Große Übung\.mp4/ }).waitFor()
  expect(await complaints()).toEqual([])
})

// As text: this runs in the page, whose types are not Node's.
const EXPECTED = `(() => {
  const seen = (element) => element.checkVisibility() && !element.disabled
  // Of a group of radio buttons the chosen one is a stop; arrows lead to the others.
  const stop = (element) => element.type !== 'radio' || element.checked
  globalThis.stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter((element) => seen(element) && stop(element))
  return stops.length
})()`
const AT = `(() => {
  const element = document.activeElement
  // What cannot be seen has no ring that could be.
  const ring = (style) => style.outlineStyle !== 'none' && style.outlineWidth !== '0px' && style.opacity !== '0'
  // A control that is drawn by its label is ringed there.
  const around = [element, element.nextElementSibling, element.closest('label')].filter((each) => each !== null)
  const ringed = ring(getComputedStyle(element, '::after')) || around.some((each) => ring(getComputedStyle(each)))
  return { at: stops.indexOf(element), ringed, what: element.outerHTML.slice(0, 120) }
})()`

/** Tab reaches every control, and the focus is visible. */
async function reachable(page: Page): Promise<void> {
  const count = await page.evaluate<number>(EXPECTED)
  const seen = new Set<number>()
  // A date field has a tab stop for each of its parts.
  for (let presses = 0; seen.size < count && presses < 2 * count + 20; presses++) {
    await page.keyboard.press('Tab')
    const { at } = await page.evaluate<{ at: number }>(AT)
    if (at < 0) continue
    await expectInPage(page, AT).toMatchObject({ at, ringed: true })
    seen.add(at)
  }
  const missed = await page.evaluate<string[]>(
    `stops.filter((_, at) => !${JSON.stringify([...seen])}.includes(at)).map((element) => element.outerHTML.slice(0, 120))`,
  )
  expect(missed).toEqual([])
}

test('everything is reached with Tab and shows it; the first stop skips the navigation', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/')
  // The field has the focus without a click.
  await expectFocus(page, 'id').toBe('key')
  await page.keyboard.insertText(service.ready.api_key)
  await page.keyboard.press('Enter')
  await rows(page).first().waitFor()
  const { jobs } = (await (await service.call('/api/v0/job')).json()) as { jobs: { _auto_generated_id_: number }[] }
  for (const path of ['/', `/jobs/${jobs.at(-1)!._auto_generated_id_}`, '/new', '/files', '/limits']) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectCount(page.getByRole('status', { name: /^Loading/ })).toBe(0)
    await page.keyboard.press('Tab')
    await expectFocus(page, 'textContent').toBe('Skip to content')
    await page.keyboard.press('Enter')
    await expectFocus(page, 'id').toBe('main')
    await reachable(page)
  }
})

test('after going to another page the focus is at its top, and a question gives it back', async () => {
  const { page } = await openDashboard(browser, service.base)
  await page.goto('/files')
  await signIn(page, service.ready.api_key)
  await rows(page).first().waitFor()
  await page
    .getByRole('button', { name: /^Delete/ })
    .first()
    .focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await expectCount(page.getByRole('dialog')).toBe(0)
  await expectFocus(page, 'textContent').toMatch(/^Delete/)
  await page.getByRole('link', { name: 'Create job', exact: true }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Create job', level: 1 }).waitFor()
  await expectFocus(page, 'id').toBe('main')
  await expectFocus(page, 'ariaLabel').toBe('Create job')
  await expectTitle(page).toBe('Create job · Splicepoint')
})
