// In charge of: what a request says about stores: credentials, buckets, and where each output goes.
import { describe, expect, it } from 'vitest'
import { outputDirectories, rootOf } from '#contract/destination.ts'
import { toSpec } from '#contract/job.ts'
import { audioFilePath, outputPath } from '#contract/outputs.ts'
import { accept, names, refuse, request } from './request.ts'

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
    const { config } = accept(toS3({ bucket_output_path }, { output }))
    const spec = toSpec(config, '12.mp4')
    expect(rootOf('aws', config)).toBe('s3://films')
    expect(outputPath(spec, spec.video[0]!, 1080)).toBe(key)
    expect(outputDirectories(config)).toEqual(directories)
  })

  it('the files of a ladder go into the directory of derived names', () => {
    const { config } = accept(toS3({ bucket_output_path: 's3://films/v', ladder: 'auto', videoProfiles: [] }))
    expect(outputDirectories(config)).toEqual(['v'])
    expect(rootOf('aws', config)).toBe('s3://films')
  })

  it('audio files go where audio_output_path says, in the same bucket', () => {
    const changes = { bucket_output_path: 's3://films/v', audio_output_path: 's3://films/sound' }
    const { config } = accept(toS3(changes))
    const spec = toSpec(config, 'x.mp4')
    expect(audioFilePath(spec, spec.audio[0]!)).toBe('sound/x_audio_0.m4a')
    expect(outputDirectories(config)).toEqual(['v', 'sound'])
  })

  it.each<[string, object, object, string]>([
    ['no path names the bucket', {}, {}, 'required bucket_output_path'],
    ['only a directory is named', { bucket_output_path: 'a/b' }, {}, 'required bucket_output_path'],
    [
      'two buckets',
      { bucket_output_path: 's3://one/a' },
      { output: 's3://two/x.mp4' },
      'invalid_output_path videoProfiles[0].output',
    ],
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
    expect(names(refuse(toS3({ ...changes }, { ...video })))).toContain(problem)
  })

  it('an output that is the input is refused, however it is written', () => {
    const both = { input: 's3://films/a/x.mp4', cloud_credentials: { input: aws } }
    const body = request({ ...both, bucket_output_path: 's3://films/a' }, { output: 'x.mp4' })
    expect(names(refuse(body))).toEqual(['output_path_conflict videoProfiles[0].output'])
  })
})

describe('credentials of aws', () => {
  it('session_token and endpoint are taken, and the token is never shown', () => {
    const more = { session_token: 'token-canary', endpoint: 'https://account.r2.cloudflarestorage.com', region: 'auto' }
    const { config, secrets } = accept(toS3({ bucket_output_path: 's3://films' }, {}, more))
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
    expect(names(refuse(body))).toEqual([`invalid_value cloud_credentials.output.${name}`])
  })

  it('an endpoint with a path is told what to name instead; a slash at its end is none', () => {
    const to = (endpoint: string) => toS3({ bucket_output_path: 's3://films' }, {}, { endpoint })
    expect(refuse(to('https://s3.example.com/films'))[0]?.message).toMatch(/must not have a path.*buckets are named in/)
    expect(accept(to('https://s3.example.com:9000/')).warnings).toEqual([])
  })

  it('endpoint of another provider is refused: the objects would go elsewhere', () => {
    const input = { cloud_provider: 'file-upload', endpoint: 'https://s3.example' }
    expect(names(refuse(request({ cloud_credentials: { input } })))).toEqual([
      'not_available cloud_credentials.input.endpoint',
    ])
  })
})

describe('an own object as input', () => {
  const own = { cloud_credentials: { input: { cloud_provider: 'vendor-store' } } }
  it.each(['vendor-store://out/default/job-1/a/b.mp4', 'out/job-1/a/b.mp4'])('%s', (input) => {
    expect(accept(request({ input, ...own })).config.input).toBe(input)
  })
  it.each(['b.mp4', 'vendor-store://in/default/1', 'out/job-1', 'out/job-1/../x'])('%s shows the form', (input) => {
    expect(names(refuse(request({ input, ...own })))).toEqual(['invalid_input_address input'])
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
    const { config } = accept(toHttp({ bucket_output_path }, { output }))
    const spec = toSpec(config, '12.mp4')
    expect(rootOf('http', config)).toBe(root)
    expect(outputPath(spec, spec.video[0]!, 1080)).toBe(key)
  })

  it.each<[string, object, object, string]>([
    ['no path names the host', {}, {}, 'required bucket_output_path'],
    [
      'another host',
      { bucket_output_path: 'https://a.example/x' },
      { output: 'https://b.example/y.mp4' },
      'videoProfiles[0].output',
    ],
    [
      'another port',
      { bucket_output_path: 'https://a.example/x' },
      { output: 'https://a.example:8443/y.mp4' },
      'videoProfiles[0].output',
    ],
    ['another scheme', { bucket_output_path: 's3://films/x' }, {}, 'bucket_output_path'],
    ['a query', { bucket_output_path: 'https://a.example/x?sig=secret' }, {}, 'bucket_output_path'],
    ['a fragment', { bucket_output_path: 'https://a.example/x#y' }, {}, 'bucket_output_path'],
    ['percent-encoding', { bucket_output_path: 'https://a.example/%2e%2e/x' }, {}, 'bucket_output_path'],
    ['user info', { bucket_output_path: 'https://me:pw@a.example/x' }, {}, 'bucket_output_path'],
    ['a parent', { bucket_output_path: 'https://a.example/x/../y' }, {}, 'bucket_output_path'],
    ['a backslash', { bucket_output_path: 'https://a.example\\@b.example/x' }, {}, 'bucket_output_path'],
    ['no host', { bucket_output_path: 'https:///x' }, {}, 'bucket_output_path'],
  ])('refused: %s', (_title, changes, video, expected) => {
    const problems = refuse(toHttp({ ...changes }, { ...video }))
    expect(names(problems).join()).toContain(expected)
    expect(JSON.stringify(problems)).not.toMatch(/sig=secret|me:pw/)
  })

  it('credentials are those of the input where the output has none of its own', () => {
    const input = { cloud_provider: 'http', access_key: 'me', secret_key: 'pw' }
    const { config, secrets } = accept(
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
