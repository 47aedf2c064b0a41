// In charge of: reading the source's SCTE-35 cues through the loopback server.
// Not in charge of: parsing packets and sections (formats/scte35/cueScan.ts), key frames at splice points and the PID
// (plan/streams/cuePlan.ts).
import { TaskError } from '#contract/taskError.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { PacketReader } from '../formats/mpegts/packet.ts'
import { CueScan, type CueFindings } from '../formats/scte35/cueScan.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** A PMT is sent at least every 0.5 s; at 100 Mb/s that is a sixth of this. */
const HEAD_BYTES = 40 * 1024 * 1024

/**
 * Reads the whole source once. `startSeconds`: the time in the source at which the outputs begin. null = the first
 * bytes show that the source has no cues; the rest is then not read.
 */
export async function findCues(
  loopback: Pick<LoopbackServer, 'read'>,
  media: MediaInfo,
  startSeconds: number,
  signal: AbortSignal,
): Promise<CueFindings | null> {
  const pid = media.video?.id ?? null
  if (pid === null || !media.formats.includes('mpegts')) return null
  const scan = new CueScan(pid, Math.round(startSeconds * TICKS_PER_SECOND), media.program?.number ?? null)
  const reader = new PacketReader()
  let read = 0
  for await (const block of loopback.read(signal)) {
    for (const packet of reader.push(block)) scan.push(packet)
    read += block.length
    if (scan.isFutile || (read > HEAD_BYTES && scan.found.pids.length === 0)) return null
    if (scan.isOverLimit)
      throw new TaskError('source_damaged', 'The source has more SCTE-35 cues than any broadcast could use.')
  }
  for (const packet of reader.end()) scan.push(packet)
  return scan.found.cues.length === 0 ? null : scan.found
}
