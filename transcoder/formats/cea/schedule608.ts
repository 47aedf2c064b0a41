// In charge of: when the codes of captions are sent: one pair of bytes in each 1001/30000 s of a field, so that a caption
// is complete when its time comes.
// Not in charge of: the codes of a caption (encoder608.ts), frames (captionFrames.ts).
import type { Channel608 } from '#contract/captions.ts'
import { command, type Pair } from './codes608.ts'

/** Pairs of one field in a second. */
export const PAIRS_PER_SECOND = 30_000 / 1001

export interface TimedCaption {
  channel: Channel608
  /** Slots: pairs since the beginning of the outputs. */
  show: number
  clear: number
  groups: readonly (readonly Pair[])[]
}

export interface SentPair {
  slot: number
  pair: Pair
}

export interface FieldSchedule {
  /** Ascending; a slot that is not listed sends nothing. */
  pairs: SentPair[]
  late: { channel: Channel608; slots: number }[]
  /** Captions whose time was over before they could be sent. */
  leftOut: Channel608[]
}

/** Pairs for which an event of another caption may interrupt loading. */
const RESERVE = 8
/** What comes late is shown at least this long, unless the next caption follows. */
const SHORTEST = 30
/** At 29.97 frames per second, a frame. */
const ON_TIME = 1

interface Channel {
  waiting: TimedCaption[]
  loading: { caption: TimedCaption; sent: number } | null
  loaded: TimedCaption | null
  /** The slot in which the screen is cleared; null = nothing is shown. */
  clear: number | null
}

/** The captions of one field. The captions of one channel are ordered by `show` and do not overlap. */
export function scheduleField(captions: readonly TimedCaption[]): FieldSchedule {
  return new Scheduler(captions).run()
}

class Scheduler {
  readonly #channels = new Map<Channel608, Channel>()
  readonly #result: FieldSchedule = { pairs: [], late: [], leftOut: [] }
  /** Before its time at which a caption begins to be sent. */
  readonly #lead: (caption: TimedCaption) => number
  #slot = 0
  #current: Channel608 | null = null

  constructor(captions: readonly TimedCaption[]) {
    for (const caption of captions) {
      const found = this.#channels.get(caption.channel)
      if (found === undefined)
        this.#channels.set(caption.channel, { waiting: [caption], loading: null, loaded: null, clear: null })
      else found.waiting.push(caption)
    }
    // Two channels of a field share its pairs.
    const longest = Math.max(
      0,
      ...[...this.#channels.values()].flatMap(({ waiting }) =>
        waiting.reduce((most, each) => Math.max(most, lengthOf(each)), 0),
      ),
    )
    const shared = this.#channels.size > 1 ? longest + RESERVE : 0
    this.#lead = (caption) => lengthOf(caption) + RESERVE + shared
    for (const channel of this.#channels.values()) channel.waiting.reverse()
  }

  run(): FieldSchedule {
    while (this.#act() || this.#skip());
    return this.#result
  }

  /** Sends what is due. */
  #act(): boolean {
    for (const [name, channel] of this.#channels) if (this.#event(name, channel)) return true
    return this.#load()
  }

  #event(name: Channel608, channel: Channel): boolean {
    const { loaded, clear } = channel
    if (loaded !== null && loaded.show <= this.#slot) {
      const slots = this.#slot - loaded.show
      if (slots > ON_TIME) this.#result.late.push({ channel: name, slots })
      channel.clear = slots > ON_TIME ? Math.max(loaded.clear, this.#slot + SHORTEST) : loaded.clear
      channel.loaded = null
      this.#send(name, [command(name, 'show'), command(name, 'show')])
      return true
    }
    if (clear === null || clear > this.#slot) return false
    channel.clear = null
    // The next caption replaces this one at once.
    if (loaded !== null && loaded.show <= clear + ON_TIME) return true
    this.#send(name, [command(name, 'clear'), command(name, 'clear')])
    return true
  }

  #load(): boolean {
    const found = [...this.#channels].find(([, { loading }]) => loading !== null) ?? this.#begin()
    if (found === undefined) return false
    const [name, channel] = found
    const { caption, sent } = channel.loading!
    // A code of the other channel, or of another mode, was sent in between.
    if (sent > 0 && this.#current !== name) this.#send(name, [command(name, 'load'), command(name, 'load')])
    this.#send(name, caption.groups[sent]!)
    if (sent + 1 < caption.groups.length) channel.loading = { caption, sent: sent + 1 }
    else {
      channel.loading = null
      channel.loaded = caption
    }
    return true
  }

  #begin(): [Channel608, Channel] | undefined {
    const ready = [...this.#channels].filter(([, channel]) => this.#beginsAt(channel) <= this.#slot)
    const [first] = ready.toSorted(([, a], [, b]) => a.waiting.at(-1)!.show - b.waiting.at(-1)!.show)
    if (first === undefined) return undefined
    const [name, channel] = first
    const caption = channel.waiting.pop()!
    if (this.#slot + lengthOf(caption) > caption.clear + SHORTEST) {
      this.#result.leftOut.push(name)
      return this.#begin()
    }
    channel.loading = { caption, sent: 0 }
    return first
  }

  #beginsAt({ waiting, loading, loaded }: Channel): number {
    const next = waiting.at(-1)
    if (next === undefined || loading !== null || loaded !== null) return Infinity
    return next.show - this.#lead(next)
  }

  /** To the next slot in which something is due; false = nothing is left. */
  #skip(): boolean {
    const next = Math.min(
      ...[...this.#channels.values()].map((channel) =>
        Math.min(this.#beginsAt(channel), channel.loaded?.show ?? Infinity, channel.clear ?? Infinity),
      ),
    )
    if (next === Infinity) return false
    this.#slot = Math.max(this.#slot + 1, next)
    return true
  }

  #send(name: Channel608, pairs: readonly Pair[]): void {
    for (const pair of pairs) {
      this.#result.pairs.push({ slot: this.#slot, pair })
      this.#slot += 1
    }
    this.#current = name
  }
}

function lengthOf({ groups }: TimedCaption): number {
  return groups.reduce((sum, group) => sum + group.length, 0)
}
