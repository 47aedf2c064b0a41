// In charge of: what a page shows, as assertions that ask again until it is so (PATIENCE_MS): a page answers a key, a click or
// an address when it gets to it, and a single reading is of before or after by chance. Tests read a page through here alone
// (pageAssertions.test.ts holds them to it).
import type { Locator, Page } from 'playwright-core'
import { expect, type Assertion } from 'vitest'
import { PATIENCE_MS } from '../timeouts.ts'
import { until } from '../service.ts'

type Waiting<T> = Assertion<Promise<void>, T>

/** Path, query and fragment. */
export const expectAddress = (page: Page): Waiting<string> =>
  expect.poll(
    () => {
      const { pathname, search, hash } = new URL(page.url())
      return pathname + search + hash
    },
    { message: 'address' },
  )
export const expectTitle = (page: Page): Waiting<string> => expect.poll(() => page.title(), { message: 'title' })
export const expectCount = (locator: Locator): Waiting<number> =>
  expect.poll(() => locator.count(), { message: `count of ${String(locator)}` })
export const expectTexts = (locator: Locator): Waiting<string[]> =>
  expect.poll(async () => (await locator.allTextContents()).map((text) => text.trim()), {
    message: `texts of ${String(locator)}`,
  })
export const expectText = (locator: Locator): Waiting<string> =>
  expect.poll(async () => ((await locator.textContent()) ?? '').trim(), { message: `text of ${String(locator)}` })
export const expectJson = (locator: Locator): Waiting<unknown> =>
  expect.poll(async () => JSON.parse((await locator.textContent()) ?? '') as unknown, {
    message: `JSON of ${String(locator)}`,
  })
export const expectValue = (locator: Locator): Waiting<string> =>
  expect.poll(() => locator.inputValue(), { message: `value of ${String(locator)}` })
export const expectAttribute = (locator: Locator, name: string): Waiting<string | null> =>
  expect.poll(() => locator.getAttribute(name), { message: `${name} of ${String(locator)}` })

/** The number at the end of the address, once it is of a job's page. */
export const jobNumber = (page: Page): Promise<number> =>
  until('the page of a job', () => Number(/\/jobs\/(\d+)$/.exec(page.url())?.[1]) || null)

/** What an expression gives in the page. (As text: the page's types are not Node's.) */
export const expectInPage = <T>(page: Page, expression: string, timeout = PATIENCE_MS): Waiting<T> =>
  expect.poll(() => page.evaluate<T>(expression), { message: expression, timeout })
/** A property of the element that has the focus. */
export const expectFocus = (page: Page, property: 'ariaLabel' | 'id' | 'inputMode' | 'textContent'): Waiting<string> =>
  expectInPage(page, `(document.activeElement?.${property} ?? '').trim()`)

/** The value of a field once it looks like this. */
export const valueLike = (locator: Locator, pattern: RegExp): Promise<string> =>
  until(`${String(locator)} to be like ${pattern}`, async () => pattern.exec(await locator.inputValue())?.input)
/** The same of a text. */
export const textLike = (locator: Locator, pattern: RegExp): Promise<string> =>
  until(
    `${String(locator)} to be like ${pattern}`,
    async () => pattern.exec((await locator.textContent()) ?? '')?.input,
  )

/**
 * For what must not happen: the same is read before and after `passed`, which is done when the moment in which it could have
 * happened is over. What it was before is for a waiting assertion to tell.
 */
export async function expectUnchanged<T>(read: () => Promise<T>, passed: () => Promise<unknown>): Promise<void> {
  const before = await read()
  await passed()
  expect(await read()).toEqual(before)
}
