// In charge of: sending tables repeatedly: which one is due.
// Not in charge of: their content (serviceTables.ts, repeatedTables.ts).
import { PACKET_BYTES } from '../mpegts/packet.ts'
import { toPackets } from '../mpegts/section.ts'
import { LeakyBucket, SYSTEM_CLOCK_HZ } from './leakyBucket.ts'
import type { PacketWriter } from './packetWriter.ts'

export interface RepeatedTable {
  pid: number
  section: Uint8Array
  everyMs: number
}

/** 2.4.2.3: the tables of a program share one transport buffer. */
const SYSTEM_BYTES = 512
const SYSTEM_RATE = 1_000_000

interface Entry {
  pid: number
  packets: Uint8Array[]
  period: number
  /** The next time it is sent, and the remaining packets of the current time. */
  due: number
  left: number
}

export class TableRepeater {
  readonly #bucket = new LeakyBucket(SYSTEM_BYTES, SYSTEM_RATE)
  readonly #entries: Entry[]
  readonly #counters = new Map<number, number>()

  constructor(tables: readonly RepeatedTable[], start: number) {
    this.#entries = tables.map(({ pid, section, everyMs }) => ({
      pid,
      packets: toPackets(section, pid, 0),
      period: (everyMs * SYSTEM_CLOCK_HZ) / 1000,
      due: start,
      left: 0,
    }))
  }

  /** Number of packets that become due until then. */
  count(until: number): number {
    return this.#entries.reduce(
      (sum, { due, left, packets }) => sum + left + (left === 0 && due <= until ? packets.length : 0),
      0,
    )
  }

  /** Writes the next packet that is due now or before the next opportunity; false where none is. */
  send(out: PacketWriter, now: number, until = now): boolean {
    const entry = this.#entries.find((each) => (each.left > 0 || each.due <= until) && !this.#waits(each))
    if (entry === undefined || !this.#bucket.hasRoom(now, PACKET_BYTES)) return false
    if (entry.left === 0) {
      entry.left = entry.packets.length
      entry.due = now + entry.period
    }
    const counter = this.#counters.get(entry.pid) ?? 0
    out.copyPacket(entry.packets[entry.packets.length - entry.left]!, counter)
    this.#counters.set(entry.pid, (counter + 1) & 15)
    this.#bucket.add(now, PACKET_BYTES)
    entry.left -= 1
    return true
  }

  /** Another section of the same PID is being sent. */
  #waits(entry: Entry): boolean {
    return this.#entries.some((other) => other !== entry && other.pid === entry.pid && other.left > 0)
  }
}
