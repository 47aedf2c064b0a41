// Records of parts that survey the source: what does not fit the round that it is of is refused, since it would be added
// up with the others.
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decodeTrace } from '../../../../transcoder/division/cueRecord.ts'
import { decodeSurveyRecord, type AskedSurvey } from '../../../../transcoder/division/surveyRecord.ts'
import { integratedLufs, joinLevels } from '../../../../transcoder/plan/audio/loudnessLevels.ts'

const LEVELS = { steps: [4000, 4700], blocks: [3, 9], truePeakDb: -1.5 }
const FIRST: AskedSurvey = { targets: 2, levels: 1 }
/** Two gains of one mix. */
const SECOND: AskedSurvey = { targets: 0, levels: 2 }
const SAMPLE = { place: 3, factors: [22, 24], bits: [1e6, 2e5] }
const first = { kind: 'survey', samples: [SAMPLE], sourceBytes: [1, 2], loudness: [LEVELS] }
const second = { kind: 'survey', samples: [], sourceBytes: null, loudness: [LEVELS, null] }

test('a record of each round is read as it was written', () => {
  expect(decodeSurveyRecord(first, FIRST)).toEqual(first)
  expect(decodeSurveyRecord(second, SECOND)).toEqual(second)
  // The gains are in the plan already.
  for (const record of [second, first]) {
    const asked = { targets: record.samples.length === 0 ? 0 : 2, levels: null }
    expect(decodeSurveyRecord(record, asked)).toEqual(record)
  }
  // The source could not be sampled.
  expect(decodeSurveyRecord({ ...first, samples: [] }, FIRST).samples).toEqual([])
})

test('a record of the other round is not taken for one of this', () => {
  expect(() => decodeSurveyRecord(first, SECOND)).toThrow('are not those of 0 renditions')
  expect(() => decodeSurveyRecord({ ...first, samples: [] }, SECOND)).toThrow('1 times instead of 2')
  expect(() => decodeSurveyRecord(second, FIRST)).toThrow('2 times instead of 1')
  expect(() => decodeSurveyRecord({ ...first, loudness: undefined }, FIRST)).toThrow('0 times instead of 1')
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
  ['steps without blocks', { ...first, loudness: [{ ...LEVELS, blocks: [3] }] }, unreadable],
  ['blocks without steps', { ...first, loudness: [{ ...LEVELS, steps: [] }] }, unreadable],
  ['a negative count', { ...first, loudness: [{ ...LEVELS, blocks: [3, -9] }] }, unreadable],
  ['half a block', { ...first, loudness: [{ ...LEVELS, blocks: [3, 0.5] }] }, unreadable],
  ['blocks without end', { ...first, loudness: [{ ...LEVELS, blocks: [3, 1e308] }] }, unreadable],
  ['a level whose power is no number', { ...first, loudness: [{ ...LEVELS, steps: [4000, 1e7] }] }, unreadable],
  ['a peak without end', { ...first, loudness: [{ ...LEVELS, truePeakDb: 1e308 }] }, unreadable],
  ['a source of negative bytes', { ...first, sourceBytes: [-1] }, unreadable],
])('%s is refused', (_, record, message) => {
  expect(() => decodeSurveyRecord(record, FIRST)).toThrow(message)
})

test('what is taken adds up to a number, however much it is', () => {
  const most = { steps: [0, 100_000], blocks: [1e15, 1e15], truePeakDb: 1000 }
  const { loudness } = decodeSurveyRecord({ ...first, loudness: [most] }, FIRST)
  expect(integratedLufs(joinLevels([loudness![0]!, loudness![0]!]))).toBeCloseTo(930, 0)
})

test('what a part found of the cues is text, or nothing', () => {
  for (const cues of ['H4sI', null]) expect(decodeSurveyRecord({ ...first, cues }, FIRST).cues).toBe(cues)
  expect(() => decodeSurveyRecord({ ...first, cues: 7 }, FIRST)).toThrow(unreadable)
})

describe('cues that no part writes', () => {
  const tables = { tables: [0], clockPid: 256, streams: [{ pid: 500, type: 0 }] }
  const trace = { first: null, next: null, before: tables, after: tables, events: [] as unknown[] }
  const encoded = (content: unknown) => gzipSync(JSON.stringify(content)).toString('base64')
  test('what parts write is read', () => {
    const events = [[5], [7, 6], { pid: 500, type: 0 }, 'R0H0EQ==']
    const read = decodeTrace(encoded({ ...trace, events })).events
    expect(read.map(({ kind }) => kind)).toEqual(['clock', 'frame', 'stream', 'cue'])
    expect(read.at(-1)).toMatchObject({ packet: { length: 188 } })
  })
  test.each([
    ['no compressed text', 'AAAA'],
    ['no object', encoded(null)],
    ['a clock of more than 33 bits', encoded({ ...trace, events: [[2 ** 33]] })],
    ['half a tick', encoded({ ...trace, events: [[0.5, 1]] })],
    ['three times', encoded({ ...trace, events: [[1, 2, 3]] })],
    ['no tables', encoded({ ...trace, before: null })],
  ])('%s is refused', (_name, text) => expect(() => decodeTrace(text)).toThrow(unreadable))
  test('a packet that is too long is cut', () => {
    const events = [Buffer.alloc(4000, 0x47).toString('base64')]
    expect(decodeTrace(encoded({ ...trace, events })).events[0]).toMatchObject({ packet: { length: 188 } })
  })
})
