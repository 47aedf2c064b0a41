// In charge of: turning the frames' caption bytes, in presentation order, into cues of each channel (CEA-608) and
// service (CEA-708).
// Not in charge of: finding and ordering the bytes (captionExtractor.ts), files (webvttSegments.ts).
import { Cea608Field } from './cea608.ts'
import { Packets708, type ServiceBlock } from './packets708.ts'
import { ScreenLog, type CaptionCue } from './captionScreen.ts'
import { Service708 } from './service708.ts'

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
