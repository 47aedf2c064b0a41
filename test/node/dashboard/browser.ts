// In charge of: a headless Chromium with a fresh profile, whose pages tell what they complain of.
// Not in charge of: what is done in it.
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { FLAGS } from '../players/browser.ts'

/** Skips with a sentence where there is none; fails instead where everything must run. */
export function requireChromium(context: TestContext, path: string | null): void {
  if (path !== null) return
  const sentence = 'Chromium is not installed (apt install chromium, or CHROMIUM_PATH)'
  if (process.env['REQUIRE_ALL'] === '1') throw new Error(sentence)
  context.skip(sentence)
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS })
}

export interface Visit {
  page: Page
  /** Errors of the console and of scripts, so far. */
  complaints: string[]
}

export async function visit(browser: Browser, base: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** For people who look at them: SCREENSHOTS=directory. */
export async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  const directory = process.env['SCREENSHOTS']
  if (directory) await page.screenshot({ path: join(directory, `${name}.png`), fullPage })
}
