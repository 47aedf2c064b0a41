// Streams that move to other PIDs, packet by packet: chunks of any size, long maps, readers from the middle.
import { describe, expect, test } from 'vitest'
import { PacketReader, pidOf } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { readPmt, writePmt, type ElementaryStream } from '../../../../../transcoder/formats/mpegts/programTables.ts'
import { SectionAssembler } from '../../../../../transcoder/formats/mpegts/section.ts'
import { StableMap, type StableMapReader } from '../../../../../transcoder/formats/mpegts/stableMap.ts'
import { endedStreamWarnings } from '../../../../../transcoder/analysis/damage/endedStreams.ts'
import { audioStream, mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'
import { pat, Stream } from '../../../../support/mpegts/packetStream.ts'

const TABLE = 0x100
const H264 = 0x1b
const MP2 = 3
const AC3 = 0x81
const S = 90_000

const language = (code: string, filler = 0): Uint8Array =>
  Uint8Array.from([0x0a, 4, ...code.split('').map((letter) => letter.charCodeAt(0)), 0, ...filled(filler)])
/** A private descriptor: a long one makes the map longer than a packet. */
const filled = (count: number): number[] => (count === 0 ? [] : [0xf0, count, ...Array<number>(count).fill(1)])

type Listed = readonly [type: number, pid: number, descriptors?: Uint8Array]

function map(version: number, streams: readonly Listed[]): Uint8Array {
  const all = streams.map(([type, pid, descriptors = new Uint8Array()]): ElementaryStream => ({
    type,
    pid,
    descriptors,
  }))
  return writePmt({ program: 1, version, clockPid: 0x21, descriptors: new Uint8Array(), streams: all })
}

/** A second for each map: the tables, and one frame of each stream that it lists. */
function stream(...maps: (readonly Listed[])[]): Uint8Array {
  const made = new Stream()
  for (const [index, streams] of maps.entries()) {
    made.section(0, pat([[1, TABLE]])).section(TABLE, map(index, streams))
    for (const [, pid] of streams) made.picture(pid, index * S).picture(pid, index * S + 3600)
  }
  return made.bytes
}

function through(reader: StableMapReader, bytes: Uint8Array, step: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += step) parts.push(Uint8Array.from(reader.push(bytes.slice(at, at + step))))
  return Buffer.concat([...parts, reader.end()])
}

function read(bytes: Uint8Array): { pids: number[]; listed: number[][] } {
  const reader = new PacketReader()
  const tables = new SectionAssembler()
  const pids: number[] = []
  const listed: number[][] = []
  for (const packet of [...reader.push(bytes), ...reader.end()]) {
    const pid = pidOf(packet)
    if (pid === TABLE)
      listed.push(...tables.push(packet).map((section) => readPmt(section)!.streams.map((each) => each.pid)))
    else if (pid !== 0) pids.push(pid)
  }
  return { pids, listed }
}

const shown = (bytes: Uint8Array, step = 64 * 1024) => read(through(new StableMap().reader(0), bytes, step))

describe('which stream continues which', () => {
  const video: Listed = [H264, 0x21]
  const eng: Listed = [MP2, 0x31, language('eng')]
  const fra: Listed = [MP2, 0x32, language('fra')]
  test.each<[string, Listed[], Listed[], number[]]>([
    ['the only audio', [video, eng], [video, [MP2, 0x41]], [0x21, 0x31]],
    [
      'by language',
      [video, eng, fra],
      [video, [MP2, 0x41, language('fra')], [MP2, 0x42, language('eng')]],
      [0x21, 0x32, 0x31],
    ],
    ['not one that is still there', [video, eng], [video, [MP2, 0x41, language('eng')], eng], [0x21, 0x41, 0x31]],
    [
      'not one in another language beside the rest',
      [video, eng, fra],
      [video, eng, [MP2, 0x41, language('deu')]],
      [0x21, 0x31, 0x41],
    ],
    ['not another codec', [video, eng], [video, [AC3, 0x41, language('eng')]], [0x21, 0x41]],
    [
      'on each other’s PIDs',
      [video, eng],
      [
        [H264, 0x31],
        [MP2, 0x21, language('eng')],
      ],
      [0x21, 0x31],
    ],
    [
      'beside another codec on its old PID',
      [video, eng],
      [video, [AC3, 0x31], [MP2, 0x41, language('eng')]],
      [0x21, 0x41, 0x31],
    ],
    ['from one type of MPEG video to the other', [[1, 0x21], eng], [[2, 0x51], eng], [0x21, 0x31]],
  ])('%s', (_name, first, second, pids) => {
    expect(shown(stream(first, second)).listed[1]).toEqual(pids)
    expect(shown(stream(first, second)).pids.slice(2 * first.length)).toEqual(pids.flatMap((pid) => [pid, pid]))
    // And back again.
    expect(shown(stream(first, second, first)).listed[2]).toEqual(first.map(([, pid]) => pid))
  })
})

test('chunks of any size, a map in several packets', () => {
  const long = (pid: number): Listed[] => [
    [H264, 0x21],
    [MP2, pid, language('eng', 200)],
    [MP2, pid + 1, language('fra', 200)],
  ]
  const bytes = stream(long(0x31), long(0x41), long(0x31))
  const whole = shown(bytes)
  expect(whole.listed).toEqual(Array.from({ length: 3 }, () => [0x21, 0x31, 0x32]))
  for (const step of [1, 187, 188, 189, 1000]) expect(shown(bytes, step)).toEqual(whole)
})

test('bytes are untouched while nothing moves, and in what is no transport stream', () => {
  const still = stream(
    [[H264, 0x21]],
    [
      [H264, 0x21],
      [MP2, 0x31],
    ],
    [
      [H264, 0x21],
      [MP2, 0x31],
      [AC3, 0x41],
    ],
  )
  const other = Uint8Array.from({ length: 80_000 }, (_, at) => (at * 7919) % 251)
  for (const bytes of [still, other])
    for (const step of [500, 70_000])
      expect(through(new StableMap().reader(0), bytes, step)).toEqual(Buffer.from(bytes))
})

test('a reader from the middle gets the PIDs of the beginning', () => {
  const bytes = stream(
    [
      [H264, 0x21],
      [MP2, 0x31],
    ],
    [
      [H264, 0x21],
      [MP2, 0x41],
    ],
  )
  const source = new StableMap()
  const all = read(through(source.reader(0), bytes, 1000))
  const from = bytes.length / 2
  const half = read(through(source.reader(from), bytes.slice(from), 300))
  expect(half).toEqual({ pids: all.pids.slice(4), listed: all.listed.slice(1) })
})

test('a stream that nothing continues has ended; one that begins later has not', () => {
  const source = new StableMap()
  through(
    source.reader(0),
    stream(
      [
        [H264, 0x21],
        [MP2, 0x31],
      ],
      [
        [H264, 0x21],
        [AC3, 0x41],
      ],
    ),
    1000,
  )
  expect(source.ended).toEqual([
    { program: 1, pid: 0x31, media: 'audio', codec: 'mp2', ticks: 3600, instead: [{ pid: 0x41, codec: 'ac3' }] },
  ])
  const about = {
    media: mediaInfo({}, { startSeconds: 0, audio: [audioStream({ number: 1, id: 0x31 })] }),
    timeline: { startSeconds: 0 },
  }
  expect(endedStreamWarnings(source.ended, about, { sourceAudio: [1] })).toEqual([
    {
      code: 'stream_ends_early',
      message: expect.stringMatching(/audio on PID 49 .* 0:00:00 on; .* PID 65 \(ac3\)/) as string,
    },
  ])
  expect(endedStreamWarnings(source.ended, about, { sourceAudio: [] })).toEqual([])
  const late = new StableMap()
  const bytes = stream(
    [[H264, 0x21]],
    [
      [H264, 0x21],
      [MP2, 0x31],
    ],
    [
      [H264, 0x21],
      [MP2, 0x41],
    ],
  )
  expect(read(through(late.reader(0), bytes, 1000)).listed[2]).toEqual([0x21, 0x31])
  through(late.reader(0), bytes, 1000)
  expect(late.ended).toEqual([])
})
