// In charge of: where in an mp4 or QuickTime file the samples of each track lie, and when they are decoded, from its moov
// (ISO/IEC 14496-12, 8.6 and 8.7). An error makes a reader slower, never wrong.
// Not in charge of: the samples of a video that is copied (sampleList.ts), reading the file.
import { FormatError } from '../formatError.ts'
import { children, findBox, requireBox, viewOf } from './boxReader.ts'
import { expand, handlerOf, readKeyFrames, readPositions, readSizes } from './sampleList.ts'

export interface TrackPlaces {
  handler: string
  /** In the order of the file's table. Presentation times of the file, without the reordering of frames. */
  samples: readonly { seconds: number; first: number; end: number }[]
  isKey: (sample: number) => boolean
}

/** null = the file has fragments, or edits that leave out more than a beginning. Throws where a box is damaged. */
export function readTrackPlaces(moov: Uint8Array, maxSamples: number): TrackPlaces[] | null {
  const boxes = [...children(moov, 0)]
  if (boxes.some(({ name }) => name === 'mvex')) return null
  const mvhd = requireBox(moov, 'mvhd')
  const movieScale = viewOf(mvhd).getUint32(mvhd[0] === 1 ? 20 : 12)
  const tracks: TrackPlaces[] = []
  for (const { name, body } of boxes) {
    if (name !== 'trak') continue
    const samples = samplesOf(body, movieScale, maxSamples)
    if (samples === null) return null
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

function samplesOf(trak: Uint8Array, movieScale: number, maxSamples: number): TrackPlaces['samples'] | null {
  const table = requireBox(trak, 'mdia', 'minf', 'stbl')
  const stsz = viewOf(requireBox(table, 'stsz'))
  if (stsz.getUint32(8) === 0) return []
  const sizes = readSizes(stsz, maxSamples)
  const durations = sizes === null ? null : expand(requireBox(table, 'stts'), sizes.length)
  const positions = sizes === null ? null : readPositions(table, sizes)
  const shift = shiftOf(findBox(trak, 'edts', 'elst'), movieScale)
  const mdhd = requireBox(trak, 'mdia', 'mdhd')
  const timescale = viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
  if (timescale === 0 || movieScale === 0) throw new FormatError('damaged', 'The time scale of a track is 0.')
  if (sizes === null || durations === null || positions === null || shift === null) return null
  let ticks = 0
  return positions.map((first, sample) => {
    const seconds = (ticks - shift.skippedTicks) / timescale + shift.emptySeconds
    ticks += durations[sample]!
    return { seconds, first, end: first + sizes[sample]! }
  })
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
