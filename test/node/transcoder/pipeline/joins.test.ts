// In charge of: `inputs` in whole attempts: every frame and every audio sample of the joined outputs is the expected one,
// whatever the pieces are.
// Not in charge of: what moves with the pieces, their formats, 100 pieces (joinedPieces.long.test.ts), the request
// (contract/job/inputs.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { audioSamples } from '../../../support/media/audioSamples.ts'
import { decodeFrames, ffmpeg, probeStream } from '../../../support/media/media.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { Random } from '../../../support/seededRandom.ts'
import { describeTask, openAttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import * as joined from '../../../support/transcoder/joinedTask.ts'
import { joinedSegments } from '../../../support/transcoder/segmentedTask.ts'

type Part = joined.Part
const SECONDS = 24
const CLIPS = {
  'a.mp4': { video: [] },
  'b.mp4': { video: ['-x264-params', 'open-gop=1:keyint=90:bframes=3'] },
  'c.ts': { video: [] },
}
let tasks: joined.JoinedTasks
const path = (name: string): string => tasks.path(name)
const expectedFrames = (parts: readonly Part[]): number[] => joined.expectedFrames(parts, SECONDS)
const audioPlaces = (parts: readonly Part[]): { place: number; origin: number }[] => joined.audioPlaces(parts, SECONDS)
beforeAll(async () => {
  tasks = new joined.JoinedTasks(await openAttemptFixture())
  await Promise.all(
    Object.entries(CLIPS).map(([file, options]) => makeNumberedClip(path(file), { seconds: SECONDS, ...options })),
  )
})
afterAll(() => tasks.fixture.remove())
afterEach(() => tasks.stop())

const RANDOM = new Random(18)
const between = (low: number, high: number): number => low + RANDOM.next() * (high - low)
const FILES = Object.keys(CLIPS)
const JOINS = Array.from({ length: 12 }, () =>
  Array.from({ length: 2 + Math.floor(between(0, 3)) }, (): Part => {
    const start = between(0, 19)
    return {
      file: FILES[Math.floor(between(0, FILES.length))]!,
      start,
      ...(RANDOM.next() < 0.15 ? {} : { end: start + between(0.7, 3) }),
    }
  }),
)
const describeParts = (parts: readonly Part[]): string =>
  parts.map(({ file, start = 0, end }) => `${file} ${start.toFixed(2)}–${end?.toFixed(2) ?? 'end'}`).join(', ')

describe('every frame and every sample', () => {
  test.each(sampled(JOINS, 1).map((parts) => [describeParts(parts), parts] as const))(
    'of %s, as mp4',
    async (_, parts) => {
      const objects = await tasks.run(parts)
      await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
      expect(await frameNumbers(path('out.mp4'))).toEqual(expectedFrames(parts))
      for (const shift of await audioShiftsAt(path('out.mp4'), audioPlaces(parts)))
        expect(Math.abs(shift)).toBeLessThanOrEqual(1)
    },
  )

  test.each(sampled(JOINS.slice(3), LONG_FORM ? 9 : 1).map((parts) => [describeParts(parts), parts] as const))(
    'of %s, as a transport stream, HLS and DASH',
    async (_, parts) => {
      const objects = await tasks.run(parts, { output_container: 'ts' })
      await writeFile(path('out.ts'), objects.get('out/v0.ts')!)
      expect(await frameNumbers(path('out.ts'))).toEqual(expectedFrames(parts))
      await expectSteadyAudio(path('out.ts'), parts)
      const segmented = await tasks.run(parts, { segmented_output_hls: true, segmented_output_dash: true }, true)
      await writeFile(path('out.cmfv'), joinedSegments(segmented, 'out/video_0/playlist.m3u8'))
      expect(await frameNumbers(path('out.cmfv'))).toEqual(expectedFrames(parts))
      await writeFile(path('out.cmfa'), joinedSegments(segmented, 'out/audio_0/playlist.m3u8'))
      await expectSteadyAudio(path('out.cmfa'), parts)
      expect(segmented.get('out/manifest.mpd')?.toString()).toContain('<MPD')
      const pieces = await tasks.run(parts, { output_container: 'ts', segmented_output_hls: true }, true)
      await writeFile(path('out.m2ts'), joinedSegments(pieces, 'out/video_0/playlist.m3u8'))
      expect(await frameNumbers(path('out.m2ts'))).toEqual(expectedFrames(parts))
      await expectSteadyAudio(path('out.m2ts'), parts)
    },
  )
})

describe('pieces that differ', () => {
  test('in size, shape, rate and channels get the format of the longest one', async () => {
    // Portrait, 30 frames per second, mono; all white.
    await ffmpeg([
      ...['-y', '-f', 'lavfi', '-i', 'color=white:s=96x192:r=30:d=2', '-f', 'lavfi', '-i', 'sine=f=440:d=2:r=44100'],
      ...['-c:v', 'libx264', '-c:a', 'aac', '-ac', '1', path('portrait.mp4')],
    ])
    const task = describeTask({ container: 'mp4' })
    const videoProfiles = [{ ...task.config.videoProfiles[0]!, width: 0, height: 0 }]
    const parts = [{ file: 'portrait.mp4' }, { file: 'a.mp4', start: 3, end: 6 }, { file: 'portrait.mp4', end: 0.5 }]
    const objects = await tasks.run(parts, { videoProfiles })
    await writeFile(path('mixed.mp4'), objects.get('out/v0.mp4')!)
    const video = await probeStream(path('mixed.mp4'), 'video')
    expect([video.width, video.height, video.r_frame_rate]).toEqual([192, 48, '25/1'])
    const numbers = await frameNumbers(path('mixed.mp4'))
    expect(numbers.length).toBe(50 + 75 + 13)
    expect(numbers.slice(50, 125)).toEqual(expectedFrames([parts[1]!]))
    // The white video is 24 wide in the middle of 192: bars on both sides.
    const pixels = await ffmpeg(['-i', path('mixed.mp4'), '-frames:v', '50', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'])
    for (const frame of [0, 25, 49]) {
      const row = pixels.subarray(frame * 192 * 48 + 24 * 192, frame * 192 * 48 + 25 * 192)
      expect([row[10]! < 40, row[96]! > 200, row[180]! < 40]).toEqual([true, true, true])
    }
    const samples = await audioSamples(path('mixed.mp4'))
    expect(samples.length).toBeGreaterThanOrEqual(138 * 1920)
    expect(await audioShiftsAt(path('mixed.mp4'), [{ place: 50 * 1920 + 2400, origin: 3 * 48_000 + 2400 }])).toEqual([
      0,
    ])
  })
})

test('joins make no click and no flash', async () => {
  // Tones that are cut at their peaks, on grey.
  await ffmpeg([
    ...['-y', '-f', 'lavfi', '-i', 'color=gray:s=192x48:r=25:d=2'],
    ...['-f', 'lavfi', '-i', "aevalsrc='0.5*cos(2*PI*100*t)':s=48000:d=2"],
    ...['-c:v', 'libx264', '-c:a', 'flac', '-strict', '-2', path('tone.mp4')],
  ])
  const parts = [0, 1, 2].map((index) => ({ file: 'tone.mp4', start: 0.2 * index, end: 1 + 0.2 * index }))
  const objects = await tasks.run(parts, {
    audioProfiles: [{ ...describeTask({ container: 'mp4' }).config.audioProfiles[0]!, audio_bitrate: '256' }],
  })
  await writeFile(path('tones.mp4'), objects.get('out/v0.mp4')!)
  const samples = await audioSamples(path('tones.mp4'))
  const steps = samples.slice(4800, -4800).map((value, index, all) => Math.abs(value - (all[index - 1] ?? value)))
  // A tone of 100 Hz moves by 0.0066 from sample to sample, a fade adds 0.002.
  expect(largest(steps)).toBeLessThan(0.015)
  const luma = await ffmpeg(['-i', path('tones.mp4'), '-vf', 'scale=1:1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'])
  expect(luma.length).toBe(75)
  expect(Math.max(...luma) - Math.min(...luma)).toBeLessThanOrEqual(2)
})

describe('audio that a piece lacks', () => {
  test('is silence of its length, with a warning', async () => {
    await ffmpeg(['-y', '-i', path('a.mp4'), '-an', '-c', 'copy', path('silent.mp4')])
    const parts: Part[] = [
      { file: 'a.mp4', start: 1, end: 2.2 },
      { file: 'silent.mp4', start: 4, end: 5 },
      { file: 'a.mp4', start: 6, end: 7, streams: { 1: null } },
      { file: 'a.mp4', start: 9, end: 10 },
    ]
    const objects = await tasks.run(parts)
    expect(tasks.warnings.filter((code) => code === 'audio_silent_in_piece')).toHaveLength(2)
    await writeFile(path('gaps.mp4'), objects.get('out/v0.mp4')!)
    expect(await frameNumbers(path('gaps.mp4'))).toEqual(expectedFrames(parts))
    const places = audioPlaces(parts)
    expect(await audioShiftsAt(path('gaps.mp4'), [places[0]!, places.at(-1)!])).toEqual([0, 0])
    const samples = await audioSamples(path('gaps.mp4'))
    expect(largest(samples.slice(1.25 * 48_000, 3.15 * 48_000).map(Math.abs))).toBeLessThan(0.01)
  })

  test('in all pieces is an error, as for one source, unless it is optional', async () => {
    await ffmpeg(['-y', '-i', path('a.mp4'), '-an', '-c', 'copy', path('silent.mp4')])
    const parts = [
      { file: 'silent.mp4', end: 1 },
      { file: 'silent.mp4', start: 2, end: 3 },
    ]
    await tasks.attempt(parts)
    expect(tasks.taskApi.fails.at(-1)?.error).toMatchObject({
      code: 'audio_stream_missing',
      field: 'audioProfiles[0].source_stream',
    })
    const { audioProfiles } = describeTask({ container: 'mp4' }).config
    const objects = await tasks.run(parts, {
      audioProfiles: audioProfiles.map((profile) => ({ ...profile, optional: true })),
    })
    await writeFile(path('none.mp4'), objects.get('out/v0.mp4')!)
    expect(tasks.warnings).toContain('audio_left_out')
    expect((await decodeFrames(path('none.mp4'))).length).toBe(50)
  })
})

test('a dry run says which format all inputs get', async () => {
  await tasks.attempt(
    [
      { file: 'a.mp4', end: 1 },
      { file: 'c.ts', start: 2, end: 5 },
    ],
    {},
    { kind: 'plan' },
  )
  expect(tasks.taskApi.fails).toEqual([])
  const { plan, probe } = tasks.taskApi.estimated!.estimate
  expect(plan.duration_seconds).toBe(4)
  expect(plan.outputs[0]!.description[0]).toBe(
    'Joined from 2 inputs, all brought to the format of inputs[1], the longest: 192 × 48, 25 frames per second, progressive.',
  )
  expect(plan.outputs[0]!.audio[0]!.source_stream).toBe(1)
  expect(probe.duration_seconds).toBe(4)
})

test('an error of a piece names it', async () => {
  await tasks.attempt([
    { file: 'a.mp4', end: 1 },
    { file: 'a.mp4', start: 30 },
  ])
  expect(tasks.taskApi.fails.at(-1)?.error).toMatchObject({
    code: 'cut_outside_source',
    field: 'inputs[1].start_seconds',
  })
  await writeFile(path('text.txt'), 'no media '.repeat(1000))
  await tasks.attempt([{ file: 'a.mp4', end: 1 }, { file: 'text.txt' }])
  expect(tasks.taskApi.fails.at(-1)?.error).toMatchObject({ code: 'source_not_media', field: 'inputs[1]' })
  await ffmpeg(['-y', '-i', path('a.mp4'), '-vn', '-c', 'copy', path('audio.m4a')])
  await tasks.attempt([{ file: 'a.mp4', end: 1 }, { file: 'audio.m4a' }])
  expect(tasks.taskApi.fails.at(-1)?.error).toMatchObject({ code: 'no_video', field: 'inputs[1]' })
})

test('pieces that are too long together are refused at the one that is too much', async () => {
  const parts = [
    { file: 'a.mp4', end: 2 },
    { file: 'a.mp4', end: 2 },
  ]
  await tasks.attempt(parts, {}, { kind: 'plan', max_source_seconds: 2 })
  const error = { code: 'source_too_long', field: 'inputs[1]', details: { source_seconds: 4, maximum: 2 } }
  expect(tasks.taskApi.fails.at(-1)?.error).toMatchObject(error)
})

test('pieces without video are joined as audio files', async () => {
  await ffmpeg(['-y', '-i', path('a.mp4'), '-vn', '-c', 'copy', path('audio.m4a')])
  const parts = [
    { file: 'audio.m4a', start: 2.0001, end: 4.5 },
    { file: 'audio.m4a', start: 22 },
  ]
  const objects = await tasks.run(parts, { audio_output_path: 'out/audio' })
  const [, bytes] = [...objects].find(([name]) => name.startsWith('out/audio'))!
  await writeFile(path('joined.m4a'), bytes)
  const first = Math.round(4.5 * 48_000) - Math.round(2.0001 * 48_000)
  expect(
    await audioShiftsAt(path('joined.m4a'), [
      { place: 2400, origin: Math.round(2.0001 * 48_000) + 2400 },
      { place: first + 2400, origin: 22 * 48_000 + 2400 },
    ]),
  ).toEqual([0, 0])
})

const largest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, value), 0)

/** Containers without an edit list begin with the encoder's delay: it is the same in every piece, to the sample. */
async function expectSteadyAudio(file: string, parts: readonly Part[]): Promise<void> {
  const shifts = await audioShiftsAt(file, audioPlaces(parts))
  for (const shift of shifts) expect(Math.abs(shift - shifts[0]!)).toBeLessThanOrEqual(1)
  expect(Math.abs(shifts[0]!)).toBeLessThanOrEqual(1024)
}
