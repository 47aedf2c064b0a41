// In charge of: burned-in captions in whole attempts: the frames that have them, their size, place and text, read back from
// decoded outputs.
// Not in charge of: the request's rules (test/node/contract/job/rules/burnIn.test.ts), the ASS file
// (test/node/transcoder/formats/ass).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Warning } from '#contract/errors.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { CaptionFields } from '#contract/job/requestSchema.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { brightBox, differingFrames, greyFrame, missingOcr, readText } from '../../../support/captions/drawnText.ts'
import { sampled } from '../../../support/longForm.ts'
import { ffmpeg, lavfi, probeFile } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let clip: Buffer
let warnings: Warning[]
const path = (name: string) => join(fixtures.directory, name)

interface Source {
  rate?: string
  size?: string
  seconds?: number
  flags?: string[]
  subtitles?: string
}

/** Dark grey video, with a subtitle stream if `subtitles` has SubRip. */
async function makeSource({ rate = '25', size = '320x180', seconds = 3, flags = [], subtitles }: Source = {}) {
  const file = path('source.mkv')
  await writeFile(path('source.srt'), subtitles ?? '')
  await ffmpeg([
    '-y',
    ...lavfi(`color=0x303030:size=${size}:rate=${rate}:duration=${seconds}`),
    ...(subtitles === undefined ? [] : ['-i', path('source.srt'), '-map', '0:v', '-map', '1:s', '-c:s', 'srt']),
    ...flags,
    ...'-c:v libx264 -preset ultrafast -g 25'.split(' '),
    file,
  ])
  return readFile(file)
}

const FILE: CaptionFields = { input: 'https://h.example/a.srt', language: 'en' }
const srt = (...cues: [start: string, end: string, text: string][]): string =>
  cues.map(([start, end, text], index) => `${index + 1}\n00:00:${start} --> 00:00:${end}\n${text}\n`).join('\n')

/** Runs a job and returns its stored objects. */
async function run(
  change: Partial<JobConfig>,
  files: string[] = [],
  isSegmented = false,
): Promise<Map<string, Buffer>> {
  const task = isSegmented ? segmentedTask({ output_container: 'hls' }) : describeTask({ container: 'mp4' })
  const taskApi = await new FakeTaskApi({ bytes: clip }).start()
  try {
    taskApi.captions = files.map((content) => Buffer.from(content))
    const captions = files.map(() => FILE)
    taskApi.task = { ...task, config: { ...task.config, audioProfiles: [], captions, ...change } }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    warnings = taskApi.finished?.warnings ?? []
    return storedObjects(taskApi)
  } finally {
    await taskApi.stop()
  }
}

async function save(objects: Map<string, Buffer>, name: string, as = name.replaceAll('/', '_')): Promise<string> {
  await writeFile(path(as), objects.get(name)!)
  return path(as)
}

const BURN = { burn_in_captions: { captions: 0 } } as const
const profile = (width: number, height: number, output = 'out/v0.mp4') => ({
  ...describeTask({ container: 'mp4' }).config.videoProfiles[0]!,
  width,
  height,
  output,
})
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const codes = () => warnings.map(({ code }) => code)

test.each<[rate: string, first: number[], second: number[]]>([
  // Frames whose time is from the start to before the end.
  ['25', range(10, 20), range(30, 31)],
  ['30000/1001', range(12, 24), range(36, 38)],
  ['50', range(20, 40), range(60, 62)],
  ['60000/1001', range(24, 48), range(72, 75)],
  ['120', range(48, 96), range(144, 149)],
])('%s frames per second: captions are in exactly their frames', async (rate, first, second) => {
  clip = await makeSource({ rate })
  const text = srt(['00,400', '00,800', 'First'], ['01,200', '01,240', 'Second'])
  const drawn = await save(await run(BURN, [text]), 'out/v0.mp4', 'drawn.mp4')
  const plain = await save(await run({}, []), 'out/v0.mp4', 'plain.mp4')
  const { frames } = await differingFrames(drawn, plain, { width: 320, height: 180 })
  expect(frames).toEqual([...first, ...second])
})

test('offset_seconds, a cut and a caption on its edge move with the video', async () => {
  clip = await makeSource()
  const text = srt(['00,000', '00,400', 'Before'], ['00,800', '01,200', 'Edge'], ['02,000', '02,200', 'Inside'])
  const cut = { start_seconds: 1, end_seconds: 2.6 }
  const captions = [{ ...FILE, offset_seconds: 0.12 }]
  const drawn = await save(await run({ ...BURN, ...cut, captions }, [text]), 'out/v0.mp4', 'drawn.mp4')
  expect(codes()).toContain('captions_left_out')
  const plain = await save(await run(cut), 'out/v0.mp4', 'plain.mp4')
  const { frames } = await differingFrames(drawn, plain, { width: 320, height: 180 })
  expect(frames).toEqual([...range(0, 8), ...range(28, 33)])
})

test('every rung has its own size of text, and a logo is below it', async () => {
  clip = await makeSource({ size: '640x360', seconds: 1 })
  const rungs = [profile(640, 360), profile(320, 180, 'out/v1.mp4'), profile(180, 320, 'out/v2.mp4')]
  const objects = await run({ ...BURN, videoProfiles: rungs }, [srt(['00,000', '01,000', 'HIM'])])
  const heights = []
  for (const [index, { width, height }] of rungs.entries()) {
    const box = brightBox(await greyFrame(await save(objects, `out/v${index}.mp4`), 5), { width, height })!
    heights.push(box.bottom - box.top + 1)
    // Centred, above the bottom margin.
    expect(Math.abs((box.left + box.right) / 2 - width / 2)).toBeLessThanOrEqual(width * 0.03)
    expect(box.bottom).toBeGreaterThan(height * 0.85)
    expect(box.bottom).toBeLessThan(height * 0.96)
  }
  // Capitals are half as high as a line: 5.9 % of 360 lines, and at least 18 pixels.
  expect(heights.every((height) => height >= 9 && height <= 14)).toBe(true)
})

test('letters keep their shape where pixels are not square', async () => {
  clip = await makeSource({ size: '720x576', seconds: 1, flags: ['-vf', 'setsar=64/45'] })
  const text = srt(['00,000', '01,000', 'MMMM'])
  const objects = await run({ ...BURN, videoProfiles: [profile(720, 576), profile(1024, 576, 'out/v1.mp4')] }, [text])
  const [anamorphic, square] = await Promise.all([save(objects, 'out/v0.mp4'), save(objects, 'out/v1.mp4')])
  const { streams } = await probeFile(anamorphic)
  expect(streams[0]?.sample_aspect_ratio).toBe('64:45')
  const a = brightBox(await greyFrame(anamorphic, 3), { width: 720, height: 576 })!
  const b = brightBox(await greyFrame(square, 3), { width: 1024, height: 576 })!
  expect(Math.abs((a.right - a.left) * (64 / 45) - (b.right - b.left))).toBeLessThan(6)
  expect(Math.abs(a.bottom - a.top - (b.bottom - b.top))).toBeLessThan(3)
})

test('a subtitle stream of the source is drawn, also where it becomes a track', async () => {
  clip = await makeSource({ subtitles: srt(['00,400', '00,800', '<i>Inside</i> the source']) })
  const objects = await run({ burn_in_captions: { source_track: 1 } }, [], true)
  const name = [...objects.keys()].find((key) => /video_0\/.*\.m3u8$/.test(key))!
  await writeFile(path('drawn.ts'), joinedSegments(objects, name))
  const plain = await run({}, [], true)
  await writeFile(path('plain.ts'), joinedSegments(plain, name))
  const { frames } = await differingFrames(path('drawn.ts'), path('plain.ts'), { width: 320, height: 180 })
  expect(frames).toEqual(range(10, 20))
  expect(objects.get('out/master.m3u8')!.toString('utf8')).toContain('TYPE=SUBTITLES')
})

const LINES: [language: string, code: string, text: string, size: string][] = [
  ['eng', 'en', 'Where are you going?', '640x360'],
  ['ara', 'ar', 'مرحبا بالعالم', '1280x720'],
  ['heb', 'he', 'שלום עולם', '640x360'],
  ['jpn', 'ja', '日本語の字幕', '640x360'],
]
test.for(sampled(LINES, 2))('%s text is read by tesseract', async ([language, code, text, size], context) => {
  const missing = await missingOcr([language])
  if (missing !== null) skipTest(context, missing)
  clip = await makeSource({ size, seconds: 1, rate: '10' })
  const [width, height] = size.split('x').map(Number) as [number, number]
  const objects = await run(
    { ...BURN, captions: [{ ...FILE, language: code }], videoProfiles: [profile(width, height)] },
    [srt(['00,000', '01,000', text])],
  )
  const found = await readText(await save(objects, 'out/v0.mp4'), 5, language, path(`${language}.png`))
  expect(found.replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
})

test('characters that no font has are named, and the rest is drawn', async () => {
  clip = await makeSource({ seconds: 1 })
  const text = srt(['00,000', '01,000', 'Known \u{F1234} and \u{F1235}'])
  const file = await save(await run(BURN, [text]), 'out/v0.mp4')
  expect(warnings).toEqual([
    {
      code: 'caption_glyphs_missing',
      field: 'burn_in_captions',
      message: expect.stringContaining('U+F1234, U+F1235: a box'),
    },
  ])
  expect(brightBox(await greyFrame(file, 3), { width: 320, height: 180 })).not.toBeNull()
})

test('text that looks like commands of ASS or of a filter graph is drawn as text', async () => {
  clip = await makeSource({ seconds: 1 })
  // As a command: a filled square of the whole frame, and other files.
  const text = srt([
    '00,000',
    '01,000',
    "{\\p1\\an7\\pos(0,0)}m 0 0 l 320 0 320 180 0 180\n';[0:v]drawtext=textfile=/etc/passwd",
  ])
  const file = await save(await run(BURN, [text]), 'out/v0.mp4')
  const pixels = await greyFrame(file, 3)
  expect(pixels.filter((value) => value > 180).length / pixels.length).toBeLessThan(0.1)
  expect(fixtures.lines.join('\n')).not.toContain('passwd')
})
