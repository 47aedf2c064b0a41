// In charge of: what moves with the pieces of joined inputs, formats that differ, later attempts, and 100 pieces.
// Not in charge of: exact frames and samples (joins.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseWebvtt } from '../../../../transcoder/manifests/webvtt/webvttParser.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { measureLoudness } from '../../../support/media/audioSamples.ts'
import { decodeFrames, ffmpeg, probeStream } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert, spliceSection } from '../../../support/mpegts/spliceSections.ts'
import { describeTask, openAttemptFixture, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { expectedFrames, JoinedTasks } from '../../../support/transcoder/joinedTask.ts'
import { storedObjects } from '../../../support/transcoder/segmentedTask.ts'

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
    expect(tasks.warnings).toContain('captions_removed')
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
