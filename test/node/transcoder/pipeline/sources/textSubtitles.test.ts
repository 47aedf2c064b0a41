// In charge of: text subtitles of a source in segmented output, from real containers, in a whole attempt.
// Not in charge of: captions inside the video (node/transcoder/encoding/captionTracks.test.ts), playback
// (node/players).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { parseWebvtt } from '../../../../../transcoder/manifests/webvtt/webvttParser.ts'
import { ffmpeg, makeClip } from '../../../../support/media/media.ts'
import { insertTeletext } from '../../../../support/mpegts/teletextStream.ts'
import { skipTest } from '../../../../support/requirement.ts'
import { parseAttributes, hlsRuleViolations, readTags } from '../../../../support/manifests/hlsRules.ts'
import { storedObjects, segmentedTask } from '../../../../support/transcoder/segmentedTask.ts'
import { runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()
let path: (name: string) => string
beforeAll(async () => {
  path = (name) => join(fixtures.directory, name)
  await makeClip(path('clip.mp4'), { seconds: 5, width: 160, height: 90 })
  await writeFile(
    path('en.srt'),
    `1\n00:00:00,500 --> 00:00:01,500\n<i>One</i> & two\n1 < 2 > 0\n\n2\n00:00:01,800 --> 00:00:02,400\nOver the boundary\n\n3\n00:00:04,500 --> 00:00:09,000\nTo the end\n`,
  )
  await writeFile(path('fr.vtt'), 'WEBVTT\n\n00:00:03.000 --> 00:00:03.500 line:0\nÇa <b>va</b>\n')
  const ass = [
    '[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n',
    '[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    String.raw`Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\pos(10,10)\c&H0000FF&}Ein Schild\Nzwei Zeilen`,
  ]
  await writeFile(path('de.ass'), `${ass.join('\n')}\n`)
})

async function run(source: string, change: Partial<JobConfig>): Promise<Map<string, Buffer>> {
  taskApi.source = { bytes: await readFile(source) }
  taskApi.task = segmentedTask(change)
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  return storedObjects(taskApi)
}
const warned = () => taskApi.plans[0]?.warnings.map(({ code }) => code)

const CMAF = { output_container: 'mp4', segmented_output_hls: true, segmented_output_dash: true } as const
const TS = { output_container: 'ts', segmented_output_hls: true } as const

const ENGLISH = [
  { start: 0.5, end: 1.5, text: 'One & two\n1 < 2 > 0' },
  { start: 1.8, end: 2.4, text: 'Over the boundary' },
  { start: 4.5, end: 5, text: 'To the end' },
]
const GERMAN = [{ start: 1, end: 2, text: 'Ein Schild\nzwei Zeilen' }]
const FRENCH = [{ start: 3, end: 3.5, text: 'Ça va' }]

function cuesOf(objects: ReadonlyMap<string, Buffer>, id: string): { start: number; end: number; text: string }[] {
  const file = [...objects].find(([name]) => name.startsWith(`out/captions/${id}/`) && name.endsWith('/captions.vtt'))
  return parseWebvtt(file?.[1].toString() ?? '', 0, Infinity).map(({ start, end, text }) => ({ start, end, text }))
}

/** Entries in the HLS playlist: name, language, forced, address. */
function listed(objects: ReadonlyMap<string, Buffer>) {
  const tags = readTags(objects.get('out/master.m3u8')!.toString())
  const media = tags.filter(({ name }) => name === 'EXT-X-MEDIA').map(({ value }) => parseAttributes(value))
  expect(
    tags.filter(({ name }) => name === 'EXT-X-STREAM-INF').map(({ value }) => parseAttributes(value).get('SUBTITLES')),
  ).toEqual(['subs'])
  return media
    .filter((one) => one.get('TYPE') === 'SUBTITLES')
    .map((one) => ['NAME', 'LANGUAGE', 'FORCED', 'AUTOSELECT', 'CHARACTERISTICS', 'URI'].map((key) => one.get(key)))
}

test('subrip, ass and webvtt of a Matroska file become tracks with their languages and purposes', async () => {
  const inputs = ['clip.mp4', 'en.srt', 'de.ass', 'fr.vtt', 'en.srt'].flatMap((name) => ['-i', path(name)])
  const maps = [0, 1, 2, 3, 4].flatMap((at) => ['-map', String(at)])
  const codecs = '-c copy -c:s:0 srt -c:s:1 ass -c:s:2 webvtt -c:s:3 srt'.split(' ')
  const languages = ['eng', 'ger', 'fre', 'eng'].flatMap((language, at) => [
    `-metadata:s:s:${at}`,
    `language=${language}`,
  ])
  const traits = '-disposition:s:1 forced -disposition:s:3 hearing_impaired -metadata:s:s:0 title=PRIVATE'.split(' ')
  await ffmpeg([...inputs, ...maps, ...codecs, ...languages, ...traits, path('all.mkv')])
  const objects = await run(path('all.mkv'), CMAF)
  expect(warned()).not.toContain('text_subtitles_left_out')
  const traitsOfCaptions =
    'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound'
  expect(listed(objects)).toEqual([
    ['English', 'en', 'NO', 'YES', undefined, 'captions/sub_0/playlist.m3u8'],
    ['German (forced)', 'de', 'YES', 'YES', undefined, 'captions/sub_1/playlist.m3u8'],
    ['French', 'fr', 'NO', 'YES', undefined, 'captions/sub_2/playlist.m3u8'],
    ['English (SDH)', 'en', 'NO', 'YES', traitsOfCaptions, 'captions/sub_3/playlist.m3u8'],
  ])
  expect([0, 1, 2, 3].map((at) => cuesOf(objects, `sub_${at}`))).toEqual([ENGLISH, GERMAN, FRENCH, ENGLISH])
  const texts = new Map(
    [...objects].filter(([name]) => name.endsWith('m3u8')).map(([name, bytes]) => [name.slice(4), bytes.toString()]),
  )
  expect(hlsRuleViolations(texts)).toEqual([])
  // One file for each segment of the video; a cue across the boundary at 2 s is in both.
  const parts = [1, 2, 3].map((at) => objects.get(`out/captions/sub_0/j-1-1/0000${at}.vtt`)!.toString())
  expect(parts.map((text) => text.split('\n')[1])).toEqual(Array(3).fill('X-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000'))
  expect(parts.map((text) => text.match(/ --> /g)?.length)).toEqual([2, 1, 1])
  const manifest = objects.get('out/manifest.mpd')!.toString()
  const sets = [
    ...manifest.matchAll(/contentType="text"[^>]*lang="(\w+)".*?Role [^>]*value="([^"]+)".*?<BaseURL>([^<]+)</gs),
  ]
  expect(sets.map(([, lang, role]) => [lang, role])).toEqual([
    ['en', 'subtitle'],
    ['de', 'forced-subtitle'],
    ['fr', 'subtitle'],
    ['en', 'caption'],
  ])
  for (const [, , , uri] of sets) expect(objects.has(`out/${uri}`), uri).toBe(true)
  expect([...objects].filter(([, bytes]) => bytes.includes('PRIVATE')).map(([name]) => name)).toEqual([])
})

describe('mov_text', () => {
  test.each<[string, string[]]>([
    ['at the beginning of the clock', []],
    ['in a file whose video begins 0.4 s after its audio', ['-itsoffset', '0.4']],
  ])('%s: times are those of the frames, in transport stream segments too', async (_, shift) => {
    // The same shift for frames and text, but not for audio.
    await ffmpeg([
      ...shift,
      '-i',
      path('clip.mp4'),
      '-i',
      path('clip.mp4'),
      ...shift,
      '-i',
      path('en.srt'),
      ...'-map 0:v -map 1:a -map 2 -c copy -c:s mov_text -metadata:s:s:0 language=eng'.split(' '),
      path('text.mp4'),
    ])
    const objects = await run(path('text.mp4'), TS)
    expect(cuesOf(objects, 'sub_0').slice(0, 2)).toEqual(ENGLISH.slice(0, 2))
    const [first] = [...objects].filter(([name]) => name.endsWith('/sub_0/j-1-1/00001.vtt'))
    expect(first![1].toString()).toContain('X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000')
    expect(listed(objects).map(([name]) => name)).toEqual(['English'])
  })
})

test('invalid UTF-8 drops its own cues and does not fail the job', async () => {
  const text = Buffer.from(
    '1\n00:00:00,500 --> 00:00:01,500\nABCDEFGH\n\n2\n00:00:03,000 --> 00:00:04,000\nStill here\n',
  )
  await writeFile(path('bad.srt'), text)
  const flags = '-map 0 -map 1 -c copy -c:s srt'.split(' ')
  await ffmpeg(['-i', path('clip.mp4'), '-i', path('bad.srt'), ...flags, path('bad.mkv')])
  const bytes = await readFile(path('bad.mkv'))
  bytes.write('\u00ff\u00fe\u00ff', bytes.indexOf('ABCDEFGH'), 'latin1')
  await writeFile(path('bad.mkv'), bytes)
  const objects = await run(path('bad.mkv'), CMAF)
  expect(cuesOf(objects, 'sub_0').at(-1)).toEqual({ start: 3, end: 4, text: 'Still here' })
})

test('a stream that says nothing makes no track, and Smooth Streaming and single files have none, each with a warning', async () => {
  await writeFile(path('late.srt'), '1\n00:00:30,000 --> 00:00:31,000\nToo late\n')
  const flags = '-map 0 -map 1 -c copy -c:s srt'.split(' ')
  await ffmpeg(['-i', path('clip.mp4'), '-i', path('late.srt'), ...flags, path('late.mkv')])
  const objects = await run(path('late.mkv'), CMAF)
  expect([...objects.keys()].filter((name) => name.includes('captions'))).toEqual([])
  expect(objects.get('out/master.m3u8')!.toString()).not.toContain('SUBTITLES')
  expect(taskApi.finished?.warnings.map(({ code }) => code)).toContain('text_subtitles_left_out')
  taskApi.plans.length = 0
  taskApi.storedPlan = null
  await run(path('late.mkv'), { output_container: 'silverlight' })
  expect(warned()).toContain('text_subtitles_left_out')
})

test('text after the first 16 MB is dropped with a warning', async () => {
  const line = `${'x'.repeat(999)}\n`.repeat(4)
  const time = (ms: number) => `00:00:0${Math.floor(ms / 1000)},${String(ms % 1000).padStart(3, '0')}`
  const cue = (_: unknown, at: number) => `${at + 1}\n${time(at)} --> ${time(at + 1)}\n${line}\n`
  await writeFile(path('wordy.srt'), Array.from({ length: 4300 }, cue).join(''))
  const flags = '-map 0 -map 1 -c copy -c:s srt'.split(' ')
  await ffmpeg(['-i', path('clip.mp4'), '-i', path('wordy.srt'), ...flags, path('wordy.mkv')])
  const objects = await run(path('wordy.mkv'), { output_container: 'ts', segmented_output_hls: true })
  const report = JSON.parse(objects.get('out/job.json')?.toString() ?? [...objects.keys()].join(' ')) as {
    warnings: { code: string }[]
  }
  expect(report.warnings.map(({ code }) => code)).toContain('subtitles_truncated')
  expect(cuesOf(objects, 'sub_0').length).toBeGreaterThan(4000)
})

describe('subtitle pages of teletext', () => {
  const PAGES = [
    { seconds: 0, text: '' },
    { seconds: 1, text: 'Guten Abend' },
    { seconds: 2.2, text: 'aus Mainz' },
    { seconds: 3, text: '' },
  ]
  const teletextSource = async (): Promise<string> => {
    await makeClip(path('broadcast.ts'), { seconds: 5, width: 160, height: 90 })
    await writeFile(path('teletext.ts'), insertTeletext(await readFile(path('broadcast.ts')), 0x300, PAGES))
    return path('teletext.ts')
  }

  test('become a track whose cues begin and end with their pages', async (context) => {
    if (!(await fixtures.context().engine).features.teletext) skipTest(context, 'this ffmpeg has no libzvbi')
    const objects = await run(await teletextSource(), CMAF)
    const cues = cuesOf(objects, 'sub_0')
    expect(cues.map(({ text }) => text)).toEqual(['Guten Abend', 'aus Mainz'])
    for (const [at, times] of [
      [1, 2.2],
      [2.2, 3],
    ].entries())
      // A page is sent at the first clock of a frame after its time.
      for (const [end, side] of (['start', 'end'] as const).entries())
        expect(Math.abs(cues[at]![side] - times[end]!)).toBeLessThanOrEqual(0.041)
    expect(listed(objects).map(([name, language]) => [name, language])).toEqual([['German', 'de']])
    expect(warned()).not.toContain('teletext_left_out')
  })

  test('are left out with a warning by an ffmpeg that cannot read them', async () => {
    const context = fixtures.context()
    taskApi.source = { bytes: await readFile(await teletextSource()) }
    taskApi.task = segmentedTask(CMAF)
    const engine = await context.engine
    const features = { ...engine.features, teletext: false }
    await runTask(runRequest(taskApi), { ...context, engine: { ...engine, features } })
    expect(taskApi.fails).toEqual([])
    expect([...storedObjects(taskApi).keys()].filter((name) => name.includes('/sub_'))).toEqual([])
    expect(warned()).toContain('teletext_left_out')
  })
})
