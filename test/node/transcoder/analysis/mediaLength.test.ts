import { expect, test } from 'vitest'
import { lengthsOf } from '../../../../transcoder/analysis/mediaLength.ts'
import { audioStream, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const media = mediaInfo(
  { index: 0 },
  { formats: ['mpegts'], audio: [audioStream({ index: 1 })], durationSeconds: 94_451 },
)
/** Decoding times of 25 packets a second. */
const packets = (index: number, from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `${index},${(from + n / 25).toFixed(6)},0.040000`)

test('pieces follow one another, and the jumps are named', () => {
  // ffprobe adds 2^33 ticks to what went back.
  const wrapped = 2 ** 33 / 90_000
  const found = lengthsOf(
    [...packets(0, 1000, 50), ...packets(0, 5 + wrapped, 25), ...packets(0, 4000 + wrapped, 25)].join('\n'),
    media,
  )
  expect(found.video!.durationSeconds).toBeCloseTo(4, 3)
  expect(found.clockJumps).toEqual([
    { atSeconds: expect.closeTo(2, 3), bySeconds: expect.closeTo(-997, 3) },
    { atSeconds: expect.closeTo(3, 3), bySeconds: expect.closeTo(3994, 3) },
  ])
})

test('a gap is a part of the media, and each stream has its own length', () => {
  const found = lengthsOf([...packets(0, 0, 50), ...packets(0, 7, 25), ...packets(1, 0, 250)].join('\n'), media)
  expect(found.clockJumps).toEqual([])
  expect(found.video!.durationSeconds).toBeCloseTo(8, 3)
  expect(found.audio[0]!.durationSeconds).toBeCloseTo(10, 3)
  expect(found.durationSeconds).toBeCloseTo(10, 3)
})

test('lines that say nothing are passed over', () => {
  const lines = ['', 'side data', '0,N/A,N/A', ...packets(0, 0, 25)]
  expect(lengthsOf(lines.join('\n'), media).video!.durationSeconds).toBeCloseTo(1, 3)
})

test('the last packet of audio that states no length may be short', () => {
  const lines = ['0,0.000000,N/A', '0,0.040000,N/A', '1,0.387000,N/A', '1,0.637000,N/A', '1,0.887000,N/A']
  const { video, audio } = lengthsOf(lines.join('\n'), media)
  expect(video!.durationSeconds).toBeCloseTo(0.08, 3)
  expect(audio[0]!.durationSeconds).toBeCloseTo(0.5, 3)
})
