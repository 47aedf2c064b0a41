// In charge of: the public job operations (specification 4): create, read, list, cancel, retry, delete.
// Not in charge of: validation (contract/job/validateJob.ts), scheduling (scheduler/).
import { noteInLog } from '../log.ts'
import { zValidator } from '@hono/zod-validator'
import { Hono, type Context } from 'hono'
import * as z from 'zod/mini'
import type { Created as CreatedAnswer, JobRead, ListedJob } from '#contract/api/answers.ts'
import { firstInput, jobInputs, outputProvider } from '#contract/job/jobConfig.ts'
import type { JobState } from '#contract/task/lifecycle.ts'
import { MAX_BODY_BYTES, MAX_JOB_PARTS, METADATA } from '#contract/limits.ts'
import { isMetadataName, isMetadataValue } from '#contract/job/metadata.ts'
import { presetNameOf } from '#contract/job/builtInPresets.ts'
import { newJobFacts, publicStatus } from '#contract/api/publicStatus.ts'
import { authenticate } from '../http/authenticate.ts'
import { readJson, readOptionalJson } from '../http/jsonBody.ts'
import { findReplayedJob, createJob, readIdempotencyKey, type CreatedJobRecord } from './createJob.ts'
import { applyEvent } from '../scheduler/applyEvent.ts'
import { withKeyWebhook } from '../webhooks/webhookAddress.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import { validateJobRequest } from './validateJobRequest.ts'
import { countUnfinished, listJobs } from '../db/jobList.ts'
import { findJob, markJobDeleted, type Job } from '../db/jobs.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { purgeJob } from './purgeJob.ts'
import { onInvalidQuery } from '../http/validationErrors.ts'
import { buildRetry } from './retryJob.ts'
import { assignSlotsSoon } from '../scheduler/assignSlots.ts'
import { normalizeSearchText } from '../db/searchText.ts'
import { outputsExpireAt } from '../delivery/posterRoutes.ts'
import { buildStatus } from './jobStatus.ts'
import { serveEvents } from './serveEvents.ts'
import { serveLog } from './serveLog.ts'
import { pageCursor, pageLimit, pageQuery, searchText } from '../http/pageQuery.ts'
import { replayDelivery, listDeliveries } from '../webhooks/webhookRoutes.ts'

/** Pages of 1,000 objects that a deletion removes at once; the reconciler removes the rest. */
const PURGE_PAGES = 5

/** `_auto_generated_id_` in a path: no other form is valid. */
export const jobPath = '/:id{[1-9][0-9]{0,14}}'

const stateNames = ['ready', 'queued', 'running', 'committing', 'completed', 'error', 'failed', 'cancelled'] as const
const rowStates: Readonly<Record<(typeof stateNames)[number], JobState[]>> = {
  ready: ['queued', 'completed'],
  queued: ['queued'],
  running: ['running', 'committing'],
  committing: ['committing'],
  completed: ['completed'],
  error: ['failed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

/** `name:value`, one or more times. A name has no colon; a value may have one. */
const metadata = z._default(
  z.pipe(
    z.pipe(
      z.union([z.string(), z.array(z.string())]),
      z.transform((given) =>
        [given].flat().map((pair) => ({
          name: pair.slice(0, Math.max(0, pair.indexOf(':'))),
          value: pair.slice(pair.indexOf(':') + 1),
        })),
      ),
    ),
    z
      .array(
        z.object({
          name: z.string().check(z.refine(isMetadataName)),
          value: z.string().check(z.refine(isMetadataValue)),
        }),
      )
      .check(z.maxLength(METADATA.members)),
  ),
  [],
)

const booleans = ['true', 'false'] as const
const listQuery = z.strictObject({
  limit: pageLimit,
  cursor: pageCursor,
  state: z.optional(
    z.pipe(
      z.pipe(
        z.string(),
        z.transform((text) => text.split(',')),
      ),
      z.array(z.enum(stateNames)),
    ),
  ),
  created_from: z.optional(z.iso.datetime({ offset: true })),
  created_to: z.optional(z.iso.datetime({ offset: true })),
  search: searchText,
  metadata,
  counts: z.optional(z.enum(booleans)),
})

const time = { expects: 'a date and time with a time zone, such as 2026-11-21T10:00:00Z' }
const refuseListQuery = onInvalidQuery({
  ...pageQuery,
  metadata: { expects: `name:value, as in customer:42, at most ${METADATA.members} times` },
  state: { expects: `one or more of ${stateNames.join(', ')}, separated by commas`, allowed: stateNames },
  created_from: time,
  created_to: time,
  counts: { expects: 'true or false', allowed: booleans },
})

const dryRunKinds = ['true', 'false', 'unlisted'] as const
const createQuery = z.strictObject({ dry_run: z.optional(z.enum(dryRunKinds)) })
const refuseCreateQuery = onInvalidQuery({ dry_run: { expects: 'true, false or unlisted', allowed: dryRunKinds } })

const logQuery = z.strictObject({ part: z.optional(z.string().check(z.regex(/^\d{1,3}$/))) })
const refuseLogQuery = onInvalidQuery({
  part: { expects: `a position in chunks.map, from 0 to ${MAX_JOB_PARTS - 1}`, minimum: 0, maximum: MAX_JOB_PARTS - 1 },
})

export const jobRoutes = new Hono<AppEnv>()
  .use(authenticate('jobs'))

  // 4.1 Create a job
  .post('/', zValidator('query', createQuery, refuseCreateQuery), async (c) => {
    const { value, text } = await readJson(c, MAX_BODY_BYTES)
    const idempotencyKey = readIdempotencyKey(c.req.header('idempotency-key'))
    const { dry_run: dryRun = 'false' } = c.req.valid('query')
    const asked = {
      account: c.get('account'),
      kind: dryRun === 'false' ? ('transcode' as const) : ('plan' as const),
      isUnlisted: dryRun === 'unlisted',
      retryOf: null,
      idempotency: idempotencyKey === null ? null : { key: idempotencyKey, request: text },
    }
    // Before validation, because the preset may have been changed or deleted since the first request.
    const first = presetNameOf(value) === null ? null : await findReplayedJob(c.env, asked)
    if (first) return createdResponse(c, first)
    const checked = await validateJobRequest(c.env, asked.account, value, { baseUrl: publicBaseUrl(c) })
    const { config, secrets, warnings, usesKeyWebhook } = await withKeyWebhook(
      c.env,
      asked.account,
      c.get('keyWebhook'),
      checked,
    )
    const priority = c.get('priority')
    return createdResponse(c, await createJob(c.env, { ...asked, config, secrets, warnings, usesKeyWebhook, priority }))
  })

  // List: newest first
  .get('/', zValidator('query', listQuery, refuseListQuery), async (c) => {
    const query = c.req.valid('query')
    const rows = await listJobs(c.env.DB, c.get('account'), {
      states: [...new Set((query.state ?? []).flatMap((name) => rowStates[name]))],
      before: query.cursor === undefined ? null : Number(query.cursor),
      createdFrom: query.created_from === undefined ? null : Date.parse(query.created_from),
      createdTo: query.created_to === undefined ? null : Date.parse(query.created_to),
      search: query.search === undefined ? null : normalizeSearchText(query.search),
      metadata: query.metadata,
      limit: query.limit + 1,
    })
    const page = rows.slice(0, query.limit)
    const base = publicBaseUrl(c)
    return c.json({
      jobs: await Promise.all(
        page.map(async (job) => {
          const { config } = job
          return {
            _auto_generated_id_: job.id,
            job_id: job.job_id,
            input: firstInput(config).address,
            ...(config.inputs === undefined ? {} : { inputs: jobInputs(config).map(({ address }) => address) }),
            cloud: outputProvider(config),
            updated_at: new Date(job.updated_at).toISOString(),
            status: await buildStatus(c.env, job, base, {
              expiresAtMs: outputsExpireAt(c.env, job),
              isShared: false,
              isListed: true,
            }),
            metadata: config.metadata ?? {},
          } satisfies ListedJob
        }),
      ),
      next_cursor: rows.length > query.limit ? String(page.at(-1)?.id) : null,
      ...(query.counts === 'true' ? { counts: await countUnfinished(c.env.DB, c.get('account')) } : {}),
    })
  })

  // 4.2 Read a job
  .get(jobPath, async (c) => c.json(await jobRead(c.env, await findOwnJob(c), publicBaseUrl(c))))

  .post(`${jobPath}/cancel`, async (c) => {
    const job = await findOwnJob(c)
    const result = await applyEvent(c.env, { id: job.task, jobId: job.job_id }, { type: 'cancel' })
    // Cancelled before: success for the caller. Ended otherwise or already committing: an error.
    if (!result.ok && result.refusal !== 'same') {
      throw new RequestError(
        'job_finished',
        result.refusal === 'impossible'
          ? 'The job is finishing: its outputs are being published, and it can no longer be cancelled.'
          : 'The job has already ended.',
      )
    }
    return c.json(await jobRead(c.env, await findOwnJob(c), publicBaseUrl(c)))
  })

  // Creates a new job from the same request; the first one stays as it ended.
  .post(`${jobPath}/retry`, async (c) => {
    const job = await findOwnJob(c)
    const { value, text } = await readOptionalJson(c, MAX_BODY_BYTES)
    const key = readIdempotencyKey(c.req.header('idempotency-key'))
    const asked = {
      account: job.account,
      kind: job.kind,
      isUnlisted: job.unlisted === 1,
      retryOf: job.id,
      idempotency: key === null ? null : { key, request: text },
    }
    // Before the retry is built, because its source data may have been deleted since the first request.
    const made =
      (await findReplayedJob(c.env, asked)) ??
      (await createJob(c.env, {
        ...asked,
        ...(await buildRetry(c.env, job, value, { baseUrl: publicBaseUrl(c), hook: c.get('keyWebhook') })),
        priority: c.get('priority'),
      }))
    return createdResponse(c, made)
  })

  .get(`${jobPath}/events`, async (c) => serveEvents(c, await findOwnJob(c)))

  .get(`${jobPath}/log`, zValidator('query', logQuery, refuseLogQuery), async (c) =>
    serveLog(c, await findOwnJob(c), c.req.valid('query').part ?? null),
  )

  .get(`${jobPath}/webhooks`, async (c) => listDeliveries(c, await findOwnJob(c)))
  .post(`${jobPath}/webhooks/:webhook/replay`, async (c) => replayDelivery(c, await findOwnJob(c)))

  .delete(jobPath, async (c) => {
    const job = await findOwnJob(c)
    // One request of a page that is being closed.
    if (job.unlisted === 1) await applyEvent(c.env, { id: job.task, jobId: job.job_id }, { type: 'cancel' })
    if (!(await markJobDeleted(c.env.DB, job.account, job.id, Date.now()))) {
      // Deleted by another request meanwhile: findOwnJob answers 404.
      await findOwnJob(c)
      throw new RequestError('job_active', 'The job has not ended yet. Cancel it first, or wait.')
    }
    c.executionCtx.waitUntil(purgeJob(c.env, job, { left: PURGE_PAGES }).catch(() => false))
    return c.body(null, 204)
  })

export async function findOwnJob(c: Context<AppEnv>): Promise<Job & { position: number | null }> {
  const job = await findJob(c.env.DB, c.get('account'), Number(c.req.param('id')))
  if (!job) throw notFound()
  noteInLog({ job: job.job_id })
  return job
}

async function jobRead(env: Env, job: Job, base: string): Promise<JobRead> {
  return { status: await buildStatus(env, job, base), config: job.config }
}

/** 2.5. The contract shows 200 as its only success code. Built from the creation data, so that a repeat is equal. */
function createdResponse(c: Context<AppEnv>, job: CreatedJobRecord): Response {
  noteInLog({ job: job.jobId })
  if (!job.isReplay) c.executionCtx.waitUntil(assignSlotsSoon(c.env))
  return c.json(
    {
      _auto_generated_id_: job.id,
      cloud: outputProvider(job.config),
      updated_at: new Date(job.createdAt).toISOString(),
      job_id: job.jobId,
      ...(job.kind === 'plan' ? { dry_run: true } : {}),
      ...(job.retryOf === null ? {} : { retry_of: job.retryOf }),
      status: publicStatus(
        newJobFacts({
          jobId: job.jobId,
          warnings: job.warnings,
          dryRun: job.kind === 'plan',
          retryOf: job.retryOf,
          inputName: job.inputName,
          createdAt: job.createdAt,
        }),
      ),
      warnings: job.warnings,
    } satisfies CreatedAnswer,
    200,
    { location: `${publicBaseUrl(c)}/api/v0/job/${job.id}` },
  )
}
