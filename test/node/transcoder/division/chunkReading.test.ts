// In charge of: the evidence of the chunks of a source without an index, and what it does not prove.
// Not in charge of: the job that one task then makes (pipeline/transportDivision.test.ts).
import { describe, expect, test } from 'vitest'
import { ChunkReading, requireContinuousReading, TransportReads } from '../../../../transcoder/division/chunkReading.ts'
import { ContinuityScan } from '../../../../transcoder/formats/mpegts/continuity.ts'
import type { EncodedRange } from '#contract/task/plan/plan.ts'
import { audioStream, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const PID = 256
const LINE = '[graph 0 input from stream 0:0 @ 0x7f16] [verbose] w:192 h:108 pixfmt:yuv420p tb:1/90000 fr:25/1 sar:1/1'

/** A packet in which a frame with this decoding time begins. */
function packetAt(seconds: number, pid = PID): Uint8Array {
  const ticks = BigInt(Math.round(seconds * 90_000)) & 0x1_ffff_ffffn
  const byte = (shift: bigint, mask: bigint): number => Number((ticks >> shift) & mask)
  const packet = new Uint8Array(188).fill(0xff)
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5])
  packet.set(
    [
      0x21 | (byte(30n, 7n) << 1),
      byte(22n, 255n),
      1 | (byte(15n, 127n) << 1),
      byte(7n, 255n),
      1 | (byte(0n, 127n) << 1),
    ],
    13,
  )
  return packet
}

const stream = (times: readonly number[], pid = PID): Uint8Array =>
  Uint8Array.from(times.flatMap((seconds) => [...packetAt(seconds, pid)]))

test.each<[string, number[], number]>([
  ['a clock that runs on', [1, 1.04, 1.08, 1.12, 9], 0],
  ['a clock that wraps', [95_443.6, 95_443.68, 0.04, 0.08, 0.12], 0],
  ['frames of the same time', [1, 1, 1, 0.98, 1.04], 0],
  ['forwards', [1, 1.04, 1.08, 11, 11.04, 40], 2],
  ['back', [3, 3.04, 3.08, 2.9, 2.94], 1],
])('%s', (_, times, jumps) => {
  const scan = new ContinuityScan([PID])
  const bytes = stream(times)
  // In pieces of any length.
  for (let at = 0; at < bytes.length; at += 301) scan.push(bytes.subarray(at, at + 301))
  expect(scan.jumps).toBe(jumps)
})

test('streams that the job does not use are not looked at', () => {
  const scan = new ContinuityScan([PID])
  scan.push(Buffer.concat([stream([1, 1.04, 1.08, 1.12]), stream([5, 1, 70, 0], 300), stream([1.16])]))
  expect(scan.jumps).toBe(0)
})

test('stretches that overlap are one', () => {
  const reads = new TransportReads([PID])
  const read = (first: number, count: number): void => reads.begin(first)(new Uint8Array(count))
  read(0, 100)
  read(1000, 10)
  read(450, 200)
  read(300, 200)
  read(650, 50)
  expect(reads.around(480)).toEqual({ first: 300, end: 650 })
  expect(reads.around(650)).toEqual({ first: 650, end: 700 })
  expect(reads.around(99)).toEqual({ first: 0, end: 100 })
  expect([100, 299, 700, 1010].map((byte) => reads.around(byte))).toEqual([null, null, null, null])
})

describe('one chunk', () => {
  const plan = (fromByte: number): { range: EncodedRange } => ({
    range: { from: 4, to: null, seek: { fromByte, fromSeconds: 1, originSeconds: 0 } },
  })
  const audio = [audioStream({ number: 1, id: 257 }), audioStream({ number: 2, id: 258 })]
  const reading = (): ChunkReading => new ChunkReading(mediaInfo({ id: PID }, { audio }), { sourceAudio: [1] })

  test('says what it read', () => {
    const chunk = reading()
    chunk.onReader(188)(stream([1, 2, 3, 4]))
    chunk.onLine(LINE)
    chunk.onLine('[graph 0 input from stream 1:0 @ 0x7f16] w:64 h:64 pixfmt:rgba tb:1/25 fr:25/1 sar:1/1')
    expect(chunk.record(plan(200))).toEqual({ first: 188, end: 5 * 188, format: 'w:192 h:108 pixfmt:yuv420p sar:1/1' })
    expect(() => chunk.record(plan(187))).toThrow('not read from its place')
  })

  test.each<[string, (chunk: ChunkReading) => void]>([
    ['time stamps of the source jump', (chunk) => chunk.onReader(0)(stream([1, 2, 3, 30, 31]))],
    ['time stamps of the source jump', (chunk) => chunk.onReader(0)(stream([1, 2, 3, 30, 31], 257))],
    ['change their format', (chunk) => chunk.onLine(LINE.replace('w:192', 'w:384'))],
    ['has not its frames: three are missing', (chunk) => chunk.onIncomplete(new Error('three are missing.'))],
  ])('%s', (reason, happens) => {
    const chunk = reading()
    chunk.onReader(0)(stream([1, 2, 3, 4]))
    chunk.onLine(LINE)
    happens(chunk)
    expect(() => chunk.record(plan(0))).toThrow(reason)
  })

  test('audio that the job does not use may jump', () => {
    const chunk = reading()
    chunk.onReader(0)(stream([1, 2, 30, 31], 258))
    chunk.onLine(LINE)
    expect(chunk.record(plan(0)).first).toBe(0)
  })
})

describe('all chunks', () => {
  const read = (first: number, end: number, format = 'a') => ({ read: { first, end, format } })

  test('of a source with an index say nothing', () => {
    expect(() => requireContinuousReading([{}, {}], 500)).not.toThrow()
  })

  test('read every byte', () => {
    expect(() => requireContinuousReading([read(0, 100), read(80, 300), read(0, 500)], 500)).not.toThrow()
    expect(() => requireContinuousReading([read(0, 100), read(80, 300)], null)).not.toThrow()
  })

  test.each([
    ['a gap', [read(0, 100), read(101, 500)]],
    ['nothing that overlaps', [read(0, 100), read(100, 500)]],
    ['no beginning', [read(10, 200), read(100, 500)]],
    ['no end', [read(0, 200), read(100, 499)]],
  ])('%s', (_, chunks) => {
    expect(() => requireContinuousReading(chunks, 500)).toThrow('not read from its beginning to its end')
  })

  test('other formats', () => {
    expect(() => requireContinuousReading([read(0, 200), read(100, 500, 'b')], 500)).toThrow('change their format')
  })
})
