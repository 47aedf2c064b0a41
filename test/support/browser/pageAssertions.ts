// In charge of: what a page shows, as assertions that ask again until it is so (PATIENCE_MS): a page answers a key, a click or
// an address when it gets to it, and a single reading is of before or after by chance. Tests read a page through here alone
// (pageAssertions.test.ts holds them to it).
import type { Locator, Page } from 'playwright-core'
import { expect, type Assertion } from 'vitest'
import { STEP_TIMEOUT_MS } from '../timeouts.ts'
import { waitFor } from '../service.ts'

type PollAssertion<T> = Assertion<Promise<void>, T>

/** Path, query and fragment. */
export const expectAddress = (page: Page): PollAssertion<string> =>
  expect.poll(
    () => {
      const { pathname, search, hash } = new URL(page.url())
      return pathname + search + hash
    },
    { message: 'address' },
  )
export const expectTitle = (page: Page): PollAssertion<string> => expect.poll(() => page.title(), { message: 'title' })
export const expectCount = (locator: Locator): PollAssertion<number> =>
  expect.poll(() => locator.count(), { message: `count of ${String(locator)}` })
export const expectTexts = (locator: Locator): PollAssertion<string[]> =>
  expect.poll(async () => (await locator.allTextContents()).map((text) => text.trim()), {
    message: `texts of ${String(locator)}`,
  })
export const expectText = (locator: Locator): PollAssertion<string> =>
  expect.poll(async () => ((await locator.textContent()) ?? '').trim(), { message: `text of ${String(locator)}` })
export const expectJson = (locator: Locator): PollAssertion<unknown> =>
  expect.poll(async () => JSON.parse((await locator.textContent()) ?? '') as unknown, {
    message: `JSON of ${String(locator)}`,
  })
export const expectValue = (locator: Locator): PollAssertion<string> =>
  expect.poll(() => locator.inputValue(), { message: `value of ${String(locator)}` })
export const expectAttribute = (locator: Locator, name: string): PollAssertion<string | null> =>
  expect.poll(() => locator.getAttribute(name), { message: `${name} of ${String(locator)}` })

/** The number at the end of the address, once it is of a job's page. */
export const jobNumber = (page: Page): Promise<number> =>
  waitFor('the page of a job', () => Number(/\/jobs\/(\d+)$/.exec(page.url())?.[1]) || null)

/** What an expression gives in the page. (As text: the page's types are not Node's.) */
export const expectInPage = <T>(page: Page, expression: string, timeout = STEP_TIMEOUT_MS): PollAssertion<T> =>
  expect.poll(() => page.evaluate<T>(expression), { message: expression, timeout })
/** A property of the element that has the focus. */
export const expectFocus = (
  page: Page,
  property: 'ariaLabel' | 'id' | 'inputMode' | 'textContent',
): PollAssertion<string> => expectInPage(page, `(document.activeElement?.${property} ?? '').trim()`)

/** The value of a field once it looks like this. */
export const waitForValue = (locator: Locator, pattern: RegExp): Promise<string> =>
  waitFor(`${String(locator)} to be like ${pattern}`, async () => pattern.exec(await locator.inputValue())?.input)
/** The same of a text. */
export const waitForText = (locator: Locator, pattern: RegExp): Promise<string> =>
  waitFor(
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
