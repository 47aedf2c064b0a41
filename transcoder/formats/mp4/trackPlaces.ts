// In charge of: where in an mp4 or QuickTime file the samples of each track lie, and when they are decoded, from its moov
// (ISO/IEC 14496-12, 8.6 and 8.7). An error makes a reader slower, never wrong.
// Not in charge of: the samples of a video that is copied (sampleList.ts), reading the file.
import { FormatError } from '../formatError.ts'
import { children, findBox, requireBox, viewOf } from './boxReader.ts'
import { expand, handlerOf, readChunks, readKeyFrames, readPositions, readSizes } from './sampleList.ts'

export interface TrackPlaces {
  handler: string
  /**
   * In the order of the file's table. Presentation times of the file, without the reordering of frames. Samples of audio that
   * all have one size (PCM: 48,000 a second) share places of up to a second.
   */
  samples: readonly { seconds: number; first: number; end: number }[]
  isKey: (sample: number) => boolean
}

/**
 * null = the file has fragments, edits that leave out more than a beginning, or more than `most` places in all tracks. Throws
 * where a box is damaged.
 */
export function readTrackPlaces(moov: Uint8Array, most: number): TrackPlaces[] | null {
  const boxes = [...children(moov, 0)]
  if (boxes.some(({ name }) => name === 'mvex')) return null
  const mvhd = requireBox(moov, 'mvhd')
  const movieScale = viewOf(mvhd).getUint32(mvhd[0] === 1 ? 20 : 12)
  const tracks: TrackPlaces[] = []
  let left = most
  for (const { name, body } of boxes) {
    if (name !== 'trak') continue
    const samples = samplesOf(body, movieScale, left)
    if (samples === null) return null
    left -= samples.length
    const keys = keyFramesOf(body, samples.length)
    tracks.push({ handler: handlerOf(body), samples, isKey: (sample) => keys === null || keys.has(sample) })
  }
  return tracks
}

/** null = every sample is one. */
function keyFramesOf(trak: Uint8Array, samples: number): Set<number> | null {
  const stss = findBox(trak, 'mdia', 'minf', 'stbl', 'stss')
  return stss === null ? null : new Set(readKeyFrames(stss, samples))
}

function samplesOf(trak: Uint8Array, movieScale: number, most: number): TrackPlaces['samples'] | null {
  const table = requireBox(trak, 'mdia', 'minf', 'stbl')
  const stsz = viewOf(requireBox(table, 'stsz'))
  if (stsz.getUint32(8) === 0) return []
  const shift = shiftOf(findBox(trak, 'edts', 'elst'), movieScale)
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  const timescale = viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
  if (timescale === 0 || movieScale === 0) throw new FormatError('damaged', 'The time scale of a track is 0.')
  const ticksPerSample = handlerOf(trak) === 'soun' ? evenSamples(table) : null
  const places =
    ticksPerSample === null ? eachSample(table, most) : joinedSamples(table, ticksPerSample, timescale, most)
  if (places === null || shift === null) return null
  return places.map(({ ticks, first, end }) => {
    return { seconds: (ticks - shift.skippedTicks) / timescale + shift.emptySeconds, first, end }
  })
}

interface Place {
  ticks: number
  first: number
  end: number
}

function eachSample(table: Uint8Array, most: number): Place[] | null {
  const sizes = readSizes(viewOf(requireBox(table, 'stsz')), most)
  const durations = sizes === null ? null : expand(requireBox(table, 'stts'), sizes.length)
  const positions = sizes === null ? null : readPositions(table, sizes)
  if (sizes === null || durations === null || positions === null) return null
  let next = 0
  return positions.map((first, sample) => {
    const ticks = next
    next += durations[sample]!
    return { ticks, first, end: first + sizes[sample]! }
  })
}

/** Ticks of each sample where all have one size and one duration, so that no list of them is needed. null = they have not. */
function evenSamples(table: Uint8Array): number | null {
  const [stsz, stts] = [viewOf(requireBox(table, 'stsz')), viewOf(requireBox(table, 'stts'))]
  const isEven = stsz.getUint32(4) > 0 && stts.getUint32(4) === 1 && stts.getUint32(8) === stsz.getUint32(8)
  const ticks = isEven ? stts.getUint32(12) : 0
  return ticks === 0 ? null : ticks
}

function joinedSamples(table: Uint8Array, ticksPerSample: number, timescale: number, most: number): Place[] | null {
  const stsz = viewOf(requireBox(table, 'stsz'))
  const [bytes, count] = [stsz.getUint32(4), stsz.getUint32(8)]
  const perPlace = Math.max(1, Math.floor(timescale / ticksPerSample))
  const places: Place[] = []
  let sample = 0
  for (const { first, samples } of readChunks(table)) {
    const end = Math.min(count, sample + samples)
    const begin = sample
    for (; sample < end; sample = Math.min(end, sample + perPlace)) {
      if (places.length === most) return null
      const at = first + (sample - begin) * bytes
      const joined = Math.min(perPlace, end - sample)
      places.push({ ticks: sample * ticksPerSample, first: at, end: at + joined * bytes })
    }
    if (sample === count) return places
  }
  return null
}

/** 8.6.6: empty edits, then one of media. */
function shiftOf(elst: Uint8Array | null, movieScale: number): { emptySeconds: number; skippedTicks: number } | null {
  if (elst === null) return { emptySeconds: 0, skippedTicks: 0 }
  const view = viewOf(elst)
  const isLong = elst[0] === 1
  const count = view.getUint32(4)
  let emptySeconds = 0
  for (let edit = 0; edit < count; edit += 1) {
    const at = 8 + edit * (isLong ? 20 : 12)
    const lasts = isLong ? Number(view.getBigUint64(at)) : view.getUint32(at)
    const from = isLong ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4)
    if (from >= 0) return edit === count - 1 ? { emptySeconds, skippedTicks: from } : null
    emptySeconds += lasts / movieScale
  }
  return null
}
