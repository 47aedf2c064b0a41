// In charge of: chunks that are decoded from the key frame that the index of an mp4 file shows: their frames are those of one
// run, on each ffmpeg.
// Not in charge of: chunks with a run-in (chunkSources.long.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { keyFrameBefore, withKeyFrame } from '../../../../../transcoder/division/keyFrameSeek.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { outputStartSeconds } from '../../../../../transcoder/plan/streams/outputTiming.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../../support/media/media.ts'
import { localSource } from '../../../../support/media/transportPlaces.ts'
import { expectSameFrames, planOf, segmented } from '../../../../support/media/partFrames.ts'
import { videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const SECONDS = 17
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast']
const B_FRAMES = ['-bf', '3', '-x264-params', 'b-adapt=0:b-pyramid=normal']
const X265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1']
const CHUNKS = [0, 1, 3, 6]

const video = (change: Parameters<typeof videoProfile>[0] = {}) =>
  videoProfile({ width: 96, height: 54, audioProfiles: [], ...change })

test.each<{
  name: string
  rate?: string
  filters?: string
  coding: string[]
  job?: Partial<JobSpec>
  /** Chunks behind the first that begin at a key frame. */
  found: number
}>([
  { name: 'GOPs that begin where chunks do', coding: [...X264, ...B_FRAMES, '-g', '50'], found: 3 },
  { name: 'GOPs that do not', coding: [...X264, ...B_FRAMES, '-g', '37'], found: 3 },
  { name: '29.97', rate: '30000/1001', coding: [...X264, ...B_FRAMES, '-g', '60'], found: 3 },
  { name: '23.976', rate: '24000/1001', coding: [...X264, ...B_FRAMES, '-g', '100'], found: 3 },
  { name: '26 to 25', rate: '26', coding: [...X264, ...B_FRAMES, '-g', '52'], job: { keepFps: false }, found: 3 },
  {
    name: 'half the rate and twice',
    coding: [...X264, ...B_FRAMES, '-g', '40'],
    job: { video: [video(), video({ index: 1, frameRateFactor: '1/2x' }), video({ index: 2, frameRateFactor: '2x' })] },
    found: 3,
  },
  {
    name: 'a variable frame rate',
    filters: ",select='not(mod(floor(n*n/3)\\,4))'",
    coding: [...X264, '-g', '20', '-fps_mode', 'vfr'],
    found: 3,
  },
  { name: 'HEVC', coding: [...X265, '-x265-params', 'keyint=45:open-gop=0:log-level=error'], found: 3 },
  { name: 'one key frame', coding: [...X264, '-g', '10000'], found: 3 },
  { name: 'key frames close together', coding: [...X264, '-g', '3'], found: 0 },
  { name: 'intra refresh', coding: [...X264, '-x264-params', 'intra-refresh=1:keyint=30'], found: 3 },
  { name: 'intra refresh of 2.4 s', coding: [...X264, '-x264-params', 'intra-refresh=1:keyint=60'], found: 3 },
  { name: 'open GOPs', coding: [...X264, '-x264-params', 'open-gop=1:keyint=45:bframes=3:b-adapt=0'], found: 0 },
])(
  '$name',
  async ({ name, rate = '25', filters = '', coding, job, found }) => {
    const input = directory.file(`${name.replaceAll(' ', '-')}.mp4`)
    const picture = `testsrc2=s=192x108:r=${rate}:d=${SECONDS}${filters},format=yuv420p`
    await ffmpeg([...lavfi(picture, `anoisesrc=seed=7:r=48000:a=0.1:d=${SECONDS}`), ...coding, '-c:a', 'aac', input])
    await expectChunks(input, segmented({ video: [video()], ...job }), found)
  },
  120_000,
)

test.each([
  { name: 'video that begins after audio', offset: '0.32' },
  { name: 'video that begins earlier', offset: '-0.45' },
])(
  '$name',
  async ({ name, offset }) => {
    const [base, input] = [directory.file(`base${offset}.mp4`), directory.file(`${name.replaceAll(' ', '-')}.mp4`)]
    const picture = `testsrc2=s=192x108:r=25:d=${SECONDS},format=yuv420p`
    const sound = `anoisesrc=seed=7:r=48000:a=0.1:d=${SECONDS}`
    await ffmpeg([...lavfi(picture, sound), ...X264, ...B_FRAMES, '-g', '50', '-c:a', 'aac', base])
    await ffmpeg([
      ...['-itsoffset', offset, '-i', base, '-i', base, '-map', '0:v', '-map', '1:a', '-c', 'copy'],
      ...['-avoid_negative_ts', 'make_zero', input],
    ])
    await expectChunks(input, segmented({ video: [video()] }), null)
  },
  120_000,
)

/** `found`: chunks that begin at a key frame; null = any number. */
async function expectChunks(input: string, spec: JobSpec, found: number | null): Promise<void> {
  const plan = await planOf(spec, input, directory.path)
  const media = await probe(await testFfmpeg(), `file:${input}`, { cwd: directory.path })
  const located: Plan[] = []
  const about = { media, startSeconds: outputStartSeconds(spec, media) }
  const locate = async (each: Plan): Promise<Plan> => {
    const one = await withKeyFrame(localSource(input), each, about, new AbortController().signal)
    located.push(one)
    return one
  }
  await expectSameFrames(plan, { input, locate }, CHUNKS)
  const exact = located.filter(({ range }) => range?.runInSeconds !== undefined)
  if (found !== null) expect(exact).toHaveLength(found)
}

test('a key frame is sought where no other one is found, by the times of showing and of decoding', () => {
  // 25 frames a second; two key frames are closer together than a reordering may be.
  const shown = Array.from({ length: 120 }, (_, frame) => frame)
  const list = { shown, durations: shown.map(() => 1), timescale: 25, keyFrames: [0, 100, 103] }
  expect(keyFrameBefore(list, 99 / 25)).toEqual({ frame: 0, seconds: 0.02 })
  expect(keyFrameBefore(list, 100 / 25)).toBeNull()
  expect(keyFrameBefore(list, 119 / 25)).toEqual({ frame: 103, seconds: 103.5 / 25 })
  expect(keyFrameBefore(list, -1)).toBeNull()
})
