// In charge of: the filters that draw captions, in the graph of a whole job; fonts by language; the chosen stream.
// Not in charge of: what libass draws (test/node/transcoder/pipeline/burnIn.test.ts).
import { describe, expect, test } from 'vitest'
import type { CaptionSpec, JobSpec } from '#contract/job/jobSpec.ts'
import { assLooks } from '../../../../transcoder/plan/argv/burnInArgs.ts'
import { ffmpegArgsOf } from '../../../support/transcoder/ffmpegArgsOf.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES } from '../../../../transcoder/plan/model/engineFeatures.ts'
import { drawnStream, fontOf } from '../../../../transcoder/plan/streams/burnIn.ts'
import { jobSpec, mediaInfo, videoProfile } from '../../../support/transcoder/jobSpecs.ts'

const caption = (language: string | null): CaptionSpec => ({
  language,
  label: '',
  format: null,
  offsetSeconds: null,
  isDefault: false,
  forced: false,
  hearingImpaired: false,
})
const BURN_IN: Partial<JobSpec> = { captions: [caption('de')], burnIn: { kind: 'caption', caption: 0 } }
const FONT = 'Noto Sans'

/** The ends of the chains of the video's graph. */
function ends(spec: JobSpec): string[] {
  const plan = planJob(spec, mediaInfo(), { logo: { width: 200, height: 100 } })
  const args = ffmpegArgsOf(plan, {
    input: 'http://in',
    inputFlags: [],
    outputs: spec.video.map((_profile, index) => `/task/${index}`),
    logo: '/task/logo.png',
    burnIn: assLooks(plan).map((_look, index) => `../burn_in_${index}.ass`),
    threads: 0,
  })
  const graph = args[args.indexOf('-filter_complex') + 1]!
  return graph
    .split(';')
    .map((chain) => /(?:setparams|overlay|,split)=[^,]*?,?((?:ass|setpts|split).*)?$/.exec(chain)?.[1] ?? '')
}

describe('the filter', () => {
  test('is shared by outputs of one size, and other sizes and rates have files of their own', () => {
    const video = [
      videoProfile({ audioProfiles: [] }),
      videoProfile({ index: 1, audioProfiles: [] }),
      videoProfile({ index: 2, width: 640, height: 360, audioProfiles: [] }),
    ]
    const plan = planJob(jobSpec({ ...BURN_IN, video }), mediaInfo())
    expect(assLooks(plan)).toEqual([
      { width: 320, height: 180, frameRate: { num: 25, den: 1 }, white: 255, font: FONT },
      { width: 640, height: 360, frameRate: { num: 25, den: 1 }, white: 255, font: FONT },
    ])
    expect(ends(jobSpec({ ...BURN_IN, video })).slice(1)).toEqual([
      'ass=filename=../burn_in_0.ass:original_size=320x180:shaping=complex,split=2[v0][v1]',
      'ass=filename=../burn_in_1.ass:original_size=640x360:shaping=complex[v2]',
    ])
  })

  test('follows the logo', () => {
    const logo = { position: 'top_right', opacityPercent: 100 } as const
    expect(ends(jobSpec({ ...BURN_IN, logo, video: [videoProfile({ audioProfiles: [] })] })).at(-1)).toBe(
      'ass=filename=../burn_in_0.ass:original_size=320x180:shaping=complex[v0]',
    )
  })

  test('is not there without burn_in_captions', () => {
    const plan = planJob(jobSpec(), mediaInfo())
    expect([plan.burnIn, assLooks(plan)]).toEqual([null, []])
    expect(ends(jobSpec()).join()).not.toContain('ass=')
  })

  test('names no path that a filter graph would misread', () => {
    const plan = planJob(jobSpec({ ...BURN_IN, video: [videoProfile({ audioProfiles: [] })] }), mediaInfo())
    const ends = { input: 'http://in', inputFlags: [], outputs: ['/task/0'], threads: 0 }
    for (const path of ["/a'b.ass", '/a:b.ass', '/a,b.ass', '/a;b.ass'])
      expect(() => ffmpegArgsOf(plan, { ...ends, burnIn: [path] })).toThrow('file')
  })
})

test.each([
  [null, FONT],
  ['de', FONT],
  ['ar', FONT],
  ['ja', `${FONT} CJK JP`],
  ['ko-KR', `${FONT} CJK KR`],
  ['zh', `${FONT} CJK SC`],
  ['zh-TW', `${FONT} CJK TC`],
  ['zh-Hant', `${FONT} CJK TC`],
  ['zh-HK', `${FONT} CJK HK`],
])('the font for %s is %s', (language, font) => {
  expect(fontOf(jobSpec({ ...BURN_IN, captions: [caption(language)] }), null)).toBe(font)
})

describe('source_track', () => {
  const stream = (index: number, codec: string, language: string | null = null) => ({
    index,
    id: null,
    type: 'subtitle',
    codec,
    language,
  })
  const media = mediaInfo(
    {},
    {
      other: [
        { ...stream(2, 'bin_data'), type: 'data' },
        stream(3, 'subrip', 'jpn'),
        stream(4, 'dvd_subtitle'),
        stream(5, 'dvb_teletext', 'deu,fra'),
        stream(6, 'dvb_teletext', 'deu'),
      ],
    },
  )
  const spec = (track: number) => jobSpec({ burnIn: { kind: 'source track', track } })

  test('counts subtitle streams only', () => {
    expect(drawnStream(spec(1), media, ALL_FEATURES)?.index).toBe(3)
    expect(drawnStream(spec(4), media, ALL_FEATURES)?.index).toBe(6)
    expect(fontOf(spec(1), media.other[1]!)).toBe(`${FONT} CJK JP`)
  })

  test.each([
    [2, 'dvd_subtitle\\) consists of images of a kind'],
    [3, 'teletext, of which this ffmpeg cannot read one language alone'],
    [5, 'the source has 4: subrip \\(jpn\\), dvd_subtitle, dvb_teletext \\(deu,fra\\), dvb_teletext \\(deu\\)'],
  ])('%d is refused with its reason', (track, reason) => {
    expect(() => drawnStream(spec(track), media, ALL_FEATURES)).toThrow(new RegExp(reason))
  })
})
