// In charge of: which tables a multiplex repeats, and how often.
// Not in charge of: their format (serviceTables.ts, formats/mpegts/programTables.ts), sending them
// (tableRepeater.ts).
import { PAT_PID } from '../mpegts/packet.ts'
import { writePmt, type ElementaryStream, type ProgramMap } from '../mpegts/programTables.ts'
import type { MultiplexOptions } from './multiplexOptions.ts'
import { SDT_PID, writePat, writeSdt, type Service, longSection, word } from './serviceTables.ts'
import { languageOf } from './streamDescriptors.ts'
import type { RepeatedTable } from './tableRepeater.ts'

/* oxlint-disable unicorn/no-useless-spread -- the fields of one row of the standard stay on one line */

const PSIP_PID = 0x1ffb
const MGT = 0xc7
const TVCT = 0xc8
/** table_type of a currently valid TVCT. */
const CURRENT_TVCT = 0x0000
const SHORT_NAME_UNITS = 7
/** One channel: 1.1. */
const MAJOR = 1
const MINOR = 1
/** ATSC (8-VSB); ATSC digital television. */
const MODULATION = 0x04
const SERVICE_TYPE = 0x02
const SOURCE = 1
const SERVICE_LOCATION = 0xa1

interface ListedStream {
  type: number
  pid: number
  language: string | null
}

function writeTvct({ stream, id, name }: Service, clockPid: number, streams: readonly ListedStream[]): Uint8Array {
  const short = Array.from({ length: SHORT_NAME_UNITS }, (_, at) => (at < name.length ? name.charCodeAt(at) : 0))
  const location = [
    ...[0xe0 | (clockPid >> 8), clockPid & 0xff, streams.length],
    ...streams.flatMap(({ type, pid, language }) => [type, 0xe0 | (pid >> 8), pid & 0xff, ...code(language)]),
  ]
  const descriptors = [SERVICE_LOCATION, location.length, ...location]
  return longSection(TVCT, 0xf0, stream, [
    ...[0, 1],
    ...short.flatMap(word),
    // Four reserved bits, then ten for each of the two channel numbers; no carrier frequency.
    ...[0xf0 | (MAJOR >> 6), ((MAJOR & 0x3f) << 2) | (MINOR >> 8), MINOR & 0xff, MODULATION, 0, 0, 0, 0],
    ...[...word(stream), ...word(id)],
    // No extended text, no access control, not hidden, shown in the guide.
    ...[0x0d, 0xc0 | SERVICE_TYPE, ...word(SOURCE)],
    ...[0xfc | (descriptors.length >> 8), descriptors.length & 0xff, ...descriptors],
    ...[0xfc, 0],
  ])
}

function writeMgt(tvct: Uint8Array): Uint8Array {
  return longSection(MGT, 0xf0, 0, [
    ...[0, 0, 1, ...word(CURRENT_TVCT), 0xe0 | (PSIP_PID >> 8), PSIP_PID & 0xff, 0xe0],
    ...[0, 0, ...word(tvct.length), 0xf0, 0],
    ...[0xf0, 0],
  ])
}

function code(language: string | null): number[] {
  return language === null ? [0, 0, 0] : [0, 1, 2].map((at) => language.charCodeAt(at))
}

/** TR 101 290 requires 500 ms, TS 101 154 recommends 100 ms. */
const TABLE_MS = 80
/**
 * At a variable rate, tables are sent at the beginning of an interval. A little more than two intervals, so that not
 * every one has tables.
 */
const TABLE_VARIABLE_MS = 68
/** EN 300 468, 5.1.4: 2 s. */
const SERVICE_MS = 1000
/** A/65, 7.1: 150 and 400 ms. */
const GUIDE_MS = { mgt: 120, tvct: 320 }

export function repeatedTables(options: MultiplexOptions, map: ProgramMap): RepeatedTable[] {
  const { rateKbps, profile, service, mapPid, videoPid } = options
  const everyMs = rateKbps === null ? TABLE_VARIABLE_MS : TABLE_MS
  return [
    { pid: PAT_PID, section: writePat(service, mapPid), everyMs },
    { pid: mapPid, section: writePmt(map), everyMs },
    ...(profile === 'atsc' ? psip(service, videoPid, map.streams) : [sdt(service)]),
  ]
}

function sdt(service: Service): RepeatedTable {
  return { pid: SDT_PID, section: writeSdt(service), everyMs: SERVICE_MS }
}

function psip(service: Service, clockPid: number, streams: readonly ElementaryStream[]): RepeatedTable[] {
  const located = streams.map(({ type, pid, descriptors }) => ({ type, pid, language: languageOf(descriptors) }))
  const section = writeTvct(service, clockPid, located)
  return [
    { pid: PSIP_PID, section: writeMgt(section), everyMs: GUIDE_MS.mgt },
    { pid: PSIP_PID, section, everyMs: GUIDE_MS.tvct },
  ]
}
