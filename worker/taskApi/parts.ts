// In charge of: divided jobs in the task API: dividing, what a part delivers, its record for the attempt that puts the
// parts together. Records are in the service's own store until the job has ended.
// Not in charge of: state transitions (contract/task/lifecycle.ts), the rows of parts (db/parts.ts), the content of a
// record, which only transcoders know, removing records with the others of the job (monitor/commitOutputs.ts).
import type { Context } from 'hono'
import {
  deliverPostSchema,
  dividePostSchema,
  HEARTBEAT_MS,
  MAX_PART_RECORD_BYTES,
  PART_HEARTBEAT_MS,
  type TaskDescription,
} from '#contract/task/protocol.ts'
import { divisionAbilities, isPlanning } from '#contract/task/divisionAbilities.ts'
import { isSurveying, terminal } from '#contract/task/lifecycle.ts'
import { MAIN_TASK, parseTaskId, partOf, taskIdOf } from '#contract/taskId.ts'
import { findStoredAttempt } from '../db/parts.ts'
import type { Job } from '../db/jobs.ts'
import { settings } from '../env.ts'
import { findPlan, findTask, type TaskRow } from '../db/tasks.ts'
import { readJson } from '../http/jsonBody.ts'
import { notFound, RequestError, staleAttempt } from '../http/requestError.ts'
import { applyEvent, taskMonitor } from '../scheduler/applyEvent.ts'
import { addWarnings } from './addWarnings.ts'
import { parseMessage } from './parseMessage.ts'
import type { TaskEnv } from './taskContext.ts'

const HEARTBEATS_OF_A_LEASE = 4
/**
 * Threshold for a job that has lost a transcoder: hosts here may not last as long as the job. A job below it ends within
 * LONG_ATTEMPT_MS, even with the slowest transcoder that the prediction allows for.
 */
const DIVIDE_LOST_ABOVE_SECONDS = 60

/** Only the main task may decide and report for the whole job: a part would replace it. @throws RequestError */
export function requireMainTask(c: Context<TaskEnv>): void {
  if (partOf(parseTaskId(c.get('task')).number) !== null)
    throw new RequestError('forbidden', 'Only the main task of a job may do this.')
}

/** Only parts leave records for other tasks. @throws RequestError */
export function requirePart(c: Context<TaskEnv>): void {
  if (partOf(parseTaskId(c.get('task')).number) === null)
    throw new RequestError('forbidden', 'Only a part of a divided job may do this.')
}

/** The plan of a divided job is stored with its main task. */
export async function planOf(db: D1Database, task: TaskRow): Promise<string | null> {
  return findPlan(db, task.main ?? task.id)
}

/** What an attempt at a divided job has to do; empty for every other attempt. */
export function describeDivision(
  env: Env,
  task: TaskRow,
): Pick<TaskDescription, 'part' | 'surveyed' | 'assemble' | 'heartbeat_ms'> {
  if (task.part !== null) {
    // Several heartbeats fit into a lease.
    const heartbeatMs = Math.min(PART_HEARTBEAT_MS, settings(env).leaseMs / HEARTBEATS_OF_A_LEASE)
    return { part: { index: task.part }, heartbeat_ms: Math.max(HEARTBEAT_MS, heartbeatMs) }
  }
  if (task.parts === 0) return {}
  if (isSurveying(task)) return { surveyed: { parts: task.parts } }
  const first = task.survey_parts
  return { assemble: { parts: task.parts - first, ...(first === 0 ? {} : { first }) } }
}

/**
 * The main task reports the source: a part would replace it. The log of a part that only surveys would have no place in
 * `status.chunks.map`, by which it is asked for.
 */
export function acceptedReports(env: Env, job: Job, task: TaskRow): NonNullable<TaskDescription['accepts']> {
  const isMain = task.main === null
  return {
    source: isMain && job.source === null,
    preview: isMain && job.config.preview !== false && job.poster === null,
    log: task.part === null || task.part >= job.survey_parts,
    subtitles: true,
    ...divisionAbilities(task),
    ...(isPlanning(task) ? automaticDivision(env, task) : {}),
  }
}

function automaticDivision(env: Env, { furthest }: TaskRow): { divide_above_seconds?: number } {
  const { divideAboveSeconds: above } = settings(env)
  if (above === null) return {}
  return { divide_above_seconds: furthest === null ? above : Math.min(above, DIVIDE_LOST_ABOVE_SECONDS) }
}

/** `POST /task/:id/divide`. Repeated without effect. */
export async function divideJob(c: Context<TaskEnv>): Promise<Response> {
  requireMainTask(c)
  const { attempt, task: id, jobId } = c.var
  const { value } = await readJson(c as never, 1024)
  const { parts, survey = false } = parseMessage(dividePostSchema, value)
  const before = await findTask(c.env.DB, id)
  if (before?.attempt !== attempt) throw staleAttempt()
  if (before.kind === 'plan') throw new RequestError('invalid_request', 'A dry run is not divided.')
  if (before.has_plan === 0) throw new RequestError('invalid_request', 'A job is divided after its plan was stored.')
  const { used } = await taskMonitor(c.env, id).attemptFigures(attempt)
  const result = await applyEvent(c.env, { id, jobId }, { type: 'divide', attempt, parts, survey }, used)
  if (result.ok || result.refusal === 'same') return c.json({ state: 'divided' })
  const now = result.task
  if (now?.attempt !== attempt || (now.state !== 'running' && now.state !== 'divided')) throw staleAttempt()
  // The attempt is current, so "stop" would be the wrong answer.
  throw new RequestError(
    'conflict',
    `The job has ${now.parts} parts, ${now.survey_parts} of a survey: it cannot be divided into ${parts}${survey ? ' of a survey' : ''}.`,
  )
}

/** @throws RequestError */
function encodeRecord(record: object): string {
  let text = ''
  try {
    text = JSON.stringify(record)
  } catch {
    // V8 parses what it cannot write: each level needs a frame of the stack.
    throw new RequestError('invalid_request', 'record: It has too many levels.')
  }
  // It may be longer than the text that was sent: numbers may have had exponents.
  if (new TextEncoder().encode(text).byteLength > MAX_PART_RECORD_BYTES)
    throw new RequestError('too_large', `A record may have at most ${MAX_PART_RECORD_BYTES} bytes.`)
  return text
}

/** `POST /task/:id/deliver`. Repeated without effect. */
export async function deliverPart(c: Context<TaskEnv>): Promise<Response> {
  requirePart(c)
  const { attempt, task: id, jobId } = c.var
  const { value } = await readJson(c as never, MAX_PART_RECORD_BYTES)
  const { record, warnings, progress } = parseMessage(deliverPostSchema, value)
  const text = encodeRecord(record)
  const part = await findTask(c.env.DB, id)
  if (part?.attempt !== attempt || part.part === null) throw staleAttempt()
  const monitor = taskMonitor(c.env, id)
  // The request that delivered the part may have died before it told the monitor.
  const stored = async (): Promise<Response> => {
    await monitor.attemptDelivered(attempt)
    return c.json({ state: 'completed' })
  }
  if (part.state === 'completed') return stored()
  // The monitor of the part may not know yet that the attempt was lost, or that the job has ended.
  if (part.state !== 'running') throw staleAttempt()
  if ((await monitor.heartbeat(attempt, progress)) !== 'continue') {
    // The request may have been sent twice, and the other copy may have delivered the part meanwhile.
    const now = await findTask(c.env.DB, id)
    if (now?.attempt !== attempt || now.state !== 'completed') throw staleAttempt()
    return stored()
  }
  await partRecords.store(c.env, jobId, part.part, attempt, text)
  await addWarnings(c.env, jobId, warnings)
  const used = { cpuSeconds: progress.cpu_seconds, bytesRead: progress.bytes_read }
  const result = await applyEvent(c.env, { id, jobId }, { type: 'delivered', attempt }, used)
  const isCurrent = result.ok || result.refusal === 'same'
  // The job may have ended before the record was stored, and its records were removed: its parts hear of it later, and a
  // request may be repeated.
  const main = await findTask(c.env.DB, part.main ?? id)
  if (!isCurrent || main === null || terminal[main.state]) await partRecords.remove(c.env, jobId, part.part, attempt)
  if (!isCurrent) throw staleAttempt()
  return stored()
}

/** `GET /task/:id/parts/:index`, for any attempt of the job: 404 until the part is stored. */
export async function servePartRecord(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  if ((await taskMonitor(c.env, id).attemptState(attempt)) !== 'current') throw staleAttempt()
  const index = Number(c.req.param('index'))
  const stored = await findStoredAttempt(c.env.DB, taskIdOf(jobId, MAIN_TASK), index)
  if (stored === null) throw notFound()
  const record = await partRecords.open(c.env, jobId, index, stored)
  if (record === null) throw notFound()
  return new Response(record.body, { headers: { 'content-type': 'application/json' } })
}

function partRecordKey(jobId: string, index: number, attempt: number): string {
  return `work/${jobId}/part-${index}-${attempt}.json`
}

export const partRecords = {
  async store(env: Env, jobId: string, index: number, attempt: number, json: string): Promise<void> {
    const metadata = { httpMetadata: { contentType: 'application/json' } }
    await env.BUCKET.put(partRecordKey(jobId, index, attempt), json, metadata)
  },

  async remove(env: Env, jobId: string, index: number, attempt: number): Promise<void> {
    await env.BUCKET.delete(partRecordKey(jobId, index, attempt))
  },

  async open(env: Env, jobId: string, index: number, attempt: number): Promise<R2ObjectBody | null> {
    return env.BUCKET.get(partRecordKey(jobId, index, attempt))
  },
}
