// Detecting media that is missing at the end of a segment, from its timestamps and its playlist.
import { describe, expect, test } from 'vitest'
import {
  adtsDuration,
  missingAtEnd,
  missingSeconds,
  TsTimingReader,
  type StreamTiming,
} from '../../../../../transcoder/formats/mpegts/segmentTiming.ts'
import type { TaskError } from '#contract/taskError.ts'
import { ContinuityCheck } from '../../../../../transcoder/source/hls/continuityCheck.ts'

const [VIDEO, AUDIO] = [256, 257]
/** From and to in seconds, as timestamps of units that last `step`. */
const span = (from: number, to: number, maxInterval: number, isAudio = false): StreamTiming => ({
  first: from * 90_000,
  last: (to - maxInterval) * 90_000,
  maxInterval: maxInterval * 90_000,
  lastDuration: null,
  isAudio,
  isUnitIncomplete: false,
  startsMidUnit: false,
  counters: null,
})
const both = (from: number, picturesTo: number, soundTo: number) =>
  new Map([
    [VIDEO, span(from, picturesTo, 0.04)],
    [AUDIO, span(from, soundTo, 0.24, true)],
  ])
const next = both(12, 14, 14)

test.each([
  ['a whole one', both(10, 12, 12), 2, 0],
  ['one that is cut', both(10, 11.2, 11.2), 2, 0.8],
  ['one that lost its last sound', both(10, 12, 11.76), 2, 0.24],
  ['one whose pictures pause while the sound goes on', both(10, 11, 12), 2, 0],
  ['a gap that the playlist knows of', both(10, 11.2, 11.2), 1.2, 0],
  ['a playlist that rounds up', both(10, 12, 12), 3, 0],
  ['tables and nothing else', new Map<number, StreamTiming>(), 2, 2],
])('%s', (_title, spans, seconds, lacking) => {
  expect(missingSeconds(spans, seconds, next)).toBeCloseTo(lacking, 6)
})

test('video without audio may pause for half a second', () => {
  const silent = (to: number) => new Map([[VIDEO, span(10, to, 0.04)]])
  expect(missingSeconds(silent(11.6), 2, next)).toBe(0)
  expect(missingSeconds(silent(11), 2, next)).toBeCloseTo(1, 6)
})

test.each([
  ['which lack by their packets too', 3, 4, 0.8],
  ['which lack by no packet: they pause', 4, 4, 0],
  ['where the counters begin anew in each segment', 3, 9, 0],
])('a gap in the video while the audio continues, %s', (_title, pictureCounter, soundCounter, lacking) => {
  const counted = (spans: Map<number, StreamTiming>, picture: [number, number], sound: [number, number]) =>
    new Map(
      [...spans].map(([pid, one]) => {
        const [first, last] = pid === VIDEO ? picture : sound
        return [pid, { ...one, counters: { first, last } }]
      }),
    )
  const spans = counted(both(10, 11.2, 12), [0, pictureCounter], [0, soundCounter])
  expect(missingSeconds(spans, 2, counted(next, [5, 15], [5, 15]))).toBeCloseTo(lacking, 6)
})

test('a clock that begins anew in between is none', () => {
  const end = 2 ** 33 / 90_000
  expect(missingSeconds(both(end - 2, end, end), 2, both(0, 2, 2))).toBeCloseTo(0, 6)
})

test('an audio PES without its announced bytes is truncated; one that continues in the next segment is not', () => {
  const spans = both(10, 12, 12)
  spans.set(AUDIO, { ...spans.get(AUDIO)!, isUnitIncomplete: true })
  expect(missingSeconds(spans, 2, next)).toBeGreaterThan(0)
  expect(missingAtEnd(spans, 2, 0)).toBeGreaterThan(0)
  const inside = new Map(next).set(AUDIO, { ...next.get(AUDIO)!, startsMidUnit: true })
  expect(missingSeconds(spans, 2, inside)).toBe(0)
})

test('the last one is as long as the playlist says, as exactly as it said so before', () => {
  expect(missingAtEnd(both(10, 12, 12), 2.04, 0)).toBe(0)
  expect(missingAtEnd(both(10, 11.2, 11.2), 2.04, 0)).toBeCloseTo(0.84, 6)
  expect(missingAtEnd(both(10, 11.2, 11.2), 2, 0.9)).toBe(0)
  expect(missingAtEnd(both(10, 11.2, 11.2), 2, 0.01)).toBeCloseTo(0.8, 6)
})

test('the last segment may be as long as its audio, which must be complete', () => {
  const spans = both(10, 11.8, 12)
  expect(missingAtEnd(spans, 2, 0)).toBeCloseTo(0.2, 6)
  const exact = new Map(spans).set(AUDIO, { ...spans.get(AUDIO)!, lastDuration: 0.24 * 90_000 })
  expect(missingAtEnd(exact, 2, 0)).toBe(0)
  expect(missingAtEnd(exact, 2.1, 0)).toBeCloseTo(0.3, 6)
})

test.each([
  ['writes whole numbers', true, null],
  ['writes decimals, of which this one has none behind its point', false, 'source_incomplete'],
])('a single segment of a playlist that %s', (_title, rounds, code) => {
  const continuity = new ContinuityCheck(rounds)
  continuity.push(1, 2, both(10, 11.2, 11.2))
  const end = (): unknown => {
    try {
      continuity.end()
      return null
    } catch (error) {
      return (error as TaskError).code
    }
  }
  expect(end()).toBe(code)
})

test('a segment with a million time stamps gives no result', () => {
  const reader = new TsTimingReader()
  const pes = [0x47, 0x41, 0x00, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]
  const packets = Buffer.concat(
    Array.from({ length: 10_000 }, () => Buffer.concat([Buffer.from(pes), Buffer.alloc(188 - pes.length)])),
  )
  for (let n = 0; n < 10; n++) reader.push(packets)
  expect(reader.end()?.size).toBe(1)
  for (let n = 0; n < 100; n++) reader.push(packets)
  expect(reader.end()).toBeNull()
})

describe('the duration of the last audio frame', () => {
  /** A frame of `bytes` with its header at 48 kHz. */
  const frame = (bytes: number): number[] => [
    0xff,
    0xf1,
    0x4c,
    0x80 | (bytes >> 11),
    (bytes >> 3) & 0xff,
    ((bytes & 7) << 5) | 0x1f,
    0xfc,
    ...Array.from({ length: bytes - 7 }, () => 0),
  ]

  test('is counted in its frames, and unknown where one of them is cut or none is there', () => {
    const two = Uint8Array.from([...frame(200), ...frame(9)])
    expect(adtsDuration(two)).toBe(2 * 1920)
    expect(adtsDuration(two.subarray(0, -1))).toBeNull()
    expect(adtsDuration(new Uint8Array())).toBeNull()
    expect(adtsDuration(new Uint8Array(100))).toBeNull()
  })

  test('reports one short missing unit where units are long', () => {
    const spans = both(10, 12, 12)
    // The last received unit lasts 0.12 s, and so would a missing one.
    spans.set(AUDIO, { ...spans.get(AUDIO)!, lastDuration: 0.12 * 90_000 })
    expect(missingSeconds(spans, 2, next)).toBeCloseTo(0.12, 6)
    // With an estimated duration, half a unit is tolerated; with a counted one, nothing.
    const shorter = new Map(both(10, 12, 11.9)).set(AUDIO, {
      ...span(10, 11.9, 0.24, true),
      lastDuration: 0.24 * 90_000,
    })
    expect(missingSeconds(shorter, 2, next)).toBeCloseTo(0.1, 6)
    expect(missingSeconds(both(10, 12, 11.9), 2, next)).toBe(0)
  })
})
