// In charge of: the chunks of a divided job: together they have exactly the frames of one run, whatever the source and the
// filters.
// Not in charge of: segments (transcoder/segmenter), other outputs than video.
import { expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Plan } from '../../../../../transcoder/plan/model/plan.ts'
import { probeAndPlan } from '../../../../support/media/encodeJob.ts'
import { testFfmpeg } from '../../../../support/media/media.ts'
import { makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { framesOf, framesOfChunks, type SourceOfParts } from '../../../../support/media/partFrames.ts'
import { jobSpec, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const SEGMENT_SECONDS = 2
/** At 2, 8 and 16 s: near the beginning, and behind it. */
const CHUNKS = [0, 1, 4, 8]

const segmented = (change: Partial<JobSpec> = {}): JobSpec =>
  jobSpec({
    packaging: packagingSpec({ hls: true, segmentSeconds: SEGMENT_SECONDS }),
    video: [videoProfile({ width: 192, height: 48, audioProfiles: [] })],
    audio: [],
    ...change,
  })

async function planOf(spec: JobSpec, input: string): Promise<Plan> {
  return (await probeAndPlan(spec, input, directory.path, await testFfmpeg())).plan
}

async function expectSameFrames(plan: Plan, source: SourceOfParts, chunks = CHUNKS): Promise<void> {
  const [whole, parts] = [await framesOf(plan, source), await framesOfChunks(plan, chunks, source)]
  for (const [rendition, frames] of whole.entries()) {
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.map(({ time }) => time)).toEqual(frames.map((_frame, number) => number))
    const { segmentFrames } = plan.packaging!.renditions[rendition]!
    for (const [chunk, made] of parts.entries()) {
      const [from, to] = [chunks[chunk]! * segmentFrames, (chunks[chunk + 1] ?? Infinity) * segmentFrames]
      const expected = frames.slice(from, to).map(({ hash }, time) => ({ time, hash }))
      expect(made[rendition], `rendition ${rendition}, chunk ${chunk}`).toEqual(expected)
    }
  }
}

test('an mp4', async () => {
  const input = await makeNumberedClip(directory.file('a.mp4'), { seconds: 21 })
  await expectSameFrames(await planOf(segmented(), input), { input })
})
