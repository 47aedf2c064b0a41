// In charge of: burned-in captions in whole attempts: the frames that have them, their size, place and text, read back from
// decoded outputs.
// Not in charge of: the request's rules (test/node/contract/job/rules/burnIn.test.ts), the ASS file
// (test/node/transcoder/formats/ass), sources and outputs of other kinds (burnIn.long.test.ts).
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { probeSandbox } from '../../../../transcoder/ffmpeg/sandboxProbe.ts'
import {
  brightBox,
  differingFrames,
  greyFrame,
  missingOcr,
  readText,
  requireFonts,
} from '../../../support/captions/drawnText.ts'
import { sampled } from '../../../support/longForm.ts'
import { skipTest } from '../../../support/requirement.ts'
import { BURN, BurnInTasks, CAPTION, profile, range, SIZE, srt } from '../../../support/transcoder/burnInTasks.ts'
import { joinedSegments } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
await requireFonts(fixtures)
const tasks = new BurnInTasks(fixtures)

const RATES: [rate: string, first: number[], second: number[]][] = [
  // Frames whose time is from the start to before the end.
  ['25', range(10, 20), range(30, 31)],
  ['30000/1001', range(12, 24), range(36, 38)],
  ['50', range(20, 40), range(60, 62)],
  ['60000/1001', range(24, 48), range(72, 75)],
  ['120', range(48, 96), range(144, 149)],
]
test.each(sampled(RATES, 2))(
  '%s frames per second: captions are in exactly their frames',
  async (rate, first, second) => {
    await tasks.makeSource({ rate })
    const text = srt(['00,400', '00,800', 'First'], ['01,200', '01,240', 'Second'])
    const drawn = await tasks.save(await tasks.run(BURN, [text]), 'out/v0.mp4', 'drawn.mp4')
    const plain = await tasks.save(await tasks.run({}, []), 'out/v0.mp4', 'plain.mp4')
    const { frames } = await differingFrames(drawn, plain, SIZE)
    expect(frames).toEqual([...first, ...second])
  },
)

test('offset_seconds, a cut and a caption on its edge move with the video', async () => {
  await tasks.makeSource()
  const text = srt(['00,000', '00,400', 'Before'], ['00,800', '01,200', 'Edge'], ['02,000', '02,200', 'Inside'])
  const cut = { start_seconds: 1, end_seconds: 2.6 }
  const captions = [{ ...CAPTION, offset_seconds: 0.12 }]
  const drawn = await tasks.save(await tasks.run({ ...BURN, ...cut, captions }, [text]), 'out/v0.mp4', 'drawn.mp4')
  expect(tasks.codes).toContain('captions_left_out')
  const plain = await tasks.save(await tasks.run(cut), 'out/v0.mp4', 'plain.mp4')
  const { frames } = await differingFrames(drawn, plain, SIZE)
  expect(frames).toEqual([...range(0, 8), ...range(28, 33)])
})

test('every rung has its own size of text', async () => {
  await tasks.makeSource({ size: '640x360', seconds: 1 })
  const rungs = [profile(640, 360), profile(320, 180, 'out/v1.mp4'), profile(180, 320, 'out/v2.mp4')]
  const objects = await tasks.run({ ...BURN, videoProfiles: rungs }, [srt(['00,000', '01,000', 'HIM'])])
  const heights = []
  for (const [index, { width, height }] of rungs.entries()) {
    const box = brightBox(await greyFrame(await tasks.save(objects, `out/v${index}.mp4`), 5), { width, height })!
    heights.push(box.bottom - box.top + 1)
    // Centred, above the bottom margin.
    expect(Math.abs((box.left + box.right) / 2 - width / 2)).toBeLessThanOrEqual(width * 0.03)
    expect(box.bottom).toBeGreaterThan(height * 0.85)
    expect(box.bottom).toBeLessThan(height * 0.96)
  }
  // Capitals are half as high as a line: 5.9 % of 360 lines, and at least 18 pixels.
  expect(heights.every((height) => height >= 9 && height <= 14)).toBe(true)
})

test('a subtitle stream of the source is drawn, also where it becomes a track', async () => {
  await tasks.makeSource({ subtitles: srt(['00,400', '00,800', '<i>Inside</i> the source']) })
  const objects = await tasks.run({ burn_in_captions: { source_track: 1 } }, [], { isSegmented: true })
  const name = [...objects.keys()].find((key) => /video_0\/.*\.m3u8$/.test(key))!
  await writeFile(tasks.path('drawn.ts'), joinedSegments(objects, name))
  const plain = await tasks.run({}, [], { isSegmented: true })
  await writeFile(tasks.path('plain.ts'), joinedSegments(plain, name))
  const { frames } = await differingFrames(tasks.path('drawn.ts'), tasks.path('plain.ts'), SIZE)
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
  await tasks.makeSource({ size, seconds: 1, rate: '10' })
  const [width, height] = size.split('x').map(Number) as [number, number]
  const objects = await tasks.run(
    { ...BURN, captions: [{ ...CAPTION, language: code }], videoProfiles: [profile(width, height)] },
    [srt(['00,000', '01,000', text])],
  )
  const found = await readText(await tasks.save(objects, 'out/v0.mp4'), 5, language, tasks.path(`${language}.png`))
  expect(found.replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
})

test('characters that no font has are named, and the rest is drawn', async () => {
  await tasks.makeSource({ seconds: 1 })
  const text = srt(['00,000', '01,000', 'Known \u{F1234} and \u{F1235}'])
  const file = await tasks.save(await tasks.run(BURN, [text]), 'out/v0.mp4')
  expect(tasks.warnings).toEqual([
    {
      code: 'caption_glyphs_missing',
      field: 'burn_in_captions',
      message: expect.stringContaining('U+F1234, U+F1235: a box'),
    },
  ])
  expect(brightBox(await greyFrame(file, 3), SIZE)).not.toBeNull()
})

test('text that looks like commands of ASS or of a filter graph is drawn as text', async () => {
  await tasks.makeSource({ seconds: 1 })
  // As a command: a filled square of the whole frame, and other files.
  const text = srt([
    '00,000',
    '01,000',
    "{\\p1\\an7\\pos(0,0)}m 0 0 l 320 0 320 180 0 180\n';[0:v]drawtext=textfile=/etc/passwd",
  ])
  const file = await tasks.save(await tasks.run(BURN, [text]), 'out/v0.mp4')
  const pixels = await greyFrame(file, 3)
  expect(pixels.filter((value) => value > 180).length / pixels.length).toBeLessThan(0.1)
  expect(fixtures.lines.join('\n')).not.toContain('passwd')
  // Braces would hide what is in them, and \\N would begin another line.
  const line = await tasks.save(await tasks.run(BURN, [srt(['00,000', '01,000', '{WWWWWW}\\NWW'])]), 'out/v0.mp4')
  const box = brightBox(await greyFrame(line, 3), SIZE)!
  expect(box.right - box.left).toBeGreaterThan(110)
  expect(box.bottom - box.top).toBeLessThan(22)
})

test('in the whole sandbox, fonts can be read, and the text is drawn', async () => {
  await tasks.makeSource({ seconds: 1 })
  const { sandbox } = await probeSandbox(fixtures.engine, fixtures.workDir)
  const engine = { ...fixtures.engine, sandbox }
  const text = srt(['00,000', '01,000', 'Text 字幕'])
  const inside = await tasks.save(await tasks.run(BURN, [text], { engine }), 'out/v0.mp4', 'inside.mp4')
  const warned = tasks.warnings
  const outside = await tasks.save(await tasks.run(BURN, [text]), 'out/v0.mp4', 'outside.mp4')
  // A machine may have no font with Han characters: what matters is that the sandbox has the fonts of the machine.
  expect(warned).toEqual(tasks.warnings)
  expect(brightBox(await greyFrame(inside, 3), SIZE)).not.toBeNull()
  expect((await differingFrames(inside, outside, SIZE)).frames).toEqual([])
})

test('a dry run says what would be drawn', async () => {
  await tasks.makeSource({
    seconds: 1,
    subtitles: srt(['00,000', '00,500', 'One'], ['00,500', '01,000', 'Two \u{F1234}']),
  })
  await tasks.run({ burn_in_captions: { source_track: 1 } }, [], { kind: 'plan' })
  expect(tasks.estimated?.estimate).toMatchObject({
    plan: { burn_in_captions: { kind: 'text', caption: null, source_track: 1, captions: 2 } },
    warnings: expect.arrayContaining([expect.objectContaining({ code: 'caption_glyphs_missing' })]),
  })
})
