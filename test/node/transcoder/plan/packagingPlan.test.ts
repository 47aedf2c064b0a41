// The plan of segmented output: renditions, formats, directories, durations.
import { describe, expect, test } from 'vitest'
import type { JobSpec, PackagingSpec } from '#contract/job/jobSpec.ts'
import { ffmpegArgsOf } from '../../../support/transcoder/ffmpegArgsOf.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { plannedFiles } from '../../../../transcoder/plan/model/plannedFiles.ts'
import { plannedPipes } from '../../../../transcoder/plan/model/plannedPipes.ts'
import {
  jobSpec,
  packagingSpec,
  videoProfile,
  audioStream,
  mediaInfo,
  audioProfile,
} from '../../../support/transcoder/jobSpecs.ts'

const segmented = (packaging: Partial<PackagingSpec>, change: Partial<JobSpec> = {}) =>
  jobSpec({ packaging: packagingSpec(packaging), video: [videoProfile({ output: '' })], ...change })

function plan(spec: JobSpec, media = mediaInfo()) {
  const planned = planJob(spec, media)
  if (planned.packaging === null) throw new Error('it was not segmented')
  return { ...planned, packaging: planned.packaging }
}
const forms = (spec: JobSpec, media = mediaInfo()) =>
  plan(spec, media).packaging.renditions.map(({ id, forms, audio }) => [
    id,
    forms.join('+'),
    ...audio.map(({ profile }) => profile),
  ])

describe('decisions "output_container with flags" and "master_variant_mode"', () => {
  test.each<[string, Partial<PackagingSpec>, Partial<JobSpec>, unknown]>([
    [
      'HLS in CMAF',
      { hls: true },
      {},
      [
        ['video_0', 'cmaf'],
        ['audio_0', 'cmaf', 0],
      ],
    ],
    ['HLS in TS', { hls: true, preferTransportStream: true }, {}, [['video_0', 'ts', 0]]],
    [
      'HLS in TS, audio apart',
      { hls: true, preferTransportStream: true, separateAudio: true },
      {},
      [
        ['video_0', 'ts'],
        ['audio_0', 'ts', 0],
      ],
    ],
    [
      'DASH',
      { dash: true },
      {},
      [
        ['video_0', 'cmaf'],
        ['audio_0', 'cmaf', 0],
      ],
    ],
    [
      'HLS in TS and DASH from one encode',
      { hls: true, dash: true, preferTransportStream: true },
      {},
      [
        ['video_0', 'cmaf+ts', 0],
        ['audio_0', 'cmaf', 0],
      ],
    ],
    [
      'the same, audio apart',
      { hls: true, dash: true, preferTransportStream: true, separateAudio: true },
      {},
      [
        ['video_0', 'cmaf+ts'],
        ['audio_0', 'cmaf+ts', 0],
      ],
    ],
    [
      'Smooth',
      { smooth: true },
      {},
      [
        ['video_0', 'smooth'],
        ['audio_0', 'smooth', 0],
      ],
    ],
    [
      'Smooth and HLS',
      { smooth: true, hls: true },
      {},
      [
        ['video_0', 'cmaf+smooth'],
        ['audio_0', 'cmaf+smooth', 0],
      ],
    ],
    [
      'ac3 inside of TS',
      { hls: true, preferTransportStream: true },
      { audio: [audioProfile({ codec: 'ac3', dialnorm: 27 })] },
      [['video_0', 'ts', 0]],
    ],
    ['no audio in the job', { hls: true, dash: true }, { audio: [] }, [['video_0', 'cmaf']]],
  ])('%s', (_name, packaging, change, expected) => {
    expect(forms(segmented(packaging, change))).toEqual(expected)
    expect(plan(segmented(packaging, change)).warnings).toEqual([])
  })

  test.each<[Partial<JobSpec>, string]>([
    [{ videoCodec: 'hevc' }, 'HLS carries hevc in these only'],
    [{ audio: [audioProfile({ codec: 'ac3', dialnorm: 27 })] }, 'separate ac3 is carried in these'],
  ])('TS was asked for, CMAF is written: %j', (change, reason) => {
    const planned = plan(segmented({ hls: true, preferTransportStream: true, separateAudio: true }, change))
    expect(planned.packaging.hls).toBe('cmaf')
    expect(planned.warnings).toMatchObject([{ code: 'segments_are_cmaf', field: 'output_container' }])
    expect(planned.warnings[0]!.message).toContain(reason)
  })

  test('several tracks in one transport stream could not be chosen between: they are separated, with a warning', () => {
    const spec = segmented(
      { hls: true, preferTransportStream: true },
      {
        audio: [audioProfile(), audioProfile({ index: 1 })],
        video: [videoProfile({ output: '', audioProfiles: [0, 1] })],
      },
    )
    expect(forms(spec)).toEqual([
      ['video_0', 'ts'],
      ['audio_0', 'ts', 0],
      ['audio_1', 'ts', 1],
    ])
    expect(plan(spec).warnings).toMatchObject([{ code: 'audio_separated', field: 'master_variant_mode' }])
  })
})

test('each video profile says which audio renditions it selects; an audio profile is one rendition', () => {
  const spec = segmented(
    { dash: true },
    {
      audio: [
        audioProfile(),
        audioProfile({ index: 1, sourceStream: null }),
        audioProfile({ index: 2, sourceStream: 2 }),
      ],
      video: [
        videoProfile({ output: 'hd.mp4', audioProfiles: [0, 1, 2] }),
        videoProfile({ index: 1, output: 'a/b/sd.v2', audioProfiles: [2] }),
        videoProfile({ index: 2, output: '', audioProfiles: [] }),
      ],
    },
  )
  const media = mediaInfo({}, { audio: [audioStream(), audioStream({ number: 2, index: 2, language: 'fra' })] })
  expect(plan(spec, media).packaging.renditions).toMatchObject([
    { id: 'video_0', directory: 'hd', audioRenditions: ['audio_0', 'audio_2'] },
    { id: 'video_1', directory: 'a/b/sd', audioRenditions: ['audio_2'] },
    { id: 'video_2', directory: 'video_2', audioRenditions: [] },
    { id: 'audio_0', kind: 'audio', directory: 'audio_0', audio: [{ language: null }] },
    { id: 'audio_2', kind: 'audio', profile: 2, audio: [{ language: 'fra' }] },
  ])
})

test.each<[string, number[][], Partial<PackagingSpec>, string[]]>([
  ['HLS, different streams', [[0], [1]], { hls: true }, ['audio_selections_differ']],
  ['HLS, nothing in one of them', [[0], []], { hls: true }, ['audio_selections_differ']],
  ['HLS, two encodings of one stream', [[0], [2]], { hls: true }, []],
  ['DASH alone', [[0], [1]], { dash: true }, []],
  ['transport streams with their audio inside', [[0], [1]], { hls: true, preferTransportStream: true }, []],
])('%s: whether a warning says that variants differ in what is heard', (_name, selections, packaging, expected) => {
  const spec = segmented(packaging, {
    audio: [audioProfile(), audioProfile({ index: 1, sourceStream: 2 }), audioProfile({ index: 2, bitrateKbps: 64 })],
    video: selections.map((audioProfiles, index) => videoProfile({ index, output: '', audioProfiles })),
  })
  const media = mediaInfo({}, { audio: [audioStream(), audioStream({ number: 2, index: 2, language: 'fra' })] })
  const codes = plan(spec, media).warnings.map(({ code }) => code)
  expect(codes.filter((code) => code === 'audio_selections_differ')).toEqual(expected)
})

test('a frame per segment of a day is too many objects, and so are a few in many renditions; a day of usual ones is not', () => {
  const refusal = (change: Partial<JobSpec>, packaging: Partial<PackagingSpec>) => () =>
    plan(
      segmented({ hls: true, ...packaging }, change),
      mediaInfo({ durationSeconds: 86_400 }, { durationSeconds: 86_400 }),
    )
  expect(refusal({ gopSeconds: 0.04 }, { segmentSeconds: 0.04 })).toThrow('2160000 in a rendition')
  const video = Array.from({ length: 16 }, (_, index) => videoProfile({ index, output: `v${index}` }))
  expect(refusal({ video, gopSeconds: 1 }, { segmentSeconds: 1 })).toThrow(/ 14\d{5} segments, 86400 in a rendition;/)
  expect(refusal({ video, gopSeconds: 2 }, { segmentSeconds: 6 })).not.toThrow()
})

describe('decision "gop_length"', () => {
  test.each([
    [25, 1, 1, 6, { num: 6, den: 1 }, null],
    [30000, 1001, 1, 6, { num: 6006, den: 1000 }, 'Segments last 6.006 s instead of 6 s: whole GOPs of 1.001 s.'],
    [24000, 1001, 2, 6, { num: 6006, den: 1000 }, 'whole GOPs of 2.002 s'],
    [25, 1, 4, 6, { num: 8, den: 1 }, 'Segments last 8 s instead of 6 s'],
    [25, 1, 10, 6, { num: 10, den: 1 }, 'Segments last 10 s instead of 6 s'],
  ])('%d/%d, GOPs of %d s in segments of %d s', (num, den, gopSeconds, segmentSeconds, expected, warning) => {
    const planned = plan(
      segmented({ hls: true, segmentSeconds }, { gopSeconds }),
      mediaInfo({ frameRate: { num, den } }),
    )
    const { segmentDuration, renditions } = planned.packaging
    expect(segmentDuration.num * expected.den).toBe(segmentDuration.den * expected.num)
    expect(renditions[0]!.segmentFrames % renditions[0]!.video!.gopFrames).toBe(0)
    const warned = planned.warnings.filter(({ code }) => code === 'segment_length_snapped')
    expect(warned.map(({ message }) => message)).toEqual(warning === null ? [] : [expect.stringContaining(warning)])
  })

  test.each([
    [30000, 1001, 1, []],
    [25, 1, 4, [expect.stringContaining('Segments last 8 s instead of 6 s')]],
  ])('%d/%d, GOPs of %d s: the default length is said only where it is missed by far', (num, den, gopSeconds, said) => {
    const packaging = { hls: true, segmentSeconds: 6, hasExplicitSegmentLength: false }
    const planned = plan(segmented(packaging, { gopSeconds }), mediaInfo({ frameRate: { num, den } }))
    const warned = planned.warnings.filter(({ code }) => code === 'segment_length_snapped')
    expect(warned.map(({ message }) => message)).toEqual(said)
  })

  test.each([25, 29, 50])('renditions of all rates end their GOPs and segments together: %d', (num) => {
    const spec = segmented(
      { hls: true },
      {
        video: (['1x', '1/2x', '2x'] as const).map((frameRateFactor, index) =>
          videoProfile({ index, output: '', frameRateFactor }),
        ),
      },
    )
    const { renditions } = plan(spec, mediaInfo({ frameRate: { num, den: 1 } })).packaging
    const [one, half, twice] = renditions.map(({ video, segmentFrames }) => [video?.gopFrames ?? 0, segmentFrames])
    expect(one).toEqual(half!.map((frames) => 2 * frames))
    expect(twice).toEqual(half!.map((frames) => 4 * frames))
  })
})

test('interlaced sources become progressive, with a warning', () => {
  const planned = plan(segmented({ hls: true }), mediaInfo({ fieldOrder: 'tt' }))
  expect(planned.packaging.renditions[0]!.video).toMatchObject({ scan: 'progressive', deinterlace: 'frames' })
  expect(planned.warnings).toMatchObject([
    { code: 'deinterlaced', message: expect.stringContaining('segmented output is') },
  ])
})

test('the tar and the Smooth manifest are named by the directory, else by the input', () => {
  const packaging = { smooth: true, tar: true }
  expect(plan(segmented(packaging, { outputDirectory: 'films/ocean' })).packaging).toMatchObject({
    directory: 'films/ocean',
    smooth: 'ocean.ism',
    tar: 'films/ocean/ocean.tar',
  })
  expect(plan(segmented(packaging)).packaging).toMatchObject({ directory: '', smooth: 'clip.ism', tar: 'clip.tar' })
})

test('captions become text tracks where they were asked for and are in the source', () => {
  const captioned = mediaInfo({ closedCaptions: true })
  const tracks = (
    closedCaptions: boolean | null,
    media = captioned,
    packaging: Partial<PackagingSpec> = { hls: true },
  ) => plan(segmented(packaging, { closedCaptions }), media).packaging.textTracks
  expect([tracks(true), tracks(null), tracks(false), tracks(true, mediaInfo())]).toEqual([true, false, false, false])
  expect(tracks(true, captioned, { smooth: true })).toBe(false)
})

test('has no single files; streams follow the audio files in argument order', () => {
  const spec = segmented(
    { hls: true, dash: true, smooth: true, preferTransportStream: true, separateAudio: true },
    { closedCaptions: true, audioDirectory: 'sound' },
  )
  const planned = plan(spec, mediaInfo({ closedCaptions: true }))
  expect(plannedFiles(planned).map(({ path }) => path)).toEqual(['sound/clip_audio_0.m4a'])
  expect(plannedPipes(planned)).toEqual([
    ...(['cmaf', 'ts', 'smooth'] as const).map((form) => ({ kind: 'rendition', rendition: 0, form })),
    ...(['cmaf', 'ts', 'smooth'] as const).map((form) => ({ kind: 'rendition', rendition: 1, form })),
    { kind: 'captions' },
  ])
  const outputs = ['/tmp/a.m4a', ...plannedPipes(planned).map((_stream, index) => `pipe:${3 + index}`)]
  const args = ffmpegArgsOf(planned, { input: 'http://in', inputFlags: [], outputs, threads: 2 })
  const targets = [...args.join(' ').matchAll(/(?<=file:)\/tmp\S+|pipe:[^1]\S*?(?=[|\s]|$)/g)].map(([target]) => target)
  expect(targets.toSorted()).toEqual(outputs.toSorted())
  expect(args.filter((each) => each === 'libx264')).toHaveLength(1)
  expect(() =>
    ffmpegArgsOf(planned, { input: 'http://in', inputFlags: [], outputs: outputs.slice(0, -1), threads: 0 }),
  ).toThrow('every stream needs a pipe')
})

describe('the audio of several renditions in transport streams', () => {
  const args = (change: Partial<JobSpec>, packaging: Partial<PackagingSpec> = {}) => {
    const planned = plan(segmented({ hls: true, preferTransportStream: true, ...packaging }, change))
    const outputs = plannedPipes(planned).map((_stream, index) => `pipe:${3 + index}`)
    return ffmpegArgsOf(planned, { input: 'http://in', inputFlags: [], outputs, threads: 0 })
  }
  const count = (list: readonly string[], flag: string) => list.filter((each) => each === flag).length
  const targets = (list: readonly string[]) => list.filter((each) => /pipe:[^1]/.test(each))
  const two = [0, 1].map((index) => videoProfile({ index, output: '', bitrateKbps: 500 - 100 * index }))

  test('it is encoded once, in one output with the video of all', () => {
    const list = args({ video: two })
    expect([count(list, '-c:a:0'), count(list, '-c:v:0'), count(list, '-c:v:1')]).toEqual([1, 1, 1])
    expect(list.slice(list.indexOf('-map'), list.indexOf('-map_metadata'))).toEqual(
      ['[v0]', '[v1]', '[a0_0]'].flatMap((label) => ['-map', label]),
    )
    expect(list.join(' ')).toContain('-flags:v:1 +cgop -bf:v:1 2 -b_strategy:v:1 0 -b:v:1 400k')
    const muxer =
      'fflags=+bitexact:f=mpegts:max_delay=100000:output_ts_offset=9.8:mpegts_flags=+resend_headers:pes_payload_size=0:pcr_period=1:onfail=abort'
    expect(targets(list)).toEqual([`[select=0,2:${muxer}]pipe:3|[select=1,2:${muxer}]pipe:4`])
  })

  test('fragmented MP4 beside transport streams has only video, with global headers', () => {
    const list = args({ video: two }, { dash: true })
    expect(list.filter((_each, index) => list[index - 1] === '-flags:v:1')).toEqual(['+cgop', '+global_header'])
    expect(
      targets(list)[0]!
        .split('|')
        .map((slave) => slave.slice(0, 13)),
    ).toEqual(['[select=0:ffl', '[select=0,2:f', '[select=1:ffl', '[select=1,2:f'])
  })

  test('renditions with different audio get separate outputs', () => {
    const list = args({
      video: two.map((each, index) => ({ ...each, audioProfiles: [index] })),
      audio: [audioProfile(), audioProfile({ index: 1, bitrateKbps: 64 })],
    })
    expect(count(list, '-c:a:0')).toBe(2)
    expect(targets(list)).toEqual(['pipe:3', 'pipe:4'])
  })
})
