// In charge of: the codecs' configuration records: RFC 6381 names, channels, [MS-SSTR] CodecPrivateData.
// Not in charge of: finding the records (initSegment.ts).
import { BitReader } from '../bitReader.ts'
import { FormatError } from '../formatError.ts'
import { hex } from '../encodeBytes.ts'
import type { NalFamily } from '../video/keyFrameScan.ts'
import { viewOf } from './boxReader.ts'

export interface CodecConfig {
  /** null for audio. */
  nalFamily: NalFamily | null
  /** RFC 6381. */
  codec: string
  /** Bytes of the length field before each NAL unit; 0 for audio. */
  nalLengthBytes: number
  /** Hex: SPS and PPS with start codes; AudioSpecificConfig. '' where Smooth does not support the codec. */
  codecPrivateData: string
}

export interface AudioCodecConfig extends CodecConfig {
  channels: number
  /** Hz. */
  sampleRate: number
}

const brokenConfig = (what: string): FormatError => new FormatError('damaged', `The encoder wrote a broken ${what}.`)

/** ISO/IEC 14496-15, 5.3.3.1. */
export function avcFrom(avcC: Uint8Array): CodecConfig {
  if (avcC.length < 7) throw brokenConfig('avcC')
  const view = viewOf(avcC)
  let at = 5
  let sets = ''
  for (const mask of [0x1f, 0xff]) {
    const count = (avcC[at] ?? 0) & mask
    at += 1
    for (let n = 0; n < count; n++) {
      if (at + 2 > avcC.length) throw brokenConfig('avcC')
      const end = at + 2 + view.getUint16(at)
      if (end > avcC.length) throw brokenConfig('avcC')
      sets += `00000001${hex(avcC.subarray(at + 2, end))}`
      at = end
    }
  }
  return {
    nalFamily: 'avc',
    codec: avcName(avcC.subarray(1, 4)),
    nalLengthBytes: (avcC[4]! & 3) + 1,
    codecPrivateData: sets,
  }
}

/** ISO/IEC 14496-15, annex E.2: profile_idc, constraint flags, level_idc. */
export function avcName(profile: Uint8Array): string {
  return `avc1.${hex(profile)}`
}

/** ISO/IEC 14496-15, 8.3.3.1. */
export function hevcFrom(hvcC: Uint8Array): CodecConfig {
  if (hvcC.length < 23) throw brokenConfig('hvcC')
  const name = hevcName(hvcC.subarray(1, 13))
  return { nalFamily: 'hevc', codec: name, nalLengthBytes: (hvcC[21]! & 3) + 1, codecPrivateData: '' }
}

/**
 * ISO/IEC 14496-15, annex E.3: the twelve bytes of profile, tier and level, which are the same in hvcC and in a
 * parameter set.
 */
export function hevcName(bytes: Uint8Array): string {
  const space = ['', 'A', 'B', 'C'][bytes[0]! >> 6]!
  const tier = (bytes[0]! & 0x20) === 0 ? 'L' : 'H'
  const compatibility = reversed(viewOf(bytes).getUint32(1)).toString(16)
  const constraints = [...bytes.subarray(5, 11)].map((byte) => byte.toString(16))
  while (constraints.at(-1) === '0') constraints.pop()
  return [`hvc1.${space}${bytes[0]! & 0x1f}`, compatibility, `${tier}${bytes[11]!}`, ...constraints].join('.')
}

/** The 32 bits of a word in reverse order. */
function reversed(word: number): number {
  let result = 0
  for (let bit = 0; bit < 32; bit++) result = result * 2 + ((word >>> bit) & 1)
  return result
}

const SAMPLE_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]
/** channelConfiguration 7 is 7.1. */
const AAC_CHANNELS = [0, 1, 2, 3, 4, 5, 6, 8]

/**
 * ISO/IEC 14496-14, 5.6 and 14496-3, 1.6.2.1. HE-AAC may be declared by its own object type, or after the configuration of
 * its core (1.6.5.2); without either, only its frames show it.
 */
export function aacFrom(esds: Uint8Array): AudioCodecConfig {
  const config = decoderSpecific(esds)
  const type = (config[0] ?? 0) >> 3
  const rate = SAMPLE_RATES[(((config[0] ?? 0) & 7) << 1) | ((config[1] ?? 0) >> 7)]
  const channels = AAC_CHANNELS[((config[1] ?? 0) >> 3) & 15]
  if (config.length < 2 || type === 0 || type === 31 || rate === undefined || channels === undefined)
    throw brokenConfig('AudioSpecificConfig')
  const audioConfig = { channels, sampleRate: rate }
  const declared = type === LOW_COMPLEXITY ? (extensionOf(config) ?? type) : type
  return {
    nalFamily: null,
    codec: `mp4a.40.${declared}`,
    nalLengthBytes: 0,
    codecPrivateData: hex(config),
    ...audioConfig,
  }
}

const [LOW_COMPLEXITY, SBR, PS] = [2, 5, 29]
const [SBR_SYNC, PS_SYNC] = [0x2b7, 0x548]
/** Object type, rate, channels and three flags, without a program config element. */
const CORE_BYTES = 2

/** The object type that is declared after the configuration of a core of low complexity. */
function extensionOf(config: Uint8Array): number | null {
  const rest = config.length - CORE_BYTES
  const bits = new BitReader(config, CORE_BYTES)
  if (rest < 3 || bits.read(11) !== SBR_SYNC || bits.read(5) !== SBR || !bits.flag()) return null
  bits.skip(4) // the rate
  return rest >= 5 && bits.read(11) === PS_SYNC && bits.flag() ? PS : SBR
}

/** Descends through the descriptors of ISO/IEC 14496-1, 7.2.6: ES (3), DecoderConfig (4), DecoderSpecificInfo (5). */
function decoderSpecific(esds: Uint8Array): Uint8Array {
  let at = 4
  for (const [tag, skipped] of [
    [3, 3],
    [4, 13],
    [5, 0],
  ] as const) {
    if (esds[at] !== tag) throw brokenConfig('esds')
    let length = 0
    let more = true
    for (at += 1; more; at++) {
      const byte = esds[at]
      if (byte === undefined || length > 2 ** 20) throw brokenConfig('esds')
      length = length * 128 + (byte & 127)
      more = (byte & 128) !== 0
    }
    if (tag === 5) return esds.subarray(at, at + length)
    at += skipped
  }
  throw brokenConfig('esds')
}

/** ETSI TS 102 366, F.6: one independent substream of one frame size. fscod 2, bsid 5, reserved 1, asvc 1, bsmod 3, acmod 3, lfeon 1. */
export function eac3From(dec3: Uint8Array): AudioCodecConfig {
  const sampleRate = AC3_RATES[(dec3[2] ?? 255) >> 6]
  if (dec3.length < 5 || sampleRate === undefined) throw brokenConfig('dec3')
  const channels = AC3_CHANNELS[(dec3[3]! >> 1) & 7]! + (dec3[3]! & 1)
  return { nalFamily: null, codec: 'ec-3', nalLengthBytes: 0, codecPrivateData: '', channels, sampleRate }
}

/** "Encapsulation of Opus in ISO Base Media File Format", 4.3.2. Opus is always decoded at 48 kHz. */
export function opusFrom(dOps: Uint8Array): AudioCodecConfig {
  const channels = dOps[1] ?? 0
  if (dOps.length < 11 || channels === 0) throw brokenConfig('dOps')
  return { nalFamily: null, codec: 'opus', nalLengthBytes: 0, codecPrivateData: '', channels, sampleRate: 48_000 }
}

/** "Encapsulation of FLAC in ISO Base Media File Format", 3.3.2: a STREAMINFO block (RFC 9639, 8.2) comes first. */
export function flacFrom(dfLa: Uint8Array): AudioCodecConfig {
  // Version and flags 4, block header 4, block and frame sizes 10.
  const at = 4 + 4 + 10
  if (dfLa.length < at + 4 || (dfLa[4]! & 0x7f) !== 0) throw brokenConfig('dfLa')
  const word = viewOf(dfLa).getUint32(at)
  const channels = ((word >>> 9) & 7) + 1
  return { nalFamily: null, codec: 'fLaC', nalLengthBytes: 0, codecPrivateData: '', channels, sampleRate: word >>> 12 }
}

const AC3_RATES = [48000, 44100, 32000]
/** acmod 0 is two independent channels. */
const AC3_CHANNELS = [2, 1, 2, 3, 3, 4, 4, 5]

/** ETSI TS 102 366, F.4: fscod 2, bsid 5, bsmod 3, acmod 3, lfeon 1 bits. */
export function ac3From(dac3: Uint8Array): AudioCodecConfig {
  const sampleRate = AC3_RATES[(dac3[0] ?? 255) >> 6]
  if (dac3.length < 3 || sampleRate === undefined) throw brokenConfig('dac3')
  const acmod = (dac3[1]! >> 3) & 7
  const channels = AC3_CHANNELS[acmod]! + ((dac3[1]! >> 2) & 1)
  return { nalFamily: null, codec: 'ac-3', nalLengthBytes: 0, codecPrivateData: '', channels, sampleRate }
}
