// In charge of: assertions on the content of a page. They poll (STEP_TIMEOUT_MS), because a page reacts to a key, a
// click or an address asynchronously, so a single reading may see the state before or after. Browser tests read a page
// only through this file.
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

/** The number at the end of the address, as soon as it is the address of a job page. */
export const jobNumber = (page: Page): Promise<number> =>
  waitFor('the page of a job', () => Number(/\/jobs\/(\d+)$/.exec(page.url())?.[1]) || null)

/** The value of an expression evaluated in the page. (As text, because the page's types are not Node's.) */
export const expectInPage = <T>(page: Page, expression: string, timeout = STEP_TIMEOUT_MS): PollAssertion<T> =>
  expect.poll(() => page.evaluate<T>(expression), { message: expression, timeout })
/** A property of the focused element. */
export const expectFocus = (
  page: Page,
  property: 'ariaLabel' | 'id' | 'inputMode' | 'textContent',
): PollAssertion<string> => expectInPage(page, `(document.activeElement?.${property} ?? '').trim()`)

/** The value of a field as soon as it matches the pattern. */
export const waitForValue = (locator: Locator, pattern: RegExp): Promise<string> =>
  waitFor(`${String(locator)} to be like ${pattern}`, async () => pattern.exec(await locator.inputValue())?.input)
/** The same for a text. */
export const waitForText = (locator: Locator, pattern: RegExp): Promise<string> =>
  waitFor(
    `${String(locator)} to be like ${pattern}`,
    async () => pattern.exec((await locator.textContent()) ?? '')?.input,
  )

/**
 * For what must not happen: reads the same value before and after `passed`, which resolves when it could no longer
 * happen. The expected value itself is checked by a polling assertion.
 */
export async function expectUnchanged<T>(read: () => Promise<T>, passed: () => Promise<unknown>): Promise<void> {
  const before = await read()
  await passed()
  expect(await read()).toEqual(before)
}
