// In charge of: caption files as CEA-608 in the frames of outputs, in whole attempts: text read with ffmpeg's decoder,
// times by the frames that contain the commands.
// Not in charge of: text tracks (sidecarCaptions.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { CaptionFields } from '#contract/job/fields/request.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import { frameCaptions, sentPairs } from '../../../support/captions/frameCaptions.ts'
import { sampled } from '../../../support/longForm.ts'
import { ffmpeg, kbpsBySecond, lavfi, probeStream, testFfmpeg } from '../../../support/media/media.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let broadcast: Buffer
const taskApi = useTaskApi(() => broadcast)
beforeAll(async () => {
  broadcast = await source('30000/1001')
})

async function source(rate: string, filters = ''): Promise<Buffer> {
  const coder = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -x264-params keyint=30 -f mpegts'.split(' ')
  const interlaced = filters === '' ? [] : ['-flags', '+ilme+ildct', '-x264-params', 'tff=1']
  return ffmpeg([...lavfi(`testsrc2=s=320x180:r=${rate}:d=6${filters}`), ...coder, ...interlaced, '-'])
}

const SRT = [
  '1\n00:00:02,200 --> 00:00:03,700\n<i>Où est</i> la façade?\n♪♪ «Ñandú» ’ß Ö’ 50 % of 2*3 ♪\n',
  '2\n00:00:03,700 --> 00:00:04,400\nThis line has more than thirty-two characters.\n',
  '3\n00:00:05,000 --> 00:00:05,500\nČ ж 🙂\n',
].join('\n')

type Caption = Partial<CaptionFields>

/** The stored objects, by path. */
async function run(
  files: [fields: Caption, content: string][],
  change: Partial<JobConfig> = {},
  task = describeTask({ container: change.output_container === 'ts' ? 'ts' : 'mp4' }),
): Promise<Map<string, Buffer>> {
  const captions = files.map(([fields]) => ({
    input: 'https://h.example/a.srt',
    language: 'en',
    embed: 'cea-608' as const,
    ...fields,
  }))
  taskApi.captions = files.map(([, content]) => Buffer.from(content))
  taskApi.task = { ...task, config: { ...task.config, audioProfiles: [], captions, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  return storedObjects(taskApi)
}

let files = 0
async function saved(content: Buffer, name: string): Promise<string> {
  const file = join(fixtures.directory, `${(files += 1)}_${name}`)
  await writeFile(file, content)
  return file
}

const warnings = () => (taskApi.finished?.warnings ?? []).filter(({ code }) => code !== 'audio_profile_unused')
const codes = () => warnings().map(({ code, field }) => [code, field])

/** The frames in which a command is sent for the first time. */
function framesWith(frames: Awaited<ReturnType<typeof frameCaptions>>, command: string, field: 0 | 1 = 0): number[] {
  const sent = sentPairs(frames, field)
  return sent.filter(({ pair }, at) => pair === command && sent[at - 1]?.pair !== command).map(({ frame }) => frame)
}

const TEXTS = [
  'Où est la façade?\n♪♪ «Ñandú» ’ß Ö’ 50 % of 2*3 ♪',
  'This line has more than\nthirty-two characters.',
  'C ? ?',
]
const plain = (text: string) =>
  text
    .replaceAll("'", '’')
    .replaceAll('\\h', ' ')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')

const CODECS = { 'h.264': 'h264', hevc: 'hevc', mpeg2: 'mpeg2' } as const

describe.each(
  sampled(
    [
      ['h.264', 'ts', '30000/1001', 20],
      ['h.264', 'mp4', '25', 24],
      ['mpeg2', 'ts', '25', 24],
      ['mpeg2', 'mp4', '60000/1001', 10],
      ['hevc', 'mp4', '24000/1001', 25],
      ['hevc', 'ts', '50', 12],
      ['h.264', 'mp4', '60000/1001', 10],
    ] as const,
    3,
  ),
)('%s in %s at %s frames per second', (codec, container, rate, count) => {
  test('text and times are those of the file', async () => {
    const able = codec !== 'hevc' || (await testFfmpeg()).features.hevcCaptions
    taskApi.source = { bytes: rate === '30000/1001' ? broadcast : await source(rate) }
    const config = { output_container: container, video_codec: codec }
    const objects = await run([[{}, SRT]], config)
    // Then only a warning says it.
    if (!able) {
      expect(codes()).toContainEqual(['captions_not_embedded', 'captions'])
      return
    }
    const file = await saved(objects.get(`out/v0.${container}`)!, `v0.${container}`)
    const frames = await frameCaptions(file, CODECS[codec])
    const [num = 0, den = 1] = rate.split('/').map(Number)
    expect(frames).toHaveLength(Math.round((6 * num) / den))
    expect(new Set(frames.map((frame) => frame.count))).toEqual(new Set([count]))
    const read = await readCaptions(file)
    expect(read.map(({ text }) => plain(text))).toEqual(TEXTS)
    const times = (command: string) => framesWith(frames, command).map((frame) => (frame * den) / num)
    const near = (found: number[], expected: number[]) => {
      expect(found).toHaveLength(expected.length)
      for (const [at, time] of expected.entries())
        expect(Math.abs(found[at]! - time), `${found[at]} instead of ${time}`).toBeLessThan((1.01 * den) / num + 0.034)
    }
    near(times('942f'), [2.2, 3.7, 5])
    near(times('942c'), [4.4, 5.5])
    expect(codes()).toEqual([['captions_characters_replaced', 'captions[0].input']])
    expect(warnings()[0]!.message).toContain('Č ж 🙂')
  })
})

const SCC = [
  'Scenarist_SCC V1.0',
  '01:00:01:00\t94ae 94ae 9420 9420 9470 9470 c8e5 ecec ef80 942f 942f',
  '01:00:02:15\t942c 942c',
  '01:00:03:00\t15ae 15ae 1520 1520 9470 9470 c2ef 6eea ef75 f280 152f 152f',
  '01:00:04:00\t152c 152c',
].join('\n\n')

const wordsOf = (line: number) => SCC.split('\n\n')[line]!.split('\t')[1]!.split(' ')
/** Without parity: field 2 words of the file have none. */
const bits = (words: readonly string[]) =>
  words.map((word) => (Number.parseInt(word, 16) & 0x7f7f).toString(16).padStart(4, '0'))

test('SCC keeps the bytes and frames of both fields', async () => {
  const objects = await run([[{}, SCC]], { output_container: 'ts', video_codec: 'h.264' })
  const frames = await frameCaptions(await saved(objects.get('out/v0.ts')!, 'v0.ts'), 'h264')
  for (const [field, lines] of [
    [0, [1, 2]],
    [1, [3, 4]],
  ] as const) {
    const sent = sentPairs(frames, field)
    expect(bits(sent.map(({ pair }) => pair))).toEqual(bits(lines.flatMap(wordsOf)))
    const starts = { 0: [30, 75], 1: [90, 120] }[field]
    expect(sent.map(({ frame }) => frame)).toEqual(
      lines.flatMap((line, at) => wordsOf(line).map((_word, n) => starts[at]! + n)),
    )
  }
  expect(frames.every(({ pairs }) => pairs[0].length === 1 && pairs[1].length === 1)).toBe(true)
  expect(codes()).toEqual([['captions_times_shifted', 'captions[0].input']])
})

test('what cannot be in time comes late with a warning; a shared field and a channel of SCC are reported', async () => {
  const dense = '1\n00:00:00,200 --> 00:00:01,000\nMore characters than six pairs can carry\n'
  const objects = await run(
    [
      [{}, dense],
      [{ embed_channel: 'CC3' }, SCC],
    ],
    { output_container: 'ts' },
  )
  const frames = await frameCaptions(await saved(objects.get('out/v0.ts')!, 'v0.ts'), 'h264')
  expect(framesWith(frames, '942f')).toEqual([expect.toSatisfy((frame: number) => frame > 20 && frame < 40)])
  expect(sentPairs(frames, 1)).toEqual([])
  expect(codes().toSorted(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
    ['captions_delayed', 'captions[0].input'],
    ['captions_not_embedded', 'captions[1].input'],
    ['captions_times_shifted', 'captions[1].input'],
  ])
})

test('cuts and offsets move them, and the captions of the source give way', async () => {
  const path = await makeCaptionedClip((name) => join(fixtures.directory, name), 'SOURCE')
  taskApi.source = { bytes: await readFile(path) }
  const cue = '1\n00:00:00,900 --> 00:00:01,200\nMoved\n\n2\n00:00:00,000 --> 00:00:00,100\nBefore\n'
  const objects = await run([[{ offset_seconds: 0.5 }, cue]], { output_container: 'ts', start_seconds: 0.7 })
  const file = await saved(objects.get('out/v0.ts')!, 'cut.ts')
  expect((await readCaptions(file)).map(({ text }) => plain(text))).toEqual(['Moved'])
  const frames = await frameCaptions(file, 'h264')
  expect([framesWith(frames, '942f'), framesWith(frames, '942c')]).toEqual([[21], [30]])
  expect(codes()).toEqual([
    ['captions_removed', 'closed_captions'],
    ['captions_left_out', 'captions[0].input'],
  ])
})

test('interlaced video at a constant bitrate keeps its fields and its rate', async () => {
  taskApi.source = { bytes: await source('60000/1001', ',tinterlace=mode=interleave_top,setfield=tff') }
  const task = describeTask({ container: 'ts' })
  const profile = { ...task.config.videoProfiles[0]!, video_bitrate: 800, video_bitrate_mode: 'cbr' as const }
  const objects = await run([[{}, SRT]], { output_container: 'ts', videoProfiles: [profile] }, task)
  const file = await saved(objects.get('out/v0.ts')!, 'cbr.ts')
  expect((await readCaptions(file)).map(({ text }) => plain(text))).toEqual(TEXTS)
  expect((await probeStream(file, 'video')).field_order).toBe('tt')
  for (const rate of (await kbpsBySecond(file)).slice(1, -1)) expect(Math.abs(rate - 800)).toBeLessThan(80)
  expect(warnings().map(({ code }) => code)).not.toContain('access_units_late')
})

describe('HLS and DASH', () => {
  test.for(
    sampled(
      [
        ['cmaf', { segmented_output_dash: true }],
        ['ts', { segmented_output_hls: 'ts' }],
      ] as const,
      2,
    ),
  )('%s: the channels are announced with language and label, and are in every rendition', async ([_form, change]) => {
    const task = segmentedTask({ output_container: 'hls' }, [300, 200])
    const files: [Caption, string][] = [
      [{ label: 'English', language: 'en-US' }, SRT],
      [{ language: 'de', embed_channel: 'CC3' }, '1\n00:00:01,000 --> 00:00:02,000\nGrüße\n'],
    ]
    const objects = await run(files, change as Partial<JobConfig>, task)
    const master = objects.get('out/master.m3u8')!.toString()
    expect(master.match(/TYPE=CLOSED-CAPTIONS.*/g)).toEqual([
      expect.stringMatching(/NAME="English",LANGUAGE="en-US",.*INSTREAM-ID="CC1"/),
      expect.stringMatching(/NAME="CC3",LANGUAGE="de",.*INSTREAM-ID="CC3"/),
    ])
    expect(master.match(/#EXT-X-STREAM-INF:.*CLOSED-CAPTIONS="/g)).toHaveLength(2)
    const mpd = objects.get('out/manifest.mpd')?.toString()
    if (mpd !== undefined) expect(mpd).toMatch(/schemeIdUri="urn:scte:dash:cc:cea-608:2015" value="CC1=eng;CC3=deu"/)
    for (const rendition of ['video_0', 'video_1']) {
      const bytes = joinedSegments(objects, `out/${rendition}/playlist.m3u8`)
      const file = await saved(bytes, 'joined.bin')
      expect((await readCaptions(file)).map(({ text }) => plain(text))).toEqual(TEXTS)
      const frames = await frameCaptions(file, 'h264')
      expect(sentPairs(frames, 1).map(({ pair }) => pair)).toContain('152f')
    }
    expect(objects.get('out/master.m3u8')!.toString()).toContain('TYPE=SUBTITLES')
  })
})
