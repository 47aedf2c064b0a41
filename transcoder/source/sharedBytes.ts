// In charge of: a source of which other parts of the job read most: zeros for the pictures, what a part left for the bytes
// between them, and blocks of the source for what no part left.
// Not in charge of: which bytes these are (analysis/sharedBytes.ts), fetching what was left
// (pipeline/division/sharedReading.ts).
import { BlockBuffer } from './blockBuffer.ts'
import { lastNotAfter, lastOfRange } from './byteRanges.ts'
import type { SourceRun } from './collectedBytes.ts'
import type { ByteRange } from './rangeResponse.ts'

/** In one answer: small pieces would each cost a write. */
const ANSWER_BYTES = 256 * 1024
/** Closer together, what is missing is requested with the pictures between: a request more costs as much. */
const LEAST_GAP_BYTES = 256 * 1024
/** Shares of which the bytes are held. Tracks are read alternately, also around the end of a share. */
const MOST_SHARES = 2

export interface SharedSource {
  /** Ascending, as all of these; together with `others` they have every byte of the shares. */
  video: readonly ByteRange[]
  others: readonly ByteRange[]
  shares: readonly ByteRange[]
  /** May wait for the part that has the share. null = it left nothing. */
  left: (share: number) => Promise<readonly SourceRun[] | null>
}

interface Share {
  /** Where each run lies. */
  places: readonly ByteRange[]
  runs: readonly SourceRun[]
  missing: BlockBuffer
}

export class SharedBytes {
  readonly #source: SharedSource
  readonly #fetch: (range: ByteRange) => Promise<Uint8Array>
  /** The one that was read last is the last. */
  readonly #open = new Map<number, Promise<Share>>()
  #waits = 0

  constructor(source: SharedSource, fetch: (range: ByteRange) => Promise<Uint8Array>) {
    this.#source = source
    this.#fetch = fetch
  }

  /** What a part leaves is awaited. */
  get isWaiting(): boolean {
    return this.#waits > 0
  }

  /** Where the shares begin, here or behind; Infinity = nowhere. */
  nextFrom(at: number): number {
    const first = this.#source.shares[0]?.first ?? Infinity
    if (at < first) return first
    return at <= this.#source.shares.at(-1)!.last ? at : Infinity
  }

  /** Bytes from here on, at most so many; null = this byte is in no share. */
  async read(at: number, most: number): Promise<Uint8Array | null> {
    const index = lastNotAfter(this.#source.shares, at)
    const range = this.#source.shares[index]
    if (range === undefined || range.last < at) return null
    const share = await this.#share(index)
    const known = this.#known(share, at, Math.min(most, ANSWER_BYTES, range.last - at + 1))
    return known ?? (await share.missing.read(at))?.subarray(0, most) ?? null
  }

  /** Pictures and runs up to the first byte that is neither. */
  #known({ places, runs }: Share, from: number, most: number): Uint8Array | null {
    const found: { at: number; bytes: Uint8Array }[] = []
    let at = from
    while (at < from + most) {
      const picture = lastOfRange(this.#source.video, at)
      const run = picture === null ? lastNotAfter(places, at) : -1
      if (picture === null && (places[run] === undefined || places[run].last < at)) break
      const end = Math.min(from + most, (picture ?? places[run]!.last) + 1)
      if (picture === null)
        found.push({ at, bytes: runs[run]!.bytes.subarray(at - places[run]!.first, end - places[run]!.first) })
      at = end
    }
    if (at === from) return null
    const answer = new Uint8Array(at - from)
    for (const each of found) answer.set(each.bytes, each.at - from)
    return answer
  }

  #share(index: number): Promise<Share> {
    const share = this.#open.get(index) ?? this.#fetchShare(index)
    this.#open.delete(index)
    this.#open.set(index, share)
    for (const old of this.#open.keys()) if (this.#open.size > MOST_SHARES) this.#open.delete(old)
    // Reported where it is read; then it is fetched again.
    share.catch(() => this.#open.get(index) === share && this.#open.delete(index))
    return share
  }

  async #fetchShare(index: number): Promise<Share> {
    this.#waits += 1
    const runs = (await this.#source.left(index).finally(() => (this.#waits -= 1))) ?? []
    const places = runs.map(({ first, bytes }) => ({ first, last: first + bytes.length - 1 }))
    const missing = missingOf(this.#source.others, places, this.#source.shares[index]!)
    return { places, runs, missing: new BlockBuffer(missing, this.#fetch) }
  }
}

/** What of `others` is in the share and in none of the `places`, with what lies closely between. */
function missingOf(others: readonly ByteRange[], places: readonly ByteRange[], share: ByteRange): ByteRange[] {
  const missing: ByteRange[] = []
  const add = (first: number, last: number): void => {
    const before = missing.at(-1)
    if (before !== undefined && first - before.last <= LEAST_GAP_BYTES) before.last = last
    else missing.push({ first, last })
  }
  for (let index = Math.max(0, lastNotAfter(others, share.first)); index < others.length; index += 1) {
    if (others[index]!.first > share.last) break
    const last = Math.min(others[index]!.last, share.last)
    let from = Math.max(others[index]!.first, share.first)
    while (from <= last) {
      const at = lastNotAfter(places, from)
      const held = places[at] !== undefined && places[at].last >= from ? places[at] : undefined
      if (held !== undefined) {
        from = held.last + 1
        continue
      }
      const until = Math.min(last, (places[at + 1]?.first ?? Infinity) - 1)
      add(from, until)
      from = until + 1
    }
  }
  return missing
}
