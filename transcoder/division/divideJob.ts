// In charge of: whether an attempt at a main task hands its job on to parts: the division in its plan, which follows from
// the plan, the source and what the service accepts, and how the rate of its chunks is found.
// Not in charge of: where chunks begin, and which jobs have none (division/plan/), the parts (makePart.ts).
import { PARTS_SHARE, samplingShare, type DividePost, type TaskDescription } from '#contract/task/protocol.ts'
import { findHindrance, withChunkSeek } from './chunkPlace.ts'
import type { SampleOptions } from './rates/encodePlace.ts'
import { roughFactors, withRateFactors } from './rates/sampleRates.ts'
import { sourceBytes } from './rates/sourceBytes.ts'
import type { Log } from '../log.ts'
import { checkDeadline, deadlineWarning, type DeadlineCheck } from './plan/deadlineCheck.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import type { DivisionAbilities } from './plan/planDivision.ts'
import { samplingSeconds } from './plan/samplingCost.ts'
import { surveyParts } from './plan/surveyPlan.ts'
import { withDivision } from './plan/withDivision.ts'
import { predictTime } from '../plan/estimate/costModel.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { applyCut } from '../plan/streams/cut.ts'
import { writeCaptionCarriers } from '../pipeline/captionTracks.ts'
import { isSeekable, type OpenTask } from '../pipeline/openTask.ts'

export interface Divided {
  plan: Plan
  /** null = the client named no end time, or it cannot be predicted whether the job meets it. */
  deadline: DeadlineCheck | null
}

/** The plan as it is, if one task makes the job. `used`: the source that it was made for. */
export async function divided(open: OpenTask, plan: Plan, used: MediaInfo): Promise<Divided> {
  const { attempt, task, spec, media } = open
  const { loopback, controller } = attempt
  const before = await abilitiesOf(open)
  const wished = withDivision(spec, plan, used, before)
  const hindrance = await findHindrance(loopback, encodedSegments(wished), { spec, media }, controller.signal)
  const abilities = { ...before, hindrance }
  const made = hindrance === null ? wished : withDivision(spec, plan, used, abilities)
  const deadline = checkDeadline(spec, made, used, abilities)
  const unlikely = deadline === null ? null : deadlineWarning(deadline)
  const planned = unlikely === null ? made : { ...made, warnings: [...made.warnings, unlikely] }
  // A dry run samples nothing: it takes minutes, and nothing in the estimate follows from it.
  if (planned.division == null || task.kind === 'plan') return { plan: planned, deadline }
  const { vcpus } = attempt.settings.machine
  const division = {
    ...planned.division,
    seconds: predictTime(planned, used, vcpus)?.wall.likely,
    samplingSeconds: samplingSeconds(encodedSegments(planned), used, vcpus),
    source: await loopback.version(),
  }
  return { plan: await withSurveyOrRates(open, { ...planned, division }), deadline }
}

/**
 * A job that one task was to make, and that is divided now: a transcoder was lost since it was planned. Nothing of what
 * earlier attempts encoded is used. null = it is still made by one task.
 */
export async function dividedAfterAll(open: OpenTask, plan: Plan): Promise<Plan | null> {
  const { media, timeline } = open
  if (plan.division != null || plan.reads.kind === 'pieces') return null
  const used = applyCut(media, timeline, plan.cut == null ? null : { ...plan.cut, endsAfterSource: false })
  const { plan: planned } = await divided(open, plan, used)
  return planned.division == null ? null : planned
}

async function abilitiesOf(open: OpenTask): Promise<DivisionAbilities> {
  const { attempt, task, joined } = open
  const { accepts, deadline, max_attempt_ms: maxAttemptMs, slots = 1, free_slots: freeSlots = 1 } = task
  return {
    // A joined source has no bytes of its own, and each part would have to copy what is read in order.
    seekable: joined === null && !attempt.loopback.isCopied && (await isSeekable(open)),
    maxParts: accepts?.parts ?? null,
    automatic: {
      aboveSeconds: accepts?.divide_above_seconds ?? Number.POSITIVE_INFINITY,
      vcpus: attempt.settings.machine.vcpus,
      maxAttemptSeconds: maxAttemptMs / 1000,
      slots,
      freeSlots,
      deadline: deadline === undefined ? null : { secondsLeft: deadline.seconds_left, slots: deadline.slots },
    },
  }
}

async function withSurveyOrRates(open: OpenTask, plan: Plan): Promise<Plan> {
  const { attempt, probed } = open
  const { engine, controller, loopback, log, progress } = attempt
  const sampling = { url: loopback.url, ...sampleOptions(open) }
  const encoded = encodedSegments(plan)
  const division = plan.division!
  const seconds = division.samplingSeconds ?? 0
  if (seconds > 0) progress.setPhase('sampling')
  const parts = surveyParts(seconds)
  if (parts !== null) {
    const factors = await roughFactors(engine, encoded, sampling)
    return factors === null ? plan : { ...plan, division: { ...division, survey: { parts, factors } } }
  }
  const made = await withRateFactors(engine, encoded, {
    ...sampling,
    log,
    onProgress: (share) => progress.startAt(PARTS_SHARE * samplingShare(division) * share),
    sourceBytes: (length) => sourceBytes(loopback, probed, { plan, seconds: length }, controller.signal),
  })
  return { ...plan, division: made.division }
}

/** How samples are encoded: as chunks are. */
export function sampleOptions({ attempt, spec, media, captionFiles }: OpenTask): SampleOptions {
  const { workspace, controller, settings, loopback } = attempt
  return {
    locate: (sample) => withChunkSeek(loopback, sample, { spec, media }, controller.signal),
    // Their bytes are a part of the bitrate.
    carriers: (sample) => writeCaptionCarriers(sample, { spec, files: captionFiles, ofSource: null }, workspace),
    cwd: workspace.cwd,
    signal: controller.signal,
    threads: settings.threads,
    cores: settings.machine.vcpus,
  }
}

/** The parts of a survey, if the plan has one; otherwise the chunks and the rest. null = this attempt makes the whole job. */
export function partsOfJob(log: Log, { accepts }: TaskDescription, { division }: Plan): DividePost | null {
  if (division == null) return null
  const parts = division.chunks.length + 1
  if (parts <= (accepts?.parts ?? 0))
    return division.survey === undefined ? { parts } : { parts: division.survey.parts, survey: true }
  // Its division is stored by a transcoder that saw another version of the service.
  log.info('the job is not divided: the service does not accept its parts', { parts })
  return null
}
