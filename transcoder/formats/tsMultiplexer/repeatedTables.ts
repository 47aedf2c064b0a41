// In charge of: which tables a multiplex repeats, and how often.
// Not in charge of: their format (serviceTables.ts, psip.ts, formats/mpegts/programTables.ts), sending them
// (tableRepeater.ts).
import { PAT_PID } from '../mpegts/packet.ts'
import { writePmt, type ElementaryStream, type ProgramMap } from '../mpegts/programTables.ts'
import type { MultiplexOptions } from './multiplexOptions.ts'
import { PSIP_PID, writeMgt, writeTvct } from './psip.ts'
import { SDT_PID, writePat, writeSdt, type Service } from './serviceTables.ts'
import { languageOf } from './streamDescriptors.ts'
import type { RepeatedTable } from './tableRepeater.ts'

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
