// In charge of: a headless Chromium with a fresh profile that collects the console errors of its pages.
// Not in charge of: what tests do in the pages.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { STEP_TIMEOUT_MS } from '../timeouts.ts'
import { skipTest } from '../requirement.ts'
import { CHROMIUM_FLAGS } from './playerBrowser.ts'
import { waitFor } from '../service.ts'

export const NO_CHROMIUM = 'Chromium is not installed (apt install chromium, or CHROMIUM_PATH)'

/** Skips the test with a message if there is no Chromium; fails it if REQUIRE_ALL is set. */
export function requireChromium(context: TestContext, path: string | null): void {
  if (path === null) skipTest(context, NO_CHROMIUM)
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: CHROMIUM_FLAGS, timeout: STEP_TIMEOUT_MS })
}

export interface DashboardPage {
  page: Page
  /** All console and script errors so far, including those still on their way from the browser. */
  complaints: () => Promise<string[]>
}

export async function openDashboard(
  browser: Browser,
  base: string,
  options: BrowserContextOptions = {},
): Promise<DashboardPage> {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 900 }, ...options })
  context.setDefaultTimeout(STEP_TIMEOUT_MS)
  const page = await context.newPage()
  await slowDown(page)
  const heard: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') heard.push(message.text())
  })
  page.on('pageerror', (error) => heard.push(String(error)))
  const marks = new Set<string>()
  const complaints = async (): Promise<string[]> => {
    // Messages arrive in order: when this marker has arrived, everything logged before it has arrived too.
    const mark = `mark ${randomUUID()}`
    marks.add(mark)
    await page.evaluate(`console.error(${JSON.stringify(mark)})`)
    await waitFor('the console to be read to its end', () => heard.includes(mark))
    return heard.filter((text) => !marks.has(text))
  }
  return { page, complaints }
}

/** To check that tests wait correctly: SLOWDOWN=20 leaves a page a twentieth of the CPU. */
async function slowDown(page: Page): Promise<void> {
  const rate = Number(process.env['SLOWDOWN'] ?? 1)
  if (rate <= 1) return
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
}

/** Waits until the page has accepted the key: before that, a reload or another address would ask for it again. */
export async function signIn(page: Page, key: string): Promise<void> {
  await trySignIn(page, key)
  await page.locator('main.sign-in').waitFor({ state: 'detached' })
}

/** Types a key that may be rejected. */
export async function trySignIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** For review by a person: SCREENSHOTS=directory. */
export async function saveScreenshot(page: Page, name: string, fullPage = true): Promise<void> {
  const directory = process.env['SCREENSHOTS']
  if (directory) await page.screenshot({ path: join(directory, `${name}.png`), fullPage })
}
