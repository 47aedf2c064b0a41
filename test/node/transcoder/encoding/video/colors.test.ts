// One complete and correct colour description per output: colour bars are decoded and converted to light by the
// output's own tags.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { beforeAll, describe, expect, test } from 'vitest'
import { fileInputFlags } from '../../../../../transcoder/ffmpeg/inputAllowlist.ts'
import { runFfmpeg } from '../../../../../transcoder/ffmpeg/run.ts'
import { ffmpegArgsOf } from '../../../../support/transcoder/ffmpegArgsOf.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES } from '../../../../../transcoder/plan/model/engineFeatures.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import { ffmpeg, lavfi, probeStream, testFfmpeg } from '../../../../support/media/media.ts'
import { jobSpec, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { colorBarsError, makeColorBars, type ColorSystem } from '../../../../support/media/colorBars.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { encodeSegmentStreams } from '../../../../support/media/encodeSegmented.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const tagged = (matrix: string, primaries: string, transfer: string, range = 'tv') => [
  ...['-colorspace', matrix, '-color_primaries', primaries],
  ...['-color_trc', transfer, '-color_range', range],
]
const BT709: ColorSystem = { matrix: 'bt709', primaries: 'bt709' }
const PAL: ColorSystem = { matrix: 'bt470bg', primaries: 'bt470bg' }
const NTSC: ColorSystem = { matrix: 'smpte170m', primaries: 'smpte170m' }

/** Of 255: rounding to 8 bits before and after, and one encode. */
const TOLERANCE = 4

const video = (width: number, height: number, index = 0) =>
  videoProfile({ index, width, height, audioProfiles: [], bitrateKbps: 4000 })

async function colorOf(path: string): Promise<string> {
  const { color_space, color_primaries, color_transfer, color_range } = await probeStream(path, 'video')
  return [color_space, color_primaries, color_transfer, color_range].join(' ')
}

interface Row {
  name: string
  system: ColorSystem
  clip: Parameters<typeof makeColorBars>[2]
  /** Tags of single files of 320×180 and 1280×720. */
  sd: string
  /** Tags of all renditions of a set up to 576 lines, and of a larger one. */
  set: string
}
const HD_SAYS = 'bt709 bt709 bt709 tv'
const PAL_SAYS = 'bt470bg bt470bg smpte170m tv'
const NTSC_SAYS = 'smpte170m smpte170m smpte170m tv'
const rows: Row[] = [
  {
    name: 'PAL with all tags of BT.470 B/G',
    system: PAL,
    clip: { width: 352, height: 288, tags: tagged('bt470bg', 'bt470bg', 'gamma28') },
    sd: 'bt470bg bt470bg bt470bg tv',
    set: 'bt470bg bt470bg bt470bg tv',
  },
  { name: 'PAL without tags', system: PAL, clip: { width: 352, height: 288, tags: [] }, sd: PAL_SAYS, set: PAL_SAYS },
  {
    name: 'NTSC with all tags of SMPTE 170M',
    system: NTSC,
    clip: { width: 352, height: 240, rate: '30000/1001', tags: tagged('smpte170m', 'smpte170m', 'smpte170m') },
    sd: NTSC_SAYS,
    set: NTSC_SAYS,
  },
  {
    name: 'HD of 25 pictures a second',
    system: BT709,
    clip: { width: 640, height: 640, tags: tagged('bt709', 'bt709', 'bt709') },
    sd: PAL_SAYS,
    set: HD_SAYS,
  },
  {
    name: 'HD of 29.97 pictures a second, without tags',
    system: BT709,
    clip: { width: 640, height: 640, rate: '30000/1001', tags: [] },
    sd: NTSC_SAYS,
    set: HD_SAYS,
  },
  {
    name: 'the matrix of BT.601 beside the primaries of BT.709',
    system: { matrix: 'smpte170m', primaries: 'bt709' },
    clip: { width: 320, height: 180, tags: tagged('smpte170m', 'bt709', 'bt709') },
    sd: PAL_SAYS,
    set: HD_SAYS,
  },
  {
    name: 'full range',
    system: { ...PAL, fullRange: true },
    clip: { width: 352, height: 288, tags: tagged('bt470bg', 'bt470bg', 'smpte170m', 'pc') },
    sd: PAL_SAYS,
    set: PAL_SAYS,
  },
]

describe.each(sampled(rows, 2))('$name', ({ name, system, clip, sd, set }) => {
  let source = ''
  beforeAll(async () => {
    source = await makeColorBars(tempDir.file(`${name.replaceAll(/\W/g, '_')}.mkv`), system, clip)
  })

  test('single files follow their height', async () => {
    const spec = jobSpec({ video: [video(320, 180), video(640, 640, 1)] })
    const { outputs } = await encode(spec, source)
    expect(await colorOf(outputs[0])).toBe(sd)
    expect(await colorOf(outputs[1]!)).toBe(HD_SAYS)
    for (const output of outputs) expect(await colorBarsError(output)).toBeLessThan(TOLERANCE)
    // Without zscale, swscale converts.
    const plain = { ...ALL_FEATURES, zscale: false }
    const swscaled = await encode(spec, source, { features: plain })
    expect(await colorOf(swscaled.outputs[0])).toBe(sd)
    for (const output of swscaled.outputs) expect(await colorBarsError(output)).toBeLessThan(TOLERANCE)
  })

  test.each([
    ['up to 576 lines', [video(320, 180), video(352, 288, 1)], set],
    ['with one beyond', [video(320, 180), video(640, 640, 1)], HD_SAYS],
  ])('a switching set %s has one description', async (_title, profiles, says) => {
    const spec = jobSpec({ packaging: packagingSpec({ hls: true, dash: true }), video: profiles, audio: [] })
    const { file } = await encodeSegmentStreams(spec, source, tempDir.path)
    for (const index of [0, 1]) {
      const cmaf = file(`video_${index} cmaf`)
      expect(await colorOf(cmaf)).toBe(says)
      expect(await colorBarsError(cmaf)).toBeLessThan(TOLERANCE)
    }
  })
})

// Each name of each kind once, combined with names of the other kinds; its index is its number in ITU-T H.273.
const primaries = ['bt709', 'unknown', '', 'bt470m', 'bt470bg', 'smpte170m', 'smpte240m', 'film', 'bt2020', 'smpte428']
primaries.push('smpte431', 'smpte432')
const transfers = ['bt709', 'unknown', '', 'bt470m', 'bt470bg', 'smpte170m', 'smpte240m', 'linear', 'log100', 'log316']
transfers.push('iec61966-2-4', 'bt1361e', 'iec61966-2-1', 'bt2020-10', 'bt2020-12', 'smpte2084', 'smpte428')
transfers.push('arib-std-b67')
const matrices = ['bt709', 'unknown', '', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'ycgco', 'bt2020nc', 'bt2020c']
matrices.push('smpte2085', 'chroma-derived-nc', 'chroma-derived-c', 'ictcp')
const at = (names: readonly string[], index: number, code = (index % names.length) + 1): [string, number] =>
  names[code - 1] === '' ? [names[0]!, 1] : [names[code - 1]!, code]
const ranges = ['tv', 'pc', 'unknown'] as const
const combined = transfers.map((_name, index) => ({
  primaries: at(primaries, index),
  transfer: at(transfers, index),
  matrix: at(matrices, index),
  range: ranges[index % 3]!,
}))
combined.push(
  { primaries: ['ebu3213', 22], transfer: ['bt2020-10', 14], matrix: ['bt2020c', 10], range: 'tv' },
  { primaries: ['bt2020', 9], transfer: ['smpte2084', 16], matrix: ['ictcp', 14], range: 'tv' },
  { primaries: ['bt2020', 9], transfer: ['arib-std-b67', 18], matrix: ['bt2020c', 10], range: 'pc' },
)

describe('every name that ffprobe prints', () => {
  test.each(sampled(combined, 3))('$primaries.0, $transfer.0, $matrix.0, $range: every codec', async (name) => {
    const [transfer, code] = name.transfer
    const clip = tempDir.file(`${Object.values(name).flat().join('_')}.mkv`)
    const [first, second] = [name.primaries[1], name.matrix[1]]
    const tags = `range=${name.range}:color_primaries=${first}:color_trc=${code}:colorspace=${second}`
    const flags = ['-color_primaries', `${first}`, '-color_trc', `${code}`, '-colorspace', `${second}`]
    const picture = `color=0x808080:s=64x64:r=25:d=0.2,format=yuv420p,setparams=${tags}`
    await ffmpeg([...lavfi(picture), '-c:v', 'ffv1', ...flags, '-color_range', name.range, clip])
    const programs = await testFfmpeg()
    const media = await probe(programs, `file:${clip}`, { cwd: tempDir.path })
    expect(media.video!.colorTransfer ?? 'unknown').toBe(transfer)
    for (const videoCodec of ['h264', 'hevc', 'mpeg2'] as const) {
      const spec = jobSpec({ videoCodec, dynamicRange: 'source', video: [video(96, 64), video(64, 580, 1)] })
      const plan = planJob(spec, media, { features: programs.features })
      const outputs = [0, 1].map((index) => `${clip}_${videoCodec}_${index}.mp4`)
      const args = ffmpegArgsOf(plan, { input: `file:${clip}`, inputFlags: fileInputFlags(), outputs, threads: 0 })
      const { ended, code, stderr } = await runFfmpeg(programs, args, { cwd: tempDir.path, outputFiles: outputs })
      expect({ ended, code }, stderr).toEqual({ ended: 'exit', code: 0 })
      const hdr = `bt2020nc bt2020 ${transfer} tv`
      const isHdr =
        videoCodec === 'hevc' && programs.features.hevcMain10 && ['smpte2084', 'arib-std-b67'].includes(transfer)
      const low = isHdr ? [hdr] : [PAL_SAYS, NTSC_SAYS, 'bt470bg bt470bg bt470bg tv']
      expect(low).toContain(await colorOf(outputs[0]!))
      expect(await colorOf(outputs[1]!)).toBe(isHdr ? hdr : HD_SAYS)
    }
  })
})
