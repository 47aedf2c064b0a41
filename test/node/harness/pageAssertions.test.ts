// In charge of: no browser test takes a single reading of a page: its state is polled (pageAssertions.ts). The source
// text of the tests is checked, so that new tests are covered.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const TESTS = join(import.meta.dirname, '..')
/** In an `await` expression; a function that is passed on is polled by its receiver. */
const awaited = (method: string) => new RegExp(String.raw`\bawait\s(?:(?!=>|;)[^])*?\.${method}\(`, 'g')
const SINGLE = [
  /\b(?:page|other)\.url\(/g,
  awaited('(?:title|content|count|inputValue|textContent|innerText|innerHTML|getAttribute|boundingBox)'),
  awaited('(?:allTextContents|allInnerTexts|isVisible|isHidden|isChecked|isEnabled|isDisabled|isEditable)'),
  /\bexpect\(\s*await\s(?:(?!=>|;)[^])*?\.evaluate\b/g,
]
const singleReadings = (source: string): string[] => SINGLE.flatMap((form) => source.match(form) ?? [])

test.for([
  "expect(new URL(page.url()).hash).toBe('#POST_api_v0_job')",
  'expect(await rows(page).count()).toBe(25)',
  "expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('New job')",
  "const key = await page.getByLabel('The new key').inputValue()",
  'if (await button.isVisible()) await button.click()',
])('a single reading is found: %s', (source) => {
  expect(singleReadings(source)).toHaveLength(1)
})

test('tests of a browser read pages through assertions that wait (test/support/browser/pageAssertions.ts)', async () => {
  const names = (await readdir(TESTS, { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  let looked = 0
  for (const name of names) {
    const source = await readFile(join(TESTS, name), 'utf8')
    if (!/from '(?:playwright-core|.*\/browser\.ts)'/.test(source)) continue
    looked += 1
    expect(singleReadings(source), name).toEqual([])
  }
  expect(looked).toBeGreaterThanOrEqual(6)
})
