// In charge of: finding a program's cues in a source, packet by packet: when each arrives, and when it splices.
// Not in charge of: reading the bytes (transcoder/analysis/findCues.ts), applying the cues (plan/streams/cuePlan.ts,
// cueInjector.ts).
import { readPcr, readPesTimestamps } from '../mpegts/clock.ts'
import { cueStreamType, isCueStream } from './cueStream.ts'
import { pidOf, payloadOf, isPayloadStart } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { readSplice, SPLICE_TABLE, type SpliceInfo } from './spliceInfo.ts'
import { readPat, readPmt, type ProgramMap } from '../mpegts/programTables.ts'
import { JUMP_TICKS, Timeline } from '../mpegts/timeline.ts'

/** One cue of the source, with its times in ticks of output time (0 = the first frame). */
export interface Cue {
  section: Uint8Array
  /** Ticks to add to its pts_adjustment to get output time. */
  shift: number
  /**
   * Position in the source: `clock` = just after the PCR of that time; `frame` = just before that frame. The time of
   * an immediate cue is only its position among the frames. For all other cues the distance to the splice matters.
   */
  position: { by: 'clock' | 'frame'; ticks: number }
}

/** The cues found, and their requirements for the encoder. */
export interface CueFindings {
  cues: Cue[]
  /** PIDs of the source's cue streams, in the order of the program map. Empty = the program has none. */
  pids: number[]
  cueStreamType: number
  /** Times at which a splice is possible, unsorted. */
  splicePoints: Set<number>
  /** Number of sections with splice_schedule(), whose times of day cannot be mapped to frames. */
  schedules: number
  /** Number of sections that were dropped as damaged. */
  damaged: number
}

/** Far more than one cue per second for a day. More is an attack on memory, not a broadcast. */
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
  /** Immediate cues that wait for the next frame. */
  readonly #immediate: { cue: Cue; offsets: number[] }[] = []
  #arrived: number | null = null
  #frameTime = 0
  #bytes = 0

  /**
   * `videoPid`: the video that is transcoded, whose program's cues are collected. `origin`: the clock at its first
   * frame. `program`: its number, because programs may share a video; null = any with that video.
   */
  constructor(videoPid: number, origin: number, program: number | null = null) {
    this.#videoPid = videoPid
    this.#program = program
    this.#timeline = new Timeline(origin)
  }

  /** True once it is certain that the program has no cues: the scan can stop. */
  get isFutile(): boolean {
    return this.#map !== null && this.#cues.size === 0
  }

  /** The cues exceed the memory limit. */
  get isOverLimit(): boolean {
    return this.#bytes > MAX_CUE_BYTES
  }

  push(packet: Uint8Array): void {
    const pid = pidOf(packet)
    if (this.#map?.clockPid === pid) {
      const clock = readPcr(packet)
      const arrived = clock === null ? null : this.#timeline.at(clock)
      // A larger distance means that the clock has jumped, and the first frame after the jump has not yet arrived.
      if (arrived !== null && Math.abs(arrived - this.#frameTime) <= JUMP_TICKS) this.#arrived = arrived
    }
    if (pid === this.#videoPid && isPayloadStart(packet)) {
      const stamps = readPesTimestamps(payloadOf(packet))
      if (stamps !== null) this.#beginFrame(this.#timeline.setFrame(stamps))
    }
    for (const section of this.#tables.get(pid)?.push(packet) ?? []) this.#table(section)
    for (const section of this.#cues.get(pid)?.push(packet) ?? []) this.#cue(section)
  }

  #beginFrame(frame: number): void {
    this.#frameTime = frame
    for (const { cue, offsets } of this.#immediate.splice(0)) {
      cue.position = { by: 'frame', ticks: frame }
      cue.shift = this.#timeline.shift
      for (const offset of offsets) this.found.splicePoints.add(frame + offset)
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
    const position = { by: 'clock' as const, ticks: this.#arrived ?? this.#frameTime }
    const cue: Cue = { section, shift: this.#timeline.shift, position }
    this.found.cues.push(cue)
    if (info.command.kind === 'schedule') this.found.schedules += 1
    if (info.command.kind !== 'insert' && info.command.kind !== 'signal') return
    const offsets = [0, ...segmentTicks(info)]
    if (isImmediate(info)) this.#immediate.push({ cue, offsets })
    for (const time of info.command.times)
      for (const offset of offsets) this.found.splicePoints.add(this.#timeline.at(time) + offset)
  }
}

/** Ticks from the splice to later splices that it announces. */
function segmentTicks({ command, segmentations }: SpliceInfo): number[] {
  // 9.8.2.1: with auto_return the splicer returns without a further cue.
  if (command.kind === 'insert') return command.break?.autoReturn === true ? [command.break.ticks] : []
  return segmentations.flatMap(({ durationTicks }) => durationTicks ?? [])
}

function isImmediate({ command }: SpliceInfo): boolean {
  if (command.kind === 'signal') return command.times.length === 0
  return command.kind === 'insert' && !command.cancelled && command.times.length === 0
}
