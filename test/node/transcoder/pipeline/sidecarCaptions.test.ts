// In charge of: caption files in whole attempts: text, times and styles in the outputs, read back with ffmpeg.
// Not in charge of: what each format can express (test/node/transcoder/formats/captions).
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { CaptionFields } from '#contract/job/fields/request.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { stlFile, stlText } from '../../../support/captions/stlFile.ts'
import { readSubtitles, storedTexts } from '../../../support/captions/subtitleText.ts'
import { probeFile } from '../../../support/media/media.ts'
import { describeTask, makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let clip: Buffer
const taskApi = useTaskApi(() => clip)
beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 5)
})

const SRT = [
  '1\n00:00:00,400 --> 00:00:01,200\n<i>Hello</i> world\n2nd <b>line</b> & <\n',
  '2\n00:00:01,000 --> 00:00:02,500\nשלום ‏עולם, 你好。\n',
  '3\n00:00:03,960 --> 00:00:04,040\n{\\an8}At the {top} \\N\n',
  '4\n00:00:08,000 --> 00:00:09,000\nAfter the end\n',
].join('\n')

type Caption = Partial<CaptionFields>
const caption = (fields: Caption = {}): CaptionFields => ({
  input: 'https://h.example/a.srt',
  language: 'de',
  ...fields,
})

/** The stored objects, by path. */
async function run(
  container: 'mp4' | 'segmented',
  files: [fields: Caption, content: string | Buffer][],
  change: Partial<JobConfig> = {},
): Promise<Map<string, Buffer>> {
  const task =
    container === 'mp4'
      ? describeTask({ container: 'mp4' })
      : segmentedTask({ output_container: 'hls', segmented_output_dash: true })
  const captions = files.map(([fields]) => caption(fields))
  taskApi.captions = files.map(([, content]) => Buffer.from(content))
  taskApi.task = { ...task, config: { ...task.config, captions, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
  return storedObjects(taskApi)
}

async function saved(objects: Map<string, Buffer>, path: string): Promise<string> {
  const file = join(fixtures.directory, path.replaceAll('/', '_'))
  await writeFile(file, objects.get(path)!)
  return file
}

const warnings = () => (taskApi.finished?.warnings ?? []).filter(({ code }) => code.startsWith('captions_'))

test('mp4: a tx3g track for each file, with language, title and styles', async () => {
  const objects = await run('mp4', [
    [{ label: 'Deutsch: "SDH" = für alle', language: 'de-AT', hearing_impaired: true, default: true }, SRT],
    [{ language: 'zh-Hant' }, 'WEBVTT\n\n00:02.000 --> 00:03.000 line:10%\n漢字\n'],
  ])
  expect(taskApi.fails).toEqual([])
  const file = await saved(objects, 'out/v0.mp4')
  const { streams } = await probeFile(file)
  expect(streams.map(({ codec_name: codec }) => codec)).toEqual(['h264', 'aac', 'mov_text', 'mov_text'])
  expect(streams.slice(2).map(({ tags }) => [tags?.['language'], tags?.['handler_name']])).toEqual([
    ['deu', 'Deutsch: "SDH" = für alle'],
    ['zho', 'SubtitleHandler'],
  ])
  const hello = '<i>Hello</i> world\n2nd <b>line</b> & <'
  expect(await readSubtitles(file)).toEqual([
    { start: 400, end: 1000, text: hello },
    // mp4 shows one text at a time: where captions overlap, it has both.
    { start: 1000, end: 1200, text: `${hello}\nשלום ‏עולם, 你好。` },
    { start: 1200, end: 2500, text: 'שלום ‏עולם, 你好。' },
    { start: 3960, end: 4040, text: 'At the {top}' },
  ])
  expect((await storedTexts(file)).at(-1)).toBe('At the {top} \\N')
  expect(await readSubtitles(file, '0:s:1')).toEqual([{ start: 2000, end: 3000, text: '漢字' }])
  expect(warnings()).toEqual([
    {
      code: 'captions_left_out',
      field: 'captions[0].input',
      message: expect.stringContaining('One caption lies outside'),
    },
  ])
  expect(fixtures.lines.join('\n')).not.toContain('too small')
  expect(taskApi.breaches).toEqual([])
})

test('HLS and DASH: a rendition for each file, split at the segments, with places', async () => {
  const objects = await run('segmented', [
    [{ default: true }, SRT],
    [{ forced: true, label: 'Signs "1"' }, ''],
  ])
  expect(taskApi.fails).toEqual([])
  const master = objects.get('out/master.m3u8')!.toString('utf8')
  const media = master.split('\n').filter((line) => line.includes('TYPE=SUBTITLES'))
  expect(media).toEqual([
    expect.stringMatching(/NAME="German",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO/),
    expect.stringMatching(/NAME="Signs '1'",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,FORCED=YES/),
  ])
  const mpd = objects.get('out/manifest.mpd')!.toString('utf8')
  expect(mpd.match(/<AdaptationSet[^>]*contentType="text"[^>]*lang="de"/g)).toHaveLength(2)
  const whole = [...objects.keys()].filter((path) => path.endsWith('/captions.vtt')).toSorted()
  expect(await readSubtitles(await saved(objects, whole[0]!))).toEqual([
    { start: 400, end: 1200, text: '<i>Hello</i> world\n2nd <b>line</b> & <' },
    { start: 1000, end: 2500, text: 'שלום ‏עולם, 你好。' },
    { start: 3960, end: 4040, text: 'At the \\{top\\}' },
  ])
  expect(objects.get(whole[0]!)!.toString('utf8')).toContain('00:00:03.960 --> 00:00:04.040 line:5%\nAt the {top} \\N')
  expect(objects.get(whole[1]!)!.toString('utf8')).toBe('WEBVTT\n')
  const segments = [...objects]
    .filter(([path]) => /file_0\/[^/]+\/\d+\.vtt$/.test(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  // A cue that crosses a boundary is in both segments.
  expect(segments.map(([, body]) => body.toString('utf8').match(/-->/g)?.length)).toEqual([2, 2, 1])
  expect(warnings().map(({ code, field }) => [code, field])).toEqual([
    ['captions_left_out', 'captions[0].input'],
    ['captions_empty', 'captions[1].input'],
  ])
  expect(taskApi.breaches).toEqual([])
})

/** The same caption from 1 s to 2 s in each format; SCC has whole frames of 1001/30000 s. */
const FORMATS: [format: CaptionFields['format'], content: string | Buffer, times: [number, number], text: string][] = [
  ['srt', '1\n00:00:01,000 --> 00:00:02,000\n<i>Grüße</i>\n', [1000, 2000], '<i>Grüße</i>'],
  ['webvtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\n<i>Grüße</i>\n', [1000, 2000], '<i>Grüße</i>'],
  [
    'ttml',
    '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"><body><p begin="1s" end="2s" tts:fontStyle="italic">Grüße</p></body></tt>',
    [1000, 2000],
    '<i>Grüße</i>',
  ],
  [
    'scc',
    'Scenarist_SCC V1.0\n\n01:00:00:21\t94ae 94ae 9420 9420 9470 9470 c8e5 ecec ef80 942f 942f\n\n01:00:02:00\t942c 942c\n',
    [1001, 2002],
    'Hello',
  ],
  [
    'stl',
    stlFile([
      { first: '10:00:01:00', last: '10:00:02:00', text: [0x80, ...stlText('Gr'), 0xc8, 0x75, 0xfb, 0x65, 0x81] },
    ]),
    [1000, 2000],
    '<i>Grüße</i>',
  ],
]

test.for(['mp4', 'segmented'] as const)('%s: every format gives the same times and text', async (container) => {
  const objects = await run(
    container,
    FORMATS.map(([format, content], index) => [{ ...(format && { format }), label: `No. ${index}` }, content]),
  )
  expect(taskApi.fails).toEqual([])
  const paths = [...objects.keys()].filter((path) => /file_\d\/.*captions\.vtt$/.test(path)).toSorted()
  for (const [index, [format, , [start, end], text]] of FORMATS.entries()) {
    const read =
      container === 'mp4'
        ? await readSubtitles(await saved(objects, 'out/v0.mp4'), `0:s:${index}`)
        : await readSubtitles(await saved(objects, paths[index]!))
    expect([format, read]).toEqual([format, [{ start, end, text }]])
  }
  expect(warnings().map(({ code, field }) => [code, field])).toEqual([
    ['captions_times_shifted', 'captions[3].input'],
    ['captions_times_shifted', 'captions[4].input'],
  ])
})

test('an offset moves all times, in place of the start of a programme', async () => {
  const objects = await run('mp4', [
    [{ offset_seconds: 0.5 }, FORMATS[0]![1]],
    [{ offset_seconds: -36_001 }, FORMATS[4]![1]],
    [{ offset_seconds: 0 }, FORMATS[4]![1]],
  ])
  const file = await saved(objects, 'out/v0.mp4')
  expect(await readSubtitles(file)).toMatchObject([{ start: 1500, end: 2500 }])
  expect(await readSubtitles(file, '0:s:1')).toMatchObject([{ start: 0, end: 1000 }])
  // Ten hours after the end: an mp4 file has no empty track.
  expect((await probeFile(file)).streams).toHaveLength(4)
  expect(warnings().map(({ code, field }) => [code, field])).toEqual([['captions_left_out', 'captions[2].input']])
})

test('tracks for the hard of hearing are marked, and equal names are numbered', async () => {
  const objects = await run('segmented', [
    [{ hearing_impaired: true }, FORMATS[0]![1]],
    [{ label: 'German (SDH)' }, FORMATS[0]![1]],
    [{ language: 'pt-BR' }, FORMATS[0]![1]],
  ])
  const media = objects
    .get('out/master.m3u8')!
    .toString('utf8')
    .match(/TYPE=SUBTITLES.*/g)
  expect(media).toEqual([
    expect.stringMatching(/NAME="German \(SDH\)",LANGUAGE="de".*CHARACTERISTICS="public.accessibility/),
    expect.stringMatching(/NAME="German \(SDH\) 2",LANGUAGE="de"(?!.*CHARACTERISTICS)/),
    expect.stringMatching(/NAME="Brazilian Portuguese",LANGUAGE="pt-BR"/),
  ])
  const mpd = objects.get('out/manifest.mpd')!.toString('utf8')
  expect(mpd).toMatch(/lang="de">\s*<Label>German \(SDH\)<\/Label>\s*<Role[^>]*value="caption"/)
  expect(mpd).toMatch(/lang="pt-BR">/)
})

test('bytes that are not UTF-8, and a caption that ends before it begins, give a warning', async () => {
  const latin = Buffer.from(
    '1\n00:00:01,000 --> 00:00:02,000\nGr\xfc\xdfe\n\n2\n00:00:04,000 --> 00:00:03,000\nx\n',
    'latin1',
  )
  const objects = await run('mp4', [[{}, latin]])
  expect(await readSubtitles(await saved(objects, 'out/v0.mp4'))).toMatchObject([{ text: 'Grüße' }])
  expect(warnings().map(({ code }) => code)).toEqual(['captions_encoding_assumed', 'captions_times_invalid'])
})

test('a copied video has them, too', async () => {
  const objects = await run('mp4', [[{}, SRT]], { video_codec: 'copy' })
  expect(taskApi.fails).toEqual([])
  const file = await saved(objects, 'out/v0.mp4')
  expect((await readSubtitles(file)).map(({ start }) => start)).toEqual([400, 1000, 1200, 3960])
})

test('a ts file carries none, and they are not even fetched', async () => {
  taskApi.captions = []
  const task = describeTask({ container: 'ts' })
  taskApi.task = { ...task, config: { ...task.config, captions: [caption()] } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect([taskApi.fails, taskApi.counts.get('captions')]).toEqual([[], undefined])
})

test.for(['mp4', 'segmented'] as const)('%s: a cut moves the captions with the video', async (container) => {
  const objects = await run(container, [[{}, SRT]], { start_seconds: 1, end_seconds: 4 })
  expect(taskApi.fails).toEqual([])
  const path = container === 'mp4' ? 'out/v0.mp4' : [...objects.keys()].find((each) => each.endsWith('captions.vtt'))!
  const read = await readSubtitles(await saved(objects, path))
  const times = read.map(({ start, end }) => [start, end])
  expect(times.at(-1)).toEqual([2960, 3000])
  expect(times.at(-2)?.[1]).toBe(1500)
  expect(times[0]).toEqual([0, 200])
})

test.for([
  ['captions_unreadable', 'a,b\nc', { line: 1 }],
  ['captions_unreadable', '1\n00:00:00,400 --> 00:00\nx', { line: 2 }],
] as const)('%s ends the job with the field and the line', async ([code, content, details]) => {
  await run('mp4', [
    [{}, SRT],
    [{}, content],
  ])
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code, field: 'captions[1].input', details } }])
  expect(taskApi.plans).toEqual([])
  expect(await fixtures.workDirEntries()).toEqual([])
})
