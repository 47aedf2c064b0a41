// In charge of: requests that are accepted and refused as a whole: defaults, unknown fields, warnings.
// Not in charge of: values that are refused (refusedValues.test.ts, parameterReference.test.ts).
import { describe, expect, it } from 'vitest'
import { firstInput, outputProvider } from '#contract/job/jobConfig.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, BASE_URL, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

describe('a request that is accepted', () => {
  it('stores the canonical sample with its defaults, and the service store as the output', () => {
    const { config, secrets, warnings } = expectAccepted(request())
    expect(config).toEqual({
      input: `${BASE_URL}/uploads/12`,
      output_container: 'mp4',
      master_variant_mode: false,
      separate_audio: false,
      segmented_output_hls: false,
      segmented_output_dash: false,
      video_codec: 'h.264',
      gop_length: 1,
      scte35_passthough: false,
      audio_volume: 100,
      h264_quality: 'good',
      video_aspect_ratio: 'passthrough',
      force_progressive: false,
      keep_fps: true,
      picture_transform: 'none',
      videoProfiles: [
        {
          output: '',
          width: 1920,
          height: 1080,
          video_bitrate_mode: 'cbr',
          video_bitrate: 2400,
          video_framerate: '1x',
        },
      ],
      audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '256', source_stream: '1' }],
      cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
    })
    expect(secrets).toEqual({
      input: { cloud_provider: 'file-upload' },
      output: { cloud_provider: 'vendor-store' },
      addresses: {},
    })
    expect(warnings).toEqual([])
    expect([firstInput(config).provider, outputProvider(config)]).toEqual(['file-upload', 'vendor-store'])
  })

  it('accepts a stored config as a new request', () => {
    const { config } = expectAccepted(request({ scte35_passthrough: false }))
    expect(expectAccepted(JSON.parse(JSON.stringify(config))).config).toEqual(config)
  })

  it('keeps a field absent that has no default and was not given', () => {
    const { config } = expectAccepted(request({}, { output: undefined, video_bitrate_mode: undefined }))
    expect(Object.keys(config)).not.toContain('ip_distance')
    expect(Object.keys(config.videoProfiles[0]!)).toEqual(['width', 'height', 'video_bitrate', 'video_framerate'])
  })

  it.each([
    ['numbers', 6, 384, 2, 0],
    ['texts', '6', '384', '2', '0'],
  ])('stores audio fields given as %s as texts', (_, audio_channels, audio_bitrate, source_stream, audio_profiles) => {
    const { config } = expectAccepted(request({}, { audio_profiles }, { audio_channels, audio_bitrate, source_stream }))
    expect(config.audioProfiles[0]).toMatchObject({ audio_channels: '6', audio_bitrate: '384', source_stream: '2' })
    expect(config.videoProfiles[0]!.audio_profiles).toBe('0')
  })

  it('stores scte35_passthrough under its legacy name', () => {
    const { config, warnings } = expectAccepted(request({ scte35_passthrough: false }))
    expect(config.scte35_passthough).toBe(false)
    expect(config).not.toHaveProperty('scte35_passthrough')
    expect(warnings).toEqual([])
  })

  it('mirrors separate_audio and master_variant_mode, whichever was given', () => {
    for (const given of ['separate_audio', 'master_variant_mode']) {
      const { config, warnings } = expectAccepted(request({ [given]: true }))
      expect([config.separate_audio, config.master_variant_mode]).toEqual([true, true])
      expect(fieldsAndCodes(warnings)).toEqual(['no_effect master_variant_mode'])
    }
  })
})

describe('unknown fields', () => {
  it('are accepted, echoed and named in warnings, at the top and in profiles', () => {
    const { config, warnings } = expectAccepted(request({ note: { a: [1, 'x'] } }, { colour: 'red' }, { lang: null }))
    expect(config).toMatchObject({ note: { a: [1, 'x'] } })
    expect(config.videoProfiles[0]).toMatchObject({ colour: 'red' })
    expect(config.audioProfiles[0]).toMatchObject({ lang: null })
    expect(fieldsAndCodes(warnings)).toEqual([
      'unknown_field note',
      'unknown_field videoProfiles[0].colour',
      'unknown_field audioProfiles[0].lang',
    ])
  })

  it('cannot reach a prototype', () => {
    const text = JSON.stringify(request({ x: 1 })).replace(
      '"x":1',
      '"__proto__":{"polluted":1},"x":{"__proto__":{"polluted":1},"constructor":2},"toString":3',
    )
    const { config, warnings } = expectAccepted(JSON.parse(text))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(config)).toBe(Object.prototype)
    expect(JSON.stringify(config)).not.toContain('polluted')
    const { x } = config as unknown as { x: object }
    expect(Object.getPrototypeOf(x)).toBe(Object.prototype)
    expect(config).toMatchObject({ x: { constructor: 2 }, toString: 3 })
    expect(fieldsAndCodes(warnings)).toContain('unknown_field __proto__')
  })

  it('by the thousand are summed up', () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`f${index}`, index]))
    expect(expectAccepted(request(many)).warnings).toHaveLength(51)
  })
})

describe('a request that is refused', () => {
  it('names every problem at once, each with its path', () => {
    const body = {
      input: 's3://bucket/key',
      output_container: 'mkv',
      gop_length: 0,
      keep_fps: 'true',
      videoProfiles: [{ width: 1920, height: 1080, video_bitrate: 2250, video_bitrate_mode: 'cbr' }, { height: -2 }, 7],
      audioProfiles: [
        { audio_codec: 'ac3', audio_bitrate: 768 },
        { source_stream: 9, dolby_digital_dialnorm: 32 },
      ],
      cloud_credentials: { input: {} },
    }
    expect(fieldsAndCodes(expectRefused(body)).toSorted()).toEqual(
      [
        'invalid_value output_container',
        'invalid_type keep_fps',
        'invalid_type videoProfiles[2]',
        'required videoProfiles[1].width',
        'out_of_range videoProfiles[1].height',
        'required videoProfiles[1].video_bitrate',
        'video_bitrate_too_low videoProfiles[0].video_bitrate',
        'audio_bitrate_not_allowed audioProfiles[0].audio_bitrate',
        'invalid_value audioProfiles[1].source_stream',
        'out_of_range audioProfiles[1].dolby_digital_dialnorm',
        'invalid_input_address input',
        'required cloud_credentials.input',
        'required cloud_credentials.input.region',
      ].toSorted(),
    )
  })

  it.each([
    [null, 'null'],
    [[], 'an array'],
    ['{}', '"{}"'],
    [undefined, 'nothing'],
  ])('when the body is %j', (body, shown) => {
    expect(expectRefused(body)).toEqual([
      { code: 'invalid_type', field: '', message: `the body must be a JSON object; ${shown} was given` },
    ])
  })

  it('when the body is empty, naming what is required', () => {
    expect(fieldsAndCodes(expectRefused({}))).toEqual([
      'required input',
      'required videoProfiles',
      'required audioProfiles',
      'required cloud_credentials',
    ])
  })

  it('when a credential lacks its provider and is not one of oracle, saying that oracle was assumed', () => {
    const [problem] = expectRefused(request({ cloud_credentials: { input: { region: 'x' } } })).filter(
      ({ field }) => field === 'cloud_credentials.input',
    )
    expect(problem?.message).toMatch(/^cloud_credentials\.input: oracle needs .*cloud_provider is missing.*assumed\)$/)
  })

  it('when it nests without end, even unknown fields', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown
    expect(fieldsAndCodes(expectRefused(request({ deep })))).toEqual(['too_deep '])
    const round: Record<string, unknown> = {}
    round['round'] = round
    expect(fieldsAndCodes(expectRefused(request({ round })))).toEqual(['too_deep '])
  })
})

describe('warnings', () => {
  it.each([
    [
      request({}, { width: 1281, height: 721 }),
      ['rounded_to_even videoProfiles[0].width', 'rounded_to_even videoProfiles[0].height'],
    ],
    [request({}, {}, { source_stream: undefined }), ['audio_without_source_stream audioProfiles[0].source_stream']],
    [request({}, {}, { dolby_digital_dialnorm: 27 }), ['no_effect audioProfiles[0].dolby_digital_dialnorm']],
    [
      request({}, {}, { audio_codec: 'ac3', audio_channels: 6, audio_bitrate: 192 }),
      ['audio_bitrate_low audioProfiles[0].audio_bitrate'],
    ],
    [request({ segment_length: 6 }), ['no_effect segment_length']],
    [request({ video_codec: 'mpeg2', h264_quality: 'best' }, { video_bitrate: 8000 }), ['no_effect h264_quality']],
    [request({ rotation_blackness: 0 }), ['no_effect rotation_blackness']],
    [request({ scte35_pid_remap: 500 }), ['no_effect scte35_pid_remap']],
    [request({ scte35_passthough: true, output_container: 'mp4' }), ['no_effect scte35_passthough']],
    [request({ scte35_passthrough: true, output_container: 'ts', scte35_pid_remap: 500 }), []],
    [request({ scte35_pid_remap: -1 }), []],
    [request({ audioProfiles: [{ source_stream: 1 }, { source_stream: 2 }] }, {}), []],
  ])('%#: %j gives %j', (body, expected) => {
    expect(fieldsAndCodes(expectAccepted(body).warnings)).toEqual(expected)
  })

  it.each([
    ['none', []],
    [' None', []],
    ['', [0, 1]],
    ['1', [1]],
  ])('audio_profiles %j selects %j', (audio_profiles, expected) => {
    const audio = [{ source_stream: 1 }, { source_stream: 2 }]
    const body = request({ audioProfiles: audio, audio_output_path: 'sound' }, { audio_profiles })
    const validation = expectAccepted(body)
    expect(fieldsAndCodes(validation.warnings)).toEqual([])
    expect(toSpec(validation.config).video[0]!.audioProfiles).toEqual(expected)
  })

  it('name an audio profile that no output carries', () => {
    const body = request({ audioProfiles: [{ source_stream: 1 }, { source_stream: 2 }] }, { audio_profiles: '1' })
    expect(fieldsAndCodes(expectAccepted(body).warnings)).toEqual(['audio_profile_unused audioProfiles[0]'])
  })
})
