// In charge of: a divided job whose loudness is measured by parts: its audio is that of one task.
// Not in charge of: the sum of what parts measure (encoding/audio/loudnessShares.test.ts), the ledger
// (test/worker/taskApi/surveyedJobs.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import type { Plan } from '../../../../transcoder/plan/model/plan.ts'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { measureLoudness } from '../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi } from '../../../support/media/media.ts'
import { runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { inChunks, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi, sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const source = join(fixture.directory, 'loudness.mp4')
/** Loud in its last third only, by turns, with short peaks: what a limiter takes away grows with the gain. */
const sound =
  "aevalsrc='(0.002+0.25*gt(t,6)*pow(sin(2*PI*3*t),4))*(sin(2*PI*220*t)+sin(2*PI*554*t))+0.5*lt(mod(t,1.7),0.02)*sin(2*PI*1520*t)':s=48000:d=9"
await ffmpeg([
  ...lavfi('testsrc=s=160x90:r=25:d=9', sound),
  ...['-ac', '2', '-c:v', 'libx264', '-g', '25', '-c:a', 'aac', '-b:a', '160k', source],
])
const clip = await readFile(source)
const taskApi = useTaskApi(() => clip)

const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const task = (loudness: number) => {
  const of = segmentedTask({ ...CMAF, loudness_lufs: loudness })
  of.config.videoProfiles = of.config.videoProfiles.map(
    (profile) => ({ ...profile, video_bitrate_mode: 'qvbr' }) as never,
  )
  return of
}
const audioOf = ({ storedPlan }: FakeTaskApi) =>
  (storedPlan as Plan).packaging!.renditions.flatMap(({ audio }) => audio.map(({ loudness }) => loudness))
const codesOf = ({ storedPlan }: FakeTaskApi) => (storedPlan as Plan).warnings.map(({ code }) => code)
const audioBytes = (api: FakeTaskApi) => {
  const objects = storedObjects(api)
  return joinedSegments(
    objects,
    [...objects.keys()].find((path) => /audio.*\.m3u8$/.test(path))!,
  )
}

/** As the first attempt leaves it if parts measure: nothing is known. */
function forgetLoudness(): void {
  const plan = taskApi.storedPlan as Plan
  for (const { audio } of plan.packaging!.renditions)
    for (const track of audio) track.loudness = { gainDb: 0, limited: false }
  plan.warnings = plan.warnings.filter(({ code }) => !code.startsWith('loudness'))
}

test.each(
  sampled(
    [
      [-12, 2, true],
      [-27, 1, false],
    ] as const,
    1,
  ),
)('%i LUFS: %i rounds', async (loudness, rounds, limited) => {
  // Behind the survey no attempt needs the source.
  taskApi.faults.input = ({ response }) =>
    taskApi.task?.surveyed !== undefined && sendJson(response, 404, {}) === undefined
  const survey = { parts: 4, factors: [], loudness: { parts: 2 } }
  await runDividedJob(fixture, taskApi, task(loudness), { chunks: [0, 2], survey, beforeSurvey: forgetLoudness })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect((taskApi.storedPlan as Plan).division!.survey).toEqual({ parts: 2 * rounds, factors: [] })

  const alone = await new FakeTaskApi({ bytes: clip }).start()
  try {
    alone.task = task(loudness)
    await runTask(runRequest(alone), fixture.context())
    const [[parts], [whole]] = [audioOf(taskApi), audioOf(alone)]
    expect(whole).toMatchObject({ limited })
    expect(parts).toMatchObject({ limited })
    expect(Math.abs(parts!.gainDb - whole!.gainDb), JSON.stringify([parts, whole])).toBeLessThan(0.11)
    expect(codesOf(taskApi)).toEqual(codesOf(alone))
  } finally {
    await alone.stop()
  }
  const output = join(fixture.directory, `audio${rounds}.mp4`)
  await writeFile(output, audioBytes(taskApi))
  const { integratedLufs, truePeakDb } = await measureLoudness(output)
  expect(Math.abs(integratedLufs! - loudness)).toBeLessThan(0.3)
  expect(truePeakDb!).toBeLessThan(-1)
})

test('the first attempt at a long job measures nothing where parts can do it', async () => {
  const path = join(fixture.directory, 'long.mov')
  await ffmpeg([
    ...lavfi('color=gray:s=64x64:r=1:d=1600', 'anullsrc=r=8000:cl=mono:d=1600'),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '2', '-c:a', 'pcm_s16le', path],
  ])
  taskApi.source = { bytes: await readFile(path) }
  const accepts = { source: true, preview: false, log: true, parts: 400, surveys: true }
  const long = task(-23)
  long.config.max_chunk_seconds = 600
  const divide = async (resurveys: boolean) => {
    taskApi.storedPlan = null
    taskApi.task = { ...long, accepts: { ...accepts, resurveys } }
    await runTask(runRequest(taskApi), fixture.context())
    expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
    return { divided: taskApi.divided, survey: (taskApi.storedPlan as Plan).division!.survey }
  }
  expect(await divide(true)).toEqual({
    divided: { parts: 4, survey: true },
    survey: { parts: 8, factors: [], loudness: { parts: 4 } },
  })
  expect(codesOf(taskApi)).not.toContain('loudness_of_silence')
  expect(audioOf(taskApi)).toEqual([{ gainDb: 0, limited: false }])

  // A service that cannot survey twice; the measuring takes seconds.
  if (!LONG_FORM) return
  expect(await divide(false)).toEqual({ divided: { parts: 4 }, survey: undefined })
  expect(codesOf(taskApi)).toContain('loudness_of_silence')
  expect(audioOf(taskApi)).toEqual([null])
})

test('what a part cannot measure is measured by one process', async () => {
  let alone: unknown = null
  await runDividedJob(fixture, taskApi, inChunks(task(-27)), {
    chunks: [0, 2],
    survey: { parts: 4, factors: [], loudness: { parts: 2 } },
    parts: [],
    beforeSurvey: () => {
      alone = structuredClone(audioOf(taskApi))
      forgetLoudness()
    },
    beforePlan: () => void ((taskApi.records.get(1) as { loudness: unknown }).loudness = [null]),
  })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect(audioOf(taskApi)).toEqual(alone)
  expect((taskApi.storedPlan as Plan).division!.survey).toEqual({ parts: 2, factors: [] })
})

test('a plan that waits for its gains is made again where the service divides no jobs any more', async () => {
  taskApi.source = { bytes: clip }
  taskApi.division = { chunks: [0, 2], survey: { parts: 4, factors: [], loudness: { parts: 2 } } }
  taskApi.task = { ...task(-27), accepts: { source: false, preview: false, log: false, parts: 400, surveys: true } }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.divided).toEqual({ parts: 2, survey: true })
  forgetLoudness()
  taskApi.division = null
  taskApi.task = { ...task(-27), attempt: 2, plan: taskApi.storedPlan }
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect((taskApi.storedPlan as Plan).division ?? null).toBeNull()
  expect(audioOf(taskApi)[0]!.gainDb).toBeLessThan(-5)
})
