// In charge of: the source's cues from the gateway, and an encoder's transport stream on its way through the injector to its file.
// Not in charge of: packets and sections (mpegts/), key frames at splice points and the PID (plan/cues.ts).
import { open } from 'node:fs/promises'
import { TaskError } from './failure.ts'
import type { Gateway } from './gateway.ts'
import { CueInjector, type InjectorOptions } from './mpegts/inject.ts'
import { PacketReader } from './mpegts/packet.ts'
import { CueScan, type CueFindings } from './mpegts/scan.ts'
import { TICKS_PER_SECOND } from './mpegts/clock.ts'
import type { MediaInfo } from './plan/media.ts'

/** A program's map comes at least every 0.5 s; at 100 Mb/s that is a sixth of this. */
const HEAD_BYTES = 40 * 1024 * 1024

/** One pass over the source, whose clock is at `startSeconds` where the outputs begin. null = it has no cues, which its first bytes tell; then no more of it is read. */
export async function findCues(
  gateway: Pick<Gateway, 'read'>,
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

/** Writes an encoder's stream with its cues to a new file. The next bytes are taken once the last ones are written. */
export async function conveyWithCues(
  stream: AsyncIterable<Uint8Array>,
  file: string,
  options: InjectorOptions,
  largestBytes: number,
): Promise<void> {
  const injector = new CueInjector(options)
  const out = await open(file, 'wx')
  let written = 0
  const write = async (bytes: Uint8Array): Promise<void> => {
    written += bytes.length
    // prlimit holds for files that ffmpeg writes, not for this one.
    if (written > largestBytes) throw new TaskError('output_too_large', 'An output exceeded its maximum size.')
    if (bytes.length > 0) await out.appendFile(bytes)
  }
  try {
    for await (const chunk of stream) await write(injector.push(chunk))
    await write(injector.end())
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
    throw new TaskError('disk_full', 'The transcoder ran out of disk space.', { cause: error })
  } finally {
    await out.close()
  }
}
