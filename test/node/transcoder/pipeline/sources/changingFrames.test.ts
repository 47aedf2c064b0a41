// In charge of: sources whose frames change midway in size, sample aspect or pixel format: nothing begins again, and
// later shapes stand in the first one with bars.
// Not in charge of: changes of audio.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Warning } from '#contract/errors.ts'
import { decodeFrames, ffmpeg, lavfi, testFfmpeg } from '../../../../support/media/media.ts'
import { audioShifts } from '../../../../support/media/numberedClip.ts'
import {
  makeChangingClip,
  RATE,
  seeFrames,
  type ClipPart,
  type Picture,
} from '../../../../support/media/changingClip.ts'
import { joinedSegments, segmentedTask } from '../../../../support/transcoder/segmentedTask.ts'
import { extractTask, runExtracts } from '../../../../support/transcoder/extractTasks.ts'
import { compareDivision } from '../../../../support/transcoder/comparedDivision.ts'
import { useAttemptFixture } from '../../../../support/transcoder/useAttempts.ts'

const WIDTH = 384
const HEIGHT = 96
const FULL: Picture = { left: 0, width: WIDTH }
const HALF: Picture = { left: WIDTH / 4, width: WIDTH / 2 }
/** Each with the columns in which it stands in the first shape. */
const PARTS: readonly (ClipPart & { picture: Picture })[] = [
  { frames: 30, width: WIDTH, height: HEIGHT, picture: FULL },
  { frames: 20, width: 192, height: 48, picture: FULL },
  { frames: 20, width: 192, height: 96, picture: HALF },
  { frames: 20, width: 240, height: 60, pixelFormat: 'yuv444p', picture: FULL },
  { frames: 20, width: WIDTH, height: HEIGHT, picture: FULL },
]
const FRAMES = PARTS.reduce((sum, { frames }) => sum + frames, 0)
const VIDEO = { videoProfiles: [{ output: 'v0.mp4', width: WIDTH, height: HEIGHT, video_bitrate: 900 }] }

const fixture = await useAttemptFixture()
let source: string
beforeAll(async () => {
  source = await makeChangingClip(join(fixture.directory, 'changing.ts'), PARTS)
})

function pictureOf(frame: number, parts = PARTS): Picture {
  let end = 0
  return parts.find(({ frames }) => (end += frames) > frame)?.picture ?? FULL
}

/** The way back to the first size is not listed. */
function sizeChanges(warnings: readonly Warning[] | undefined): string[] | undefined {
  const { message = '' } = warnings?.find(({ code }) => code === 'source_size_changes') ?? {}
  return message.match(/\d:\d\d:\d\d \(\d+x\d+\)/g)?.map((place) => place.slice(6))
}

async function expectFrames(bytes: Buffer, first: number, count: number, parts = PARTS): Promise<void> {
  const file = join(fixture.directory, 'seen.mp4')
  await writeFile(file, bytes)
  const seen = await seeFrames(file, [WIDTH, HEIGHT], (frame) => pictureOf(first + frame, parts))
  expect(seen.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, frame) => first + frame))
  expect(seen.filter(({ bar }) => bar > 20)).toEqual([])
  expect(seen.filter(({ low, high }) => Math.abs(low - 80) > 8 || (high > 100 && Math.abs(high - 235) > 8))).toEqual([])
}

test('a file has every frame at its number and the sound in its place; stills are those of their times', async () => {
  const members = {
    ...VIDEO,
    stills: [{ output: 's.jpg', at_seconds: [0.2, 2.2, 4] }],
  }
  const { taskApi, objects } = await runExtracts(fixture, source, extractTask(members))
  try {
    expect(taskApi.fails).toEqual([])
    await expectFrames(objects.get('v0.mp4')!, 0, FRAMES)
    const shifts = await audioShifts(join(fixture.directory, 'seen.mp4'), 0)
    expect(Math.max(...shifts.map(Math.abs))).toBeLessThan(480)
    expect(sizeChanges(taskApi.finished?.warnings)).toEqual(['1 (192x48)', '2 (192x96)', '2 (240x60)'])
    const stills = [...objects.keys()].filter((name) => /^s.*jpg$/.test(name)).toSorted()
    expect(stills).toHaveLength(3)
    for (const [index, frame] of [5, 55, 100].entries()) await expectFrames(objects.get(stills[index]!)!, frame, 1)
  } finally {
    await taskApi.stop()
  }
})

test('a change of the sample aspect alone', async () => {
  const { version } = await testFfmpeg()
  // ffmpeg 7 gives every frame the sample aspect of the first one.
  const changed = version.startsWith('5') ? HALF : FULL
  const parts = [
    { frames: 10, width: WIDTH, height: HEIGHT, picture: FULL },
    { frames: 10, width: WIDTH, height: HEIGHT, sar: '1/2', picture: HALF },
    { frames: 10, width: WIDTH, height: HEIGHT, picture: FULL },
  ]
  const clip = await makeChangingClip(join(fixture.directory, 'aspect.ts'), parts)
  const { taskApi, objects } = await runExtracts(fixture, clip, extractTask(VIDEO))
  await taskApi.stop()
  const seen = parts.map((part) => ('sar' in part ? { ...part, picture: changed } : part))
  await expectFrames(objects.get('v0.mp4')!, 0, 30, seen)
})

test('MPEG-2 that goes from 4:3 to 16:9: a warning names both where the engine does not follow', async () => {
  const pieces: Buffer[] = []
  for (const [second, aspect] of ['4:3', '16:9'].entries()) {
    const file = join(fixture.directory, `advert-${second}.ts`)
    await ffmpeg([
      ...['-y', ...lavfi(`testsrc2=s=352x288:r=${RATE}:d=1`, 'sine=d=1'), '-aspect', aspect, '-c:v', 'mpeg2video'],
      ...['-bf', '0', '-b:v', '1M', '-c:a', 'mp2', '-output_ts_offset', `${second}`, file],
    ])
    pieces.push(await readFile(file))
  }
  const clip = join(fixture.directory, 'advert.ts')
  await writeFile(clip, Buffer.concat(pieces))
  const { taskApi } = await runExtracts(fixture, clip, extractTask(VIDEO))
  await taskApi.stop()
  const { version } = await testFfmpeg()
  const named = taskApi.finished?.warnings.filter(({ code }) => code === 'source_size_changes')
  const message = expect.stringContaining('(4:3, then 16:9)') as string
  expect(named).toEqual(version.startsWith('5') ? [] : [expect.objectContaining({ message })])
})

test('changes of the matrix and of the range keep the colours', async () => {
  const pieces: Buffer[] = []
  for (const [matrix, range] of [
    ['bt709', 'tv'],
    ['bt601', 'tv'],
    ['bt709', 'pc'],
    ['bt601', 'pc'],
  ] as const) {
    const file = join(fixture.directory, `${matrix}-${range}.h264`)
    const space = matrix === 'bt601' ? 'smpte170m' : 'bt709'
    const chroma = '(val-128)*255/224+128'
    const filters = [
      `format=gbrp,scale=out_color_matrix=${matrix}:out_range=tv:flags=accurate_rnd+full_chroma_int,format=yuv420p`,
      // Not by `scale`: ffmpeg 7.0 writes full range with the matrix of BT.601.
      ...(range === 'pc' ? [`lutyuv=y=(val-16)*255/219:u=${chroma}:v=${chroma}`] : []),
      `setparams=range=${range}:colorspace=${space}`,
    ]
    await ffmpeg([
      ...['-y', ...lavfi(`smptebars=s=${WIDTH}x${HEIGHT}:r=25:d=0.4`), '-vf', filters.join()],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4'],
      ...['-bf', '0', '-colorspace', space, '-color_range', range],
      ...['-color_primaries', 'bt709', '-color_trc', 'bt709', file],
    ])
    pieces.push(await readFile(file))
  }
  const clip = join(fixture.directory, 'colours.ts')
  await writeFile(join(fixture.directory, 'colours.h264'), Buffer.concat(pieces))
  await ffmpeg(['-y', '-r', '25', '-i', join(fixture.directory, 'colours.h264'), '-c', 'copy', clip])
  const { taskApi, objects } = await runExtracts(fixture, clip, extractTask({ ...VIDEO, audioProfiles: [] }))
  await taskApi.stop()
  expect(taskApi.fails).toEqual([])
  const file = join(fixture.directory, 'colours.mp4')
  await writeFile(file, objects.get('v0.mp4')!)
  const pixels = await ffmpeg(['-i', file, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'yuv444p', '-'])
  const plane = WIDTH * HEIGHT
  /** Y, U and V in the middle of each bar. */
  const bars = (frame: number) =>
    Array.from(
      { length: 21 },
      (_, at) => pixels[frame * plane * 3 + (at % 3) * plane + 24 * WIDTH + 27 + 55 * Math.floor(at / 3)]!,
    )
  expect(pixels.length).toBe(40 * plane * 3)
  const off = [15, 25, 35].map((frame) => Math.max(...bars(frame).map((level, at) => Math.abs(level - bars(5)[at]!))))
  expect(Math.max(...off), off.join()).toBeLessThanOrEqual(3)
})

test('limited range behind full range is warned of, with its time', async () => {
  const pieces: Buffer[] = []
  for (const range of ['pc', 'tv']) {
    const file = join(fixture.directory, `${range}.h264`)
    await ffmpeg([
      ...['-y', ...lavfi(`testsrc2=s=${WIDTH}x${HEIGHT}:r=25:d=1.2`), '-pix_fmt', 'yuv420p', '-color_range', range],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0', '-colorspace', 'bt709', file],
    ])
    pieces.push(await readFile(file))
  }
  const [joined, clip] = [join(fixture.directory, 'ranges.h264'), join(fixture.directory, 'ranges.ts')]
  await writeFile(joined, Buffer.concat(pieces))
  await ffmpeg(['-y', '-r', '25', '-i', joined, '-c', 'copy', clip])
  const { taskApi } = await runExtracts(fixture, clip, extractTask({ ...VIDEO, audioProfiles: [] }))
  await taskApi.stop()
  const { version } = await testFfmpeg()
  const named = taskApi.finished?.warnings.filter(({ code }) => code === 'source_range_changes')
  const message = expect.stringContaining('at 0:00:01,') as string
  // ffmpeg 5.1 says nothing.
  expect(named).toEqual(version.startsWith('5') ? [] : [expect.objectContaining({ message })])
})

test('an odd size of 4:2:0, which scaler and bars refuse', async () => {
  const clip = join(fixture.directory, 'odd.mkv')
  await ffmpeg(['-y', ...lavfi('testsrc2=s=386x98:r=25:d=0.4'), '-vf', 'crop=385:97:exact=1', '-c:v', 'ffv1', clip])
  const { taskApi, objects } = await runExtracts(fixture, clip, extractTask({ ...VIDEO, audioProfiles: [] }))
  await taskApi.stop()
  expect(taskApi.fails).toEqual([])
  const file = join(fixture.directory, 'odd.mp4')
  await writeFile(file, objects.get('v0.mp4')!)
  expect(await decodeFrames(file)).toHaveLength(10)
})

test('a cut across a change has its frames', async () => {
  const members = { ...VIDEO, start_seconds: 1, end_seconds: 4 }
  const { taskApi, objects } = await runExtracts(fixture, source, extractTask(members))
  await taskApi.stop()
  await expectFrames(objects.get('v0.mp4')!, RATE, 3 * RATE)
})

test('segments, divided or not, have every frame, and their thumbnails', async () => {
  const task = segmentedTask({ output_container: 'hls', thumbnails: true })
  const [profile] = task.config.videoProfiles
  const sized = { ...task, config: { ...task.config, videoProfiles: [{ ...profile!, width: WIDTH, height: HEIGHT }] } }
  const compared = await compareDivision(fixture, sized, { source: await readFile(source), chunks: [0, 1, 2] })
  for (const { objects, problems, finished } of [compared.alone, compared.divided]) {
    expect(problems).toEqual([])
    expect(sizeChanges(finished?.warnings)).toEqual(['1 (192x48)', '2 (192x96)', '2 (240x60)'])
    const playlist = [...objects.keys()].find((name) => /(video|v)[^/]*\/?[^/]*\.m3u8$/.test(name))!
    await expectFrames(joinedSegments(objects, playlist), 0, FRAMES)
  }
})
