// In charge of: size, aspect ratio, rotation and bars.
import { colorsAt, cornerPoints } from '../../support/media/testCard.ts'
import { probeStream } from '../../support/media/media.ts'
import { measurement, type JobChange, type Row } from '../row.ts'

type Profile = Record<string, unknown>
const job = (change: Record<string, unknown>, profile: Profile = {}): JobChange => ({
  audioProfiles: [],
  ...change,
  videoProfiles: [{ video_bitrate: 1500, ...profile }],
})

/** Bitrates that every codec level allows at that size. */
const vast = { video_bitrate: 20_000 }

function sizeRow(side: 'width' | 'height', value: number, profile: Profile, size: string, row: Partial<Row> = {}): Row {
  return {
    path: `videoProfiles[].${side}`,
    value,
    expected: size,
    job: job({}, profile),
    source: 'single',
    quick: true,
    measure: async (bench) => {
      const { width, height } = await probeStream(await bench.file(), 'video')
      return measurement(`${width}x${height}`, `${width}x${height}` === size)
    },
    ...row,
  }
}

const sizes: Row[] = [
  sizeRow('width', 0, { width: 0, height: 0 }, '320x180'),
  sizeRow('width', 0, { width: 0, height: 90 }, '160x90'),
  sizeRow('width', 16, { width: 16, height: 16, video_bitrate: 100 }, '16x16'),
  sizeRow('width', 7680, { width: 7680, height: 16, video_bitrate: 2500 }, '7680x16', { quick: false }),
  sizeRow('width', 321, { width: 321, height: 180 }, '320x180'),
  sizeRow('height', 0, { width: 640, height: 0 }, '640x360'),
  sizeRow('height', 16, { width: 320, height: 16 }, '320x16'),
  sizeRow('height', 4320, { width: 7680, height: 4320, ...vast }, '7680x4320', { quick: false }),
]

const UPRIGHT = ['red', 'green', 'blue', 'white']
const CLOCKWISE = ['blue', 'red', 'white', 'green']
const COUNTERCLOCKWISE = ['green', 'white', 'red', 'blue']
const LEFT_RIGHT: [number, number][] = [
  [0.02, 0.5],
  [0.97, 0.5],
]
const TOP_BOTTOM: [number, number][] = [
  [0.25, 0.02],
  [0.25, 0.97],
]

interface Look {
  /** Display aspect ratio, and sample aspect ratio. */
  shape: [string, string]
  /** Colours of the quarters by rows, then columns: top left, top right, bottom left, bottom right. */
  quarters: string[]
  /** The part of the frame that the video fills. */
  part?: { width?: number; height?: number }
  /** Colour and position of the bars; without it the video must fill the whole frame. */
  bars?: [color: string, places: [number, number][]]
}

function look(path: string, value: unknown, asked: JobChange, wanted: Look, row: Partial<Row> = {}): Row {
  const [display, samples] = wanted.shape
  const [color, places] = wanted.bars ?? ['no', [...LEFT_RIGHT, ...TOP_BOTTOM]]
  return {
    path,
    value,
    expected: `displayed ${display}, quarters ${wanted.quarters.join(' ')}, ${color} bars`,
    job: asked,
    source: 'card',
    quick: asked['video_codec'] === undefined,
    measure: async (bench) => {
      const file = await bench.file()
      const shown = await probeStream(file, 'video')
      const quarters = await colorsAt(file, cornerPoints(wanted.part))
      const edges = [...new Set(await colorsAt(file, places))]
      const bars = color === 'no' ? !edges.includes('black') : edges.join() === color
      const words = color === 'no' ? (bars ? 'no bars' : 'bars') : `${edges.join(' ')} bars`
      const right = quarters.join() === wanted.quarters.join()
      const shape = shown.display_aspect_ratio === display && shown.sample_aspect_ratio === samples
      return measurement(
        `displayed ${shown.display_aspect_ratio}, quarters ${quarters.join(' ')}, ${words}`,
        right && shape && bars,
      )
    },
    ...row,
  }
}

const turned = { width: 102 / 320 }
const aspect = (value: string, profile: Profile, wanted: Look) =>
  look('video_aspect_ratio', value, job({ video_aspect_ratio: value }, profile), wanted)

const aspects: Row[] = [
  aspect('passthrough', { width: 240 }, { shape: ['16:9', '4:3'], quarters: UPRIGHT }),
  aspect('force_4:3', {}, { shape: ['4:3', '3:4'], quarters: UPRIGHT }),
  aspect('force_16:9', { width: 240 }, { shape: ['16:9', '4:3'], quarters: UPRIGHT }),
  aspect('invert_aspect_ratio', {}, { shape: ['9:16', '81:256'], quarters: UPRIGHT }),
  ...(
    [
      ['rotate_clockwise', CLOCKWISE],
      ['rotate_counterclockwise', COUNTERCLOCKWISE],
    ] as const
  ).map(([value, quarters]) =>
    aspect(value, {}, { shape: ['16:9', '1:1'], quarters, part: turned, bars: ['black', LEFT_RIGHT] }),
  ),
  aspect(
    'rotate_counterclockwise + invert_aspect_ratio',
    { width: 0, height: 0 },
    { shape: ['9:16', '1:1'], quarters: COUNTERCLOCKWISE },
  ),
  ...['hevc', 'mpeg2'].map((video_codec) =>
    look(
      'video_aspect_ratio',
      'force_4:3',
      job({ video_aspect_ratio: 'force_4:3', video_codec }),
      // 320 × 180 with a sample aspect ratio of 3:4.
      { shape: ['4:3', '3:4'], quarters: UPRIGHT },
    ),
  ),
]

const blackness = (value: number, color: string) =>
  look('rotation_blackness', value, job({ video_aspect_ratio: 'rotate_clockwise', rotation_blackness: value }), {
    shape: ['16:9', '1:1'],
    quarters: CLOCKWISE,
    part: turned,
    bars: [color, LEFT_RIGHT],
  })

const transform = (value: string, size: [number, number], wanted: Omit<Look, 'shape'>, display = '16:9') =>
  look('picture_transform', value, job({ picture_transform: value }, { width: size[0], height: size[1] }), {
    shape: [display, '1:1'],
    ...wanted,
  })

function leftEdge(value: string, color: string, expected: string): Row {
  return {
    path: 'picture_transform',
    value,
    expected,
    job: job({ picture_transform: value }, { width: 180, height: 180 }),
    source: 'banded',
    measure: async (bench) => {
      const colors = await colorsAt(await bench.file(), [
        [0.05, 0.5],
        [0.5, 0.02],
      ])
      return measurement(`left edge ${colors[0]}, top edge ${colors[1]}`, colors[0] === color && colors[1] === 'white')
    },
  }
}

export const geometry: Row[] = [
  ...sizes,
  ...aspects,
  blackness(0, 'black'),
  blackness(50, 'grey'),
  blackness(100, 'white'),
  transform('none', [320, 180], { quarters: UPRIGHT }),
  transform('letterbox', [180, 180], { quarters: UPRIGHT, part: { height: 0.56 }, bars: ['black', TOP_BOTTOM] }, '1:1'),
  transform('crop', [180, 180], { quarters: UPRIGHT }, '1:1'),
  leftEdge('crop', 'white', 'the sides are cut off: the black edge is gone'),
  transform('stretch', [180, 180], { quarters: UPRIGHT }, '1:1'),
  leftEdge('stretch', 'black', 'nothing is cut off: the black edge is there'),
  transform('hflip', [320, 180], { quarters: ['green', 'red', 'white', 'blue'] }),
  transform('vflip', [320, 180], { quarters: ['blue', 'white', 'red', 'green'] }),
  transform('rotate180', [320, 180], { quarters: ['white', 'blue', 'green', 'red'] }),
]
