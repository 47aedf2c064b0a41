// In charge of: operations of a job's owner on its shares: create, list, revoke.
// Not in charge of: what the holder of a share sees (sharedPageRoutes.ts).
import { outputProvider } from '#contract/job/jobConfig.ts'
import { Hono, type Context } from 'hono'
import type { Share, ShareList } from '#contract/api/answers.ts'
import { newShare } from '#contract/api/requestBodies.ts'
import { MAX_SHARES, SHARE_PASSWORD_LENGTH, SHARE_SECONDS, SHARE_TITLE_LENGTH } from '#contract/limits.ts'
import { embedHtml, displaySizeOf } from '#contract/api/sharedMedia.ts'
import { readOptionalJson } from '../http/jsonBody.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import { findJob, type Job } from '../db/jobs.ts'
import { deleteShare, insertShare, listShares, type ShareRow } from '../db/shares.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { parseFields } from '../http/validationErrors.ts'
import { displayInputName } from '../db/searchText.ts'
import { hashSharePassword, newShareId, createShareToken } from './shareAccess.ts'
import { findOwnJob, jobPath } from '../jobs/jobRoutes.ts'
import { outputsExpireAt } from '../delivery/posterRoutes.ts'

const MAX_SHARE_BYTES = 16 * 1024

const expectations = {
  title: { expects: `a string of 1 to ${SHARE_TITLE_LENGTH} characters without control characters, or left out` },
  expires_in_seconds: {
    expects: `a whole number of seconds from ${SHARE_SECONDS.minimum} to ${SHARE_SECONDS.maximum}, or left out`,
    ...SHARE_SECONDS,
  },
  password: {
    expects: `a string of ${SHARE_PASSWORD_LENGTH.minimum} to ${SHARE_PASSWORD_LENGTH.maximum} characters, or null for none`,
    hidden: true,
  },
}

/** app.ts mounts them after the routes of jobs at the same path, which have authenticated the request. */
export const shareRoutes = new Hono<AppEnv>()
  .get(`${jobPath}/share`, async (c) => listSharesOfJob(c, await findOwnJob(c)))
  .post(`${jobPath}/share`, async (c) => createShare(c, await findOwnJob(c)))
  .delete(`${jobPath}/share/:share`, async (c) => revokeShare(c, await findOwnJob(c)))

async function createShare(c: Context<AppEnv>, job: Job): Promise<Response> {
  const { value } = await readOptionalJson(c, MAX_SHARE_BYTES)
  const parsed = parseFields(newShare, value, expectations)
  const now = Date.now()
  const end = shareableUntil(c.env, job, now)
  const id = newShareId()
  const row: ShareRow = {
    id,
    job: job.id,
    title: parsed.title ?? defaultShareTitle(job),
    created_at: now,
    expires_at: Math.min(now + parsed.expires_in_seconds * 1000, end),
    password_hash: parsed.password === null ? null : await hashSharePassword(id, parsed.password),
  }
  if (!(await insertShare(c.env.DB, row, MAX_SHARES))) {
    if (!(await findJob(c.env.DB, job.account, job.id))) throw notFound()
    throw new RequestError('quota_exceeded', `A job may have ${MAX_SHARES} shares. Revoke one that is not needed.`)
  }
  return c.json(await publicShare(c, job, row))
}

async function listSharesOfJob(c: Context<AppEnv>, job: Job): Promise<Response> {
  const rows = await listShares(c.env.DB, job.id, Date.now(), MAX_SHARES)
  return c.json({ shares: await Promise.all(rows.map((row) => publicShare(c, job, row))) } satisfies ShareList)
}

async function revokeShare(c: Context<AppEnv>, job: Job): Promise<Response> {
  if (!(await deleteShare(c.env.DB, job.id, c.req.param('share') ?? ''))) throw notFound()
  return c.body(null, 204)
}

/**
 * Until when the outputs can be played. @throws RequestError 409 if the job has no outputs that this service could
 * serve
 */
function shareableUntil(env: Env, job: Job, now: number): number {
  const end = outputsExpireAt(env, job)
  const refuse = (message: string) => new RequestError('not_shareable', message)
  if (job.kind === 'plan') throw refuse('A dry run makes no outputs, so there is nothing to share.')
  if (job.state !== 'completed') throw refuse('Only a completed job can be shared.')
  if (outputProvider(job.config) !== 'vendor-store') {
    throw refuse('The outputs are in your own store, not in the service’s. Share their addresses in that store.')
  }
  if (job.outputs === null || end - now < SHARE_SECONDS.minimum * 1000) {
    throw refuse('The outputs of this job have been removed, or will be within a minute.')
  }
  return end
}

/** The source's name without its extension. */
function defaultShareTitle(job: Job): string {
  const name = job.input_name ?? displayInputName(job.config, null)
  const title = name
    .replace(/(.)\.[A-Za-z0-9]{1,5}$/u, '$1')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .slice(0, SHARE_TITLE_LENGTH)
    .toWellFormed()
    .trim()
  return title === '' ? 'Video' : title
}

async function publicShare(c: Context<AppEnv>, job: Job, row: ShareRow): Promise<Share> {
  const url = `${publicBaseUrl(c)}/s/${await createShareToken(c.env, row.id)}`
  return {
    share_id: row.id,
    url,
    embed_url: `${url}/embed`,
    embed_html: embedHtml(`${url}/embed`, row.title, displaySizeOf(job.outputs ?? []) ?? { width: 16, height: 9 }),
    title: row.title,
    has_password: row.password_hash !== null,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
  }
}
