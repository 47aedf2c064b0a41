// In charge of: a divided job whose source is surveyed by parts: the rate factors that follow, and the outputs.
// Not in charge of: the ledger (test/worker/taskApi/surveyedJobs.test.ts), the arithmetic (surveyRates.test.ts).
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { PARTS_SHARE, samplingShare } from '#contract/task/protocol.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { inChunks, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi, sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 9)
const taskApi = useTaskApi(() => clip)

const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const task = () => {
  const of = segmentedTask(CMAF, [300, 150])
  of.config.videoProfiles = of.config.videoProfiles.map(
    (profile) => ({ ...profile, video_bitrate_mode: 'vbr' }) as never,
  )
  return of
}
const divisionOf = ({ storedPlan }: FakeTaskApi) => (storedPlan as Plan).division!
const chunks = [0, 1, 3]

test('a survey in parts finds the rate factors of one attempt, and the attempt behind it needs no source', async () => {
  taskApi.faults.input = ({ response }) =>
    taskApi.task?.surveyed !== undefined && sendJson(response, 404, {}) === undefined
  await runDividedJob(fixture, taskApi, task(), { chunks, survey: { parts: 2, factors: [30, 30] } })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect(divisionOf(taskApi).survey).toEqual({ parts: 2, factors: [30, 30] })
  const samples = [0, 1].map((part) => (taskApi.records.get(part) as { samples: { place: number }[] }).samples)
  // Of the places of two seconds, each part has every second one.
  const [even, odd] = samples.map((each) => new Set(each.map(({ place }) => place)))
  expect([...even!, ...odd!].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3])
  const found = divisionOf(taskApi).rateFactors!

  // Wherever the parts begin, they end near the same factors.
  const other = await new FakeTaskApi({ bytes: clip }).start()
  try {
    await runDividedJob(fixture, other, task(), { chunks, survey: { parts: 2, factors: [24, 24] }, parts: [] })
    const again = divisionOf(other).rateFactors!
    for (const video of [0, 1])
      expect(Math.abs(found[video]! - again[video]!), JSON.stringify([found, again])).toBeLessThan(1)
  } finally {
    await other.stop()
  }

  const objects = storedObjects(taskApi)
  const playlist = [...objects].find(([path]) => /video_0\/.*\.m3u8$/.test(path) && !path.includes('iframe'))![1]
  const directories = new Set(listSegments(playlist.toString()).map(({ uri }) => dirname(uri)))
  // Behind the survey and the division.
  expect([...directories]).toEqual(['j-1-3'])
})

test('an attempt that takes the samples by itself says so, and how far it is', async () => {
  await runDividedJob(fixture, taskApi, { ...inChunks(task()), heartbeat_ms: 20 }, { chunks: null, parts: [] })
  expect([taskApi.fails, taskApi.divided?.survey]).toEqual([[], undefined])
  const beats = taskApi.beats.filter(({ phase }) => phase === 'sampling')
  const shares = beats.map(({ transcoded }) => transcoded)
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  // How often it is reported depends on the machine.
  expect(new Set(shares).size).toBeGreaterThan(1)
  // What is left are the chunks.
  const share = samplingShare(divisionOf(taskApi))
  expect([share < 1, shares.at(-1)! <= PARTS_SHARE * share]).toEqual([true, true])
  expect(new Set(beats.map(({ eta_seconds: left }) => left))).toEqual(new Set([null]))
})
