// In charge of: which objects a job's attempts may store, and which plan they may follow. The fake task API
// (test/support/transcoder/fakeTaskApi.ts) applies the same rules to real runs.
import { describe, expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { allowedOutputsOf, type UploadMethod } from '#contract/task/allowedOutputs.ts'
import { taskPlan, type Plan } from '#contract/task/plan/plan.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { mediaInfo } from '../../../support/transcoder/jobSpecs.ts'
import { expectAccepted, request } from '../requestFixture.ts'

type Json = Record<string, unknown>

const JOB = '0f0e0d0c-0b0a-4908-8706-050403020100'
const OWN = `${JOB}-2`
const TS = 'video/mp2t'
const HLS = 'application/vnd.apple.mpegurl'

/** Its video profiles are not in the request. */
const auto = { ladder: 'auto', videoProfiles: [] }

const places = (changes: Json, video: Json = {}, audio: Json = {}) =>
  allowedOutputsOf(expectAccepted(request(changes, video, audio)).config, 'film.mov', OWN)
const plan = (changes: Json, video: Json = {}) =>
  structuredClone(planJob(toSpec(expectAccepted(request(changes, video)).config, 'film.mov'), mediaInfo()))

describe('single files', () => {
  test.each<[Json, Json, Json, string, string]>([
    [{}, {}, {}, 'film_0_1080p.mp4', 'video/mp4'],
    [{}, { width: 0, height: 0 }, {}, 'film_0_4320p.mp4', 'video/mp4'],
    [{ output_container: 'ts', bucket_output_path: 'a/b' }, {}, {}, 'a/b/film_0_720p.ts', TS],
    [{}, { output: './x/y (1)+.mp4' }, {}, 'x/y (1)+.mp4', 'video/mp4'],
    [{ audio_output_path: 'sound' }, {}, {}, 'sound/film_audio_0.m4a', 'audio/mp4'],
    [auto, {}, {}, 'film_0_1080p.mp4', 'video/mp4'],
    [{ ...auto, output_container: 'ts', bucket_output_path: 'a' }, {}, {}, 'a/film_5_240p.ts', TS],
    [{ audio_output_path: 'sound' }, {}, { audio_codec: 'mp2' }, 'sound/film_audio_0.mp2', 'audio/mpeg'],
  ])('%j %j %j: %s', (changes, video, audio, path, type) => {
    const found = places(changes, video, audio)
    const refusal: typeof found.violation = (...asked) => found.violation(...asked)
    expect(refusal('parts', path, type)).toBeNull()
    expect(refusal('parts', path)).toBeNull()
    expect(refusal('parts', path, 'text/html')).toBe('type')
    expect(refusal('written', path, type)).toBe('path')
    expect(refusal('put', path, type)).toBe('path')
  })

  test.each<[Json, Json, string]>([
    [{}, {}, 'other_0_1080p.mp4'],
    [{}, {}, 'film_1_1080p.mp4'],
    [{}, {}, 'film_0_1080p.ts'],
    [{}, {}, 'film_0_p.mp4'],
    [{}, {}, 'x/film_0_1080p.mp4'],
    [{ bucket_output_path: 'a' }, {}, 'film_0_1080p.mp4'],
    [auto, {}, 'film_16_240p.mp4'],
    [auto, {}, 'film_0_240p.ts'],
    [auto, {}, 'video_240p.mp4'],
    [{}, { output: 'x.mp4' }, 'film_0_1080p.mp4'],
    [{}, { output: 'x.mp4' }, 'xxmp4'],
    [{}, {}, 'film_audio_0.m4a'],
    [{ audio_output_path: 'sound' }, {}, 'sound/film_audio_1.m4a'],
    [{}, {}, `${OWN}/00001.m4s`],
    [{}, {}, 'master.m3u8'],
  ])('%j %j: not %s', (changes, video, path) => {
    for (const sent of ['put', 'parts', 'written'] as const)
      expect(places(changes, video).violation(sent, path)).toBe('path')
  })
})

describe('segmented output', () => {
  const all = {
    output_container: 'hls',
    segmented_output_dash: true,
    bucket_output_path: 'd/e',
    create_tar_file: true,
    thumbnails: true,
    closed_captions: true,
  }
  const everything = places(all, { output: 'hd/a.b+' })

  test.each<[UploadMethod, string, string]>([
    ['put', `d/e/hd/a.b+/${OWN}/init.mp4`, 'video/mp4'],
    ['put', `d/e/hd/a.b+/${OWN}/00001.m4s`, 'video/mp4'],
    ['parts', `d/e/hd/a.b+/${OWN}/123456.ts`, TS],
    ['put', `d/e/audio_0/${OWN}/00001.m4s`, 'audio/mp4'],
    ['put', `d/e/captions/SERVICE63/${OWN}/00001.vtt`, 'text/vtt'],
    ['put', `d/e/captions/CC1/${OWN}/captions.vtt`, 'text/vtt'],
    ['put', `d/e/captions/sub_31/${OWN}/00001.vtt`, 'text/vtt'],
    ['written', 'd/e/captions/sub_0/playlist.m3u8', HLS],
    ['written', 'd/e/tar_sub_0.m3u8', HLS],
    ['put', `d/e/thumbnails/${OWN}/00001.jpg`, 'image/jpeg'],
    ['parts', 'd/e/e.tar', 'application/x-tar'],
    ['written', 'd/e/master.m3u8', HLS],
    ['written', 'd/e/hd/a.b+/playlist.m3u8', HLS],
    ['written', 'd/e/hd/a.b+/iframes.m3u8', HLS],
    ['written', 'd/e/tar_video_0_iframes.m3u8', HLS],
    ['written', 'd/e/tar_captions_T4.m3u8', HLS],
    ['written', 'd/e/tar.m3u8', HLS],
    ['written', 'd/e/thumbnails/thumbnails.vtt', 'text/vtt'],
    ['written', 'd/e/manifest.mpd', 'application/dash+xml'],
    ['written', 'd/e/job.json', 'application/json'],
  ])('%s %s', (sent, path, type) => {
    expect(everything.violation(sent, path, type)).toBeNull()
    expect(everything.violation(sent, path, 'text/html')).toBe('type')
    const others = (['put', 'parts', 'written'] as const).filter((each) => each !== sent)
    const large = path.endsWith('.m4s') || path.endsWith('.ts') || path.endsWith('init.mp4')
    for (const other of others) {
      expect(everything.violation(other, path, type)).toBe(large && other !== 'written' ? null : 'path')
    }
  })

  test.each([
    'master.m3u8',
    'd/master.m3u8',
    'd/e/index.html',
    'd/e/../master.m3u8',
    `d/e/hd/a.b+/${JOB}-1/00001.m4s`,
    `d/e/hd/a.b+/${JOB}-22/00001.m4s`,
    `d/e/hd/a.b+/${OWN}/00001.html`,
    `d/e/hd/a.b+/${OWN}/x/00001.m4s`,
    `d/e/hd/a.b+/${OWN}`,
    `d/e/hd/aXb+/${OWN}/00001.m4s`,
    `d/e/video_0/${OWN}/00001.m4s`,
    `d/e/audio_1/${OWN}/00001.m4s`,
    `d/e/audio_0/x/${OWN}/00001.m4s`,
    `${OWN}/00001.m4s`,
    'd/e/f.tar',
    'd/e/e.ism/Manifest',
    'd/e/tar_video_0.m3u8\n',
  ])('not %s', (path) => {
    for (const sent of ['put', 'parts', 'written'] as const) expect(everything.violation(sent, path)).toBe('path')
  })

  test('the rungs of a ladder have theirs, which become known with the source', () => {
    const ladder = places({ output_container: 'hls', bucket_output_path: 'd', ...auto })
    for (const rung of ['video_1080p', 'video_170p', 'video_16p']) {
      expect(ladder.violation('put', `d/${rung}/${OWN}/00001.ts`, TS)).toBeNull()
      expect(ladder.violation('written', `d/${rung}/playlist.m3u8`, HLS)).toBeNull()
    }
    for (const other of ['video_0', 'video_p', 'video_10800p', 'video_1080px', 'xvideo_1080p', 'video_1080p/x'])
      expect(ladder.violation('put', `d/${other}/${OWN}/00001.ts`)).toBe('path')
    expect(everything.violation('put', `d/e/video_1080p/${OWN}/00001.m4s`)).toBe('path')
  })

  test('an output that the job does not request has no allowed path', () => {
    const little = places({ output_container: 'hls', bucket_output_path: 'd' })
    for (const path of ['d/manifest.mpd', 'd/tar.m3u8', 'd/thumbnails/thumbnails.vtt'])
      expect(little.violation('written', path)).toBe('path')
    for (const path of [`d/captions/CC1/${OWN}/00001.vtt`, `d/thumbnails/${OWN}/00001.jpg`])
      expect(little.violation('put', path)).toBe('path')
    expect(little.violation('parts', 'd/d.tar')).toBe('path')
  })

  test('Smooth Streaming has the names that its clients make', () => {
    const smooth = places({ output_container: 'silverlight' })
    expect(smooth.violation('put', `film.ism/${OWN}/QualityLevels(2400000)/Fragments(video=0)`, 'video/mp4')).toBeNull()
    expect(smooth.violation('written', 'film.ism/Manifest', 'application/vnd.ms-sstr+xml')).toBeNull()
    expect(smooth.violation('put', 'film.ism/QualityLevels(2400000)/Fragments(video=0)')).toBe('path')
    expect(smooth.violation('put', `film.ism/${OWN}/QualityLevels(1)/Fragments(../x=0)`)).toBe('path')
    expect(smooth.violation('written', 'master.m3u8')).toBe('path')
  })
})

describe('a plan', () => {
  const shapes: [string, Json][] = [
    ['mp4', { audio_output_path: 'sound' }],
    ['ts', { output_container: 'ts', scte35_passthough: true }],
    ['everything', { output_container: 'hls', segmented_output_dash: true, create_tar_file: true, thumbnails: true }],
    ['smooth', { output_container: 'silverlight' }],
    ['a ladder of files', auto],
    ['a ladder of HLS', { ...auto, output_container: 'hls', bucket_output_path: 'd' }],
    ['a ladder of Smooth Streaming', { ...auto, output_container: 'silverlight' }],
  ]

  test.each(shapes)('of %s, as the planner makes it, is accepted', (_, changes) => {
    const made = plan(changes)
    expect(taskPlan.safeParse(JSON.parse(JSON.stringify(made)))).toMatchObject({ success: true })
    expect(places(changes).firstForeignPath(made)).toBeNull()
  })

  test.each<[string, unknown]>([
    ['nothing', null],
    ['an empty object', {}],
    ['a number', 1],
    ['another version', { ...plan({}), version: 1 }],
    ['a filter where a name is due', { ...plan({}), scaler: 'scale,movie=/etc/passwd' }],
    ['a matrix that is none', { ...plan({}), picture: { ...plan({}).picture, matrix: 'bt709:x=1' } }],
    ['a missing member', { ...plan({}), picture: undefined }],
    ['too many outputs', { ...plan({}), outputs: Array.from({ length: 17 }, () => plan({}).outputs[0]) }],
  ])('that is %s is refused', (_, value) => {
    expect(taskPlan.safeParse(value).success).toBe(false)
  })

  test.each<[string, Json, (made: Plan) => void]>([
    ['an output elsewhere', {}, (made) => (made.outputs[0]!.path = 'other.mp4')],
    [
      'an audio file elsewhere',
      { audio_output_path: 'a' },
      (made) => (made.audioFiles[0]!.path = 'b/film_audio_0.m4a'),
    ],
    ['another directory', { output_container: 'hls' }, (made) => (made.packaging!.directory = 'other')],
    ['another rendition', { output_container: 'hls' }, (made) => (made.packaging!.renditions[0]!.directory = '..')],
    [
      'a rendition without a directory',
      { output_container: 'hls' },
      (made) => (made.packaging!.renditions[0]!.directory = ''),
    ],
    [
      'a rung that is none',
      { ...auto, output_container: 'hls' },
      (made) => (made.packaging!.renditions[0]!.directory = 'video_720p/..'),
    ],
    ['a file that no rung has', auto, (made) => (made.outputs[0]!.path = 'video_720p.mp4')],
    ['a tar that nobody asked for', { output_container: 'hls' }, (made) => (made.packaging!.tar = 'film.tar')],
    ['Smooth that nobody asked for', { output_container: 'hls' }, (made) => (made.packaging!.smooth = 'film.ism')],
  ])('with %s is not the job’s', (_, changes, change) => {
    const made = plan(changes)
    change(made)
    expect(places(changes).firstForeignPath(made)).not.toBeNull()
  })
})
