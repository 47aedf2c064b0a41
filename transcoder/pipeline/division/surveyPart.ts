// In charge of: an attempt at a part that surveys the source of a divided job: its share of the rate samples, of the audio
// whose loudness is measured, and of the bytes in which cues are found.
// Not in charge of: the search (analysis/rate/surveyRates.ts), what follows from all parts (divideSurveyed.ts).
import type { DeliverPost } from '#contract/task/protocol.ts'
import { expectAudio } from '../../analysis/expectedBytes.ts'
import { measureShare, RUN_IN_SECONDS } from '../../analysis/loudness/measureShare.ts'
import { locateShare } from '../../analysis/loudness/stampedShare.ts'
import { sampleShare } from '../../analysis/rate/surveyRates.ts'
import { rateSampling, surveyedBytes } from '../../analysis/rate/sampleRates.ts'
import { sourceBytes } from '../../analysis/rate/sourceBytes.ts'
import { traceCues } from '../../analysis/traceCues.ts'
import { encodeTrace } from '../../division/cueRecord.ts'
import type { SurveyRecord } from '../../division/surveyRecord.ts'
import { READ_THROUGH_FLAGS } from '../../ffmpeg/inputAllowlist.ts'
import { cueShare } from '../../plan/division/cueSurvey.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import { loudnessShare, surveyedMixes } from '../../plan/division/loudnessSurvey.ts'
import { isSoughtTransport } from '../../plan/division/soughtTransport.ts'
import { firstRoundOf } from '../../plan/division/surveyPlan.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { fileStart } from '../../plan/streams/outputTiming.ts'
import type { OpenTask } from '../openTask.ts'
import { programOf } from '../sourceCues.ts'
import { sampleOptions } from '../surveyAndPlan.ts'

/** Shares of the progress of a part that does them all: samples are encoded, audio is decoded. */
const WEIGHTS = { samples: 6, loudness: 2, cues: 1 }
type Work = keyof typeof WEIGHTS

/** `whole`: the plan of the job, with a survey. */
export async function makeSurveyPart(open: OpenTask, whole: Plan, part: number): Promise<DeliverPost> {
  const { progress, controller } = open.attempt
  progress.setPhase('analyzing')
  const survey = whole.division!.survey!
  const isFirstRound = part < firstRoundOf(survey)
  const asked = {
    samples: isFirstRound && survey.factors.length > 0,
    loudness: survey.loudness !== undefined,
    cues: isFirstRound && survey.cues !== undefined,
  }
  const report = reporter(asked, (fraction) => progress.onEncoderProgress({ fraction, speed: null }))
  const samples = asked.samples ? await sampleRates(open, whole, part, report.samples) : NO_SAMPLES
  const record: SurveyRecord = {
    kind: 'survey',
    ...samples,
    ...(asked.loudness ? { loudness: await measure(open, whole, part, report.loudness) } : {}),
    ...(asked.cues ? { cues: await findCues(open, whole, part, report.cues) } : {}),
  }
  controller.signal.throwIfAborted()
  progress.onEncodeEnd()
  return { record, warnings: [], progress: progress.snapshot() }
}

/** What each piece of the work, in this order, says of itself becomes the progress of the part. */
function reporter(
  asked: Readonly<Record<Work, boolean>>,
  onProgress: (share: number) => void,
): Record<Work, (share: number) => void> {
  const weightOf = (work: Work) => (asked[work] ? WEIGHTS[work] : 0)
  const all = weightOf('samples') + weightOf('loudness') + weightOf('cues')
  const of = (work: Work, before: number) => (share: number) => onProgress((before + share * weightOf(work)) / all)
  return {
    samples: of('samples', 0),
    loudness: of('loudness', weightOf('samples')),
    cues: of('cues', weightOf('samples') + weightOf('loudness')),
  }
}

/** The part's share of the source; null = only one reading finds its cues. */
async function findCues(
  { attempt, spec, media }: OpenTask,
  whole: Plan,
  part: number,
  onProgress: (share: number) => void,
): Promise<string | null> {
  const { loopback, controller } = attempt
  const about = programOf(spec, media)
  const { size, ranges } = await loopback.open()
  if (about === null || size === null || !ranges) return null
  const share = cueShare(size, part, whole.division!.survey!.cues!.parts)
  const trace = await traceCues(loopback, about, share, controller.signal, onProgress)
  return trace && encodeTrace(trace)
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
  const end = share.endSeconds ?? whole.durationSeconds ?? Infinity
  const { cwd, signal, threads } = sampleOptions(open)
  const options = {
    cwd,
    signal,
    threads,
    onSeconds: (seconds: number) => onProgress(Math.min(1, seconds / Math.max(1, end - share.startSeconds))),
  }
  const source = { spec, media, cut }
  if (isSoughtTransport(media)) {
    const reading = { runInSeconds: RUN_IN_SECONDS, streams: branches.map(({ stream }) => stream) }
    const stretch = await locateShare(loopback, source, share, reading, signal)
    if (stretch === null) return branches.map(() => null)
    const of = { ...options, stamped: stretch.share }
    const levels = await measureShare(engine, loopback.url, source, share, branches, of)
    return stretch.isWhole() ? levels : branches.map(() => null)
  }
  const clock = (fileStart(media) ?? 0) + (cut === null ? 0 : (cut.seekOriginSeconds ?? 0) + cut.startSeconds)
  const times = { from: clock + share.startSeconds, until: clock + end }
  await expectAudio(loopback, { media, ...times }, controller.signal)
  const flags = READ_THROUGH_FLAGS
  return measureShare(engine, loopback.url, source, share, branches, { ...options, flags })
}
