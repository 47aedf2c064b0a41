// In charge of: which packets of a source matter for the cues of a program: its clock, its frames, and the packets of its
// cue streams, by its tables.
// Not in charge of: what follows from them (cueScan.ts), stretches of a source that are read apart (cueTrace.ts).
import { readPcr, readPesTimestamps } from '../mpegts/clock.ts'
import { isPayloadStart, PAT_PID, payloadOf, pidOf } from '../mpegts/packet.ts'
import { readPat, readPmt } from '../mpegts/programTables.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { cueStreamType, isCueStream } from './cueStream.ts'

export type CueEvent =
  | { kind: 'clock'; ticks: number }
  | { kind: 'frame'; pts: number; dts: number }
  /** A cue stream of the program, where it is declared first. */
  | { kind: 'stream'; pid: number; type: number }
  | { kind: 'cue'; packet: Uint8Array }

/** What the tables of a source have said so far. */
export interface CueTables {
  /** PIDs of the tables that are read, in the order in which they were found. */
  tables: number[]
  /** null = the program map has not been seen. */
  clockPid: number | null
  /** In the order of the program map. */
  streams: { pid: number; type: number }[]
}

const NOTHING: CueTables = { tables: [PAT_PID], clockPid: null, streams: [] }

export class CueReader {
  readonly #videoPid: number
  readonly #program: number | null
  readonly #take: (event: CueEvent) => void
  readonly #tables: Map<number, SectionAssembler>
  readonly #streams: Map<number, number>
  #clockPid: number | null

  /** `program`: null = any with that video. `known`: what the bytes before say. */
  constructor(
    { videoPid, program }: { videoPid: number; program: number | null },
    take: (event: CueEvent) => void,
    known: CueTables = NOTHING,
  ) {
    this.#videoPid = videoPid
    this.#program = program
    this.#take = take
    this.#tables = new Map(known.tables.map((pid) => [pid, new SectionAssembler()]))
    this.#streams = new Map(known.streams.map(({ pid, type }) => [pid, type]))
    this.#clockPid = known.clockPid
  }

  get known(): CueTables {
    const streams = [...this.#streams].map(([pid, type]) => ({ pid, type }))
    return { tables: [...this.#tables.keys()], clockPid: this.#clockPid, streams }
  }

  /** True once it is certain that the program has no cues. */
  get isFutile(): boolean {
    return this.#clockPid !== null && this.#streams.size === 0
  }

  push(packet: Uint8Array): void {
    const pid = pidOf(packet)
    if (pid === this.#clockPid) {
      const ticks = readPcr(packet)
      if (ticks !== null) this.#take({ kind: 'clock', ticks })
    }
    if (pid === this.#videoPid && isPayloadStart(packet)) {
      const stamps = readPesTimestamps(payloadOf(packet))
      if (stamps !== null) this.#take({ kind: 'frame', ...stamps })
    }
    this.pushTables(packet)
    if (this.#streams.has(pid)) this.#take({ kind: 'cue', packet })
  }

  /** Of a packet, only what the tables say. */
  pushTables(packet: Uint8Array): void {
    for (const section of this.#tables.get(pidOf(packet))?.push(packet) ?? []) this.#table(section)
  }

  #table(section: Uint8Array): void {
    for (const pid of readPat(section)?.values() ?? [])
      if (!this.#tables.has(pid)) this.#tables.set(pid, new SectionAssembler())
    const map = readPmt(section)
    if (map === null || !map.streams.some(({ pid }) => pid === this.#videoPid)) return
    if (this.#program !== null && map.program !== this.#program) return
    this.#clockPid = map.clockPid
    for (const stream of map.streams.filter(isCueStream)) {
      if (this.#streams.has(stream.pid)) continue
      const type = cueStreamType(stream)
      this.#streams.set(stream.pid, type)
      this.#take({ kind: 'stream', pid: stream.pid, type })
    }
  }
}
