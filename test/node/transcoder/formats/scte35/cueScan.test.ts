// Finding cues and inserting them again, packet by packet: programs, clock jumps, packet sizes, chunks.
import { describe, expect, test } from 'vitest'
import { Timeline } from '../../../../../transcoder/formats/mpegts/timeline.ts'
import { CueScan } from '../../../../../transcoder/formats/scte35/cueScan.ts'
import { transportRates, tempDirectory } from '../../../../support/media/media.ts'
import { cueAtSeconds, firstPts, scanCues, readCues, insertCues } from '../../../../support/mpegts/cueClips.ts'
import { map, pat, Stream } from '../../../../support/mpegts/packetStream.ts'
import { segmentation, spliceInsert, spliceSection, timeSignal } from '../../../../support/mpegts/spliceSections.ts'
import { writeFile } from 'node:fs/promises'

const S = 90_000

describe('programs', () => {
  const stream = new Stream()
    .section(
      0,
      pat([
        [1, 0x20],
        [2, 0x30],
      ]),
    )
    .section(0x20, map(1, 0x100, [500]))
    .section(0x30, map(2, 0x200, [501, 502]))
    .picture(0x100, 10 * S)
    .picture(0x200, 50 * S)
    .section(500, timeSignal(13 * S))
    .section(501, timeSignal(53 * S))
    .section(502, timeSignal(54 * S))
  test('only cues of the selected program, on all of its cue PIDs', () => {
    expect(readCues(stream.bytes, 0x100).map(({ splices }) => splices)).toEqual([[3]])
    expect(readCues(stream.bytes, 0x200).map(({ splices }) => splices)).toEqual([[3], [4]])
    expect(scanCues(stream.bytes, 0x200)).toMatchObject({ pids: [501, 502], cueStreamType: 0 })
  })
  test('a program without cues is known by its map', () => {
    const without = new Stream().section(0, pat([[1, 0x20]])).section(0x20, map(1, 0x100, []))
    const found = new CueScan(0x100, 0)
    for (const packet of without.packets) found.push(packet)
    expect(found.isFutile).toBe(true)
  })
})

describe('splice points', () => {
  const points = (section: Uint8Array) => {
    const stream = new Stream().section(0, pat([[1, 0x20]])).section(0x20, map(1, 0x100, [500]))
    stream
      .picture(0x100, 10 * S)
      .section(500, section)
      .picture(0x100, 10 * S + 3600)
    return [...scanCues(stream.bytes, 0x100).splicePoints].map((ticks) => ticks / S)
  }
  test.each([
    ['splice_insert', spliceInsert({ eventId: 1, out: true, pts: 12 * S }), [2]],
    [
      'with a break that ends by itself',
      spliceInsert({ eventId: 1, out: true, pts: 12 * S, breakTicks: S, autoReturn: true }),
      [2, 3],
    ],
    ['with a break that a cue ends', spliceInsert({ eventId: 1, out: true, pts: 12 * S, breakTicks: S }), [2]],
    ['time_signal', timeSignal(12 * S), [2]],
    ['time_signal with a segment', timeSignal(12 * S, { descriptors: segmentation(1, 0x30, 2 * S) }), [2, 4]],
    ['at once: the next picture', spliceInsert({ eventId: 1, out: true, pts: null }), [0.04]],
    ['with pts_adjustment', timeSignal(0, { adjustment: 12 * S }), [2]],
    ['splice_null', spliceSection({ type: 0 }), []],
    ['splice_schedule', spliceSection({ type: 4 }), []],
    ['encrypted', timeSignal(12 * S, { encrypted: true }), []],
  ])('%s', (_name, section, expected) => expect(points(section)).toEqual(expected))
})

describe('the clock', () => {
  test('goes on where it wraps', () => {
    const first = 2 ** 33 - S
    const stream = new Stream().section(0, pat([[1, 0x20]])).section(0x20, map(1, 0x100, [500]))
    for (let frame = 0; frame < 100; frame++) {
      stream.picture(0x100, first + frame * 3600)
      if (frame === 50) stream.section(500, timeSignal(2 * S))
    }
    expect(readCues(stream.bytes, 0x100)).toEqual([{ kind: 'signal', eventId: null, arrives: 1.5, splices: [3] }])
  })
  test('goes on where it jumps, as ffmpeg’s does', () => {
    const timeline = new Timeline(10 * S)
    expect([10, 10.04, 10.08].map((at) => Math.round(timeline.setFrame({ pts: at * S, dts: at * S })) / S)).toEqual([
      0, 0.04, 0.08,
    ])
    expect(timeline.setFrame({ pts: 5000 * S, dts: 5000 * S })).toBeCloseTo(0.12 * S, 6)
    expect(timeline.at(5001 * S)).toBeCloseTo(1.12 * S, 6)
    // A gap is no jump.
    expect(timeline.setFrame({ pts: 5003 * S, dts: 5003 * S })).toBeCloseTo(3.12 * S, 6)
  })
  test('may run for longer than its period', () => {
    const timeline = new Timeline(0)
    const hours = 30 * 3600
    for (let second = 0; second <= hours; second += 5) {
      const at = (second * S) % 2 ** 33
      timeline.setFrame({ pts: at, dts: at })
    }
    expect(timeline.at((hours * S) % 2 ** 33)).toBe(hours * S)
  })
})

describe('injecting', () => {
  const RATE = 1000
  /**
   * 10 frames, 40 ms apart, each with as many packets as 1000 kbps allow: 26.6, so some PCRs are ahead of the even
   * grid.
   */
  const source = () => {
    const stream = new Stream()
    for (let frame = 0; frame < 10; frame++) {
      stream.section(0, pat([[1, 0x20]])).section(0x20, map(1, 0x100, []))
      const at = stream.packets.length * 188 * 8 * 0.09 // ticks at 1000 kbps
      stream.picture(0x100, 5 * S + Math.round(at), 5 * S).nulls(frame % 3 === 0 ? 0 : 30)
    }
    return stream.bytes
  }
  const long = spliceSection({
    type: 0xff,
    command: [[0x41424344, 32], ...Array.from({ length: 500 }, () => [7, 8] as const)],
  })
  const cues = [
    cueAtSeconds(0.05, long, 'clock'),
    cueAtSeconds(0.06, timeSignal(2 * S)),
    cueAtSeconds(9, timeSignal(3 * S)),
  ].map((cue) => ({
    ...cue,
    // The stream's clock is 5 s behind its frames.
    position: { by: 'clock' as const, ticks: cue.position.ticks - 5 * S },
  }))

  test('the same bytes, whatever the chunks', () => {
    const whole = insertCues(source(), cues, 600, RATE)
    for (const step of [1, 100, 188, 1000])
      expect(insertCues(source(), cues, 600, RATE, step).equals(whole), `${step}`).toBe(true)
  })
  test('a constant rate stays constant: cues replace null packets, and no continuity counter breaks', async () => {
    await using tempDir = await tempDirectory()
    const before = source()
    const after = insertCues(before, cues, 600, RATE)
    // The cue after the end comes after the end; every other one replaces a null packet.
    expect(after.length - before.length).toBe(188)
    for (const [name, bytes] of [
      ['before', before],
      ['after', after],
    ] as const) {
      await writeFile(tempDir.file(name), bytes)
      const { kbps, counterErrors } = await transportRates(tempDir.file(name))
      expect(counterErrors).toBe(0)
      for (const rate of kbps) expect(Math.abs(rate - RATE)).toBeLessThan(2)
    }
    expect(readCues(after, 0x100).map(({ kind }) => kind)).toEqual(['private', 'signal', 'signal'])
    expect(scanCues(after, 0x100).damaged).toBe(0)
  })
  test('every section in the output is whole, and moved to the output’s clock', () => {
    const [, signal] = readCues(insertCues(source(), cues, 600), 0x100)
    expect(signal?.splices).toEqual([2])
    expect(firstPts(source(), 0x100)).toBeGreaterThan(5 * S)
  })
})
