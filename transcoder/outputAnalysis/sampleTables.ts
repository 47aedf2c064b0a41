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
  const moov = await readMoov(path, boxes)
  if (moov === null) return null
  const seconds = new BytesPerSecond()
  const tracks = tracksOf(moov).map((trak) => countTrack(trak, seconds))
  return { tracks, seconds, codecString: tracks.find(({ codec }) => codec !== null)?.codec ?? null }
}

/**
 * For each audio track: the packets that are shorter than a quarter of most of them, and when the first one begins. The
 * last packet is left out.
 */
export async function shortPackets(
  path: string,
  boxes: readonly Box[],
): Promise<{ count: number; firstSeconds: number }[]> {
  const moov = await readMoov(path, boxes)
  return moov === null ? [] : tracksOf(moov).flatMap((trak) => (handlerOf(trak) === 'soun' ? [shortIn(trak)] : []))
}

function shortIn(trak: Uint8Array): { count: number; firstSeconds: number } {
  const stts = viewOf(requireBox(trak, 'mdia', 'minf', 'stbl', 'stts'))
  const runs = Array.from({ length: stts.getUint32(4) }, (_, index) => ({
    packets: stts.getUint32(8 + index * 8),
    length: stts.getUint32(12 + index * 8),
  }))
  const usual = runs.reduce((most, run) => (run.packets > most.packets ? run : most), { packets: 0, length: 0 }).length
  const found = { count: 0, firstSeconds: 0 }
  let time = 0
  for (const { packets, length } of runs.slice(0, -1)) {
    if (length * 4 < usual) {
      if (found.count === 0) found.firstSeconds = time / timescaleOf(trak)
      found.count += packets
    }
    time += packets * length
  }
  return found
}

async function readMoov(path: string, boxes: readonly Box[]): Promise<Uint8Array | null> {
  const box = boxes.find(({ type }) => type === 'moov')
  if (box === undefined || box.size > MAX_MOOV) return null
  const moov = Buffer.alloc(box.size)
  const file = await open(path, 'r')
  try {
    await file.read(moov, 0, box.size, box.offset)
  } finally {
    await file.close()
  }
  return moov
}

function tracksOf(moov: Uint8Array): Uint8Array[] {
  return [...children(moov, 8)].filter(({ name }) => name === 'trak').map(({ body }) => body)
}

function handlerOf(trak: Uint8Array): string {
  return boxType(requireBox(trak, 'mdia', 'hdlr'), 8)
}

function timescaleOf(trak: Uint8Array): number {
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  return viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
}

function countTrack(trak: Uint8Array, seconds: BytesPerSecond): TrackCount & { codec: string | null } {
  const timescale = timescaleOf(trak)
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
  if (handlerOf(trak) !== 'vide') return null
  const entry = children(requireBox(trak, 'mdia', 'minf', 'stbl', 'stsd'), 8).next().value
  const boxes = entry?.body.subarray(VISUAL_ENTRY) ?? new Uint8Array()
  const avc = entry?.name === 'avc1' ? findBox(boxes, 'avcC') : null
  const hevc = entry?.name === 'hvc1' ? findBox(boxes, 'hvcC') : null
  return avc === null ? (hevc === null ? null : hevcFrom(hevc).codec) : avcFrom(avc).codec
}
