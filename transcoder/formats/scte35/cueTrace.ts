// In charge of: what matters for cues in stretches of a source that are read apart, and the cues that follow: exactly those
// that one reading finds.
// Not in charge of: which stretch is read, and its bytes (transcoder/analysis/traceCues.ts), the record of a part
// (transcoder/division/cueRecord.ts).
//
// The stretches together have each packet of the source once: where one ends, the next one begins. All packets of cue
// streams are kept, so that a section may lie in two stretches. Of clock and frames only those are kept from which the
// time of a cue, and the course of the time stamps between cues, follow: that is exact as long as these do not jump.
import { ticksBetween, wrapTicks, type Timestamps } from '../mpegts/clock.ts'
import { JUMP_TICKS } from '../mpegts/timeline.ts'
import type { CueEvent, CueTables } from './cueReader.ts'
import { CueScan, type CueFindings } from './cueScan.ts'

/** The place of a packet in the source, and how far it is from the next one. */
export interface PacketPlace {
  offset: number
  stride: number | null
}

export interface CueTrace {
  /** The first packet of the stretch; null = the source has none behind its beginning. */
  first: PacketPlace | null
  /** The first packet behind it; null = the source ends. */
  next: PacketPlace | null
  /** What the tables say before the stretch and behind it. */
  before: CueTables
  after: CueTables
  events: CueEvent[]
}

type Frame = Extract<CueEvent, { kind: 'frame' }>
type Clock = Extract<CueEvent, { kind: 'clock' }>

/** Between two frames that are kept: a larger step would be taken as a jump of the clock. */
const KEPT_TICKS = JUMP_TICKS / 2
/** A cue per second for more than a day. */
const MAX_EVENTS = 500_000

/** Keeps of a stretch what matters. */
export class CueTracer {
  readonly #kept: CueEvent[] = []
  #last: Frame | null = null
  #keptFrame: Frame | null = null
  /** The newest one that is not kept, and the frame before it. */
  #clock: { event: Clock; frame: Frame } | null = null
  /** A frame that follows a cue directly gives it its time if it is immediate. */
  #isFirstFrame = true
  #jumps = false

  /** The time stamps jump, or there is too much to keep: only one reading tells what follows. */
  get isUseless(): boolean {
    return this.#jumps || this.#kept.length > MAX_EVENTS
  }

  /** null = it is useless. */
  end(): CueEvent[] | null {
    this.#flush()
    return this.isUseless ? null : this.#kept
  }

  readonly take = (event: CueEvent): void => {
    switch (event.kind) {
      case 'frame':
        return this.#takeFrame(event)
      case 'clock':
        if (this.#last === null) this.#kept.push(event)
        else {
          this.#jumps ||= isFar(this.#last.pts, event.ticks)
          this.#clock = { event, frame: this.#last }
        }
        return
      case 'stream':
        this.#flush()
        this.#kept.push(event)
        return
      case 'cue':
        this.#flush()
        // A copy: the bytes around it are not kept.
        this.#kept.push({ kind: 'cue', packet: Uint8Array.from(event.packet) })
        this.#isFirstFrame = true
    }
  }

  #takeFrame(frame: Frame): void {
    this.#jumps ||= isFar(frame.dts, frame.pts) || (this.#last !== null && isFar(this.#last.dts, frame.dts))
    if (this.#isFirstFrame) {
      this.#flush()
      this.#keep(frame)
    } else if (Math.abs(ticksBetween(this.#keptFrame!.dts, frame.dts)) > KEPT_TICKS) this.#flush()
    this.#isFirstFrame = false
    this.#last = frame
  }

  /** The clock that counts now, and the frame. */
  #flush(): void {
    if (this.#clock !== null) {
      this.#keep(this.#clock.frame)
      this.#kept.push(this.#clock.event)
      this.#clock = null
    }
    if (this.#last !== null) this.#keep(this.#last)
  }

  #keep(frame: Frame): void {
    if (frame === this.#keptFrame) return
    this.#kept.push(frame)
    this.#keptFrame = frame
  }
}

export interface TracedProgram {
  videoPid: number
  program: number | null
  /** As in CueScan. */
  origin: number
}

/** `traces`: in the order of the source. null = one reading might find something else. */
export function joinTraces(
  traces: readonly CueTrace[],
  { videoPid, program, origin }: TracedProgram,
): CueFindings | null {
  if (!areContinuous(traces)) return null
  const scan = new CueScan(videoPid, origin, program)
  let frame: Timestamps | null = null
  for (const event of traces.flatMap(({ events }) => events)) {
    if (event.kind === 'clock' && isFar(frame?.pts ?? wrapTicks(origin), event.ticks)) return null
    if (event.kind === 'frame') {
      if (frame !== null && isFar(frame.dts, event.dts)) return null
      frame = event
    }
    scan.take(event)
    if (scan.isOverLimit) return null
  }
  return scan.found
}

function areContinuous(traces: readonly CueTrace[]): boolean {
  if (traces.at(-1)?.next !== null) return false
  return traces.every(({ first, before }, index) => {
    const previous = traces[index - 1]
    return previous === undefined || (isSame(previous.next, first) && isSame(previous.after, before))
  })
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function isFar(from: number, to: number): boolean {
  return Math.abs(ticksBetween(from, to)) > JUMP_TICKS
}
