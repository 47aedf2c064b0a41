// In charge of: bitmap subtitles of the source drawn into the video, in whole attempts: exactly the expected frames, place and
// colours, decoded from the outputs.
// Not in charge of: text (burnIn.test.ts), places in outputs of other shapes (plan/bitmapPlacement.test.ts).
import { expect, test } from 'vitest'
import { describeTask } from '../../../support/transcoder/attemptFixture.ts'
import {
  bitmapTest,
  expectColor,
  expectPlace,
  framesOf,
  HIGH,
  LOW,
  makePages,
  makeSource,
  range,
  RED,
  RED_IN_SD,
  run,
  seen,
  TIMED,
  WHITE,
} from '../../../support/transcoder/bitmapTasks.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()
const bitmaps = bitmapTest(fixtures, taskApi)
const { path } = bitmaps

test('PGS: each subtitle is in its frames, its place and its colours, in each output', async () => {
  const events = [
    { at: 0.48, shows: [{ x: 200, y: 880, width: 600, height: 120, color: RED }] },
    { at: 1, shows: [{ x: 960, y: 120, width: 480, height: 60 }] },
    { at: 1.04, shows: [] },
    { at: 3, shows: [{ x: 200, y: 880, width: 600, height: 120 }] },
  ]
  const source = await makeSource(path, 'a.mkv', { width: 1920, height: 1080 }, events)
  const [first] = describeTask({ container: 'mp4' }).config.videoProfiles
  const videoProfiles = [
    { ...first!, video_bitrate: 1500 },
    { ...first!, output: 'out/v1.mp4', width: 640, height: 360, video_bitrate: 1500 },
  ]
  await run(bitmaps, source, { videoProfiles })
  expect(taskApi.fails).toEqual([])
  for (const [object, shape] of [
    ['out/v0.mp4', { width: 320, height: 180 }],
    ['out/v1.mp4', { width: 640, height: 360 }],
  ] as const) {
    const found = await seen(bitmaps, object, shape)
    expect(framesOf(found)).toEqual([...range(12, 26), ...range(75, 100)])
    const scale = shape.width / 1920
    const place = (x: number, y: number, width: number, height: number): number[] =>
      [x, y, x + width, y + height].map((value) => value * scale)
    expectPlace(found[20], place(200, 880, 600, 120))
    expectPlace(found[25], place(960, 120, 480, 60))
    expectColor(found[20], RED_IN_SD)
    expectColor(found[80], WHITE)
  }
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(taskApi.breaches).toEqual([])
})

test('DVB: a page ends at its time-out, unless it is repeated', async () => {
  await run(bitmaps, await makePages(path, TIMED))
  expect(taskApi.fails).toEqual([])
  const found = await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })
  expect(framesOf(found)).toEqual([...range(13, 38), ...range(50, 90)])
  expectPlace(found[20], [40, 150, 200, 165])
  expectPlace(found[70], [40, 15, 200, 30])
  expectColor(found[20], RED_IN_SD)
  // It is a part of the output, if not as a stream.
  expect(taskApi.plans[0]!.warnings).toEqual([])
  expect(taskApi.plans[0]).toMatchObject({ plan: { burnIn: { kind: 'bitmap', codec: 'dvb_subtitle', cues: 2 } } })
})

test('a part of the source: a subtitle that is on the screen at its beginning starts with it', async () => {
  await run(bitmaps, await makePages(path, TIMED), { start_seconds: '0.8', end_seconds: '2.52' })
  expect(taskApi.fails).toEqual([])
  const found = await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 })
  expect(found).toHaveLength(43)
  expect(framesOf(found)).toEqual([...range(0, 18), ...range(30, 43)])
})

test('a track that is not there is an error that says which there are', async () => {
  const source = await makePages(path, TIMED)
  await run(bitmaps, source, {}, 2)
  expect(taskApi.fails).toMatchObject([
    {
      error: {
        code: 'subtitle_track_missing',
        field: 'burn_in_captions.source_track',
        message: expect.stringContaining('dvb_subtitle'),
      },
    },
  ])
})

test('damaged packets: what can be read is drawn, and a warning says so', async () => {
  const source = await makePages(path, [
    { seconds: 0.52, timeOut: 1, box: LOW },
    { seconds: 2, box: HIGH },
  ])
  // The first region has no depth.
  const at = source.indexOf(Buffer.from([0x0f, 0x11, 0, 1, 0, 10]))
  source[at + 12] = 0
  await run(bitmaps, source)
  expect(taskApi.fails).toEqual([])
  expect(framesOf(await seen(bitmaps, 'out/v0.mp4', { width: 320, height: 180 }))).toEqual(range(50, 100))
  expect(taskApi.plans[0]!.warnings).toContainEqual(expect.objectContaining({ code: 'captions_damaged' }))
})
