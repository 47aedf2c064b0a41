// In charge of: bitmap subtitles over the whole range of sources and outputs: encoders of others, a broadcast, HDR, segments.
// Not in charge of: what every run of the tests shows (bitmapBurnIn.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { decodeRaw, ffmpeg, lavfi, readPackets, sharedClip } from '../../../support/media/media.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import {
  bitmapTest,
  LOW,
  expectColor,
  expectPlace,
  framesOf,
  makePages,
  makeSource,
  range,
  run,
  seen,
  TIMED,
  WHITE,
} from '../../../support/transcoder/bitmapTasks.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()
const bitmaps = bitmapTest(fixtures, taskApi)
const { path } = bitmaps

test('DVB: objects of a transport stream, on the canvas of SD', async () => {
  const events = [{ at: 0.52, shows: [{ x: 100, y: 480, width: 300, height: 60 }] }]
  const source = await makeSource(path, 'a.ts', { width: 720, height: 576 }, events, { flags: ['-c:s', 'dvbsub'] })
  await run(bitmaps, source)
  expect(taskApi.fails).toEqual([])
  const found = await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })
  // ffmpeg's encoder chooses when it clears the screen.
  const [set, clear] = (await readPackets(path('a.ts'), 's:0')).map(({ pts_time }) => Number(pts_time))
  const seconds = Number((0.52 + clear! - set!).toFixed(3))
  expect(framesOf(found)).toEqual(range(13, Math.ceil(seconds * 25)))
  expectPlace(found[20], [100 / 2.25, 480 / 3.2, 400 / 2.25, 540 / 3.2])
  expectColor(found[20], WHITE)
})

test('DVB: a canvas of HD, and a page that clears the screen', async () => {
  const canvas = { width: 1920, height: 1080 }
  const box = { ...LOW, x: 480, y: 900, width: 960, height: 90 }
  await run(
    bitmaps,
    await makePages(path, [
      { seconds: 1, box, canvas },
      { seconds: 1.24, regions: 0, canvas },
    ]),
  )
  const found = await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })
  expect(framesOf(found)).toEqual(range(25, 31))
  expectPlace(found[28], [80, 150, 240, 165])
})

test('Matroska at 23.976: a cut, and times in whole milliseconds', async () => {
  const shows = [{ x: 200, y: 880, width: 600, height: 120 }]
  const [rate, frame] = ['24000/1001', 1001 / 24_000]
  const events = [10, 17, 40, 41, 60, 61].map((number, index) => ({
    at: number * frame,
    shows: index % 2 === 0 ? shows : [],
  }))
  const source = await makeSource(path, 'film.mkv', { width: 1920, height: 1080 }, events, { rate })
  await run(bitmaps, source, { start_seconds: '00:00:00:12', end_seconds: '00:00:02:13' })
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 }))).toEqual([...range(0, 5), 28, 48])
})

test('a track without captions, or with none in the part that is used, gives a warning', async () => {
  await run(bitmaps, await makePages(path, TIMED), { start_seconds: '3.8' })
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 }))).toEqual([])
  expect(taskApi.plans[0]).toMatchObject({
    plan: { burnIn: { kind: 'bitmap', drawn: null, cues: 0 } },
    warnings: expect.arrayContaining([expect.objectContaining({ code: 'captions_empty' })]),
  })
})

test('subtitles of a DVD cannot be drawn: the error says which kinds can', async () => {
  const events = [{ at: 1, shows: [{ x: 100, y: 480, width: 300, height: 60 }] }]
  await run(
    bitmaps,
    await makeSource(path, 'dvd.mkv', { width: 720, height: 576 }, events, { flags: ['-c:s', 'dvdsub'] }),
  )
  expect(taskApi.fails).toMatchObject([
    { error: { code: 'subtitle_track_unsupported', message: expect.stringContaining('DVB and PGS') } },
  ])
})

test('segmented, over a logo in the same place, in every rendition', async () => {
  taskApi.logo = await ffmpeg([...lavfi('color=blue:s=64x64'), ...'-frames:v 1 -f image2pipe -c:v png -'.split(' ')])
  taskApi.source.bytes = await makePages(path, [
    { seconds: 1, timeOut: 1, box: { ...LOW, x: 560, y: 20, width: 160, height: 160 } },
  ])
  const [profile] = segmentedTask({}).config.videoProfiles
  const task = segmentedTask({
    burn_in_captions: { source_track: 1 },
    logo_url: 'https://example.com/logo.png',
    output_container: 'hls',
    videoProfiles: [
      { ...profile!, video_bitrate: 1500 },
      { ...profile!, width: 640, height: 360, video_bitrate: 2000 },
    ],
  })
  taskApi.task = task
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const objects = storedObjects(taskApi)
  for (const [rendition, width] of [
    ['video_0', 320],
    ['video_1', 640],
  ] as const) {
    const file = path(`${rendition}.mp4`)
    await writeFile(file, joinedSegments(objects, `out/${rendition}/playlist.m3u8`))
    // A pixel of the logo, which is in the upper right corner.
    const scale = width / 320
    const colors = await decodeRaw(file, 'rgb24', ['-vf', `crop=2:2:${284 * scale}:${22 * scale}`])
    const reds = range(0, colors.length / 12).filter(
      (frame) => colors[frame * 12]! > 200 && colors[frame * 12 + 2]! < 60,
    )
    const blues = range(0, colors.length / 12).filter(
      (frame) => colors[frame * 12]! < 60 && colors[frame * 12 + 2]! > 200,
    )
    expect(reds).toEqual(range(25, 50))
    expect(blues).toEqual([...range(0, 25), ...range(50, 100)])
  }
})

test('a second attempt follows the plan of the first one', async () => {
  const source = await makePages(path, TIMED)
  await run(bitmaps, source)
  const expected = await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })
  const { plan } = taskApi.plans[0]!
  taskApi.task = { ...taskApi.task!, plan }
  taskApi.objects().clear()
  await runTask(runRequest(taskApi), fixtures.context())
  expect([taskApi.fails, taskApi.plans.length]).toEqual([[], 1])
  expect(await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })).toEqual(expected)
})

test('HDR: white at the level of SDR white', async () => {
  const hdr =
    '-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -x265-params log-level=none -c:s copy'
  const events = [{ at: 0.4, shows: [{ x: 400, y: 800, width: 800, height: 200 }] }]
  const source = await makeSource(path, 'hdr.mkv', { width: 1920, height: 1080 }, events, {
    seconds: 1,
    flags: hdr.split(' '),
  })
  const { videoProfiles } = describeTask({ container: 'mp4' }).config
  await run(bitmaps, source, {
    video_codec: 'hevc',
    dynamic_range: 'source',
    videoProfiles: [{ ...videoProfiles[0]!, video_bitrate: 3000 }],
  })
  expect(taskApi.fails).toEqual([])
  await writeFile(path('hdr.mp4'), taskApi.objects().get('out/v0.mp4')!)
  const samples = await decodeRaw(path('hdr.mp4'), 'gray10le', ['-vf', 'crop=2:2:132:150'])
  const levels = range(0, samples.length / 8).map((frame) => samples.readUInt16LE(frame * 8))
  // 203 cd/m² are 58 % of PQ; swscale's grey has the full range.
  for (const level of levels.slice(10)) expect(Math.abs(level - 593)).toBeLessThan(8)
  for (const level of levels.slice(0, 10)) expect(Math.abs(level - 514)).toBeLessThan(8)
})

test('a broadcast: outside of the subtitles nothing changes, and text is there from its first frame', async (context) => {
  const source = await readFile(sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts'))
  const { videoProfiles } = describeTask({ container: 'mp4' }).config
  const size = { width: 720, height: 576 }
  const change = {
    video_codec: 'mpeg2' as const,
    videoProfiles: [{ ...videoProfiles[0]!, ...size, video_bitrate: 15_000 }],
  }
  await run(bitmaps, source, change)
  const [file, plain] = [path('drawn.mp4'), path('plain.mp4')]
  await writeFile(file, taskApi.objects().get('out/v0.mp4')!)
  taskApi.storedPlan = null
  await run(bitmaps, source, change, null)
  await writeFile(plain, taskApi.objects().get('out/v0.mp4')!)
  expect(taskApi.fails).toEqual([])
  const [drawn, before] = [await decodeRaw(file, 'gray'), await decodeRaw(plain, 'gray')]
  const bytes = size.width * size.height
  const frames = range(0, drawn.length / bytes).flatMap((frame) => {
    const changed: number[] = []
    for (let at = frame * bytes; at < (frame + 1) * bytes; at++)
      if (Math.abs(drawn[at]! - before[at]!) > 60) changed.push(at % bytes)
    if (changed.length === 0) return []
    const rows = changed.map((at) => Math.floor(at / size.width))
    expect([Math.min(...rows) >= 378, Math.max(...rows) < 458]).toEqual([true, true])
    return [frame]
  })
  // 13584.869422 s, and the outputs begin at 13582.024544 s, with the audio: 2.845 s are 71.1 frames.
  expect(frames).toEqual(range(72, drawn.length / bytes))
})
