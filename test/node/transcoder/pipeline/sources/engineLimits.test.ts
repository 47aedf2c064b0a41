// What an accepted ffmpeg cannot decode is not blamed on the source: it is decoded whole, or the job ends with the version that
// can.
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { damageWarnings, type DamageSummary } from '../../../../../transcoder/analysis/damage/damageReport.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import { readStreamDetails } from '../../../../../transcoder/analysis/streamDetails.ts'
import { hasSeveralAmrFrames } from '../../../../../transcoder/formats/amr.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { amrInCaf } from '../../../../support/media/amrInCaf.ts'
import { audioSamples } from '../../../../support/media/audioSamples.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { ffmpegVersions } from '../../../../support/media/ffmpegVersions.ts'
import { audioProfile, jobSpec } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
const sound = jobSpec({ video: [], audio: [audioProfile()], audioDirectory: 'a' })

describe.each(await ffmpegVersions())('AMR with several frames in a packet, ffmpeg %s', (version, engine) => {
  test.each([
    ['one frame', 1],
    ['two frames', 2],
  ])('%s: all of it is decoded, or the version that can is named', async (_, frames) => {
    const path = tempDir.file(`${frames}.caf`)
    await writeFile(path, amrInCaf(frames, 100 / frames))
    const dirs = { cwd: tempDir.path, scratch: tempDir.path }
    const url = `file:${path}`
    const media = await readStreamDetails(engine, url, sound, await probe(engine, url, dirs), dirs)
    const plan = () => planJob(sound, media, { features: engine.features })
    if (engine.features.amrPackets || frames === 1) {
      plan()
      const { outputs } = await encode(sound, path, { engine })
      expect((await audioSamples(outputs[0], 0, 0)).length / 48_000).toBeCloseTo(2, 1)
    } else {
      expect(plan).toThrow(
        `The transcoder cannot decode source_stream 1 (amr_nb): its packets hold several frames, of which ffmpeg ${version} decodes only the first; ffmpeg 7 decodes all. The source is not damaged.`,
      )
    }
  })
})

test('the frames of a packet are told by its length', () => {
  expect(hasSeveralAmrFrames('amr_nb', new Uint8Array(13).fill(4, 0, 1))).toBe(false)
  expect(hasSeveralAmrFrames('amr_nb', new Uint8Array(26).fill(4, 0, 1))).toBe(true)
  expect(hasSeveralAmrFrames('amr_wb', new Uint8Array(18).fill(4, 0, 1))).toBe(false)
  expect(hasSeveralAmrFrames('aac', new Uint8Array(400))).toBe(false)
})

test.each([
  ['few gaps', 1, 0, false],
  ['many gaps beside other damage', 8, 1, false],
  ['many gaps and nothing else', 8, 0, true],
])('%s: whose fault they are', (_, lengthSeconds, count, isDoubtful) => {
  const none = { count: 0, seconds: [] }
  const found: DamageSummary = {
    packets: { count, seconds: [0] },
    frames: none,
    messages: { ...none, first: '' },
    gaps: [{ seconds: 1, lengthSeconds }],
    total: count + 1,
  }
  const said = damageWarnings(found, 100, '5.1.9').find(({ code }) => code === 'audio_gaps_filled')?.message
  expect(said?.includes('nothing was recorded there, or ffmpeg 5.1.9 cannot decode it')).toBe(isDoubtful)
})
