// In charge of: subtitles of the source that are drawn in divided jobs: the frames of one task, from one reading of the source.
// Not in charge of: single frames of chunks (encoding/video/chunkSources.long.test.ts), the look (burnIn.test.ts,
// bitmapBurnIn.test.ts).
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { missingFonts } from '../../../support/captions/drawnText.ts'
import { ffmpeg, lavfi } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import {
  expectPlace,
  framesOf,
  LOW,
  HIGH,
  makePages,
  makeSource,
  range,
  RED,
  seenInFile,
  type Seen,
} from '../../../support/transcoder/bitmapTasks.ts'
import { ACROSS, expectSameCaptions, withCaptions } from '../../../support/transcoder/comparedCaptions.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { inChunks, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'
import type { TaskDescription } from '../../../support/transcoder/attemptFixture.ts'

const fixture = await useAttemptFixture()
const withoutFonts = await missingFonts(fixture)
const path = (name: string): string => join(fixture.directory, name)
const SHAPE = { width: 320, height: 180 }
const DRAWN = {
  output_container: 'hls',
  segmented_output_hls: true,
  segmented_output_dash: true,
  burn_in_captions: { source_track: 1 },
} as const

/** By its quality: no samples are needed. */
function task(changes: Partial<JobConfig> = {}): TaskDescription {
  const made = segmentedTask({ ...DRAWN, ...changes }, [1500])
  const videoProfiles = made.config.videoProfiles.map((each) => ({ ...each, video_bitrate_mode: 'qvbr' as const }))
  return { ...made, config: { ...made.config, videoProfiles } }
}

async function textSource(): Promise<Buffer> {
  const cues = ['00:00:00,480 --> 00:00:00,800', '00:00:01,480 --> 00:00:02,520', '00:00:04,000 --> 00:00:05,000']
  await writeFile(path('en.srt'), cues.map((times, at) => `${at + 1}\n${times}\nCaption ${at}\n`).join('\n'))
  const streams = '-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25 -c:a aac -c:s srt'.split(
    ' ',
  )
  const clip = lavfi('color=c=gray:s=320x180:r=25:d=6', 'sine=f=440:r=48000:d=6')
  await ffmpeg([...clip, '-i', path('en.srt'), ...streams, '-y', path('text.mkv')])
  return readFile(path('text.mkv'))
}

const box = { x: 200, y: 880, width: 600, height: 120 }
const pgsSource = () =>
  makeSource(
    path,
    'pgs.mkv',
    { width: 1920, height: 1080 },
    [
      { at: 0.48, shows: [{ ...box, color: RED }] },
      { at: 0.8, shows: [] },
      { at: 1.48, shows: [box] },
      { at: 2.52, shows: [] },
      { at: 4, shows: [{ ...box, y: 120 }] },
      { at: 5, shows: [] },
    ],
    { seconds: 6 },
  )

const SHOWN = [...range(12, 20), ...range(37, 63), ...range(100, 125)]

/** Of the first rendition: what one task draws, and what chunks draw. */
async function compared(source: Buffer, of: TaskDescription, captions: Buffer[] = []): Promise<(Seen | null)[][]> {
  const made = await compareDivision(fixture, of, { source, chunks: null, captions })
  if (captions.length > 0) await expectSameCaptions(fixture, made)
  expect([made.alone.problems, made.divided.problems]).toEqual([[], []])
  expect([made.onlyAlone, made.onlyDivided]).toEqual([[], []])
  expect(made.divided.finished?.warnings).toEqual(made.alone.finished?.warnings)
  const found: (Seen | null)[][] = []
  for (const [name, { objects }] of Object.entries({ alone: made.alone, divided: made.divided })) {
    const file = path(`${name}/seen.mp4`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    found.push(await seenInFile(file, SHAPE))
  }
  const [alone, divided] = found
  expect(framesOf(divided!)).toEqual(framesOf(alone!))
  for (const frame of framesOf(alone!)) {
    const { left, top, right, bottom } = alone![frame]!
    expectPlace(divided![frame], [left, top, right + 1, bottom + 1])
  }
  return found
}

test('text', async (context) => {
  if (withoutFonts !== null) skipTest(context, withoutFonts)
  const [, divided] = await compared(await textSource(), task())
  expect(framesOf(divided!)).toEqual(SHOWN)
})

test('images of PGS, over video that carries captions', async () => {
  const of = withCaptions(task(), [{}])
  const [, divided] = await compared(await pgsSource(), of, [ACROSS])
  expect(framesOf(divided!)).toEqual(SHOWN)
})

test('pages of DVB in a transport stream, of a part of the source', async () => {
  const pages = [
    { seconds: 0.52, timeOut: 1, box: LOW },
    { seconds: 2.2, timeOut: 1, box: HIGH },
  ]
  const source = await makePages(path, pages)
  const of = task({ start_seconds: '0.2', end_seconds: '3.6', segment_length: 1 })
  const [alone] = await compared(source, of)
  expect(framesOf(alone!)).toEqual([...range(8, 33), ...range(50, 75)])
})

describe('what the dividing attempt stored', () => {
  const taskApi = useTaskApi()

  test.for([
    ['text', textSource],
    ['images', pgsSource],
  ] as const)('is what chunks draw: %s', async ([name, source], context) => {
    if (name === 'text' && withoutFonts !== null) skipTest(context, withoutFonts)
    taskApi.source = { bytes: await source() }
    const beforeSurvey = (): void => {
      expect([...taskApi.work.keys()]).toEqual(['0-1/subtitles.0'])
      const bytes = Buffer.from(taskApi.work.get('0-1/subtitles.0')!)
      bytes[bytes.length - 1]! ^= 1
      taskApi.work.set('0-1/subtitles.0', bytes)
    }
    await runDividedJob(fixture, taskApi, inChunks(task()), { chunks: null, parts: [0], beforeSurvey })
    expect(taskApi.breaches).toEqual([])
    expect(taskApi.fails).toMatchObject([
      { error: { code: 'internal', message: expect.stringContaining('has changed') as string } },
    ])
  })
})
