// In charge of: the samples of the video track of an mp4 or QuickTime file, from its moov: times, sizes, positions, sync samples
// (ISO/IEC 14496-12, 8.6 and 8.7).
// Not in charge of: finding the moov, reading the samples (transcoder/analysis/surveyIndex.ts).
import { FormatError } from '../formatError.ts'
import { boxType, children, findBox, requireBox, viewOf } from './boxReader.ts'
import { VISUAL_ENTRY } from './initSegment.ts'

/** In decoding order. Times in ticks of `timescale`. */
export interface SampleList {
  codec: 'h264' | 'hevc'
  timescale: number
  /** When each sample is shown, with the edit list applied. */
  shown: number[]
  durations: number[]
  sizes: number[]
  /** The first byte of each sample in the file. */
  positions: number[]
  /** Indexes of the sync samples. */
  keyFrames: number[]
  /** Bytes of the length field before each NAL unit. */
  nalLengthBytes: number
}

const CODECS: Readonly<Record<string, { codec: SampleList['codec']; config: string; lengthAt: number }>> = {
  avc1: { codec: 'h264', config: 'avcC', lengthAt: 4 },
  avc3: { codec: 'h264', config: 'avcC', lengthAt: 4 },
  hvc1: { codec: 'hevc', config: 'hvcC', lengthAt: 21 },
  hev1: { codec: 'hevc', config: 'hvcC', lengthAt: 21 },
}

/**
 * `moov`: the body of the box. null = the file says more than these tables (fragments, several video tracks, edits that
 * leave out, repeat or delay a part, a change of the coding, random access points that are no sync samples), or they
 * contradict each other. Throws FormatError where a box is damaged.
 */
export function readSampleList(moov: Uint8Array, maxSamples: number): SampleList | null {
  const boxes = [...children(moov, 0)]
  if (boxes.some(({ name }) => name === 'mvex')) return null
  const tracks = boxes.filter(({ name, body }) => name === 'trak' && handlerOf(body) === 'vide')
  const [track] = tracks
  if (track === undefined || tracks.length > 1) return null
  const table = requireBox(track.body, 'mdia', 'minf', 'stbl')
  if ([...children(table, 0)].some(({ name }) => name === 'stps' || name === 'sbgp')) return null
  const entries = [...children(requireBox(table, 'stsd'), 8)]
  const [entry] = entries
  const kind = entry === undefined || entries.length > 1 ? undefined : CODECS[entry.name]
  if (entry === undefined || kind === undefined) return null
  const config = findBox(entry.body.subarray(VISUAL_ENTRY), kind.config)
  const lengthByte = config?.[kind.lengthAt]
  if (lengthByte === undefined) return null

  const sizes = readSizes(viewOf(requireBox(table, 'stsz')), maxSamples)
  if (sizes === null) return null
  const durations = expand(requireBox(table, 'stts'), sizes.length)
  const compositions = findBox(table, 'ctts')
  const offsets = compositions === null ? sizes.map(() => 0) : expand(compositions, sizes.length)
  const positions = readPositions(table, sizes)
  const keyFrames = readKeyFrames(findBox(table, 'stss'), sizes.length)
  if (durations === null || offsets === null || positions === null || keyFrames === null) return null
  // A sample without a duration would make decoding times stand still.
  if (durations.some((ticks) => ticks <= 0)) return null

  let decoded = 0
  const shown = durations.map((ticks, sample) => {
    const time = decoded + offsets[sample]!
    decoded += ticks
    return time
  })
  const { timescale, skipped } = readTiming(moov, track.body, shown, durations)
  if (skipped === null) return null
  return {
    codec: kind.codec,
    timescale,
    shown: shown.map((time) => time - skipped),
    durations,
    sizes,
    positions,
    keyFrames,
    nalLengthBytes: (lengthByte & 3) + 1,
  }
}

export function handlerOf(trak: Uint8Array): string {
  return boxType(requireBox(trak, 'mdia', 'hdlr'), 8)
}

/** 8.7.3. null = too many, or one is empty. */
export function readSizes(stsz: DataView, maxSamples: number): number[] | null {
  const [same, count] = [stsz.getUint32(4), stsz.getUint32(8)]
  if (count === 0 || count > maxSamples) return null
  const sizes = Array.from({ length: count }, (_, sample) => (same === 0 ? stsz.getUint32(12 + sample * 4) : same))
  return sizes.includes(0) ? null : sizes
}

/** 8.6.1: pairs of a count and a signed value. null = they are not for all samples. */
export function expand(box: Uint8Array, samples: number): number[] | null {
  const view = viewOf(box)
  const values: number[] = []
  for (let entry = 0, at = 8; entry < view.getUint32(4); entry++, at += 8) {
    const value = view.getInt32(at + 4)
    let left = view.getUint32(at)
    if (values.length + left > samples) return null
    for (; left > 0; left--) values.push(value)
  }
  return values.length === samples ? values : null
}

/** 8.7.4 and 8.7.5. null = the chunks do not hold all samples. */
export function readPositions(table: Uint8Array, sizes: readonly number[]): number[] | null {
  const positions: number[] = []
  for (const { first, samples } of readChunks(table)) {
    let at = first
    for (let left = samples; left > 0 && positions.length < sizes.length; left--) {
      const size = sizes[positions.length]!
      positions.push(at)
      at += size
    }
    if (positions.length === sizes.length) return positions
  }
  return null
}

/** 8.7.4 and 8.7.5: where each chunk begins, and its number of samples. */
export function* readChunks(table: Uint8Array): Generator<{ first: number; samples: number }> {
  const runs = viewOf(requireBox(table, 'stsc'))
  const short = findBox(table, 'stco')
  const chunks = viewOf(short ?? requireBox(table, 'co64'))
  const runCount = runs.getUint32(4)
  let run = -1
  for (let chunk = 1; chunk <= chunks.getUint32(4); chunk++) {
    while (run + 1 < runCount && runs.getUint32(8 + (run + 1) * 12) <= chunk) run += 1
    if (run < 0) return
    const first = short === null ? Number(chunks.getBigUint64(chunk * 8)) : chunks.getUint32(4 + chunk * 4)
    yield { first, samples: runs.getUint32(12 + run * 12) }
  }
}

/** 8.6.2; without the box, every sample is a sync sample. null = numbers that are no samples. */
export function readKeyFrames(stss: Uint8Array | null, samples: number): number[] | null {
  if (stss === null) return Array.from({ length: samples }, (_, sample) => sample)
  const view = viewOf(stss)
  const count = view.getUint32(4)
  if (count === 0 || count > samples) return null
  const found = Array.from({ length: count }, (_, at) => view.getUint32(8 + at * 4) - 1)
  const rises = found.every((sample, at) => sample < samples && sample > (found[at - 1] ?? -1))
  return rises ? found : null
}

/** 8.6.6. `skipped`: ticks before the first sample that is shown; null = the edits leave out more than those. */
function readTiming(
  moov: Uint8Array,
  trak: Uint8Array,
  shown: readonly number[],
  durations: readonly number[],
): { timescale: number; skipped: number | null } {
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  const timescale = viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
  if (timescale === 0) throw new FormatError('damaged', 'The time scale of a track is 0.')
  const elst = findBox(trak, 'edts', 'elst')
  if (elst === null) return { timescale, skipped: 0 }
  const view = viewOf(elst)
  if (view.getUint32(4) !== 1) return { timescale, skipped: null }
  const isLong = elst[0] === 1
  const lasts = isLong ? Number(view.getBigUint64(8)) : view.getUint32(8)
  const from = isLong ? Number(view.getBigInt64(16)) : view.getInt32(12)
  const rate = view.getInt32(isLong ? 24 : 16)
  const mvhd = requireBox(moov, 'mvhd')
  const movieScale = viewOf(mvhd).getUint32(mvhd[0] === 1 ? 20 : 12)
  const first = shown.reduce((least, time) => Math.min(least, time), Infinity)
  const end = shown.reduce((latest, time, sample) => Math.max(latest, time + durations[sample]!), -Infinity)
  // The end is rounded to the time scale of the movie. A duration of 0 stands for the duration of the media.
  const isWhole = lasts === 0 || (lasts + 1) / movieScale >= (end - from) / timescale
  return { timescale, skipped: rate === 0x10000 && from === first && isWhole ? from : null }
}
