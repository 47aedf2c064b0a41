// In charge of: all outputs of a job in the service's own store as one tar file, at a signed address:
// /a/<expiry>.<signature>/<account>/<job_id>/<name>.tar.
// Not in charge of: its content (tarArchive.ts).
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { Hono, type Context } from 'hono'
import { outputBaseName } from '#contract/job/paths/inputAddress.ts'
import { outputProvider } from '#contract/job/jobConfig.ts'
import { measureArchive, streamArchive } from './tarArchive.ts'
import type { AppEnv } from '../http/context.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { contentRange, parseRange } from '../util/byteRange.ts'
import { displayInputName } from '../db/searchText.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'
import { crossOriginHeaders } from './objectRoutes.ts'

const signedText = (account: string, jobId: string, name: string, expiry: string): string =>
  JSON.stringify([account, jobId, name, expiry])

function hasArchive(job: Job): boolean {
  return (
    job.state === 'completed' &&
    job.kind === 'transcode' &&
    job.outputs !== null &&
    job.deleted_at === null &&
    outputProvider(job.config) === 'vendor-store'
  )
}

/** Null if the outputs are not complete, or in another store. `until` in milliseconds since 1970. */
export async function signedArchiveUrl(env: Env, job: Job, base: string, until: number): Promise<string | null> {
  if (!hasArchive(job)) return null
  const name = `${outputBaseName(job.input_name ?? displayInputName(job.config, null))}.tar`
  const expiry = String(Math.floor(until / 1000))
  const signature = await hmacSign(env, 'archive', signedText(job.account, job.job_id, name, expiry))
  return `${base}/a/${expiry}.${signature}/${[job.account, job.job_id, name].map(encodeURIComponent).join('/')}`
}

/** Gives the same result for a forged, an expired and a malformed signature. */
async function verifyGrant(c: Context<AppEnv>, account: string, jobId: string, name: string): Promise<boolean> {
  const [, expiry, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(c.req.param('grant') ?? '') ?? []
  if (!expiry || !signature || Number(expiry) * 1000 <= Date.now()) return false
  return hmacVerify(c.env, 'archive', signedText(account, jobId, name, expiry), signature)
}

export const archiveRoutes = new Hono<AppEnv>().get('/:grant/:account/:job/:name', async (c) => {
  const { account, job: jobId, name } = c.req.param()
  if (!(await verifyGrant(c, account, jobId, name))) {
    throw new RequestError('forbidden', 'This address is invalid or has expired. Read the job again for a new one.', {
      headers: crossOriginHeaders,
    })
  }
  const job = await findJobByJobId(c.env.DB, jobId)
  if (job === null || !hasArchive(job)) throw archiveGone()
  const archived = {
    account,
    jobId,
    attemptDirectory: attemptDirectory(job.job_id, job.attempt),
    directory: name.replace(/\.tar$/, ''),
    finishedAt: job.finished_at ?? 0,
  }
  const measured = await measureArchive(c.env, archived)
  if (measured === null) throw archiveGone()
  const { size, etag } = measured
  const headers = new Headers({
    ...crossOriginHeaders,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': `attachment; filename="${name}"`,
    'content-type': 'application/x-tar',
    'x-content-type-options': 'nosniff',
    etag,
  })
  if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers })
  // RFC 9110 §13.1.5, §14.2: an interrupted download continues where it stopped if the archive is still the same.
  const isRanged = c.req.method === 'GET' && (c.req.header('if-range') ?? etag) === etag
  const range = isRanged ? parseRange(c.req.header('range'), size) : 'whole'
  if (range === 'unsatisfiable') {
    throw new RequestError('range_not_satisfiable', `The archive has ${size} bytes.`, {
      headers: { ...crossOriginHeaders, 'content-range': contentRange(null, size) },
    })
  }
  const span = range === 'whole' ? { offset: 0, length: size } : range
  headers.set('content-length', String(span.length))
  if (range !== 'whole') headers.set('content-range', contentRange(span, size))
  const body = c.req.method === 'HEAD' ? null : streamArchive(c.env, archived, span)
  return new Response(body, { status: range === 'whole' ? 200 : 206, headers })
})

function archiveGone(): RequestError {
  return new RequestError('not_found', notFound().message, { headers: crossOriginHeaders })
}
