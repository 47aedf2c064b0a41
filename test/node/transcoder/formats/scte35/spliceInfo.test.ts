import { describe, expect, test } from 'vitest'
import { wrapTicks, ticksBetween } from '../../../../../transcoder/formats/mpegts/clock.ts'
import { crc32 } from '../../../../../transcoder/formats/mpegts/crc.ts'
import { shiftSpliceTimes, readSplice } from '../../../../../transcoder/formats/scte35/spliceInfo.ts'
import {
  componentInsert,
  fromBase64,
  publishedSections,
  segmentation,
  referenceCrc32,
  spliceInsert,
  spliceSection,
  timeSignal,
} from '../../../../support/mpegts/spliceSections.ts'

const LAST_TICK = 2 ** 33 - 1

describe('the clock of 33 bits', () => {
  test.each([
    [0, 0],
    [-1, LAST_TICK],
    [2 ** 33, 0],
    [-126_000, 8_589_808_592],
    [3 * 2 ** 33 + 5, 5],
  ])('%i ticks show as %i', (ticks, shown) => expect(wrapTicks(ticks)).toBe(shown))
  test.each([
    [10, 20, 10],
    [20, 10, -10],
    [LAST_TICK, 4, 5],
    [4, LAST_TICK, -5],
    [0, 2 ** 32, -(2 ** 32)],
  ])('from %i to %i it is %i', (from, to, ticks) => expect(ticksBetween(from, to)).toBe(ticks))
})

test('the CRC is CRC-32/MPEG-2: its check value, and a division bit by bit', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0x0376e6e7)
  const bytes = Uint8Array.from({ length: 400 }, (_, index) => (index * 167 + 13) & 0xff)
  expect(crc32(bytes)).toBe(referenceCrc32(bytes))
})

describe('samples that the standard prints', () => {
  test('14.1 time_signal: placement opportunity start', () => {
    expect(readSplice(fromBase64(publishedSections.timeSignal))).toEqual({
      adjustment: 0,
      encrypted: false,
      command: { kind: 'signal', times: [0x0_72bd_0050] },
      segmentations: [{ eventId: 0x4800_008e, cancelled: false, durationTicks: 0x1a5_99b0, type: 0x34 }],
    })
  })
  test('14.2 splice_insert', () => {
    expect(readSplice(fromBase64(publishedSections.insert))).toEqual({
      adjustment: 0,
      encrypted: false,
      command: {
        kind: 'insert',
        eventId: 0x4800_008f,
        cancelled: false,
        out: true,
        times: [0x0_7369_c02e],
        break: { autoReturn: true, ticks: 0x0_0052_ccf5 },
      },
      segmentations: [],
    })
  })
  test('14.3 time_signal: placement opportunity end', () => {
    expect(readSplice(fromBase64(publishedSections.placementStart))?.segmentations).toEqual([
      { eventId: 0x4800_008e, cancelled: false, durationTicks: null, type: 0x35 },
    ])
  })
})

describe('commands', () => {
  const command = (section: Uint8Array) => readSplice(section)?.command

  test('pts_adjustment is added to the time, and a carry is ignored', () => {
    expect(command(timeSignal(LAST_TICK, { adjustment: 11 }))).toEqual({ kind: 'signal', times: [10] })
  })
  test('no time, or splice_immediate: at once', () => {
    expect(command(timeSignal(null))).toEqual({ kind: 'signal', times: [] })
    expect(command(spliceInsert({ eventId: 7, out: false, pts: null }))).toMatchObject({ times: [], out: false })
  })
  test('component mode has a time for each component', () => {
    const section = componentInsert(9, [
      [1, 900],
      [2, 930],
    ])
    expect(command(section)).toMatchObject({ kind: 'insert', eventId: 9, times: [900, 930] })
  })
  test('a cancelled event has nothing but its number', () => {
    const section = spliceSection({
      type: 5,
      command: [
        [77, 32],
        [1, 1],
        [127, 7],
      ],
    })
    expect(command(section)).toMatchObject({ eventId: 77, cancelled: true, times: [], break: null })
  })
  test.each([
    [0x00, 'null'],
    [0x04, 'schedule'],
    [0x07, 'reservation'],
    [0x42, 'opaque'],
  ])('type %i is %s', (type, kind) => expect(command(spliceSection({ type }))).toEqual({ kind }))
  test('a private command is known by its identifier', () => {
    const section = spliceSection({
      type: 0xff,
      command: [
        [0x41424344, 32],
        [1, 8],
      ],
    })
    expect(command(section)).toEqual({ kind: 'private', identifier: 0x41424344 })
  })
  test('splice_command_length 0xfff: the descriptors begin where the command ends', () => {
    const descriptors = Uint8Array.from([0, 5, 0x43, 0x55, 0x45, 0x49, 1, ...segmentation(5, 0x30, 2 ** 39 + 1, 'ad')])
    const section = timeSignal(1, { descriptors, lengthUnknown: true })
    expect(readSplice(section)?.segmentations).toEqual([
      { eventId: 5, cancelled: false, durationTicks: 2 ** 39 + 1, type: 0x30 },
    ])
  })
  test('another protocol version and an encrypted section are opaque', () => {
    expect(command(timeSignal(1, { protocol: 1 }))).toEqual({ kind: 'opaque' })
    expect(readSplice(timeSignal(1, { encrypted: true, adjustment: 5 }))).toEqual({
      adjustment: 5,
      encrypted: true,
      command: { kind: 'opaque' },
      segmentations: [],
    })
  })
})

describe('damage', () => {
  const section = fromBase64(publishedSections.insert)
  test('any bit that differs is found', () => {
    for (let bit = 0; bit < section.length * 8; bit++) {
      const damaged = section.slice()
      damaged[bit >> 3]! ^= 0x80 >> (bit & 7)
      expect(readSplice(damaged), `bit ${bit}`).toBeNull()
    }
  })
  test('a command that claims more than there is, with a true CRC', () => {
    const cut = spliceSection({
      type: 5,
      command: [
        [1, 32],
        [0, 8],
      ],
    })
    expect(readSplice(cut)).toBeNull()
  })
})

describe('moving to another clock', () => {
  test.each([
    [0, 90_000, 90_000],
    [0, -126_000, 8_589_808_592],
    [LAST_TICK, 2, 1],
    [2 ** 32, 1, 2 ** 32 + 1],
    [5, -6, LAST_TICK],
  ])('adjustment %i moved by %i is %i', (adjustment, ticks, expected) => {
    const before = spliceInsert({ eventId: 1, out: true, pts: 1000, breakTicks: 5 }, { adjustment })
    const moved = shiftSpliceTimes(before, ticks)
    expect(readSplice(moved)).toMatchObject({ adjustment: expected, command: { times: [wrapTicks(1000 + expected)] } })
    // Nothing else differs: 33 bits of pts_adjustment and the CRC.
    expect([...moved.slice(0, 4), moved[4]! & 0xfe, ...moved.slice(9, -4)]).toEqual([
      ...before.slice(0, 4),
      before[4]! & 0xfe,
      ...before.slice(9, -4),
    ])
    expect(referenceCrc32(moved)).toBe(0)
  })
  test('an encrypted section keeps every encrypted byte and its E_CRC_32', () => {
    const before = timeSignal(77, { encrypted: true, adjustment: 1 })
    const moved = shiftSpliceTimes(before, 99)
    expect(readSplice(moved)).toMatchObject({ adjustment: 100, encrypted: true })
    expect(moved.slice(9, -4)).toEqual(before.slice(9, -4))
    expect(moved.slice(-8, -4)).toEqual(Uint8Array.of(0xde, 0xad, 0xbe, 0xef))
    expect(moved.slice(-4)).not.toEqual(before.slice(-4))
  })
  test('back and forth is the same section', () => {
    const section = fromBase64(publishedSections.timeSignal)
    expect(shiftSpliceTimes(shiftSpliceTimes(section, 123_456), -123_456)).toEqual(section)
  })
})
