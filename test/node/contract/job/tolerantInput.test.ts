// What a body may contain without need: null for a missing member, numbers as text, values beyond a range that
// templates contain, fields without effect. Driven by the schema, so that it covers new fields too.
import { describe, expect, it } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { builtInPresets, mergePreset } from '#contract/job/builtInPresets.ts'
import { credentialFields } from '#contract/job/fields/credentials.ts'
import { animatedPreviewFields, stillsFields, waveformFields } from '#contract/job/fields/extracts.ts'
import type { Fields } from '#contract/job/fields/field.ts'
import { jobFields } from '#contract/job/fields/job.ts'
import { audioProfileFields, videoProfileFields } from '#contract/job/fields/profiles.ts'
import { PROVIDERS } from '#contract/job/stores/registry.ts'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

const REQUIRED = new Set(['input', 'width', 'height', 'video_bitrate'])
const CAPTIONS = [{ input: 'https://h.example/a.srt', language: 'de' }]
/** Their width and height are optional. */
const WITHOUT_REQUIRED = new Set(['stills[0]', 'animated_preview', 'waveform'])
const AWS = { cloud_provider: 'aws', access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'wJalrXUtnFEMI' }

interface Level {
  name: string
  fields: Fields
  body: (members: Record<string, unknown>) => Record<string, unknown>
}

const levels: Level[] = [
  { name: 'the job', fields: jobFields, body: (members) => request(members) },
  { name: 'videoProfiles[0]', fields: videoProfileFields, body: (members) => request({}, members) },
  { name: 'audioProfiles[0]', fields: audioProfileFields, body: (members) => request({}, {}, members) },
  {
    name: 'stills[0]',
    fields: stillsFields,
    body: (members) =>
      request({ stills: [{ ...('count' in members ? { at_seconds: 1 } : { count: 2 }), ...members }] }),
  },
  {
    name: 'animated_preview',
    fields: animatedPreviewFields,
    body: (members) => request({ animated_preview: members }),
  },
  { name: 'waveform', fields: waveformFields, body: (members) => request({ waveform: members }) },
  {
    name: 'cloud_credentials.input',
    fields: credentialFields,
    body: (members) =>
      request({ input: 's3://bucket/key.mp4', cloud_credentials: { input: { ...AWS, ...members }, output: null } }),
  },
]

describe('null is the same as leaving a field out', () => {
  it.each(
    levels.flatMap(({ name, fields, body }) =>
      Object.keys(fields).map((field) => {
        const isRequired = REQUIRED.has(field) && !WITHOUT_REQUIRED.has(name)
        return [`${name}: ${field}`, isRequired ? `required ${field}` : field, body] as const
      }),
    ),
  )('%s', (_title, named, body) => {
    const field = named.replace('required ', '')
    const [withNull, without] = [body({ [field]: null }), body({ [field]: undefined })]
    if (named !== field) {
      expect(expectRefused(withNull)).toEqual(expectRefused(without))
      expect(fieldsAndCodes(expectRefused(withNull))[0]).toMatch(/^required /)
    } else if (field === 'cloud_provider' || field === 'access_key' || field === 'secret_key') {
      expect(expectRefused(withNull)).toEqual(expectRefused(without))
    } else {
      expect(expectAccepted(withNull).warnings).toEqual(expectAccepted(without).warnings)
      expect(toSpec(expectAccepted(withNull).config)).toEqual(toSpec(expectAccepted(without).config))
    }
  })
  it('in all optional fields of a body at once, in lists and credentials too', () => {
    const nulls = (shape: object) =>
      Object.fromEntries(Object.keys(shape).flatMap((name) => (REQUIRED.has(name) ? [] : [[name, null]])))
    const body = {
      ...request(nulls(jobFields), nulls(videoProfileFields), nulls(audioProfileFields)),
      cloud_credentials: { input: { ...nulls(credentialFields), cloud_provider: 'file-upload' }, output: null },
    }
    const { videoProfiles, audioProfiles, output_container, gop_length } = expectAccepted(body).config
    expect([output_container, gop_length]).toEqual(['mp4', 1])
    expect(videoProfiles).toEqual([{ width: 1920, height: 1080, video_bitrate: 2400, video_framerate: '1x' }])
    expect(audioProfiles).toEqual([{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '256' }])
  })
  it('as a list, an alias, a ladder and a credential', () => {
    expect(fieldsAndCodes(expectRefused(request({ videoProfiles: null, audioProfiles: null })))).toEqual([
      'required videoProfiles',
      'required audioProfiles',
    ])
    expect(fieldsAndCodes(expectRefused(request({ cloud_credentials: null })))).toContain('required cloud_credentials')
    expect(expectAccepted(request({ videoProfiles: null, ladder: 'auto', gop_length: null })).config.gop_length).toBe(2)
    expect(
      expectAccepted(request({ separate_audio: true, master_variant_mode: null })).config.master_variant_mode,
    ).toBe(true)
  })
  it('a null field takes the value of the preset', () => {
    const preset = builtInPresets.find(({ preset_id: id }) => id === 'hls')?.job ?? {}
    const merged = mergePreset(preset, { videoProfiles: null, output_container: null, audioProfiles: [] })
    expect(merged).toMatchObject({ ladder: 'auto', output_container: 'hls', audioProfiles: [] })
  })
})

describe('a number may come as text', () => {
  const numeric = levels.flatMap(({ name, fields, body }) =>
    Object.entries(fields).flatMap(([field, { kind, additionalValue, minimum, maximum, exclusiveMinimum }]) => {
      if (kind !== 'number') return []
      const values = [exclusiveMinimum === true ? (maximum ?? 1) / 2 : minimum, maximum, additionalValue].filter(
        (each) => each !== undefined,
      )
      return [[`${name}: ${field}`, field, field === 'video_bitrate' ? [2400, 2400.5] : values, body] as const]
    }),
  )
  it('of every numeric field', () => {
    expect(numeric.length).toBeGreaterThan(30)
  })
  it.each(numeric)('%s', (_title, field, values, body) => {
    const judge = (value: number | string) => {
      // Large sizes need more bits; the message is the same for all kinds.
      const sent = body({ [field]: value })
      try {
        const { config, warnings } = expectAccepted(sent)
        return { config, warnings }
      } catch (error) {
        return String(error)
      }
    }
    for (const value of values) {
      expect(judge(String(value))).toEqual(judge(value))
      expect(JSON.stringify(judge(value))).not.toContain('invalid_type')
    }
  })
  it('and is stored as the number', () => {
    const { config } = expectAccepted(request({ gop_length: '1', audio_volume: '50.5', loudness_lufs: null }))
    expect([config.gop_length, config.audio_volume]).toEqual([1, 50.5])
  })
})

describe('a value beyond a range that a template may carry is clamped', () => {
  it.each([
    ['ip_distance', 0, 1],
    ['ip_distance', -3, 1],
    ['ip_distance', '9', 8],
    ['gop_length', 0, 1],
    ['gop_length', -1, 1],
    ['gop_length', 61, 60],
    ['segment_length', 0, 6],
    ['segment_length', '-2', 6],
    ['segment_length', 600, 60],
  ])('%s %s → %s', (field, value, used) => {
    const { config, warnings } = expectAccepted(request({ output_container: 'hls', [field]: value }))
    expect(config).toMatchObject({ [field]: used })
    expect(fieldsAndCodes(warnings)).toEqual([`value_clamped ${field}`])
    expect(warnings[0]?.message).toContain(`${used} is used`)
  })
  it.each([
    ['ip_distance', 1],
    ['ip_distance', 8],
    ['gop_length', 0.04],
    ['gop_length', 60],
    ['segment_length', 0.5],
  ])('%s %s is left alone', (field, value) => {
    const { config, warnings } = expectAccepted(request({ output_container: 'hls', [field]: value }))
    expect(config).toMatchObject({ [field]: value })
    expect(warnings).toEqual([])
  })
})

describe('a field that cannot matter warns and never refuses', () => {
  const s3 = {
    input: 's3://bucket/key.mp4',
    cloud_credentials: { input: AWS, output: AWS },
  }
  it.each<[title: string, body: Record<string, unknown>, field: string]>([
    ['a tar of an mp4 file', request({ create_tar_file: true }), 'create_tar_file'],
    ['a tar of a ts file', request({ create_tar_file: true, output_container: 'ts' }), 'create_tar_file'],
    ['captions of a ts file', request({ captions: CAPTIONS, output_container: 'ts' }), 'captions'],
    ['captions of Smooth Streaming', request({ captions: CAPTIONS, output_container: 'silverlight' }), 'captions'],
    ['captions of audio alone', request({ captions: CAPTIONS, videoProfiles: [], audio_output_path: 'a' }), 'captions'],
    [
      'audio_profiles of a template without audio',
      request({ audioProfiles: [] }, { audio_profiles: '0' }),
      'videoProfiles[0].audio_profiles',
    ],
    ['thumbnails of single files', request({ thumbnails: true }), 'thumbnails'],
    ['the range of the source with h.264', request({ dynamic_range: 'source' }), 'dynamic_range'],
    [
      'a PID of cues in CMAF',
      request({ output_container: 'hls', segmented_output_dash: true, scte35_passthough: true, scte35_pid_remap: 500 }),
      'scte35_pid_remap',
    ],
    [
      'a PID of cues in HLS with hevc',
      request({ output_container: 'hls', video_codec: 'hevc', scte35_passthough: true, scte35_pid_remap: 500 }),
      'scte35_pid_remap',
    ],
    [
      'a directory beside complete addresses',
      request({ ...s3, bucket_output_path: 's3://bucket/unused' }, { output: 's3://bucket/a.mp4' }),
      'bucket_output_path',
    ],
  ])('%s', (_title, body, field) => {
    expect(fieldsAndCodes(expectAccepted(body).warnings)).toEqual([`no_effect ${field}`])
  })
  it.each([
    ['hls', {}],
    ['ts', {}],
    ['ts', { segmented_output_hls: true }],
  ])('a PID of cues has an effect in %s %j', (output_container, more) => {
    const { warnings } = expectAccepted(
      request({ output_container, ...more, scte35_passthough: true, scte35_pid_remap: 500 }),
    )
    expect(warnings).toEqual([])
  })

  const members = {
    access_key: 'AKIAIOSFODNN7EXAMPLE',
    secret_key: 'secret',
    region: 'us-east-1',
    tenancy_ocid: 'x',
    user_ocid: 'x',
    oci_fingerprint: 'x',
    project_id: 'x',
    client_email: 'a@b.example',
    client_id: 'x',
    private_key_id: 'x',
    private_key: 'x',
    session_token: 'x',
  }
  const inputs = {
    aws: 's3://bucket/key.mp4',
    oracle: 'oci://namespace/bucket/key.mp4',
    gcloud: 'gs://bucket/key.mp4',
    http: 'https://media.example/key.mp4',
    'file-upload': '12',
    'vendor-store': 'out/job-1/a.mp4',
  }
  const used = {
    aws: ['access_key', 'secret_key', 'region', 'session_token'],
    oracle: ['access_key', 'secret_key', 'region'],
    gcloud: ['access_key', 'secret_key', 'project_id', 'client_id'],
    http: ['access_key', 'secret_key'],
    'file-upload': [],
    'vendor-store': [],
  }
  it.each(PROVIDERS)('members of a credential that %s does not use', (cloud_provider) => {
    // With a key of each kind, the intended one cannot be known.
    const { private_key, ...pair } = members
    const one = cloud_provider === 'oracle' || cloud_provider === 'gcloud' ? pair : { ...pair, private_key }
    const input = { cloud_provider, ...one }
    const output = { cloud_provider: 'vendor-store' }
    const { warnings } = expectAccepted(
      request({ input: inputs[cloud_provider], cloud_credentials: { input, output } }),
    )
    const reported = Object.keys(one).filter((name) => !(used[cloud_provider] as string[]).includes(name))
    expect(fieldsAndCodes(warnings).toSorted()).toEqual(
      reported.map((name) => `no_effect cloud_credentials.input.${name}`).toSorted(),
    )
    expect(JSON.stringify(warnings)).not.toContain(members.access_key)
  })
})

describe('a credential without cloud_provider', () => {
  const keys = { access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'secret', region: 'eu-frankfurt-1' }
  it.each([{}, { cloud_provider: null }])('%j is one of oracle, with a warning', (none) => {
    const { config, secrets, warnings } = expectAccepted(
      request({ input: 'oci://namespace/bucket/key.mp4', cloud_credentials: { input: { ...none, ...keys } } }),
    )
    expect(config.cloud_credentials.input?.cloud_provider).toBe('oracle')
    expect(secrets.input?.cloud_provider).toBe('oracle')
    expect(fieldsAndCodes(warnings)).toEqual(['provider_assumed cloud_credentials.input.cloud_provider'])
  })
  it('as output too', () => {
    const body = request({
      bucket_output_path: 'oci://namespace/bucket/out',
      cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: keys },
    })
    expect(expectAccepted(body).config.cloud_credentials.output.cloud_provider).toBe('oracle')
    expect(fieldsAndCodes(expectAccepted(body).warnings)).toEqual([
      'provider_assumed cloud_credentials.output.cloud_provider',
    ])
  })
})
