// In charge of: the source's cues from the gateway.
// Not in charge of: packets and sections (mpegts/), key frames at splice points and the PID (plan/streams/cuePlan.ts).
import { TaskError } from '#contract/taskError.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { PacketReader } from '../formats/mpegts/packet.ts'
import { CueScan, type CueFindings } from '../formats/scte35/cueScan.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** A program's map comes at least every 0.5 s; at 100 Mb/s that is a sixth of this. */
const HEAD_BYTES = 40 * 1024 * 1024

/** One pass over the source, whose clock is at `startSeconds` where the outputs begin. null = it has no cues, which its first bytes tell; then no more of it is read. */
export async function findCues(
  gateway: Pick<LoopbackServer, 'read'>,
  media: MediaInfo,
  startSeconds: number,
  signal: AbortSignal,
): Promise<CueFindings | null> {
  const pid = media.video?.id ?? null
  if (pid === null || !media.formats.includes('mpegts')) return null
  const scan = new CueScan(pid, Math.round(startSeconds * TICKS_PER_SECOND), media.program?.number ?? null)
  const reader = new PacketReader()
  let read = 0
  for await (const chunk of gateway.read(signal)) {
    for (const packet of reader.push(chunk)) scan.push(packet)
    read += chunk.length
    if (scan.isFutile || (read > HEAD_BYTES && scan.found.pids.length === 0)) return null
    if (scan.isFlooded)
      throw new TaskError('source_damaged', 'The source has more SCTE-35 cues than any broadcast could use.')
  }
  for (const packet of reader.end()) scan.push(packet)
  return scan.found.cues.length === 0 ? null : scan.found
}
