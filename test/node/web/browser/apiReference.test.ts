// In charge of: the page /docs in a real browser: accessible, in both colour schemes, as wide as a phone, by keyboard.
// Not in charge of: whether its content is correct (test/node/service/api/openapi.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { buildWeb, SITE } from '../../../../scripts/buildWeb.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { sampled } from '../../../support/longForm.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { launchChromium, requireChromium, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility } from '../../../support/browser/accessibility.ts'
import {
  expectAddress,
  expectCount,
  expectFocus,
  expectInPage,
  expectText,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
const POLICY = /Content-Security-Policy: (.*)/
const types: Readonly<Record<string, string>> = {
  '/docs': 'text/html',
  '/docs.css': 'text/css',
  '/docs.js': 'text/javascript',
  '/openapi.json': 'application/json',
  '/icon.svg': 'image/svg+xml',
}
let server: LoopbackServer
let browser: Browser

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  await buildWeb()
  const policy = POLICY.exec(await readFile(join(SITE, '_headers'), 'utf8'))?.[1] ?? ''
  server = resources.use(
    await LoopbackServer.serve((request, response) => {
      const path = request.url ?? ''
      if (path.startsWith('/api/v0/job/')) {
        const { authorization = '' } = request.headers
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path, authorization }))
        return
      }
      const type = types[path]
      readFile(join(SITE, path === '/docs' ? '/docs.html' : path)).then(
        (content) => response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(content),
        () => response.writeHead(404).end(),
      )
    }),
  )
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

const LOOKS: ['light' | 'dark', number][] = [
  ['dark', 375],
  ['light', 375],
  ['light', 1280],
  ['dark', 1280],
]

test.each(sampled(LOOKS, 1))(
  '%s, %i pixels wide: nothing serious for axe, nothing beyond the edge, no complaint',
  async (look, width) => {
    const { page, complaints } = await openDashboard(browser, server.url, {
      colorScheme: look,
      viewport: { width, height: 900 },
    })
    await page.goto('/docs')
    await checkAccessibility(page, `reference-${look}-${width}`, false)
    expect(await complaints()).toEqual([])
  },
)

test('by keyboard: past the contents, to an operation, into its examples', async () => {
  const { page } = await openDashboard(browser, server.url)
  await page.goto('/docs')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'id').toBe('reference')
  await page.getByRole('navigation').getByRole('link', { name: 'POST /api/v0/job', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expectAddress(page).toBe('/docs#createJob')
  const section = page.locator('#createJob')
  await expectInPage<number>(
    page,
    `Math.abs(document.querySelector('#createJob').getBoundingClientRect().top)`,
  ).toBeLessThan(100)
  await section.locator('summary').first().focus()
  await page.keyboard.press('Enter')
  await section.getByText('"_auto_generated_id_": 1').waitFor()
})

test('an operation is tried with a key, and the answer is shown; a missing parameter is named', async () => {
  const { page, complaints } = await openDashboard(browser, server.url)
  await page.goto('/docs')
  await page.getByLabel('API key for “Try it”').fill('sp_key')
  const section = page.locator('#getJob')
  await section.getByText('Try it').click()
  await section.getByRole('button', { name: 'Send' }).click()
  await section.getByText('Fill in id first.').waitFor()
  await section.getByLabel('id (path, required)').fill('7')
  await section.getByRole('button', { name: 'Send' }).click()
  await section.getByText(`"authorization": "Basic ${btoa('sp_key:')}"`).waitFor()
  await section.getByText('"path": "/api/v0/job/7"').waitFor()
  await section.getByText(/^200 OK after/).waitFor()
  await checkAccessibility(page, 'reference-try', false)
  expect(await complaints()).toEqual([])
})

test('the search leaves the operations whose text has every word, and the commands name this service', async () => {
  const { page } = await openDashboard(browser, server.url)
  await page.goto('/docs')
  const contents = page.getByRole('navigation')
  await expectText(page.locator('#variables')).toContain(`BASE=${server.url} `)
  await page.getByRole('searchbox').fill('revoke SHARE')
  await expectCount(contents.getByRole('link', { name: 'DELETE /api/v0/job/{id}/share/{share}' })).toBe(1)
  await expectCount(contents.getByRole('link', { name: 'POST /uploads', exact: true })).toBe(0)
  await expectCount(contents.getByRole('heading', { name: 'Webhooks' })).toBe(0)
  await page.getByRole('searchbox').fill('no such words')
  await expectCount(contents.getByRole('listitem')).toBe(0)
})
