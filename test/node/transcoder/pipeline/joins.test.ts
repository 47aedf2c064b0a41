// In charge of: `inputs` in whole attempts: every frame and every audio sample of the joined outputs is the expected one,
// whatever the pieces are.
// Not in charge of: the request (contract/job/inputs.test.ts), 100 pieces (manyPieces.long.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { parseWebvtt } from '../../../../transcoder/manifests/webvtt/webvttParser.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { audioSamples } from '../../../support/media/audioSamples.ts'
import { decodeFrames, ffmpeg, probeStream } from '../../../support/media/media.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert, spliceSection } from '../../../support/mpegts/spliceSections.ts'
import { Random } from '../../../support/seededRandom.ts'
import {
  describeTask,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../../support/transcoder/attemptFixture.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'

const SECONDS = 24
const CLIPS = {
  'a.mp4': { rate: '25' },
  'b.mp4': { rate: '25', video: ['-x264-params', 'open-gop=1:keyint=90:bframes=3'] },
  'c.ts': { rate: '25' },
}
let fixture: AttemptFixture
let taskApi: FakeTaskApi
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await Promise.all(
    Object.entries(CLIPS).map(([file, options]) =>
      makeNumberedClip(path(file), { seconds: SECONDS, ...options, video: 'video' in options ? options.video : [] }),
    ),
  )
})
afterAll(() => fixture.remove())
const started: FakeTaskApi[] = []
afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())))

interface Part {
  file: string
  start?: number
  end?: number
  streams?: Record<string, '1' | '2' | null>
}

async function attempt(parts: readonly Part[], change: Partial<JobConfig> = {}, segmented = false): Promise<void> {
  taskApi = await new FakeTaskApi().start()
  started.push(taskApi)
  const [first, ...further] = await Promise.all(parts.map(async ({ file }) => ({ bytes: await readFile(path(file)) })))
  taskApi.source = first!
  taskApi.furtherSources = further
  const task = segmented
    ? segmentedTask({})
    : describeTask({ container: change.output_container === 'ts' ? 'ts' : 'mp4' })
  const profiles = task.config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
  const { input: _input, ...config } = task.config
  const inputs = parts.map(({ file, start, end, streams }) => ({
    input: `https://example.com/${file}`,
    ...(start === undefined ? {} : { start_seconds: start }),
    ...(end === undefined ? {} : { end_seconds: end }),
    ...(streams === undefined ? {} : { source_streams: streams }),
  }))
  taskApi.task = { ...task, config: { ...config, inputs, videoProfiles: profiles, ...change } }
  await runTask(runRequest(taskApi), fixture.context())
}

async function run(
  parts: readonly Part[],
  change: Partial<JobConfig> = {},
  segmented = false,
): Promise<Map<string, Buffer>> {
  await attempt(parts, change, segmented)
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  return storedObjects(taskApi)
}

const codes = (): string[] => taskApi.plans[0]?.warnings.map(({ code }) => code) ?? []

/** Of clips at 25 frames per second. */
function expectedFrames(parts: readonly Part[]): number[] {
  return parts.flatMap(({ start = 0, end = SECONDS }) => {
    const [first, last] = [Math.round(start * 25), Math.min(SECONDS * 25, Math.round(end * 25))]
    return Array.from({ length: last - first }, (_, index) => first + index)
  })
}

/** In each piece, just behind its fade and well before the next one. */
function audioPlaces(parts: readonly Part[]): { place: number; origin: number }[] {
  let at = 0
  return parts.flatMap((part) => {
    const frames = expectedFrames([part])
    const [place, origin, samples] = [at, frames[0]! * 1920, frames.length * 1920]
    at += samples
    return [2400, samples - 9600].map((offset) => ({ place: place + offset, origin: origin + offset }))
  })
}

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
  test.each(sampled(JOINS, 2).map((parts) => [describeParts(parts), parts] as const))(
    'of %s, as mp4',
    async (_, parts) => {
      const objects = await run(parts)
      await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
      expect(await frameNumbers(path('out.mp4'))).toEqual(expectedFrames(parts))
      for (const shift of await audioShiftsAt(path('out.mp4'), audioPlaces(parts)))
        expect(Math.abs(shift)).toBeLessThanOrEqual(1)
    },
  )

  test.each(sampled(JOINS.slice(3), LONG_FORM ? 9 : 1).map((parts) => [describeParts(parts), parts] as const))(
    'of %s, as a transport stream, HLS and DASH',
    async (_, parts) => {
      const objects = await run(parts, { output_container: 'ts' })
      await writeFile(path('out.ts'), objects.get('out/v0.ts')!)
      expect(await frameNumbers(path('out.ts'))).toEqual(expectedFrames(parts))
      await expectSteadyAudio(path('out.ts'), parts)
      const segmented = await run(parts, { segmented_output_hls: true, segmented_output_dash: true }, true)
      await writeFile(path('out.cmfv'), joinedSegments(segmented, 'out/video_0/playlist.m3u8'))
      expect(await frameNumbers(path('out.cmfv'))).toEqual(expectedFrames(parts))
      await writeFile(path('out.cmfa'), joinedSegments(segmented, 'out/audio_0/playlist.m3u8'))
      await expectSteadyAudio(path('out.cmfa'), parts)
      expect(segmented.get('out/manifest.mpd')?.toString()).toContain('<MPD')
      const pieces = await run(parts, { output_container: 'ts', segmented_output_hls: true }, true)
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
    const objects = await run(parts, { videoProfiles })
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
  const objects = await run(parts, {
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
    const objects = await run(parts)
    expect(codes().filter((code) => code === 'audio_silent_in_piece')).toHaveLength(2)
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
    await attempt(parts)
    expect(taskApi.fails.at(-1)?.error).toMatchObject({
      code: 'audio_stream_missing',
      field: 'audioProfiles[0].source_stream',
    })
    const { audioProfiles } = describeTask({ container: 'mp4' }).config
    const objects = await run(parts, {
      audioProfiles: audioProfiles.map((profile) => ({ ...profile, optional: true })),
    })
    await writeFile(path('none.mp4'), objects.get('out/v0.mp4')!)
    expect(codes()).toContain('audio_left_out')
    expect((await decodeFrames(path('none.mp4'))).length).toBe(50)
  })
})

test('an error of a piece names it', async () => {
  await attempt([
    { file: 'a.mp4', end: 1 },
    { file: 'a.mp4', start: 30 },
  ])
  expect(taskApi.fails.at(-1)?.error).toMatchObject({ code: 'cut_outside_source', field: 'inputs[1].start_seconds' })
  await writeFile(path('text.txt'), 'no media '.repeat(1000))
  await attempt([{ file: 'a.mp4', end: 1 }, { file: 'text.txt' }])
  expect(taskApi.fails.at(-1)?.error).toMatchObject({ code: 'source_not_media', field: 'inputs[1]' })
  await ffmpeg(['-y', '-i', path('a.mp4'), '-vn', '-c', 'copy', path('audio.m4a')])
  await attempt([{ file: 'a.mp4', end: 1 }, { file: 'audio.m4a' }])
  expect(taskApi.fails.at(-1)?.error).toMatchObject({ code: 'no_video', field: 'inputs[1]' })
})

test('pieces without video are joined as audio files', async () => {
  await ffmpeg(['-y', '-i', path('a.mp4'), '-vn', '-c', 'copy', path('audio.m4a')])
  const parts = [
    { file: 'audio.m4a', start: 2.0001, end: 4.5 },
    { file: 'audio.m4a', start: 22 },
  ]
  const objects = await run(parts, { audio_output_path: 'out/audio' })
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
    const objects = await run(parts, { segmented_output_hls: true }, true)
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
    const objects = await run(parts, change, true)
    expect(codes()).toContain('captions_removed')
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
    const objects = await run(parts, { output_container: 'ts', scte35_passthough: true })
    expect(taskApi.plans[0]?.warnings.find(({ code }) => code === 'cues_outside_cut')?.message).toMatch(
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
  const first = (await run(parts)).get('out/v0.mp4')!
  const { plan } = taskApi.plans[0]!
  taskApi.task = { ...taskApi.task!, plan: JSON.parse(JSON.stringify(plan)) as typeof plan, attempt: 2 }
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.plans).toHaveLength(1)
  expect(storedObjects(taskApi).get('out/v0.mp4')!.equals(first)).toBe(true)
})

const largest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, value), 0)

/** Containers without an edit list begin with the encoder's delay: it is the same in every piece, to the sample. */
async function expectSteadyAudio(file: string, parts: readonly Part[]): Promise<void> {
  const shifts = await audioShiftsAt(file, audioPlaces(parts))
  for (const shift of shifts) expect(Math.abs(shift - shifts[0]!)).toBeLessThanOrEqual(1)
  expect(Math.abs(shifts[0]!)).toBeLessThanOrEqual(1024)
}
