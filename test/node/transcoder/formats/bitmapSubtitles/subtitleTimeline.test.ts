// In charge of: from when to when bitmap subtitles are shown: time-outs, repeats, clocks that wrap, the part of the source.
// Not in charge of: the images.
import { expect, test } from 'vitest'
import type { DisplaySet } from '../../../../../transcoder/formats/bitmapSubtitles/displaySet.ts'
import { SubtitleTimeline } from '../../../../../transcoder/formats/bitmapSubtitles/subtitleTimeline.ts'

const PERIOD = 2 ** 33
const canvas = { width: 720, height: 576 }

function set(name: number | null, timeoutSeconds: number | null = null): DisplaySet {
  const image = { x: 0, y: 0, width: 1, height: 1, pixels: Uint8Array.of(name ?? 0), palette: new Uint8Array(1024) }
  return { canvas, images: name === null ? [] : [image], timeoutSeconds }
}

/** `[name, start, end]` of each, in seconds without the tolerance of 2 ms. */
function shown(
  sets: [seconds: number, set: DisplaySet][],
  { startSeconds = 0, seconds = null }: { startSeconds?: number; seconds?: number | null } = {},
): [number, number, number | null][] {
  const timeline = new SubtitleTimeline({ startSeconds, seconds, clockPeriod: PERIOD })
  const ticks = (time: number): number => (Math.round(time * 90_000) + 2 * PERIOD) % PERIOD
  const all = [...sets.flatMap(([time, each]) => timeline.push(ticks(time), each)), ...timeline.end()]
  const exact = (time: number): number => (time === 0 ? 0 : Math.round((time + 0.002) * 1000) / 1000)
  return all.map(({ images, start, end }) => [images[0]!.pixels[0]!, exact(start), end === null ? null : exact(end)])
}

test.each<[string, Parameters<typeof shown>, ReturnType<typeof shown>]>([
  [
    'until the next one',
    [
      [
        [1, set(1)],
        [2, set(2)],
        [3, set(null)],
      ],
    ],
    [
      [1, 1, 2],
      [2, 2, 3],
    ],
  ],
  ['to the end', [[[1, set(1)]]], [[1, 1, null]]],
  [
    'until a time-out',
    [
      [
        [1, set(1, 2)],
        [5, set(2, 2)],
        [6, set(null, 2)],
      ],
    ],
    [
      [1, 1, 3],
      [2, 5, 6],
    ],
  ],
  [
    'repeated before the time-out',
    [
      [
        [1, set(1, 2)],
        [2.5, set(1, 2)],
      ],
    ],
    [[1, 1, 4.5]],
  ],
  [
    'repeated after the time-out',
    [
      [
        [1, set(1, 2)],
        [4, set(1, 2)],
      ],
    ],
    [
      [1, 1, 3],
      [1, 4, 6],
    ],
  ],
  [
    'begun before the part',
    [
      [
        [1, set(1)],
        [12, set(null)],
      ],
      { startSeconds: 10 },
    ],
    [[1, 0, 2]],
  ],
  [
    'before the part, and after it',
    [
      [
        [1, set(1)],
        [2, set(2, 1)],
        [14, set(3)],
      ],
      { startSeconds: 10, seconds: 3 },
    ],
    [],
  ],
  [
    'over the end of the part',
    [
      [
        [12, set(1)],
        [14, set(null)],
      ],
      { startSeconds: 10, seconds: 3 },
    ],
    [[1, 2, null]],
  ],
  [
    'a source whose clock wraps',
    [
      [
        [95_443.5, set(1)],
        [95_444.5, set(null)],
        [95_446, set(2, 1)],
      ],
      { startSeconds: 95_440 },
    ],
    [
      [1, 3.5, 4.5],
      [2, 6, 7],
    ],
  ],
  [
    'a packet that goes back in time',
    [
      [
        [3, set(1)],
        [1, set(2)],
        [5, set(null)],
      ],
    ],
    [[2, 3, 5]],
  ],
])('%s', (_name, given, expected) => {
  expect(shown(...given)).toEqual(expected)
})
