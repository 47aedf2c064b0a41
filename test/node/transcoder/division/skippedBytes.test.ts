// In charge of: which bytes of a file hold pictures alone.
// Not in charge of: reading it without them (source/expectedBytes.test.ts, pipeline/sourceBytes.long.test.ts).
import { expect, test } from 'vitest'
import { videoBytes } from '../../../../transcoder/division/expectedBytes.ts'
import type { TrackPlaces } from '../../../../transcoder/formats/mp4/trackPlaces.ts'

const MIB = 1024 * 1024

/** Positions and ends in MiB. */
function track(handler: string, ...samples: readonly (readonly [number, number])[]): TrackPlaces {
  const places = samples.map(([first, end]) => ({ seconds: 0, first: first * MIB, end: end * MIB }))
  return { handler, samples: places, isKey: () => true }
}

const found = (...tracks: TrackPlaces[]) => videoBytes(tracks).map(({ first, last }) => [first / MIB, (last + 1) / MIB])

test('frames that follow each other are one range, behind what ffmpeg probes', () => {
  const video = track('vide', [0, 3], [3, 10], [11, 12], [12, 13], [14, 14.125], [15, 16])
  expect(found(video, track('soun', [10, 11], [13, 14]))).toEqual([
    [5, 10],
    [11, 13],
    [15, 16],
  ])
  expect(found(track('soun', [10, 11]))).toEqual([])
})

test('no byte of another track is in it, also where a damaged index lets tracks overlap', () => {
  const video = track('vide', [10, 20], [18, 30])
  expect(found(video, track('soun', [12, 13], [19, 22], [12.5, 14]), track('text', [29.5, 31]))).toEqual([
    [10, 12],
    [14, 19],
    [22, 29.5],
  ])
  expect(found(video, track('soun', [0, 40]))).toEqual([])
})
