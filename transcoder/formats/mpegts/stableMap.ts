// In charge of: a transport stream whose streams move to other PIDs: readers see them on the PIDs of its first program
// map. What decodes, seeks or counts after them needs to know nothing of it.
// Not in charge of: reading the source (source/loopbackServer.ts), warnings (analysis/damage/endedStreams.ts).
import { readPesTimestamps } from './clock.ts'
import { elementaryKind, languageOf, type ElementaryKind } from './elementaryKind.ts'
import { continuityCounter, isPayloadStart, NULL_PID, PacketReader, payloadOf, PAT_PID, pidOf } from './packet.ts'
import { readPat, readPmt, writePmt, type ElementaryStream, type ProgramMap } from './programTables.ts'
import { SectionAssembler, toPackets } from './section.ts'

/** A stream of a map that a later one no longer lists, while no other one of its kind takes its place. */
export interface ChangedStream extends ElementaryKind {
  pid: number
  /** New streams that do the same in another codec, perhaps on its PID. */
  instead: { pid: number; codec: string }[]
}

export interface EndedStream extends ChangedStream {
  program: number
  /** The last time stamp of the stream. */
  ticks: number
}

/** From one PID to another. */
type Moves = ReadonlyMap<number, number>

/** A source that is no transport stream shows it within this many bytes. */
const MOST_BYTES_WITHOUT_PACKET = 64 * 1024
/** A reader from the middle waits for the map that is valid there, once a stream has moved. */
const MOST_BYTES_WITHOUT_MAP = 2 * 1024 * 1024
/** The table of one map is never spread over more. */
const MOST_BYTES_OF_TABLE = 64 * 1024
const PIDS = 8192

/** What is known of one source. */
export class StableMap {
  /** By program. Complete as soon as a reader has read its beginning. */
  readonly #first = new Map<number, ProgramMap>()
  readonly #tables = new Set<number>([PAT_PID])
  readonly #ended = new Map<string, EndedStream>()
  isTransport: boolean | null = null
  hasMoved = false

  get programs(): readonly ProgramMap[] {
    return [...this.#first.values()]
  }

  get ended(): readonly EndedStream[] {
    return [...this.#ended.values()]
  }

  get tables(): ReadonlySet<number> {
    return this.#tables
  }

  /** Converts bytes of the source, from position `first` on, into the bytes that a reader gets. */
  reader(first: number): StableMapReader {
    return new StableMapReader(this, first)
  }

  learnTables(pids: Iterable<number>): void {
    for (const pid of pids) this.#tables.add(pid)
  }

  /** `fromStart`: a reader of everything before. */
  movesOf(map: ProgramMap, fromStart: boolean, lastTicks: ReadonlyMap<number, number>): Moves {
    const first = this.#first.get(map.program)
    if (first === undefined && fromStart) this.#first.set(map.program, map)
    if (first === undefined) return new Map()
    const { moves, missing, added } = compareMaps(first, map)
    if (moves.size > 0) this.hasMoved = true
    // Declared later. It may move, too.
    else if (fromStart && missing.length === 0 && added.length > 0)
      this.#first.set(map.program, { ...first, streams: [...first.streams, ...added] })
    for (const stream of missing) {
      const ticks = lastTicks.get(stream.pid)
      if (ticks === undefined) continue
      const key = `${map.program} ${stream.pid}`
      if (!this.#ended.has(key)) this.#ended.set(key, { program: map.program, ...stream, ticks })
    }
    return moves
  }
}

export class StableMapReader {
  readonly #source: StableMap
  readonly #fromStart: boolean
  readonly #packets = new PacketReader()
  readonly #sections = new Map<number, { assembler: SectionAssembler; packets: { at: number; counter: number }[] }>()
  readonly #moves = new Map<number, Moves>()
  #current = new Map<number, number>()
  /**
   * `#counters`: the last counter, by the PID that readers see. `#shifts`: what is added to counters, by the PID that
   * arrives.
   */
  readonly #counters = new Int8Array(PIDS).fill(-1)
  readonly #shifts = new Uint8Array(PIDS)
  readonly #joining = new Set<number>()
  readonly #lastTicks = new Map<number, number>()
  /** Bytes that were not returned yet. */
  #held: Uint8Array = new Uint8Array(0)
  /** Position of the first held byte. */
  #from = 0
  #hasMap: boolean

  constructor(source: StableMap, first: number) {
    this.#source = source
    this.#fromStart = first === 0
    this.#hasMap = first === 0 || !source.hasMoved
  }

  push(block: Uint8Array): Uint8Array {
    const source = this.#source
    if (source.isTransport === false || (!this.#fromStart && source.programs.length === 0)) return block
    this.#held = joined(this.#held, block)
    for (const packet of this.#packets.push(block)) {
      source.isTransport = true
      this.#take(packet, this.#packets.position)
    }
    const read = this.#packets.taken
    if (source.isTransport === null && read > MOST_BYTES_WITHOUT_PACKET) source.isTransport = false
    if (source.isTransport === false) return this.end()
    if (!this.#hasMap && read < MOST_BYTES_WITHOUT_MAP) return new Uint8Array(0)
    this.#hasMap = true
    const open = [...this.#sections.values()].flatMap(({ packets }) => packets[0]?.at ?? [])
    return this.#release(Math.min(read, ...open.filter((at) => read - at < MOST_BYTES_OF_TABLE)))
  }

  /** The rest. */
  end(): Uint8Array {
    return this.#release(this.#from + this.#held.length)
  }

  #release(until: number): Uint8Array {
    const count = Math.max(0, until - this.#from)
    const bytes = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    this.#from += count
    return bytes
  }

  #take(packet: Uint8Array, at: number): void {
    const pid = pidOf(packet)
    if (this.#source.tables.has(pid)) this.#takeTable(pid, packet, at)
    else if (pid !== NULL_PID) this.#takeStream(pid, packet, at)
  }

  #takeStream(pid: number, packet: Uint8Array, at: number): void {
    const seen = this.#current.get(pid) ?? pid
    if (isPayloadStart(packet)) {
      const times = readPesTimestamps(payloadOf(packet))
      if (times !== null) this.#lastTicks.set(seen, times.pts)
      // What still arrives on that PID is not a part of the stream any more.
      if (seen !== pid && !this.#current.has(seen)) this.#current.set(seen, pid)
    }
    const counter = continuityCounter(packet)
    const hasPayload = (packet[3]! & 0x10) !== 0
    if (hasPayload && this.#joining.delete(pid)) {
      const last = this.#counters[seen]!
      this.#shifts[pid] = last === -1 ? 0 : (last + 1 - counter) & 15
    }
    const shown = (counter + this.#shifts[pid]!) & 15
    if (hasPayload) this.#counters[seen] = shown
    if (seen === pid && shown === counter) return
    const header = this.#held.subarray(at - this.#from)
    setPid(header, seen)
    header[3] = (header[3]! & 0xf0) | shown
  }

  #takeTable(pid: number, packet: Uint8Array, at: number): void {
    const table = this.#sections.get(pid) ?? { assembler: new SectionAssembler(), packets: [] }
    this.#sections.set(pid, table)
    if (isPayloadStart(packet)) table.packets = []
    table.packets.push({ at, counter: continuityCounter(packet) })
    const sections = table.assembler.push(packet)
    if (sections.length === 0) return
    const { packets } = table
    table.packets = []
    const maps: ProgramMap[] = []
    for (const section of sections) {
      if (pid === PAT_PID) this.#source.learnTables(readPat(section)?.values() ?? [])
      const map = pid === PAT_PID ? null : readPmt(section)
      if (map === null) continue
      this.#hasMap = true
      this.#use(map)
      maps.push(map)
    }
    if (maps.some(({ program }) => (this.#moves.get(program)?.size ?? 0) > 0)) this.#rewrite(pid, maps, packets)
  }

  #use(map: ProgramMap): void {
    const before = this.#moves.get(map.program)
    const moves = this.#source.movesOf(map, this.#fromStart, this.#lastTicks)
    if (sameMoves(before ?? new Map(), moves)) return
    this.#moves.set(map.program, moves)
    this.#current = new Map([...this.#moves.values()].flatMap((each) => [...each]))
    for (const [from, to] of [...(before ?? []), ...moves]) {
      this.#joining.add(from)
      this.#joining.add(to)
    }
  }

  /** In the packets that carried them. Maps that do not fit there are left out: the ones before stay valid. */
  #rewrite(pid: number, maps: readonly ProgramMap[], packets: readonly { at: number; counter: number }[]): void {
    const [map] = maps
    const moves = map === undefined ? undefined : this.#moves.get(map.program)
    const written = maps.length === 1 && moves !== undefined ? toPackets(writePmt(movedMap(map!, moves)), pid, 0) : []
    for (const [index, { at, counter }] of packets.entries()) {
      if (at < this.#from) continue
      const place = this.#held.subarray(at - this.#from)
      const packet = written.length > packets.length ? undefined : written[index]
      if (packet === undefined) setPid(place, NULL_PID)
      else {
        packet[3] = 0x10 | counter
        place.set(packet)
      }
    }
  }
}

function movedMap(map: ProgramMap, moves: Moves): ProgramMap {
  const on = (pid: number): number => moves.get(pid) ?? pid
  const streams = map.streams.map((stream) => ({ ...stream, pid: on(stream.pid) }))
  return { ...map, clockPid: on(map.clockPid), streams }
}

function setPid(packet: Uint8Array, pid: number): void {
  packet[1] = (packet[1]! & 0xe0) | (pid >> 8)
  packet[2] = pid & 0xff
}

function sameMoves(one: Moves, other: Moves): boolean {
  return one.size === other.size && [...one].every(([from, to]) => other.get(from) === to)
}

/** Video and audio of the first map that goes on in another codec. */
export function changedCodecs(first: ProgramMap, map: ProgramMap): ChangedStream[] {
  return compareMaps(first, map).missing.filter(
    ({ media, codec, instead }) => media !== 'other' && instead.some((other) => other.codec !== codec),
  )
}

export function describeChange({ media, pid, codec, instead }: ChangedStream): string {
  const others = instead.map((other) => (other.pid === pid ? other.codec : `${other.codec} on PID ${other.pid}`))
  return `${media} on PID ${pid} (${codec}, then ${others.join(', ')})`
}

/** `moves`: from PIDs of `map` to the PIDs that readers see. `missing`: streams that have ended. `added`: new streams. */
function compareMaps(
  first: ProgramMap,
  map: ProgramMap,
): { moves: Moves; missing: ChangedStream[]; added: ElementaryStream[] } {
  const [kinds, kindsOfFirst] = [kindsOf(map), kindsOf(first)]
  const left = first.streams.filter(({ pid }) => kinds.get(pid) !== kindsOfFirst.get(pid))
  let added = map.streams.filter(({ pid }) => kinds.get(pid) !== kindsOfFirst.get(pid))
  const moves = new Map<number, number>()
  const missing: ElementaryStream[] = []
  for (const stream of left) {
    const kind = kindsOfFirst.get(stream.pid)
    const alike = added.filter(({ pid }) => kinds.get(pid) === kind)
    const isOnly = [kinds, kindsOfFirst].every((of) => [...of.values()].filter((each) => each === kind).length === 1)
    const found = alike.find((other) => languageOf(other) === languageOf(stream)) ?? (isOnly ? alike[0] : undefined)
    if (found === undefined) missing.push(stream)
    else {
      moves.set(found.pid, stream.pid)
      added = added.filter((other) => other !== found)
    }
  }
  // Another stream on a PID that is taken now.
  const free = [...moves.keys()].filter((pid) => ![...moves.values()].includes(pid))
  const taken = new Set(moves.values())
  for (const { pid } of added) if (taken.has(pid)) moves.set(pid, free.shift() ?? NULL_PID)
  const kindsAdded = added.map((stream) => ({ pid: stream.pid, ...elementaryKind(stream, map.descriptors) }))
  const ended = missing.map((stream) => {
    const { media, codec } = elementaryKind(stream, first.descriptors)
    const instead = kindsAdded.flatMap((other) => (other.media === media ? { pid: other.pid, codec: other.codec } : []))
    return { pid: stream.pid, media, codec, instead }
  })
  return { moves, missing: ended, added }
}

/** Media and codec by PID. */
function kindsOf({ streams, descriptors }: ProgramMap): Map<number, string> {
  return new Map(
    streams.map((stream) => {
      const { media, codec } = elementaryKind(stream, descriptors)
      return [stream.pid, `${media} ${codec}`]
    }),
  )
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
