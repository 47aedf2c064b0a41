// In charge of: reading the source's SCTE-35 cues through the loopback server.
// Not in charge of: parsing packets and sections (formats/scte35/cueScan.ts), stretches of the source (traceCues.ts), key
// frames at splice points and the PID (plan/streams/cuePlan.ts).
import { TaskError } from '#contract/taskError.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { PacketReader } from '../formats/mpegts/packet.ts'
import { CueReader, type CueTables } from '../formats/scte35/cueReader.ts'
import { CueScan, type CueFindings } from '../formats/scte35/cueScan.ts'
import type { TracedProgram } from '../formats/scte35/cueTrace.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** A PMT is sent at least every 0.5 s; at 100 Mb/s that is a sixth of this. */
const HEAD_BYTES = 40 * 1024 * 1024

/** `startSeconds`: the time in the source at which the outputs begin. null = no source that can have cues. */
export function programOfCues({ video, formats, program }: MediaInfo, startSeconds: number): TracedProgram | null {
  if (video === null || video.id === null || !formats.includes('mpegts')) return null
  return { videoPid: video.id, program: program?.number ?? null, origin: Math.round(startSeconds * TICKS_PER_SECOND) }
}

/**
 * Reads the whole source once. `startSeconds`: as in `programOfCues`. null = the first bytes show that the source has no
 * cues; the rest is then not read.
 */
export async function findCues(
  loopback: Pick<LoopbackServer, 'read'>,
  media: MediaInfo,
  startSeconds: number,
  signal: AbortSignal,
): Promise<CueFindings | null> {
  const about = programOfCues(media, startSeconds)
  if (about === null) return null
  const scan = new CueScan(about.videoPid, about.origin, about.program)
  const reader = new PacketReader()
  let read = 0
  for await (const chunk of loopback.read(signal)) {
    for (const packet of reader.push(chunk)) scan.push(packet)
    read += chunk.length
    if (scan.isFutile || (read > HEAD_BYTES && scan.found.pids.length === 0)) return null
    if (scan.isOverLimit)
      throw new TaskError('source_damaged', 'The source has more SCTE-35 cues than any broadcast could use.')
  }
  for (const packet of reader.end()) scan.push(packet)
  return orNone(scan.found)
}

export function orNone(found: CueFindings): CueFindings | null {
  return found.cues.length === 0 ? null : found
}

/** What the first bytes say of the program's cue streams; null = it has none, and `findCues` reads no more either. */
export async function declaredCues(
  loopback: Pick<LoopbackServer, 'read'>,
  { videoPid, program }: TracedProgram,
  signal: AbortSignal,
): Promise<CueTables | null> {
  const cues = new CueReader({ videoPid, program }, () => undefined)
  const reader = new PacketReader()
  let read = 0
  for await (const chunk of loopback.read(signal)) {
    for (const packet of reader.push(chunk)) cues.pushTables(packet)
    read += chunk.length
    if (cues.known.streams.length > 0) return cues.known
    if (cues.isFutile || read > HEAD_BYTES) return null
  }
  return null
}
