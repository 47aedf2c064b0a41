// Samples of a video against the same GOPs of one encode of all of it, with ffmpeg.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodePlace } from '../../../../../transcoder/division/rates/encodePlace.ts'
import { ratePlaces, type RatePlace } from '../../../../../transcoder/division/plan/rateSampling.ts'
import { sampledGop, sampledRenditions, samplePlan } from '../../../../../transcoder/division/plan/samplePlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { lavfi, ffmpeg, tempDirectory, testFfmpeg } from '../../../../support/media/media.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const SECONDS = 12
const GOP_SECONDS = 2
const FACTOR = 26

let directory: Awaited<ReturnType<typeof tempDirectory>>
let path: string
beforeAll(async () => {
  directory = await tempDirectory()
  path = directory.file('source.mp4')
  // Slow movement and some grain, as of a film.
  const picture = `mandelbrot=s=192x108:r=25:start_scale=1:end_scale=0.02:end_pts=600,noise=alls=2:allf=t:all_seed=1`
  await ffmpeg([...lavfi(picture), ...`-t ${SECONDS} -c:v libx264 -crf 16 -pix_fmt yuv420p`.split(' '), path])
})
afterAll(() => directory?.[Symbol.asyncDispose]())

test.each(['h264', 'hevc'] as const)(
  '%s: a sample has as many bits as the same GOPs of the whole video',
  async (videoCodec) => {
    const engine = await testFfmpeg()
    const plan = planJob(
      jobSpec({
        videoCodec,
        gopSeconds: GOP_SECONDS,
        packaging: packagingSpec({ segmentSeconds: 6 }),
        video: [videoProfile({ output: '', bitrateKbps: 4000, mode: 'vbr' })],
      }),
      mediaInfo({}, { durationSeconds: SECONDS }),
    )
    const sampled = sampledRenditions(plan)!
    const bitsOf = async (place: RatePlace): Promise<number> => {
      const options = { cwd: directory.path, signal: new AbortController().signal, threads: 1, cores: 1 }
      const sample = samplePlan(plan, sampled, place, [FACTOR])
      const bits = await encodePlace(engine, `file:${path}`, sample, place, options)
      return bits![0]!
    }
    const gops = SECONDS / GOP_SECONDS
    const whole = await bitsOf({ index: 0, sharesPerGop: 1, from: 0, counted: 0, to: gops, end: gops })
    let sum = 0
    for (const place of ratePlaces(SECONDS, sampledGop(sampled))) sum += await bitsOf(place)
    expect(Math.abs(sum / whole - 1)).toBeLessThan(0.005)
  },
)
