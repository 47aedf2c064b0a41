// Text and times of captions, read from the video that one run copies in addition to its encodes.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { CaptionDecoder, type CaptionChannelCues } from '../../../../transcoder/formats/cea/captionDecoder.ts'
import { CaptionExtractor } from '../../../../transcoder/formats/cea/captionExtractor.ts'
import { TS_ORIGIN_TICKS } from '../../../../transcoder/plan/forms.ts'
import { characterPairs, withOddParity, ccDataTriplet } from '../../../support/captions/cea608Bytes.ts'
import { withScte20 } from '../../../support/captions/scte20Video.ts'
import { ffmpeg, lavfi, sharedClip } from '../../../support/media/media.ts'
import { jobSpec, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'
import { carriedCaptionChannels } from '../../../support/captions/decodedCaptions.ts'
import { encodeSegmentStreams } from '../../../support/media/encodeSegmented.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { smallCaptionsTest } from '../../../support/captions/captionedClip.ts'

const tempDir = useTempDirectory()

const FRAME = 1001 / 30000
const wanted = jobSpec({
  closedCaptions: true,
  packaging: packagingSpec({ hls: true, preferTransportStream: true }),
  video: [videoProfile({ width: 160, height: 90, bitrateKbps: 300, output: '', audioProfiles: [] })],
  audio: [],
})

async function cuesIn(path: string, end: number, origin = TS_ORIGIN_TICKS): Promise<CaptionChannelCues[]> {
  const [source, decoder] = [new CaptionExtractor(origin), new CaptionDecoder()]
  const bytes = await readFile(path)
  // A chunk size that is not a multiple of the packet size.
  for (let at = 0; at < bytes.length; at += 65_521)
    for (const { time, bytes: found } of source.push(bytes.subarray(at, at + 65_521))) decoder.push(time, found)
  for (const { time, bytes: found } of source.end()) decoder.push(time, found)
  return decoder.end(end).channels
}

/** [channel, start, end, text] of each cue. */
function told(channels: readonly CaptionChannelCues[]) {
  return channels.flatMap(({ channel, cues }) => cues.map(({ start, end, text }) => ({ channel, start, end, text })))
}

function requireSame(seen: ReturnType<typeof told>, expected: ReturnType<typeof told>, tolerance = FRAME * 1.01): void {
  const said = (cues: typeof seen) => cues.map(({ channel, text }) => [channel, text])
  expect(said(seen)).toEqual(said(expected))
  for (const [index, { start, end, text }] of expected.entries()) {
    expect(Math.abs(seen[index]!.start - start), `${text} begins at ${seen[index]!.start}`).toBeLessThan(tolerance)
    expect(Math.abs(seen[index]!.end - end), `${text} ends at ${seen[index]!.end}`).toBeLessThan(tolerance)
  }
}

/** The clip's own captions, as ffmpeg's filter reads CC1. */
async function reference(path: string): Promise<{ start: number; text: string }[]> {
  const plain = tempDir.file('read.bin')
  await copyFile(path, plain)
  const text = await ffmpeg([...lavfi(`movie=${plain}[out0+subcc]`), '-map', '0:s', '-f', 'webvtt', '-'])
  return [...text.toString().matchAll(/(?:(\d+):)?(\d+):([\d.]+) --> .*\n((?:.+\n|\n(?!\d))*)/g)].map((match) => ({
    start: Number(match[1] ?? 0) * 3600 + Number(match[2]) * 60 + Number(match[3]),
    text: plainText(match[4]!),
  }))
}

function plainText(text: string): string {
  return text
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\\h|\u00a0/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll('’', "'")
}

/** Content of captions-test.ts according to browsers' decoders: three captions, as CEA-608 and as CEA-708. */
const PLACES = ['top left', 'middle', 'bottom left']
const CC1 = [
  [0.701, 4.905],
  [5.239, 11.912],
  [12.246, 19.253],
] as const
const SERVICE1 = [
  [0.133, 4.872],
  [5.205, 11.879],
  [12.212, 19.219],
] as const
const HELD = [
  ...CC1.map(([start, end], at) => ({ channel: 'CC1', start, end, text: `These are 608 captions\n(${PLACES[at]})` })),
  ...SERVICE1.map(([start, end], at) => ({
    channel: 'SERVICE1',
    start,
    end,
    text: `These are 708 captions\n(${PLACES[at]})`,
  })),
]
const until = (end: number) =>
  HELD.filter(({ start }) => start < end).map((cue) => ({ ...cue, end: Math.min(cue.end, end) }))
const trimmed = (cues: ReturnType<typeof told>) => cues.map((cue) => ({ ...cue, text: plainText(cue.text) }))

test('captions-test.ts: text and times in CEA-608 and CEA-708', async (context) => {
  const [clip, seconds] = LONG_FORM
    ? [sharedClip(context, 'captions-test.ts'), 20]
    : [await smallCaptionsTest(context), 8]
  const { plan, file } = await encodeSegmentStreams(wanted, clip, tempDir.path)
  expect(plan.packaging!.textTracks).toBe(true)
  requireSame(trimmed(told(await cuesIn(file('captions'), seconds))), until(seconds))
  // ffmpeg's own decoder on the same clip; its clock starts at the first caption bytes that it understands.
  const ours = told(await cuesIn(file('captions'), seconds)).filter(({ channel }) => channel === 'CC1')
  const theirs = await reference(clip)
  expect(theirs.map(({ text }) => text)).toEqual(ours.map(({ text }) => plainText(text)))
  for (const [index, { start }] of theirs.entries())
    if (index > 0) expect(Math.abs(start - ours[index]!.start)).toBeLessThan(FRAME)
})

test('multi-channel-608-captions.ts: live English and French are separate tracks, line by line', async (context) => {
  const { file } = await encodeSegmentStreams(
    wanted,
    sharedClip(context, 'multi-channel-608-captions.ts'),
    tempDir.path,
  )
  const seen = told(await cuesIn(file('captions'), 6.04))
  expect(new Set(seen.map(({ channel }) => channel))).toEqual(new Set(['CC1', 'CC3']))
  requireSame(seen, [
    { channel: 'CC1', start: 0.901, end: 3.503, text: 'PERIOD, FOLKS.' },
    { channel: 'CC1', start: 3.503, end: 4.471, text: "PERIOD, FOLKS.\nWE'RE LOSING TIME FROM QUESTION" },
    { channel: 'CC1', start: 4.471, end: 6.04, text: "PERIOD, FOLKS.\nWE'RE LOSING TIME FROM QUESTION\nPERIOD." },
    { channel: 'CC3', start: 0.267, end: 1.168, text: 'être une période de questions' },
    { channel: 'CC3', start: 1.168, end: 5.072, text: 'être une période de questions\ntrès courte, chers députés.' },
    {
      channel: 'CC3',
      start: 5.072,
      end: 6.04,
      text: 'être une période de questions\ntrès courte, chers députés.\nNous perdons du te',
    },
  ])
})

test.each(['-flags +ildct+ilme -top 1', ''])(
  'captions of SCTE 20 in mpeg2 (%s) become WebVTT and stay in the video',
  async (fields) => {
    const [bare, said, clip] = [tempDir.file('bare.m2v'), tempDir.file('said.m2v'), tempDir.file('scte20.ts')]
    const flags = `-c:v mpeg2video -bf 0 -g 15 -b:v 800k ${fields} -f mpeg2video`
      .split(' ')
      .filter((word) => word !== '')
    await ffmpeg([...lavfi('testsrc2=s=160x90:r=30000/1001:d=2'), ...flags, bare])
    const commands: [number, number][] = [
      ...([
        [0x14, 0x20],
        [0x14, 0x70],
      ] as [number, number][]),
      ...characterPairs('CABLE'),
      [0x14, 0x2f],
    ]
    const erase = Array.from({ length: 20 }, (): [number, number] => [0, 0])
    const pairs = [...commands, ...erase, [0x14, 0x2c] as const].map(
      ([one, two]) => [withOddParity(one), withOddParity(two)] as const,
    )
    await writeFile(said, withScte20(await readFile(bare), pairs))
    await ffmpeg(['-fflags', '+genpts', '-r', '30000/1001', '-f', 'mpegvideo', '-i', said, '-c', 'copy', clip])
    const { plan, file } = await encodeSegmentStreams(wanted, clip, tempDir.path)
    expect(plan.warnings.map(({ code }) => code).filter((code) => code.startsWith('captions'))).toEqual([])
    // Without B-frames there is no delay: the text appears with the frame of its command, the sixth.
    const channel = fields === '' ? 'CC3' : 'CC1'
    requireSame(told(await cuesIn(file('captions'), 2)), [
      { channel, start: 5 * FRAME, end: 26 * FRAME, text: 'CABLE' },
    ])
    expect(await carriedCaptionChannels(file('video_0 ts'), 'h264')).toMatchObject({ channels: [channel] })
  },
)

describe('wherever the source begins, in whatever it is coded', () => {
  const small = ['-vf', 'scale=160:90', '-t', '7']
  const mpeg2 = [...small, '-c:v', 'mpeg2video', '-bf', '2', '-b:v', '800k', '-g', '15']
  const h264 = [...small, '-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-x264-params', 'b-pyramid=2']
  // Audio that starts 0.3 s before the video.
  const audioTrack = [...lavfi('sine=d=7'), '-c:a', 'aac']

  test.for(
    sampled(
      [
        ['mpeg2 with B-pictures, an hour in', 'mpeg2.ts', [], [...mpeg2, '-output_ts_offset', '3600']],
        ['h264 with a pyramid of B-pictures, in mp4', 'h264.mp4', [], h264],
        ['h264, about to wrap the clock', 'wrap.ts', [], [...h264, '-output_ts_offset', '95441.7']],
        [
          'sound that begins before the pictures',
          'late.mp4',
          audioTrack,
          [...h264, '-fps_mode', 'passthrough', '-map', '0:a', '-map', '1:v'],
        ],
      ] as const,
      2,
    ),
  )('%s', async ([_title, name, front, flags], context) => {
    const clip = tempDir.file(name)
    const shift = front.length > 0 ? ['-itsoffset', '0.3'] : []
    await ffmpeg([
      ...front.slice(0, 4),
      ...shift,
      '-i',
      await smallCaptionsTest(context),
      ...front.slice(4),
      ...flags,
      clip,
    ])
    const { file } = await encodeSegmentStreams(wanted, clip, tempDir.path)
    const seen = trimmed(told(await cuesIn(file('captions'), 7)))
    expect(seen).toHaveLength(4)
    requireSame(seen, until(7))
    // The same as in the frames that the encoder kept.
    requireSame(trimmed(told(await cuesIn(file('video_0 ts'), 7))), seen)
  })

  test('hevc, with captions put in by hand', async () => {
    const elementary = await ffmpeg([
      ...[...lavfi('testsrc2=s=160x90:r=30000/1001:d=3'), '-c:v', 'libx265', '-pix_fmt', 'yuv420p'],
      ...['-x265-params', 'bframes=0:log-level=none:repeat-headers=1', '-preset', 'ultrafast', '-f', 'hevc', '-'],
    ])
    const pairs: [number, number][] = [[0x14, 0x20], [0x14, 0x2e], [0x14, 0x70], ...characterPairs('HELLO HEVC')]
    while (pairs.length < 30) pairs.push([0, 0])
    pairs.push([0x14, 0x2f], [0x14, 0x2f])
    while (pairs.length < 60) pairs.push([0, 0])
    pairs.push([0x14, 0x2c], [0x14, 0x2c])
    const raw = tempDir.file('captioned.hevc')
    await writeFile(raw, withMessages(elementary, pairs))
    const clip = tempDir.file('hevc.ts')
    await ffmpeg(['-r', '30000/1001', '-i', raw, '-c', 'copy', '-output_ts_offset', '100', clip])
    const { file } = await encodeSegmentStreams(wanted, clip, tempDir.path)
    const expected = { channel: 'CC1', start: 30 * FRAME, end: 60 * FRAME, text: 'HELLO HEVC' }
    const seen = told(await cuesIn(file('captions'), 3))
    expect(seen).toHaveLength(1)
    requireSame(seen, [expected], FRAME / 2)
  })
})

/** One message with one pair before each picture of HEVC; coded order is presentation order. */
function withMessages(stream: Buffer, pairs: readonly [number, number][]): Buffer {
  const code = Buffer.from([0, 0, 1])
  const parts: Buffer[] = []
  let picture = 0
  for (let at = stream.indexOf(code); at >= 0;) {
    const next = stream.indexOf(code, at + 3)
    const unit = stream.subarray(at, next < 0 ? stream.length : next)
    // A slice that is the first of its picture.
    if (((unit[3]! >> 1) & 0x3f) < 32 && (unit[5]! & 0x80) !== 0) {
      const [first, second] = pairs[picture] ?? [0, 0]
      picture += 1
      const body = [...Buffer.from('GA94'), 3, 0x41, 0xff, ...ccDataTriplet(0, first, second), 0xff]
      const payload = [0xb5, 0x00, 0x31, ...body]
      parts.push(Buffer.from([0, 0, 0, 1, 0x4e, 0x01, 4, payload.length, ...payload, 0x80]))
    }
    parts.push(unit)
    at = next
  }
  return Buffer.concat(parts)
}
