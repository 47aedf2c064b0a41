// In charge of: the languages that a transport stream states for its captions, from its first bytes.
// Not in charge of: parsing the descriptor (formats/mpegts/captionServiceDescriptor.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { captionLanguages } from '../formats/mpegts/captionServiceDescriptor.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { PacketReader, pidOf } from '../formats/mpegts/packet.ts'
import { SectionAssembler } from '../formats/mpegts/section.ts'
import { readPat, readPmt } from '../formats/mpegts/programTables.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** A PMT is sent at least every 0.5 s; at 100 Mb/s that is a sixth of this. */
const HEAD_BYTES = 40 * 1024 * 1024

/** Adds the caption languages to the source if the captions are written to files. */
export async function withCaptionLanguages(
  loopback: Pick<LoopbackServer, 'read'>,
  spec: JobSpec,
  media: MediaInfo,
  signal: AbortSignal,
): Promise<MediaInfo> {
  const { video } = media
  if (video?.closedCaptions !== true || spec.closedCaptions !== true || spec.packaging === null) return media
  return { ...media, video: { ...video, captionLanguages: await findLanguages(loopback, media, signal) } }
}

/** ISO 639-2 by channel; empty for any other container, and if none is stated. */
async function findLanguages(
  loopback: Pick<LoopbackServer, 'read'>,
  media: MediaInfo,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const pid = media.video?.id ?? null
  if (pid === null || !media.formats.includes('mpegts')) return {}
  const tables = new Map([[0, new SectionAssembler()]])
  const reader = new PacketReader()
  let read = 0
  for await (const block of loopback.read(signal)) {
    for (const packet of reader.push(block))
      for (const section of tables.get(pidOf(packet))?.push(packet) ?? []) {
        for (const table of readPat(section)?.values() ?? [])
          if (!tables.has(table)) tables.set(table, new SectionAssembler())
        const map = readPmt(section)
        const isOurs = media.program === null || map?.program === media.program.number
        if (map !== null && isOurs && map.streams.some((stream) => stream.pid === pid))
          return captionLanguages(map, pid)
      }
    read += block.length
    if (read > HEAD_BYTES) break
  }
  return {}
}
