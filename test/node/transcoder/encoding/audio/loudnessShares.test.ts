// Loudness that is measured in stretches: the sum is what one run over the whole source finds (EBU R 128).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { beforeAll, describe, expect, test } from 'vitest'
import { measureLoudness } from '../../../../../transcoder/analysis/measureLoudness.ts'
import type { MeasuredBranch } from '../../../../../transcoder/analysis/loudness/ebur128.ts'
import { measureShare } from '../../../../../transcoder/analysis/loudness/measureShare.ts'
import { integratedLufs, joinLevels, type LoudnessLevels } from '../../../../../transcoder/plan/audio/loudnessLevels.ts'
import type { LoudnessShare } from '../../../../../transcoder/plan/division/loudnessSurvey.ts'
import { cutSource } from '../../../../../transcoder/plan/streams/cut.ts'
import { probeOnce } from '../../../../support/media/encodeJob.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../../support/media/media.ts'
import { audioProfile, jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { sampled } from '../../../../support/longForm.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const SECONDS = 21
/** Loud and quiet by turns, a low tone that a filter needs time for, and peaks that a limiter removes. */
const PROGRAMME =
  "aevalsrc='(0.02+0.25*gt(mod(t,7),4.5))*(sin(2*PI*60*t)+sin(2*PI*554*t)+0.5*sin(2*PI*2318*t))+0.4*lt(mod(t,1.7),0.02)*sin(2*PI*3520*t)+0.01*(random(0)-0.5)':s=RATE"
/** Where it begins in the middle of a wave, a meter that looks between samples sees a peak. The source begins softly. */
const TONE = "aevalsrc='0.5*min(1,t)*sin(2*PI*11999*t+1.2)':s=RATE"

const tempDir = useTempDirectory()
const engine = await testFfmpeg()

const clips = {
  'aac.mp4': [48_000, ['-c:a', 'aac', '-b:a', '192k']],
  'aac.mkv': [44_100, ['-c:a', 'aac', '-b:a', '192k']],
  'pcm.mov': [48_000, ['-c:a', 'pcm_s16le']],
  'tone.mov': [48_000, ['-c:a', 'pcm_s16le']],
} as const
type Clip = keyof typeof clips

beforeAll(async () => {
  for (const [name, [rate, codec]] of Object.entries(clips))
    await ffmpeg([
      ...lavfi(
        `color=gray:s=64x64:r=25:d=${SECONDS}`,
        `${(name === 'tone.mov' ? TONE : PROGRAMME).replace('RATE', `${rate}`)}:d=${SECONDS}`,
      ),
      ...['-ac', '2', '-c:v', 'libx264', ...codec, tempDir.file(name)],
    ])
}, 60_000)

const spec = jobSpec({
  video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })],
  audio: [audioProfile()],
  loudnessLufs: -10,
})

async function measureBoth(clip: Clip, shares: LoudnessShare[], options: Partial<typeof spec> = {}) {
  const wanted = { ...spec, ...options }
  const path = tempDir.file(clip)
  const cwd = tempDir.path
  const media = await probeOnce(engine, path, { cwd })
  const used = cutSource(wanted, media)
  const { audio } = await measureLoudness(
    engine,
    `file:${path}`,
    { spec: wanted, media: used },
    { cwd, seekable: true },
  )
  const [whole] = audio[0]!.loudness
  const cut = used.cut === undefined ? null : { ...used.cut, frames: null }
  const of = async (gainDb: number | null): Promise<LoudnessLevels> => {
    const branches: MeasuredBranch[] = [{ stream: 1, mix: whole!.mix, gainDb }]
    const found: LoudnessLevels[] = []
    for (const share of shares) {
      const run = { cwd, threads: 1, signal: new AbortController().signal, onSeconds: () => undefined }
      const [levels] = await measureShare(engine, `file:${path}`, { spec: wanted, media, cut }, share, branches, run)
      found.push(levels!)
    }
    return joinLevels(found)
  }
  return { whole: whole!, of }
}

const blocksOf = ({ blocks }: LoudnessLevels) => blocks.reduce((sum, count) => sum + count, 0)
const sharesAt = (...starts: number[]): LoudnessShare[] =>
  starts.map((startSeconds, index) => ({ startSeconds, endSeconds: starts[index + 1] ?? null }))

describe.each(
  sampled(
    [
      ['aac.mp4', {}],
      ['aac.mkv', {}],
      ['pcm.mov', {}],
      ['aac.mp4', { cut: { start: { kind: 'seconds', seconds: 2.32 }, end: { kind: 'seconds', seconds: 17.9 } } }],
    ] as [Clip, Partial<typeof spec>][],
    2,
  ),
)('%s %j', (clip, options) => {
  test('the stretches have the loudness, the peak and the limited loudness of the whole', async () => {
    const { whole, of } = await measureBoth(clip, sharesAt(0, 4.6, 9.3, 13.9), options)
    const levels = await of(null)
    expect.soft(Math.abs(integratedLufs(levels)! - whole.integratedLufs!)).toBeLessThan(0.11)
    expect.soft(Math.abs(levels.truePeakDb! - whole.truePeakDb!)).toBeLessThan(0.11)
    // The first three of the whole look back for less than 0.4 s.
    const seconds = options.cut == null ? SECONDS : 15.58
    expect.soft(Math.abs(blocksOf(levels) - (Math.floor(seconds * 10) - 3))).toBeLessThanOrEqual(1)
    expect(whole.limited).toHaveLength(6)
    for (const { gainDb, integratedLufs: lufs } of [whole.limited[5]!])
      expect.soft(Math.abs(integratedLufs(await of(gainDb))! - lufs), `${gainDb} dB`).toBeLessThan(0.11)
  })
})

test('the edge at which a stretch begins is no peak', async () => {
  const { whole, of } = await measureBoth('tone.mov', sharesAt(0, 3.3, 5.1, 7.5, 11.2, 13.7, 17.9), {
    loudnessLufs: -40,
  })
  expect(whole.limited).toEqual([])
  const { truePeakDb } = await of(null)
  expect(Math.abs(truePeakDb! - whole.truePeakDb!)).toBeLessThan(0.11)
})
