// In charge of: the stores of a request: credentials, buckets, and where each output goes.
import { describe, expect, it } from 'vitest'
import { bucketPrefix, outputDirectories, outputLocations } from '#contract/job/paths/outputLocation.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { audioFilePath, outputFilePath } from '#contract/job/paths/outputNames.ts'
import { allowedOutputsOf } from '#contract/task/allowedOutputs.ts'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

const aws = { cloud_provider: 'aws', access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'secret' }
const toS3 = (changes: Record<string, unknown> = {}, video: Record<string, unknown> = {}, more: object = {}) =>
  request(
    { cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { ...aws, ...more } }, ...changes },
    video,
  )

describe('outputs in a bucket', () => {
  it.each([
    ['s3://films/a/b', '', 'a/b/12_0_1080p.mp4', ['a/b']],
    ['s3://films/a/b/', 'c/x.mp4', 'a/b/c/x.mp4', ['a/b']],
    ['s3://films', 'x.mp4', 'x.mp4', ['']],
    ['', 's3://films/c/x.mp4', 'c/x.mp4', ['c']],
    ['s3://films/a', 's3://films/c/x.mp4', 'c/x.mp4', ['c']],
    ['a', 's3://films/x.mp4', 'x.mp4', ['']],
  ])('bucket_output_path %j, output %j → %s', (bucket_output_path, output, key, directories) => {
    const { config } = expectAccepted(toS3({ bucket_output_path }, { output }))
    const spec = toSpec(config, '12.mp4')
    expect(outputLocations('aws', config).roots[0]).toBe('s3://films')
    expect(outputFilePath(spec, spec.video[0]!, 1080)).toBe(key)
    expect(outputDirectories(config)).toEqual(directories)
  })

  it('the files of a ladder go into the directory of derived names', () => {
    const { config } = expectAccepted(toS3({ bucket_output_path: 's3://films/v', ladder: 'auto', videoProfiles: [] }))
    expect(outputDirectories(config)).toEqual(['v'])
    expect(outputLocations('aws', config).roots[0]).toBe('s3://films')
  })

  it('audio files go where audio_output_path says, in the same bucket', () => {
    const changes = { bucket_output_path: 's3://films/v', audio_output_path: 's3://films/sound' }
    const { config } = expectAccepted(toS3(changes))
    const spec = toSpec(config, 'x.mp4')
    expect(audioFilePath(spec, spec.audio[0]!)).toBe('sound/x_audio_0.m4a')
    expect(outputDirectories(config)).toEqual(['v', 'sound'])
  })

  it.each<[string, object, object, string]>([
    ['no path names the bucket', {}, {}, 'required bucket_output_path'],
    ['only a directory is named', { bucket_output_path: 'a/b' }, {}, 'required bucket_output_path'],
    [
      'a directory that is called as another bucket’s mark',
      { bucket_output_path: 's3://one/@two', audio_output_path: 's3://two' },
      {},
      'output_path_conflict bucket_output_path',
    ],
    [
      'an output in such a directory',
      { bucket_output_path: 's3://one', audio_output_path: 's3://two' },
      { output: '@two/x_audio_0.m4a' },
      'output_path_conflict videoProfiles[0].output',
    ],
    [
      'climbing in another bucket',
      { audio_output_path: 's3://two/../one' },
      {},
      'invalid_output_path audio_output_path',
    ],
    [
      'another bucket that is a host',
      { audio_output_path: 's3://evil.example:80/' },
      {},
      'invalid_output_path audio_output_path',
    ],
    ['another provider’s bucket', { audio_output_path: 'gs://two' }, {}, 'invalid_output_path audio_output_path'],
    ['another scheme', { bucket_output_path: 'gs://films/a' }, {}, 'invalid_output_path bucket_output_path'],
    ['an impossible bucket', { bucket_output_path: 's3://Fi_lms/a' }, {}, 'invalid_output_path bucket_output_path'],
    [
      'a bucket that is a host',
      { bucket_output_path: 's3://evil.example:80/a' },
      {},
      'invalid_output_path bucket_output_path',
    ],
    [
      'an output that is the bucket',
      { bucket_output_path: 's3://films' },
      { output: 's3://films' },
      'invalid_output_path videoProfiles[0].output',
    ],
    ['climbing', { bucket_output_path: 's3://films/a/../b' }, {}, 'invalid_output_path bucket_output_path'],
  ])('%s: refused', (_, changes, video, problem) => {
    expect(fieldsAndCodes(expectRefused(toS3({ ...changes }, { ...video })))).toContain(problem)
  })

  it('an output that is the input is refused, however it is written', () => {
    const both = { input: 's3://films/a/x.mp4', cloud_credentials: { input: aws } }
    const body = request({ ...both, bucket_output_path: 's3://films/a' }, { output: 'x.mp4' })
    expect(fieldsAndCodes(expectRefused(body))).toEqual(['output_path_conflict videoProfiles[0].output'])
  })
})

describe('outputs in several places', () => {
  const profile = { width: 640, height: 360, video_bitrate: 1000 }
  it('each output in its own bucket, audio in another, all with one credential', () => {
    const { config, secrets } = expectAccepted(
      toS3({
        videoProfiles: [
          { ...profile, output: 's3://one/a/x.mp4' },
          { ...profile, output: 's3://two/a/x.mp4' },
          { ...profile, output: 'y.mp4' },
        ],
        bucket_output_path: 's3://zero/v',
        audio_output_path: 's3://sound',
      }),
    )
    const spec = toSpec(config, 'film.mp4')
    expect(outputLocations('aws', config).roots).toEqual(['s3://zero', 's3://one', 's3://two', 's3://sound'])
    expect(spec.video.map((each) => outputFilePath(spec, each, 360))).toEqual([
      '@one/a/x.mp4',
      '@two/a/x.mp4',
      'v/y.mp4',
    ])
    expect(audioFilePath(spec, spec.audio[0]!)).toBe('@sound/film_audio_0.m4a')
    expect(outputDirectories(config)).toEqual(['@one/a', '@two/a', 'v', '@sound'])
    expect(secrets.output).toMatchObject(aws)
    const places = allowedOutputsOf(config, 'film.mp4', 'job-1')
    const judge = (path: string) => places.violation('parts', path, 'video/mp4')
    expect(['@one/a/x.mp4', 'v/y.mp4'].map(judge)).toEqual([null, null])
    expect(
      ['a/x.mp4', '@three/a/x.mp4', '@two/other.mp4', '@two/../one/a/x.mp4', 's3://one/a/x.mp4'].map(judge),
    ).toEqual(Array.from({ length: 5 }, () => 'path'))
  })

  it('relative paths are in the bucket of bucket_output_path, else of the first output, else of audio_output_path', () => {
    const root = (changes: object, video: object = {}) =>
      outputLocations('aws', expectAccepted(toS3({ ...changes }, { ...video })).config).roots[0]
    expect(root({ audio_output_path: 's3://sound' }, { output: 's3://two/x.mp4' })).toBe('s3://two')
    expect(root({ audio_output_path: 's3://sound' })).toBe('s3://sound')
    expect(
      root({ audio_output_path: 's3://sound', bucket_output_path: 's3://one' }, { output: 's3://two/x.mp4' }),
    ).toBe('s3://one')
  })

  it('the same name in two buckets is two objects, and in one bucket a conflict', () => {
    const two = (second: string) =>
      toS3({
        bucket_output_path: 's3://one',
        videoProfiles: [
          { ...profile, output: 's3://one/x.mp4' },
          { ...profile, output: second },
        ],
      })
    expect(expectAccepted(two('s3://two/x.mp4')).warnings.map(({ code }) => code)).not.toContain('output_path_conflict')
    expect(fieldsAndCodes(expectRefused(two('x.mp4')))).toEqual(['output_path_conflict videoProfiles[1].output'])
  })

  it('an output in another bucket that is the input is refused', () => {
    const both = { input: 's3://two/a/x.mp4', cloud_credentials: { input: aws } }
    const body = request({ ...both, bucket_output_path: 's3://one' }, { output: 's3://two/a/x.mp4' })
    expect(fieldsAndCodes(expectRefused(body))).toEqual(['output_path_conflict videoProfiles[0].output'])
  })

  it('several buckets of Oracle and several hosts', () => {
    expect(bucketPrefix('oci://space/films')).toBe('@space.films')
    expect(bucketPrefix('https://media.example:8443')).toBe('@media.example_8443')
    const { config } = expectAccepted(
      request(
        {
          bucket_output_path: 'https://a.example/x',
          cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'http' } },
        },
        { output: 'https://a.example:8443/y.mp4' },
      ),
    )
    const spec = toSpec(config, '12.mp4')
    expect(outputFilePath(spec, spec.video[0]!, 1080)).toBe('@a.example_8443/y.mp4')
  })

  it('in segmented output, an address below bucket_output_path is the rendition’s directory', () => {
    const segmented = { bucket_output_path: 's3://films/show', output_container: 'hls' }
    const { config } = expectAccepted(toS3(segmented, { output: 's3://films/show/hd/video.mp4' }))
    expect(toSpec(config, 'film.mp4').video[0]?.output).toBe('hd/video.mp4')
    expect(outputDirectories(config)).toEqual(['show'])
    expect(config.videoProfiles[0]?.output).toBe('s3://films/show/hd/video.mp4')
    for (const output of ['s3://films/other/hd', 's3://two/show/hd', 's3://films/show', 's3://films/showing/hd'])
      expect(expectRefused(toS3(segmented, { output }))).toMatchObject(
        [
          {
            code: 'invalid_output_path',
            field: 'videoProfiles[0].output',
            message: /below bucket_output_path|has no file name/,
          },
        ].map(({ message, ...rest }) => ({ ...rest, message: expect.stringMatching(message) as string })),
      )
  })

  it('in segmented output, audio files may be in another bucket', () => {
    const { config } = expectAccepted(
      toS3({ bucket_output_path: 's3://films/show', output_container: 'hls', audio_output_path: 's3://sound/a' }),
    )
    expect(toSpec(config, 'film.mp4')).toMatchObject({ outputDirectory: 'show', audioDirectory: '@sound/a' })
    expect(outputDirectories(config)).toEqual(['show', '@sound/a'])
  })
})

describe('credentials of aws', () => {
  it('session_token and endpoint are accepted, and the token is never returned', () => {
    const more = { session_token: 'token-canary', endpoint: 'https://account.r2.cloudflarestorage.com', region: 'auto' }
    const { config, secrets } = expectAccepted(toS3({ bucket_output_path: 's3://films' }, {}, more))
    expect(secrets.output).toMatchObject(more)
    expect(JSON.stringify(config)).not.toContain('canary')
    expect(config.cloud_credentials.output.endpoint).toBe(more.endpoint)
  })

  it.each([
    ['endpoint', 'ftp://s3.example.com'],
    ['endpoint', 'https://user:pw@s3.example.com'],
    ['endpoint', 'https://s3.example.com?x=1'],
    ['endpoint', 'https://s3.example.com/../x'],
    ['endpoint', 's3.example.com'],
    ['endpoint', 'https://s3.example.com/films'],
    ['endpoint', 'https://s3.example.com:9000/a/b/'],
    ['endpoint', 'https://s3.example.com/./'],
    ['endpoint', 'https://s3.example.com\\films'],
    ['region', 'eu-west-1.evil.example'],
    ['access_key', 'kéy'],
    ['session_token', 'two words'],
  ])('%s %j is refused', (name, value) => {
    const body = toS3({ bucket_output_path: 's3://films' }, {}, { [name]: value })
    expect(fieldsAndCodes(expectRefused(body))).toEqual([`invalid_value cloud_credentials.output.${name}`])
  })

  it('an endpoint with a path is rejected with the correct form; a trailing slash is ignored', () => {
    const to = (endpoint: string) => toS3({ bucket_output_path: 's3://films' }, {}, { endpoint })
    expect(expectRefused(to('https://s3.example.com/films'))[0]?.message).toMatch(
      /must not have a path.*buckets are named in/,
    )
    expect(expectAccepted(to('https://s3.example.com:9000/')).warnings).toEqual([])
  })

  it('endpoint of another provider is refused: the objects would go elsewhere', () => {
    const input = { cloud_provider: 'file-upload', endpoint: 'https://s3.example' }
    expect(fieldsAndCodes(expectRefused(request({ cloud_credentials: { input } })))).toEqual([
      'not_available cloud_credentials.input.endpoint',
    ])
  })
})

describe('an object of the service store as input', () => {
  const own = { cloud_credentials: { input: { cloud_provider: 'vendor-store' } } }
  it.each(['vendor-store://out/default/job-1/a/b.mp4', 'out/job-1/a/b.mp4'])('%s', (input) => {
    expect(expectAccepted(request({ input, ...own })).config.input).toBe(input)
  })
  it.each(['b.mp4', 'vendor-store://in/default/1', 'out/job-1', 'out/job-1/../x'])('%s shows the form', (input) => {
    expect(fieldsAndCodes(expectRefused(request({ input, ...own })))).toEqual(['invalid_input_address input'])
  })
})

describe('outputs by http', () => {
  const toHttp = (changes: Record<string, unknown>, video: Record<string, unknown> = {}) =>
    request(
      {
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'http' } },
        ...changes,
      },
      video,
    )

  it.each([
    ['https://media.example:8443/a/b', '', 'https://media.example:8443', 'a/b/12_0_1080p.mp4'],
    ['https://media.example/', 'c/ü x.mp4', 'https://media.example', 'c/ü x.mp4'],
    ['', 'http://media.example/c/x.mp4', 'http://media.example', 'c/x.mp4'],
  ])('bucket_output_path %j, output %j → %s and %s', (bucket_output_path, output, root, key) => {
    const { config } = expectAccepted(toHttp({ bucket_output_path }, { output }))
    const spec = toSpec(config, '12.mp4')
    expect(outputLocations('http', config).roots[0]).toBe(root)
    expect(outputFilePath(spec, spec.video[0]!, 1080)).toBe(key)
  })

  it.each<[string, object, object, string]>([
    ['no path names the host', {}, {}, 'required bucket_output_path'],
    ['a query at another host', { audio_output_path: 'https://b.example/x?sig=secret' }, {}, 'audio_output_path'],
    ['user info at another host', { audio_output_path: 'https://me:pw@b.example/x' }, {}, 'audio_output_path'],
    ['another scheme', { bucket_output_path: 's3://films/x' }, {}, 'bucket_output_path'],
    ['a query', { bucket_output_path: 'https://a.example/x?sig=secret' }, {}, 'bucket_output_path'],
    ['a fragment', { bucket_output_path: 'https://a.example/x#y' }, {}, 'bucket_output_path'],
    ['percent-encoding', { bucket_output_path: 'https://a.example/%2e%2e/x' }, {}, 'bucket_output_path'],
    ['user info', { bucket_output_path: 'https://me:pw@a.example/x' }, {}, 'bucket_output_path'],
    ['a parent', { bucket_output_path: 'https://a.example/x/../y' }, {}, 'bucket_output_path'],
    ['a backslash', { bucket_output_path: 'https://a.example\\@b.example/x' }, {}, 'bucket_output_path'],
    ['no host', { bucket_output_path: 'https:///x' }, {}, 'bucket_output_path'],
  ])('refused: %s', (_title, changes, video, expected) => {
    const problems = expectRefused(toHttp({ ...changes }, { ...video }))
    expect(fieldsAndCodes(problems).join()).toContain(expected)
    expect(JSON.stringify(problems)).not.toMatch(/sig=secret|me:pw/)
  })

  it('output credentials default to those of the input', () => {
    const input = { cloud_provider: 'http', access_key: 'me', secret_key: 'pw' }
    const { config, secrets } = expectAccepted(
      request({
        input: 'https://a.example/x.mp4',
        bucket_output_path: 'http://b.example/y',
        cloud_credentials: { input },
      }),
    )
    expect(config.cloud_credentials.output.cloud_provider).toBe('http')
    expect(secrets.output).toMatchObject({ access_key: 'me', secret_key: 'pw' })
  })
})
