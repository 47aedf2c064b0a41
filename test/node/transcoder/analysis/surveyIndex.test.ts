// The survey of a video from the index of an mp4 says the same as its packets, and needs few bytes of the file.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { surveyIndex } from '../../../../transcoder/analysis/surveyIndex.ts'
import { surveyVideo } from '../../../../transcoder/analysis/surveyVideo.ts'
import { outputStartSeconds } from '../../../../transcoder/plan/streams/outputTiming.ts'
import { sampled } from '../../../support/longForm.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../support/media/media.ts'
import { copyTask } from '../../../support/transcoder/copyTasks.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const spec = toSpec(copyTask({}).config)

/** A file that is read in ranges; `read` counts the bytes. */
async function rangesOf(file: string) {
  const bytes = await readFile(file)
  const counted = { read: 0 }
  return {
    counted,
    size: bytes.length,
    source: {
      open: () => Promise.resolve({ size: bytes.length, ranges: true, head: bytes.subarray(0, 16) }),
      readRange: (first: number, count: number) => {
        const part = bytes.subarray(first, first + count)
        counted.read += part.length
        return Promise.resolve(part)
      },
    },
  }
}

/** Both surveys of a file. */
async function surveys(name: string) {
  const file = tempDir.file(name)
  const engine = await testFfmpeg()
  const media = await probe(engine, `file:${file}`, { cwd: tempDir.path })
  const { source, counted, size } = await rangesOf(file)
  const start = outputStartSeconds(spec, media)
  const index = await surveyIndex(source, start, new AbortController().signal)
  const packets = await surveyVideo(
    engine,
    `file:${file}`,
    { spec, media, timeline: { startSeconds: start } },
    { cwd: tempDir.path },
  )
  return { index, packets, share: counted.read / size }
}

const video = lavfi('testsrc2=size=320x180:rate=25,noise=alls=40:allf=t')
const audio = lavfi('sine=frequency=440:sample_rate=48000')
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '12', '-bf', '2', '-sc_threshold', '0', '-b:v', '6M']
const make = (name: string, codec: string[], muxer: string[] = []) =>
  ffmpeg([
    '-y',
    ...video,
    ...audio,
    '-t',
    '3',
    ...codec,
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    ...muxer,
    tempDir.file(name),
  ])
const remux = (from: string, name: string, args: string[]) =>
  ffmpeg(['-y', '-i', tempDir.file(from), '-map', '0', '-c', 'copy', ...args, tempDir.file(name)])

beforeAll(async () => {
  await make('closed.mp4', x264)
  await make('open.mp4', [...x264, '-x264-params', 'open-gop=1'])
  // Each key frame repeats its parameter sets.
  await make('in band.mp4', [...x264, '-x264-params', 'repeat-headers=1'])
  await make('hevc.mov', [
    '-c:v',
    'libx265',
    '-preset',
    'ultrafast',
    '-x265-params',
    'keyint=12:log-level=error',
    '-b:v',
    '6M',
  ])
})

describe('the index says what the packets say', () => {
  const files: [string, string[] | null][] = [
    ['in band.mp4', null],
    ['closed.mp4', null],
    ['open.mp4', null],
    ['hevc.mov', null],
    ['front.mp4', ['-movflags', '+faststart']],
    ['no edits.mp4', ['-use_editlist', '0']],
    ['negative.mp4', ['-movflags', '+negative_cts_offsets']],
    ['irregular.mp4', ['-bsf:v', 'setts=pts=PTS+mod(N\\,3)*20:dts=DTS-20']],
  ]
  test.each(sampled(files, 4))('%s', async (name, args) => {
    if (args !== null) await remux('closed.mp4', name, args)
    const { index, packets, share } = await surveys(name)
    expect(index).toEqual(packets)
    expect(packets!.keyFrames.length).toBeGreaterThan(4)
    expect(share).toBeLessThan(0.2)
  })

  test('open GOPs are not taken for closed ones', async () => {
    const { index } = await surveys('open.mp4')
    expect(index!.closedKeyFrames.size).toBeLessThan(index!.keyFrames.length)
  })
})

describe('the packets are read where the index does not say everything', () => {
  test.each([
    ['fragmented.mp4', ['-movflags', '+frag_keyframe+empty_moov']],
    ['matroska.mkv', []],
  ] as const)('%s', async (name, args) => {
    await remux('closed.mp4', name, [...args])
    expect((await surveys(name)).index).toBeNull()
  })

  test('video that begins late', async () => {
    const file = tempDir.file('closed.mp4')
    const late = ['-i', file, '-itsoffset', '1', '-i', file, '-map', '1:v', '-map', '0:a', '-c', 'copy']
    await ffmpeg(['-y', ...late, tempDir.file('late.mp4')])
    expect((await surveys('late.mp4')).index).toBeNull()
  })

  test('a part that was cut out without an encode', async () => {
    await ffmpeg(['-y', '-ss', '0.7', '-i', tempDir.file('closed.mp4'), '-c', 'copy', tempDir.file('part.mp4')])
    expect((await surveys('part.mp4')).index).toBeNull()
  })

  test('a file that was cut off, or whose index is damaged', async () => {
    await remux('closed.mp4', 'front.mp4', ['-movflags', '+faststart'])
    const bytes = await readFile(tempDir.file('front.mp4'))
    await writeFile(tempDir.file('off.mp4'), bytes.subarray(0, bytes.length - 2000))
    expect((await surveys('off.mp4')).index).toBeNull()
    for (const box of ['stts', 'stsc', 'stss', 'stsz', 'ctts', 'elst', 'stsd']) {
      const damaged = Buffer.from(bytes)
      damaged.fill(0xff, damaged.indexOf(box) + 8, damaged.indexOf(box) + 24)
      await writeFile(tempDir.file('damaged.mp4'), damaged)
      const { source } = await rangesOf(tempDir.file('damaged.mp4'))
      expect(await surveyIndex(source, 0, new AbortController().signal), box).toBeNull()
    }
  })

  test('a source without ranges', async () => {
    const { source } = await rangesOf(tempDir.file('closed.mp4'))
    const inOrder = { ...source, open: async () => ({ ...(await source.open()), ranges: false }) }
    expect(await surveyIndex(inOrder, 0, new AbortController().signal)).toBeNull()
  })
})
