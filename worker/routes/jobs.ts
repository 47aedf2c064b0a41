// In charge of: the public job operations (specification 4): create, read, list, cancel.
// Not in charge of: validation (contract/job.ts), scheduling, what a job becomes.
import { zValidator } from '@hono/zod-validator'
import type { Context } from 'hono'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Problem, Warning } from '#contract/errors.ts'
import type { JobConfig } from '#contract/job.ts'
import { outputProvider, validateJob } from '#contract/job.ts'
import type { JobState, TaskKind } from '#contract/lifecycle.ts'
import { MAX_BODY_BYTES } from '#contract/limits.ts'
import { publicStatus } from '#contract/status.ts'
import { authenticate } from '../auth.ts'
import { readJson } from '../body.ts'
import { apply } from '../follow.ts'
import type { AppEnv } from '../http.ts'
import { baseUrl } from '../http.ts'
import type { JobWithTask } from '../ledger/jobs.ts'
import {
  findIdempotency,
  findJob,
  findJobByBackendId,
  insertIdempotency,
  insertJob,
  insertTask,
  listJobs,
} from '../ledger/jobs.ts'
import { findUpload } from '../ledger/uploads.ts'
import { notFound, RequestError } from '../problems.ts'
import { scheduleSoon } from '../schedule.ts'
import { sign } from '../signing.ts'
import { SECRETS_FIELD, sourceRef } from '../sink.ts'
import { statusOf } from '../status.ts'
import { seal } from '../vault.ts'

/** An accepted job reaches a terminal state within this time (I1). */
const DEADLINE_MS = 24 * 3600_000

/** `_auto_generated_id_` as it stands in a path: anything else cannot exist. */
const jobPath = '/:id{[1-9][0-9]{0,14}}'

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

const listQuery = z.strictObject({
  limit: z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(100)), 20),
  cursor: z.optional(z.string().check(z.regex(/^[1-9]\d{0,14}$/, 'as `next_cursor` gave it'))),
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
})

const createQuery = z.strictObject({ dry_run: z.optional(z.enum(['true', 'false'])) })

export const jobs = new Hono<AppEnv>()
  .use(authenticate('jobs'))

  // 4.1 Create a job
  .post('/', zValidator('query', createQuery, refuseQuery), async (c) => {
    const { value, text } = await readJson(c, MAX_BODY_BYTES)
    const base = baseUrl(c)
    const checked = validateJob(value, { baseUrl: base })
    if (!checked.ok) throw invalidBody(checked.problems)
    const { config, secrets, warnings } = checked
    const account = c.get('account')
    const kind = c.req.valid('query').dry_run === 'true' ? 'plan' : 'transcode'

    const source = sourceRef(account, config, secrets)
    if (source.provider === 'file-upload' && !(await findUpload(c.env.DB, account, source.number, Date.now()))) {
      throw invalidBody([
        {
          code: 'upload_not_found',
          field: 'input',
          message: `There is no uploaded file ${source.number}. Upload it first: POST ${base}/uploads answers its number.`,
        },
      ])
    }

    const idempotencyKey = readIdempotencyKey(c.req.header('idempotency-key'))
    const jobId = crypto.randomUUID()
    const now = Date.now()
    const job = {
      jobId,
      account,
      config: JSON.stringify(config),
      sealed: await seal(c.env, account, jobId, SECRETS_FIELD, secrets),
      warnings: JSON.stringify(warnings),
      priority: 0,
      now,
      deadlineAt: now + DEADLINE_MS,
    }
    const statements = [insertJob(c.env.DB, job, idempotencyKey), insertTask(c.env.DB, job, `${jobId}-0`, kind)]
    let fingerprint = ''
    if (idempotencyKey !== null) {
      // Keyed, because the body holds secrets and the hash outlives the request.
      // A dry run and a job are two requests, whatever they have in common.
      fingerprint = await sign(c.env, kind === 'plan' ? 'idempotency of a dry run' : 'idempotency', text)
      statements.unshift(insertIdempotency(c.env.DB, job, idempotencyKey, fingerprint))
    }
    const results = await c.env.DB.batch<{ id: number }>(statements)
    const inserted = results[idempotencyKey === null ? 0 : 1]?.results[0]
    if (!inserted) return repeated(c, account, idempotencyKey ?? '', fingerprint)
    c.executionCtx.waitUntil(scheduleSoon(c.env))
    return created(c, { id: inserted.id, jobId, kind, config, warnings, createdAt: now })
  })

  // List: newest first
  .get('/', zValidator('query', listQuery, refuseQuery), async (c) => {
    const query = c.req.valid('query')
    const rows = await listJobs(c.env.DB, c.get('account'), {
      states: [...new Set((query.state ?? []).flatMap((name) => rowStates[name]))],
      before: query.cursor === undefined ? null : Number(query.cursor),
      createdFrom: query.created_from === undefined ? null : Date.parse(query.created_from),
      createdTo: query.created_to === undefined ? null : Date.parse(query.created_to),
      limit: query.limit + 1,
    })
    const page = rows.slice(0, query.limit)
    const base = baseUrl(c)
    return c.json({
      jobs: await Promise.all(
        page.map(async (job) => {
          const config = JSON.parse(job.config) as JobConfig
          return {
            _auto_generated_id_: job.id,
            job_id: job.job_id,
            input: config.input,
            cloud: outputProvider(config),
            updated_at: new Date(job.updated_at).toISOString(),
            status: await statusOf(c.env, job, base),
          }
        }),
      ),
      next_cursor: rows.length > query.limit ? String(page.at(-1)?.id) : null,
    })
  })

  // 4.2 Read a job
  .get(jobPath, async (c) => c.json(await read(c.env, await owned(c), baseUrl(c))))

  .post(`${jobPath}/cancel`, async (c) => {
    const job = await owned(c)
    const result = await apply(c.env, { id: job.task, jobId: job.job_id }, { type: 'cancel' })
    // Cancelled before: the caller has what it wanted. Ended otherwise, or already being committed: it has not.
    if (!result.ok && result.refusal !== 'same') {
      throw new RequestError(
        'job_finished',
        result.refusal === 'impossible'
          ? 'The job is finished: its outputs are being put in place and can no longer be cancelled.'
          : 'The job has already ended.',
      )
    }
    return c.json(await read(c.env, await owned(c), baseUrl(c)))
  })

async function owned(c: Context<AppEnv>): Promise<JobWithTask & { position: number | null }> {
  const job = await findJob(c.env.DB, c.get('account'), Number(c.req.param('id')))
  if (!job) throw notFound()
  return job
}

async function read(env: Env, job: JobWithTask, base: string) {
  return { status: await statusOf(env, job, base), config: JSON.parse(job.config) as JobConfig }
}

interface Created {
  id: number
  jobId: string
  kind: TaskKind
  config: JobConfig
  warnings: Warning[]
  createdAt: number
}

/** 2.5. The only success code that the contract shows is 200. Made from what creation knew, so that a repetition is equal. */
function created(c: Context<AppEnv>, job: Created): Response {
  return c.json(
    {
      _auto_generated_id_: job.id,
      cloud: outputProvider(job.config),
      updated_at: new Date(job.createdAt).toISOString(),
      job_id: job.jobId,
      ...(job.kind === 'plan' ? { dry_run: true } : {}),
      status: publicStatus({
        jobId: job.jobId,
        job: 'queued',
        task: 'queued',
        progress: null,
        error: null,
        warnings: job.warnings,
        outputs: [],
        dryRun: job.kind === 'plan',
        estimate: null,
        position: null,
        createdAt: job.createdAt,
        startedAt: null,
        finishedAt: null,
      }),
      warnings: job.warnings,
    },
    200,
    { location: `${baseUrl(c)}/api/v0/job/${job.id}` },
  )
}

/** The same key came before: same request, same answer; another body, or a dry run of it, is refused (I10). */
async function repeated(c: Context<AppEnv>, account: string, key: string, fingerprint: string): Promise<Response> {
  const first = await findIdempotency(c.env.DB, account, key)
  if (first?.fingerprint !== fingerprint) {
    throw new RequestError(
      'idempotency_conflict',
      'This Idempotency-Key was used with another body, or with another dry_run.',
      {
        field: 'Idempotency-Key',
      },
    )
  }
  const job = await findJobByBackendId(c.env.DB, first.job_id)
  if (!job) throw notFound()
  return created(c, {
    id: job.id,
    jobId: job.job_id,
    kind: job.kind,
    config: JSON.parse(job.config) as JobConfig,
    warnings: JSON.parse(first.warnings) as Warning[],
    createdAt: job.created_at,
  })
}

function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new RequestError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
  })
}

function invalidBody(problems: Problem[]): RequestError {
  const [first] = problems
  const more = problems.length - 1
  return new RequestError(
    'invalid_request',
    (first?.message ?? 'The job is not valid.') +
      (more > 0 ? ` (and ${more} more ${more === 1 ? 'problem' : 'problems'}, see details)` : ''),
    { ...(first ? { field: first.field } : {}), details: problems },
  )
}

interface QueryResult {
  success: boolean
  error?: { issues: readonly { path: readonly PropertyKey[]; message: string; keys?: readonly string[] }[] }
}

function refuseQuery(result: QueryResult): void {
  if (result.success) return
  const details = (result.error?.issues ?? []).map((issue) => ({
    code: 'invalid_value',
    field: issue.keys ? issue.keys.join(', ') : issue.path.join('.'),
    message: issue.message,
  }))
  throw new RequestError('invalid_request', `The query is not valid: ${details[0]?.field}: ${details[0]?.message}`, {
    details,
    ...(details[0] ? { field: details[0].field } : {}),
  })
}
