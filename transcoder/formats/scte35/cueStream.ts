// In charge of: the declaration of a cue stream in a program map (ANSI/SCTE 35, section 8).
// Not in charge of: the cues (spliceInfo.ts).
import { readDescriptors, type ElementaryStream, type ProgramMap } from '../mpegts/programTables.ts'

/** 8.1: stream_type of splice_info_sections. */
const CUE_STREAM = 0x86
/** 8.1: the registration descriptor of a program with cues, format_identifier "CUEI". */
const REGISTRATION = 0x05
const CUEI = [0x43, 0x55, 0x45, 0x49] as const
/** 8.2: cue_identifier_descriptor; cue_stream_type 1 = all commands. */
const CUE_IDENTIFIER = 0x8a
export const ALL_COMMANDS = 1

export function isCueStream(stream: ElementaryStream): boolean {
  return stream.type === CUE_STREAM
}

/** cue_stream_type that the source declares; `ALL_COMMANDS` where it declares none. */
export function cueStreamType(stream: ElementaryStream): number {
  const stated = readDescriptors(stream.descriptors).find(
    ({ tag, body }) => tag === CUE_IDENTIFIER && body.length === 1,
  )
  return stated?.body[0] ?? ALL_COMMANDS
}

function isRegistered(map: ProgramMap): boolean {
  return readDescriptors(map.descriptors).some(
    ({ tag, body }) => tag === REGISTRATION && CUEI.every((byte, at) => body[at] === byte),
  )
}

/** The map with a cue stream added. The version is kept, because every copy of the table in the output is changed. */
export function withCueStream(map: ProgramMap, pid: number, type: number): ProgramMap {
  const registration = isRegistered(map) ? [] : [REGISTRATION, CUEI.length, ...CUEI]
  return {
    ...map,
    descriptors: Uint8Array.from([...registration, ...map.descriptors]),
    streams: [...map.streams, { type: CUE_STREAM, pid, descriptors: Uint8Array.of(CUE_IDENTIFIER, 1, type) }],
  }
}
