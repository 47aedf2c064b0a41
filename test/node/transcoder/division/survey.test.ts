// Records of parts that survey the source: what does not fit is refused, since it would be added up with the others.
import { expect, test } from 'vitest'
import { decodeSurveyRecord } from '../../../../transcoder/division/survey.ts'

const TARGETS = 2
const SAMPLE = { place: 3, factors: [22, 24], bits: [1e6, 2e5] }
const first = { kind: 'survey', samples: [SAMPLE], sourceBytes: [1, 2] }

test('a record is read as it was written', () => {
  // The source could not be sampled; only the first part says bytes of the source.
  for (const record of [first, { ...first, samples: [] }, { ...first, sourceBytes: null }])
    expect(decodeSurveyRecord(record, TARGETS)).toEqual(record)
})

const unreadable = 'cannot be read'
test.each([
  ['no object', null, unreadable],
  ['a chunk', { ...first, kind: 'chunk' }, unreadable],
  ['no samples', { ...first, samples: undefined }, unreadable],
  ['a negative place', { ...first, samples: [{ ...SAMPLE, place: -1 }] }, unreadable],
  ['half a place', { ...first, samples: [{ ...SAMPLE, place: 0.5 }] }, unreadable],
  ['bits that are no number', { ...first, samples: [{ ...SAMPLE, bits: [Number.NaN, 1] }] }, unreadable],
  ['negative bits', { ...first, samples: [{ ...SAMPLE, bits: [-1, 1] }] }, unreadable],
  ['bits without end', { ...first, samples: [{ ...SAMPLE, bits: [1e308, 1] }] }, unreadable],
  ['bits of one rendition', { ...first, samples: [{ ...SAMPLE, bits: [1] }] }, 'are not those of 2 renditions'],
  ['factors of one rendition', { ...first, samples: [{ ...SAMPLE, factors: [22] }] }, 'are not those of 2 renditions'],
  ['a source of negative bytes', { ...first, sourceBytes: [-1] }, unreadable],
])('%s is refused', (_, record, message) => {
  expect(() => decodeSurveyRecord(record, TARGETS)).toThrow(message)
})
