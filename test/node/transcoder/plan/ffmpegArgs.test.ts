import { describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { ffmpegArgsOf } from '../../../support/transcoder/ffmpegArgsOf.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES, type EngineFeatures } from '../../../../transcoder/plan/model/engineFeatures.ts'
import type { MediaInfo } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

const HEAD = '-nostdin -hide_banner -y -loglevel repeat+level+verbose -nostats -progress pipe:1 -stats_period 0.5'
const SD = '-colorspace bt470bg -color_primaries bt470bg -color_trc smpte170m -color_range tv'
const SET_SD = 'setparams=range=tv:colorspace=bt470bg:color_primaries=bt470bg:color_trc=smpte170m'
const HD = 'setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709'
/** BT.709 to BT.601 at 25 fps, after scaling. */
const RECODED =
  'colorspace=ispace=bt709:space=bt470bg:iprimaries=bt709:primaries=bt470bg:itrc=bt709:trc=bt709:irange=tv:range=tv'
/** Every frame of the 720p source to the kind of its first ones. */
const STEADY =
  'scale=w=if(lt(dar\\,1.777778*0.99)\\,min(1280\\,max(2\\,round(1280*dar/1.777778/2)*2))\\,1280)' +
  ':h=if(gt(dar\\,1.777778*1.01)\\,min(720\\,max(4\\,round(720*1.777778/dar/4)*4))\\,720)' +
  ':eval=frame:interl=-1:flags=bicubic+accurate_rnd+full_chroma_int:in_color_matrix=auto:out_color_matrix=bt709,format=yuv420p,' +
  'pad=1280:720:trunc((ow-iw)/4)*2:trunc((oh-ih)/8)*4:eval=frame'
const RESAMPLED = 'aresample=48000:async=1:min_hard_comp=0.04:first_pts=0,aformat=sample_fmts=fltp'
const STEREO = `${RESAMPLED},pan=stereo|FL=FL+0.707107*FC+0.707107*SL+0.707107*BL+0.5*BC|FR=FR+0.707107*FC+0.707107*SR+0.707107*BR+0.5*BC`
const SURROUND = 'FL=FL|FR=FR|FC=FC|LFE=LFE|SL=SL+BL+0.707107*BC|SR=SR+BR+0.707107*BC'
const SCALED = `zscale=w=320:h=180:filter=lanczos:min=bt709:rin=limited:m=bt709:r=limited,${RECODED}`

function argv(spec: JobSpec, media: MediaInfo = mediaInfo(), abilities?: EngineFeatures): string[] {
  const plan = planJob(spec, media, { features: abilities })
  const outputs = plan.outputs.map((_output, index) => `/task/${index}`)
  return ffmpegArgsOf(plan, { input: 'http://in', inputFlags: ['-flags-of-the-cell'], outputs, threads: 0 })
}

function after(args: readonly string[], flag: string): string | undefined {
  return args[args.indexOf(flag) + 1]
}

/** The filter chains of all graphs. */
function graphs(args: readonly string[]): string[] {
  return args.flatMap((flag, index) => (flag === '-filter_complex' ? args[index + 1]!.split(';') : []))
}

describe('the whole command', () => {
  test('one h264 mp4 with stereo, vbr', () => {
    expect(argv(jobSpec()).join(' ')).toBe(
      [
        HEAD,
        '-flags-of-the-cell -reinit_filter:v 0 -i http://in -filter_complex',
        `[0:V:0]${STEADY},fps=25/1:start_time=0,${SCALED},setsar=1/1:max=65535,format=yuv420p,${SET_SD}[v0] ` +
          `-filter_complex [0:a:0]${STEREO}[a0_0]`,
        '-map [v0] -map [a0_0] -map_metadata -1 -map_chapters -1',
        '-c:v libx264 -preset veryfast -profile:v high -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -bf 2 -b_strategy 0',
        `-b:v 500k -maxrate 750k -bufsize 1500000 -x264-params ratetol=0.25 ${SD}`,
        '-c:a:0 aac -b:a:0 128k -fflags +bitexact -moov_size 48528 -f mp4 file:/task/0',
      ].join(' '),
    )
  })

  test('a ladder of three decodes once and scales each size once from the source', () => {
    const spec = jobSpec({
      video: [
        videoProfile({ width: 1280, height: 720, bitrateKbps: 3000 }),
        videoProfile({ index: 1, width: 640, height: 360, bitrateKbps: 900 }),
        videoProfile({ index: 2, width: 640, height: 360, bitrateKbps: 600 }),
      ],
    })
    const tail = (size: string, colors: string) => `${size}setsar=1/1:max=65535,format=yuv420p,${colors}`
    expect(graphs(argv(spec))).toEqual([
      `[0:V:0]${STEADY},fps=25/1:start_time=0,split=2[s_v0][s_v1_v2]`,
      // The size of the source: no scaler at all.
      `[s_v0]${tail('', HD)}[v0]`,
      `[s_v1_v2]${tail(`zscale=w=640:h=360:filter=lanczos:min=bt709:rin=limited:m=bt709:r=limited,${RECODED},`, SET_SD)},split=2[v1][v2]`,
      `[0:a:0]${STEREO},asplit=3[a0_0][a1_0][a2_0]`,
    ])
  })

  test('mpeg2 with mp2 and ac3 5.1 in a constant transport stream', () => {
    const spec = jobSpec({
      container: 'ts',
      videoCodec: 'mpeg2',
      video: [videoProfile({ width: 720, height: 576, mode: 'cbr', bitrateKbps: 4000, audioProfiles: [0, 1] })],
      audio: [
        audioProfile({ codec: 'mp2', bitrateKbps: 192 }),
        audioProfile({ index: 1, codec: 'ac3', channels: 6, bitrateKbps: 384, sourceStream: 2 }),
      ],
    })
    const media = mediaInfo(
      { fieldOrder: 'tt' },
      { audio: [audioStream({ language: 'deu' }), audioStream({ index: 2, number: 2, codec: 'ac3' })] },
    )
    expect(argv(spec, media).join(' ')).toBe(
      [
        HEAD,
        '-flags-of-the-cell -drc_scale 0 -reinit_filter:v 0 -i http://in -filter_complex',
        `[0:V:0]${STEADY},bwdif=mode=send_field:parity=auto:deint=interlaced,fps=50/1:start_time=0,` +
          `zscale=w=720:h=576:filter=lanczos:min=bt709:rin=limited:m=bt709:r=limited,${RECODED},` +
          'format=yuv420p,tinterlace=mode=interleave_top:flags=low_pass_filter,' +
          `setsar=64/45:max=65535,format=yuv420p,${SET_SD.replace('=', '=field_mode=tff:')}[v0] ` +
          `-filter_complex [0:a:0]${STEREO}[a0_0] ` +
          `-filter_complex [0:a:1]${RESAMPLED},pan=5.1(side)|${SURROUND}[a0_1]`,
        '-map [v0] -map [a0_0] -map [a0_1] -map_metadata -1 -map_chapters -1',
        '-c:v mpeg2video -g 600 -force_key_frames expr:eq(mod(n,25),0) -bf 2 -b_strategy 0 -sc_threshold 1000000000 -flags +cgop+ilme+ildct',
        `-b:v 4000k -maxrate 4000k -bufsize 1835008 -minrate 4000k -a53cc 0 ${SD}`,
        '-c:a:0 mp2 -b:a:0 192k -metadata:s:a:0 language=deu -c:a:1 ac3 -b:a:1 384k -dialnorm:a:1 -31',
        '-fflags +bitexact -f mpegts -max_delay 0 -output_ts_offset 10 -mpegts_flags +resend_headers -pes_payload_size 0 -pcr_period 1 file:/task/0',
      ].join(' '),
    )
  })

  test('hevc cbr in mp4', () => {
    const spec = jobSpec({
      videoCodec: 'hevc',
      quality: 'best',
      video: [videoProfile({ mode: 'cbr', audioProfiles: [] })],
    })
    expect(argv(spec).slice(argv(spec).indexOf('-c:v')).join(' ')).toBe(
      [
        '-c:v libx265 -preset slow -forced-idr 1',
        '-x265-params log-level=error:info=0:keyint=25:min-keyint=25:scenecut=0:open-gop=0:bframes=2:b-adapt=0:b-pyramid=0:strict-cbr=1:hrd=1:vbv-maxrate=500:vbv-bufsize=500',
        `-b:v 500k -maxrate 500k -bufsize 500000 -a53cc 1 ${SD}`,
        '-fflags +bitexact -tag:v hvc1 -moov_size 21168 -f mp4 file:/task/0',
      ].join(' '),
    )
  })
})

describe('separate audio files', () => {
  test('are further outputs of the same process and the same decode', () => {
    const spec = jobSpec({
      audioDirectory: 'a',
      audio: [
        audioProfile(),
        audioProfile({ index: 1, codec: 'ac3' }),
        audioProfile({ index: 2, codec: 'mp2', sourceStream: 2 }),
      ],
    })
    const media = mediaInfo({}, { audio: [audioStream({ language: 'deu' }), audioStream({ index: 2, number: 2 })] })
    const plan = planJob(spec, media)
    expect(plan.audioFiles.map((file) => [file.path, file.contentType])).toEqual([
      ['a/clip_audio_0.m4a', 'audio/mp4'],
      ['a/clip_audio_1.ac3', 'audio/ac3'],
      ['a/clip_audio_2.mp2', 'audio/mpeg'],
    ])
    const outputs = ['/o', '/m4a', '/ac3', '/mp2']
    const args = ffmpegArgsOf(plan, { input: 'http://in', inputFlags: [], outputs, threads: 0 })
    expect(args.slice(args.indexOf('file:/o') + 1).join(' ')).toBe(
      [
        '-map [f0] -map_metadata -1 -map_chapters -1 -c:a:0 aac -b:a:0 128k -metadata:s:a:0 language=deu',
        '-fflags +bitexact -movflags +faststart -f ipod file:/m4a',
        '-map [f1] -map_metadata -1 -map_chapters -1 -c:a:0 ac3 -b:a:0 128k -dialnorm:a:0 -31 -metadata:s:a:0 language=deu',
        '-fflags +bitexact -f ac3 file:/ac3',
        '-map [f2] -map_metadata -1 -map_chapters -1 -c:a:0 mp2 -b:a:0 128k -fflags +bitexact -f mp2 file:/mp2',
      ].join(' '),
    )
    expect(graphs(args).slice(1)).toEqual([`[0:a:0]${STEREO},asplit=3[a0_0][f0][f1]`, `[0:a:1]${STEREO}[f2]`])
  })

  test('a profile without source_stream has none; one path for two is refused', () => {
    expect(
      planJob(jobSpec({ audioDirectory: '', audio: [audioProfile({ sourceStream: null })] }), mediaInfo()).audioFiles,
    ).toEqual([])
    const same = jobSpec({ audioDirectory: 'a', video: [videoProfile({ output: 'a/clip_audio_0.m4a' })] })
    expect(() => planJob(same, mediaInfo())).toThrow(/videoProfiles\[0\] and audioProfiles\[0\] would both write/)
  })

  test.each([
    [0, 10, 10],
    [0, 7, 7],
    [2, 7, 9],
    [0, null, null],
    [0, 12, 10],
  ])('audio that begins at %s and lasts %s s must fill %s s', (startSeconds, durationSeconds, expected) => {
    const media = mediaInfo({}, { audio: [audioStream({ startSeconds, durationSeconds })] })
    expect(planJob(jobSpec({ audioDirectory: 'a' }), media).audioFiles[0]!.durationSeconds).toBe(expected)
  })
})

describe('single flags', () => {
  const presets: [JobSpec['videoCodec'], JobSpec['quality'], string][] = [
    ['h264', 'good', 'veryfast'],
    ['h264', 'better', 'medium'],
    ['h264', 'best', 'slow'],
    ['hevc', 'good', 'veryfast'],
    ['hevc', 'better', 'fast'],
    ['hevc', 'best', 'slow'],
  ]
  test.each(presets)('%s %s is preset %s', (videoCodec, quality, preset) => {
    expect(after(argv(jobSpec({ videoCodec, quality })), '-preset')).toBe(preset)
  })

  test('h264 cbr is signalled by HRD', () => {
    const args = argv(jobSpec({ video: [videoProfile({ mode: 'cbr' })] }))
    expect(after(args, '-x264-params')).toBe('nal-hrd=cbr:force-cfr=1')
    expect(after(args, '-minrate')).toBe('500k')
  })

  test.each([
    ['h264', '-crf 21 -maxrate 500k -bufsize 1000000'],
    ['hevc', '-crf 23 -maxrate 500k -bufsize 1000000'],
    ['mpeg2', '-q:v 4 -maxrate 500k -bufsize 1000000'],
  ] as const)('%s qvbr is constant quality with a cap', (videoCodec, flags) => {
    const args = argv(jobSpec({ videoCodec, video: [videoProfile({ mode: 'qvbr' })] }))
    expect(args.join(' ')).toContain(flags)
    expect(args).not.toContain('-b:v')
  })

  test('unknown length: the header is moved to the front afterwards', () => {
    const args = argv(jobSpec(), mediaInfo({ durationSeconds: null }, { durationSeconds: null }))
    expect(after(args, '-movflags')).toBe('+faststart')
    expect(args).not.toContain('-moov_size')
  })

  test('an ffmpeg 5.1 without caption option gets none for hevc', () => {
    const old = { ...ALL_FEATURES, hevcCaptions: false, captionsAcrossRates: false }
    expect(argv(jobSpec({ videoCodec: 'hevc' }), mediaInfo(), old)).not.toContain('-a53cc')
  })

  test('video that begins late is pulled to 0', () => {
    expect(after(argv(jobSpec(), mediaInfo({ startSeconds: 1.42 }, { startSeconds: 1.4 })), '-itsoffset')).toBe(
      '-0.020000',
    )
  })

  test('threads are named for decoder, filters and each output when they are limited', () => {
    const args = ffmpegArgsOf(planJob(jobSpec(), mediaInfo()), {
      input: 'file:/in',
      inputFlags: [],
      outputs: ['/out'],
      threads: 2,
    })
    expect(args.filter((word) => word === '-threads')).toHaveLength(2)
    expect(after(args, '-filter_complex_threads')).toBe('2')
    expect(argv(jobSpec())).not.toContain('-threads')
  })

  test('x265 gets the size of its thread pool', () => {
    const plan = planJob(jobSpec({ videoCodec: 'hevc', quality: 'good' }), mediaInfo())
    const ends = { input: 'file:/in', inputFlags: [], outputs: ['/out'], threads: 2 }
    expect(after(ffmpegArgsOf(plan, { ...ends, cores: 2 }), '-x265-params')).toContain(':pools=2:')
    expect(after(ffmpegArgsOf(plan, ends), '-x265-params')).not.toContain('pools')
  })

  test('an output without an absolute path is a mistake of ours', () => {
    const plan = planJob(jobSpec(), mediaInfo())
    expect(() => ffmpegArgsOf(plan, { input: 'file:/in', inputFlags: [], outputs: ['-x.mp4'], threads: 0 })).toThrow(
      TypeError,
    )
  })
})

describe('single filters', () => {
  const chain = (spec: JobSpec, media: MediaInfo, abilities?: EngineFeatures) =>
    graphs(argv(spec, media, abilities)).join(';')

  test('full range is converted even at the same size', () => {
    const spec = jobSpec({ video: [videoProfile({ width: 1280, height: 720, bitrateKbps: 3000 })] })
    expect(chain(spec, mediaInfo({ pixelFormat: 'yuvj420p', colorRange: 'pc' }))).toContain(
      'zscale=w=1280:h=720:filter=lanczos:min=bt709:rin=full:pin=bt709:tin=bt709:m=bt709:r=limited:p=bt709:t=bt709',
    )
  })
  test('RGB is converted through planar RGB without an input matrix', () => {
    expect(chain(jobSpec(), mediaInfo({ pixelFormat: 'rgb24', colorSpace: null }))).toContain(
      'format=gbrp,zscale=w=320:h=180:filter=lanczos:rin=full:pin=bt709:tin=bt709:m=bt470bg:r=limited:p=bt709:t=bt709,format=yuv420p,colorspace=',
    )
  })
  test('without zscale swscale converts, with its own color names', () => {
    const plain = { ...ALL_FEATURES, zscale: false }
    expect(chain(jobSpec(), mediaInfo(), plain)).toContain(
      'scale=w=320:h=180:flags=lanczos+accurate_rnd+full_chroma_int:in_color_matrix=bt709:in_range=limited:out_color_matrix=bt601:out_range=limited',
    )
  })
  test('HDR is mapped once, before the renditions part', () => {
    const hdr = mediaInfo({
      colorTransfer: 'smpte2084',
      colorPrimaries: 'bt2020',
      colorSpace: 'bt2020nc',
      pixelFormat: 'yuv420p10le',
    })
    const spec = jobSpec({ video: [videoProfile(), videoProfile({ index: 1, width: 640, height: 360 })] })
    expect(chain(spec, hdr).split(';')[0]).toBe(
      `[0:V:0]${STEADY.replace('bt709,format=yuv420p', 'bt2020,format=yuv420p10le')},fps=25/1:start_time=0,zscale=min=bt2020nc:rin=limited:pin=bt2020:tin=smpte2084:t=linear:npl=100,format=gbrpf32le,` +
        'zscale=p=bt709,tonemap=tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=limited,format=yuv420p,split=2[s_v0][s_v1]',
    )
  })
  test('mpeg2 bars are centred on even lines', () => {
    const spec = jobSpec({ videoCodec: 'mpeg2', video: [videoProfile({ width: 720, height: 576, bitrateKbps: 3000 })] })
    expect(chain(spec, mediaInfo({ width: 1280, height: 544 }))).toContain('pad=720:576:0:70:color=black,setsar=64/45')
  })
  const fields = (top: number, bottom: number, progressive: number) => ({
    tff: top,
    bff: bottom,
    progressive,
    neither: 100,
    repeatedTop: 0,
    repeatedBottom: 0,
  })
  const telecined = { ...fields(100, 0, 10), neither: 60, repeatedTop: 20, repeatedBottom: 20 }
  const film = { frameRate: { num: 30000, den: 1001 }, fieldOrder: 'tt', scan: telecined } as const
  const forced = { video: [videoProfile({ progressive: true })] }
  const scans: [string, Partial<JobSpec>, Parameters<typeof mediaInfo>[0], string][] = [
    [
      'interlaced without a flag',
      forced,
      { scan: fields(2, 98, 0) },
      'bwdif=mode=send_frame:parity=bff:deint=all,fps=25/1',
    ],
    [
      'flagged, but progressive',
      forced,
      { fieldOrder: 'tt', scan: fields(0, 0, 100) },
      `[0:V:0]${STEADY},setparams=field_mode=prog,fps=25/1`,
    ],
    ['a pattern that looks like both parities', forced, { scan: fields(43, 38, 19) }, `[0:V:0]${STEADY},fps=25/1`],
    [
      '3:2 that was not asked about',
      forced,
      film,
      `[0:V:0]${STEADY},bwdif=mode=send_frame:parity=auto:deint=interlaced,fps=30000/1001`,
    ],
    [
      '3:2 at 25 is none',
      { detelecine: true, video: [videoProfile({ width: 720, height: 576 })] },
      { ...film, frameRate: { num: 25, den: 1 } },
      'bwdif=mode=send_field:parity=auto:deint=interlaced,fps=50/1',
    ],
  ]
  test.each(scans)('fields: %s', (_title, change, video, expected) => {
    expect(chain(jobSpec(change), mediaInfo(video))).toContain(expected)
  })
  test('interlaced at the size of the source: no line is touched', () => {
    const media = mediaInfo({
      width: 720,
      height: 576,
      fieldOrder: 'bb',
      colorSpace: 'bt470bg',
      colorPrimaries: 'bt470bg',
    })
    const spec = jobSpec({ video: [videoProfile({ width: 0, height: 0, mode: 'cbr', bitrateKbps: 3000 })] })
    expect(chain(spec, media)).toContain(
      ',fps=25/1:start_time=0,setsar=1/1:max=65535,format=yuv420p,setparams=field_mode=bff:range',
    )
    expect(after(argv(spec, media), '-x264-params')).toBe('nal-hrd=cbr:force-cfr=1:bff=1')
    expect(after(argv(spec, media), '-flags')).toBe('+cgop+ilme+ildct')
  })
  const forcing: [string, Partial<JobSpec>, Parameters<typeof mediaInfo>[0]][] = [
    ['hevc', { videoCodec: 'hevc' }, {}],
    ['turned by the job', { aspect: 'rotate_clockwise' }, {}],
    ['turned by the source', {}, { rotation: 90 }],
    ['upside down', { transform: 'vflip' }, {}],
    ['half the rate', { video: [videoProfile({ frameRateFactor: '1/2x' })] }, {}],
    ['twice the rate', { video: [videoProfile({ frameRateFactor: '2x' })] }, {}],
    ['a height of 182', { video: [videoProfile({ width: 0, height: 0 })] }, { height: 182 }],
    ['960x720, a raster that nothing shows interlaced', { video: [videoProfile({ width: 960, height: 720 })] }, {}],
    ['480x360', { video: [videoProfile({ width: 480, height: 360 })] }, { width: 720, height: 576 }],
  ]
  test.each(forcing)('interlacing cannot be preserved: %s', (_title, change, video) => {
    const plan = planJob(jobSpec(change), mediaInfo({ fieldOrder: 'tt', ...video }))
    expect(plan.outputs[0]?.video.scan).toBe('progressive')
    expect(plan.outputs[0]?.video.deinterlace).not.toBe('none')
    expect(plan.warnings.map((warning) => warning.code)).toContain('deinterlaced')
  })
  test('rotation_blackness without bars is warned about', () => {
    const spec = jobSpec({ aspect: 'rotate_clockwise', transform: 'crop', barPercent: 30 })
    expect(planJob(spec, mediaInfo()).warnings).toMatchObject([{ code: 'no_effect', field: 'rotation_blackness' }])
  })
  test('nothing of a job reaches the graph', () => {
    const spec = jobSpec({ inputName: "x';movie=/etc/passwd", video: [videoProfile({ output: "a';movie=b.mp4" })] })
    expect(
      chain(spec, mediaInfo({ colorSpace: "bt709';movie=", colorPrimaries: ';x', colorTransfer: ';y' })),
    ).not.toMatch(/movie|;x|;y/)
  })
})

describe('a logo', () => {
  const logo = { position: 'top_right', opacityPercent: 50 } as const
  const args = (spec: JobSpec) =>
    ffmpegArgsOf(planJob(spec, mediaInfo(), { logo: { width: 200, height: 100 } }), {
      input: 'http://in',
      inputFlags: [],
      outputs: spec.video.map((_profile, index) => `/task/${index}`),
      logo: '/task/logo.png',
      threads: 0,
    })

  test('is the second input, scaled once per size, over the finished frames', () => {
    const video = [videoProfile({ audioProfiles: [] }), videoProfile({ index: 1, audioProfiles: [] })]
    const spec = jobSpec({ logo, video })
    expect(args(spec).join(' ')).toContain(
      '-i http://in -protocol_whitelist file -format_whitelist png_pipe -codec_whitelist png -f png_pipe -i file:/task/logo.png -filter_complex',
    )
    expect(graphs(args(spec)).slice(1)).toEqual([
      '[1:v:0]format=rgba,colorchannelmixer=aa=0.5,scale=w=48:h=24:flags=lanczos+accurate_rnd+full_chroma_int:out_color_matrix=bt601:out_range=limited,format=yuva420p,split=2[l0][l1]',
      '[b0][l0]overlay=x=262:y=6:format=yuv420:eof_action=repeat[v0]',
      '[b1][l1]overlay=x=262:y=6:format=yuv420:eof_action=repeat[v1]',
    ])
  })
  test('is no input where the job has none', () => {
    expect(args(jobSpec())).not.toContain('file:/task/logo.png')
  })
})
