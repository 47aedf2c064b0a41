import { describe, expect, it } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { audioFilePath, outputPathProblem, outputFilePath } from '#contract/job/paths/outputNames.ts'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../../requestFixture.ts'

const size = { width: 0, height: 0, video_bitrate: 5000 }

describe('the path of an output', () => {
  it.each([
    [{}, {}, 'film_0_1080p.mp4'],
    [{ output_container: 'ts' }, {}, 'film_0_1080p.ts'],
    [{ bucket_output_path: 'a/b/' }, {}, 'a/b/film_0_1080p.mp4'],
    [{}, { output: 'x/./y.mp4' }, 'x/y.mp4'],
    [{ bucket_output_path: 'a' }, { output: 'y.mp4' }, 'a/y.mp4'],
    [{}, { output: undefined }, 'film_0_1080p.mp4'],
  ])('%j %j is %s', (changes, video, path) => {
    const spec = toSpec(expectAccepted(request(changes, video)).config, 'film.mov')
    expect(outputFilePath(spec, spec.video[0]!, 1080)).toBe(path)
  })
})

describe('a path', () => {
  it.each(['a.mp4', 'a/b/c.ts', 'ünï/😀.mp4', '12:30.mp4', 'a b', 'console.mp4', './nulls.mp4'])(
    '%s is accepted',
    (path) => {
      expect(outputPathProblem(path)).toBeNull()
    },
  )

  it.each([
    ['', 'empty'],
    ['..', '..'],
    ['a/../b', '..'],
    ['a//b', 'empty element'],
    ['a/', 'empty element'],
    ['/a', 'slash'],
    ['a\\b', 'backslash'],
    ['a\nb', 'control'],
    ['a\u0000', 'control'],
    ['a\u0085', 'control'],
    ['\ud800', 'control'],
    ['s3://b/k', 'scheme'],
    ['https:/b', 'scheme'],
    ['.', 'no file'],
    ['film\u202e4pm.mp4', 'direction'],
    ['a/NUL.mp4', 'Windows'],
    ['com1', 'Windows'],
    ['COM¹.mp4', 'Windows'],
    ['a./b.mp4', 'Windows'],
    ['b.mp4 ', 'Windows'],
  ])('%j is refused', (path, part) => {
    expect(outputPathProblem(path)).toContain(part)
  })

  it('is checked at creation, on every field that holds one', () => {
    const body = request({ bucket_output_path: '../up', audio_output_path: '/abs' }, { output: 'a/../b' })
    expect(fieldsAndCodes(expectRefused(body))).toEqual([
      'invalid_output_path bucket_output_path',
      'invalid_output_path audio_output_path',
      'invalid_output_path videoProfiles[0].output',
    ])
  })

  it.each([
    ['A.mp4', 'a.mp4'],
    ['\u00e9.mp4', 'e\u0301.mp4'],
  ])('%s and %s would be one file where they are unpacked', (first, second) => {
    const body = request({
      videoProfiles: [
        { ...size, output: first },
        { ...size, output: second },
      ],
    })
    expect(fieldsAndCodes(expectRefused(body))).toEqual(['output_path_conflict videoProfiles[1].output'])
  })

  it('with a scheme that is not the provider’s is refused, never sent to another store', () => {
    const body = request({ bucket_output_path: 'gs://b/dir' }, { output: 's3://bucket/x.mp4' })
    expect(fieldsAndCodes(expectRefused(body))).toEqual([
      'invalid_output_path bucket_output_path',
      'invalid_output_path videoProfiles[0].output',
    ])
  })
})

describe('outputs that meet', () => {
  it.each([
    [{}, 'a.mp4', 'a.mp4'],
    [{}, 'a.mp4', './a.mp4'],
    [{ bucket_output_path: 'd/' }, 'x/a.mp4', 'x/./a.mp4'],
  ])('%j: %s and %s are refused', (changes, first, second) => {
    const videoProfiles = [
      { ...size, output: first },
      { ...size, output: second },
    ]
    expect(fieldsAndCodes(expectRefused(request({ ...changes, videoProfiles })))).toEqual([
      'output_path_conflict videoProfiles[1].output',
    ])
  })

  it('do not when both are derived', () => {
    const { config } = expectAccepted(request({ videoProfiles: [size, size, { ...size, output: '' }] }))
    const spec = toSpec(config)
    expect(spec.video.map((profile) => outputFilePath(spec, profile, 720))).toEqual([
      '12_0_720p.mp4',
      '12_1_720p.mp4',
      '12_2_720p.mp4',
    ])
  })

  it('and the input may not be one of them', () => {
    const cloud_credentials = { input: { cloud_provider: 'aws', access_key: 'a', secret_key: 'b' } }
    for (const [bucket_output_path, output] of [
      ['', 's3://bucket/a.mp4'],
      ['s3://bucket', 'a.mp4'],
    ]) {
      const body = request({ input: 's3://bucket/a.mp4', cloud_credentials, bucket_output_path }, { output })
      expect(fieldsAndCodes(expectRefused(body))).toContain('output_path_conflict videoProfiles[0].output')
    }
  })
})

describe('audio_output_path', () => {
  it.each([
    ['a', {}, 'a/12_audio_0.m4a'],
    ['a/', {}, 'a/12_audio_0.m4a'],
    ['./a', { audio_codec: 'ac3' }, 'a/12_audio_0.ac3'],
    ['a/b', { audio_codec: 'mp2' }, 'a/b/12_audio_0.mp2'],
  ])('%s %j is %s, whatever bucket_output_path is', (audio_output_path, audio, path) => {
    const spec = toSpec(
      expectAccepted(request({ audio_output_path, bucket_output_path: 'x' }, {}, audio)).config,
      '12.mov',
    )
    expect(audioFilePath(spec, spec.audio[0]!)).toBe(path)
  })

  it('keeps its names free of video outputs', () => {
    const meets = (output: string, bucket_output_path = '') =>
      fieldsAndCodes(expectRefused(request({ audio_output_path: 'a', bucket_output_path }, { output })))
    expect(meets('a/film_audio_0.m4a')).toEqual(['output_path_conflict videoProfiles[0].output'])
    expect(meets('film_audio_0.m4a', 'a/')).toEqual(['output_path_conflict videoProfiles[0].output'])
    for (const output of [
      'a/film_audio_1.m4a',
      'a/film_audio_0.ac3',
      'film_audio_0.m4a',
      'a/b/film_audio_0.m4a',
      'a/x.mp4',
    ])
      expectAccepted(request({ audio_output_path: 'a' }, { output }))
    const { warnings } = expectAccepted(request({}, { output: 'a/film_audio_0.m4a' }))
    expect(fieldsAndCodes(warnings)).toEqual(['extension_differs videoProfiles[0].output'])
  })

  it('leaves enough of the path limit for generated file names', () => {
    expect(fieldsAndCodes(expectRefused(request({ audio_output_path: 'a'.repeat(1000) })))).toEqual([
      'invalid_output_path audio_output_path',
    ])
  })

  it('is where a profile that no video selects goes; without audio it has no effect', () => {
    const unselected = request({ audio_output_path: 'a' }, { audio_profiles: '0' })
    const extra = { audio_codec: 'ac3', audio_channels: 2, audio_bitrate: 192, source_stream: 1 }
    ;(unselected['audioProfiles'] as unknown[]).push(extra)
    expect(expectAccepted(unselected).warnings).toEqual([])
    expect(fieldsAndCodes(expectAccepted(request({ audio_output_path: 'a', audioProfiles: [] })).warnings)).toEqual([
      'no_effect audio_output_path',
    ])
  })
})

describe('omitted output credentials', () => {
  const aws = { input: { cloud_provider: 'aws', access_key: 'a', secret_key: 'b' } }

  it('are the input’s when an output has its scheme', () => {
    const body = request({ input: 's3://bucket/a.mp4', cloud_credentials: aws }, { output: 's3://bucket/b.mp4' })
    const { config, secrets } = expectAccepted(body)
    expect(config.cloud_credentials.output).toEqual(config.cloud_credentials.input)
    expect(secrets.output).toEqual({ cloud_provider: 'aws', access_key: 'a', secret_key: 'b' })
  })

  it('use the service store otherwise', () => {
    const body = request({ input: 's3://bucket/a.mp4', cloud_credentials: aws }, { output: 'b.mp4' })
    expect(expectAccepted(body).secrets.output).toEqual({ cloud_provider: 'vendor-store' })
  })
})
