// In charge of: the track that an init segment describes (ISO/IEC 14496-12, 8; 14496-15; ETSI TS 102 366, annex F).
// Not in charge of: the codecs' configuration records (codecConfig.ts), fragments (movieFragment.ts).
import type { Rational } from '../rational.ts'
import { FormatError } from '../formatError.ts'
import { children, findBox, boxType, requireBox, viewOf } from './boxReader.ts'
import {
  aacFrom,
  ac3From,
  avcFrom,
  eac3From,
  flacFrom,
  hevcFrom,
  opusFrom,
  type AudioCodecConfig,
  type CodecConfig,
} from './codecConfig.ts'

export interface TrackInfo extends CodecConfig {
  kind: 'video' | 'audio'
  id: number
  /** Ticks per second. */
  timescale: number
  /** Pixels as coded; 0 for audio. */
  width: number
  height: number
  sar: Rational
  /** 0 for video. */
  channels: number
  sampleRate: number
  /** Values of samples for which a fragment states none. */
  defaults: SampleDefaults
}

export interface SampleDefaults {
  duration: number
  size: number
  flags: number
}

/** Bytes of a VisualSampleEntry before its boxes (ISO/IEC 14496-12, 12.1.3). */
export const VISUAL_ENTRY = 78
const AUDIO_ENTRY = 28

/** `moov` is the whole box. Throws FormatError unless it has exactly one track, of a codec that can be segmented. */
export function readInit(moov: Uint8Array): TrackInfo {
  const body = moov.subarray(8)
  const tracks = [...children(body, 0)].filter(({ name }) => name === 'trak')
  if (tracks.length !== 1) throw new FormatError('damaged', `The encoder wrote ${tracks.length} tracks instead of one.`)
  const trak = tracks[0]!.body
  const tkhd = requireBox(trak, 'tkhd')
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  const handler = boxType(requireBox(trak, 'mdia', 'hdlr'), 8)
  const stsd = requireBox(trak, 'mdia', 'minf', 'stbl', 'stsd')
  const entry = children(stsd, 8).next().value
  if (entry === undefined || !['vide', 'soun'].includes(handler))
    throw new FormatError('damaged', 'The encoder wrote neither video nor audio.')
  const timescale = wordAt(mdhd, mdhd[0] === 1 ? 20 : 12)
  if (timescale === 0) throw new FormatError('damaged', 'The encoder wrote a track without a timescale.')
  const common = { id: wordAt(tkhd, tkhd[0] === 1 ? 20 : 12), timescale, defaults: defaultsOf(body) }
  return handler === 'vide'
    ? { ...common, ...video(entry.name, entry.body) }
    : { ...common, ...audio(entry.name, entry.body) }
}

function defaultsOf(moov: Uint8Array): SampleDefaults {
  const trex = requireBox(moov, 'mvex', 'trex')
  return { duration: wordAt(trex, 12), size: wordAt(trex, 16), flags: wordAt(trex, 20) }
}

function video(name: string, entry: Uint8Array): Omit<TrackInfo, 'id' | 'timescale' | 'defaults'> {
  if (entry.length < VISUAL_ENTRY) throw new FormatError('damaged', 'A sample description is too short.')
  const boxes = entry.subarray(VISUAL_ENTRY)
  const view = viewOf(entry)
  const pasp = findBox(boxes, 'pasp')
  const sar = pasp === null ? { num: 1, den: 1 } : { num: wordAt(pasp, 0), den: wordAt(pasp, 4) }
  const size = { width: view.getUint16(24), height: view.getUint16(26) }
  const coding =
    name === 'avc1' ? avcFrom(requireBox(boxes, 'avcC')) : name === 'hvc1' ? hevcFrom(requireBox(boxes, 'hvcC')) : null
  if (coding === null) throw new FormatError('damaged', `Video with the sample entry ${name} cannot be segmented.`)
  return { kind: 'video', ...coding, ...size, sar, channels: 0, sampleRate: 0 }
}

/** The configuration record by sample entry. */
const AUDIO_CONFIGS: Readonly<Record<string, [box: string, read: (record: Uint8Array) => AudioCodecConfig]>> = {
  mp4a: ['esds', aacFrom],
  'ac-3': ['dac3', ac3From],
  'ec-3': ['dec3', eac3From],
  Opus: ['dOps', opusFrom],
  fLaC: ['dfLa', flacFrom],
}

function audio(name: string, entry: Uint8Array): Omit<TrackInfo, 'id' | 'timescale' | 'defaults'> {
  if (entry.length < AUDIO_ENTRY) throw new FormatError('damaged', 'A sample description is too short.')
  const boxes = entry.subarray(AUDIO_ENTRY)
  const [box, read] = AUDIO_CONFIGS[name] ?? []
  if (box === undefined || read === undefined)
    throw new FormatError('damaged', `Audio with the sample entry ${name} cannot be segmented.`)
  const found = read(requireBox(boxes, box))
  return { kind: 'audio', ...found, width: 0, height: 0, sar: { num: 1, den: 1 } }
}

/**
 * The moov box with an Opus PreSkip of 0. The samples that the encoder adds replace the first ones of the audio
 * (segmentArgs.ts), so a decoder that removed them would play everything too early.
 */
export function withoutPreSkip(moov: Uint8Array): Uint8Array {
  const at = moov.findIndex(
    (byte, index) => byte === 0x64 && moov[index + 1] === 0x4f && moov[index + 2] === 0x70 && moov[index + 3] === 0x73,
  )
  if (at < 0) return moov
  const copy = Uint8Array.from(moov)
  // Version and channel count come before the 16 bits.
  copy.fill(0, at + 6, at + 8)
  return copy
}

function wordAt(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw new FormatError('damaged', 'The encoder wrote a box that is too short.')
  return viewOf(bytes).getUint32(at)
}
