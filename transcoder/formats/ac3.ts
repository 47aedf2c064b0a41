// In charge of: the header of an AC-3 or E-AC-3 frame (ETSI TS 102 366): size, dialogue level and downmix levels.
// Not in charge of: reading the frame from the source (streamDetails.ts), using the levels (plan/audio/audioTracks.ts,
// plan/audio/downmix.ts).
import { BitReader } from './bitReader.ts'

/** More than the fields that are read. */
const HEADER_BYTES = 64

/**
 * Linear gains of a downmix to stereo, as stated in the header of AC-3 and E-AC-3. Levels that it does not state are
 * missing.
 */
export interface DownmixLevels {
  loRo: { centre?: number; surround?: number }
  ltRt: { centre?: number; surround?: number }
  /** Gain of LFE in each output channel. */
  lfe: number | null
}

export interface Ac3Header {
  /** 1 to 31: dialogue is that many dB below full scale. */
  dialnorm: number
  /** null where the header states no levels. */
  downmixLevels: DownmixLevels | null
}

/** Table 4.13, for 48 kHz: 16-bit words, by half of the frame size code. */
const FRAME_WORDS = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1152, 1280]
const SAMPLE_RATES = [48_000, 44_100, 32_000]
/** What `readSyncFrame` reads. */
export const FRAME_HEADER_BYTES = 6

export interface SyncFrame {
  codec: 'ac3' | 'eac3'
  bytes: number
  sampleRate: number
}

/** The frame that begins here; null = none does. */
export function readSyncFrame(header: Uint8Array): SyncFrame | null {
  if (header.length < FRAME_HEADER_BYTES || header[0] !== 0x0b || header[1] !== 0x77) return null
  const identification = header[5]! >> 3
  const rate = header[4]! >> 6
  if (identification > 16) return null
  if (identification > 10) {
    const bytes = 2 * ((((header[2]! & 7) << 8) | header[3]!) + 1)
    const sampleRate = SAMPLE_RATES[rate] ?? (SAMPLE_RATES[(header[4]! >> 4) & 3] ?? 0) / 2
    return sampleRate === 0 ? null : { codec: 'eac3', bytes, sampleRate }
  }
  const code = header[4]! & 63
  const words = FRAME_WORDS[code >> 1]
  const sampleRate = SAMPLE_RATES[rate]
  if (words === undefined || sampleRate === undefined) return null
  const of44 = Math.floor((words * 160) / 147) + (code & 1)
  return { codec: 'ac3', bytes: 2 * [words, of44, (words * 3) / 2][rate]!, sampleRate }
}

/** The header of the first frame; null where the bytes contain none. */
export function readAc3Header(bytes: Uint8Array): Ac3Header | null {
  for (let at = 0; at + 8 <= bytes.length; at += 1) {
    if (bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) continue
    const header = readFrame(bytes.subarray(at))
    if (header !== null) return header
  }
  return null
}

function readFrame(frame: Uint8Array): Ac3Header | null {
  const identification = frame[5]! >> 3
  // Fields after the end of a truncated frame are read as 0.
  const header = new Uint8Array(HEADER_BYTES)
  header.set(frame.subarray(0, HEADER_BYTES))
  const bits = new BitReader(header)
  if (identification <= 8) return readAc3(bits, identification)
  return identification >= 11 && identification <= 16 ? readEac3(bits) : null
}

/** A flag, and that many further bits where it is set. */
function skipOptional(bits: BitReader, count: number): void {
  if (bits.flag()) bits.skip(count)
}

/** 4.3.1 and 4.3.2; annex D for identification 6. */
function readAc3(bits: BitReader, identification: number): Ac3Header {
  // Sync word, CRC, sample rate, frame size, identification, mode.
  bits.skip(16 + 16 + 2 + 6 + 5 + 3)
  const mode = bits.read(3)
  const centre = (mode & 1) !== 0 && mode !== 1 ? CENTRE[bits.read(2)] : undefined
  const surround = (mode & 4) !== 0 ? SURROUND[bits.read(2)] : undefined
  if (mode === 2) bits.skip(2) // Dolby Surround mode
  bits.skip(1) // low frequency effects
  const dialnorm = dialnormLevel(bits.read(5))
  const loRo = defined({ centre, surround })
  const stated: DownmixLevels = { loRo, ltRt: {}, lfe: null }
  if (identification === 6) {
    // Compression, language, production, for one programme or two (dual mono).
    for (let programme = 0; programme < (mode === 0 ? 2 : 1); programme += 1) {
      if (programme === 1) bits.skip(5)
      skipOptional(bits, 8)
      skipOptional(bits, 8)
      skipOptional(bits, 7)
    }
    bits.skip(2) // copyright, original
    if (bits.flag()) {
      bits.skip(2) // preferred downmix
      const [ltRtCentre, ltRtSurround, loRoCentre, loRoSurround] = [0, 0, 0, 0].map(() => bits.read(3))
      stated.ltRt = downmixLevel(mode, ltRtCentre!, ltRtSurround!)
      stated.loRo = downmixLevel(mode, loRoCentre!, loRoSurround!)
    }
  }
  return { dialnorm, downmixLevels: orNull(stated) }
}

/** Annex E, E.1.2.2. */
function readEac3(bits: BitReader): Ac3Header {
  bits.skip(16) // sync word
  const type = bits.read(2)
  // Substream, frame size; sample rate, and the number of blocks or the half rate.
  bits.skip(3 + 11 + 2 + 2)
  const mode = bits.read(3)
  const lfe = bits.flag()
  bits.skip(5) // identification
  const dialnorm = dialnormLevel(bits.read(5))
  skipOptional(bits, 8) // compression
  if (mode === 0) {
    bits.skip(5)
    skipOptional(bits, 8)
  }
  if (type === 1) skipOptional(bits, 16) // channel map
  if (bits.read(1) === 0) return { dialnorm, downmixLevels: null }
  if (mode > 2) bits.skip(2) // preferred downmix
  const [ltRtCentre, loRoCentre] = (mode & 1) !== 0 && mode > 2 ? [bits.read(3), bits.read(3)] : [0, 0]
  const [ltRtSurround, loRoSurround] = (mode & 4) !== 0 ? [bits.read(3), bits.read(3)] : [0, 0]
  const stated: DownmixLevels = {
    ltRt: downmixLevel(mode, ltRtCentre, ltRtSurround),
    loRo: downmixLevel(mode, loRoCentre, loRoSurround),
    // The level is 10 dB less the code.
    lfe: lfe && bits.flag() ? 10 ** ((10 - bits.read(5)) / 20) : null,
  }
  return { dialnorm, downmixLevels: orNull(stated) }
}

/** 4.4.2.4 and 4.4.2.5: −3, −4.5, −6 dB; −3, −6 dB, off. The last code is reserved and read as the middle one. */
const CENTRE = [0.707107, 0.594604, 0.5, 0.594604]
const SURROUND = [0.707107, 0.5, 0, 0.5]
/**
 * Tables of annexes D and E: 3 to −6 dB, off. For surrounds the first three codes are reserved and read as the fourth.
 */
const FINE = [1.414214, 1.189207, 1, 0.840896, 0.707107, 0.594604, 0.5, 0]

function downmixLevel(mode: number, centre: number, surround: number): DownmixLevels['loRo'] {
  return defined({
    centre: (mode & 1) !== 0 && mode > 2 ? FINE[centre] : undefined,
    surround: (mode & 4) !== 0 ? FINE[Math.max(3, surround)] : undefined,
  })
}

function defined({ centre, surround }: { centre: number | undefined; surround: number | undefined }) {
  return { ...(centre === undefined ? {} : { centre }), ...(surround === undefined ? {} : { surround }) }
}

/** The header of stereo and mono states no downmix levels. */
function orNull(levels: DownmixLevels): DownmixLevels | null {
  const says = [levels.loRo, levels.ltRt].some((each) => Object.keys(each).length > 0)
  return says || levels.lfe !== null ? levels : null
}

/** 4.4.2.8: 0 is reserved and read as −31 dB. */
function dialnormLevel(coded: number): number {
  return coded === 0 ? 31 : coded
}
