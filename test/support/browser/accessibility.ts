// In charge of: what holds for every page in every look: no finding of axe-core, nothing beside the screen, and for
// people who look at them themselves, a picture (SCREENSHOTS=directory).
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { saveScreenshot } from './dashboardPage.ts'
import { expectInPage } from './pageAssertions.ts'

/** Findings of axe-core, whatever their severity, each with the element. */
async function violations(page: Page): Promise<string[]> {
  // Run past the page's policy, which forbids scripts of others; and again, should the page have been loaded anew.
  await page.evaluate(axe.source)
  const results = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return (results as { id: string; nodes: { html: string }[] }[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

export async function checkAccessibility(page: Page, name: string, fullPage = true): Promise<void> {
  await saveScreenshot(page, name, fullPage)
  // Asked again, as everything of a page: a colour that fades in has too little contrast until it is there.
  await expect.poll(() => violations(page), { message: name }).toEqual([])
  // A phone has no room to scroll sideways.
  await expectInPage<number>(page, 'document.documentElement.scrollWidth - innerWidth').toBeLessThanOrEqual(0)
}

/** The three looks that each page is seen in. */
export const APPEARANCES = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 } }],
] as const
