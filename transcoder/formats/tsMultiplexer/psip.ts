// In charge of: the tables by which an ATSC receiver finds a channel: MGT and TVCT (ATSC A/65, 6.2 and 6.3).
// Not in charge of: programme guide and time of day, which a file does not have.
import { longSection, word, type Service } from './serviceTables.ts'

/* oxlint-disable unicorn/no-useless-spread -- the fields of one row of the standard stay on one line */

export const PSIP_PID = 0x1ffb
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

export interface ListedStream {
  type: number
  pid: number
  language: string | null
}

export function writeTvct(
  { stream, id, name }: Service,
  clockPid: number,
  streams: readonly ListedStream[],
): Uint8Array {
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

export function writeMgt(tvct: Uint8Array): Uint8Array {
  return longSection(MGT, 0xf0, 0, [
    ...[0, 0, 1, ...word(CURRENT_TVCT), 0xe0 | (PSIP_PID >> 8), PSIP_PID & 0xff, 0xe0],
    ...[0, 0, ...word(tvct.length), 0xf0, 0],
    ...[0xf0, 0],
  ])
}

function code(language: string | null): number[] {
  return language === null ? [0, 0, 0] : [0, 1, 2].map((at) => language.charCodeAt(at))
}
