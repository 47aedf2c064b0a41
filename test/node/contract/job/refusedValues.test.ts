// In charge of: what is refused by rules of its own: values of single fields, and every illegal combination. The message
// names the field and what is allowed instead.
// Not in charge of: types, ranges and choices of every field (parameterReference.test.ts), bitrates (rules/).
import { describe, expect, test } from 'vitest'
import { expectExplained, expectRefused, request } from '../requestFixture.ts'

/** Values that are refused with that code. `undefined` = the field is missing. */
type Row = [code: string, ...values: unknown[]]

const address: Row[] = [
  ['invalid_value', 'logo.png', 'ftp://example.com/logo.png', 'file:///etc/passwd'],
  ['user_info_in_address', 'https://me:secret@example.com/logo.png'],
]
const cut: Record<string, Row[]> = {
  start_seconds: [['invalid_value', '1:2', '00:60:00', '00:00:00:1', [], {}]],
  end_seconds: [['invalid_value', '00:00:61', '00:00:00;123', false, []]],
}
const top: Record<string, Row[]> = {
  input: [['required', undefined]],
  service_name: [['invalid_value', 'a\nb']],
  service_provider: [['invalid_value', 'a\u0000b']],
  logo_url: address,
  webhook_url: address,
  cache_control: [
    ['invalid_length', `max-age=1, ${'x'.repeat(200)}`],
    [
      'invalid_value',
      'public max-age=60',
      'public,',
      ', public',
      'max-age=',
      '=60',
      'max-age="60',
      'public\r\nx-evil: 1',
      'public\n',
      ' public',
      'öffentlich',
      'note="\u0000"',
      'note="ü"',
    ],
  ],
  ...cut,
}

const video: Record<string, Row[]> = {
  width: [['required', undefined, null]],
  height: [['required', undefined, null]],
  video_bitrate: [
    ['required', undefined, null],
    ['video_bitrate_too_low', 0, 99, 2250],
    ['video_bitrate_too_high', 300_001],
  ],
  audio_profiles: [
    ['invalid_type', [0], true, {}],
    ['invalid_value', '8', 'all', '0,', '-1', 0.5],
    ['out_of_range', '1', 7, '0,1'],
  ],
}

const audio: Record<string, Row[]> = {
  audio_bitrate: [['audio_bitrate_not_allowed', 768]],
  source_channels: [
    ['invalid_value', '', '1,2,', '1:2:3', 'left', '1,2,3,4,5,6,7', 1.5],
    ['out_of_range', '0', '65', '1,2,3', '33:1'],
  ],
  audio_container: [['unsupported_combination', 'ogg']],
  audio_sample_rate: [['unsupported_combination', 44100]],
}

const piece: Record<string, Row[]> = {
  input: [
    ['required', undefined, null],
    ['invalid_type', true, {}, []],
    ['invalid_length', '', 'x'.repeat(20_000)],
  ],
  ...cut,
  source_streams: [
    ['invalid_type', 'all', 1, true, []],
    ['invalid_value', { 1: 9 }, { 1: 'one' }, { 1: true }],
  ],
}

const caption: Record<string, Row[]> = {
  input: [
    ['required', undefined, null],
    ['invalid_input_address', 'subs.srt', 's3://bucket/a.srt', 'ftp://h.example/a.srt', 'https://h.example/a.srt?…'],
    ['user_info_in_address', 'https://user:pw@h.example/a.srt'],
  ],
  language: [
    ['required', undefined, null],
    ['invalid_value', 'd', 'de-', 'de-a', 'x'.repeat(5000), '12'],
    ['out_of_range', 'de-1996-1996'],
  ],
  label: [['invalid_value', 'a\u0000', '\u2028']],
}

const still: Record<string, Row[]> = {
  at_seconds: [
    ['invalid_value', [[1]]],
    ['out_of_range', -1, 1e9, []],
  ],
  output: [['invalid_output_path', '../up.jpg', '/abs.jpg', 'a//b.jpg', 's3://bucket/a.jpg', 'a.png', 'a']],
}

const store: Record<string, Row[]> = { endpoint: [['not_available', 'https://store.example.com']] }

function rows(table: Record<string, Row[]>): [field: string, code: string, value: unknown][] {
  return Object.entries(table).flatMap(([field, list]) =>
    list.flatMap(([code, ...values]) => values.map((value): [string, string, unknown] => [field, code, value])),
  )
}

/** Codes of the problems of a field. No other field may be reported, and each message must be sufficient. */
function reportedCodes(body: unknown, field: string): string[] {
  const problems = expectRefused(body)
  expect(problems.filter((problem) => problem.field !== field)).toEqual([])
  for (const problem of problems) expectExplained(problem)
  return problems.map((problem) => problem.code)
}

describe('values that no general wording describes', () => {
  test.each(rows(top))('%s: %s for %j', (field, code, value) => {
    expect(reportedCodes(request({ [field]: value }), field)).toContain(code)
  })
  test.each(rows(piece))('inputs[1].%s: %s for %j', (field, code, value) => {
    const inputs = [{ input: '12' }, { input: '13', [field]: value }]
    expect(reportedCodes(request({ input: undefined, inputs }), `inputs[1].${field}`)).toContain(code)
  })
  test.each(rows(caption))('captions[1].%s: %s for %j', (field, code, value) => {
    const usable = { input: 'https://h.example/a.srt', language: 'de' }
    const body = request({ captions: [usable, { ...usable, [field]: value }] })
    expect(reportedCodes(body, `captions[1].${field}`)).toContain(code)
  })
  test.each(rows(video))('videoProfiles[0].%s: %s for %j', (field, code, value) => {
    expect(reportedCodes(request({}, { [field]: value }), `videoProfiles[0].${field}`)).toContain(code)
  })
  test.each(rows(audio))('audioProfiles[0].%s: %s for %j', (field, code, value) => {
    expect(reportedCodes(request({}, {}, { [field]: value }), `audioProfiles[0].${field}`)).toContain(code)
  })
  test.each(rows(still))('stills[0].%s: %s for %j', (field, code, value) => {
    const timing = ['at_seconds', 'every_seconds', 'count'].includes(field) ? {} : { count: 3 }
    const body = request({ stills: [{ ...timing, [field]: value }] })
    expect(reportedCodes(body, `stills[0].${field}`)).toContain(code)
  })
  test.each(rows(store))('cloud_credentials.input.%s: %s for %j', (field, code, value) => {
    const input = { cloud_provider: 'file-upload', [field]: value }
    const problems = expectRefused(request({ cloud_credentials: { input } }))
    const reported = problems.filter((problem) => problem.field === `cloud_credentials.input.${field}`)
    expect(reported.map((problem) => problem.code)).toContain(code)
    for (const problem of reported) expectExplained(problem)
  })
  test.each([
    ['videoProfiles', 'invalid_type', {}],
    [
      'videoProfiles',
      'invalid_length',
      Array.from({ length: 17 }, () => ({ width: 0, height: 0, video_bitrate: 500 })),
    ],
    ['inputs', 'invalid_type', { input: '12' }],
    ['inputs', 'invalid_length', []],
    ['inputs', 'invalid_length', Array.from({ length: 101 }, () => ({ input: '12' }))],
    ['ladder', 'invalid_value', 'Auto'],
    ['audioProfiles', 'required', undefined],
    ['audioProfiles', 'invalid_type', 'none'],
    ['audioProfiles', 'invalid_length', Array.from({ length: 9 }, () => ({ source_stream: 1 }))],
    ['cloud_credentials', 'required', undefined],
    ['cloud_credentials', 'invalid_type', []],
  ])('%s: %s for %j', (field, code, value) => {
    const problems = expectRefused(request({ [field]: value, ...(field === 'inputs' ? { input: null } : {}) }))
    const reported = problems.filter((problem) => problem.field === field)
    expect(reported.map((problem) => problem.code)).toEqual([code])
    for (const problem of reported) expectExplained(problem)
  })
})

test('a problem says what was given and what is allowed, to a person and to a program', () => {
  expect(expectRefused(request({ audio_volume: 250 }))).toEqual([
    {
      code: 'out_of_range',
      field: 'audio_volume',
      message: 'audio_volume must be a number from 0 to 200; 250 was given',
      minimum: 0,
      maximum: 200,
    },
  ])
  expect(expectRefused(request({ video_codec: 'vp9' }))).toEqual([
    {
      code: 'invalid_value',
      field: 'video_codec',
      message: 'video_codec must be one of "h.264", "mpeg2", "hevc", "copy"; "vp9" was given',
      allowed: ['h.264', 'mpeg2', 'hevc', 'copy'],
    },
  ])
})

/** By title. */
type Bodies = Record<string, unknown>

/** `problem`: code and field. `says`: what the message must contain. */
function refused(problem: string, says: string[], bodies: Bodies): [string, unknown, string, string[]][] {
  return Object.entries(bodies).map(([title, body]) => [title, body, problem, says])
}

describe('every combination that is not legal', () => {
  const mpeg2 = { video_bitrate: 8000 }
  const combination = 'unsupported_combination'
  const codec = `${combination} audioProfiles[0].audio_codec`
  const withoutVideo = (output_container: string, audio: Record<string, unknown>) =>
    request({ output_container, videoProfiles: [], audioProfiles: [{ source_stream: 1, ...audio }] })
  const size = { width: 0, height: 0, video_bitrate: 500 }
  const uploads = { cloud_provider: 'file-upload' }
  const two = [{ input: '12' }, { input: '13' }]
  const joined = (changes: Record<string, unknown>) => request({ input: undefined, inputs: two, ...changes })
  const bucket = { cloud_provider: 'aws', access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 's', region: 'us-east-1' }

  const cases = [
    ...refused('required input', ['inputs'], { 'neither input nor inputs': request({ input: null }) }),
    ...refused('conflict inputs', ['input and inputs', 'send one of them'], {
      'input and inputs': request({ inputs: two }),
    }),
    ...refused('conflict start_seconds', ['each element of inputs has its own'], {
      'a cut of the whole job with inputs': joined({ start_seconds: 1 }),
    }),
    ...refused('conflict end_seconds', ['each element of inputs has its own'], {
      'an end of the whole job with inputs': joined({ end_seconds: 1 }),
    }),
    ...refused('out_of_range inputs[1].end_seconds', ['must be after start_seconds 5'], {
      'a piece that ends before it begins': joined({
        inputs: [two[0], { input: '13', start_seconds: 5, end_seconds: 5 }],
      }),
    }),
    ...refused('conflict inputs[0].source_streams', ['source_stream 1 would be silent'], {
      'silence in every piece': joined({ inputs: two.map((each) => ({ ...each, source_streams: { 1: null } })) }),
      'silence in the only piece': joined({ inputs: [{ input: '12', source_streams: { 1: null } }] }),
    }),
    ...refused('conflict cloud_credentials.inputs', ['this job has none'], {
      'credentials of inputs with one input': request({ cloud_credentials: { inputs: [uploads] } }),
    }),
    ...refused('conflict cloud_credentials.inputs', ['contradict each other'], {
      'credentials for all and for each': joined({ cloud_credentials: { input: uploads, inputs: [uploads, uploads] } }),
    }),
    ...refused('invalid_length cloud_credentials.inputs', ['the 2 elements of inputs', '1 elements were given'], {
      'fewer credentials than inputs': joined({ cloud_credentials: { inputs: [uploads] } }),
    }),
    ...refused('invalid_type cloud_credentials.inputs', ['the 2 elements of inputs'], {
      'credentials of inputs that are no list': joined({ cloud_credentials: { inputs: uploads } }),
    }),
    ...refused('required cloud_credentials.inputs[1]', ['cloud_provider'], {
      'a piece without credentials': joined({ cloud_credentials: { inputs: [uploads, null] } }),
    }),
    ...refused('required cloud_credentials.input', ['cloud_provider'], {
      'inputs without any credentials': joined({ cloud_credentials: {} }),
    }),
    ...refused('invalid_input_address inputs[1].input', ['inputs[1].input has the form'], {
      'an address of another store in one piece': joined({ inputs: [two[0], { input: 's3://bucket/key.mp4' }] }),
    }),
    ...refused('user_info_in_address inputs[0].input', ['credentials'], {
      'a password in the address of a piece': joined({
        inputs: [{ input: 'https://me:secret@media.test/a.mp4' }],
        cloud_credentials: { input: { cloud_provider: 'http' } },
      }),
    }),
    ...refused('output_path_conflict videoProfiles[0].output', ['inputs[1].input', 'must not replace it'], {
      'an output that replaces a piece': request(
        {
          input: undefined,
          inputs: [{ input: 's3://films/a.mp4' }, { input: 's3://films/b.mp4' }],
          cloud_credentials: { input: bucket, output: bucket },
        },
        { output: 's3://films/b.mp4' },
      ),
    }),
    ...refused('conflict videoProfiles', ['ladder "auto"'], {
      'video profiles with a ladder': request({ ladder: 'auto' }),
    }),
    ...refused(codec, ['aac'], {
      'mp2 with DASH': request({ segmented_output_dash: true }, {}, { audio_codec: 'mp2' }),
      'mp2 in hls': request({ output_container: 'hls' }, {}, { audio_codec: 'mp2' }),
      'mp2 in silverlight': request({ output_container: 'silverlight' }, {}, { audio_codec: 'mp2' }),
      'ac3 in silverlight': request({ output_container: 'silverlight' }, {}, { audio_codec: 'ac3' }),
    }),
    ...refused(
      codec,
      [],
      Object.fromEntries(
        [
          ['mp3', 'mp4'],
          ['pcm', 'mp4'],
          ['mp3', 'ts'],
          ['opus', 'ts'],
          ['flac', 'ts'],
          ['eac3', 'ts'],
          ['pcm', 'ts'],
        ].map(([audio_codec, output_container]) => {
          const audio_bitrate = ['pcm', 'flac'].includes(audio_codec!) ? undefined : 128
          return [
            `${audio_codec} in ${output_container}`,
            request({ output_container }, {}, { audio_codec, audio_bitrate }),
          ]
        }),
      ),
    ),
    ...refused(codec, ['opus'], {
      'mp3 in hls without video': withoutVideo('hls', { audio_codec: 'mp3' }),
      'pcm in hls without video': withoutVideo('hls', { audio_codec: 'pcm' }),
    }),
    ...refused('required videoProfiles', [], {
      'Smooth Streaming without video': withoutVideo('silverlight', { audio_codec: 'aac' }),
    }),
    ...refused(`${combination} audioProfiles[0].audio_sample_rate`, ['48000'], {
      'opus of 44.1 kHz': request(
        { videoProfiles: [] },
        {},
        {
          audio_codec: 'opus',
          audio_container: 'ogg',
          audio_sample_rate: '44100',
        },
      ),
    }),
    ...refused(`${combination} video_codec`, ['h.264'], {
      'mpeg2 in hls': request({ output_container: 'hls', video_codec: 'mpeg2' }, mpeg2),
      'mpeg2 in silverlight': request({ output_container: 'silverlight', video_codec: 'mpeg2' }, mpeg2),
      'hevc in silverlight': request({ output_container: 'silverlight', video_codec: 'hevc' }),
    }),
    ...refused(`${combination} video_codec`, ['h.264', 'hevc'], {
      'mpeg2 with HLS': request({ segmented_output_hls: true, video_codec: 'mpeg2' }, mpeg2),
      'mpeg2 with DASH': request({ segmented_output_dash: true, video_codec: 'mpeg2' }, mpeg2),
    }),
    ...refused(`${combination} videoProfiles[0]`, ['1920x1152'], {
      'mpeg2 beyond its levels': request(
        { video_codec: 'mpeg2' },
        { width: 3840, height: 2160, video_bitrate: 20_000 },
      ),
    }),
    ...refused(
      'video_bitrate_too_low videoProfiles[0].video_bitrate',
      ['bitrate for this profile and codec should be at least 2300'],
      { 'a bitrate below the minimum of specification 8': request({}, { video_bitrate: 2250 }) },
    ),
    ...refused('video_bitrate_too_high videoProfiles[0].video_bitrate', ['at most 60000'], {
      'a bitrate above the highest level': request({ video_codec: 'hevc' }, { video_bitrate: 60_001 }),
    }),
    ...refused('conflict scte35_passthrough', ['scte35_passthough', 'send only one of them'], {
      'two spellings of cues': request({ scte35_passthrough: true, scte35_passthough: false }),
    }),
    ...refused('conflict separate_audio', ['master_variant_mode', 'send only one of them'], {
      'two spellings of separate audio': request({ separate_audio: true, master_variant_mode: false }),
    }),
    ...refused('conflict loudness_lufs', ['audio_volume', 'leave one of them out'], {
      'a loudness and a volume': request({ loudness_lufs: -23, audio_volume: 50 }),
    }),
    ...refused('output_path_conflict videoProfiles[1].output', ['videoProfiles[0].output', 'needs its own'], {
      'two outputs at one key': request({ videoProfiles: ['a.mp4', './a.mp4'].map((output) => ({ ...size, output })) }),
      // The last letters are of one case.
      'one name for Windows': request({ videoProfiles: ['ας', 'ασ'].map((output) => ({ ...size, output })) }),
    }),
    ...refused('output_path_conflict videoProfiles[1].output', ['videoProfiles[0].output', 'directory of the other'], {
      'a file in a file': request({ videoProfiles: ['a/b', 'a'].map((output) => ({ ...size, output })) }),
    }),
    ...refused('output_path_conflict videoProfiles[0].output', ['audioProfiles[0]', 'use another'], {
      'an output with the name of an audio file': request({ audio_output_path: 'a' }, { output: 'a/x_audio_0.m4a' }),
    }),
    ...refused('invalid_value cloud_credentials.output.cloud_provider', ['vendor-store'], {
      'file-upload as output': request({ cloud_credentials: { input: uploads, output: uploads } }),
    }),
    ...refused('out_of_range videoProfiles[0].audio_profiles', ['positions 0 to 0'], {
      'an audio profile that does not exist': request(
        { audioProfiles: [{ source_stream: 1 }] },
        { audio_profiles: '1' },
      ),
    }),
  ]
  test.each(cases)('%s', (_title, body, expected, says) => {
    const problems = expectRefused(body)
    const problem = problems.find(({ code, field }) => `${code} ${field}` === expected)
    expect(problem, JSON.stringify(problems)).toBeDefined()
    for (const part of says) expect(problem!.message).toContain(part)
    for (const value of problem!.allowed ?? []) expect(problem!.message).toContain(String(value))
  })
})
