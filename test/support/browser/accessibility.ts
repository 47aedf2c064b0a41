// In charge of: what holds for every page in every appearance: axe-core finds nothing, nothing overflows the screen;
// with SCREENSHOTS=directory, it saves a screenshot for review by a person.
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { sampled } from '../longForm.ts'
import { saveScreenshot } from './dashboardPage.ts'
import { expectInPage } from './pageAssertions.ts'

/** Findings of axe-core, whatever their severity, each with the element. */
async function violations(page: Page): Promise<string[]> {
  // Evaluated outside the page's content security policy, which forbids foreign scripts; and again in case the page was
  // reloaded.
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
  // Polled, as all page assertions are: a colour that fades in has too little contrast until the transition ends.
  await expect.poll(() => violations(page), { message: name }).toEqual([])
  // A phone must not scroll sideways.
  await expectInPage<number>(page, 'document.documentElement.scrollWidth - innerWidth').toBeLessThanOrEqual(0)
}

const ALL_APPEARANCES: readonly [name: string, options: BrowserContextOptions][] = [
  ['phone', { viewport: { width: 390, height: 844 } }],
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
]

/** The appearances in which each page is tested; in the short form only the narrowest. */
export const APPEARANCES = sampled(ALL_APPEARANCES, 1)
