// In charge of: an administrator's use of the dashboard: API keys and accounts; and what those pages show to other
// users.
// Not in charge of: the effects in the service (test/worker/admin/apiKeys.test.ts, quotas.test.ts).
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Key } from '#contract/api/administration.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { checkAccessibility, APPEARANCES } from '../../../support/browser/accessibility.ts'
import {
  expectAttribute,
  expectCount,
  expectFocus,
  expectInPage,
  expectValue,
  waitForValue,
} from '../../../support/browser/pageAssertions.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser

const resources = fileResources()
beforeAll(async () => {
  if (chromium === null) return
  const prices = { USAGE_PRICES: '{"currency":"EUR","output_hour":{"default":360}}' }
  service = resources.use(await Service.start({ LEASE_SECONDS: '30', ...prices }))
  browser = resources.use(await launchChromium(chromium))
})
beforeEach((context) => requireChromium(context, chromium))

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')
const newKey = (page: Page) => page.getByRole('textbox', { name: 'New API key' })

async function open(path: string, key = service.ready.admin_key, options: Parameters<typeof openDashboard>[2] = {}) {
  const visited = await openDashboard(browser, service.base, options)
  await visited.page.goto(path)
  await signIn(visited.page, key)
  return visited
}

/** An admin key may not use jobs, another key may not list keys, and invalid input is refused as well. */
const unexpected = (complaint: string): boolean => !/40[03]/.test(complaint)

const statusOf = (key: string): Promise<number> =>
  fetch(`${service.base}/api/v0/job`, { headers: { authorization: `Basic ${btoa(`${key}:`)}` } }).then(
    ({ status }) => status,
  )

const asAdmin = (path: string): Promise<Response> =>
  fetch(service.base + path, { headers: { authorization: `Basic ${btoa(`${service.ready.admin_key}:`)}` } })

async function create(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  const form = page.getByRole('form', { name: 'Create API key' })
  await form.getByLabel('Name').fill(name)
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await rows(page).filter({ hasText: name }).waitFor()
  return waitForValue(newKey(page), /^sp_/)
}

test('a key is created, shown once, rotated and revoked', async () => {
  const { page, complaints } = await open('/keys')
  const key = await create(page, 'For the test')
  expect(await statusOf(key)).toBe(200)
  await checkAccessibility(page, 'keys-created')
  await page.getByRole('button', { name: 'Rotate For the test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page.getByText('1 revoked key').waitFor()
  const rotated = await waitForValue(newKey(page), /^sp_/)
  expect(rotated).not.toBe(key)
  expect(await statusOf(rotated)).toBe(200)
  await page.getByRole('button', { name: 'Revoke For the test' }).click()
  await checkAccessibility(page, 'keys-question', false)
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('2 revoked keys').click()
  await expectCount(page.getByText('Revoked', { exact: true })).toBe(2)
  // A key is cached as valid for up to a minute; the list shows the current state.
  const answer = await asAdmin('/api/v0/keys')
  const { keys } = (await answer.json()) as { keys: Key[] }
  const named = keys.filter((each) => each.label === 'For the test')
  expect(named.map((each) => each.revoked_at === null)).toEqual([false, false])
  await page.reload()
  await expectCount(newKey(page)).toBe(0)
  expect((await complaints()).filter(unexpected)).toEqual([])
})

test('limits and a webhook are set on a key, rejected next to their fields with form labels, and changed', async () => {
  const { page, complaints } = await open('/keys')
  await page.addInitScript('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
  await page.reload()
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  const form = page.getByRole('form', { name: 'Create API key' })
  await form.getByLabel('Name').fill('Studio')
  await form.getByText('Limits and webhook').click()
  await form.getByLabel('Requests per minute').fill('0')
  await form.getByLabel('Stored uploads (GB)').fill('much')
  await form.getByLabel('Webhook address').fill('https://hooks.example.com/in?token=1')
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await expectAttribute(form.getByLabel('Requests per minute'), 'aria-invalid').toBe('true')
  await form.getByText('Enter a whole number from 1 to 1,000,000.').waitFor()
  await form.getByText('Enter a number of gigabytes, 0 or more.').waitFor()
  await expectFocus(page, 'inputMode').toBe('decimal')
  await checkAccessibility(page, 'keys-problems', false)
  await form.getByLabel('Requests per minute').fill('90')
  await form.getByLabel('Stored uploads (GB)').fill('50')
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await waitForValue(newKey(page), /^sp_/)
  await page.getByRole('button', { name: 'Copy the API key' }).click()
  await page.getByRole('alert').getByText('Select the text').waitFor()

  const row = rows(page).filter({ hasText: 'Studio' })
  const terms = (texts: string[]) =>
    expectCount(row.locator('.tag').filter({ hasText: new RegExp(`^(${texts.join('|')})$`) }))
  await terms(['90 requests per minute', '50 GB of uploads', 'webhook https://hooks.example.com/in.*']).toBe(3)
  await row.getByRole('button', { name: 'Edit Studio' }).click()
  const edit = page.getByRole('form', { name: 'Edit Studio' })
  await expectValue(edit.getByLabel('Stored uploads (GB)')).toBe('50')
  await edit.getByLabel('Requests per minute').fill('')
  await edit.getByLabel('Priority').fill('11')
  await edit.getByRole('button', { name: 'Save' }).click()
  await expectAttribute(edit.getByLabel('Priority'), 'aria-invalid').toBe('true')
  await edit.getByLabel('Priority').fill('4')
  await edit.getByRole('button', { name: 'Save' }).click()
  await terms(['50 GB of uploads', 'priority 4', 'webhook https://hooks.example.com/in.*']).toBe(3)
  await terms(['90 requests per minute']).toBe(0)
  await expectFocus(page, 'textContent').toBe('Edit Studio')
  expect((await complaints()).filter(unexpected)).toEqual([])
})

test('quotas of an account are saved, and default values are not stored', async () => {
  const { page, complaints } = await open('/accounts')
  await rows(page).filter({ hasText: 'default' }).waitFor()
  await page.getByRole('button', { name: 'Add account' }).click()
  const form = page.getByRole('form', { name: 'Add account' })
  await form.getByLabel('Account').fill('Not so')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter 1 to 40 lower-case letters').waitFor()
  await form.getByLabel('Account').fill('studio')
  await form.getByLabel('Running jobs').fill('-1')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter a whole number from 0 to 1,000,000.').waitFor()
  await form.getByLabel('Running jobs').fill('2')
  await form.getByLabel('Stored uploads (GB)').fill('0.5')
  await form.getByRole('button', { name: 'Save' }).click()
  const row = rows(page).filter({ hasText: 'studio' })
  await row.getByText('500 MB').waitFor()
  await row.getByRole('button', { name: 'Edit studio' }).click()
  const edit = page.getByRole('form', { name: 'Quotas of studio' })
  await expectValue(edit.getByLabel('Active jobs')).toBe('')
  await expectValue(edit.getByLabel('Running jobs')).toBe('2')
  await checkAccessibility(page, 'accounts-quotas', false)
  await edit.getByLabel('Weight').fill('2.5')
  await edit.getByRole('button', { name: 'Save' }).click()
  await row.getByText('2.5', { exact: true }).waitFor()
  const answer = await asAdmin('/api/v0/accounts')
  const { accounts } = (await answer.json()) as { accounts: { account: string }[] }
  expect(accounts.find(({ account }) => account === 'studio')).toMatchObject({
    max_running: 2,
    max_stored_upload_bytes: 5e8,
    weight: 2.5,
  })
  expect((await complaints()).filter(unexpected)).toEqual([])
})

test('usage of a month is a table with its costs, the spend cap is a bar, and CSV is downloaded', async () => {
  const tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 2 })
  const { state } = await service.run(jobRequest(await service.upload(clip), 'file-upload'))
  expect(state).toBe('ready')
  const { page, complaints } = await open('/accounts')
  await rows(page).getByRole('button', { name: 'Edit default' }).click()
  const form = page.getByRole('form', { name: 'Quotas of default' })
  await form.getByLabel('Spend cap per month').fill('0.3')
  await form.getByLabel('Webhook address of the cap').fill('http://127.0.0.1/')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Webhook address of the cap is refused').waitFor()
  await form.getByLabel('Webhook address of the cap').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await rows(page).getByText('0.3 a month').waitFor()
  await page.goto('/usage')
  await page.getByRole('heading', { name: 'default' }).waitFor()
  await checkAccessibility(page, 'usage-accounts')

  const own = await open('/usage', service.ready.api_key)
  const row = own.page.getByRole('row').filter({ hasText: '240p · H.264' })
  await row.getByText(/^0\.2\d* EUR$/).waitFor()
  await expectAttribute(own.page.getByRole('progressbar', { name: 'Spend cap' }), 'aria-valuenow').toMatch(/^6\d$/)
  const downloading = own.page.waitForEvent('download')
  await own.page.getByRole('button', { name: 'Download CSV' }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  expect(csv).toMatch(/^month,account,item,class,.*\r\n/)
  expect(csv).toContain(',default,output_hours,240p h264,')
  await checkAccessibility(own.page, 'usage')
  expect((await own.complaints()).filter(unexpected)).toEqual([])
  expect((await complaints()).filter(unexpected)).toEqual([])
})

test('the months of usage are bars and a table of the same', async () => {
  const { page } = await openDashboard(browser, service.base)
  const hours = { '2026-11': 1, '2026-10': 2 }
  await page.route('**/api/v0/usage**', (route) => {
    const month = new URL(route.request().url()).searchParams.get('month') ?? '2026-11'
    const quantity = hours[month as keyof typeof hours]
    const line = { item: 'output_hours', class: '', quantity, unit_price: null, currency: null, cost: null }
    const months = Object.keys(hours)
    return route.fulfill({
      json: { month, account: 'a', lines: [line], costs: [], spend_cap: null, notices: [], months },
    })
  })
  await page.goto('/usage')
  await signIn(page, service.ready.api_key)
  const history = page.getByRole('region', { name: 'Output by month' })
  await history.getByRole('row', { name: /2026-10.*2 h/ }).waitFor()
  const heights = `[...document.querySelectorAll('.chart rect')].map((bar) => Number(bar.getAttribute('height')))`
  await expectInPage<number[]>(page, heights).toEqual([60, 120])
  await checkAccessibility(page, 'usage-months')
})

test('a user without an admin key is told how to get one, and rotates the webhook signing secret', async () => {
  const { page, complaints } = await open('/keys', service.ready.api_key)
  await page.getByText('npm start').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Webhooks' }).click()
  const signing = page.getByRole('region', { name: 'Webhook signing secret' })
  await signing.getByRole('button', { name: 'Create secret' }).click()
  const secret = await waitForValue(signing.getByRole('textbox', { name: 'New signing secret' }), /^whsec_/)
  await signing.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expectValue(signing.getByRole('textbox', { name: 'New signing secret' })).not.toBe(secret)
  await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Sign in with an admin key' }).click()
  await page.getByText('Sign in with an admin key to manage').waitFor()
  await signIn(page, service.ready.admin_key)
  await page.getByRole('button', { name: 'Create API key' }).first().waitFor()
  expect((await complaints()).filter(unexpected)).toEqual([])
})

test.for(APPEARANCES)('pages of administration are readable: %s', async ([look, options]) => {
  const { page, complaints } = await open('/keys', service.ready.admin_key, options)
  await page.getByRole('status', { name: /^Loading/ }).waitFor({ state: 'detached' })
  await create(page, `Look ${look}`)
  await checkAccessibility(page, `keys-${look}`)
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  await page.getByRole('dialog').getByText('Limits and webhook').click()
  await checkAccessibility(page, `keys-form-${look}`, false)
  await page.goto('/accounts')
  await rows(page).first().waitFor()
  await checkAccessibility(page, `accounts-${look}`)
  await page.goto('/usage')
  await page.getByRole('combobox', { name: 'Month' }).waitFor()
  await checkAccessibility(page, `usage-${look}`)
  await page.goto('/transcoders')
  await page.getByText('At fixed addresses').waitFor()
  await checkAccessibility(page, `transcoders-${look}`)
  expect((await complaints()).filter(unexpected)).toEqual([])
})
