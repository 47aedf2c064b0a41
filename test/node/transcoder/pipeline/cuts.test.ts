// In charge of: start_seconds and end_seconds in whole attempts: every frame and every audio sample of the outputs is the
// expected one, whatever the container of the source.
// Not in charge of: timecodes and errors (plan/cut.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { parseWebvtt } from '../../../../transcoder/manifests/webvtt/webvttParser.ts'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { sampled } from '../../../support/longForm.ts'
import { measureLoudness } from '../../../support/media/audioSamples.ts'
import { decodeFrames, ffmpeg } from '../../../support/media/media.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert, spliceSection } from '../../../support/mpegts/spliceSections.ts'
import { audioShifts, frameNumbers, makeNumberedClip, sampleCount } from '../../../support/media/numberedClip.ts'
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
const SOURCES = {
  'mp4 at 25': { file: 'a.mp4', rate: '25' },
  'mp4 at 29.97, open GOPs': {
    file: 'b.mp4',
    rate: '30000/1001',
    video: ['-x264-params', 'open-gop=1:keyint=90:bframes=3'],
  },
  'matroska at 23.976': { file: 'c.mkv', rate: '24000/1001' },
  'transport stream at 25': { file: 'd.ts', rate: '25' },
} as const

let fixture: AttemptFixture
let taskApi: FakeTaskApi
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await Promise.all(
    Object.values(SOURCES).map(({ file, ...options }) =>
      makeNumberedClip(path(file), {
        seconds: SECONDS,
        ...options,
        video: 'video' in options ? [...options.video] : [],
      }),
    ),
  )
})
afterAll(() => fixture.remove())
beforeEach(async () => {
  taskApi = await new FakeTaskApi().start()
})
afterEach(() => taskApi.stop())

async function run(source: string, change: Partial<JobConfig>, segmented = false): Promise<Map<string, Buffer>> {
  taskApi.source = { bytes: await readFile(path(source)) }
  const task = segmented
    ? segmentedTask({})
    : describeTask({ container: change.output_container === 'ts' ? 'ts' : 'mp4' })
  const profiles = task.config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
  taskApi.task = { ...task, config: { ...task.config, videoProfiles: profiles, ...change } }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  return storedObjects(taskApi)
}

const RANDOM = new Random(16)
const between = (low: number, high: number): number => low + RANDOM.next() * (high - low)
const CUTS = [
  { start: 0, end: 3.5 },
  { start: 20.2, end: undefined },
  ...Array.from({ length: 8 }, () => {
    const start = between(0, 19)
    return { start, end: start + between(1.5, 4) }
  }),
]
const cases = Object.entries(SOURCES).flatMap(([name, source]) =>
  sampled(CUTS, 3).map(({ start, end }) => ({ name, ...source, start, end })),
)

function expectedFrames(rate: string, start: number, end: number | undefined): number[] {
  const [num, den = 1] = rate.split('/').map(Number)
  const frame = (seconds: number): number => Math.round((seconds * num!) / den)
  const [first, last] = [frame(start), end === undefined ? Math.ceil((SECONDS * num!) / den) : frame(end)]
  return Array.from({ length: last - first }, (_, index) => first + index)
}

/** The sample at which the first expected frame begins. */
function originOf(rate: string, start: number): number {
  const [num, den = 1] = rate.split('/').map(Number)
  return Math.round((Math.round((start * num!) / den) * den * 48_000) / num!)
}

test.each(cases)('$name, $start to $end: frames and samples of an mp4', async ({ file, rate, start, end }) => {
  const objects = await run(file, { start_seconds: start, ...(end === undefined ? {} : { end_seconds: end }) })
  await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
  const frames = expectedFrames(rate, start, end)
  expect(await frameNumbers(path('out.mp4'))).toEqual(frames)
  const origin = originOf(rate, start)
  for (const shift of await audioShifts(path('out.mp4'), origin))
    expect(Math.abs(shift)).toBeLessThanOrEqual(file.endsWith('mkv') ? 48 : 1)
  if (end !== undefined) {
    const [num, den = 1] = rate.split('/').map(Number)
    expect(Math.abs((await sampleCount(path('out.mp4'))) - (frames.length * den * 48_000) / num!)).toBeLessThanOrEqual(
      1100,
    )
  }
})

describe('other outputs of the same cut', () => {
  const cut = { start_seconds: 7.32, end_seconds: '00:00:12.600' }
  const frames = expectedFrames('25', 7.32, 12.6)

  test('a transport stream', async () => {
    const objects = await run('a.mp4', { output_container: 'ts', ...cut })
    await writeFile(path('out.ts'), objects.get('out/v0.ts')!)
    expect(await frameNumbers(path('out.ts'))).toEqual(frames)
  })

  test.each([
    {
      form: 'CMAF',
      change: { output_container: 'mp4', segmented_output_hls: true, segmented_output_dash: true } as const,
    },
    { form: 'transport stream segments', change: { output_container: 'ts', segmented_output_hls: true } as const },
  ])('HLS with $form: as many segments as the part has', async ({ change }) => {
    const objects = await run('a.mp4', { ...change, ...cut, thumbnails: true }, true)
    await writeFile(path('out.bin'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expect(await frameNumbers(path('out.bin'))).toEqual(frames)
    const text = objects.get('out/video_0/playlist.m3u8')!.toString()
    expect([...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))).toEqual([2, 2, 1.28])
  })

  test('half the frame rate begins with the same frame', async () => {
    const task = describeTask({ container: 'mp4' })
    const videoProfiles = [
      { ...task.config.videoProfiles[0]!, video_framerate: '1/2x' as const, width: 192, height: 48 },
    ]
    const objects = await run('a.mp4', { ...cut, videoProfiles })
    await writeFile(path('half.mp4'), objects.get('out/v0.mp4')!)
    expect(await frameNumbers(path('half.mp4'))).toEqual(frames.filter((_, index) => index % 2 === 0))
  })
})

test('a part in the middle of an mp4 is found by its index, and only that part is read', async () => {
  await run('a.mp4', { start_seconds: 21, end_seconds: 22 })
  const command = fixture.lines.findLast((line) => line.includes('ffmpeg starts'))
  expect(command).toContain('-noaccurate_seek')
})

test('the source’s end before end_seconds gives a warning, a start after it an error', async () => {
  await run('a.mp4', { start_seconds: 20, end_seconds: 99 })
  expect(taskApi.plans[0]?.warnings.map(({ code }) => code)).toContain('end_after_source')
  taskApi.task = { ...taskApi.task!, attempt: 2, plan: null, config: { ...taskApi.task!.config, start_seconds: 24 } }
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect(taskApi.fails.at(-1)?.error).toMatchObject({ code: 'cut_outside_source', field: 'start_seconds' })
})

test('a later attempt follows the cut in the stored plan', async () => {
  await run('b.mp4', { start_seconds: 10, end_seconds: 12 })
  const plan = taskApi.plans[0]!.plan
  await taskApi.stop()
  taskApi = await new FakeTaskApi().start()
  taskApi.source = { bytes: await readFile(path('b.mp4')) }
  const task = describeTask({ container: 'mp4' })
  const videoProfiles = task.config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
  taskApi.task = { ...task, plan, config: { ...task.config, videoProfiles, start_seconds: 10, end_seconds: 12 } }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  await writeFile(path('again.mp4'), storedObjects(taskApi).get('out/v0.mp4')!)
  expect(await frameNumbers(path('again.mp4'))).toEqual(expectedFrames('30000/1001', 10, 12))
})

describe('what moves with the part', () => {
  test('text subtitles', async () => {
    const times = [
      '00:00:04,000 --> 00:00:06,000',
      '00:00:09,500 --> 00:00:10,800',
      '00:00:11,000 --> 00:00:11,500',
      '00:00:11,700 --> 00:00:14,000',
      '00:00:15,000 --> 00:00:16,000',
    ]
    await writeFile(path('en.srt'), times.map((time, index) => `${index + 1}\n${time}\nText ${index}\n`).join('\n'))
    await ffmpeg([
      '-y',
      '-i',
      path('a.mp4'),
      '-i',
      path('en.srt'),
      '-map',
      '0',
      '-map',
      '1',
      '-c',
      'copy',
      '-c:s',
      'srt',
      path('sub.mkv'),
    ])
    const objects = await run('sub.mkv', { segmented_output_hls: true, start_seconds: 10, end_seconds: 12 }, true)
    const [, text] = [...objects].find(([name]) => name.endsWith('/captions.vtt'))!
    const cues = parseWebvtt(text.toString(), 0, Infinity)
    expect(cues.map(({ start, end, text: line }) => [start, end, line])).toEqual([
      [0, 0.8, 'Text 1'],
      [1, 1.5, 'Text 2'],
      [1.7, 2, 'Text 3'],
    ])
  })

  test('closed captions: one that is on the screen when the part begins starts with it', async () => {
    await makeCaptionedClip(path, 'ON THE SCREEN')
    const objects = await run(
      'captions.ts',
      {
        output_container: 'ts',
        segmented_output_hls: true,
        closed_captions: true,
        audioProfiles: [],
        start_seconds: 0.8,
        end_seconds: 1.9,
      },
      true,
    )
    const [, text] = [...objects].find(([name]) => name.endsWith('/captions.vtt'))!
    const cues = parseWebvtt(text.toString(), 0, Infinity)
    // Loaded by 10 pairs, shown for 20 frames after them.
    expect(cues.map((cue) => [cue.start, cue.text])).toEqual([[0, 'ON THE SCREEN']])
    expect(Math.abs(cues[0]!.end - (31 * (1001 / 30_000) - 0.8))).toBeLessThan(0.07)
  })

  test('SCTE-35 cues; those outside are left out with a warning', async () => {
    const cues = [
      cueAtSeconds(0.2, spliceSection({ type: 0 })),
      cueAtSeconds(1.4, spliceInsert({ eventId: 1001, out: true, pts: 3.04 * 90_000 })),
      cueAtSeconds(5.2, spliceInsert({ eventId: 1002, out: false, pts: null }), 'frame'),
    ]
    await makeCueClip(path('cues.ts'), { seconds: 6, flags: ['-g', '50', '-bf', '2', '-f', 'mpegts'] }, cues)
    await run('cues.ts', { output_container: 'ts', scte35_passthough: true, start_seconds: 1, end_seconds: 5 })
    expect(taskApi.plans[0]?.warnings.map(({ code }) => code)).toContain('cues_outside_cut')
    const seen = readCues(storedObjects(taskApi).get('out/v0.ts')!)
    expect(seen.map(({ eventId, splices }) => [eventId, splices])).toEqual([[1001, [expect.closeTo(2.04, 5)]]])
    const [, source] = readCues(await readFile(path('cues.ts')))
    expect(Math.abs(seen[0]!.arrives - (source!.arrives - 1))).toBeLessThanOrEqual(0.04 + 1e-6)
    await writeFile(path('spliced.ts'), storedObjects(taskApi).get('out/v0.ts')!)
    const keys = (await decodeFrames(path('spliced.ts'))).flatMap((frame, index) =>
      frame.key_frame === 1 ? [index] : [],
    )
    expect(keys).toContain(51)
  })
})

describe('unusual sources', () => {
  test('audio that ends before the part: silence, no error', async () => {
    await ffmpeg([
      '-y',
      '-i',
      path('a.mp4'),
      '-f',
      'lavfi',
      '-i',
      'sine=d=3',
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-c:v',
      'copy',
      '-c:a',
      'aac',
      path('short.mp4'),
    ])
    const objects = await run('short.mp4', { start_seconds: 10, end_seconds: 12 })
    await writeFile(path('silent.mp4'), objects.get('out/v0.mp4')!)
    expect(await frameNumbers(path('silent.mp4'))).toEqual(expectedFrames('25', 10, 12))
  })

  test('a frame that is held over the beginning of the part is its first frame', async () => {
    // Two frames a second, from 10 s on none for 6 s.
    await ffmpeg([
      '-y',
      '-i',
      path('a.mp4'),
      '-an',
      '-vf',
      "select='not(mod(n\\,12))*not(between(t\\,10\\,16))'",
      '-fps_mode',
      'vfr',
      '-c:v',
      'libx264',
      '-g',
      '1000',
      path('held.mp4'),
    ])
    const objects = await run('held.mp4', { start_seconds: 13, end_seconds: 14, audioProfiles: [] })
    await writeFile(path('held-out.mp4'), objects.get('out/v0.mp4')!)
    expect([...new Set(await frameNumbers(path('held-out.mp4')))]).toEqual([240])
  })

  test('a source without video, as audio files', async () => {
    await ffmpeg(['-y', '-i', path('a.mp4'), '-vn', '-c', 'copy', path('audio.m4a')])
    const objects = await run('audio.m4a', { audio_output_path: 'out/audio', start_seconds: 5.5, end_seconds: 8 })
    const [, bytes] = [...objects].find(([name]) => name.startsWith('out/audio'))!
    await writeFile(path('part.m4a'), bytes)
    for (const shift of await audioShifts(path('part.m4a'), 5.5 * 48_000))
      expect(Math.abs(shift)).toBeLessThanOrEqual(1)
  })

  test('fields of an interlaced source that become frames', async () => {
    await ffmpeg([
      '-y',
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=192x96:r=50:d=8',
      '-vf',
      'tinterlace=interleave_top',
      '-flags',
      '+ilme+ildct',
      '-c:v',
      'libx264',
      '-x264-params',
      'tff=1',
      path('fields.mp4'),
    ])
    const task = describeTask({ container: 'mp4' })
    const videoProfiles = [{ ...task.config.videoProfiles[0]!, video_framerate: '2x' as const, width: 192, height: 96 }]
    await run('fields.mp4', { start_seconds: 4, end_seconds: 6, videoProfiles, audioProfiles: [] })
    await writeFile(path('fields-out.mp4'), storedObjects(taskApi).get('out/v0.mp4')!)
    expect((await decodeFrames(path('fields-out.mp4'))).length).toBe(100)
  })
})

test('the loudness of the part is measured, not that of the whole source', async () => {
  // 12 s quiet, then 12 s loud.
  await ffmpeg([
    '-y',
    '-i',
    path('a.mp4'),
    '-f',
    'lavfi',
    '-i',
    "sine=f=997:r=48000:d=24,volume='if(lt(t,12),0.05,0.5)':eval=frame",
    '-map',
    '0:v',
    '-map',
    '1:a',
    '-c:v',
    'copy',
    '-c:a',
    'aac',
    path('levels.mp4'),
  ])
  const objects = await run('levels.mp4', { start_seconds: 2, end_seconds: 10, loudness_lufs: -23 })
  await writeFile(path('level.mp4'), objects.get('out/v0.mp4')!)
  expect(Math.abs((await measureLoudness(path('level.mp4'))).integratedLufs! + 23)).toBeLessThan(0.5)
})
