// In charge of: jobs with captions in their frames, made twice, by one task and divided: what each frame carries.
// Not in charge of: making them (comparedDivision.ts).
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { VideoCodec } from '#contract/codecs.ts'
import type { CaptionFields } from '#contract/job/fields/request.ts'
import { insertPairs } from '../captions/captionedClip.ts'
import { frameCaptions, type FrameCaptions } from '../captions/frameCaptions.ts'
import { ffmpeg, lavfi } from '../media/media.ts'
import type { AttemptFixture, TaskDescription } from './attemptFixture.ts'
import type { ComparedDivision } from './comparedDivision.ts'
import { joinedSegments } from './segmentedTask.ts'

function cues(...texts: [start: string, end: string, text: string][]): Buffer {
  return Buffer.from(texts.map(([start, end, text], at) => `${at + 1}\n${start} --> ${end}\n${text}\n`).join('\n'))
}

/** For chunks that begin at 2, 4 and 6 s: sent across the first join, shown across the second one, cleared at the third. */
export const ACROSS = cues(
  ['00:00:02,400', '00:00:03,000', 'Sent on both sides of a join'],
  ['00:00:03,600', '00:00:04,400', 'Shown on both sides'],
  ['00:00:05,000', '00:00:06,000', 'Cleared at a join'],
  ['00:00:06,000', '00:00:07,000', 'Shown at it'],
)
export const SPOKEN = cues(['00:00:01,000', '00:00:03,900', 'Grüße'], ['00:00:04,000', '00:00:05,900', 'Bis später'])

export function withCaptions(
  task: TaskDescription,
  files: Partial<CaptionFields>[],
  change: Partial<JobConfig> = {},
): TaskDescription {
  const captions = files.map((fields) => ({
    input: 'https://h.example/a.srt',
    language: 'en',
    embed: 'cea-608' as const,
    ...fields,
  }))
  return { ...task, config: { ...task.config, captions, audioProfiles: [], ...change } }
}

/** `filters`: that make it interlaced. */
export async function captionSource(rate: string, seconds: number, filters = ''): Promise<Buffer> {
  const coder = [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-g',
    '50',
    '-movflags',
    'empty_moov',
  ]
  const fields = filters === '' ? [] : ['-flags', '+ilme+ildct', '-x264-params', 'tff=1']
  const source = lavfi(`testsrc2=s=320x180:r=${rate}:d=${seconds}${filters}`)
  return ffmpeg([...source, ...coder, ...fields, '-f', 'mp4', '-'])
}

/** Every frame of this mp4 file has another pair, and as many triplets as there are at its rate. */
export async function carriedCaptions(
  { directory }: Pick<AttemptFixture, 'directory'>,
  rate: '30000/1001' | '60000/1001',
  seconds: number,
): Promise<Buffer> {
  const triplets = rate === '30000/1001' ? 20 : 10
  // One slice per frame and no B-frames: the order of the messages is the order of the frames.
  const coder = '-c:v libx264 -preset ultrafast -bf 0 -x264-params slices=1 -threads 1 -g 41 -pix_fmt yuv420p'.split(
    ' ',
  )
  const bare = await ffmpeg([...lavfi(`testsrc2=s=320x180:r=${rate}:d=${seconds}`), ...coder, '-f', 'h264', '-'])
  const pairs = Array.from({ length: seconds * 60 }, (_, frame): [number, number] => [
    0x21 + (frame % 90),
    0x21 + Math.floor(frame / 90),
  ])
  const said = join(directory, `said-${triplets}.h264`)
  await writeFile(said, insertPairs(bare, pairs, triplets))
  return ffmpeg(['-r', rate, '-f', 'h264', '-i', said, '-c', 'copy', '-f', 'mp4', '-movflags', 'empty_moov', '-'])
}

interface Captioned {
  file: string
  frames: FrameCaptions[]
}

/** Of each video, in the divided job. */
export async function expectSameCaptions(
  { directory }: Pick<AttemptFixture, 'directory'>,
  { alone, divided }: ComparedDivision,
  codec: VideoCodec = 'h264',
): Promise<Captioned[]> {
  const found: Captioned[] = []
  for (const [path, content] of alone.objects) {
    if (!/video_\d\/playlist\.m3u8$|v\d\.(mp4|ts)$/.test(path)) continue
    const isPlaylist = path.endsWith('.m3u8')
    const extension = isPlaylist && content.includes('EXT-X-MAP') ? '.mp4' : '.ts'
    const read = async (objects: Map<string, Buffer>, name: string): Promise<Captioned> => {
      const file = join(directory, 'captions', name, `${path}${isPlaylist ? extension : ''}`)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, isPlaylist ? joinedSegments(objects, path) : objects.get(path)!)
      return { file, frames: await frameCaptions(file, codec) }
    }
    const [one, other] = [await read(alone.objects, 'alone'), await read(divided.objects, 'divided')]
    expect(other.frames, path).toEqual(one.frames)
    found.push(other)
  }
  expect(found).not.toEqual([])
  return found
}
