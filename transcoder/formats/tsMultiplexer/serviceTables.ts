// In charge of: PAT (ISO/IEC 13818-1, 2.4.4.3) and SDT (ETSI EN 300 468, 5.2.3) of a multiplex.
// Not in charge of: the program map (formats/mpegts/programTables.ts), the tables of ATSC (repeatedTables.ts), when they are sent
// (tableRepeater.ts).
import { sealSection } from '../mpegts/crc.ts'

/* oxlint-disable unicorn/no-useless-spread -- the fields of one row of the standard stay on one line */

export const SDT_PID = 0x11

export interface Service {
  /** transport_stream_id. */
  stream: number
  /** service_id, the same as the program number. */
  id: number
  name: string
  provider: string
  /** service_type (EN 300 468, table 89). */
  type: number
}

/** original_network_id of a stream that belongs to no network (ETSI TS 101 162: user defined, from 0xff01). */
const NO_NETWORK = 0xff01
/** table_id of the SDT for the stream that contains it. */
const SDT_ACTUAL = 0x42
const SERVICE_DESCRIPTOR = 0x48
const RUNNING = 4

export function word(value: number): [number, number] {
  return [(value >> 8) & 0xff, value & 0xff]
}

/** A section in the long form: version 0, currently valid, the only section of its table. */
export function longSection(table: number, flags: number, extension: number, body: readonly number[]): Uint8Array {
  const length = 5 + body.length + 4
  return sealSection(
    Uint8Array.of(
      ...[table, flags | ((length >> 8) & 0x0f), length & 0xff, ...word(extension), 0xc1, 0, 0],
      ...[...body, 0, 0, 0, 0],
    ),
  )
}

export function writePat({ stream, id }: Service, mapPid: number): Uint8Array {
  return longSection(0x00, 0xb0, stream, [...word(id), 0xe0 | (mapPid >> 8), mapPid & 0xff])
}

export function writeSdt({ stream, id, name, provider, type }: Service): Uint8Array {
  const [from, called] = [text(provider), text(name)]
  const service = [type, from.length, ...from, called.length, ...called]
  const descriptor = [SERVICE_DESCRIPTOR, service.length, ...service]
  return longSection(SDT_ACTUAL, 0xf0, stream, [
    ...[...word(NO_NETWORK), 0xff],
    // No EIT schedule and no present/following events; not scrambled.
    ...[...word(id), 0xfc, (RUNNING << 5) | (descriptor.length >> 8), descriptor.length & 0xff],
    ...descriptor,
  ])
}

/** Longest name or provider in bytes: one descriptor has room for two of them. */
export const MAX_NAME_BYTES = 120
/** Annex A, table A.4: UTF-8. */
const UTF8 = 0x15

/** ASCII text needs no prefix for the character table. */
function text(value: string): number[] {
  if (/^[\x20-\x7e]*$/.test(value)) return [...new TextEncoder().encode(value).subarray(0, MAX_NAME_BYTES)]
  const bytes: number[] = []
  for (const sign of value) {
    const own = new TextEncoder().encode(sign)
    if (bytes.length + own.length > MAX_NAME_BYTES) break
    bytes.push(...own)
  }
  return [UTF8, ...bytes]
}
