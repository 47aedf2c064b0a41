// In charge of: small transport streams, packet by packet: tables, frames with a clock, sections.
// Not in charge of: expectations, clips of real media (cueClips.ts).
import { writePmt } from '../../../transcoder/formats/mpegts/programTables.ts'
import { toPackets } from '../../../transcoder/formats/mpegts/section.ts'
import { packBits, withCrc } from './spliceSections.ts'

const S = 90_000
const none = new Uint8Array(0)

export function pat(programs: readonly (readonly [number, number])[]): Uint8Array {
  const length = 9 + programs.length * 4
  const rows = programs.flatMap(([program, pid]) => [[program, 16] as const, [0xe000 | pid, 16] as const])
  return withCrc(packBits([[0, 8], [0xb0, 8], [length, 8], [1, 16], [0xc1, 8], [0, 16], ...rows]))
}

/** A small stream, packet by packet, with continuous counters. */
export class Stream {
  readonly packets: Uint8Array[] = []
  readonly #counters = new Map<number, number>()

  section(pid: number, section: Uint8Array): this {
    const packets = toPackets(section, pid, this.#counters.get(pid) ?? 0)
    this.#counters.set(pid, (this.#counters.get(pid) ?? 0) + packets.length)
    this.packets.push(...packets)
    return this
  }

  /** A frame in one packet, preceded by a PCR that is `lead` ticks earlier; null = by none. */
  picture(pid: number, pts: number, lead: number | null = 0.5 * S): this {
    const counter = this.#counters.get(pid) ?? 0
    this.#counters.set(pid, counter + 1)
    const on = (ticks: number) => ((ticks % 2 ** 33) + 2 ** 33) % 2 ** 33
    const [clock, shown] = [on(pts - (lead ?? 0)), on(pts)]
    const stamp = [
      [2, 4],
      [Math.floor(shown / 2 ** 30), 3],
      [1, 1],
      [Math.floor(shown / 2 ** 15) % 2 ** 15, 15],
      [1, 1],
      [shown % 2 ** 15, 15],
      [1, 1],
    ] as const
    const head = [0x47, 0x40 | (pid >> 8), pid & 0xff, 0x30 | (counter & 15), 7, lead === null ? 0 : 0x10]
    const pes = [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, ...packBits(stamp)]
    this.packets.push(
      Uint8Array.from([
        ...head,
        ...packBits([
          [clock, 33],
          [63, 6],
          [0, 9],
        ]),
        ...pes,
        ...Array<number>(162).fill(0xaa),
      ]),
    )
    return this
  }

  nulls(count: number): this {
    for (let left = count; left > 0; left--)
      this.packets.push(Uint8Array.from([0x47, 0x1f, 0xff, 0x10, ...Array<number>(184).fill(0xff)]))
    return this
  }

  get bytes(): Uint8Array {
    return Uint8Array.from(this.packets.flatMap((packet) => [...packet]))
  }
}

export const map = (program: number, video: number, cues: readonly number[]) =>
  writePmt({
    program,
    version: 0,
    clockPid: video,
    descriptors: none,
    streams: [
      { type: 0x1b, pid: video, descriptors: none },
      ...cues.map((pid) => ({ type: 0x86, pid, descriptors: Uint8Array.of(0x8a, 1, 0) })),
    ],
  })
