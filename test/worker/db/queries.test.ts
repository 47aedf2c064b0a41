// The service's SQL on D1: statements that must not become slow with a large table.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import {
  deleteOldJobs,
  deleteExpiredIdempotencyKeys,
  deleteUnlistedJobs,
  clearExpiredSecrets,
  listDeletedJobs,
  listExpiredOutputs,
} from '../../../worker/db/jobRetention.ts'
import {
  findJob,
  findJobByJobId,
  insertJob,
  insertTask,
  listOverdueJobs,
  updateWarnings,
} from '../../../worker/db/jobs.ts'
import { countUnfinished, listJobs } from '../../../worker/db/jobList.ts'
import {
  addLostPart,
  findEventOfParts,
  findLastWork,
  findPlannedBuild,
  findStoredAttempt,
  insertParts,
  listBegunParts,
  listOpenParts,
  listOrphanedParts,
  listPartStates,
  listSettledMains,
  selectDivision,
} from '../../../worker/db/parts.ts'
import {
  findTask,
  findTimeline,
  listKnownSlots,
  listUnattendedTasks,
  listWaitingDryRuns,
  listWaitingTasks,
} from '../../../worker/db/tasks.ts'
import { newJobRow } from '../support/newJobRow.ts'

const jobRow = (jobId: string, priority = 0) => newJobRow(jobId, { priority, now: 1, deadlineAt: 2 })

test('the queue position counts priority first, then age, up to 1,000', async () => {
  const db = env.DB
  const add = async (jobId: string, priority: number): Promise<number> => {
    const job = jobRow(jobId, priority)
    const [made] = await db.batch<{ id: number }>([
      insertJob(db, job, null),
      insertTask(db, job, `${jobId}-0`, 'transcode'),
    ])
    return made!.results[0]!.id
  }
  const queuePosition = async (id: number) => (await findJob(db, 'a', id))?.position
  const first = await add('first', 0)
  const second = await add('second', 0)
  expect([await queuePosition(first), await queuePosition(second)]).toEqual([0, 1])
  const urgent = await add('urgent', 5)
  expect([await queuePosition(urgent), await queuePosition(first), await queuePosition(second)]).toEqual([0, 1, 2])
  await db.prepare(`UPDATE tasks SET state = 'starting' WHERE id = 'urgent-0'`).run()
  expect([await queuePosition(urgent), await queuePosition(second)]).toEqual([null, 1])
  const more = (count: number) =>
    db
      .prepare(
        `INSERT INTO tasks (id, job, account, kind, state, priority, not_before, updated_at)
         SELECT ?1 || '-' || value, ?2, 'a', 'transcode', 'queued', 1, 0, 0 FROM json_each(?3)`,
      )
      .bind(`more ${count}`, urgent, JSON.stringify(Array.from({ length: count }, (_, n) => n)))
      .run()
  await more(998)
  expect(await queuePosition(second)).toBe(999)
  await more(100)
  expect(await queuePosition(second)).toBe(1000)
})

test('what is asked with every request and every minute reads no table from end to end', async () => {
  const db = env.DB
  const plans: string[] = []
  const explaining = {
    prepare(sql: string) {
      const statement = {
        bind(...values: unknown[]) {
          asked = values
          return statement
        },
        async all() {
          const { results } = await db
            .prepare(`EXPLAIN QUERY PLAN ${sql}`)
            .bind(...asked)
            .all()
          plans.push(...(results as { detail: string }[]).map(({ detail }) => `${detail}   of   ${sql}`))
          return { results: [] }
        },
        first: () => statement.all().then(() => null),
        run: () => statement.all(),
      }
      let asked: unknown[] = []
      return statement
    },
  } as unknown as D1Database
  await findJob(explaining, 'a', 1)
  await findJobByJobId(explaining, 'x')
  const any = { states: [], before: null, createdFrom: null, createdTo: null, search: null, metadata: [], limit: 1 }
  await listJobs(explaining, 'a', any)
  await countUnfinished(explaining, 'a')
  await findTimeline(explaining, 'x')
  await findTask(explaining, 'x')
  await listKnownSlots(explaining, 1)
  await listWaitingTasks(explaining, 1, 1)
  await listWaitingDryRuns(explaining, 1, 1)
  await deleteUnlistedJobs(explaining, 1, 1, 1)
  await listUnattendedTasks(explaining, 1, 1, 1, 1)
  await listOverdueJobs(explaining, 1, 1)
  await insertParts(explaining, 'x', 1, 2, 1).all()
  await findEventOfParts(explaining, 'x')
  await addLostPart(explaining, 'x', 1).all()
  await findPlannedBuild(explaining, 'x')
  await selectDivision(explaining, 'x').all()
  await findLastWork(explaining, 'x', 1)
  await listOpenParts(explaining, 'x')
  await listBegunParts(explaining, 'x')
  await listPartStates(explaining, 'x')
  await findStoredAttempt(explaining, 'x', 1)
  await listOrphanedParts(explaining, 1)
  await listSettledMains(explaining, 1)
  await listExpiredOutputs(explaining, 1, 1)
  await listDeletedJobs(explaining, 1)
  await deleteOldJobs(explaining, 1, 1)
  await clearExpiredSecrets(explaining, 1, 1)
  await deleteExpiredIdempotencyKeys(explaining, 1, 1)
  await insertJob(explaining, jobRow('x'), null).all()
  const scans = plans.filter((plan) => /^SCAN (jobs|tasks|idempotency|part|whole)\b(?!.* INDEX )/.test(plan))
  expect(scans).toEqual([])
  // The parts of a job are kept as long as it: what is asked for all jobs must not read them all.
  const ofAllParts = plans.filter((plan) => /tasks_by_main(?! \(main=\?)/.test(plan.split('   of   ')[0] ?? ''))
  expect(ofAllParts).toEqual([])
  // Nor must a job, or each job of a list, be read with all of its parts.
  expect(plans.filter((plan) => /\btasks_by_job\b.*   of   SELECT/.test(plan))).toEqual([])
  // These do not scan every ended job either.
  for (const [index, statement] of [
    ['jobs_sealed', 'SET sealed = NULL'],
    ['jobs_with_outputs', 'outputs IS NOT NULL LIMIT'],
    ['jobs_unfinished', 'jobs.deadline_at <'],
    ['tasks_at_work', 'CASE tasks.state'],
    ['tasks_waiting', 'AS position'],
  ] as const)
    expect(
      plans.some((plan) => plan.includes(`INDEX ${index}`) && plan.includes(statement)),
      index,
    ).toBe(true)
})

test('a start that may be lost is found before tasks that are only unchanged for long', async () => {
  const db = env.DB
  await db.prepare(`DELETE FROM tasks`).run()
  for (const [name, state, at] of [
    ['quiet', 'divided', 1],
    ['lost', 'starting', 2],
  ] as const) {
    const job = jobRow(name)
    await db.batch([insertJob(db, job, null), insertTask(db, job, `${name}-0`, 'transcode')])
    await db.prepare(`UPDATE tasks SET state = ?2, updated_at = ?3 WHERE id = ?1`).bind(`${name}-0`, state, at).run()
  }
  const found = await listUnattendedTasks(db, 1e9, 1000, 1000, 1)
  expect(found.map(({ job_id: job }) => job)).toEqual(['lost'])
})

test('the warnings of an ended job do not change, whoever adds some later (I2)', async () => {
  const job = jobRow('ended')
  await env.DB.batch([insertJob(env.DB, job, null), insertTask(env.DB, job, 'ended-0', 'transcode')])
  const warnings = () => env.DB.prepare(`SELECT warnings FROM jobs WHERE job_id = 'ended'`).first('warnings')
  await updateWarnings(env.DB, 'ended', '[]', '[1]')
  expect(await warnings()).toBe('[1]')
  // Another one has replaced a warning meanwhile.
  expect(await updateWarnings(env.DB, 'ended', '[2]', '[2,3]')).toBe(false)
  expect(await warnings()).toBe('[1]')
  expect((await applyEvent(env, { id: 'ended-0', jobId: 'ended' }, { type: 'cancel' })).ok).toBe(true)
  await updateWarnings(env.DB, 'ended', '[1]', '[1,2]')
  expect(await warnings()).toBe('[1]')
})

test('what expired during a long stop is removed a few rows at a time', async () => {
  const db = env.DB
  await db.batch([db.prepare(`DELETE FROM jobs`), db.prepare(`DELETE FROM idempotency`)])
  for (const name of ['old-1', 'old-2', 'old-3']) {
    const job = jobRow(name)
    await db.batch([insertJob(db, job, null), insertTask(db, job, `${name}-0`, 'plan')])
    await db.prepare(`INSERT INTO idempotency VALUES ('a', ?1, '', ?1, '[]', 1)`).bind(name).run()
  }
  await db.prepare(`UPDATE jobs SET finished_at = 1, sealed = '{}', unlisted = 1`).run()
  const left = async (sql: string): Promise<unknown> => db.prepare(`SELECT COUNT(*) FROM ${sql}`).first('COUNT(*)')
  await clearExpiredSecrets(db, 2, 2)
  expect(await left('jobs WHERE sealed IS NOT NULL')).toBe(1)
  await deleteUnlistedJobs(db, 2, 3, 2)
  expect(await left('jobs WHERE deleted_at IS NULL')).toBe(1)
  await deleteExpiredIdempotencyKeys(db, 2, 2)
  expect(await left('idempotency')).toBe(1)
})
