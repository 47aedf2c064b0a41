// An m4a of a job without video has the audio of its source and nothing else: as many samples, the first at 0. Read by
// Chromium, which follows the edit list at both ends; ffmpeg keeps the padding of the last frame.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile } from 'node:fs/promises'
import { chromium } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { encodeJob } from '../../support/media/encodeJob.ts'
import { ffmpeg, lavfi } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { audioProfile, jobSpec } from '../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const program = await findChromium()
const tempDir = useTempDirectory()

/** The samples of the left channel. */
async function decoded(path: string, sampleRate: number): Promise<number[]> {
  const browser = await chromium.launch({ executablePath: program!, args: CHROMIUM_FLAGS, timeout: STEP_TIMEOUT_MS })
  try {
    const page = await browser.newPage()
    const bytes = (await readFile(path)).toString('base64')
    const script = `(async () => {
      const bytes = Uint8Array.from(atob(${JSON.stringify(bytes)}), (character) => character.charCodeAt(0))
      const audio = await new OfflineAudioContext(2, 1, ${sampleRate}).decodeAudioData(bytes.buffer)
      return [...audio.getChannelData(0)]
    })()`
    return await page.evaluate<number[]>(script)
  } finally {
    await browser.close()
  }
}

describe.skipIf(skipSuite(program === null ? NO_CHROMIUM : null))('m4a without a gap', () => {
  // No whole number of frames, and one sample more than one.
  test.each([
    { samples: 49_925, rate: 48_000 },
    { samples: 49_153, rate: 44_100 },
  ])('$samples samples at $rate Hz', async ({ samples, rate }) => {
    const source = tempDir.file('source.wav')
    const noise = `anoisesrc=d=4:r=${rate}:a=0.3:seed=5,lowpass=f=6000,atrim=end_sample=${samples}`
    await ffmpeg(['-y', ...lavfi(noise), '-ac', '2', '-c:a', 'pcm_s16le', source])
    const audio = [audioProfile({ codec: 'aac', bitrateKbps: 192, sampleRate: rate })]
    const spec = jobSpec({ audioDirectory: '', video: [], audio })
    const { outputs } = await encodeJob(spec, source, tempDir.path)
    const found = await decoded(outputs[0], rate)
    expect(found).toHaveLength(samples)
    const raw = await ffmpeg(['-i', source, '-f', 'f32le', '-'])
    const wanted = Float32Array.from({ length: samples }, (_, at) => raw.readFloatLE(8 * at))
    for (const from of [0, samples - 4096]) {
      const [here, oneOff] = [0, 1].map((shift) => difference(found, wanted, from, shift))
      expect(here!).toBeLessThan(oneOff! / 4)
    }
  })
})

/** The sum of squares over 4,000 samples. */
function difference(found: readonly number[], wanted: Float32Array, from: number, shift: number): number {
  let sum = 0
  for (let at = from; at < from + 4000; at += 1) sum += (found[at]! - wanted[at + shift]!) ** 2
  return sum
}
