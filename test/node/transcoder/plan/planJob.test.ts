import { describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { ratio, toNumber } from '../../../../transcoder/formats/rational.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES } from '../../../../transcoder/plan/model/engineFeatures.ts'
import type { MediaInfo, VideoStream } from '../../../../transcoder/plan/model/mediaInfo.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { TaskError } from '#contract/taskError.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

function firstVideo(spec: JobSpec, media: MediaInfo): VideoPlan {
  const [output] = planJob(spec, media).outputs
  if (output === undefined) throw new Error('no output')
  return output.video
}

function problem(spec: JobSpec, media: MediaInfo): TaskError {
  try {
    planJob(spec, media)
  } catch (error) {
    if (error instanceof TaskError) return error
    throw error
  }
  throw new Error('it was planned')
}

function warningCodes(spec: JobSpec, media: MediaInfo): string[] {
  return planJob(spec, media).warnings.map((warning) => warning.code)
}

describe('frame size and shape', () => {
  const cases: [string, [number, number], Partial<VideoStream>, [number, number], [number, number]][] = [
    ['a given size is used exactly', [640, 360], {}, [640, 360], [1, 1]],
    ['0 x 0 is the source’s size', [0, 0], {}, [1280, 720], [1, 1]],
    ['0 x 0 of an odd source is cut to even', [0, 0], { width: 853, height: 481 }, [852, 480], [1, 1]],
    ['width 0 keeps the shape', [0, 360], {}, [640, 360], [1, 1]],
    ['height 0 keeps the shape, rounded to even', [854, 0], {}, [854, 480], [1, 1]],
    ['0 x 0 of a turned source is its upright size', [0, 0], { rotation: 90 }, [720, 1280], [1, 1]],
    [
      'anamorphic PAL keeps its samples at its own size',
      [0, 0],
      { width: 720, height: 576, sar: { num: 64, den: 45 } },
      [720, 576],
      [64, 45],
    ],
    [
      'anamorphic PAL at 1024x576 is square',
      [1024, 576],
      { width: 720, height: 576, sar: { num: 64, den: 45 } },
      [1024, 576],
      [1, 1],
    ],
    [
      'a turned anamorphic source has its samples turned',
      [0, 0],
      { width: 720, height: 576, sar: { num: 64, den: 45 }, rotation: 90 },
      [576, 720],
      [45, 64],
    ],
    ['16:9 squeezed into 4:3 is carried by the samples', [640, 480], {}, [640, 480], [4, 3]],
    ['within one percent of square is square', [854, 480], {}, [854, 480], [1, 1]],
  ]
  test.each(cases)('%s', (_title, [width, height], video, size, [num, den]) => {
    const plan = firstVideo(jobSpec({ video: [videoProfile({ width, height, bitrateKbps: 5000 })] }), mediaInfo(video))
    expect([plan.width, plan.height]).toEqual(size)
    expect(plan.sar).toEqual({ num, den })
    expect([plan.pictureWidth, plan.pictureHeight]).toEqual(size)
  })

  test('samples outside 1:2 to 2:1 are warned about', () => {
    expect(warningCodes(jobSpec({ video: [videoProfile({ width: 1280, height: 320 })] }), mediaInfo())).toContain(
      'extreme_pixel_aspect',
    )
  })

  test('an odd source gives a warning about rounding', () => {
    const spec = jobSpec({ video: [videoProfile({ width: 0, height: 0, bitrateKbps: 5000 })] })
    expect(warningCodes(spec, mediaInfo({ width: 853, height: 481 }))).toEqual(['size_rounded'])
  })
})

describe('mpeg2 carries square samples, 4:3, 16:9 and 2.21 only', () => {
  const mpeg2 = (width: number, height: number) =>
    jobSpec({ videoCodec: 'mpeg2', video: [videoProfile({ width, height, bitrateKbps: 8000 })] })

  test('16:9 at 720x576 is 64:45', () => {
    expect(firstVideo(mpeg2(720, 576), mediaInfo())).toMatchObject({ sar: { num: 64, den: 45 }, pictureHeight: 576 })
  })
  test('1.77 at 720x576 snaps to 16:9', () => {
    expect(firstVideo(mpeg2(720, 576), mediaInfo({ width: 1274 })).sar).toEqual({ num: 64, den: 45 })
  })
  test('a shape of square samples needs no snapping', () => {
    expect(firstVideo(mpeg2(640, 272), mediaInfo({ width: 640, height: 272 }))).toMatchObject({
      sar: { num: 1, den: 1 },
      pictureHeight: 272,
    })
  })
  test('2.35 at 720x576 gets bars inside 16:9', () => {
    const spec = mpeg2(720, 576)
    const media = mediaInfo({ width: 1280, height: 544 })
    expect(firstVideo(spec, media)).toMatchObject({ sar: { num: 64, den: 45 }, pictureWidth: 720, pictureHeight: 436 })
    expect(warningCodes(spec, media)).toEqual(['bars_added'])
  })
  test('an upright telephone at 720x576 gets bars inside 4:3', () => {
    expect(firstVideo(mpeg2(720, 576), mediaInfo({ rotation: 90 }))).toMatchObject({
      sar: { num: 16, den: 15 },
      pictureWidth: 304,
      pictureHeight: 576,
    })
  })
})

describe('frame rate, GOP and B-frames', () => {
  const at = (num: number, den: number): Partial<VideoStream> => ({ frameRate: { num, den } })
  const rates: [string, Partial<JobSpec>, VideoStream['frameRate'], '1x' | '1/2x' | '2x', [number, number]][] = [
    ['1x is the source’s rate', {}, { num: 25, den: 1 }, '1x', [25, 1]],
    ['1/2x halves it', {}, { num: 25, den: 1 }, '1/2x', [25, 2]],
    ['2x doubles it', {}, { num: 30000, den: 1001 }, '2x', [60000, 1001]],
    ['29.97 that a container rounded is exact again', {}, { num: 2997, den: 100 }, '1x', [30000, 1001]],
    ['24 does not become 23.976', {}, { num: 24, den: 1 }, '1x', [24, 1]],
    ['keep_fps keeps 15', {}, { num: 15, den: 1 }, '1x', [15, 1]],
    ['without keep_fps 15 becomes 23.976', { keepFps: false }, { num: 15, den: 1 }, '1x', [24000, 1001]],
    ['mpeg2 reaches 25 from 12.5 by 2x', { videoCodec: 'mpeg2' }, { num: 25, den: 2 }, '2x', [25, 1]],
    ['mpeg2 snaps what is within 0.1 percent', { videoCodec: 'mpeg2' }, { num: 29980, den: 1000 }, '1x', [30000, 1001]],
  ]
  test.each(rates)('%s', (_title, spec, frameRate, frameRateFactor, [num, den]) => {
    const plan = firstVideo(
      jobSpec({ ...spec, video: [videoProfile({ frameRateFactor, bitrateKbps: 3000 })] }),
      mediaInfo({ frameRate }),
    )
    expect(plan.frameRate).toEqual({ num, den })
  })

  test('a source without a frame rate is read as 25 fps, with a warning', () => {
    const media = mediaInfo({ frameRate: null })
    expect(firstVideo(jobSpec(), media).frameRate).toEqual({ num: 25, den: 1 })
    expect(warningCodes(jobSpec(), media)).toEqual(['frame_rate_assumed'])
  })

  test('a variable rate becomes the nearest standard rate, with a warning', () => {
    const media = mediaInfo({ frameRate: { num: 2160000, den: 75143 }, variableFrameRate: true })
    expect(firstVideo(jobSpec(), media).frameRate).toEqual({ num: 30000, den: 1001 })
    expect(warningCodes(jobSpec(), media)).toEqual(['variable_frame_rate'])
    // The most common frame rate is used, if there is one.
    const paused = mediaInfo({ ...at(40, 2), variableFrameRate: true, commonFrameRate: { num: 30, den: 1 } })
    expect(firstVideo(jobSpec(), paused).frameRate).toEqual({ num: 30, den: 1 })
    expect(planJob(jobSpec(), paused).warnings[0]!.message).toContain('(20 on average, often 30)')
  })

  test.each([
    // The frames of a low rate last equally long at a multiple of it; none is lost at the next higher one.
    [15, 30],
    [1, 24],
    [29.7, 29.97],
    [40, 50],
    [120, 60],
  ])('a variable rate of mostly %i frames per second becomes %i', (common, expected) => {
    const media = mediaInfo({ ...at(9, 1), variableFrameRate: true, commonFrameRate: ratio(common * 10, 10) })
    expect(toNumber(firstVideo(jobSpec(), media).frameRate)).toBeCloseTo(expected, 2)
  })

  test('1000 frames per second become 250 or 60, and no file is refused for a rate that it does not state', () => {
    expect(firstVideo(jobSpec(), mediaInfo(at(1000, 1))).frameRate).toEqual({ num: 250, den: 1 })
    expect(warningCodes(jobSpec(), mediaInfo(at(1000, 1)))).toEqual(['frame_rate_reduced'])
    expect(firstVideo(jobSpec({ keepFps: false }), mediaInfo(at(1000, 1))).frameRate).toEqual({ num: 60, den: 1 })
    const recording = mediaInfo({ ...at(15, 1), rateEvidence: 'grid' })
    expect(firstVideo(jobSpec(), recording).frameRate).toEqual({ num: 15, den: 1 })
    const mpeg2 = jobSpec({ videoCodec: 'mpeg2' })
    expect(firstVideo(mpeg2, recording).frameRate).toEqual({ num: 30, den: 1 })
    expect(warningCodes(mpeg2, recording)).toEqual(['frame_rate_snapped'])
  })

  test.each([
    [at(25, 1), at(25, 1), at(25, 2)],
    [at(30000, 1001), at(30000, 1001), at(15000, 1001)],
    [at(50, 1), at(25, 1), at(25, 1)],
  ])('mpeg2 at half of %j', (from, { frameRate }, { frameRate: pictureRate }) => {
    const spec = jobSpec({ videoCodec: 'mpeg2', video: [videoProfile({ frameRateFactor: '1/2x', bitrateKbps: 3000 })] })
    expect(firstVideo(spec, mediaInfo(from))).toMatchObject({ frameRate, pictureRate })
    expect(warningCodes(spec, mediaInfo(from))).toEqual(from.frameRate!.num === 50 ? [] : ['pictures_repeated'])
  })

  test('a length that hardly anything fills is warned of', () => {
    const codes = (sizeBytes: number) => warningCodes(jobSpec(), mediaInfo({}, { sizeBytes, durationSeconds: 86_401 }))
    expect(codes(1265)).toContain('source_mostly_gaps')
    expect(codes(900_000)).not.toContain('source_mostly_gaps')
  })

  test('mpeg2 refuses 15 and lists its eight rates', () => {
    const spec = jobSpec({ videoCodec: 'mpeg2' })
    expect(problem(spec, mediaInfo(at(15, 1)))).toMatchObject({
      code: 'frame_rate_unsupported',
      field: 'videoProfiles[0].video_framerate',
      message:
        "mpeg2 has no frame rate of 15; it has 23.976, 24, 25, 29.97, 30, 50, 59.94, 60. keep_fps false takes the nearest to the source's",
    })
  })

  test.each([
    ['1 s of 25', 1, at(25, 1), 25],
    ['1 s of 29.97', 1, at(30000, 1001), 30],
    ['2 s of 23.976', 2, at(24000, 1001), 48],
    ['0.01 s is one frame', 0.01, at(25, 1), 1],
  ])('GOP: %s', (_title, gopSeconds, video, frames) => {
    expect(firstVideo(jobSpec({ gopSeconds }), mediaInfo(video)).gopFrames).toBe(frames)
  })

  test.each([
    [1, 0],
    [3, 2],
    [8, 7],
  ])('ip_distance %i gives %i B-frames', (ipDistance, bFrames) => {
    expect(firstVideo(jobSpec({ ipDistance }), mediaInfo()).bFrames).toBe(bFrames)
    expect(warningCodes(jobSpec({ ipDistance }), mediaInfo())).toEqual([])
  })

  test('an ip_distance longer than the GOP is clamped with a warning', () => {
    const spec = jobSpec({ ipDistance: 8, gopSeconds: 0.2 })
    expect(firstVideo(spec, mediaInfo())).toMatchObject({ gopFrames: 5, bFrames: 4 })
    expect(warningCodes(spec, mediaInfo())).toEqual(['ip_distance_clamped'])
  })

  test('an mpeg2 GOP has at most 600 frames', () => {
    const spec = jobSpec({ videoCodec: 'mpeg2', gopSeconds: 30 })
    expect(firstVideo(spec, mediaInfo()).gopFrames).toBe(600)
    expect(warningCodes(spec, mediaInfo())).toEqual(['gop_clamped'])
  })
})

describe('audio', () => {
  test('a stream that the source does not have is named with the number it has', () => {
    expect(problem(jobSpec({ audio: [audioProfile({ sourceStream: 3 })] }), mediaInfo())).toMatchObject({
      code: 'audio_stream_missing',
      field: 'audioProfiles[0].source_stream',
      message:
        'source_stream 3 does not exist: the source has 1 audio stream; set optional on the audio profile to make the outputs without it',
    })
  })
  test('a silent source cannot give audio', () => {
    expect(problem(jobSpec(), mediaInfo({}, { audio: [] })).message).toBe(
      'source_stream 1 does not exist: the source has no audio streams; set optional on the audio profile to make the outputs without it',
    )
  })
  test('without source_stream a profile has no audio', () => {
    const spec = jobSpec({ audio: [audioProfile({ sourceStream: null })] })
    expect(planJob(spec, mediaInfo()).outputs[0]?.audio).toEqual([])
    // The answer to the request has said so.
    expect(warningCodes(spec, mediaInfo())).toEqual([])
  })
  test('a profile that no rendition carries is not looked for', () => {
    const spec = jobSpec({ video: [videoProfile({ audioProfiles: [] })], audio: [audioProfile({ sourceStream: 9 })] })
    expect(planJob(spec, mediaInfo()).sourceAudio).toEqual([])
  })
  test('a language is three letters or nothing', () => {
    const language = (value: string) =>
      planJob(jobSpec(), mediaInfo({}, { audio: [audioStream({ language: value })] })).outputs[0]?.audio[0]?.language
    expect([language('deu'), language('und'), language("x';y")]).toEqual(['deu', null, null])
  })
  test('only audio that is used decides about the AC-3 decoder', () => {
    const audio = [audioStream(), audioStream({ index: 2, number: 2, codec: 'ac3' })]
    expect(planJob(jobSpec(), mediaInfo({}, { audio })).disableDrc).toBe(false)
    expect(planJob(jobSpec({ audio: [audioProfile({ sourceStream: 2 })] }), mediaInfo({}, { audio })).disableDrc).toBe(
      true,
    )
  })
})

describe('bitrate, sizes and rates', () => {
  const open = (bitrateKbps: number) =>
    jobSpec({ video: [videoProfile({ width: 0, height: 0, mode: 'cbr', bitrateKbps })] })
  const hd = mediaInfo({ width: 1920, height: 1080 })

  test('2250 is too low for a source of 1920x1080, 2300 is not', () => {
    expect(problem(open(2250), hd)).toMatchObject({
      code: 'video_bitrate_too_low',
      field: 'videoProfiles[0].video_bitrate',
      message: 'bitrate for this profile and codec should be at least 2300',
      details: { minimum: 2300 },
    })
    expect(firstVideo(open(2300), hd).bitrateKbps).toBe(2300)
  })

  const buffers: [string, Partial<JobSpec>, Parameters<typeof videoProfile>[0], number, number][] = [
    ['h264 cbr: one second', {}, { mode: 'cbr', bitrateKbps: 1000 }, 1000, 1_000_000],
    ['h264 vbr: 1.5 x over 3 s', {}, { mode: 'vbr', bitrateKbps: 1000 }, 1500, 3_000_000],
    ['mpeg2 cbr below the VBV', { videoCodec: 'mpeg2' }, { mode: 'cbr', bitrateKbps: 1500 }, 1500, 1_500_000],
    [
      'mpeg2 cbr at 15 Mb/s has the VBV of Main@Main',
      { videoCodec: 'mpeg2' },
      { mode: 'cbr', bitrateKbps: 15_000 },
      15_000,
      1_835_008,
    ],
    [
      'mpeg2 cbr above has that of Main@High',
      { videoCodec: 'mpeg2' },
      { mode: 'cbr', bitrateKbps: 20_000 },
      20_000,
      9_781_248,
    ],
  ]
  test.each(buffers)('%s', (_title, spec, profile, maxKbps, bufferBits) => {
    expect(firstVideo(jobSpec({ ...spec, video: [videoProfile(profile)] }), mediaInfo())).toMatchObject({
      maxKbps,
      bufferBits,
    })
  })

  test('a constant mux rate includes video, audio and tables', () => {
    const output = planJob(
      jobSpec({ container: 'ts', video: [videoProfile({ mode: 'cbr', bitrateKbps: 1000 })] }),
      mediaInfo(),
    ).outputs[0]
    expect(output).toMatchObject({ muxRateKbps: 1301, headerReserveBytes: null, contentType: 'video/mp2t' })
    expect(planJob(jobSpec({ container: 'ts' }), mediaInfo()).outputs[0]?.muxRateKbps).toBeNull()
    // Stuffing and a header for every frame beyond 25 fps.
    const fast = mediaInfo({ frameRate: { num: 60, den: 1 } })
    expect(
      planJob(jobSpec({ container: 'ts', video: [videoProfile({ mode: 'cbr', bitrateKbps: 1000 })] }), fast).outputs[0]
        ?.muxRateKbps,
    ).toBe(1336)
  })

  test('an mp4 of ten seconds reserves the measured worst case and a margin', () => {
    // 15.5 s: 388 frames × 44, 727 packets × 32, 8 KiB.
    expect(planJob(jobSpec(), mediaInfo()).outputs[0]?.headerReserveBytes).toBe(388 * 44 + 727 * 32 + 8192)
  })
  test('an mp4 of unknown length, or of 24 hours at 50 frames, gets its header moved afterwards', () => {
    const reserve = (media: MediaInfo) => planJob(jobSpec(), media).outputs[0]?.headerReserveBytes
    expect(reserve(mediaInfo({ durationSeconds: null }, { durationSeconds: null }))).toBeNull()
    const day = { durationSeconds: 86_400 }
    expect(
      reserve(mediaInfo({ ...day, frameRate: { num: 50, den: 1 } }, { ...day, audio: [audioStream(day)] })),
    ).toBeNull()
  })
  test('the expected size covers the highest rate over the whole length', () => {
    const bytes = planJob(jobSpec(), mediaInfo()).outputs[0]?.expectedBytes ?? 0
    expect(bytes).toBeGreaterThan((10 * (750 + 128) * 1000) / 8)
    expect(bytes).toBeLessThan(2_000_000)
  })
})

describe('what the source is', () => {
  test('without video there is nothing to do', () => {
    expect(problem(jobSpec(), { ...mediaInfo(), video: null })).toMatchObject({
      code: 'no_video',
      field: 'input',
      message:
        'The source has no video stream: it has only 1 audio stream; leave out the video profiles, or give audio_output_path, and an audio profile with source_stream to have its audio as files.',
    })
    const data = {
      index: 0,
      id: null,
      type: 'audio data',
      codec: 'Dolby E in pcm_s24le',
      language: null,
      audioNumber: 1,
    }
    expect(problem(jobSpec(), { ...mediaInfo({}, { audio: [], other: [data] }), video: null }).message).toBe(
      'The source has no video stream: it has no audio streams; source_stream 1 is Dolby E in pcm_s24le (stream 0 of the source), which cannot be decoded; the source has no other audio.',
    )
    const silent = jobSpec({ audioDirectory: 'a', audio: [audioProfile({ sourceStream: null })] })
    expect(problem(silent, { ...mediaInfo(), video: null }).message).toContain(
      'give an audio profile its source_stream',
    )
    const absent = jobSpec({ audioDirectory: 'a', audio: [audioProfile({ sourceStream: 2 })] })
    expect(problem(absent, { ...mediaInfo(), video: null })).toMatchObject({ code: 'audio_stream_missing' })
  })
  test('without video, audio_output_path still gets its files, and each video profile a warning', () => {
    const plan = planJob(jobSpec({ audioDirectory: 'a', scte35Passthrough: true }), { ...mediaInfo(), video: null })
    expect(plan.outputs).toEqual([])
    expect(plan.audioFiles.map(({ path, durationSeconds }) => [path, durationSeconds])).toEqual([
      ['a/clip_audio_0.m4a', 10],
    ])
    expect(plan.warnings.map(({ code, field }) => `${code} ${field}`)).toEqual([
      'video_profile_left_out videoProfiles[0]',
      'no_effect scte35_passthough',
    ])
  })
  test('the duration of an output depends on its own streams only', () => {
    const audio = [
      audioStream({ durationSeconds: 12 }),
      audioStream({ number: 2, durationSeconds: 20, startSeconds: 1 }),
    ]
    const media = mediaInfo({}, { audio, durationSeconds: 21 })
    const video = [videoProfile(), videoProfile({ index: 1, audioProfiles: [] })]
    const lengths = (from: MediaInfo) =>
      planJob(jobSpec({ video, audio: [audioProfile()] }), from).outputs.map((output) => output.durationSeconds)
    expect(lengths(media)).toEqual([12, 10])
    // If the audio stream has no duration, the file's is used.
    expect(lengths({ ...media, audio: [audioStream({ durationSeconds: null })] })).toEqual([21, 10])
    expect(lengths({ ...media, durationSeconds: 11 })).toEqual([11, 10])
  })
  test('two outputs at one path are refused', () => {
    const spec = jobSpec({
      video: [videoProfile({ output: 'same.mp4' }), videoProfile({ index: 1, output: 'same.mp4' })],
    })
    expect(problem(spec, mediaInfo())).toMatchObject({ code: 'output_path_conflict', field: 'videoProfiles[1].output' })
  })
  test('an interlaced source is deinterlaced, by fields for 2x', () => {
    const media = mediaInfo({ fieldOrder: 'tt' })
    const forced = jobSpec({ video: [videoProfile({ progressive: true })] })
    expect(firstVideo(forced, media)).toMatchObject({ deinterlace: 'frames', frameRate: { num: 25, den: 1 } })
    expect(firstVideo(jobSpec({ video: [videoProfile({ frameRateFactor: '2x' })] }), media)).toMatchObject({
      deinterlace: 'fields',
      frameRate: { num: 50, den: 1 },
    })
    expect(warningCodes(forced, media)).toEqual(['deinterlaced'])
    const kept = jobSpec({ video: [videoProfile({ width: 720, height: 576, bitrateKbps: 3000 })] })
    expect(firstVideo(kept, media)).toMatchObject({ scan: 'tff', frameRate: { num: 25, den: 1 } })
    expect(warningCodes(kept, media)).toEqual([])
  })
  test.each([
    ['subtitle', 'dvb_subtitle', 'deu', 'dvb_subtitles_left_out', 'Stream 2 of the source (DVB subtitles, deu)'],
    ['subtitle', 'dvb_teletext', 'swe', 'teletext_left_out', 'Stream 2 of the source (teletext, swe)'],
    ['subtitle', 'subrip', null, 'text_subtitles_left_out', 'Stream 2 of the source (text subtitles, subrip)'],
    ['subtitle', 'mov_text', 'und', 'text_subtitles_left_out', 'Stream 2 of the source (text subtitles, mov_text)'],
    ['subtitle', 'hdmv_pgs_subtitle', null, 'picture_subtitles_left_out', '(picture subtitles, hdmv_pgs_subtitle)'],
    ['subtitle', 'eia_608', null, 'caption_track_left_out', 'Stream 2 of the source (a caption track, eia_608)'],
    ['data', 'timed_id3', null, 'id3_left_out', 'Stream 2 of the source (timed ID3)'],
    ['data', 'klv', null, 'klv_left_out', 'Stream 2 of the source (KLV metadata)'],
    ['data', 'tmcd', null, 'timecode_left_out', 'Stream 2 of the source (timecode)'],
    ['data', 'scte_35', null, 'scte35_left_out', 'Stream 2 of the source (SCTE-35 cues)'],
    ['data', 'bin_data', null, 'data_left_out', 'Stream 2 of the source (data, bin_data)'],
    ['data', 'unknown', null, 'data_left_out', 'Stream 2 of the source (data)'],
    ['attachment', 'ttf', null, 'attachment_left_out', 'Stream 2 of the source (an attachment, ttf)'],
    ['cover art', 'png', null, 'cover_art_left_out', 'Stream 2 of the source (cover art, png)'],
    ['video', 'h264', null, 'further_video_left_out', 'Stream 2 of the source (further video, h264)'],
    ['audio', 'aac', null, 'unreadable_audio_left_out', 'Stream 2 of the source (audio that cannot be read, aac)'],
    ['unknown', 'unknown', null, 'unknown_stream_left_out', 'Stream 2 of the source (of an unknown kind)'],
  ])('a stream of %s %s %s is left out as %s', (type, codec, language, code, said) => {
    const [warning, ...more] = planJob(
      jobSpec(),
      mediaInfo({}, { other: [{ index: 2, id: null, type, codec, language }] }),
    ).warnings
    expect(more).toEqual([])
    expect(warning!.code).toBe(code)
    expect(warning!.message).toContain(`${said} is not part of the output`)
  })
  test('a count of audio streams means nothing for other containers, and is met by more', () => {
    expect(planJob(jobSpec({ expectedAudioStreams: 2 }), mediaInfo()).warnings).toMatchObject([
      { code: 'no_effect', field: 'ts_mode_input_audio_source_stream_count' },
    ])
    const ts = mediaInfo({}, { formats: ['mpegts'] })
    expect(planJob(jobSpec({ expectedAudioStreams: 1 }), ts)).toMatchObject({ warnings: [], deepProbe: true })
    expect(planJob(jobSpec(), ts).deepProbe).toBe(false)
  })
  test('an active format description in the video is dropped too', () => {
    expect(warningCodes(jobSpec(), mediaInfo({ activeFormat: true }))).toEqual(['afd_left_out'])
  })
  test('HDR is tone-mapped, with a warning', () => {
    const media = mediaInfo({
      colorTransfer: 'smpte2084',
      colorPrimaries: 'bt2020',
      colorSpace: 'bt2020nc',
      pixelFormat: 'yuv420p10le',
    })
    const plan = planJob(jobSpec(), media)
    expect(plan.picture.conversion).toBe('toneMap')
    expect(plan.outputs[0]?.video.color).toEqual({ matrix: 'bt470bg', primaries: 'bt470bg', transfer: 'smpte170m' })
    expect(plan.warnings.map((warning) => warning.code)).toEqual(['tone_mapped'])
  })
  test.each([
    [576, 'bt470bg'],
    [480, 'smpte170m'],
    [578, 'bt709'],
  ])('untagged video of %i lines is read as %s', (height, matrix) => {
    const media = mediaInfo({ height, colorSpace: null, colorPrimaries: null, colorTransfer: null })
    expect(planJob(jobSpec(), media).picture.matrix).toBe(matrix)
  })
  test('video that begins 20 ms after its audio is moved to 0, one that begins 3 s later is not', () => {
    expect(planJob(jobSpec(), mediaInfo({ startSeconds: 1.42 }, { startSeconds: 1.4 })).videoOffsetSeconds).toBe(0.02)
    expect(planJob(jobSpec(), mediaInfo({ startSeconds: 4.4 }, { startSeconds: 1.4 })).videoOffsetSeconds).toBe(0)
  })
  test('captions stay at the same rate and go where the cadence would garble them', () => {
    const media = mediaInfo({ closedCaptions: true, frameRate: { num: 30000, den: 1001 } })
    const half = jobSpec({ video: [videoProfile({ frameRateFactor: '1/2x' })] })
    expect(firstVideo(jobSpec(), media).captions).toBe(true)
    expect(firstVideo(half, media).captions).toBe(false)
    expect(warningCodes(half, media)).toEqual(['captions_removed'])
  })
  test.each([
    [true, true, '1x', true, []],
    [true, false, '1x', true, ['captions_not_found']],
    // The source is read once more for them.
    [true, true, '1/2x', true, []],
    [null, true, '1/2x', false, ['captions_removed']],
    [false, true, '1x', false, []],
    [false, true, '1/2x', false, []],
    [null, false, '1/2x', false, []],
  ] as const)('captions %s, seen %s, at %s: %s %j', (closedCaptions, seen, frameRateFactor, kept, codes) => {
    const media = mediaInfo({ closedCaptions: seen, frameRate: { num: 30000, den: 1001 } })
    const spec = jobSpec({ closedCaptions, video: [videoProfile({ frameRateFactor })] })
    expect(firstVideo(spec, media).captions).toBe(kept)
    expect(warningCodes(spec, media)).toEqual(codes)
  })
})

describe('program_number', () => {
  const two = mediaInfo(
    { id: 0x300 },
    { formats: ['mpegts'], programs: [3, 7], program: { number: 7, fileStartSeconds: 1.4 } },
  )
  test('streams are named by PID, and the other programs are reported', () => {
    const media = { ...two, audio: [audioStream({ id: 0x301 })] }
    const plan = planJob(jobSpec({ program: 7 }), media)
    expect(plan.pids).toEqual({ video: 0x300, audio: { 1: 0x301 } })
    expect(plan.warnings).toMatchObject([{ code: 'other_programs_left_out', field: 'program_number' }])
    expect(planJob(jobSpec(), mediaInfo()).pids).toBeNull()
  })
  test('one that is not there is refused', () => {
    const media = { ...two, program: null }
    expect(() => planJob(jobSpec({ program: 4 }), media)).toThrow('The source has no program 4; it has programs 3, 7.')
  })
  test('has no effect on other containers', () => {
    expect(warningCodes(jobSpec({ program: 1 }), mediaInfo())).toEqual(['no_effect'])
  })
  test('a program that began hours after the file is moved to 0, however the clock begins', () => {
    const media = {
      ...two,
      startSeconds: 7201.4,
      video: { ...two.video!, startSeconds: 7201.44 },
      audio: [audioStream({ id: 1, startSeconds: 7201.4 })],
    }
    expect(planJob(jobSpec({ program: 7 }), media).videoOffsetSeconds).toBe(7200.04)
    expect(
      planJob(jobSpec({ program: 7 }), media, { features: { ...ALL_FEATURES, clockFromUsedStreams: true } })
        .videoOffsetSeconds,
    ).toBe(0.04)
  })
})
