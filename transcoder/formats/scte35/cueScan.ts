// In charge of: a program's cues, from the packets of a source that matter for them: when each arrives, and when it splices.
// Not in charge of: which packets those are (cueReader.ts), reading the bytes (transcoder/analysis/findCues.ts), applying
// the cues (plan/streams/cuePlan.ts, cueInjector.ts).
import type { Timestamps } from '../mpegts/clock.ts'
import { pidOf } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { JUMP_TICKS, Timeline } from '../mpegts/timeline.ts'
import { CueReader, type CueEvent } from './cueReader.ts'
import { readSplice, SPLICE_TABLE, type SpliceInfo } from './spliceInfo.ts'

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
  readonly #reader: CueReader
  readonly #timeline: Timeline
  readonly #cues = new Map<number, SectionAssembler>()
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
    this.#reader = new CueReader({ videoPid, program }, (event) => this.take(event))
    this.#timeline = new Timeline(origin)
  }

  /** True once it is certain that the program has no cues: the scan can stop. */
  get isFutile(): boolean {
    return this.#reader.isFutile
  }

  /** The cues exceed the memory limit. */
  get isOverLimit(): boolean {
    return this.#bytes > MAX_CUE_BYTES
  }

  push(packet: Uint8Array): void {
    this.#reader.push(packet)
  }

  /** What `push` finds in packets; stretches of the source that were read apart may have found it before. */
  take(event: CueEvent): void {
    switch (event.kind) {
      case 'clock':
        return this.#clock(event.ticks)
      case 'frame':
        return this.#beginFrame(event)
      case 'stream':
        return this.#stream(event)
      case 'cue':
        for (const section of this.#cues.get(pidOf(event.packet))?.push(event.packet) ?? []) this.#cue(section)
    }
  }

  #clock(ticks: number): void {
    const arrived = this.#timeline.at(ticks)
    // A larger distance means that the clock has jumped, and the first frame after the jump has not yet arrived.
    if (Math.abs(arrived - this.#frameTime) <= JUMP_TICKS) this.#arrived = arrived
  }

  #stream({ pid, type }: { pid: number; type: number }): void {
    if (this.found.pids.length === 0) this.found.cueStreamType = type
    this.found.pids.push(pid)
    this.#cues.set(pid, new SectionAssembler())
  }

  #beginFrame(stamps: Timestamps): void {
    const frame = this.#timeline.setFrame(stamps)
    this.#frameTime = frame
    for (const { cue, offsets } of this.#immediate.splice(0)) {
      cue.position = { by: 'frame', ticks: frame }
      cue.shift = this.#timeline.shift
      for (const offset of offsets) this.found.splicePoints.add(frame + offset)
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
