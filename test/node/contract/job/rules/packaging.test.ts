// Segmented output in a request.
import { describe, expect, it } from 'vitest'
import { archiveBaseName, renditionDirectory } from '#contract/job/rules/segmentedOutput.ts'
import { packagingOf } from '#contract/job/toJobSpec.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { expectAccepted, expectRefused, request } from '../../requestFixture.ts'

const hls = { output_container: 'hls' }
const problems = (body: unknown) => expectRefused(body)
const profiles = (...outputs: string[]) => ({
  videoProfiles: outputs.map((output) => ({ output, width: 1280, height: 720, video_bitrate: 2400 })),
})

describe('names that clash are refused', () => {
  it.each([
    [['master.m3u8/x'], 0, 'begins with master.m3u8'],
    [['manifest.mpd/x'], 0, 'manifest.mpd'],
    [['captions/en.mp4'], 0, 'captions'],
    [['thumbnails'], 0, 'thumbnails'],
    [['job.json/a'], 0, 'job.json'],
    [['all.tar/a.mp4'], 0, 'all.tar'],
    [['film.ism/a'], 0, 'film.ism'],
    [['hd.mp4', 'hd.ts'], 1, 'has the same directory as videoProfiles[0].output (hd)'],
    [['', './hd', 'hd.mp4'], 2, 'the same directory as videoProfiles[1].output'],
    [['video_1', ''], 0, 'has the same directory as videoProfiles[1].output (video_1)'],
    [['audio_0.mp4'], 0, 'the same directory as audioProfiles[0]'],
  ])('%j', (outputs, index, part) => {
    const found = problems(request({ ...hls, ...profiles(...outputs) }))
    expect(found).toMatchObject([{ code: 'output_path_conflict', field: `videoProfiles[${index}].output` }])
    expect(found[0]!.message).toContain(part)
  })

  it('an output with a scheme is no directory', () => {
    const found = problems(request({ ...hls, ...profiles('s3://b/x') }))
    expect(found.map(({ code }) => code)).toContain('invalid_output_path')
  })

  it.each([[['', '']], [['hd.mp4', 'a/hd.mp4', 'hd.x/y']], [['master', 'captioned', 'tar']]])(
    '%j is fine',
    (outputs) => {
      expect(() => expectAccepted(request({ ...hls, ...profiles(...outputs) }))).not.toThrow()
    },
  )
})

it.each([
  ['hd.mp4', 'hd'],
  ['a.b/hd.MP4', 'a.b/hd'],
  ['hd_2.5', 'hd_2.5'],
  ['.mp4', '.mp4'],
  ['./a/./b.m3u8', 'a/b'],
  ['', 'video_3'],
])('output %j is the directory %j', (output, directory) => {
  expect(renditionDirectory(output, 'video_3')).toBe(directory)
})

it('the package is called as its directory, else as the input', () => {
  expect(archiveBaseName({ outputDirectory: 'a/b', inputName: 'clip' })).toBe('b')
  expect(archiveBaseName({ outputDirectory: '', inputName: 'clip' })).toBe('clip')
})

describe('what a job asks for', () => {
  const config = expectAccepted(request()).config
  const asked = (change: Partial<JobConfig>) => packagingOf({ ...config, ...change })
  it('single files have none', () => {
    expect(packagingOf(config)).toBeNull()
    expect(asked({ output_container: 'ts' })).toBeNull()
  })
  it.each<[Partial<JobConfig>, string]>([
    [{ output_container: 'hls' }, 'hls ts'],
    [{ output_container: 'hls', segmented_output_dash: true }, 'hls dash'],
    [{ output_container: 'ts', segmented_output_hls: true }, 'hls ts'],
    [{ output_container: 'ts', segmented_output_hls: true, segmented_output_dash: true }, 'hls dash ts'],
    [{ segmented_output_hls: true }, 'hls'],
    [{ segmented_output_dash: true }, 'dash'],
    [{ output_container: 'silverlight' }, 'smooth'],
    [{ output_container: 'silverlight', segmented_output_hls: true }, 'hls smooth'],
  ])('%j: %s', (change, expected) => {
    const found = asked(change)!
    const kinds = [
      ...(['hls', 'dash', 'smooth'] as const).filter((kind) => found[kind]),
      ...(found.preferTransportStream ? ['ts'] : []),
    ]
    expect(kinds.join(' ')).toBe(expected)
    expect(found).toMatchObject({
      segmentSeconds: 6,
      hasExplicitSegmentLength: false,
      separateAudio: false,
      tar: false,
      thumbnails: false,
      programStart: 0,
    })
  })
  it('lengths, audio, tar and time', () => {
    const change = { segment_length: 4, master_variant_mode: true, create_tar_file: true }
    expect(
      asked({ ...change, output_container: 'hls', program_start_time: '2026-01-31T20:15:00+01:00' }),
    ).toMatchObject({
      segmentSeconds: 4,
      hasExplicitSegmentLength: true,
      separateAudio: true,
      tar: true,
      programStart: Date.UTC(2026, 0, 31, 19, 15),
    })
  })
})
