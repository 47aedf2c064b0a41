// Packets, sections and tables: split at every offset, damaged, with other packet sizes.
import { describe, expect, test } from 'vitest'
import { readPcr, readPesTimestamps } from '../../../../../transcoder/formats/mpegts/clock.ts'
import { cueStreamType, isCueStream, withCueStream } from '../../../../../transcoder/formats/scte35/cueStream.ts'
import { PacketReader } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { SectionAssembler, toPackets } from '../../../../../transcoder/formats/mpegts/section.ts'
import { readPat, readPmt, writePmt, type ProgramMap } from '../../../../../transcoder/formats/mpegts/programTables.ts'
import { packBits, withCrc, referenceCrc32, spliceInsert } from '../../../../support/mpegts/spliceSections.ts'
import { Random } from '../../../../support/seededRandom.ts'

/** Whole numbers from 0 to below the argument. */
function numbersBelow(seed: number): (below: number) => number {
  const random = new Random(seed)
  return (below) => random.whole(0, below - 1)
}

const section = (length: number, fill: number) =>
  Uint8Array.from({ length }, (_, at) => [0xfc, 0x30 | ((length - 3) >> 8), (length - 3) & 0xff][at] ?? fill)

/** Sections in sequence: the first payload starts with `lead` stuffing bytes of an earlier section's end. */
function packed(sections: readonly Uint8Array[], room: (left: number) => number): Uint8Array[] {
  const bytes = sections.flatMap((each) => [...each])
  const starts = new Set<number>()
  sections.reduce((at, each) => (starts.add(at), at + each.length), 0)
  const packets: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const size = room(bytes.length - at)
    const here = [...starts].find((start) => start >= at && start < at + size - 1)
    const payload = here === undefined ? [] : [here - at]
    const part = bytes.slice(at, at + size - payload.length)
    payload.push(...part)
    const field = 184 - payload.length
    const adaptation =
      field === 0 ? [] : [field - 1, ...(field > 1 ? [0] : []), ...Array<number>(Math.max(0, field - 2)).fill(0xff)]
    packets.push(
      Uint8Array.from([
        0x47,
        (here === undefined ? 0 : 0x40) | 1,
        0xf0,
        (field === 0 ? 0x10 : 0x30) | (packets.length & 15),
        ...adaptation,
        ...payload,
      ]),
    )
    at += part.length
  }
  return packets
}

function assembled(packets: readonly Uint8Array[]): Uint8Array[] {
  const assembler = new SectionAssembler()
  return packets.flatMap((packet) => assembler.push(packet))
}

describe('sections', () => {
  test('any sequence of sections comes through packets of any fill', () => {
    const next = numbersBelow(35)
    for (let round = 0; round < 150; round++) {
      const sections = Array.from({ length: 1 + next(6) }, () =>
        section(3 + next(round % 10 === 0 ? 4093 : 250), next(255)),
      )
      const packets = packed(sections, () => 2 + next(183))
      for (const packet of packets) expect(packet).toHaveLength(188)
      expect(assembled(packets)).toEqual(sections)
    }
  })
  test('two sections cut at every offset between three packets', () => {
    const sections = [section(120, 1), section(140, 2)]
    for (let cut = 2; cut <= 184; cut++) {
      const sizes = [cut, 184, 184, 184]
      expect(assembled(packed(sections, () => sizes.shift() ?? 184)), `cut ${cut}`).toEqual(sections)
    }
  })
  test.each([3, 183, 184, 185, 367, 368, 4096])('%i bytes, cut up and put together', (length) => {
    const packets = toPackets(section(length, 9), 600, 14)
    expect(packets).toHaveLength(Math.ceil((length + 1) / 184))
    expect(packets.map((packet) => packet[3]! & 15)).toEqual(packets.map((_, index) => (14 + index) & 15))
    expect(assembled(packets)).toEqual([section(length, 9)])
  })
  test('a packet that is missing costs its section only', () => {
    const packets = [...toPackets(section(500, 1), 600, 0), ...toPackets(section(90, 2), 600, 3)]
    expect(assembled(packets.toSpliced(1, 1))).toEqual([section(90, 2)])
  })
  test('a packet that is sent twice counts once', () => {
    const packets = toPackets(section(300, 1), 600, 0)
    expect(assembled(packets.flatMap((packet) => [packet, packet]))).toEqual([section(300, 1)])
  })
  test('scrambled and damaged packets have no payload', () => {
    const [packet] = toPackets(section(90, 1), 600, 0)
    for (const [at, bit] of [
      [1, 0x80],
      [3, 0x80],
    ] as const)
      expect(assembled([packet!.map((byte, index) => (index === at ? byte | bit : byte))])).toEqual([])
  })
})

describe('packets', () => {
  const stream = Array.from({ length: 12 }, (_, index) => toPackets(section(100, index), 600, index)[0]!)
  const spaced = (before: number, after: number) =>
    Uint8Array.from(
      stream.flatMap((each) => [...Array<number>(before).fill(0x47), ...each, ...Array<number>(after).fill(7)]),
    )
  const read = (bytes: Uint8Array, step: number) => {
    const reader = new PacketReader()
    const found: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += step) found.push(...reader.push(bytes.subarray(at, at + step)))
    return [...found, ...reader.end()].map((packet) => packet[50])
  }
  const all = stream.map((packet) => packet[50])

  test.each([1, 7, 187, 188, 189, 191, 192, 193, 204, 1000, 5000])('chunks of %i bytes, three strides', (step) => {
    expect(read(spaced(0, 0), step)).toEqual(all)
    expect(read(spaced(0, 4), step)).toEqual(all)
    expect(read(spaced(0, 16), step)).toEqual(all)
  })
  test('garbage in front and in the middle costs nothing but itself', () => {
    const bytes = [
      ...Array<number>(55).fill(0x11),
      ...spaced(0, 0).slice(0, 188 * 6),
      0x11,
      0x47,
      ...spaced(0, 0).slice(188 * 6),
    ]
    expect(read(Uint8Array.from(bytes), 400)).toEqual(all)
  })
})

test('clock references and time stamps are read to the last of 33 bits', () => {
  const packet = (base: number) =>
    Uint8Array.from([
      0x47,
      1,
      0,
      0x30,
      7,
      0x10,
      ...packBits([
        [base, 33],
        [63, 6],
        [299, 9],
      ]),
      ...Array<number>(176).fill(0),
    ])
  const stamp = (mark: number, at: number) =>
    packBits([
      [mark, 4],
      [Math.floor(at / 2 ** 30), 3],
      [1, 1],
      [Math.floor(at / 2 ** 15) % 2 ** 15, 15],
      [1, 1],
      [at % 2 ** 15, 15],
      [1, 1],
    ])
  for (const ticks of [0, 1, 2 ** 32, 2 ** 33 - 1, 5_555_555_555]) {
    expect(readPcr(packet(ticks))).toBe(ticks)
    expect(readPesTimestamps(Uint8Array.from([0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, ...stamp(2, ticks), 0]))).toEqual({
      pts: ticks,
      dts: ticks,
    })
    const both = [0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 10, ...stamp(3, ticks), ...stamp(1, 77)]
    expect(readPesTimestamps(Uint8Array.from(both))).toEqual({ pts: ticks, dts: 77 })
  }
  expect(readPcr(packet(5).with(5, 0))).toBeNull()
  expect(readPesTimestamps(new Uint8Array(30))).toBeNull()
})

describe('tables', () => {
  const map = (audio: number): ProgramMap => ({
    program: 513,
    version: 21,
    clockPid: 0x100,
    descriptors: Uint8Array.of(0x0a, 1, 9),
    streams: [
      { type: 0x1b, pid: 0x100, descriptors: new Uint8Array(0) },
      ...Array.from({ length: audio }, (_, index) => ({
        type: 0x0f,
        pid: 0x101 + index,
        descriptors: Uint8Array.of(0x0a, 4, 0x64, 0x65, 0x75, 0),
      })),
    ],
  })

  test.each([0, 3, 40])('a map with %i audio streams, also over several packets', (audio) => {
    const written = writePmt(withCueStream(map(audio), 600, 1))
    expect(referenceCrc32(written)).toBe(0)
    const [back] = assembled(toPackets(written, 0x1000, 0)).map(readPmt)
    const { streams, ...rest } = map(audio)
    expect(back).toEqual({
      ...rest,
      descriptors: Uint8Array.of(0x05, 4, 0x43, 0x55, 0x45, 0x49, 0x0a, 1, 9),
      streams: [...streams, { type: 0x86, pid: 600, descriptors: Uint8Array.of(0x8a, 1, 1) }],
    })
    expect([back!.streams.filter(isCueStream).length, cueStreamType(back!.streams.at(-1)!)]).toEqual([1, 1])
  })
  test('a program that is registered already is not registered twice', () => {
    const twice = withCueStream(withCueStream(map(1), 600, 1), 601, 2)
    expect(twice.descriptors.filter((byte) => byte === 0x43)).toHaveLength(1)
  })
  test('more streams than a table holds is an error, not a broken table', () => {
    expect(() => writePmt(map(100))).toThrow('longer than a table')
  })
  test('a PAT names programs, and not the network', () => {
    const body = packBits([
      [0, 8],
      [0xb0, 8],
      [17, 8],
      [1, 16],
      [0xc1, 8],
      [0, 16],
      [0, 16],
      [0xe010, 16],
      [7, 16],
      [0xe100, 16],
    ])
    expect(readPat(withCrc(body))).toEqual(new Map([[7, 0x100]]))
    expect(readPat(withCrc(body).with(10, 1))).toBeNull()
    // current_next_indicator 0: not in force yet.
    expect(readPat(withCrc(body.with(5, 0xc0)))).toBeNull()
  })
  test('a splice section is no table, and a map without a true CRC is none', () => {
    expect([readPat(spliceInsert({ eventId: 1, out: true, pts: 5 })), readPmt(writePmt(map(1)).with(20, 1))]).toEqual([
      null,
      null,
    ])
  })
})
