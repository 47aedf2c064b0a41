// In charge of: cutting one transport stream from our encoder into segments: at IDR pictures, or for audio at the
// nearest frame.
// Not in charge of: where segments end (cutter.ts), cues (formats/scte35/cueInjector.ts, which runs before).
import { readPcr, readPesTimestamps, ticksBetween, TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { PACKET_BYTES, PacketReader, PAT_PID, payloadOf, pidOf, isPayloadStart } from '../../formats/mpegts/packet.ts'
import { SectionAssembler } from '../../formats/mpegts/section.ts'
import { isVideo, readPat, readPmt, type ProgramMap } from '../../formats/mpegts/programTables.ts'
import { concatBytes } from '../../formats/concatBytes.ts'
import {
  frameTicks,
  nextBoundary,
  ticksOf,
  type Cadence,
  type CutEvent,
  type Cutter,
  type KeyFrameRange,
} from './cutter.ts'
import { FormatError } from '../../formats/formatError.ts'
import { hex } from '../../formats/encodeBytes.ts'
import { missingKeyFrame } from './cmafVideoCutter.ts'
import { StartCodeScanner } from '../../formats/video/keyFrameScan.ts'
import { AudioEnds } from './audioEnds.ts'

/** The table with the service's name, which no player needs; it is removed. */
const SDT_PID = 0x11
/** A PMT has 1024 bytes at most. */
const MAX_TABLE_PACKETS = 8
/** ETSI TR 101 290, 1.3 and 1.5: at least every 0.5 s, for gateways that send segments as a stream. */
const TABLE_TICKS = 0.4 * TICKS_PER_SECOND
/** Some 12 MB, far more cues and audio than the encoder writes before its first frame. */
const MAX_EARLY_PACKETS = 65_536

interface OpenSegment {
  firstFrame: number
  end: number
  start: number
  bytes: number
  keys: KeyFrameRange[]
}

/**
 * PAT and PMT are removed and repeated before every IDR picture, so that each segment, and each entry of an I-frame
 * playlist, can be played separately. Their continuity counters are renumbered, so that consecutive segments have no
 * discontinuity.
 */
export class TsCutter implements Cutter {
  readonly #cadence: Cadence
  readonly #kind: 'video' | 'audio'
  readonly #reader = new PacketReader()
  readonly #pat = new SectionAssembler()
  readonly #pmt = new SectionAssembler()
  readonly #tables: Record<'pat' | 'pmt', { packets: Uint8Array[]; counter: number }> = {
    pat: { packets: [], counter: 0 },
    pmt: { packets: [], counter: 0 },
  }
  /** The clock at which the tables were last written. */
  #tablesAt: number | null = null
  #mapPid: number | null = null
  #map: ProgramMap | null = null
  #mainPid: number | null = null
  #out: Uint8Array[] = []
  #segment: OpenSegment | null = null
  /** Number of frames before the current one; for audio, access units. */
  #frames = 0
  /** Presentation time of the newest unit in ticks, without wrapping. */
  #time = 0
  #clock: number
  readonly #audioEnds: AudioEnds
  /** The latest end of a unit, and the beginning of the first one. */
  #until = 0
  #firstTime = 0
  /** The end of the last segment, in frames, and the number of units before the current segment. */
  #lastEnd = 0
  #unitsBefore = 0
  #scan: StartCodeScanner | null = null
  #scanFrame = 0
  #profile: string | null = null
  /**
   * A key frame whose packets are not complete yet. It ends with its last packet: cues, tables and audio may be in
   * between.
   */
  #key: KeyFrameRange | null = null
  /** Cues and audio before the first unit; they belong to the first segment. */
  #early: Uint8Array[] = []

  /** `origin`: the clock at the presentation's first frame. */
  constructor(cadence: Cadence, kind: 'video' | 'audio', origin: number) {
    this.#cadence = cadence
    this.#kind = kind
    this.#clock = origin
    this.#audioEnds = new AudioEnds(origin)
  }

  /** RFC 6381, video first; known once the first segment ended. */
  get codecs(): string[] {
    const audio: Record<number, string> = { 0x0f: 'mp4a.40.2', 0x81: 'ac-3' }
    return [
      ...(this.#profile === null ? [] : [`avc1.${this.#profile}`]),
      ...(this.#map?.streams ?? []).flatMap(({ type }) => audio[type] ?? []),
    ]
  }

  /** The end of each audio stream, in ticks from the first frame, in the order of the table. */
  get audioEnds(): number[] {
    return this.#audioEnds.ends
  }

  push(block: Uint8Array): CutEvent[] {
    const cuts: CutEvent[] = []
    for (const packet of this.#reader.push(block)) this.#packet(packet, cuts)
    this.#flush(cuts)
    return cuts
  }

  end(): CutEvent[] {
    const cuts: CutEvent[] = []
    for (const packet of this.#reader.end()) this.#packet(packet, cuts)
    if (this.#segment === null)
      throw new FormatError('cut off', 'The encoder’s stream ends before its first media data.')
    this.#closeKeyFrame()
    this.#close(cuts, this.#until)
    return cuts
  }

  #packet(packet: Uint8Array, cuts: CutEvent[]): void {
    const pid = pidOf(packet)
    if (pid === SDT_PID) return
    if (pid === PAT_PID) {
      for (const section of this.#pat.push(packet))
        this.#mapPid = readPat(section)?.values().next().value ?? this.#mapPid
      return this.#storeTable('pat', packet)
    }
    if (pid === this.#mapPid) {
      for (const section of this.#pmt.push(packet)) this.#readProgramMap(readPmt(section))
      return this.#storeTable('pmt', packet)
    }
    this.#audioEnds.push(packet)
    const isMain = pid === this.#mainPid
    if (isMain && isPayloadStart(packet)) this.#unit(packet, cuts)
    if (this.#segment === null) this.#bufferEarly(packet)
    else this.#emit(packet)
    if (!isMain) return
    if (this.#key !== null) this.#key.bytes = this.#segment!.bytes - this.#key.offset
    this.#scanKeyFrame(payloadOf(packet))
  }

  #bufferEarly(packet: Uint8Array): void {
    if (this.#early.length >= MAX_EARLY_PACKETS)
      throw new FormatError('damaged', 'The encoder’s stream begins without its main track.')
    this.#early.push(Uint8Array.from(packet))
  }

  #readProgramMap(map: ProgramMap | null): void {
    if (map === null) return
    this.#map = map
    this.#audioEnds.setStreams(map.streams)
    this.#mainPid = (this.#kind === 'video' ? map.streams.find(isVideo) : map.streams[0])?.pid ?? null
  }

  #storeTable(table: 'pat' | 'pmt', packet: Uint8Array): void {
    const stored = this.#tables[table]
    if (isPayloadStart(packet)) stored.packets = []
    if (stored.packets.length < MAX_TABLE_PACKETS) stored.packets.push(Uint8Array.from(packet))
  }

  /** A video or audio frame begins. */
  #unit(packet: Uint8Array, cuts: CutEvent[]): void {
    this.#closeKeyFrame()
    const stamps = readPesTimestamps(payloadOf(packet))
    if (stamps === null) throw new FormatError('damaged', 'The encoder wrote a frame without a timestamp.')
    this.#time += ticksBetween(this.#clock, stamps.pts)
    this.#clock = stamps.pts
    const isKey = this.#kind === 'video' && (packet[3]! & 0x20) !== 0 && packet[4]! > 0 && (packet[5]! & 0x40) !== 0
    const begins = this.#segment === null || this.#isBoundary()
    if (begins && this.#kind === 'video' && !isKey) throw missingKeyFrame(this.#frames)
    if (begins) this.#open(cuts)
    const isRepeat = this.#sinceTables(packet) >= TABLE_TICKS
    if (begins || isKey || isRepeat) {
      const offset = this.#segment!.bytes
      for (const table of ['pat', 'pmt'] as const) this.#repeat(table)
      this.#tablesAt = readPcr(packet)
      for (const early of this.#early.splice(0)) this.#emit(early)
      if (isKey) {
        this.#key = { start: this.#time, offset, bytes: 0 }
        this.#scan = new StartCodeScanner()
        this.#scanFrame = this.#frames
      }
    }
    if (begins && readPcr(packet) === null)
      throw new FormatError('damaged', 'A segment would begin without a clock reference.')
    this.#until = Math.max(this.#until, this.#time + this.#unitTicks())
    this.#frames += 1
  }

  /** Ticks of the clock since the tables were last written. */
  #sinceTables(packet: Uint8Array): number {
    const clock = readPcr(packet)
    return clock === null || this.#tablesAt === null ? 0 : ticksBetween(this.#tablesAt, clock)
  }

  #isBoundary(): boolean {
    const { end } = this.#segment!
    if (this.#kind === 'video') return this.#frames === end
    return this.#time + this.#unitTicks() / 2 > ticksOf(end, this.#cadence, TICKS_PER_SECOND)
  }

  /** The duration of a frame; for audio the mean duration so far. */
  #unitTicks(): number {
    if (this.#kind === 'video') return frameTicks(this.#cadence, TICKS_PER_SECOND)
    return this.#frames === 0 ? 0 : (this.#time - this.#firstTime) / this.#frames
  }

  #open(cuts: CutEvent[]): void {
    if (this.#segment === null) this.#firstTime = this.#time
    else this.#close(cuts, this.#time)
    const firstFrame = this.#kind === 'video' ? this.#frames : this.#lastEnd
    this.#segment = {
      firstFrame,
      end: nextBoundary(this.#cadence, firstFrame),
      start: this.#time,
      bytes: 0,
      keys: [],
    }
    this.#unitsBefore = this.#frames
  }

  #close(cuts: CutEvent[], until: number): void {
    this.#flush(cuts)
    const { start, keys, end } = this.#segment!
    this.#lastEnd = end
    cuts.push({
      kind: 'end',
      start,
      duration: Math.round(until - start),
      frames: this.#frames - this.#unitsBefore,
      keys,
    })
  }

  #repeat(table: 'pat' | 'pmt'): void {
    const stored = this.#tables[table]
    if (stored.packets.length === 0) throw new FormatError('damaged', 'The encoder wrote no tables.')
    for (const packet of stored.packets) {
      const copy = Uint8Array.from(packet)
      copy[3] = (copy[3]! & 0xf0) | (stored.counter & 15)
      stored.counter += 1
      this.#emit(copy)
    }
  }

  /** Scans the frame's data until its type is known. */
  #scanKeyFrame(payload: Uint8Array): void {
    if (this.#scan === null) return
    this.#scan.push(payload)
    if (this.#scan.isIdr === null) return
    if (!this.#scan.isIdr) {
      if (this.#scanFrame === this.#segment!.firstFrame) throw missingKeyFrame(this.#scanFrame)
      this.#key = null
    }
    if (this.#scan.profile.length === 3) this.#profile ??= hex(Uint8Array.from(this.#scan.profile))
    this.#scan = null
  }

  #closeKeyFrame(): void {
    if (this.#scan !== null && this.#scanFrame === this.#segment!.firstFrame) throw missingKeyFrame(this.#scanFrame)
    this.#scan = null
    if (this.#key === null) return
    this.#segment!.keys.push(this.#key)
    this.#key = null
  }

  #emit(packet: Uint8Array): void {
    this.#out.push(packet)
    this.#segment!.bytes += PACKET_BYTES
  }

  #flush(cuts: CutEvent[]): void {
    if (this.#out.length > 0) cuts.push({ kind: 'media', bytes: concatBytes(this.#out) })
    this.#out = []
  }
}
