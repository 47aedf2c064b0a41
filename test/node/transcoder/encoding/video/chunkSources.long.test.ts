// In charge of: chunks of every kind of source and filter: their frames are those of one run.
// Not in charge of: the simplest sources (chunks.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { describe, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { CaptionCue } from '../../../../../transcoder/formats/captions/captionCue.ts'
import { assFile } from '../../../../../transcoder/formats/ass/assFile.ts'
import { assLooks } from '../../../../../transcoder/plan/argv/burnInArgs.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { makeLogoImage } from '../../../../support/media/testLogo.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { expectSameFrames, planOf, segmented } from '../../../../support/media/partFrames.ts'
import { videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const SECONDS = 21
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast']
const X265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1']
const TONE = 'anoisesrc=seed=7:r=48000:a=0.1'

/** Every frame differs from all others. */
async function make(
  name: string,
  { rate = '25', filters = '', coding = [...X264, '-g', '50'] }: { rate?: string; filters?: string; coding?: string[] },
): Promise<string> {
  const path = directory.file(name)
  if (existsSync(path)) return path
  const picture = `testsrc2=s=192x108:r=${rate}:d=${SECONDS}${filters === '' ? '' : `,${filters}`},format=yuv420p`
  await ffmpeg([
    ...lavfi(picture, `${TONE}:d=${SECONDS}`),
    ...coding,
    '-c:a',
    path.endsWith('webm') ? 'libvorbis' : 'aac',
    path,
  ])
  return path
}

const video = (change: Parameters<typeof videoProfile>[0] = {}) =>
  videoProfile({ width: 96, height: 54, audioProfiles: [], ...change })
const BOTH_RATES: Partial<JobSpec> = { video: [video(), video({ index: 1, frameRateFactor: '1/2x' })] }

const OPEN_GOP = { coding: [...X264, '-x264-params', 'open-gop=1:keyint=90:bframes=3'] }
const DROPPED = { filters: "select='not(mod(floor(n*n/3)\\,4))'", coding: [...X264, '-g', '60', '-fps_mode', 'vfr'] }

describe.each<{ name: string; file: string; source: Parameters<typeof make>[1]; job?: Partial<JobSpec> }>([
  { name: 'open GOPs', file: 'open.mp4', source: { ...OPEN_GOP, rate: '30000/1001' } },
  { name: 'open GOPs in Matroska', file: 'open.mkv', source: { ...OPEN_GOP, rate: '24000/1001' } },
  {
    name: 'WebM',
    file: 'vp9.webm',
    source: { coding: ['-c:v', 'libvpx', '-b:v', '1M', '-g', '100'] },
  },
  { name: 'one key frame', file: 'long.mp4', source: { coding: [...X264, '-g', '10000'] } },
  {
    name: 'HEVC with open GOPs',
    file: 'hevc.mp4',
    source: { coding: [...X265, '-x265-params', 'keyint=75:open-gop=1:log-level=error'] },
  },
  {
    name: 'intra refresh',
    file: 'refresh.mp4',
    source: { coding: [...X264, '-x264-params', 'intra-refresh=1:keyint=60'] },
  },
  {
    name: 'intra refresh in Matroska',
    file: 'refresh.mkv',
    source: { coding: [...X264, '-x264-params', 'intra-refresh=1:keyint=100'] },
  },
  {
    name: 'fragments',
    file: 'fragments.mp4',
    source: { coding: [...X264, '-g', '50', '-movflags', '+frag_keyframe+empty_moov'] },
  },
  { name: 'Matroska without an index', file: 'live.mkv', source: { coding: [...X264, '-g', '50', '-live', '1'] } },
  { name: 'an edit list', file: 'edits.mp4', source: { coding: [...X264, '-g', '50', '-output_ts_offset', '1.234'] } },
  { name: '59.94', file: 'fast.mp4', source: { rate: '60000/1001' }, job: BOTH_RATES },
  { name: 'a variable frame rate', file: 'vfr.mp4', source: DROPPED },
  {
    name: 'a variable frame rate in Matroska',
    file: 'vfr.mkv',
    source: { ...DROPPED, rate: '30000/1001' },
    job: BOTH_RATES,
  },
  { name: '26 to 25', file: '26.mp4', source: { rate: '26' }, job: { keepFps: false } },
  { name: '27.3 to 25', file: '27.mkv', source: { rate: '273/10' }, job: { keepFps: false } },
  { name: '28 to 29.97', file: '28.mp4', source: { rate: '28' }, job: { keepFps: false } },
  { name: '12.5', file: '12.mp4', source: { rate: '25/2' }, job: { ...BOTH_RATES } },
  {
    name: 'half the rate and twice',
    file: 'half.mp4',
    source: {},
    job: { video: [...BOTH_RATES.video!, video({ index: 2, frameRateFactor: '2x' })] },
  },
  {
    name: 'fields to frames',
    file: 'fields.mkv',
    source: {
      rate: '50',
      filters: 'tinterlace=mode=interleave_top',
      coding: ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M', '-bf', '2'],
    },
  },
  {
    name: 'fields to 50p, bottom first',
    file: 'bottom.mp4',
    source: {
      rate: '50',
      filters: 'tinterlace=mode=interleave_bottom,setfield=bff',
      coding: [...X264, '-x264-params', 'bff=1:keyint=60', '-flags', '+ilme+ildct'],
    },
    job: {
      video: [
        video({ frameRateFactor: '2x' }),
        video({ index: 1, progressive: true }),
        video({ index: 2, frameRateFactor: '1/2x' }),
      ],
    },
  },
])('$name', ({ file, source, job }) => {
  test.each<{ cut: string; change: Partial<JobSpec> }>([
    { cut: 'whole', change: {} },
    { cut: 'from 3.3 s', change: { cut: { start: { kind: 'seconds', seconds: 3.3 }, end: null } } },
    {
      cut: '1.1 to 19.7 s',
      change: { cut: { start: { kind: 'seconds', seconds: 1.1 }, end: { kind: 'seconds', seconds: 19.7 } } },
    },
  ])('$cut', async ({ change }) => {
    const input = await make(file, source)
    const plan = await planOf(segmented({ video: [video()], ...job, ...change }), input, directory.path)
    await expectSameFrames(plan, { input }, [0, 1, 2, 4, 7])
    await expectSameFrames(plan, { input, seekable: false }, [0, 5])
  })
})

test('telecined film, of which two in five frames are woven of two pictures, without auto_detelecine_flag', async () => {
  const input = await make('telecine.mkv', {
    rate: '24000/1001',
    filters: 'telecine=first_field=top:pattern=23,setfield=tff',
    coding: ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M', '-bf', '2'],
  })
  const plan = await planOf(segmented({ video: [video()] }), input, directory.path)
  await expectSameFrames(plan, { input }, [0, 1, 4, 7])
})

const font = 'Noto Sans'
const cueAt = (start: number, text: string): CaptionCue => ({
  start,
  end: start + 1.7,
  lines: [[{ text, italic: false, bold: false, underline: false }]],
  place: {},
})

async function withCaptions(plan: Plan): Promise<{ plan: Plan; burnIn: string[] }> {
  const cues = [1.1, 3.37, 6.9, 9.2, 13.45, 15.3, 19.9].map((start, index) => cueAt(start, `Caption ${index}`))
  const drawn: Plan = {
    ...plan,
    burnIn: { kind: 'text', from: { kind: 'caption', caption: 0 }, font, cues: cues.length },
  }
  const looks = assLooks(drawn)
  const files = looks.map((_look, index) => directory.file(`${index}.ass`))
  for (const [index, look] of looks.entries()) await writeFile(files[index]!, assFile(cues, look))
  return { plan: drawn, burnIn: files }
}

describe.each([
  { name: '25', rate: '25' },
  { name: '119.88', rate: '120000/1001' },
])('drawn over video of $name frames per second', ({ rate }) => {
  const chunks = [0, 2, 5, 7]
  const input = () => make(`drawn_${rate.slice(0, 3)}.mp4`, { rate })
  const job = segmented({
    video: [video({ width: 160, height: 90 }), video({ index: 1, frameRateFactor: '1/2x' })],
    keepFps: true,
  })

  test('captions', async () => {
    const source = await input()
    const { plan, burnIn } = await withCaptions(await planOf(job, source, directory.path))
    await expectSameFrames(plan, { input: source, burnIn }, chunks)
  })

  test('a logo, with and without captions', async () => {
    const source = await input()
    const logo = directory.file('logo.png')
    await makeLogoImage(logo)
    const planned = await planOf(
      { ...job, logo: { position: 'top_right', opacityPercent: 60 } },
      source,
      directory.path,
      {
        width: 200,
        height: 200,
      },
    )
    await expectSameFrames(planned, { input: source, logo }, chunks)
    const { plan, burnIn } = await withCaptions(planned)
    await expectSameFrames(plan, { input: source, logo, burnIn }, chunks)
  })

  test('images of subtitles', async () => {
    const source = await input()
    const bitmaps = directory.file('bitmaps.mov')
    const picture = `color=red@0.5:s=64x32:r=10:d=${SECONDS},format=rgba,hue=h=20*t,select='not(mod(n\\,13))'`
    await ffmpeg([...lavfi(picture), '-fps_mode', 'vfr', '-c:v', 'png', '-pix_fmt', 'rgba', bitmaps])
    const { packaging, ...planned } = await planOf(job, source, directory.path)
    const renditions = packaging!.renditions.map((rendition) => ({
      ...rendition,
      video: { ...rendition.video!, bitmaps: { x: 10, y: 6, width: 32, height: 16 } },
    }))
    await expectSameFrames({ ...planned, packaging: { ...packaging!, renditions } }, { input: source, bitmaps }, chunks)
  })
})

describe('clocks', () => {
  test.each([
    { name: 'video that begins after audio', file: 'late.mp4', offset: '0.32' },
    { name: 'video that begins much later', file: 'later.mkv', offset: '3.21' },
    { name: 'video that begins earlier', file: 'early.mp4', offset: '-0.45' },
  ])('$name', async ({ file, offset }) => {
    const input = directory.file(file)
    const source = await make('base.mp4', {})
    await ffmpeg([
      ...['-itsoffset', offset, '-i', source, '-i', source, '-map', '0:v', '-map', '1:a', '-c', 'copy'],
      ...['-avoid_negative_ts', 'make_zero', input],
    ])
    const plan = await planOf(segmented({ video: [video()] }), input, directory.path)
    await expectSameFrames(plan, { input }, [0, 1, 2, 5, 8])
  })
})
