// In charge of: the descriptors of streams in a program map: AC-3 and AAC declared for DVB (ETSI EN 300 468, annexes D
// and H) and ATSC (A/52, annex A), teletext and languages read.
// Not in charge of: the format of the map (formats/mpegts/programTables.ts), the other tables (serviceTables.ts,
// repeatedTables.ts).
import type { AudioCodec } from '../codecs.ts'
import { readDescriptors, type ElementaryStream, type ProgramMap } from '../mpegts/programTables.ts'
import type { TsProfile } from './bufferLimits.ts'

export interface AudioFormat {
  codec: AudioCodec
  channels: number
  bitrateKbps: number
}

const PRIVATE_DATA = 0x06
const ATSC_AC3 = 0x81
const REGISTRATION = 0x05
const LANGUAGE = 0x0a
const DVB_AC3 = 0x6a
const DVB_AAC = 0x7c
const ATSC_AC3_AUDIO = 0x81
/** EN 300 468, table D.1: a complete main service with two channels, or with more. */
const COMPONENT = { has: 0x80, stereo: 0x42, surround: 0x44 } as const
/** EN 300 468, table H.1: AAC, level 2 for two channels and level 4 for more. */
const AAC_LEVEL = { stereo: 0x51, surround: 0x52 } as const
/** A/52, table A4.3: codes of the bit rates in kbps. */
const AC3_RATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
/** bsid of AC-3. */
const AC3_VERSION = 8
/** Format identifier of ATSC programs. */
const GA94 = [0x47, 0x41, 0x39, 0x34] as const

export function describeAudioStream(
  stream: ElementaryStream,
  audio: AudioFormat,
  profile: TsProfile | null,
): ElementaryStream {
  if (profile === null) return stream
  const isStereo = audio.channels <= 2
  if (profile === 'dvb') {
    if (audio.codec === 'aac')
      return withDescriptor(stream, DVB_AAC, [isStereo ? AAC_LEVEL.stereo : AAC_LEVEL.surround])
    if (audio.codec !== 'ac3') return stream
    const remaining = without(stream, REGISTRATION)
    const component = (isStereo ? COMPONENT.stereo : COMPONENT.surround) | (serviceType(stream) << 3)
    return withDescriptor({ ...remaining, type: PRIVATE_DATA }, DVB_AC3, [COMPONENT.has, component])
  }
  if (audio.codec !== 'ac3') return stream
  // 2/0 or 3/2, a complete main service at 48 kHz. No language here: the ISO 639 descriptor states it.
  const rate = Math.max(0, AC3_RATES.indexOf(audio.bitrateKbps)) << 2
  const modes = (serviceType(stream) << 5) | ((isStereo ? 2 : 7) << 1) | 1
  return withDescriptor({ ...stream, type: ATSC_AC3 }, ATSC_AC3_AUDIO, [
    AC3_VERSION,
    rate,
    modes,
    0xff,
    0x0f,
    0x01,
    0x3f,
  ])
}

/** bsmod of AC-3 (A/52, table 5.7) for each audio_type (ISO/IEC 13818-1, table 2-60): complete main without one. */
const SERVICE_TYPES = [0, 1, 3, 2]

function serviceType({ descriptors }: ElementaryStream): number {
  const audioType = readDescriptors(descriptors).find(({ tag }) => tag === LANGUAGE)?.body[3] ?? 0
  return SERVICE_TYPES[audioType] ?? 0
}

/** Adds the descriptors of the program itself. */
export function describeProgram(map: ProgramMap, profile: TsProfile | null): ProgramMap {
  if (profile !== 'atsc') return map
  return { ...map, descriptors: Uint8Array.of(REGISTRATION, GA94.length, ...GA94, ...map.descriptors) }
}

/** The stream has a teletext_descriptor. */
export function isTeletext({ descriptors }: ElementaryStream): boolean {
  return readDescriptors(descriptors).some(({ tag }) => tag === 0x56)
}

/** Data streams other than teletext are DVB subtitles. */
export function subtitleKind(stream: ElementaryStream): 'teletext' | 'subtitles' {
  return isTeletext(stream) ? 'teletext' : 'subtitles'
}

/** ISO_639_language_descriptor. */
export function languageOf(descriptors: Uint8Array): string | null {
  const body = readDescriptors(descriptors).find(({ tag }) => tag === LANGUAGE)?.body
  return body === undefined || body.length < 3 ? null : String.fromCharCode(...body.subarray(0, 3))
}

function withDescriptor(stream: ElementaryStream, tag: number, body: readonly number[]): ElementaryStream {
  return { ...stream, descriptors: Uint8Array.of(tag, body.length, ...body, ...without(stream, tag).descriptors) }
}

function without(stream: ElementaryStream, unwanted: number): ElementaryStream {
  const remaining = readDescriptors(stream.descriptors).filter(({ tag }) => tag !== unwanted)
  return { ...stream, descriptors: Uint8Array.from(remaining.flatMap(({ tag, body }) => [tag, body.length, ...body])) }
}
