// Divided jobs whose source is surveyed by parts first, in the real Worker with stand-in transcoders: the survey and the
// chunks behind it, and a loss and a cancel in the survey.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { PARTS_SHARE, type TaskDescription } from '#contract/task/protocol.ts'
import { taskIdOf } from '#contract/taskId.ts'
import { listPartStates } from '../../../worker/db/parts.ts'
import { findTask } from '../../../worker/db/tasks.ts'
import { PartsProgress } from '../../../worker/monitor/partsProgress.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, readJson } from '../support/apiClient.ts'
import { MASTER_PLAYLIST, startDividedJob, SURVEYED_PLAN } from '../support/dividedFixture.ts'
import { noProgress, type FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startNextAttempt } from '../support/jobFixture.ts'

const SURVEYS = 2
const PARTS = 3

/** A job whose source is being surveyed by two parts. */
async function startSurvey(): ReturnType<typeof startDividedJob> {
  const job = await startDividedJob(SURVEYS, { survey: true })
  // The second of a survey waits for no other.
  expect(job.parts.map(({ part }) => part)).toEqual([0, 1])
  return job
}

const describe = async (attempt: FakeAttempt) => (await attempt.taskApi('GET', '')).json<TaskDescription>()
const statesOf = async (attempt: FakeAttempt) =>
  (await listPartStates(env.DB, taskIdOf(attempt.job, 0))).map(({ state }) => state)

test('a survey, whose records the next attempt reads, and the chunks behind it', async () => {
  const { id, main, parts } = await startSurvey()
  expect(await (await main.divide(SURVEYS, { survey: true })).json()).toEqual({ state: 'divided' })
  expect(await readStatus(id)).toMatchObject({ state: 'running', phase: 'sampling', chunks: null })
  expect((await main.taskApi('PUT', '/work/0-1/subtitles.0', new Uint8Array([1]))).status).toBe(409)
  const [first, second] = parts
  await first.heartbeat({ transcoded: 0.5, phase: 'sampling' })
  await expect.poll(async () => (await readStatus(id)).tcode_progress).toBe('1')
  await Promise.all([first.deliver({ bits: 1 }), second.deliver({ bits: 2 })])

  const again = await startNextAttempt()
  expect(again.run).toMatchObject({ task_id: main.run.task_id, attempt: 2 })
  expect(await readStatus(id)).toMatchObject({ state: 'running', chunks: null })
  const described = await describe(again)
  expect(described.surveyed).toEqual({ parts: SURVEYS })
  expect(described.assemble).toBeUndefined()
  // It plans nothing, and leaves nothing for the chunks.
  expect(described.accepts).not.toHaveProperty('parts')
  expect(described.slots).toBeUndefined()
  expect((await again.taskApi('PUT', '/work/0-2/beginning.0', new Uint8Array([1]))).status).toBe(409)
  expect(await (await again.taskApi('GET', '/parts/1')).json()).toEqual({ bits: 2 })
  const factors = { ...SURVEYED_PLAN.plan, durationSeconds: 7 }
  expect((await again.taskApi('POST', '/plan', { ...SURVEYED_PLAN, plan: factors, replaces: true })).status).toBe(200)
  // Not less than a chunk and the rest, and into no second survey.
  expect((await again.divide(SURVEYS + 1)).status).toBe(409)
  expect((await again.divide(2 * SURVEYS, { survey: true })).status).toBe(409)
  const twice = await Promise.all([again.divide(SURVEYS + PARTS), again.divide(SURVEYS + PARTS)])
  expect(twice.map(({ status }) => status)).toEqual([200, 200])
  expect(await statesOf(again)).toHaveLength(SURVEYS + PARTS)
  const { parts: most } = (await describe(parts[0])).accepts ?? {}
  expect(most).toBeUndefined()

  const chunks = [await startNextAttempt(), await startNextAttempt()].toSorted((a, b) => a.part! - b.part!)
  // The rest, behind the last chunk, is held back until that one is stored.
  expect(chunks.map(({ part }) => part)).toEqual([SURVEYS, SURVEYS + 2])
  expect((await describe(chunks[1]!)).plan).toMatchObject({ durationSeconds: 7 })
  const row = await findTask(env.DB, main.run.task_id)
  const half = { ...noProgress, transcoded: 0.5 }
  // The survey is a sixteenth of the work, and half a chunk of three parts the sixth of the rest.
  const whole = await new PartsProgress().update(env.DB, row!, chunks[1]!.part!, half, Date.now())
  expect(whole.transcoded).toBeCloseTo(PARTS_SHARE * (1 / 16 + (15 / 16) * (0.5 / PARTS)))
  expect((await readStatus(id)).chunks).toEqual({ total: PARTS, completed: 0, running: 2, map: 'rr.' })
  await Promise.all(chunks.map((chunk) => chunk.deliver()))
  const rest = await startNextAttempt()
  expect(rest.part).toBe(SURVEYS + 1)
  await rest.deliver()

  const assembling = await startNextAttempt()
  expect((await describe(assembling)).assemble).toEqual({ parts: PARTS, first: SURVEYS })
  expect((await assembling.divide(9)).status).toBe(409)
  await assembling.finish([], { written: [MASTER_PLAYLIST] })
  expect(await readStatus(id)).toMatchObject({ error: null, chunks: { completed: PARTS, map: 'ccc' } })
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'job.created',
    'attempt.started',
    'job.planned',
    'job.surveying',
    'attempt.started',
    'job.divided',
    'job.assembling',
    'attempt.started',
    'job.committing',
    'job.completed',
  ])
})

test('a transcoder that is lost during the survey costs one part of it; one lost behind it, only the reading', async () => {
  const { main, parts } = await startSurvey()
  const [first, second] = parts
  await first.deliver({ bits: 1 })
  advanceClock(60_000)
  await second.alarm()
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  const third = await startNextAttempt()
  expect(third.run).toMatchObject({ task_id: second.run.task_id, attempt: 2 })
  expect((await second.deliver()).status).toBe(409)
  await third.deliver({ bits: 2 })

  const reading = await startNextAttempt()
  advanceClock(60_000)
  await reading.alarm()
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  const again = await startNextAttempt()
  expect(again.run).toMatchObject({ task_id: main.run.task_id, attempt: 3 })
  expect((await reading.divide(SURVEYS + PARTS)).status).toBe(409)
  expect((await describe(again)).surveyed).toEqual({ parts: SURVEYS })
  expect((await again.divide(SURVEYS + PARTS)).status).toBe(200)
  expect((await statesOf(again)).slice(0, SURVEYS)).toEqual(['completed', 'completed'])
})

test('cancelling a job during its survey ends the parts of the survey', async () => {
  const { id, main, parts } = await startSurvey()
  await parts[0].deliver({ bits: 1 })
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  expect(await statesOf(main)).toEqual(['completed', 'cancelled'])
  // Its monitor is told with the alarm.
  await main.alarm()
  await parts[1].alarm()
  expect(await parts[1].heartbeat()).not.toBe('continue')
  expect((await parts[1].deliver()).status).toBe(409)
  expect(await readStatus(id)).toMatchObject({ state: 'cancelled', phase: 'done', chunks: null })
})
