// In charge of: an attempt at a part that surveys the source of a divided job: its share of the rate samples.
// Not in charge of: the search (analysis/rate/surveyRates.ts), what follows from all parts (divideSurveyed.ts).
import type { DeliverPost } from '#contract/task/protocol.ts'
import { sampleShare } from '../../analysis/rate/surveyRates.ts'
import { rateSampling, surveyedBytes } from '../../analysis/rate/sampleRates.ts'
import { sourceBytes } from '../../analysis/rate/sourceBytes.ts'
import type { SurveyRecord } from '../../division/surveyRecord.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { OpenTask } from '../openTask.ts'
import { sampleOptions } from '../surveyAndPlan.ts'

/** `whole`: the plan of the job, with a survey. */
export async function makeSurveyPart({ attempt, probed }: OpenTask, whole: Plan, part: number): Promise<DeliverPost> {
  const { engine, progress, loopback, controller } = attempt
  progress.setPhase('analyzing')
  const survey = whole.division!.survey!
  const sampling = rateSampling(engine, encodedSegments(whole), { url: loopback.url, ...sampleOptions(attempt) })
  const record: SurveyRecord = { kind: 'survey', samples: [], sourceBytes: null }
  if (sampling !== null) {
    const { targets, source, encode } = sampling
    record.samples = await sampleShare(targets, source, encode, { part, ...survey }, (fraction) =>
      progress.onEncoderProgress({ fraction, speed: null }),
    )
    if (part === 0)
      record.sourceBytes = await surveyedBytes(source, (seconds) =>
        sourceBytes(loopback, probed, { plan: whole, seconds }, controller.signal),
      )
  }
  controller.signal.throwIfAborted()
  progress.onEncodeEnd()
  return { record, warnings: [], progress: progress.snapshot() }
}
