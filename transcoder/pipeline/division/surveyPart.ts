// In charge of: an attempt at a part that surveys the source of a divided job: its share of the rate samples and of the
// audio whose loudness is measured.
// Not in charge of: the search (analysis/rate/surveyRates.ts), what follows from all parts (divideSurveyed.ts).
import type { DeliverPost } from '#contract/task/protocol.ts'
import { expectAudio } from '../../analysis/expectedBytes.ts'
import { measureShare } from '../../analysis/loudness/measureShare.ts'
import { sampleShare } from '../../analysis/rate/surveyRates.ts'
import { rateSampling, surveyedBytes } from '../../analysis/rate/sampleRates.ts'
import { sourceBytes } from '../../analysis/rate/sourceBytes.ts'
import type { SurveyRecord } from '../../division/surveyRecord.ts'
import { READ_THROUGH_NEAR_FLAGS } from '../../ffmpeg/inputAllowlist.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import { loudnessShare, surveyedMixes } from '../../plan/division/loudnessSurvey.ts'
import { firstRoundOf } from '../../plan/division/surveyPlan.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { fileStart } from '../../plan/streams/outputTiming.ts'
import type { OpenTask } from '../openTask.ts'
import { sampleOptions } from '../surveyAndPlan.ts'

/** Of the progress of a part that does both: samples are encoded. */
const SAMPLING_SHARE = 0.75

/** `whole`: the plan of the job, with a survey. */
export async function makeSurveyPart(open: OpenTask, whole: Plan, part: number): Promise<DeliverPost> {
  const { progress, controller } = open.attempt
  progress.setPhase('analyzing')
  const { factors, loudness } = whole.division!.survey!
  const isFirstRound = part < firstRoundOf(whole.division!.survey!)
  const samples = isFirstRound && factors.length > 0
  const sampled = loudness === undefined ? 1 : samples ? SAMPLING_SHARE : 0
  const report = (fraction: number) => progress.onEncoderProgress({ fraction, speed: null })
  const record: SurveyRecord = {
    kind: 'survey',
    ...(samples ? await sampleRates(open, whole, part, (share) => report(share * sampled)) : NO_SAMPLES),
    ...(loudness === undefined
      ? {}
      : { loudness: await measure(open, whole, part, (share) => report(sampled + share * (1 - sampled))) }),
  }
  controller.signal.throwIfAborted()
  progress.onEncodeEnd()
  return { record, warnings: [], progress: progress.snapshot() }
}

type Samples = Pick<SurveyRecord, 'samples' | 'sourceBytes'>
const NO_SAMPLES: Samples = { samples: [], sourceBytes: null }

async function sampleRates(
  open: OpenTask,
  whole: Plan,
  part: number,
  onProgress: (share: number) => void,
): Promise<Samples> {
  const { attempt, probed } = open
  const { engine, loopback, controller } = attempt
  const survey = whole.division!.survey!
  const sampling = rateSampling(engine, encodedSegments(whole), { url: loopback.url, ...sampleOptions(open) })
  if (sampling === null) return NO_SAMPLES
  const { targets, source, encode } = sampling
  const share = { part, parts: firstRoundOf(survey), factors: survey.factors }
  const samples = await sampleShare(targets, source, encode, share, onProgress)
  const bytes =
    part === 0
      ? await surveyedBytes(source, (seconds) =>
          sourceBytes(loopback, probed, { plan: whole, seconds }, controller.signal),
        )
      : null
  return { samples, sourceBytes: bytes }
}

/** A part of the second round tries gains with the limiter. */
async function measure(
  open: OpenTask,
  whole: Plan,
  part: number,
  onProgress: (share: number) => void,
): Promise<SurveyRecord['loudness']> {
  const { attempt, spec, media } = open
  const { engine, loopback, controller } = attempt
  const survey = whole.division!.survey!
  const parts = firstRoundOf(survey)
  const share = loudnessShare(whole, part % parts, parts)
  const branches = surveyedMixes(whole).flatMap(({ stream, mix }, index) => {
    const gains = part < parts ? [null] : (survey.loudness?.tries?.[index] ?? [])
    return gains.map((gainDb) => ({ stream, mix, gainDb }))
  })
  const cut = whole.cut ?? null
  const clock = (fileStart(media) ?? 0) + (cut === null ? 0 : (cut.seekOriginSeconds ?? 0) + cut.startSeconds)
  const end = share.endSeconds ?? whole.durationSeconds ?? Infinity
  const times = { from: clock + share.startSeconds, until: clock + end }
  await expectAudio(loopback, { media, ...times }, controller.signal)
  const { cwd, signal, threads } = sampleOptions(open)
  return measureShare(engine, loopback.url, { spec, media, cut }, share, branches, {
    cwd,
    signal,
    threads,
    flags: READ_THROUGH_NEAR_FLAGS,
    onSeconds: (seconds) => onProgress(Math.min(1, seconds / Math.max(1, end - share.startSeconds))),
  })
}
