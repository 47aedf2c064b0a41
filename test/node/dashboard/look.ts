// In charge of: what holds for every page in every look: no serious finding of axe-core, nothing beside the screen, and for
// people who look at them themselves, a picture (SCREENSHOTS=directory).
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { shoot } from './browser.ts'

/** Serious findings of axe-core, each with the element. The script is run past the page's policy, which forbids others. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const results = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return (results as { id: string; impact: string; nodes: { html: string }[] }[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

export async function lookAt(page: Page, name: string): Promise<void> {
  await shoot(page, name)
  expect(await violations(page), name).toEqual([])
  // A phone has no room to scroll sideways.
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).toBeLessThanOrEqual(0)
}

/** The three looks that each page is seen in. */
export const LOOKS = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 } }],
] as const
