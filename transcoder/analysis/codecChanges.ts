// In charge of: places of a transport stream from which its program map has another codec for one of its streams.
// Not in charge of: reading it in pieces from there on (pipeline/join/sourcePieces.ts).
import { isPayloadStart, PacketReader, PAT_PID, pidOf } from '../formats/mpegts/packet.ts'
import { readPat, readPmt, type ProgramMap } from '../formats/mpegts/programTables.ts'
import { SectionAssembler } from '../formats/mpegts/section.ts'
import { changedCodecs, type ChangedStream } from '../formats/mpegts/stableMap.ts'
import type { ReadBytes } from './transportSeek.ts'

export interface CodecChange {
  /** Position of the new map: streams of the old codecs go on until then. */
  until: number
  /** Position of the table that names the map. */
  from: number
  streams: ChangedStream[]
}

/** Places at which the map is looked at. */
const LOOKS = 8
/** Tables come ten times a second, or twice. */
const LOOK_BYTES = 256 * 1024
const MOST_LOOK_BYTES = 4 * 1024 * 1024
const MOST_CHANGES = 20

interface FoundMap {
  at: number
  /** Position of the program association table before it. */
  from: number
  isOnly: boolean
  map: ProgramMap
}

/** In order. A change that is undone between two looks is not found; nor is any in a stream of several programs. */
export async function findCodecChanges(read: ReadBytes, size: number): Promise<CodecChange[]> {
  const head = await mapsFrom(read, 0, size)
  if (head[0]?.isOnly !== true) return []
  const places = Array.from({ length: LOOKS }, (_, look) => Math.floor(((size - LOOK_BYTES) * (look + 1)) / LOOKS))
  const looks = await Promise.all(places.filter((at) => at > 0).map((at) => mapsFrom(read, at, size)))
  const changes: CodecChange[] = []
  let last = head[0]
  for (const next of [head, ...looks].flat()) {
    if (next.at <= last.at) continue
    while (changedCodecs(last.map, next.map).length > 0 && changes.length < MOST_CHANGES) {
      const change = await firstChange(read, last, next)
      changes.push({ until: change.at, from: change.from, streams: changedCodecs(last.map, change.map) })
      last = change
    }
    last = next
  }
  return changes
}

/** The first map after one with which a codec changes. `to`: a later one that has changed. */
async function firstChange(read: ReadBytes, { map, from }: FoundMap, to: FoundMap): Promise<FoundMap> {
  const isChange = (other: FoundMap): boolean => changedCodecs(map, other.map).length > 0
  let changed = to
  let [low, high] = [from, to.at]
  while (high - low > LOOK_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const [found] = await mapsFrom(read, middle, high)
    if (found !== undefined && !isChange(found)) low = found.from
    else {
      high = middle
      changed = found ?? changed
    }
  }
  return mapsIn(await read(low, changed.at - low), low).find(isChange) ?? changed
}

/** The maps of a look; of a larger one if there are none. */
async function mapsFrom(read: ReadBytes, at: number, end: number): Promise<FoundMap[]> {
  for (let count = LOOK_BYTES; count <= MOST_LOOK_BYTES; count *= 4) {
    const maps = mapsIn(await read(at, Math.min(count, end - at)), at)
    if (maps.length > 0 || at + count >= end) return maps
  }
  return []
}

function mapsIn(bytes: Uint8Array, first: number): FoundMap[] {
  const reader = new PacketReader()
  const tables = new Map([[PAT_PID, new SectionAssembler()]])
  const maps: FoundMap[] = []
  const named = { from: first, isOnly: true }
  const take = (packet: Uint8Array): void => {
    // Of two recordings: the second one's may look like the first one's sent twice.
    if (pidOf(packet) === PAT_PID && isPayloadStart(packet)) named.from = first + reader.position
    for (const section of tables.get(pidOf(packet))?.push(packet) ?? []) {
      const programs = readPat(section)
      const map = readPmt(section)
      if (programs !== null) named.isOnly = programs.size === 1
      for (const pid of programs?.values() ?? []) if (!tables.has(pid)) tables.set(pid, new SectionAssembler())
      if (map !== null) maps.push({ at: first + reader.position, map, ...named })
    }
  }
  for (const packet of reader.push(bytes)) take(packet)
  for (const packet of reader.end()) take(packet)
  return maps
}
