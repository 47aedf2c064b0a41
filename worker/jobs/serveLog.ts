// In charge of: `GET /api/v0/job/<id>/log`: the transcoder's log, as JSON or as text.
// Not in charge of: receiving it and removing secrets from it (taskApi/receiveReports.ts).
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { JobLog } from '#contract/api/answers.ts'
import { MAX_LOGS } from '#contract/task/reportSchemas.ts'
import { inMapOrder } from '#contract/task/partPositions.ts'
import { MAIN_TASK, partTaskNumber } from '#contract/taskId.ts'
import { logPrefix } from '../storage/objectKeys.ts'
import type { AppEnv } from '../http/context.ts'
import { RequestError } from '../http/requestError.ts'
import type { Job } from '../db/jobs.ts'

/** The log of a running attempt still changes. */
const headers = { 'cache-control': 'no-store', vary: 'Accept' }

/**
 * `part`: a position in `status.chunks.map`, from 0; null = the job's main task.
 * @throws RequestError the job has no such part
 */
export async function serveLog(c: Context<AppEnv>, job: Job, part: string | null): Promise<Response> {
  const log = await readLog(c.env, job.job_id, part === null ? MAIN_TASK : taskOfPart(job, Number(part)))
  const supports = ['application/json', 'text/plain']
  const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
  return type === 'text/plain' ? c.text(asText(log), 200, headers) : c.json(log satisfies JobLog, 200, headers)
}

function taskOfPart(job: Job, part: number): number {
  const { parts, survey_parts: first } = job
  const numbers = Array.from({ length: Math.max(0, parts - first) }, (_, index) => partTaskNumber(first + index))
  const number = inMapOrder(numbers)[part]
  if (number !== undefined) return number
  const known = numbers.length === 0 ? 'the job has no parts' : `the job has the parts 0 to ${numbers.length - 1}`
  throw new RequestError('not_found', `There is no part ${part}: ${known}.`, { field: 'part' })
}

async function readLog(env: Env, jobId: string, task: number): Promise<JobLog> {
  const { objects } = await env.BUCKET.list({ prefix: logPrefix(jobId, task), limit: 1000 })
  const kept = await Promise.all(objects.slice(-MAX_LOGS).map(({ key }) => env.BUCKET.get(key)))
  // A log that was deleted between the two requests is left out.
  const found = kept.filter((object) => object !== null)
  return { attempts: await Promise.all(found.map((object) => object.json<JobLog['attempts'][number]>())) }
}

function asText({ attempts }: JobLog): string {
  return attempts.map((each) => `${attemptText(each).join('\n')}\n`).join('\n')
}

function attemptText({ attempt, engine, commands, lines }: JobLog['attempts'][number]): string[] {
  return [
    `Attempt ${attempt}${engine === null ? '' : ` (ffmpeg ${engine})`}`,
    ...commands.flatMap(({ purpose, command, seconds, exit_code: code }) => [
      `# ${purpose}: ${seconds.toFixed(1)} s, ${code === null ? 'no exit code' : `exit code ${code}`}`,
      command,
    ]),
    ...lines.map(({ time, level, message }) => `${time} ${level.padEnd(5)} ${message}`),
  ]
}
