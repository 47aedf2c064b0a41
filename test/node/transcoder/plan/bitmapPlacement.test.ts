// In charge of: where bitmap subtitles lie in outputs of every shape: anamorphic, letterboxed, cropped, turned, portrait.
// Not in charge of: drawing them (pipeline/bitmapBurnIn.test.ts).
import { describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { ratio } from '../../../../transcoder/formats/rational.ts'
import { placeBitmaps } from '../../../../transcoder/plan/video/bitmapPlacement.ts'
import { planGeometry } from '../../../../transcoder/plan/video/geometry.ts'
import { jobSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'

const HD = { width: 1920, height: 1080 }
const SD = { width: 720, height: 576 }
const WIDE = ratio(16, 9)

/** The lower third of the canvas, with a margin of a tenth on each side. */
function lowerThird({ width, height }: { width: number; height: number }) {
  return { x: width * 0.1, y: height * 0.75, width: width * 0.8, height: height * 0.2 }
}

interface Row {
  codec?: string
  canvas?: { width: number; height: number }
  source?: { width: number; height: number; display: ReturnType<typeof ratio> }
  output: [width: number, height: number]
  job?: Partial<JobSpec>
  /** left, top, width, height */
  place: [number, number, number, number]
}

const rows: [string, Row][] = [
  ['as large as the canvas', { output: [1920, 1080], place: [192, 810, 1536, 216] }],
  ['a smaller rung', { output: [640, 360], place: [64, 270, 512, 72] }],
  [
    'anamorphic SD with a canvas of SD',
    {
      canvas: SD,
      source: { width: 720, height: 576, display: WIDE },
      output: [1280, 720],
      place: [128, 540, 1024, 144],
    },
  ],
  [
    'DVB: a canvas of HD over video of SD',
    {
      codec: 'dvb_subtitle',
      source: { width: 720, height: 576, display: WIDE },
      output: [720, 576],
      place: [72, 432, 576, 116],
    },
  ],
  [
    'a film without the bars of its disc: subtitles in the lower bar move up into the picture',
    {
      source: { width: 1920, height: 800, display: ratio(12, 5) },
      output: [1920, 800],
      place: [192, 584, 1536, 216],
    },
  ],
  [
    '4:3 without the bars of its disc: subtitles as wide as the disc become smaller',
    { source: { width: 1440, height: 1080, display: ratio(4, 3) }, output: [1440, 1080], place: [0, 824, 1440, 202] },
  ],
  [
    'bars of the job: in the picture, not in the bars',
    { output: [640, 640], job: { transform: 'letterbox' }, place: [64, 410, 512, 72] },
  ],
  ['cropped by the job to a square', { output: [360, 360], job: { transform: 'crop' }, place: [0, 292, 360, 50] }],
  [
    'turned by the job: upright, as wide as the picture, at its lower edge',
    {
      output: [608, 1080],
      job: { aspect: 'rotate_counterclockwise + invert_aspect_ratio' },
      place: [60, 994, 486, 68],
    },
  ],
  [
    'portrait source',
    { source: { width: 1080, height: 1920, display: ratio(9, 16) }, output: [540, 960], place: [54, 884, 432, 60] },
  ],
  ['mirrored: not the subtitles', { output: [640, 360], job: { transform: 'hflip' }, place: [64, 270, 512, 72] }],
  [
    'upside down: not the subtitles',
    { output: [640, 360], job: { transform: 'rotate180' }, place: [64, 270, 512, 72] },
  ],
]

describe('the place of bitmap subtitles', () => {
  test.each(rows)('%s', (_name, row) => {
    const { codec = 'hdmv_pgs_subtitle', canvas = HD, output, job = {}, place } = row
    const source = row.source ?? { ...HD, display: WIDE }
    const profile = videoProfile({ width: output[0], height: output[1] })
    const geometry = planGeometry(profile, jobSpec(job), source).value
    const { x, y, width, height } = placeBitmaps({ canvas, area: lowerThird(canvas) }, codec, source, geometry)
    for (const [index, value] of [x, y, width, height].entries())
      expect([index, Math.abs(value - place[index]!) <= 2, value]).toEqual([index, true, value])
    for (const value of [x, y, width, height]) expect(value % 2).toBe(0)
    expect(x >= 0 && y >= 0 && x + width <= geometry.width && y + height <= geometry.height).toBe(true)
  })
})
