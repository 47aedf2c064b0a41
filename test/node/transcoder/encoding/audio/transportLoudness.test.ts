// In charge of: loudness that is measured in stretches of a transport stream, by its time stamps: the sum is what one run
// over the whole source finds (EBU R 128).
// Not in charge of: sources with an index (loudnessShares.test.ts), the job around it (pipeline/surveyedLoudness.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { measureLoudness } from '../../../../../transcoder/analysis/measureLoudness.ts'
import { measureShare, RUN_IN_SECONDS } from '../../../../../transcoder/analysis/loudness/measureShare.ts'
import { locateShare } from '../../../../../transcoder/analysis/loudness/stampedShare.ts'
import { integratedLufs, joinLevels, type LoudnessLevels } from '../../../../../transcoder/plan/audio/loudnessLevels.ts'
import type { LoudnessShare } from '../../../../../transcoder/plan/division/loudnessSurvey.ts'
import { cutSource } from '../../../../../transcoder/plan/streams/cut.ts'
import { localFileInput } from '../../../../../transcoder/source/localFile.ts'
import { LoopbackServer } from '../../../../../transcoder/source/loopbackServer.ts'
import { sampled } from '../../../../support/longForm.ts'
import { probeOnce } from '../../../../support/media/encodeJob.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../../support/media/media.ts'
import { audioProfile, jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const SECONDS = 21
/** Loud and quiet by turns, a low tone that a filter needs time for, and peaks that a limiter removes. */
const PROGRAMME =
  "aevalsrc='(0.02+0.25*gt(mod(t,7),4.5))*(sin(2*PI*60*t)+sin(2*PI*554*t)+0.5*sin(2*PI*2318*t))+0.4*lt(mod(t,1.7),0.02)*sin(2*PI*3520*t)+0.01*(random(0)-0.5)':s=48000"

const tempDir = useTempDirectory()
const engine = await testFfmpeg()
const { signal } = new AbortController()

const spec = jobSpec({
  video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })],
  audio: [audioProfile()],
  loudnessLufs: -10,
})

async function makeStream(name: string, codec: readonly string[], more: readonly string[] = []): Promise<string> {
  const path = tempDir.file(name)
  await ffmpeg([
    ...lavfi(`testsrc=s=160x90:r=25:d=${SECONDS}`, `${PROGRAMME}:d=${SECONDS}`),
    ...['-ac', '2', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-b:v', '600k', ...codec, ...more, path],
  ])
  return path
}

async function measureStretches(path: string, shares: LoudnessShare[], options: Partial<typeof spec> = {}) {
  const wanted = { ...spec, ...options }
  const run = { cwd: tempDir.path, threads: 1, signal, onSeconds: () => undefined }
  const media = await probeOnce(engine, path, run)
  const used = cutSource(wanted, media)
  const source = { spec: wanted, media: used }
  const { audio } = await measureLoudness(engine, `file:${path}`, source, { cwd: tempDir.path, seekable: true })
  const [whole] = audio[0]!.loudness
  const cut = used.cut === undefined ? null : { ...used.cut, frames: null }
  const { size } = await stat(path)
  const of = async (gainDb: number | null): Promise<(LoudnessLevels | null)[]> => {
    const found: (LoudnessLevels | null)[] = []
    for (const share of shares) {
      const loopback = await LoopbackServer.start(localFileInput(path, size), signal, () => undefined)
      try {
        const reading = { runInSeconds: RUN_IN_SECONDS, streams: [1] }
        const at = { spec: wanted, media, cut }
        const stretch = await locateShare(loopback, at, share, reading, signal)
        const [levels] =
          stretch === null
            ? [null]
            : await measureShare(engine, loopback.url, at, share, [{ stream: 1, mix: whole!.mix, gainDb }], {
                ...run,
                stamped: stretch.share,
              })
        found.push(stretch?.isWhole() === true ? levels! : null)
      } finally {
        await loopback.close()
      }
    }
    return found
  }
  return { whole: whole!, of }
}

const joined = (found: readonly (LoudnessLevels | null)[]) => joinLevels(found.map((levels) => levels!))
const blocksOf = ({ blocks }: LoudnessLevels) => blocks.reduce((sum, count) => sum + count, 0)
const sharesAt = (...starts: number[]): LoudnessShare[] =>
  starts.map((startSeconds, index) => ({ startSeconds, endSeconds: starts[index + 1] ?? null }))

describe.each(
  sampled(
    [
      // The clock wraps after 7 s.
      ['ac3', ['-c:a', 'ac3', '-b:a', '192k'], ['-output_ts_offset', `${2 ** 33 / 90_000 - 7}`], {}],
      [
        'mp2, a part of the source',
        ['-c:a', 'mp2', '-b:a', '192k'],
        ['-output_ts_offset', '1000'],
        // One run counts from the first sound, 10 ms before the first frame. 80 ms earlier the quiet blocks are at the gate.
        { cut: { start: { kind: 'seconds', seconds: 2.4 }, end: { kind: 'seconds', seconds: 17.98 } } },
      ],
      ['aac, which is sent 3 s later', ['-c:a', 'aac', '-b:a', '192k'], ['-muxdelay', '3', '-muxpreload', '3'], {}],
    ] as [string, string[], string[], Partial<typeof spec>][],
    1,
  ),
)('%s', (name, codec, more, options) => {
  test('the stretches have the loudness, the peak and the limited loudness of the whole', async () => {
    const path = await makeStream(`${name.replaceAll(/\W+/g, '-')}.ts`, codec, more)
    const { whole, of } = await measureStretches(path, sharesAt(0, 4.6, 9.3, 13.9), options)
    const levels = joined(await of(null))
    expect.soft(Math.abs(integratedLufs(levels)! - whole.integratedLufs!)).toBeLessThan(0.11)
    expect.soft(Math.abs(levels.truePeakDb! - whole.truePeakDb!)).toBeLessThan(0.11)
    // The first three of the whole look back for less than 0.4 s.
    const seconds = options.cut == null ? SECONDS : 15.58
    expect.soft(Math.abs(blocksOf(levels) - (Math.floor(seconds * 10) - 3))).toBeLessThanOrEqual(1)
    const { gainDb, integratedLufs: lufs } = whole.limited[5]!
    expect.soft(Math.abs(integratedLufs(joined(await of(gainDb)))! - lufs), `${gainDb} dB`).toBeLessThan(0.11)
  })
})

test('nothing is said where the time stamps jump', async () => {
  const path = await makeStream('half.ts', ['-c:a', 'mp2'])
  const half = await readFile(path)
  await writeFile(path, Buffer.concat([half, half]))
  const { of } = await measureStretches(path, [{ startSeconds: 0, endSeconds: null }])
  expect(await of(null)).toEqual([null])
})
