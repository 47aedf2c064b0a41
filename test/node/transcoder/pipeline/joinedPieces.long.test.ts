// In charge of: what moves with the pieces of joined inputs, formats that differ, later attempts, and 100 pieces.
// Not in charge of: exact frames and samples (joins.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseWebvtt } from '../../../../transcoder/manifests/webvtt/webvttParser.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { readSubtitles } from '../../../support/captions/subtitleText.ts'
import { audioSamples, measureLoudness } from '../../../support/media/audioSamples.ts'
import { decodeFrames, ffmpeg, probeStream } from '../../../support/media/media.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert, spliceSection } from '../../../support/mpegts/spliceSections.ts'
import { describeTask, openAttemptFixture, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { audioPlaces, expectedFrames, JoinedTasks } from '../../../support/transcoder/joinedTask.ts'
import { joinedSegments, storedObjects } from '../../../support/transcoder/segmentedTask.ts'

let tasks: JoinedTasks
const path = (name: string): string => tasks.path(name)
beforeAll(async () => {
  tasks = new JoinedTasks(await openAttemptFixture())
  await Promise.all(['a.mp4', 'b.mp4', 'c.ts'].map((file) => makeNumberedClip(path(file), { seconds: 12 })))
})
afterAll(() => tasks.fixture.remove())
afterEach(() => tasks.stop())

describe('what belongs to a piece moves with it', () => {
  test('text subtitles of a language are one track, with a gap where a piece has none', async () => {
    const times = ['00:00:01,000 --> 00:00:02,500', '00:00:03,000 --> 00:00:03,500', '00:00:03,700 --> 00:00:09,000']
    await writeFile(path('en.srt'), times.map((time, index) => `${index + 1}\n${time}\nText ${index}\n`).join('\n'))
    await ffmpeg([
      ...['-y', '-i', path('a.mp4'), '-i', path('en.srt'), '-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'srt'],
      ...['-metadata:s:s:0', 'language=eng', path('sub.mkv')],
    ])
    const parts = [
      { file: 'sub.mkv', start: 2, end: 4 },
      { file: 'a.mp4', start: 2, end: 3 },
      { file: 'sub.mkv', start: 3.6, end: 5 },
    ]
    const objects = await tasks.run(parts, { segmented_output_hls: true }, true)
    const tracks = [...objects].filter(([name]) => name.endsWith('/captions.vtt'))
    expect(tracks).toHaveLength(1)
    const cues = parseWebvtt(tracks[0]![1].toString(), 0, Infinity)
    const rounded = cues.map(({ start, end, text }) => [Number(start.toFixed(3)), Number(end.toFixed(3)), text])
    expect(rounded).toEqual([
      [0, 0.5, 'Text 0'],
      [1, 1.5, 'Text 1'],
      [1.7, 2, 'Text 2'],
      [3.1, 4.4, 'Text 2'],
    ])
  })

  test('caption files count from the first frame of the joined video', async () => {
    const file = 'WEBVTT\n\n00:00.500 --> 00:01.500\nBefore the join\n\n00:02.500 --> 00:03.250\nBehind it\n'
    const parts = [
      { file: 'a.mp4', start: 3, end: 5 },
      { file: 'c.ts', start: 6, end: 8 },
    ]
    const captions = [{ input: 'https://example.com/en.vtt', language: 'en' }]
    const single = await tasks.run(parts, { captions }, false, [Buffer.from(file)])
    await writeFile(path('captioned.mp4'), single.get('out/v0.mp4')!)
    expect((await readSubtitles(path('captioned.mp4'))).map(({ start, end }) => [start, end])).toEqual([
      [500, 1500],
      [2500, 3250],
    ])
    const objects = await tasks.run(parts, { segmented_output_hls: true, captions }, true, [Buffer.from(file)])
    const [, text] = [...objects].find(([name]) => name.endsWith('/captions.vtt'))!
    const cues = parseWebvtt(text.toString(), 0, Infinity)
    expect(cues.map(({ start, end, text: shown }) => [start, end, shown])).toEqual([
      [0.5, 1.5, 'Before the join'],
      [2.5, 3.25, 'Behind it'],
    ])
  })

  test('captions in the video, as WebVTT', async () => {
    await makeCaptionedClip(path, 'ON THE SCREEN')
    await ffmpeg([
      '-y',
      '-i',
      path('captions.ts'),
      '-c',
      'copy',
      '-bsf:v',
      'filter_units=remove_types=6',
      path('none.ts'),
    ])
    const parts = [
      { file: 'captions.ts', end: 0.8 },
      { file: 'none.ts', end: 1 },
      { file: 'captions.ts', start: 0.8, end: 1.9 },
    ]
    const change = { segmented_output_hls: true, closed_captions: true, audioProfiles: [] }
    const objects = await tasks.run(parts, change, true)
    expect(tasks.warnings).not.toContain('captions_removed')
    const [, text] = [...objects].find(([name]) => name.endsWith('/captions.vtt'))!
    const cues = parseWebvtt(text.toString(), 0, Infinity)
    expect(cues.map((cue) => cue.text)).toEqual(['ON THE SCREEN', 'ON THE SCREEN'])
    const frame = 1001 / 30_000
    const [first, second] = [24 * frame, 24 * frame + 30 * frame]
    // Loaded by 10 pairs, shown for 20 frames after them; both joins end or begin it.
    expect(Math.abs(cues[0]!.end - first)).toBeLessThan(0.002)
    expect(Math.abs(cues[1]!.start - second)).toBeLessThan(0.002)
    expect(Math.abs(cues[1]!.end - second - (31 * frame - 0.8))).toBeLessThan(0.07)
  })

  test('SCTE-35 cues', async () => {
    const cues = [
      cueAtSeconds(0.2, spliceSection({ type: 0 })),
      cueAtSeconds(1.4, spliceInsert({ eventId: 1001, out: true, pts: 3.04 * 90_000 })),
      cueAtSeconds(5.2, spliceInsert({ eventId: 1002, out: false, pts: null }), 'frame'),
    ]
    await makeCueClip(path('cues.ts'), { seconds: 6, flags: ['-g', '50', '-bf', '2', '-f', 'mpegts'] }, cues)
    const parts = [
      { file: 'cues.ts', start: 1, end: 4 },
      { file: 'a.mp4', end: 1 },
      { file: 'cues.ts', start: 1, end: 5 },
    ]
    const objects = await tasks.run(parts, { output_container: 'ts', scte35_passthough: true })
    expect(tasks.taskApi.plans[0]?.warnings.find(({ code }) => code === 'cues_outside_cut')?.message).toMatch(
      /^4 SCTE-35 cues/,
    )
    const seen = readCues(objects.get('out/v0.ts')!)
    expect(seen.map(({ eventId, splices }) => [eventId, splices])).toEqual([
      [1001, [expect.closeTo(2.04, 5)]],
      [1001, [expect.closeTo(4 + 2.04, 5)]],
    ])
    await writeFile(path('spliced.ts'), objects.get('out/v0.ts')!)
    const keys = (await decodeFrames(path('spliced.ts'))).flatMap((frame, at) => (frame.key_frame === 1 ? [at] : []))
    expect(keys).toEqual(expect.arrayContaining([51, 151]))
  })
})

test('a later attempt follows the stored plan', async () => {
  const parts = [
    { file: 'b.mp4', start: 10, end: 11.4 },
    { file: 'c.ts', start: 3, end: 4 },
  ]
  const first = (await tasks.run(parts)).get('out/v0.mp4')!
  const { plan } = tasks.taskApi.plans[0]!
  tasks.taskApi.task = { ...tasks.taskApi.task!, plan: JSON.parse(JSON.stringify(plan)) as typeof plan, attempt: 2 }
  await runTask(runRequest(tasks.taskApi, 2), tasks.fixture.context())
  expect(tasks.taskApi.fails).toEqual([])
  expect(tasks.taskApi.plans).toHaveLength(1)
  expect(storedObjects(tasks.taskApi).get('out/v0.mp4')!.equals(first)).toBe(true)
})

describe('formats', () => {
  const interlaced = async (name: string, color: string, seconds: number): Promise<void> => {
    await ffmpeg([
      ...['-y', '-f', 'lavfi', '-i', `testsrc2=s=720x576:r=50:d=${seconds},drawbox=c=${color}:t=20`],
      ...['-f', 'lavfi', '-i', `sine=d=${seconds}`, '-vf', 'format=yuv420p,tinterlace=interleave_top,setfield=tff'],
      ...['-flags', '+ilme+ildct', '-c:v', 'mpeg2video', '-b:v', '3M', '-c:a', 'mp2', path(name)],
    ])
  }

  test('pieces with the same fields stay interlaced, others are deinterlaced', async () => {
    await Promise.all([interlaced('one.ts', 'red', 3), interlaced('two.ts', 'blue', 2)])
    const task = describeTask({ container: 'ts' })
    const videoProfiles = [{ ...task.config.videoProfiles[0]!, width: 0, height: 0, video_bitrate: 3000 }]
    const change = { output_container: 'ts', video_codec: 'mpeg2', videoProfiles } as const
    const same = await tasks.run([{ file: 'one.ts', end: 1 }, { file: 'two.ts' }], change)
    await writeFile(path('fields.ts'), same.get('out/v0.ts')!)
    const frames = await decodeFrames(path('fields.ts'))
    expect(frames.length).toBe(75)
    expect(frames.every((frame) => frame.interlaced_frame === 1)).toBe(true)
    expect(await combedFrames('fields.ts')).toBeGreaterThan(60)

    const mixed = await tasks.run([{ file: 'one.ts' }, { file: 'a.mp4', end: 1 }], change)
    await writeFile(path('frames.ts'), mixed.get('out/v0.ts')!)
    expect((await decodeFrames(path('frames.ts'))).length).toBe(100)
    expect(await combedFrames('frames.ts')).toBeLessThan(15)
  })

  /** As ffmpeg's idet counts them. */
  async function combedFrames(name: string): Promise<number> {
    const { engine } = tasks.fixture
    const args = ['-hide_banner', '-i', path(name), '-vf', 'idet', '-f', 'null', '-']
    const { stderr } = await promisify(execFile)(engine.ffmpeg, args)
    const [, tff, bff] = [...stderr.matchAll(/Multi frame detection: TFF: *(\d+) BFF: *(\d+)/g)].at(-1)!
    return Number(tff) + Number(bff)
  }

  test('a rotated piece stands upright in the format of a wide one', async () => {
    // White above, black below, stored on its side.
    await ffmpeg([
      ...['-y', '-f', 'lavfi', '-i', 'color=white:s=96x48:r=25:d=1,pad=96:96:0:0:black,transpose=clock'],
      ...['-c:v', 'libx264', path('side.mp4')],
    ])
    await ffmpeg(['-y', '-i', path('side.mp4'), '-c', 'copy', '-metadata:s:v', 'rotate=90', path('turned.mp4')])
    const { side_data_list: turned } = (await probeStream(path('turned.mp4'), 'video')) as {
      side_data_list?: unknown[]
    }
    expect(turned).toBeDefined()
    const parts = [{ file: 'turned.mp4' }, { file: 'a.mp4', end: 2 }]
    const objects = await tasks.run(parts, { audioProfiles: [] })
    await writeFile(path('upright.mp4'), objects.get('out/v0.mp4')!)
    const pixels = await ffmpeg([
      '-i',
      path('upright.mp4'),
      '-frames:v',
      '1',
      '-pix_fmt',
      'gray',
      '-f',
      'rawvideo',
      '-',
    ])
    const at = (x: number, y: number): number => pixels[y * 192 + x]!
    expect([at(96, 8) > 200, at(96, 40) < 40, at(20, 8) < 40]).toEqual([true, true, true])
  })

  test('at 29.97 frames per second nothing drifts: 30 pieces of 3 frames each', async () => {
    await makeNumberedClip(path('ntsc.mp4'), { seconds: 12, rate: '30000/1001' })
    const frame = 1001 / 30_000
    const parts = Array.from({ length: 30 }, (_, index) => ({
      file: 'ntsc.mp4',
      start: 10 * index * frame,
      end: (10 * index + 3) * frame,
    }))
    // The last one is long enough to be found.
    const last = { file: 'ntsc.mp4', start: 100 * frame, end: 160 * frame }
    const objects = await tasks.run([...parts, last])
    await writeFile(path('ntsc-out.mp4'), objects.get('out/v0.mp4')!)
    const wanted = parts.flatMap((_part, index) => [0, 1, 2].map((n) => 10 * index + n))
    expect(await frameNumbers(path('ntsc-out.mp4'))).toEqual([
      ...wanted,
      ...Array.from({ length: 60 }, (_, n) => 100 + n),
    ])
    const place = Math.round(90 * 1601.6)
    const shifts = await audioShiftsAt(path('ntsc-out.mp4'), [
      { place: place + 2400, origin: Math.round(100 * 1601.6) + 2400 },
      { place: place + 48_000, origin: Math.round(100 * 1601.6) + 48_000 },
    ])
    for (const shift of shifts) expect(Math.abs(shift)).toBeLessThanOrEqual(1)
  })

  test('HDR pieces become SDR; SDR pieces in an HDR output are refused', async () => {
    await ffmpeg([
      ...['-y', '-f', 'lavfi', '-i', 'testsrc2=s=192x96:r=25:d=3,format=yuv420p10le', '-c:v', 'libx265'],
      ...['-x265-params', 'log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
      ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc', path('hdr.mp4')],
    ])
    const parts = [{ file: 'a.mp4', end: 1 }, { file: 'hdr.mp4' }]
    const objects = await tasks.run(parts, { audioProfiles: [] })
    expect(tasks.warnings).toContain('tone_mapped')
    await writeFile(path('sdr.mp4'), objects.get('out/v0.mp4')!)
    const { color_transfer: transfer, pix_fmt: format } = await probeStream(path('sdr.mp4'), 'video')
    expect([transfer === 'smpte2084', format]).toEqual([false, 'yuv420p'])
    const hdr = { video_codec: 'hevc' as const, dynamic_range: 'source' as const, audioProfiles: [] }
    await tasks.attempt(parts, hdr)
    expect(tasks.taskApi.fails[0]?.error).toMatchObject({ code: 'unsupported_combination', field: 'dynamic_range' })
    const kept = await tasks.run(
      [
        { file: 'hdr.mp4', end: 1 },
        { file: 'hdr.mp4', start: 2 },
      ],
      hdr,
    )
    await writeFile(path('kept.mp4'), kept.get('out/v0.mp4')!)
    const probed = await probeStream(path('kept.mp4'), 'video')
    expect([probed.color_transfer, probed.pix_fmt]).toEqual(['smpte2084', 'yuv420p10le'])
    expect((await decodeFrames(path('kept.mp4'))).length).toBe(50)
  })

  test('5.1 and stereo pieces, in 5.1 and in stereo', async () => {
    // The centre and the left front: 440 Hz in 5.1, 880 Hz in stereo.
    await ffmpeg([
      ...['-y', '-i', path('a.mp4'), '-f', 'lavfi', '-i', 'aevalsrc=0|0|0.25*sin(2*PI*440*t)|0|0|0:c=5.1:s=48000:d=12'],
      ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'ac3', path('six.mp4')],
    ])
    await ffmpeg([
      ...['-y', '-i', path('a.mp4'), '-f', 'lavfi', '-i', 'aevalsrc=0.25*sin(2*PI*880*t)|0:c=stereo:s=48000:d=12'],
      ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', path('two.mp4')],
    ])
    const [profile] = describeTask({ container: 'mp4' }).config.audioProfiles
    const audioProfiles = [
      { ...profile!, audio_channels: '2' as const },
      { ...profile!, audio_codec: 'ac3' as const, audio_channels: '6' as const, audio_bitrate: '384' as const },
    ]
    const parts = [
      { file: 'six.mp4', start: 1, end: 2 },
      { file: 'two.mp4', start: 1, end: 2 },
    ]
    const objects = await tasks.run(parts, { audioProfiles })
    await writeFile(path('channels.mp4'), objects.get('out/v0.mp4')!)
    const level = async (track: number, channel: number, at: number): Promise<number> => {
      const samples = await audioSamples(path('channels.mp4'), track, channel)
      const part = samples.slice(at * 48_000, (at + 0.5) * 48_000)
      return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length)
    }
    const rms = 0.25 * Math.SQRT1_2
    // Stereo: the centre in both sides at the level that the AC-3 stream states (−4.5 dB), then the left side alone.
    const centre = rms * 0.5946
    expect(await level(0, 0, 0.25)).toBeCloseTo(centre, 2)
    expect(await level(0, 1, 0.25)).toBeCloseTo(centre, 2)
    expect(await level(0, 0, 1.25)).toBeCloseTo(rms, 2)
    expect(await level(0, 1, 1.25)).toBeCloseTo(0, 2)
    // 5.1: FL FR FC.
    expect(await level(1, 2, 0.25)).toBeCloseTo(rms, 2)
    expect(await level(1, 0, 0.25)).toBeCloseTo(0, 2)
    expect(await level(1, 0, 1.25)).toBeCloseTo(rms, 2)
    expect(await level(1, 2, 1.25)).toBeCloseTo(0, 2)
  })
})

test('audio without video, of inputs with video: segments and files', async () => {
  const parts = [
    { file: 'a.mp4', start: 2, end: 4 },
    { file: 'c.ts', start: 5, end: 8.2 },
  ]
  const change = { videoProfiles: [], segmented_output_hls: true, segmented_output_dash: true }
  const segmented = await tasks.run(parts, change, true)
  await writeFile(path('only.cmfa'), joinedSegments(segmented, 'out/audio_0/playlist.m3u8'))
  expect(await audioShiftsAt(path('only.cmfa'), audioPlaces(parts, 12))).toEqual([0, 0, 0, 0])
  const files = await tasks.run(parts, { videoProfiles: [], audio_output_path: 'out/audio' })
  const [, bytes] = [...files].find(([name]) => name.startsWith('out/audio'))!
  await writeFile(path('only.m4a'), bytes)
  expect(await audioShiftsAt(path('only.m4a'), audioPlaces(parts, 12))).toEqual([0, 0, 0, 0])
})

test('100 pieces, from 100 inputs', async () => {
  const parts = Array.from({ length: 100 }, (_, index) => ({
    file: ['a.mp4', 'b.mp4', 'c.ts'][index % 3]!,
    start: 0.08 * index,
    end: 0.08 * index + 0.2,
  }))
  const objects = await tasks.run(parts)
  await writeFile(path('hundred.mp4'), objects.get('out/v0.mp4')!)
  expect(await frameNumbers(path('hundred.mp4'))).toEqual(expectedFrames(parts, 12))
  const { duration } = await probeStream(path('hundred.mp4'), 'audio')
  expect(Math.abs(Number(duration) - 20)).toBeLessThan(0.03)
})

test('the loudness of the joined pieces is measured, not that of one', async () => {
  for (const [file, level] of [
    ['quiet.mp4', 0.05],
    ['loud.mp4', 0.5],
  ] as const)
    await ffmpeg([
      ...['-y', '-i', path('a.mp4'), '-f', 'lavfi', '-i', `sine=f=997:r=48000:d=12,volume=${level}`],
      ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', path(file)],
    ])
  const parts = [
    { file: 'quiet.mp4', start: 2, end: 4 },
    { file: 'loud.mp4', start: 2, end: 6 },
  ]
  const objects = await tasks.run(parts, { loudness_lufs: -23 })
  await writeFile(path('level.mp4'), objects.get('out/v0.mp4')!)
  expect(Math.abs((await measureLoudness(path('level.mp4'))).integratedLufs! + 23)).toBeLessThan(0.5)
})
