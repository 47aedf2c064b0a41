// Supported sources: containers and codecs, and their peculiarities. Each is probed, planned, encoded and decoded.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { rename, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { requireExpectedDuration } from '../../../../transcoder/analysis/durationCheck.ts'
import { plannedFiles } from '../../../../transcoder/plan/model/plannedFiles.ts'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import {
  testFfmpeg,
  ffmpeg,
  decodeFrames,
  lavfi,
  makeClip,
  probeFile,
  probeStream,
  type ClipOptions,
} from '../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { encodeJob, encoderIn, probeOnce } from '../../../support/media/encodeJob.ts'
import { audioSamples } from '../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const small = { width: 160, height: 90, seconds: 2 }
const movie = jobSpec({ video: [videoProfile({ width: 160, height: 90, bitrateKbps: 200 })] })
const words = (text: string) => text.split(' ')

async function pictures(path: string): Promise<number> {
  return (await decodeFrames(path)).length
}
/** Seconds of audible audio in one channel, decoded. */
async function sounding(path: string): Promise<number> {
  return (await audioSamples(path, 0, 0)).length / 48_000
}
async function codes(path: string, spec = movie): Promise<string[]> {
  return (await make(spec, path)).plan.warnings.map((warning) => warning.code)
}

/** Encodes as a task does, with its own check of the outputs' durations. */
async function make(spec: JobSpec, path: string): ReturnType<typeof encodeJob> {
  const made = await encode(spec, path)
  const programs = await testFfmpeg()
  const read = (file: string) => probe(programs, `file:${file}`, { cwd: tempDir.path })
  const source = await probeOnce(programs, path, { cwd: tempDir.path })
  for (const [index, planned] of plannedFiles(made.plan).entries())
    requireExpectedDuration(planned, planned.durationSeconds, await read(made.outputs[index]!), source)
  return made
}

const kinds: [title: string, extension: string, flags: string, options?: Partial<ClipOptions>][] = [
  ['Matroska, h264 and flac', 'mkv', '-c:a flac'],
  ['Matroska, ffv1 and pcm, 5.1', 'mkv', '-c:v ffv1 -c:a pcm_s24le', { audio: [6] }],
  ['Matroska, av1 and opus', 'mkv', '-c:v libaom-av1 -cpu-used 8 -c:a libopus'],
  ['WebM, vp8 and vorbis', 'webm', '-c:v libvpx -deadline realtime -c:a libvorbis'],
  ['WebM, vp9 and opus', 'webm', '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus'],
  ['QuickTime, prores and pcm', 'mov', '-c:v prores_ks -pix_fmt yuv422p10le -c:a pcm_s24le'],
  ['QuickTime, mjpeg and pcm', 'mov', '-c:v mjpeg -pix_fmt yuvj420p -c:a pcm_s16be'],
  ['mp4, hevc and ac3', 'mp4', '-c:v libx265 -x265-params log-level=none -c:a ac3'],
  ['AVI, mpeg4 and mp3', 'avi', '-c:v mpeg4 -c:a libmp3lame'],
  ['AVI, mjpeg and pcm', 'avi', '-c:v mjpeg -pix_fmt yuvj420p -c:a pcm_s16le'],
  ['MXF, mpeg2 and pcm', 'mxf', '-c:v mpeg2video -c:a pcm_s16le -ar 48000'],
  [
    'MXF, dnxhr and pcm',
    'mxf',
    '-c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -c:a pcm_s24le',
    { width: 320, height: 240 },
  ],
  ['program stream, mpeg2 and mp2', 'mpg', '-c:v mpeg2video -c:a mp2 -f vob'],
  ['transport stream, mpeg2 and mp2', 'ts', '-c:v mpeg2video -c:a mp2'],
  ['M2TS, h264 and ac3', 'm2ts', '-c:a ac3'],
  ['FLV, h264 and aac', 'flv', ''],
  ['FLV, sorenson and mp3', 'flv', '-c:v flv -c:a libmp3lame -ar 44100'],
  ['Ogg, theora and vorbis', 'ogv', '-c:v libtheora -c:a libvorbis'],
  ['ASF, wmv2 and wmav2', 'wmv', '-c:v wmv2 -c:a wmav2'],
  ['DV', 'dv', '-c:v dvvideo -pix_fmt yuv420p -c:a pcm_s16le -ar 48000', { width: 720, height: 576 }],
]

describe('containers and codecs', () => {
  test.each(sampled(kinds, 4))('%s', async (_title, extension, flags, options = {}) => {
    const path = tempDir.file(`kind_${kinds.findIndex((kind) => kind[0] === _title)}.${extension}`)
    const clip = await makeClip(path, { ...small, ...options, flags: flags === '' ? [] : words(flags) })
    const { outputs } = await make(movie, clip)
    // Without B-frames, or in a container with coarse timestamps, the output may end one frame earlier.
    expect(Math.abs((await pictures(outputs[0])) - 50)).toBeLessThanOrEqual(1)
    expect(await probeStream(outputs[0], 'video')).toMatchObject({ width: 160, height: 90, avg_frame_rate: '25/1' })
    expect(await probeStream(outputs[0], 'audio')).toMatchObject({ channels: 2, sample_rate: '48000' })
    expect(Math.abs((await sounding(outputs[0])) - 2)).toBeLessThan(0.08)
  })

  test.each(
    sampled(
      [
        ['an h264 stream', 'h264', '-an'],
        ['an hevc stream', 'hevc', '-an -c:v libx265 -x265-params log-level=none'],
        ['an mpeg2 stream', 'm2v', '-an -c:v mpeg2video'],
      ],
      1,
    ),
  )('%s without a container or a duration', async (_title, extension, flags) => {
    const clip = await makeClip(tempDir.file(`raw.${extension}`), { ...small, audio: [], flags: words(flags) })
    const { outputs } = await make({ ...movie, audio: [] }, clip)
    // Without timestamps the position of the first frame is a guess.
    expect(Math.abs((await pictures(outputs[0])) - 50)).toBeLessThanOrEqual(1)
  })
})

test.each([
  ['GIF', 'gif', []],
  ['PNG', 'png', ['-f', 'apng', '-plays', '0']],
])('an animated %s is played once', async (_title, extension, flags) => {
  const clip = tempDir.file(`animated.${extension}`)
  await ffmpeg([...lavfi('testsrc2=s=160x90:r=25:d=2'), ...flags, clip])
  const { outputs } = await make({ ...movie, audio: [] }, clip)
  expect(await pictures(outputs[0])).toBe(50)
})

describe('sources without video', () => {
  const files = jobSpec({ ...movie, audioDirectory: 'a', video: [movie.video[0]!, { ...movie.video[0]!, index: 1 }] })
  test.each(
    sampled(
      [
        ['mp3', '-c:a libmp3lame'],
        ['wav', '-c:a pcm_s16le'],
        ['flac', '-c:a flac'],
        ['m4a', '-c:a aac'],
        ['aac', '-c:a aac'],
        ['ogg', '-c:a libvorbis'],
        ['opus', '-c:a libopus'],
        ['ac3', '-c:a ac3'],
        ['mka', '-c:a ac3'],
        ['ts', '-c:a mp2'],
        ['aiff', '-c:a pcm_s16be'],
        ['caf', '-c:a alac'],
      ],
      2,
    ),
  )('%s: only its audio is made, as a file', async (extension, flags) => {
    const clip = tempDir.file(`sound.${extension}`)
    await ffmpeg([...words('-f lavfi -i sine=d=3:r=48000,aformat=channel_layouts=stereo'), ...words(flags), clip])
    const { outputs, plan } = await make(files, clip)
    expect(outputs).toHaveLength(1)
    expect((await probeFile(outputs[0])).streams.map((found) => found.codec_name)).toEqual(['aac'])
    expect(Math.abs((await sounding(outputs[0])) - 3)).toBeLessThan(0.08)
    expect(plan.warnings).toMatchObject([
      { code: 'video_profile_left_out', field: 'videoProfiles[0]' },
      { code: 'video_profile_left_out', field: 'videoProfiles[1]' },
    ])
    await expect(make(movie, clip)).rejects.toMatchObject({
      code: 'no_video',
      field: 'input',
      message:
        'The source has no video stream: it has only 1 audio stream; leave out the video profiles, or give audio_output_path, and an audio profile with source_stream to have its audio as files.',
    })
  })

  test.each(
    sampled(
      [
        ['mp3', '-c:a libmp3lame'],
        ['m4a', '-c:a aac'],
        ['flac', '-c:a flac'],
        ['mka', '-c:a flac'],
      ],
      1,
    ),
  )('%s with cover art only is not video', async (extension, flags) => {
    const cover = tempDir.file('cover.png')
    await ffmpeg(words(`-f lavfi -i color=red:s=64x64 -frames:v 1 ${cover}`))
    const clip = tempDir.file(`covered.${extension}`)
    const audioTrack = words('-f lavfi -i sine=d=2:r=48000,aformat=channel_layouts=stereo')
    const attached =
      extension === 'mka'
        ? ['-attach', cover, '-metadata:s:t', 'mimetype=image/png', '-metadata:s:t', 'filename=cover.png']
        : ['-i', cover, ...words('-map 0:a -map 1:v -c:v copy -disposition:v:0 attached_pic')]
    await ffmpeg([...audioTrack, ...attached, ...words(flags), clip])
    await expect(make(movie, clip)).rejects.toMatchObject({
      code: 'no_video',
      message: expect.stringContaining('cover art, which is no video') as string,
    })
    const { plan, outputs } = await make(files, clip)
    expect(outputs).toHaveLength(1)
    expect(Math.abs((await sounding(outputs[0])) - 2)).toBeLessThan(0.08)
    expect(plan.warnings.map((warning) => warning.code)).toContain('cover_art_left_out')
  })

  test('a stream that starts late, with an unselected stream that starts early', async () => {
    const clip = tempDir.file('late.ts')
    const tone = (frequency: number) => words(`-f lavfi -i sine=f=${frequency}:d=3:r=48000`)
    await ffmpeg([...tone(300), ...words('-itsoffset 1'), ...tone(600), ...words('-map 0 -map 1 -c:a mp2'), clip])
    const { outputs } = await make({ ...files, audio: [audioProfile({ sourceStream: 2 })] }, clip)
    expect(Math.abs((await sounding(outputs[0])) - 3)).toBeLessThan(0.08)
  })
})

describe('streams that the job does not select', () => {
  const tone = (frequency: number, seconds: number) => words(`-f lavfi -i sine=f=${frequency}:d=${seconds}:r=48000`)
  const film = words('-f lavfi -i testsrc2=s=160x90:r=25:d=2')
  const codecs = words('-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -c:a mp2')
  const second = { ...movie, audio: [audioProfile({ sourceStream: 2 })] }

  test.each(sampled([0.4, 0.41, 1, 1.01], 1))(
    'do not hold up a transport stream by beginning %s s earlier',
    async (early) => {
      const clip = tempDir.file(`early_${early}.ts`)
      const late = ['-itsoffset', `${early}`]
      await ffmpeg([...late, ...film, ...tone(300, 3), ...late, ...tone(600, 2), ...codecs, clip])
      const { outputs } = await make(second, clip)
      expect(Math.abs((await pictures(outputs[0])) - 50)).toBeLessThanOrEqual(1)
      expect(Math.abs((await sounding(outputs[0])) - 2)).toBeLessThan(0.08)
    },
  )

  test.each(sampled(['ts', 'mp4', 'mkv', 'mov'], 1))(
    'do not make a whole %s look cut off by being longer',
    async (extension) => {
      const clip = tempDir.file(`longer.${extension}`)
      await ffmpeg([...film, ...tone(300, 4), ...tone(600, 2), ...codecs, clip])
      const { outputs, plan } = await make(second, clip)
      expect(Math.abs(plan.durationSeconds! - 2)).toBeLessThan(0.1)
      expect(await pictures(outputs[0])).toBe(50)
    },
  )

  test('of two outputs, the one without the longer audio track is complete too', async () => {
    const clip = tempDir.file('longer_sound.mp4')
    await ffmpeg([...film, ...tone(300, 4), ...words('-c:v libx264 -preset ultrafast'), clip])
    const video = [movie.video[0]!, { ...movie.video[0]!, index: 1, output: 'b.mp4', audioProfiles: [] }]
    const { plan } = await make({ ...movie, video }, clip)
    expect(plan.outputs.map((output) => Math.round(output.durationSeconds!))).toEqual([4, 2])
  })
})

describe('further streams of a source', () => {
  test('of several video tracks the first is used, and the others are named', async () => {
    const clip = tempDir.file('tracks.mp4')
    const picture = (color: string) => words(`-f lavfi -i color=${color}:s=160x90:r=25:d=1`)
    await ffmpeg([
      ...[...picture('red'), ...picture('blue'), ...picture('green')],
      ...words('-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p'),
      clip,
    ])
    const { outputs, plan } = await make({ ...movie, audio: [] }, clip)
    expect(plan.warnings.map(({ message }) => message)).toEqual([
      'Stream 1 of the source (further video, h264) is not part of the output.',
      'Stream 2 of the source (further video, h264) is not part of the output.',
    ])
    const [first] = await ffmpeg(['-i', outputs[0], ...words('-frames:v 1 -vf scale=1:1 -pix_fmt rgb24 -f rawvideo -')])
    expect(first).toBeGreaterThan(200)
  })

  test('cover art before the video stream is not taken for video', async () => {
    const film = await makeClip(tempDir.file('film.mp4'), small)
    const cover = tempDir.file('front.png')
    await ffmpeg(words(`-f lavfi -i color=red:s=64x64 -frames:v 1 ${cover}`))
    const clip = tempDir.file('front.mp4')
    await ffmpeg(['-i', cover, '-i', film, ...words('-map 0 -map 1 -c copy -disposition:v:0 attached_pic'), clip])
    const { outputs, plan } = await make(movie, clip)
    expect(plan.warnings.map((warning) => warning.code)).toEqual(['cover_art_left_out'])
    expect(await pictures(outputs[0])).toBe(50)
  })

  test('no audio: asked for, it is an error with the number of streams; not asked for, it is fine', async () => {
    const clip = await makeClip(tempDir.file('silent.mkv'), { ...small, audio: [] })
    await expect(make(movie, clip)).rejects.toMatchObject({
      code: 'audio_stream_missing',
      field: 'audioProfiles[0].source_stream',
      message: expect.stringContaining('no audio streams') as string,
    })
    const { outputs, plan } = await make({ ...movie, audio: [] }, clip)
    expect((await probeFile(outputs[0])).streams).toHaveLength(1)
    expect(plan.warnings).toEqual([])
  })

  test('odd sizes become even', async () => {
    const clip = tempDir.file('odd.mkv')
    await ffmpeg(words(`-f lavfi -i testsrc=s=161x91:r=25:d=1 -c:v ffv1 -pix_fmt yuv444p ${clip}`))
    const spec = jobSpec({ audio: [], video: [videoProfile({ width: 0, height: 0, bitrateKbps: 200 })] })
    const { outputs, plan } = await make(spec, clip)
    expect(await probeStream(outputs[0], 'video')).toMatchObject({ width: 160, height: 90 })
    expect(plan.warnings.map((warning) => warning.code)).toEqual(['size_rounded'])
  })
})

describe('the clock of a source', () => {
  test.each([
    ['begins behind a key frame', '-ss 1.4', 65],
    ['ends early', '-t 2.2', 55],
  ])('an mp4 whose edit list %s is cut there', async (_title, cut, expected) => {
    const whole = await makeClip(tempDir.file('whole.mp4'), { ...small, seconds: 4, flags: words('-g 50 -bf 2') })
    const clip = tempDir.file('edited.mp4')
    await ffmpeg([...words(cut), '-i', whole, ...words('-map 0 -c copy'), clip])
    const { outputs } = await make(movie, clip)
    expect(Math.abs((await pictures(outputs[0])) - expected)).toBeLessThanOrEqual(3)
    expect(Math.abs((await sounding(outputs[0])) - expected / 25)).toBeLessThan(0.1)
  })

  test('an mp4 edit list that delays the video repeats the first frame, and the audio keeps its time', async () => {
    const whole = await makeClip(tempDir.file('undelayed.mp4'), { ...small, flags: words('-bf 2') })
    const clip = tempDir.file('delayed.mp4')
    const both = ['-itsoffset', '0.8', '-i', whole, '-i', whole, ...words('-map 0:v -map 1:a -c copy')]
    await ffmpeg([...both, clip])
    const { outputs } = await make(movie, clip)
    expect(await pictures(outputs[0])).toBe(70)
    expect(Math.abs((await sounding(outputs[0])) - 2)).toBeLessThan(0.08)
  })

  test('negative times', async () => {
    const whole = await makeClip(tempDir.file('positive.mp4'), { ...small, flags: words('-bf 2') })
    const clip = tempDir.file('negative.mp4')
    await ffmpeg([
      '-i',
      whole,
      ...words('-c copy -output_ts_offset -0.5 -avoid_negative_ts disabled -use_editlist 0'),
      clip,
    ])
    const { outputs } = await make(movie, clip)
    expect(await pictures(outputs[0])).toBeGreaterThanOrEqual(37)
    const [video, audio] = await Promise.all([probeStream(outputs[0], 'video'), probeStream(outputs[0], 'audio')])
    expect(Math.abs(Number(video.duration) - Number(audio.duration))).toBeLessThan(0.1)
  })

  test.each(sampled(['mkv', 'webm', 'flv', 'ts'] as const, 1))(
    '%s that was written to a pipe, without a duration',
    async (kind) => {
      const flags = kind === 'webm' ? '-c:v libvpx -deadline realtime -c:a libopus' : '-bf 2'
      const whole = await makeClip(tempDir.file(`to_pipe.${kind}`), { ...small, flags: words(flags) })
      const format = { mkv: 'matroska', webm: 'webm', flv: 'flv', ts: 'mpegts' }[kind]
      const clip = tempDir.file(`piped.${kind}`)
      // `pipe:` cannot seek, so no header is completed at the end.
      const bytes = await ffmpeg(['-i', whole, ...words(`-map 0 -c copy -f ${format} pipe:1`)])
      await writeFile(clip, bytes)
      const { outputs } = await make(movie, clip)
      expect(Math.abs((await pictures(outputs[0])) - 50)).toBeLessThanOrEqual(1)
      expect(Math.abs((await sounding(outputs[0])) - 2)).toBeLessThan(0.08)
    },
  )

  test('a variable frame rate becomes a constant one, and nothing moves', async () => {
    // 60 fps, then 15 fps: the flash at 1.5 s is first seen in frame 92, and must stay there.
    const clip = tempDir.file('variable.mp4')
    const white = "drawbox=c=white:t=fill:enable='gte(t,1.5)'"
    const drop = "select='lt(t,0.5)+not(mod(n,4))'"
    const picture = `color=black:s=160x90:r=60:d=2,${white},${drop}`
    await ffmpeg([
      ...words('-f lavfi -i'),
      picture,
      ...words('-fps_mode passthrough -c:v libx264 -preset ultrafast'),
      clip,
    ])
    const { outputs, plan } = await make({ ...movie, audio: [] }, clip)
    expect(plan.warnings.map((warning) => warning.code)).toEqual(['variable_frame_rate'])
    const rate = plan.outputs[0]!.video.frameRate
    const pixels = await ffmpeg(['-i', outputs[0], ...words('-vf scale=1:1 -pix_fmt gray -f rawvideo -')])
    // The last frame begins at 1.93 s and lasts as long as the one before it, or less.
    expect(Math.abs(pixels.length - (1.975 * rate.num) / rate.den)).toBeLessThanOrEqual(2)
    const flash = pixels.findIndex((value) => value > 128)
    expect(Math.abs((flash * rate.den) / rate.num - 92 / 60)).toBeLessThan((1.5 * rate.den) / rate.num)
  })

  test('a name says nothing: an mkv called mp4', async () => {
    const clip = await makeClip(tempDir.file('misnamed.mkv'), small)
    await rename(clip, tempDir.file('misnamed.mp4'))
    expect(await codes(tempDir.file('misnamed.mp4'))).toEqual([])
  })
})
