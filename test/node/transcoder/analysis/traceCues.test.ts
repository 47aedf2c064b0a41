// In charge of: cues that are found in stretches of a source: exactly what one reading finds, wherever the stretches end, or
// nothing.
// Not in charge of: what one reading finds (formats/scte35/cueScan.test.ts), the job around it
// (pipeline/surveyedCues.test.ts).
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { findCues, orNone, programOfCues } from '../../../../transcoder/analysis/findCues.ts'
import { traceCues } from '../../../../transcoder/analysis/traceCues.ts'
import { decodeTrace, encodeTrace } from '../../../../transcoder/division/cueRecord.ts'
import type { CueFindings } from '../../../../transcoder/formats/scte35/cueScan.ts'
import { joinTraces, type CueTrace } from '../../../../transcoder/formats/scte35/cueTrace.ts'
import type { MediaInfo } from '../../../../transcoder/plan/model/mediaInfo.ts'
import type { ByteRange } from '../../../../transcoder/source/rangeResponse.ts'
import { sharedClip } from '../../../support/media/media.ts'
import { map, pat, Stream } from '../../../support/mpegts/packetStream.ts'
import { segmentation, spliceInsert, spliceSection, timeSignal } from '../../../support/mpegts/spliceSections.ts'

const S = 90_000
const FRAME = 3600
const FRAMES = 1400
/** The clock wraps after 20 s. */
const ORIGIN = 2 ** 33 - 20 * S
const [PMT, VIDEO, CUES, MORE_CUES] = [0x20, 0x100, 500, 501] as const
const PACKET = 188

const CANCELLED = spliceSection({
  type: 5,
  command: [
    [7, 32],
    [1, 1],
    [127, 7],
  ],
})

/** Which packets are of interest, by their number. */
type Marks = Record<'tables' | 'long' | 'middle' | 'immediate' | 'frame' | 'wrap' | 'damaged', number>

/** A minute with every kind of cue. Frames are not in the order in which they are shown. */
function broadcast(change: (stream: Stream, frame: number) => number | null = () => 0): {
  packets: Uint8Array[]
  marks: Marks
} {
  const stream = new Stream()
  const marks: Partial<Marks> = {}
  const here = () => stream.packets.length
  const mark = (name: keyof Marks) => void (marks[name] ??= here())
  const private_ = spliceSection({
    type: 0xff,
    command: [[0x41424344, 32], ...Array.from({ length: 700 }, (_, at) => [at % 251, 8] as const)],
  })
  let jump = 0
  for (let frame = 0; frame < FRAMES; frame += 1) {
    const shown = ORIGIN + jump + (frame + (frame % 3 === 1 ? 1 : frame % 3 === 2 ? -1 : 0)) * FRAME
    if (frame % 12 === 0) {
      if (frame > FRAMES / 2) mark('tables')
      stream.section(0, pat([[1, PMT]])).section(PMT, map(1, VIDEO, [CUES, MORE_CUES]))
    }
    const at = shown + 3 * S
    const cue = frame % 35 === 20 ? ((frame - 20) / 35) % 8 : -1
    switch (cue) {
      case 0:
        stream.section(
          CUES,
          spliceInsert({ eventId: 7, out: true, pts: at % 2 ** 33, breakTicks: S, autoReturn: true }),
        )
        break
      case 1: {
        mark('long')
        const before = here()
        stream.section(CUES, private_)
        // Frames lie between the packets of the section.
        const rest = stream.packets.splice(before + 2)
        stream.picture(VIDEO, shown - 10)
        mark('middle')
        stream.packets.push(...rest)
        break
      }
      case 2:
        mark('immediate')
        stream.section(MORE_CUES, spliceInsert({ eventId: 8, out: false, pts: null }))
        stream.nulls(3)
        mark('frame')
        break
      case 3:
        stream.section(CUES, CANCELLED)
        break
      case 4: {
        mark('damaged')
        const before = here()
        stream.section(CUES, timeSignal(at % 2 ** 33))
        stream.packets[before]![12]! ^= 1
        break
      }
      case 5:
        stream.section(CUES, timeSignal(at % 2 ** 33, { descriptors: segmentation(1, 0x30, 2 * S) }))
        // Sent twice.
        stream.packets.push(stream.packets.at(-1)!)
        break
      case 6:
        stream.section(CUES, spliceSection({ type: 4 }))
        break
      case 7:
        stream.section(CUES, spliceSection({ type: 0 }))
    }
    if (shown >= 2 ** 33) mark('wrap')
    stream.picture(VIDEO, shown, 0.7 * S).nulls(3)
    jump += change(stream, frame) ?? 0
  }
  return { packets: stream.packets, marks: marks as Marks }
}

const media = {
  formats: ['mpegts'],
  video: { id: VIDEO },
  program: { number: 1 },
} as unknown as MediaInfo
const START = ORIGIN / S
const about = programOfCues(media, START)!
const { signal } = new AbortController()

/** Reads in blocks that fit nothing. */
function sourceOf(bytes: Uint8Array) {
  const reads: ByteRange[] = []
  async function* read(_signal: AbortSignal, range: ByteRange | null = null) {
    const { first, last } = range ?? { first: 0, last: bytes.length - 1 }
    reads.push({ first, last: first - 1 })
    const own = reads.at(-1)!
    for (let at = first; at <= last; at += 10_007) {
      own.last = Math.min(last, at + 10_006)
      yield bytes.subarray(at, own.last + 1)
    }
  }
  const open = () => Promise.resolve({ size: bytes.length, ranges: true, head: new Uint8Array() })
  return { source: { read, open, expect: () => undefined }, reads }
}

/** `at`: where the stretches after the first one begin. */
async function traced(bytes: Uint8Array, at: readonly number[], of = about): Promise<CueFindings | null | undefined> {
  const { source } = sourceOf(bytes)
  const bounds = [0, ...at, bytes.length]
  const traces: CueTrace[] = []
  for (const [index, first] of bounds.slice(0, -1).entries()) {
    const trace = await traceCues(source, of, { first, last: bounds[index + 1]! - 1 }, signal)
    if (trace === null) return undefined
    traces.push(decodeTrace(encodeTrace(trace)!))
  }
  const found = joinTraces(traces, of)
  return found === null ? undefined : orNone(found)
}

const oneReading = (bytes: Uint8Array, start = START) => findCues(sourceOf(bytes).source, media, start, signal)
const plain = (found: CueFindings | null | undefined) =>
  found && { ...found, splicePoints: [...found.splicePoints], cues: found.cues }

const { packets, marks } = broadcast()
const bytes = Buffer.concat(packets)
const whole = plain(await oneReading(bytes))

test('the clip has cues of every kind', () => {
  expect(bytes.length).toBeGreaterThan(1e6)
  expect(whole).toMatchObject({ pids: [CUES, MORE_CUES], schedules: 5, damaged: 5 })
  expect(whole!.cues.filter(({ position }) => position.by === 'frame').length).toBeGreaterThan(2)
  expect(whole!.cues.length).toBeGreaterThan(30)
  expect(Math.max(...whole!.splicePoints)).toBeGreaterThan(50 * S)
})

describe.each(Object.entries(marks))('a boundary at the packet "%s"', (_name, packet) => {
  test.each([-PACKET, -1, 0, 1, 93, 187, PACKET])('%i bytes behind its beginning', async (more) =>
    expect(plain(await traced(bytes, [packet * PACKET + more]))).toEqual(whole),
  )
})

test.each([2, 3, 7, 16])('%i stretches', async (parts) => {
  const at = Array.from({ length: parts - 1 }, (_, index) => Math.floor((bytes.length * (index + 1)) / parts))
  expect(plain(await traced(bytes, at))).toEqual(whole)
})

test('stretches that are shorter than a section, and some without a packet', async () => {
  const begin = marks.long * PACKET
  const at = Array.from({ length: 24 }, (_, index) => begin - 100 + index * 50)
  expect(plain(await traced(bytes, at))).toEqual(whole)
})

/** Cues are far apart, and few frames have a clock. */
function quiet(lead: number, jump = 0): Uint8Array[] {
  const stream = new Stream().section(0, pat([[1, PMT]])).section(PMT, map(1, VIDEO, [CUES]))
  for (let frame = 0; frame < 600; frame += 1) {
    if (frame % 140 === 133) stream.section(CUES, spliceInsert({ eventId: frame, out: true, pts: null }))
    if (frame % 140 === 137) stream.section(CUES, timeSignal(frame * 18_000))
    stream.picture(
      VIDEO,
      ORIGIN + frame * 18_000 + (frame < 300 ? 0 : jump),
      frame % 7 === 0 && frame !== 301 ? lead : null,
    )
  }
  return stream.packets
}

describe('a cue now and then', () => {
  test.each([0.5 * S, 7 * S, -7 * S])('%i ticks behind the clock', async (lead) => {
    const few = Buffer.concat(quiet(lead))
    const expected = plain(await oneReading(few))
    expect(expected!.cues).toHaveLength(8)
    for (const packet of [2, 60, 134, 135, 138, 139, 300, 500])
      expect(plain(await traced(few, [packet * PACKET])), `${packet}`).toEqual(expected)
  })
  test('frames jump where the next stretch begins', async () => {
    const jumping = quiet(0.5 * S, 60 * S)
    const at = jumping.length - 300 - 4
    expect(plain(await traced(Buffer.concat(quiet(0.5 * S)), [at * PACKET]))).toBeDefined()
    const found = [-2, -1, 0, 1, 2].map((more) => traced(Buffer.concat(jumping), [(at + more) * PACKET]))
    expect(await Promise.all(found)).toEqual([undefined, undefined, undefined, undefined, undefined])
  })
})

describe('bytes between packets', () => {
  const time = new Uint8Array(4).fill(0x11)
  const m2ts = Buffer.concat(packets.flatMap((packet) => [time, packet]))
  test.each([-3, 0, 1, 4, 5, 100])('M2TS, %i bytes behind a packet', async (more) =>
    expect(plain(await traced(m2ts, [marks.middle * 192 + more]))).toEqual(plain(await oneReading(m2ts))),
  )
  const broken = Buffer.concat([
    bytes.subarray(0, marks.immediate * PACKET),
    Buffer.alloc(1000, 0x47),
    Buffer.alloc(77, 0x12),
    bytes.subarray(marks.immediate * PACKET),
  ])
  test.each([-1, 0, 1, 187, 188, 500, 1000, 1077, 1078, 1300])('junk, %i bytes behind its beginning', async (more) => {
    const found = await traced(broken, [marks.immediate * PACKET + more])
    expect(plain(found)).toEqual(plain(await oneReading(broken)))
  })
})

describe('nothing is said where one reading might find something else', () => {
  const middle = [Math.floor(bytes.length / 2)]
  const bytesOf = (change: Parameters<typeof broadcast>[0]) => Buffer.concat(broadcast(change).packets)
  const mid = FRAMES / 2
  test.each([
    ['the time stamps jump', (_stream: Stream, frame: number) => (frame === 300 ? 100 * S : 0)],
    ['they jump back', (_stream: Stream, frame: number) => (frame === 300 ? -100 * S : 0)],
    [
      'the program gets another cue stream',
      (stream: Stream, frame: number) =>
        frame === 300 ? (stream.section(PMT, map(1, VIDEO, [CUES, MORE_CUES, 502])), 0) : 0,
    ],
    [
      'the clock is far from the frames',
      (stream: Stream, frame: number) => (frame === 300 ? (stream.picture(VIDEO, ORIGIN + 300 * FRAME, 30 * S), 0) : 0),
    ],
  ])('%s', async (_name, change) => {
    const other = bytesOf(change)
    expect(await oneReading(other)).not.toBeNull()
    expect(await traced(other, middle)).toBeUndefined()
  })
  test('they jump between two stretches', async () => {
    const { packets: jumping } = broadcast((_stream, frame) => (frame === mid ? 100 * S : 0))
    const frames = jumping.flatMap((packet, index) => (packet[1] === 0x41 && packet[2] === 0 ? [index] : []))
    const other = Buffer.concat(jumping)
    for (const frame of frames.slice(mid - 10, mid + 60)) expect(await traced(other, [frame * PACKET])).toBeUndefined()
  })
  test('a stretch is missing', async () => {
    const { source } = sourceOf(bytes)
    const of = async (first: number, last: number) => (await traceCues(source, about, { first, last }, signal))!
    const [third, end] = [Math.floor(bytes.length / 3), bytes.length - 1]
    const [one, two, three] = [await of(0, third - 1), await of(third, 2 * third - 1), await of(2 * third, end)]
    expect(joinTraces([one, two, three], about)).not.toBeNull()
    for (const some of [[one, three], [one, two], [one, three, two], []]) expect(joinTraces(some, about)).toBeNull()
  })
})

test('a real broadcast sample, cut anywhere', async (context) => {
  const sample = await readFile(sharedClip(context, 'sample_scte35.ts'))
  const start = 129_003 / S
  const expected = plain(await oneReading(sample, start))
  expect(expected).toMatchObject({ pids: [600], cues: { length: 3 } })
  // Behind the first tables.
  for (let at = 377; at < sample.length; at += 1103) {
    const found = await traced(sample, [at], programOfCues(media, start)!)
    expect(plain(found), `${at}`).toEqual(expected)
  }
})

test('a stretch is read with a little before it, and the tables at the beginning of the source', async () => {
  const { source, reads } = sourceOf(bytes)
  await traceCues(source, about, { first: 900_000, last: 999_999 }, signal)
  expect(reads).toEqual([
    { first: 0, last: 10_006 },
    { first: 900_000 - 256 * 1024, last: 999_999 + 4096 },
  ])
})

test('of an hour without cues little is kept', async () => {
  const hour = new Stream().section(0, pat([[1, PMT]])).section(PMT, map(1, VIDEO, [CUES]))
  for (let frame = 0; frame < 3600; frame += 1) hour.picture(VIDEO, frame * S)
  const everything = { first: 0, last: hour.bytes.length - 1 }
  const trace = await traceCues(sourceOf(hour.bytes).source, about, everything, signal)
  expect(trace!.events.length).toBeLessThan(2000)
  expect(encodeTrace(trace!)!.length).toBeLessThan(20_000)
})
