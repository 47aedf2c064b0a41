// In charge of: the tab stops from the start of a page to an element.
import type { Page } from 'playwright-core'

// As text: this runs in the page, whose types are not Node's.
const NAME = `(() => {
  const element = document.activeElement
  return (element.ariaLabel || element.labels?.[0]?.textContent || element.textContent || element.tagName).trim()
})()`

/** The names of the stops; the last one is the element's. @throws if it is not among the first 50 */
export async function tabStopsTo(page: Page, name: string): Promise<string[]> {
  const stops: string[] = []
  while (stops.length < 50) {
    await page.keyboard.press('Tab')
    // The key press was handled before this: both go through the page's own queue.
    const at = await page.evaluate<string>(NAME)
    stops.push(at.slice(0, 40))
    if (at === name) return stops
  }
  throw new Error(`no stop is called ${name}: ${stops.join(' | ')}`)
}
