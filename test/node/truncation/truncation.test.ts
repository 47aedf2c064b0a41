// The short form of npm run long cuts: each kind of source is truncated at a few seeded bytes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LONG_FORM } from '../../support/longForm.ts'
import { seededRandom } from '../../support/media/hostileInputs.ts'
import { TruncationTest, SOURCE_FORMATS, TRUNCATION_MODES } from './truncation.ts'

const OFFSETS = LONG_FORM ? 3 : 1

let cuts: TruncationTest
beforeAll(async () => {
  cuts = await TruncationTest.open()
})
afterAll(() => cuts?.[Symbol.asyncDispose]())

test.each(SOURCE_FORMATS.flatMap((form) => TRUNCATION_MODES.map((way) => [form, way] as const)))(
  '%s, %s: no success lacks what was there',
  async (form, way) => {
    const next = seededRandom(SOURCE_FORMATS.indexOf(form) * 10 + TRUNCATION_MODES.indexOf(way))
    for (let n = 0; n < OFFSETS; n++) {
      const outcome = await cuts.run(form, way, 1 + Math.floor(next() * (cuts.size(form) - 1)))
      expect(outcome.missing, JSON.stringify(outcome)).toEqual([])
      if (way === 'broken off') expect(outcome.code, JSON.stringify(outcome)).not.toBeNull()
    }
  },
)

test('fragments missing at the end of a segment are detected, in the middle and at the end of the presentation', async () => {
  const size = cuts.size('fmp4')
  for (const offset of [size * 0.35, size * 0.6, size - 1].map((at) => cuts.offsetRange('fmp4', Math.floor(at)))) {
    expect(await cuts.run('fmp4', 'stored', offset)).toMatchObject({ code: 'source_incomplete', missing: [] })
  }
})

test('a whole source of each kind succeeds, and what is looked for is found in it', async () => {
  for (const form of SOURCE_FORMATS) {
    expect(await cuts.run(form, 'stored', cuts.size(form))).toMatchObject({ code: null, missing: [] })
  }
})
