// In charge of: chunks of transport streams: their frames are those of one run, whatever the streams' clocks, GOPs and
// fields are.
// Not in charge of: containers with an index (chunkSources.long.test.ts), streams whose clock jumps.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import { isSoughtTransport } from '../../../../../transcoder/division/plan/soughtTransport.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../../support/media/media.ts'
import { expectSameFrames, planOf, segmented } from '../../../../support/media/partFrames.ts'
import { locateIn } from '../../../../support/media/transportPlaces.ts'
import { videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const SECONDS = 24
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast']
const INTERLACED = 'tinterlace=mode=interleave_top'

interface Source {
  rate?: string
  filters?: string
  coding?: string[]
  mux?: string[]
  seconds?: number
}

/** Every frame differs from all others. */
async function make(
  name: string,
  { rate = '25', filters = '', coding = [], mux = [], seconds = SECONDS }: Source,
): Promise<string> {
  const path = directory.file(`${name}.ts`)
  const picture = `testsrc2=s=192x108:r=${rate}:d=${seconds}${filters === '' ? '' : `,${filters}`},format=yuv420p`
  await ffmpeg([
    ...lavfi(picture, `anoisesrc=seed=7:r=48000:a=0.1:d=${seconds}`),
    ...(coding.length === 0 ? [...X264, '-g', '50', '-bf', '2'] : coding),
    ...['-c:a', 'mp2', ...mux, path],
  ])
  return path
}

const video = (change: Parameters<typeof videoProfile>[0] = {}) =>
  videoProfile({ width: 96, height: 54, audioProfiles: [], ...change })

const x264 = (params: string): string[] => [...X264, '-x264-params', params]

describe.each<{ name: string; source: Source; job?: Partial<JobSpec>; chunks?: number[] }>([
  { name: 'short GOPs', source: {} },
  { name: 'long GOPs', source: { coding: [...X264, '-g', '250', '-bf', '3'] } },
  { name: 'open GOPs', source: { rate: '30000/1001', coding: x264('open-gop=1:keyint=90:bframes=3') } },
  { name: 'one key frame', source: { coding: [...X264, '-g', '10000'] } },
  { name: 'intra refresh', source: { coding: x264('intra-refresh=1:keyint=100') } },
  {
    name: 'HEVC with open GOPs',
    source: {
      coding: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'keyint=75:open-gop=1:log-level=error'],
    },
  },
  { name: 'MPEG-2', source: { coding: ['-c:v', 'mpeg2video', '-b:v', '4M', '-g', '15', '-bf', '2'] } },
  {
    name: 'fields of MPEG-2',
    source: {
      rate: '50',
      filters: INTERLACED,
      coding: ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M', '-bf', '2', '-g', '12'],
    },
    job: { video: [video({ frameRateFactor: '2x' }), video({ index: 1, progressive: true })] },
  },
  {
    name: 'fields of H.264',
    source: {
      rate: '50',
      filters: INTERLACED,
      coding: [...x264('tff=1:keyint=60:open-gop=1'), '-flags', '+ilme+ildct'],
    },
    job: { video: [video({ progressive: true }), video({ index: 1, frameRateFactor: '1/2x' })] },
  },
  { name: 'a constant rate', source: { mux: ['-muxrate', '3M'] } },
  { name: 'packets with time stamps', source: { mux: ['-mpegts_m2ts_mode', '1'] } },
  { name: 'a clock that wraps', source: { mux: ['-output_ts_offset', '95430'] } },
  {
    name: 'a clock that wraps after more than a minute',
    source: { mux: ['-output_ts_offset', '95378'], seconds: 80 },
    chunks: [0, 7, 30, 32, 33, 35],
  },
  {
    name: 'a variable frame rate',
    source: { filters: "select='not(mod(floor(n*n/3)\\,4))'", mux: ['-fps_mode', 'vfr'] },
  },
])('$name', ({ name, source, job, chunks = [0, 1, 2, 4, 7, 9] }) => {
  const file = (): Promise<string> => make(name.replaceAll(' ', '-'), source)

  const lastSecond = (source.seconds ?? SECONDS) - 1.3
  test.each<{ cut: string; change: Partial<JobSpec> }>([
    { cut: 'whole', change: {} },
    {
      cut: 'from 1.1 s, without the last second',
      change: { cut: { start: { kind: 'seconds', seconds: 1.1 }, end: { kind: 'seconds', seconds: lastSecond } } },
    },
  ])('$cut', async ({ change }) => {
    const input = await file()
    const engine = await testFfmpeg()
    const spec = segmented({ video: [video()], ...job, ...change })
    const plan = await planOf(spec, input, directory.path)
    const media = await probe(engine, `file:${input}`, { cwd: directory.path })
    expect(isSoughtTransport(media)).toBe(true)
    await expectSameFrames(plan, { input, locate: locateIn(input, { spec, media }) }, chunks)
  })
})
