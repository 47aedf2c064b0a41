// In charge of: collecting the data of a status: from D1 for a finished job, from D1 and the monitor for a running one.
// Not in charge of: its form (contract/api/publicStatus.ts).
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { log } from '../log.ts'
import { outputProvider } from '#contract/job/jobConfig.ts'
import { allowedOutputsOf } from '#contract/task/allowedOutputs.ts'
import type { Poster, PublicOutput, PublicStatus } from '#contract/api/status.ts'
import { isSurveying } from '#contract/task/lifecycle.ts'
import { listPartStates } from '../db/parts.ts'
import { publicStatus } from '#contract/api/publicStatus.ts'
import { jobMonitor } from '../scheduler/applyEvent.ts'
import type { Job, StoredOutput } from '../db/jobs.ts'
import { signedArchiveUrl } from '../delivery/archiveRoutes.ts'
import { signedObjectUrl } from '../delivery/objectRoutes.ts'
import { sourceBaseName } from '../taskApi/putOutput.ts'
import { outputsExpireAt, signedPosterUrl } from '../delivery/posterRoutes.ts'
import { displayInputName } from '../db/searchText.ts'
import { openJobSink } from '../storage/jobStores.ts'

interface UrlOptions {
  /** Milliseconds since 1970. */
  expiresAtMs: number
  /** For the holder of a share instead of the owner of the job. */
  isShared: boolean
  /** For an entry of a list: no credentials are unsealed for URLs in other stores. */
  isListed?: boolean
}

/**
 * `position` is set only when a single job is read; lists do not count it. Signed URLs are valid until their objects
 * are deleted, unless `terms` has another time.
 */
export async function buildStatus(
  env: Env,
  job: Job & { position?: number | null },
  base: string,
  terms: UrlOptions = { expiresAtMs: outputsExpireAt(env, job), isShared: false },
): Promise<PublicStatus> {
  const running = job.task_state === 'running' || job.task_state === 'divided' || job.task_state === 'committing'
  const [live, parts, outputs, poster, archiveUrl] = await Promise.all([
    running || (job.attempt > 0 && job.finished_at === null) ? jobMonitor(env, job.job_id).progress() : null,
    job.parts > job.survey_parts && terms.isListed !== true ? listPartStates(env.DB, job.task) : null,
    outputUrls(env, job, base, terms),
    posterLink(env, job, base, terms.expiresAtMs),
    terms.isShared ? null : signedArchiveUrl(env, job, base, terms.expiresAtMs),
  ])
  return publicStatus({
    jobId: job.job_id,
    job: job.state,
    task: job.task_state,
    progress: live ?? job.progress,
    error: job.error,
    warnings: job.warnings,
    outputs,
    dryRun: job.kind === 'plan',
    estimate: job.estimate,
    source: job.source,
    poster,
    archiveUrl,
    retryOf: job.retry_of,
    inputName: job.input_name ?? displayInputName(job.config, null),
    position: job.position ?? null,
    parts: parts && parts.slice(job.survey_parts).map(({ state }) => state),
    isDivided: job.parts > 0,
    surveying: isSurveying(job),
    startsFailed: job.starts_failed,
    startFailure: job.start_failure,
    notBefore: job.not_before,
    // Shown only during the retry delay. Afterwards the job waits for a transcoder like any other.
    lastLostError: job.not_before <= Date.now() ? null : job.lost_to,
    createdAt: job.created_at,
    startedAt: job.started_at,
    finishedAt: job.finished_at,
  })
}

async function posterLink(env: Env, job: Job, base: string, until: number): Promise<Poster | null> {
  if (job.poster === null) return null
  const { attempt, width, height } = job.poster
  return { url: await signedPosterUrl(env, base, { jobId: job.job_id, attempt }, until), width, height }
}

/**
 * URLs of outputs in a customer's store; null for outputs without one. Only for paths that the job may write: the row
 * cannot make its credentials open anything else.
 */
async function externalOutputUrls(
  env: Env,
  job: Job,
  outputs: readonly StoredOutput[],
): Promise<ReadonlyMap<string, string>> {
  if (job.sealed === null || outputs.length === 0) return new Map()
  try {
    const sink = await openJobSink(env, job.job_id, job)
    if (!sink?.presignedUrl) return new Map()
    const { config } = job
    const places = allowedOutputsOf(config, sourceBaseName(job), attemptDirectory(job.job_id, job.attempt))
    const own = outputs.filter(({ path }) => UPLOAD_METHODS.some((sent) => places.violation(sent, path) === null))
    const made = await Promise.all(own.map(async ({ path }) => [path, await sink.presignedUrl?.(path)] as const))
    return new Map(made.flatMap(([path, url]) => (url ? [[path, url]] : [])))
  } catch (error) {
    // A job can be read even if its credentials cannot be unsealed.
    const cause = String(error)
    log.warn('no addresses of outputs', { job: job.job_id, error: cause })
    return new Map()
  }
}

const UPLOAD_METHODS = ['put', 'parts', 'written'] as const

/** Signed again at every read. */
async function outputUrls(env: Env, job: Job, base: string, terms: UrlOptions): Promise<PublicOutput[]> {
  if (job.outputs === null) return []
  const { account, job_id: jobId } = job
  const grant = {
    expiresAt: terms.expiresAtMs / 1000,
    scope: terms.isShared ? ('shared' as const) : ('object' as const),
  }
  const stored = job.outputs
  const isOwn = outputProvider(job.config) === 'vendor-store'
  const none = isOwn || terms.isShared || terms.isListed === true
  const elsewhere = none ? new Map<string, string>() : await externalOutputUrls(env, job, stored)
  const urlOf = async (path: string): Promise<string | null> =>
    isOwn ? signedObjectUrl(env, base, { account, jobId, path }, grant) : (elsewhere.get(path) ?? null)
  return Promise.all(
    stored.map(async (output) => ({
      path: output.path,
      url: await urlOf(output.path),
      location: output.location,
      size: output.size,
      sha256: output.sha256,
      content_type: output.content_type,
      profile: output.profile,
      role: output.role,
      ...(output.segments ? { segments: output.segments } : {}),
      media: output.media ?? null,
    })),
  )
}
