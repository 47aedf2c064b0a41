// In charge of: a job whose cues are found by parts of a survey: its plan is that of one reading.
// Not in charge of: its outputs (surveyedCues.long.test.ts), the cues of stretches (analysis/traceCues.test.ts), the ledger
// (test/worker/taskApi/surveyedJobs.test.ts).
import { expect, test } from 'vitest'
import type { Plan } from '../../../../transcoder/plan/model/plan.ts'
import { inChunks, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { cueSurvey, cueTask, forgetCues, makeSurveyedCues } from '../../../support/transcoder/surveyedCues.ts'
import { storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSurveyedCues(fixture)
const taskApi = useTaskApi(() => clip)

interface Planned {
  /** By the first attempt, which reads the source. */
  alone: Plan
  surveyed: Plan
}

async function planBoth(beforePlan?: () => void): Promise<Planned> {
  let alone: Plan | null = null
  const beforeSurvey = () => {
    alone = structuredClone(taskApi.storedPlan as Plan)
    forgetCues(taskApi)
  }
  await runDividedJob(fixture, taskApi, inChunks(cueTask()), {
    chunks: [0, 1],
    survey: cueSurvey,
    parts: [],
    beforeSurvey,
    ...(beforePlan === undefined ? {} : { beforePlan }),
  })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  return { alone: alone!, surveyed: taskApi.storedPlan as Plan }
}

const withoutDivision = ({ division: _division, ...plan }: Plan) => plan
const spliceFramesOf = ({ packaging }: Plan) => packaging!.renditions.flatMap(({ video }) => video?.spliceFrames ?? [])

test('the plan of one reading, and chunks that keep away from splice points', async () => {
  const { alone, surveyed } = await planBoth()
  expect(spliceFramesOf(alone)).toHaveLength(3)
  expect(withoutDivision(surveyed)).toEqual(withoutDivision(alone))
  expect(surveyed.division!.survey).toEqual({ parts: 3, factors: [], cues: { parts: 3, known: true } })
  // At segment 2 is a splice point.
  expect(surveyed.division!.chunks).toEqual([0, 1, 3])
  expect(taskApi.divided).toEqual({ parts: 3 + 4 })
  expect(taskApi.sources.at(-1)!.source.cues).toEqual({ pids: [600], splice_points: 3 })
})

test('where a splice point leaves no place for a second chunk, the attempt behind the survey makes the job', async () => {
  taskApi.source = { bytes: await makeSurveyedCues(fixture, { seconds: 4, splice: 2.08 }) }
  await runDividedJob(fixture, taskApi, inChunks(cueTask()), {
    chunks: [0, 1],
    survey: cueSurvey,
    beforeSurvey: () => forgetCues(taskApi),
  })
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  expect(taskApi.finished).toMatchObject({ undivided: true })
  expect(taskApi.finished!.warnings.map(({ code }) => code)).toContain('not_divided')
  const objects = storedObjects(taskApi)
  expect(objects.get('out/video_0/playlist.m3u8')!.toString()).toMatch(/EXTINF:2\.08/)
})

test('what the parts do not find together, one reading finds', async () => {
  const { alone, surveyed } = await planBoth(() => {
    const record = taskApi.records.get(1) as { cues: string | null }
    expect(record.cues).not.toBeNull()
    record.cues = null
  })
  expect(withoutDivision(surveyed)).toEqual(withoutDivision(alone))
  expect(surveyed.division!.survey).toEqual({ parts: 3, factors: [] })
})
