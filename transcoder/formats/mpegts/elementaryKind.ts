// In charge of: what an entry of a program map is, by its stream_type and its descriptors: also what ffmpeg has no name for.
// Not in charge of: reading the map (programTables.ts).
import { readDescriptors, videoCodecOf, type ElementaryStream, type ProgramMap } from './programTables.ts'

export interface ElementaryKind {
  media: 'video' | 'audio' | 'other'
  /** ffmpeg's name of the codec where it has one. Two streams of one name can follow each other in a decoder. */
  codec: string
}

/** ISO/IEC 13818-1, table 2-34; ATSC A/52 from 0x81 on. */
const audioTypes: Readonly<Record<number, string>> = {
  0x03: 'mp2',
  0x04: 'mp2',
  0x0f: 'aac',
  0x11: 'aac_latm',
  0x2d: 'MPEG-H 3D Audio',
  0x2e: 'MPEG-H 3D Audio',
  0x81: 'ac3',
  0x83: 'truehd',
  0x84: 'eac3',
  0x87: 'eac3',
}
/** Stream types of Blu-ray. Elsewhere the same numbers are video, subtitles and cues. */
const blurayTypes: Readonly<Record<number, string>> = { 0x80: 'pcm_bluray', 0x82: 'dts', 0x85: 'dts', 0x86: 'dts' }
/** ETSI EN 300 468, annexes D, G, H. */
const audioDescriptors: Readonly<Record<number, string>> = { 0x6a: 'ac3', 0x7a: 'eac3', 0x7b: 'dts', 0x7c: 'aac' }
/** descriptor_tag_extension of the extension descriptor (6.4). */
const audioExtensions: Readonly<Record<number, string>> = { 0x0e: 'dts', 0x0f: 'dts', 0x15: 'AC-4', 0x21: 'DTS-UHD' }
/** format_identifier of the registration descriptor. */
const audioRegistrations: Readonly<Record<string, string>> = {
  'AC-3': 'ac3',
  EAC3: 'eac3',
  'AC-4': 'AC-4',
  DTS1: 'dts',
  DTS2: 'dts',
  DTS3: 'dts',
  DTSH: 'dts',
  DTSU: 'DTS-UHD',
  BSSD: 's302m',
  Opus: 'opus',
  mha1: 'MPEG-H 3D Audio',
}
const REGISTRATION = 0x05
const EXTENSION = 0x7f
/** ISO_639_language_descriptor. */
const LANGUAGE = 0x0a
const BLURAY = 'HDMV'
/** From here on a stream_type means what a registration says. */
const PRIVATE = 0x80

/** What ffmpeg lists as data. */
export const unnamedAudio: ReadonlySet<string> = new Set(['AC-4', 'DTS-UHD', 'MPEG-H 3D Audio'])

/** `program`: the descriptors of its program. */
export function elementaryKind(stream: ElementaryStream, program: Uint8Array): ElementaryKind {
  const { type } = stream
  const video = videoCodecOf(stream)
  if (video !== undefined) return { media: 'video', codec: video }
  const ofBluray = registrationOf(program) === BLURAY ? blurayTypes[type] : undefined
  const audio = describedAudio(stream) ?? ofBluray ?? audioTypes[type]
  if (audio !== undefined) return { media: 'audio', codec: audio }
  const tags = readDescriptors(stream.descriptors).map(({ tag }) => tag)
  return {
    media: 'other',
    codec: `${type} ${tags.find((tag) => tag === 0x56 || tag === 0x59) ?? registrationOf(stream.descriptors)}`,
  }
}

/** Audio for which ffmpeg has no name, by PID. */
export function unnamedAudioOf(programs: readonly ProgramMap[]): Map<number, string> {
  return new Map(
    programs.flatMap(({ streams, descriptors }) =>
      streams.flatMap((stream) => {
        const { media, codec } = elementaryKind(stream, descriptors)
        return media === 'audio' && unnamedAudio.has(codec) ? [[stream.pid, codec] as const] : []
      }),
    ),
  )
}

/** ISO 639-2; null = not stated. */
export function languageOf(stream: ElementaryStream): string | null {
  const found = readDescriptors(stream.descriptors).find(({ tag, body }) => tag === LANGUAGE && body.length >= 3)
  return found === undefined ? null : text(found.body.subarray(0, 3))
}

function describedAudio(stream: ElementaryStream): string | undefined {
  if (stream.type !== 0x06 && stream.type < PRIVATE) return undefined
  for (const { tag, body } of readDescriptors(stream.descriptors)) {
    const codec = tag === EXTENSION ? audioExtensions[body[0] ?? -1] : audioDescriptors[tag]
    if (codec !== undefined) return codec
  }
  return audioRegistrations[registrationOf(stream.descriptors)]
}

function registrationOf(descriptors: Uint8Array): string {
  const found = readDescriptors(descriptors).find(({ tag }) => tag === REGISTRATION)
  return found === undefined ? '' : text(found.body.subarray(0, 4))
}

function text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
