// In charge of: the upload page for visitors from the documentation (docs/examples), unchanged, with its backend and
// from a separate origin: it uploads with a token, survives a dropped connection, can be cancelled, and never has the
// API key.
// Not in charge of: what tokens permit (test/worker/uploads/uploadTokens.test.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { ROOT, Service, waitFor } from '../../../support/service.ts'
import { launchChromium, requireChromium, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { waitForText } from '../../../support/browser/pageAssertions.ts'
import { Gate } from '../../../support/http/gate.ts'

const chromium = await findChromium()
let service: Service
let browser: Browser
let line: Gate
let backend: ChildProcess
let address: string

const FILE = { name: 'Größe.mp4', mimeType: 'video/mp4', buffer: randomBytes(6_000_000) }

beforeAll(async () => {
  if (chromium === null) return
  service = await Service.start()
  line = await Gate.open(Number(new URL(service.base).port))
  const env = {
    ...process.env,
    SPLICEPOINT_URL: `http://${line.host}`,
    SPLICEPOINT_KEY: service.ready.api_key,
    PORT: '0',
  }
  backend = spawn(process.execPath, [join(ROOT, 'docs/examples/visitor-backend.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ;[address] = (await once(createInterface({ input: backend.stdout! }), 'line')) as [string]
  browser = await launchChromium(chromium)
})
afterAll(async () => {
  await browser?.close()
  backend?.kill()
  await line?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})
beforeEach((context) => requireChromium(context, chromium))

async function open() {
  const { page, complaints } = await openDashboard(browser, address)
  const bodies: string[] = []
  page.on('response', (response) => {
    void response.text().then(
      (text) => bodies.push(text),
      () => undefined,
    )
  })
  await page.goto('/')
  await page.getByLabel('Video').setInputFiles(FILE)
  await page.getByRole('button', { name: 'Upload' }).click()
  return { page, complaints, bodies }
}

test('the page uploads from its own origin, its backend creates the job, and no response contains the API key', async () => {
  const { page, complaints, bodies } = await open()
  const status = page.getByRole('status')
  await status.filter({ hasText: /^Uploaded\. Your video is being prepared \(job \d+\)\.$/ }).waitFor()
  const job = Number(/job (\d+)/.exec(await waitForText(status, /job \d+/))?.[1])
  const { config }: any = await (await service.call(`/api/v0/job/${job}`)).json()
  expect(config).toMatchObject({ preset: 'hls', metadata: { visitor: 'a visitor' } })
  const stored = await service.call(`/uploads/${config.input}`)
  expect(Buffer.from(await stored.arrayBuffer()).equals(FILE.buffer)).toBe(true)
  const { uploads }: any = await (await service.call('/uploads')).json()
  expect(uploads[0]).toMatchObject({ name: FILE.name, token: { name: 'a visitor' } })
  expect(bodies.length).toBeGreaterThan(1)
  expect(bodies.join('\n')).not.toContain(service.ready.api_key)
  expect(await complaints()).toEqual([])
  await page.context().close()
})

test('a connection that drops costs nothing but the bytes on their way', async () => {
  const { faults } = line
  line.fault = { after: 2_000_000, kind: 'cut' }
  const { page } = await open()
  await page
    .getByRole('status')
    .filter({ hasText: /^Uploaded/ })
    .waitFor()
  expect(line.faults).toBe(faults + 1)
  const { uploads }: any = await (await service.call('/uploads?limit=1')).json()
  const stored = await service.call(`/uploads/${uploads[0].uploaded_file_number}`)
  expect(Buffer.from(await stored.arrayBuffer()).equals(FILE.buffer)).toBe(true)
  await page.context().close()
})

test('a cancelled upload is removed', async () => {
  const count = async () => {
    const listed: any = await (await service.call('/uploads')).json()
    return listed.uploads.length as number
  }
  const before = await count()
  const { faults } = line
  line.fault = { after: 1_000_000, kind: 'hold' }
  const { page } = await open()
  await waitFor('some bytes to be sent', () => line.faults > faults)
  expect(await count()).toBe(before + 1)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('status').filter({ hasText: 'Upload cancelled.' }).waitFor()
  await waitFor('the upload to be removed', async () => (await count()) === before)
  await page.context().close()
})
