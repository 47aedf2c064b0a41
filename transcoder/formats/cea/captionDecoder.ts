// In charge of: turning the frames' caption bytes, in presentation order, into cues of each channel (CEA-608) and
// service (CEA-708).
// Not in charge of: finding and ordering the bytes (captionExtractor.ts), files (webvttSegments.ts).
import { ScreenLog, type CaptionCue } from './captionScreen.ts'
import { Service708 } from './service708.ts'
import { basicCharacter, extendedCharacter, specialCharacter } from './characters608.ts'
import { Memory608 } from './memory608.ts'
import { PairReader608 } from './pairs608.ts'

interface ServiceBlock {
  /** 1 to 63. */
  service: number
  bytes: readonly number[]
}

/** Assembles packets from several frames, in presentation order. */
class Packets708 {
  #bytes: number[] = []
  #length = 0

  /** The beginning of a packet (cc_type 3). Of an unfinished packet before it, the available part is read. */
  start(first: number, second: number): ServiceBlock[] {
    const before = this.#read()
    const coded = first & 0x3f
    this.#length = coded === 0 ? 128 : coded * 2
    return [...before, ...this.#add(first, second)]
  }

  /** The continuation of a packet (cc_type 2). */
  more(first: number, second: number): ServiceBlock[] {
    return this.#length === 0 ? [] : this.#add(first, second)
  }

  #add(first: number, second: number): ServiceBlock[] {
    this.#bytes.push(first, second)
    return this.#bytes.length >= this.#length ? this.#read() : []
  }

  #read(): ServiceBlock[] {
    const bytes = this.#bytes
    this.#bytes = []
    this.#length = 0
    const blocks: ServiceBlock[] = []
    for (let at = 1; at < bytes.length;) {
      const size = bytes[at]! & 0x1f
      const short = bytes[at]! >> 5
      const extended = short === 7 && size > 0
      const service = extended ? (bytes[at + 1] ?? 0) & 0x3f : short
      // Service 0 is padding and ends the packet.
      if (service === 0) break
      const from = at + (extended ? 2 : 1)
      if (size > 0) blocks.push({ service, bytes: bytes.slice(from, from + size) })
      at = from + size
    }
    return blocks
  }
}

/** Rows by the first byte of a preamble address code (table 53), without and with bit 0x20 of the second byte. */
const ROWS: readonly (readonly [number, number])[] = [
  [11, 11],
  [1, 2],
  [3, 4],
  [12, 13],
  [14, 15],
  [5, 6],
  [7, 8],
  [9, 10],
]

class Cea608Field {
  /** Channels 1 and 2 (field 2: 3 and 4). */
  readonly channels = [new Memory608(), new Memory608()] as const
  #selected: Memory608 | null = null
  readonly #reader = new PairReader608()
  /** Between captions, field 2 carries programme data (XDS). */
  #foreign = false

  /** One pair of bytes, including their parity bits. */
  push(first: number, second: number): void {
    const read = this.#reader.read(first, second)
    if (read === null || read.repeats) return
    const [high, low] = [read.pair >> 8, read.pair & 0xff]
    if (high >= 0x10 && high <= 0x1f) {
      this.#control(high, low)
      return
    }
    if (high > 0 && high < 0x10) this.#foreign = true
    if (high < 0x20 || this.#foreign) return
    this.#selected?.write(basicCharacter(high))
    if (low >= 0x20) this.#selected?.write(basicCharacter(low))
  }

  #control(high: number, low: number): void {
    if (low < 0x20) return
    this.#foreign = false
    const memory = this.channels[(high & 0x08) === 0 ? 0 : 1]
    this.#selected = memory
    const set = high & 0x77
    if (low >= 0x40) address(memory, set & 7, low)
    else if ((set === 0x14 || set === 0x15) && low < 0x30) memory.command(low)
    else if (set === 0x11) memory.write(low < 0x30 ? ' ' : specialCharacter(low))
    else if (set === 0x12 || set === 0x13) memory.replace(extendedCharacter(set, low))
    else if (set === 0x17 && low <= 0x23 && low > 0x20) memory.tab(low - 0x20)
  }
}

function address(memory: Memory608, set: number, low: number): void {
  const row = ROWS[set]![(low & 0x20) === 0 ? 0 : 1]
  memory.moveTo(row, (low & 0x10) === 0 ? 0 : ((low & 0x0e) >> 1) * 4)
}

export interface CaptionChannelCues {
  /** `CC1` to `CC4`, `SERVICE1` to `SERVICE63`. */
  channel: string
  cues: CaptionCue[]
}

export class CaptionDecoder {
  readonly #fields = [new Cea608Field(), new Cea608Field()] as const
  readonly #packets = new Packets708()
  readonly #services = new Map<number, Service708>()
  readonly #logs = new Map<string, ScreenLog>()
  #time = 0

  /**
   * `time` in seconds, treated as never going back. `ccData`: triplets of (flags, first byte, second byte) as
   * `readUserData` finds them.
   */
  push(time: number, ccData: Uint8Array): void {
    this.#time = Math.max(this.#time, time)
    for (let at = 0; at + 3 <= ccData.length; at += 3) {
      const [flags, first, second] = [ccData[at]!, ccData[at + 1]!, ccData[at + 2]!]
      const type = flags & 3
      // cc_valid
      if ((flags & 4) === 0) continue
      if (type < 2) this.#fields[type as 0 | 1].push(first, second)
      else this.#blocks(type === 3 ? this.#packets.start(first, second) : this.#packets.more(first, second))
    }
    this.#updateLogs()
  }

  /**
   * `end`: duration of the video in seconds. Channels without text are left out; 608 first. `isOverLimit`: a channel has
   * more cues or characters than are kept.
   */
  end(end: number): { channels: CaptionChannelCues[]; isOverLimit: boolean } {
    const logs = [...this.#logs].map(([channel, log]) => ({ channel, log, cues: log.end(end) }))
    return {
      channels: logs
        .map(({ channel, cues }) => ({ channel, cues: cues.flatMap((cue) => clipCue(cue, end)) }))
        .filter(({ cues }) => cues.length > 0)
        .toSorted((a, b) => rank(a.channel) - rank(b.channel)),
      isOverLimit: logs.some(({ log }) => log.isOverLimit),
    }
  }

  #blocks(blocks: readonly ServiceBlock[]): void {
    for (const { service, bytes } of blocks) {
      const decoder = this.#services.get(service) ?? new Service708()
      this.#services.set(service, decoder)
      decoder.push(bytes, this.#time)
    }
  }

  #updateLogs(): void {
    for (const [field, { channels }] of this.#fields.entries())
      for (const [second, memory] of channels.entries())
        this.#logScreen(`CC${field * 2 + second + 1}`, memory.takeChange())
    for (const [service, decoder] of this.#services)
      this.#logScreen(`SERVICE${service}`, decoder.takeChange(this.#time))
  }

  #logScreen(channel: string, screenChange: ReturnType<Service708['takeChange']>): void {
    if (screenChange === null) return
    const log = this.#logs.get(channel) ?? new ScreenLog()
    this.#logs.set(channel, log)
    log.show(this.#time, screenChange.blocks, screenChange.change)
  }
}

function rank(name: string): number {
  return (name.startsWith('CC') ? 0 : 100) + Number(name.replace(/\D+/, ''))
}

function clipCue(cue: CaptionCue, end: number): CaptionCue[] {
  return cue.start >= end ? [] : [{ ...cue, end: Math.min(cue.end, end) }]
}
