// In charge of: translating a request to the service's own specification of the job, with all defaults filled in.
import { describe, expect, it, test } from 'vitest'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { expectAccepted, BASE_URL, request } from '../requestFixture.ts'

describe('translation of a request into a job specification', () => {
  it('is complete: defaults, even sizes, lists, a downmix', () => {
    const { config } = expectAccepted(
      request(
        {
          output_container: 'ts',
          video_codec: 'h.264',
          bucket_output_path: 'out/',
          audioProfiles: [
            { source_stream: 1, audio_channels: 6, primary_audio_downmix_to_stereo: true },
            { audio_codec: 'ac3', audio_channels: 6, audio_bitrate: 448 },
          ],
        },
        { width: 1281, height: 0, video_bitrate_mode: undefined, audio_profiles: '1, 0,1' },
      ),
    )
    expect(toSpec(config, 'My film.mov')).toEqual({
      packaging: null,
      captions: [],
      burnIn: null,
      allowUpscaling: null,
      copyIfPossible: false,
      stills: [],
      animatedPreview: null,
      waveform: null,
      cut: null,
      inputs: null,
      ladder: null,
      aspect: 'passthrough',
      transform: 'none',
      barPercent: 0,
      container: 'ts',
      videoCodec: 'h264',
      quality: 'good',
      gopSeconds: 1,
      ipDistance: 3,
      keepFps: true,
      scte35Passthrough: false,
      scte35Pid: null,
      service: {
        profile: null,
        provider: 'Splicepoint',
        id: 1,
        transportStreamId: 1,
        name: 'My_film',
        mapPid: 4096,
        videoPid: 256,
        audioPid: 257,
      },
      logo: null,
      detelecine: false,
      audioVolume: 100,
      loudnessLufs: null,
      program: null,
      maxSourceErrors: null,
      maxChunkSeconds: null,
      dynamicRange: 'sdr',
      closedCaptions: null,
      inputName: 'My_film',
      allowHlsSource: false,
      audioDirectory: null,
      expectedAudioStreams: null,
      outputDirectory: 'out',
      video: [
        {
          index: 0,
          rung: null,
          output: '',
          width: 1280,
          height: 0,
          mode: 'vbr',
          bitrateKbps: 2400,
          frameRateFactor: '1x',
          audioProfiles: [0, 1],
          progressive: false,
          copy: false,
        },
      ],
      audio: [
        {
          index: 0,
          codec: 'aac',
          channels: 2,
          bitrateKbps: 256,
          sampleRate: 48_000,
          bitDepth: null,
          container: 'm4a',
          sourceStream: 1,
          purpose: null,
          downmix: null,
          downmixLfe: null,
          dialnorm: 0,
          optional: false,
          copy: false,
        },
        {
          index: 1,
          codec: 'ac3',
          channels: 6,
          bitrateKbps: 448,
          sampleRate: 48_000,
          bitDepth: null,
          container: 'ac3',
          sourceStream: null,
          purpose: null,
          downmix: null,
          downmixLfe: null,
          dialnorm: 0,
          optional: false,
          copy: false,
        },
      ],
    })
  })

  it('selects all audio when a video profile names none', () => {
    const { config } = expectAccepted(request({ audioProfiles: [{ source_stream: 1 }, { source_stream: 2 }] }))
    expect(toSpec(config).video[0]!.audioProfiles).toEqual([0, 1])
    expect(toSpec(config).inputName).toBe('12')
  })

  it('never throws, whatever a field holds', () => {
    for (const value of [
      null,
      [],
      {},
      '',
      'x',
      0,
      -0,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
      true,
      [[]],
      { a: {} },
      '\ud800',
    ]) {
      for (const name of [...Object.keys(request()), 'logo_url', 'webhook_url', 'endpoint', 'bucket_output_path']) {
        const result = validateJob(request({ [name]: value }), { baseUrl: BASE_URL })
        expect(typeof result.ok).toBe('boolean')
        expect(() => JSON.stringify(result)).not.toThrow()
      }
    }
  })
})

describe('loudness_lufs', () => {
  it.each([-40, -23, -16.5, -5])('%f is accepted', (loudness_lufs) => {
    const { warnings, config } = expectAccepted(request({ loudness_lufs }))
    expect(warnings).toEqual([])
    expect(toSpec(config).loudnessLufs).toBe(loudness_lufs)
  })
})

describe('separate audio of single files', () => {
  const audioOf = (changes: object) => toSpec(expectAccepted(request({ ...changes })).config).video[0]?.audioProfiles
  it.each(['master_variant_mode', 'separate_audio'])(
    'with %s and audio_output_path, the video has no audio',
    (name) => {
      const changes = { [name]: true, audio_output_path: 'audio' }
      expect(audioOf(changes)).toEqual([])
      expect(expectAccepted(request(changes)).warnings).toEqual([])
      expect(toSpec(expectAccepted(request(changes)).config)).toMatchObject({
        audioDirectory: 'audio',
        audio: [{ index: 0 }],
      })
    },
  )
  it('without one of them, it has', () => {
    expect(audioOf({ audio_output_path: 'audio' })).toEqual([0])
    expect(audioOf({ master_variant_mode: true })).toEqual([0])
    expect(expectAccepted(request({ master_variant_mode: true })).warnings).toMatchObject([
      { code: 'no_effect', field: 'master_variant_mode' },
    ])
  })
  it('in segmented output, its audio is a rendition as before', () => {
    expect(audioOf({ master_variant_mode: true, audio_output_path: 'audio', output_container: 'hls' })).toEqual([0])
  })
})

describe('dynamic_range', () => {
  const codecs = { 'h.264': 500, hevc: 500, mpeg2: 3450 } as const
  it.each([
    ['hevc', undefined, 'source'],
    ['hevc', 'sdr', 'sdr'],
    ['hevc', 'source', 'source'],
    ['h.264', undefined, 'sdr'],
    ['h.264', 'sdr', 'sdr'],
    ['h.264', 'source', 'sdr'],
    ['mpeg2', undefined, 'sdr'],
    ['mpeg2', 'source', 'sdr'],
  ] as const)('%s, %s: %s', (video_codec, dynamic_range, meant) => {
    const { config } = expectAccepted(
      request({ video_codec, dynamic_range }, { width: 320, height: 180, video_bitrate: codecs[video_codec] }),
    )
    expect(toSpec(config).dynamicRange).toBe(meant)
  })
})

test('TASK_PROTOCOL is raised with the members of JobSpec', () => {
  const { config } = expectAccepted(request({ logo_url: 'https://h.example/logo.png', segmented_output_hls: true }))
  const { packaging } = toSpec(config)
  const { config: files } = expectAccepted(request({ logo_url: 'https://h.example/logo.png' }))
  const members = [toSpec(config), toSpec(files)].map(membersOf)
  expect(packaging).not.toBeNull()
  expect({ version: TASK_PROTOCOL, members }).toEqual({ version: 8, members: [84, 74] })
})

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, each) => sum + membersOf(each), own)
}
