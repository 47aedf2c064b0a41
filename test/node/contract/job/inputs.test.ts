// In charge of: `inputs` in a request: what is stored and sealed of it, its credentials, and its job specification.
// Not in charge of: invalid values (refusedValues.test.ts).
import { describe, expect, it } from 'vitest'
import { firstInput, inputCredentials, jobInputs } from '#contract/job/jobConfig.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { mergePreset } from '#contract/job/builtInPresets.ts'
import { validatePreset } from '#contract/job/validatePreset.ts'
import { BASE_URL, expectAccepted, expectRefused, fieldsAndCodes, request } from '../requestFixture.ts'

const joined = (inputs: unknown[], changes: Record<string, unknown> = {}, audio: Record<string, unknown> = {}) =>
  request({ input: undefined, inputs, ...changes }, {}, audio)

const aws = { cloud_provider: 'aws', access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'hidden', region: 'eu-west-1' }
const http = { cloud_provider: 'http', access_key: 'reader', secret_key: 'password' }

describe('several inputs', () => {
  it('are stored with their cuts, as they were given', () => {
    const inputs = [
      { input: '12', end_seconds: '00:00:10:12' },
      { input: 13, start_seconds: 90.5, source_streams: { 1: 3, 2: null } },
    ]
    const { config, warnings } = expectAccepted(joined(inputs))
    expect(config.inputs).toEqual([
      { input: '12', end_seconds: '00:00:10:12' },
      { input: '13', start_seconds: 90.5, source_streams: { 1: '3', 2: null } },
    ])
    expect(config).not.toHaveProperty('input')
    expect(fieldsAndCodes(warnings)).toEqual(['no_effect inputs[1].source_streams.2'])
    expect(expectAccepted(JSON.parse(JSON.stringify(config))).config).toEqual(config)
  })

  it('may be 100, and have the credentials of input', () => {
    const { config, secrets } = expectAccepted(joined(Array.from({ length: 100 }, () => ({ input: '12' }))))
    const all = jobInputs(config)
    expect(all).toHaveLength(100)
    expect(all[99]).toEqual({
      address: '12',
      key: 'inputs[99]',
      provider: 'file-upload',
      field: 'inputs[99].input',
      credentialsField: 'cloud_credentials.input',
    })
    expect(inputCredentials(secrets, 99)).toEqual({ cloud_provider: 'file-upload' })
  })

  it('may have credentials of their own, which are redacted and sealed each', () => {
    const { config, secrets } = expectAccepted(
      joined([{ input: 's3://films/a.mp4' }, { input: 'https://media.test/b.mp4' }], {
        cloud_credentials: { inputs: [aws, http] },
      }),
    )
    expect(config.cloud_credentials).toEqual({
      inputs: [
        { ...aws, access_key: 'AKIA…MPLE', secret_key: null },
        { ...http, access_key: '…', secret_key: null },
      ],
      output: { cloud_provider: 'vendor-store' },
    })
    expect(secrets).toEqual({ inputs: [aws, http], output: { cloud_provider: 'vendor-store' }, addresses: {} })
    expect(jobInputs(config).map(({ provider, credentialsField }) => [provider, credentialsField])).toEqual([
      ['aws', 'cloud_credentials.inputs[0]'],
      ['http', 'cloud_credentials.inputs[1]'],
    ])
  })

  it('give the output the credentials of the first piece whose store it names', () => {
    const body = joined([{ input: 'https://media.test/a.mp4' }, { input: 's3://films/b.mp4' }], {
      cloud_credentials: { inputs: [http, aws] },
      bucket_output_path: 's3://films/out',
    })
    const { config, secrets } = expectAccepted(body)
    expect(config.cloud_credentials.output).toMatchObject({ cloud_provider: 'aws', secret_key: null })
    expect(secrets.output).toEqual(aws)
  })

  it('show no query of any address, and seal each under its own key', () => {
    const inputs = ['a', 'b', 'c'].map((name) => ({ input: `https://media.test/${name}.mp4?token=${name}-secret` }))
    const { config, secrets, warnings } = expectAccepted(
      joined([inputs[0], { input: 'https://media.test/plain.mp4' }, inputs[2]], {
        cloud_credentials: { input: { cloud_provider: 'http' } },
      }),
    )
    expect(JSON.stringify([config, warnings])).not.toContain('secret')
    expect(config.inputs?.map(({ input }) => input)).toEqual([
      'https://media.test/a.mp4?…',
      'https://media.test/plain.mp4',
      'https://media.test/c.mp4?…',
    ])
    expect(secrets.addresses).toEqual({ 'inputs[0]': inputs[0]!.input, 'inputs[2]': inputs[2]!.input })
    const problems = expectRefused({ ...config, cloud_credentials: { input: { cloud_provider: 'http' } } })
    expect(fieldsAndCodes(problems)).toEqual([
      'invalid_input_address inputs[0].input',
      'invalid_input_address inputs[2].input',
    ])
  })

  it('keep unknown members with a limited number of warnings', () => {
    const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`x${n}`, 1]))
    const { config, warnings } = expectAccepted(
      joined(Array.from({ length: 100 }, () => ({ input: '12', ...unknown, my_password: 'hunter2' }))),
    )
    expect(config.inputs?.[99]).toMatchObject({ input: '12', x39: 1, my_password: null })
    expect(JSON.stringify(config)).not.toContain('hunter2')
    expect(warnings.length).toBeLessThan(300)
  })

  it('name a field of a piece that is misspelt or belongs to the job', () => {
    const { warnings } = expectAccepted(joined([{ input: '12', start_second: 1, video_codec: 'hevc' }]))
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('did you mean start_seconds?'),
      expect.stringContaining('video_codec is a field of the job itself'),
    ])
  })
})

describe('the job specification', () => {
  const second = { input: '13', start_seconds: 2, end_seconds: '00:00:04:05', source_streams: { 1: '3' } }

  it('has the pieces of several inputs, each with its cut and streams', () => {
    const { config } = expectAccepted(joined([{ input: '12' }, second]))
    expect(toSpec(config)).toMatchObject({
      cut: null,
      inputName: '12',
      audio: [{ sourceStream: 1 }],
      inputs: [
        { cut: null, sourceStreams: {} },
        {
          cut: {
            start: { kind: 'seconds', seconds: 2 },
            end: { kind: 'timecode', seconds: 4, frame: 5, dropFrame: false },
          },
          sourceStreams: { 1: 3 },
        },
      ],
    })
  })

  it('of one element is that of input with a cut and with the stream of the piece', () => {
    const { config } = expectAccepted(joined([second]))
    const same = expectAccepted(
      request({ input: '13', start_seconds: 2, end_seconds: '00:00:04:05' }, {}, { source_stream: 3 }),
    )
    expect(toSpec(config)).toEqual(toSpec(same.config))
    expect(toSpec(config).inputs).toBeNull()
  })

  it('takes no playlist among several inputs, and one from a single http address', () => {
    const address = { input: 'https://media.test/a.m3u8' }
    const stores = { cloud_credentials: { input: { cloud_provider: 'http' } } }
    expect(toSpec(expectAccepted(joined([address], stores)).config).allowHlsSource).toBe(true)
    expect(toSpec(expectAccepted(joined([address, address], stores)).config).allowHlsSource).toBe(false)
  })

  it('is named after the first source', () => {
    const stores = { cloud_credentials: { input: { cloud_provider: 'http' } } }
    const inputs = ['bumper', 'film'].map((name) => ({ input: `https://media.test/${name}.mp4` }))
    const { config } = expectAccepted(joined(inputs, stores))
    expect(firstInput(config).address).toBe('https://media.test/bumper.mp4')
    expect(toSpec(config).inputName).toBe('bumper')
  })
})

describe('a preset', () => {
  it('has no inputs', () => {
    const { input: _input, cloud_credentials: _stores, ...job } = request()
    const body = { name: 'joined', job: { ...job, inputs: [{ input: '12' }] } }
    const judged = validatePreset(body, { baseUrl: BASE_URL })
    expect(judged.ok ? [] : fieldsAndCodes(judged.problems as never)).toEqual(['not_available job.inputs'])
  })

  it('with a cut gives way to the cuts of inputs', () => {
    const merged = mergePreset({ start_seconds: 5, end_seconds: 9, gop_length: 2 }, { inputs: [{ input: '12' }] })
    expect(merged).toEqual({ inputs: [{ input: '12' }], gop_length: 2 })
  })
})
