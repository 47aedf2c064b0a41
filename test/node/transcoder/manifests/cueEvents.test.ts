// In charge of: converting cues of a source to events: at the right times, in pairs, on the presentation's timeline.
// Not in charge of: finding cues (test/node/transcoder/formats/scte35).
import { describe, expect, test } from 'vitest'
import type { Cue } from '../../../../transcoder/formats/scte35/cueScan.ts'
import { readSplice } from '../../../../transcoder/formats/scte35/spliceInfo.ts'
import { adBreaks, pairCues } from '../../../../transcoder/manifests/presentation/adBreaks.ts'
import { cueEvents, limitedCues } from '../../../../transcoder/manifests/presentation/cueEvents.ts'
import {
  packBits,
  segmentation,
  spliceInsert,
  spliceSection,
  timeSignal,
} from '../../../support/mpegts/spliceSections.ts'

/** The source's clock at the start of the presentation; it wraps 5 s later. */
const ORIGIN = 2 ** 33 - 450_000
const PERIOD = 2 ** 33

/** A cue that arrived at `at` and splices at `pts` seconds of the presentation. */
function cueOf(at: number, section: Uint8Array): Cue {
  return { section, shift: -ORIGIN, position: { by: 'clock', ticks: at * 90_000 } }
}
const source = (seconds: number) => (ORIGIN + seconds * 90_000) % PERIOD
const brief = (cues: Cue[]) =>
  cueEvents(cues).map(({ kind, eventId, start, duration }) => [kind, eventId, start, duration])

const out = (
  at: number,
  pts: number | null,
  rest: { breakTicks?: number; autoReturn?: boolean; eventId?: number } = {},
) => cueOf(at, spliceInsert({ eventId: 7, out: true, pts: pts === null ? null : source(pts), ...rest }))
const back = (at: number, pts: number | null, eventId = 7) =>
  cueOf(at, spliceInsert({ eventId, out: false, pts: pts === null ? null : source(pts) }))
const cancel = (at: number, eventId: number) =>
  cueOf(
    at,
    spliceSection({
      type: 5,
      command: [
        [eventId, 32],
        [1, 1],
        [127, 7],
      ],
    }),
  )
const signal = (at: number, pts: number | null, ...descriptors: Uint8Array[]) =>
  cueOf(
    at,
    timeSignal(pts === null ? null : source(pts), {
      descriptors: Uint8Array.from(descriptors.flatMap((one) => [...one])),
    }),
  )

describe('cues become events', () => {
  test.each<[string, Cue[], unknown[]]>([
    [
      'splice_insert out and in',
      [out(6, 10), back(16, 20)],
      [
        ['out', 7, 10, null],
        ['in', 7, 20, null],
      ],
    ],
    [
      'auto_return makes the end',
      [out(6, 10, { breakTicks: 900_000, autoReturn: true })],
      [
        ['out', 7, 10, 10],
        ['in', 7, 20, null],
      ],
    ],
    [
      'auto_return and an end that is told',
      [out(6, 10, { breakTicks: 900_000, autoReturn: true }), back(16, 19)],
      [
        ['out', 7, 10, 10],
        ['in', 7, 19, null],
      ],
    ],
    ['a length that nothing returns from', [out(6, 10, { breakTicks: 900_000 })], [['out', 7, 10, 10]]],
    [
      'at once: where it stood',
      [out(10, null), back(12, null)],
      [
        ['out', 7, 10, null],
        ['in', 7, 12, null],
      ],
    ],
    [
      'repetitions, and an event id that is used again',
      [out(6, 10), out(7, 10), back(16, 20), out(36, 40)],
      [
        ['out', 7, 10, null],
        ['in', 7, 20, null],
        ['out', 7, 40, null],
      ],
    ],
    ['cancelled before it happens', [out(6, 10), cancel(8, 7)], []],
    ['cancelled too late, or another one', [out(6, 10), cancel(11, 7), cancel(8, 8)], [['out', 7, 10, null]]],
    [
      'splice_null and bandwidth_reservation',
      [cueOf(1, spliceSection({ type: 0 })), cueOf(2, spliceSection({ type: 7 }))],
      [],
    ],
    [
      'encrypted',
      [cueOf(3, spliceSection({ type: 5, command: [[0, 32]], encrypted: true }))],
      [['other', null, 3, null]],
    ],
    ['private', [cueOf(3, spliceSection({ type: 0xff, command: [[1, 32]] }))], [['other', null, 3, null]]],
    [
      'provider advertisement with its end',
      [signal(6, 10, segmentation(1, 0x30, 900_000)), signal(16, 19, segmentation(1, 0x31, null))],
      [
        ['out', 1, 10, 10],
        ['in', 1, 19, null],
      ],
    ],
    [
      'placement opportunity that says how long it is',
      [signal(6, 10, segmentation(2, 0x34, 900_000))],
      [
        ['out', 2, 10, 10],
        ['in', 2, 20, null],
      ],
    ],
    [
      'one advertisement ends as the next begins',
      [signal(6, 10, segmentation(1, 0x31, null), segmentation(2, 0x30, null))],
      [
        ['in', 1, 10, null],
        ['out', 2, 10, null],
      ],
    ],
    [
      'programme start, promotion, no descriptor',
      [signal(1, 2, segmentation(3, 0x10, null)), signal(2, 3, segmentation(4, 0x3c, null)), signal(3, 4)],
      [
        ['other', 3, 2, null],
        ['other', 4, 3, null],
        ['other', null, 4, null],
      ],
    ],
  ])('%s', (_, cues, expected) => {
    expect(brief(cues)).toEqual(expected)
  })

  test('on the presentation’s clock, after a wrap, and on the clock of transport streams', () => {
    const times = (cues: Cue[], first?: number) =>
      cueEvents(cues, first)
        .map(({ section }) => readSplice(section)!.command)
        .map((command) => (command.kind === 'insert' ? command.times : []))
    expect(times([out(3, 4), out(6, 10)])).toEqual([[4 * 90_000], [10 * 90_000]])
    expect(times([out(6, 10)], 126_000)).toEqual([[10 * 90_000 + 126_000]])
  })

  test('have ids that are the same in every run, and one each', () => {
    const ids = (cues: Cue[]) => cueEvents(cues).map(({ id }) => id)
    const cues = [
      out(6, 10),
      back(16, 20),
      cueOf(3, spliceSection({ type: 0xff, command: [[1, 32]] })),
      cueOf(3, spliceSection({ type: 0xff, command: [[2, 32]] })),
    ]
    expect(ids(cues)).toEqual(['other-none-270000', 'other-none-270000-2', 'out-7-900000', 'in-7-1800000'])
  })

  test('very many are few in manifests, with a warning', () => {
    const breaks = (count: number, between = 0) =>
      cueEvents(
        Array.from({ length: count }, (_, at) => [
          out(at, at, { eventId: at }),
          back(at, at + 0.5 + between, at),
        ]).flat(),
      )
    const all = breaks(1000)
    expect(limitedCues(all)).toEqual({ events: all, warnings: [] })
    expect(limitedCues(breaks(1001))).toEqual({
      events: all,
      warnings: [
        {
          code: 'cues_limited',
          field: 'scte35_passthough',
          message: 'Playlists and manifests list the first 2000 of 2002 cues.',
        },
      ],
    })
    // Overlapping breaks: the last one that starts within the limit ends after it.
    const { events } = limitedCues(breaks(1002, 1))
    expect(pairCues(events).every(({ end }) => end !== null)).toBe(true)
    expect(events).toHaveLength(1998)
  })

  test('a source with a hundred thousand of them is read at once', () => {
    const many = Array.from({ length: 50_000 }, (_, at) => [
      out(at, at + 0.5, { breakTicks: 9000, autoReturn: true }),
      cancel(at, 7),
    ])
    expect(cueEvents(many.flat())).toEqual([])
  })

  test('a damaged section is nothing', () => {
    const section = packBits([
      [0xfc, 8],
      [0, 400],
    ])
    expect(cueEvents([cueOf(1, section)])).toEqual([])
  })
})

test('an end belongs to the beginning with its event id, others stand alone', () => {
  const pairs = pairCues(
    cueEvents([out(6, 10), out(11, 12, { eventId: 8 }), back(13, 14, 8), back(16, 20), back(26, 30, 9)]),
  )
  expect(pairs.map(({ cue, end }) => [cue.eventId, cue.start, end?.start ?? null])).toEqual([
    [7, 10, 20],
    [8, 12, 14],
    [9, 30, null],
  ])
})

test('nested ad breaks become one', () => {
  const cues = cueEvents([
    out(6, 10),
    out(11, 12, { eventId: 8 }),
    back(13, 14, 8),
    back(16, 20),
    out(19, 20, { eventId: 9 }),
  ])
  expect(adBreaks(pairCues(cues))).toEqual([
    { start: 10, end: 20, ends: true },
    { start: 20, end: null, ends: false },
  ])
})
