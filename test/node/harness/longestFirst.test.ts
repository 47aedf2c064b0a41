// In charge of: the order in which test files begin.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestSpecification, Vitest } from 'vitest/node'
import { LONGEST, LongestFirst } from '../../support/longestFirst.ts'
import { ROOT } from '../../support/service.ts'

const [first, second] = LONGEST as [string, string]
const file = (path: string, projectName: string, groupOrder: number): TestSpecification => {
  const project = { name: projectName, config: { root: ROOT, isolate: true, sequence: { groupOrder } } }
  return { moduleId: join(ROOT, path), project } as unknown as TestSpecification
}
/** Without times of an earlier run, as in a new checkout. */
const vitest = { cache: { getTestSpecificationResult: () => undefined } } as unknown as Vitest

test('every listed file exists', () => {
  expect(LONGEST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('listed files begin first within their group, whatever their project and size, the others as vitest orders them', async () => {
  const files = [
    file(first, 'later', 1),
    file('package.json', 'node', 0),
    file('package-lock.json', 'node', 0),
    file(second, 'worker', 0),
    file('README.md', 'earlier', 0),
    file('LICENSE', 'later', 1),
  ]
  // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not of an array
  const sorted = await new LongestFirst(vitest).sort(files)
  const order = ['README.md', 'package-lock.json', 'package.json']
  expect(sorted.map(({ moduleId }) => moduleId.slice(ROOT.length + 1))).toEqual([second, ...order, first, 'LICENSE'])
})
