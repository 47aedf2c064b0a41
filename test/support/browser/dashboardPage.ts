// In charge of: a headless Chromium with a fresh profile, whose pages tell what they complain of.
// Not in charge of: what is done in it.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { STEP_TIMEOUT_MS } from '../timeouts.ts'
import { CHROMIUM_FLAGS } from './playerBrowser.ts'
import { waitFor } from '../service.ts'

/** Skips with a sentence where there is none; fails instead where everything must run. */
export function requireChromium(context: TestContext, path: string | null): void {
  if (path !== null) return
  const sentence = 'Chromium is not installed (apt install chromium, or CHROMIUM_PATH)'
  if (process.env['REQUIRE_ALL'] === '1') throw new Error(sentence)
  context.skip(sentence)
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: CHROMIUM_FLAGS, timeout: STEP_TIMEOUT_MS })
}

export interface DashboardPage {
  page: Page
  /** Errors of the console and of scripts, so far: all of them, also what is still on its way from the browser. */
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
    // They arrive one after the other: what the page said before this mark has arrived when the mark has.
    const mark = `mark ${randomUUID()}`
    marks.add(mark)
    await page.evaluate(`console.error(${JSON.stringify(mark)})`)
    await waitFor('the console to be read to its end', () => heard.includes(mark))
    return heard.filter((text) => !marks.has(text))
  }
  return { page, complaints }
}

/** For people who want to see that tests wait: SLOWDOWN=20 leaves a page a twentieth of the processor. */
async function slowDown(page: Page): Promise<void> {
  const rate = Number(process.env['SLOWDOWN'] ?? 1)
  if (rate <= 1) return
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
}

/** Until the page has taken the key: before that, a reload or another address would ask for it again. */
export async function signIn(page: Page, key: string): Promise<void> {
  await trySignIn(page, key)
  await page.locator('main.sign-in').waitFor({ state: 'detached' })
}

/** With a key that may be refused. */
export async function trySignIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** For people who look at them: SCREENSHOTS=directory. */
export async function saveScreenshot(page: Page, name: string, fullPage = true): Promise<void> {
  const directory = process.env['SCREENSHOTS']
  if (directory) await page.screenshot({ path: join(directory, `${name}.png`), fullPage })
}
