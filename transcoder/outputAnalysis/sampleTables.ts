// In charge of: reading the sample tables of a finished mp4: bytes of each track, and bytes per second (ISO/IEC
// 14496-12, 8.6 and 8.7).
// Not in charge of: whether the file is complete (mp4FileCheck.ts), fragmented files.
import { open } from 'node:fs/promises'
import type { Box } from '../mp4FileCheck.ts'
import { children, findBox, boxType, requireBox, viewOf } from '../formats/mp4/boxReader.ts'
import { VISUAL_ENTRY } from '../formats/mp4/initSegment.ts'
import { avcFrom, hevcFrom } from '../formats/mp4/codecConfig.ts'
import type { MediaCounts, TrackCount } from '../formats/metering/byteCounts.ts'
import { BytesPerSecond } from '../formats/metering/bytesPerSecond.ts'

/** Enough for a day with 60 frames per second; larger headers are not written by this service. */
const MAX_MOOV = 256 * 1024 * 1024

/** Null if there is no readable header. Throws FormatError if it is damaged. */
export async function countSamples(path: string, boxes: readonly Box[]): Promise<MediaCounts | null> {
  const box = boxes.find(({ type }) => type === 'moov')
  if (box === undefined || box.size > MAX_MOOV) return null
  const moov = Buffer.alloc(box.size)
  const file = await open(path, 'r')
  try {
    await file.read(moov, 0, box.size, box.offset)
  } finally {
    await file.close()
  }
  const seconds = new BytesPerSecond()
  const tracks = [...children(moov, 8)]
    .filter(({ name }) => name === 'trak')
    .map(({ body }) => countTrack(body, seconds))
  return { tracks, seconds, codecString: tracks.find(({ codec }) => codec !== null)?.codec ?? null }
}

function countTrack(trak: Uint8Array, seconds: BytesPerSecond): TrackCount & { codec: string | null } {
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  const timescale = viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
  const table = requireBox(trak, 'mdia', 'minf', 'stbl')
  const stts = viewOf(requireBox(table, 'stts'))
  const stsz = viewOf(requireBox(table, 'stsz'))
  // 8.7.3.2: 0 = each sample has a size of its own.
  const [same, count] = [stsz.getUint32(4), stsz.getUint32(8)]
  let bytes = 0
  let time = 0
  let sample = 0
  for (let entry = 0, at = 8; entry < stts.getUint32(4); entry++, at += 8) {
    const delta = stts.getUint32(at + 4)
    for (let left = stts.getUint32(at); left > 0 && sample < count; left--, sample++) {
      const size = same === 0 ? stsz.getUint32(12 + sample * 4) : same
      seconds.add(time / timescale, size)
      bytes += size
      time += delta
    }
  }
  return { id: null, bytes, seconds: time / timescale, codec: codecOf(trak) }
}

/** The RFC 6381 codec string of a video track, if it has one. */
function codecOf(trak: Uint8Array): string | null {
  if (boxType(requireBox(trak, 'mdia', 'hdlr'), 8) !== 'vide') return null
  const entry = children(requireBox(trak, 'mdia', 'minf', 'stbl', 'stsd'), 8).next().value
  const boxes = entry?.body.subarray(VISUAL_ENTRY) ?? new Uint8Array()
  const avc = entry?.name === 'avc1' ? findBox(boxes, 'avcC') : null
  const hevc = entry?.name === 'hvc1' ? findBox(boxes, 'hvcC') : null
  return avc === null ? (hevc === null ? null : hevcFrom(hevc).codec) : avcFrom(avc).codec
}
