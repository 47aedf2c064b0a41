// In charge of: an attempt at a part that surveys the source of a divided job: its share of the rate samples.
// Not in charge of: the search (division/rates/surveyRates.ts), what follows from all parts (divideSurveyed.ts).
import type { DeliverPost } from '#contract/task/protocol.ts'
import { sampleShare } from './rates/surveyRates.ts'
import { rateSampling, surveyedBytes } from './rates/sampleRates.ts'
import { sourceBytes } from './rates/sourceBytes.ts'
import type { SurveyRecord } from './surveyRecord.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { OpenTask } from '../pipeline/openTask.ts'
import { sampleOptions } from './divideJob.ts'

/** `whole`: the plan of the job, with a survey. */
export async function makeSurveyPart(open: OpenTask, whole: Plan, part: number): Promise<DeliverPost> {
  const { progress, controller } = open.attempt
  progress.setPhase('sampling')
  const record: SurveyRecord = { kind: 'survey', ...(await sampleRates(open, whole, part)) }
  controller.signal.throwIfAborted()
  progress.onEncodeEnd()
  return { record, warnings: [], progress: progress.snapshot() }
}

async function sampleRates(
  open: OpenTask,
  whole: Plan,
  part: number,
): Promise<Pick<SurveyRecord, 'samples' | 'sourceBytes'>> {
  const { attempt, probed } = open
  const { engine, loopback, progress, controller } = attempt
  const { parts, factors } = whole.division!.survey!
  const sampling = rateSampling(engine, encodedSegments(whole), { url: loopback.url, ...sampleOptions(open) })
  if (sampling === null) return { samples: [], sourceBytes: null }
  const { targets, source, encode } = sampling
  const samples = await sampleShare(targets, source, encode, { part, parts, factors }, (fraction) =>
    progress.onEncoderProgress({ fraction, speed: null }),
  )
  const bytes =
    part === 0
      ? await surveyedBytes(source, (seconds) =>
          sourceBytes(loopback, probed, { plan: whole, seconds }, controller.signal),
        )
      : null
  return { samples, sourceBytes: bytes }
}
