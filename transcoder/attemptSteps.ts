// In charge of: which steps an attempt takes, by its task.
// Not in charge of: the steps, what surrounds them and the report of their result (runTask.ts).
import type { EstimatePost, FinishPost, RunRequest, TaskDescription } from '#contract/task/protocol.ts'
import type { Attempt } from './attempt.ts'
import { UnlikeChunks } from './division/unlikeChunks.ts'
import { estimateJob } from './plan/estimate/estimateJob.ts'
import { joinedMedia } from './plan/join/planJoin.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { joinParts } from './division/joinParts.ts'
import { divideSurveyed } from './division/survey.ts'
import { makePart } from './division/makePart.ts'
import { divided, dividedAfterAll, partsOfJob, type Divided } from './division/divideJob.ts'
import { undividedPlan } from './division/dividedPlan.ts'
import { divisionReports } from './division/plan/divisionReports.ts'
import { withStoredSubtitles } from './division/drawnSubtitles.ts'
import type { AttemptResult } from './pipeline/reportResult.ts'
import { readDrawnCaptions } from './pipeline/burnIn/drawnCaptions.ts'
import { LOG_MS } from './pipeline/reportFailure.ts'
import { openTask, type OpenTask, type Surroundings } from './pipeline/openTask.ts'
import { readSourceCues, reportSource, surveyAndPlan, type Surveyed } from './pipeline/surveyAndPlan.ts'
import { hasStoredPlan, requireMatchingTask, storedPlanFor, storePlan } from './pipeline/taskPlan.ts'
import { requireOutputSpace, transcode } from './pipeline/transcode.ts'
import { transcodeResult } from './pipeline/transcodeResult.ts'

/**
 * get the task → probe → plan → encode, with uploads in parallel → send the rest → what to commit. A dry run ends with
 * its plan, and so does the first attempt at a job that is divided.
 */
export async function runSteps(
  attempt: Attempt,
  request: RunRequest,
  surroundings: Surroundings,
): Promise<AttemptResult> {
  const { taskRequest, outlook, logSender, timers } = surroundings
  const task = await taskRequest
  requireMatchingTask(task, request)
  logSender.isEnabled = task.accepts?.log === true
  attempt.log.info('task accepted', { job: task.job_id })
  timers.limitAttempt(task.max_attempt_ms)
  if (task.kind === 'plan') outlook?.setEstimator(elapsedAsEstimate())
  if (task.assemble !== undefined) return assembleOrMake(attempt, task, surroundings, task.assemble)
  if (task.surveyed !== undefined)
    return { kind: 'divide', post: await divideSurveyed(attempt, task, surroundings, task.surveyed.parts) }
  if (task.part !== undefined)
    return { kind: 'deliver', post: await makePart(attempt, task, surroundings, task.part.index) }
  const open = await openTask(attempt, task, surroundings)
  if (task.kind === 'plan') return { kind: 'estimate', post: await estimate(open) }
  const made = await planToFollow(open)
  const division = partsOfJob(attempt.log, task, made.plan)
  if (division !== null) return { kind: 'divide', post: division }
  return { kind: 'finish', post: await makeAll(open, made) }
}

/** A plan, with what surveyAndPlan finds beside it. */
type Followed = Omit<Surveyed, 'media' | 'used'>

async function makeAll(open: OpenTask, { hasCaptions, ...followed }: Followed): Promise<FinishPost> {
  const transcoded = await transcode(open, followed)
  // The log is sent while the last uploads end.
  void open.surroundings.logSender.send(LOG_MS)
  return transcodeResult(open, transcoded, hasCaptions)
}

/** Chunks that make no stream together are made again by this attempt, as a job that is not divided. */
async function assembleOrMake(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
  parts: { parts: number; first?: number },
): Promise<AttemptResult> {
  try {
    return { kind: 'finish', post: await joinParts(attempt, task, surroundings, parts) }
  } catch (error) {
    if (!(error instanceof UnlikeChunks)) throw error
    attempt.log.warn('the parts of the job do not fit together', { reason: error.message })
    const plan = undividedPlan(attempt, task, error.message)
    const open = await openTask(attempt, task, surroundings)
    const made = await makeAll(open, await followPlan(open, plan))
    return { kind: 'finish', post: { ...made, undivided: true } }
  }
}

async function estimate(open: OpenTask): Promise<EstimatePost> {
  const { attempt, spec, sizeBytes } = open
  const { media, plan, deadline, cues } = await surveyAndDivide(open)
  await requireOutputSpace(attempt, plan)
  const division = divisionReports(spec, plan, deadline)
  const made = estimateJob(spec, { media, found: cues, sizeBytes }, plan, attempt.settings, division)
  return { estimate: made, warnings: plan.warnings, progress: attempt.progress.snapshot() }
}

/** The plan with its division, if one task is not enough. */
async function surveyAndDivide(open: OpenTask): Promise<Surveyed & Divided> {
  const made = await surveyAndPlan(open)
  return { ...made, ...(await divided(open, made.plan, made.used)) }
}

/** The stored plan if this transcoder can carry it out, else a new one, which is stored. */
async function planToFollow(open: OpenTask): Promise<Followed> {
  const { attempt, task } = open
  const followed = storedPlanFor(attempt, task)
  if (followed === null) {
    const made = await surveyAndDivide(open)
    const plan = await withStoredSubtitles(open, made)
    return { ...made, plan: await storePlan(attempt, plan, hasStoredPlan(task)) }
  }
  const dividedNow = await dividedAfterAll(open, followed)
  if (dividedNow === null) return followPlan(open, followed)
  const made = await followPlan(open, dividedNow)
  return { ...made, plan: await storePlan(attempt, await withStoredSubtitles(open, made), true) }
}

/** What surveyAndPlan finds, if there is a plan. */
async function followPlan(open: OpenTask, followed: Plan): Promise<Followed> {
  const { attempt, surroundings, spec, joined, media, captionFiles } = open
  const cues = await readSourceCues(open)
  // The attempt that stored the plan may have been lost before its report arrived.
  await Promise.all([
    reportSource(open, followed.reads.kind === 'pieces' ? joinedMedia(followed.reads.join) : media, cues),
    surroundings.headStart.end(),
  ])
  const drawn =
    joined === null
      ? await readDrawnCaptions(attempt, { spec, media, files: captionFiles })
      : await joined.readDrawn(followed, captionFiles)
  return { plan: followed, drawn, cues, hasCaptions: spec.inputs === null }
}

/** A dry run has no measurable progress: its remaining time is assumed to equal the time elapsed. */
function elapsedAsEstimate(): () => number {
  const began = performance.now()
  return () => (performance.now() - began) / 1000
}
