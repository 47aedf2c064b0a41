// In charge of: finding a program's cues in a source, one packet after another: where each arrives, and when it splices.
// Not in charge of: getting the bytes (transcoder/analysis/findCues.ts), what follows from them (plan/streams/cuePlan.ts, cueInjector.ts).
import { readPcr, readPesTimestamps } from '../mpegts/clock.ts'
import { cueStreamType, isCueStream } from './cueStream.ts'
import { pidOf, payloadOf, isPayloadStart } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { readSplice, SPLICE_TABLE, type SpliceInfo } from './spliceInfo.ts'
import { readPat, readPmt, type ProgramMap } from '../mpegts/programTables.ts'
import { JUMP_TICKS, Timeline } from '../mpegts/timeline.ts'

/** One cue of the source, with its times in ticks of the output's time (0 = the first picture). */
export interface Cue {
  section: Uint8Array
  /** Ticks to add to its pts_adjustment for the output's time. */
  shift: number
  /**
   * Where it stood: `clock` = just after the PCR of that time; `picture` = just before that picture. A cue that splices at once has
   * no other time than its place among the pictures; for all others what counts is how long they come before the splice.
   */
  place: { by: 'clock' | 'picture'; ticks: number }
}

/** What a cue asks of the encoder. */
export interface CueFindings {
  cues: Cue[]
  /** PIDs of the source's cue streams, in the order of its map. Empty = the program has none. */
  pids: number[]
  cueStreamType: number
  /** Times at which a splice may be made, unsorted. */
  splicePoints: Set<number>
  /** Sections with splice_schedule(), whose times of day say nothing about pictures. */
  schedules: number
  /** Sections that were left out because they are damaged. */
  damaged: number
}

/** Far beyond a day of one cue a second; more is not a broadcast but an attack on memory. */
const MAX_CUE_BYTES = 32 * 1024 * 1024

export class CueScan {
  readonly found: CueFindings = {
    cues: [],
    pids: [],
    cueStreamType: 0,
    splicePoints: new Set(),
    schedules: 0,
    damaged: 0,
  }
  readonly #videoPid: number
  readonly #program: number | null
  readonly #timeline: Timeline
  readonly #tables = new Map<number, SectionAssembler>([[0, new SectionAssembler()]])
  readonly #cues = new Map<number, SectionAssembler>()
  #map: ProgramMap | null = null
  /** Cues that splice at once and wait for the picture that follows them. */
  readonly #atOnce: { cue: Cue; offsets: number[] }[] = []
  #arrived: number | null = null
  #picture = 0
  #bytes = 0

  /**
   * `videoPid`: the video that is transcoded; its program's cues are wanted. `origin`: the clock at its first picture.
   * `program`: its number, since programs may share a video; null = any with that video.
   */
  constructor(videoPid: number, origin: number, program: number | null = null) {
    this.#videoPid = videoPid
    this.#program = program
    this.#timeline = new Timeline(origin)
  }

  /** True once it is certain that the video's program has no cues: nothing more has to be read. */
  get isFutile(): boolean {
    return this.#map !== null && this.#cues.size === 0
  }

  /** More cues than memory is for. */
  get isFlooded(): boolean {
    return this.#bytes > MAX_CUE_BYTES
  }

  push(packet: Uint8Array): void {
    const pid = pidOf(packet)
    if (this.#map?.clockPid === pid) {
      const clock = readPcr(packet)
      const arrived = clock === null ? null : this.#timeline.at(clock)
      // Farther off, the clock has jumped and the first picture behind the jump is still to come.
      if (arrived !== null && Math.abs(arrived - this.#picture) <= JUMP_TICKS) this.#arrived = arrived
    }
    if (pid === this.#videoPid && isPayloadStart(packet)) {
      const stamps = readPesTimestamps(payloadOf(packet))
      if (stamps !== null) this.#beginFrame(this.#timeline.setFrame(stamps))
    }
    for (const section of this.#tables.get(pid)?.push(packet) ?? []) this.#table(section)
    for (const section of this.#cues.get(pid)?.push(packet) ?? []) this.#cue(section)
  }

  #beginFrame(picture: number): void {
    this.#picture = picture
    for (const { cue, offsets } of this.#atOnce.splice(0)) {
      cue.place = { by: 'picture', ticks: picture }
      cue.shift = this.#timeline.shift
      for (const offset of offsets) this.found.splicePoints.add(picture + offset)
    }
  }

  #table(section: Uint8Array): void {
    for (const pid of readPat(section)?.values() ?? [])
      if (!this.#tables.has(pid)) this.#tables.set(pid, new SectionAssembler())
    const map = readPmt(section)
    if (map === null || !map.streams.some(({ pid }) => pid === this.#videoPid)) return
    if (this.#program !== null && map.program !== this.#program) return
    this.#map = map
    for (const stream of map.streams.filter(isCueStream)) {
      if (this.#cues.has(stream.pid)) continue
      if (this.found.pids.length === 0) this.found.cueStreamType = cueStreamType(stream)
      this.found.pids.push(stream.pid)
      this.#cues.set(stream.pid, new SectionAssembler())
    }
  }

  #cue(section: Uint8Array): void {
    // Other private sections may share the PID.
    if (section[0] !== SPLICE_TABLE) return
    const info = readSplice(section)
    if (info === null) {
      this.found.damaged += 1
      return
    }
    this.#bytes += section.length
    const place = { by: 'clock' as const, ticks: this.#arrived ?? this.#picture }
    const cue: Cue = { section, shift: this.#timeline.shift, place }
    this.found.cues.push(cue)
    if (info.command.kind === 'schedule') this.found.schedules += 1
    if (info.command.kind !== 'insert' && info.command.kind !== 'signal') return
    const offsets = [0, ...segmentTicks(info)]
    if (isImmediate(info)) this.#atOnce.push({ cue, offsets })
    for (const time of info.command.times)
      for (const offset of offsets) this.found.splicePoints.add(this.#timeline.at(time) + offset)
  }
}

/** How long after the splice another one may be made. */
function segmentTicks({ command, segmentations }: SpliceInfo): number[] {
  // 9.8.2.1: with auto_return the splicer comes back by itself, and no further cue says so.
  if (command.kind === 'insert') return command.break?.autoReturn === true ? [command.break.ticks] : []
  return segmentations.flatMap(({ durationTicks }) => durationTicks ?? [])
}

function isImmediate({ command }: SpliceInfo): boolean {
  if (command.kind === 'signal') return command.times.length === 0
  return command.kind === 'insert' && !command.cancelled && command.times.length === 0
}
