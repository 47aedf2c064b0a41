// In charge of: analysing an open source, and the plan that follows from it.
// Not in charge of: single analyses (analysis/), the choices of the plan (plan/planJob.ts), storing it (taskPlan.ts).
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { withCaptionLanguages } from '../analysis/captionLanguages.ts'
import { requireChunkPlaces, withChunkSeek } from '../analysis/chunkPlace.ts'
import { findCues } from '../analysis/findCues.ts'
import { measureLoudness } from '../analysis/measureLoudness.ts'
import { measureFrames } from '../analysis/measureSource.ts'
import type { SampleOptions } from '../analysis/rate/encodePlace.ts'
import { sourceBytes } from '../analysis/rate/sourceBytes.ts'
import { roughFactors, withRateFactors } from '../analysis/rate/sampleRates.ts'
import { readStreamDetails } from '../analysis/streamDetails.ts'
import { surveyVideo } from '../analysis/surveyVideo.ts'
import { UnlikeChunks } from '../division/unlikeChunks.ts'
import type { CueFindings } from '../formats/scte35/cueScan.ts'
import { cutCues } from '../formats/scte35/cutCues.ts'
import { tooLongForOneAttempt } from '../plan/division/automaticDivision.ts'
import { checkDeadline, deadlineWarning, type DeadlineCheck } from '../plan/division/deadlineCheck.ts'
import { encodedSegments } from '../plan/division/encodedSegments.ts'
import { samplingSeconds } from '../plan/division/samplingCost.ts'
import { surveyParts } from '../plan/division/surveyPlan.ts'
import { withDivision, withoutDivision } from '../plan/division/withDivision.ts'
import { sourceReport } from '../plan/estimate/sourceReport.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '../plan/model/plan.ts'
import type { VideoSurvey } from '../plan/model/videoSurvey.ts'
import { planJob } from '../plan/planJob.ts'
import { needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import type { DrawnCaptions } from '../plan/streams/burnIn.ts'
import { applyCut, cutSource } from '../plan/streams/cut.ts'
import { requireUnencrypted } from '../source/encryption/encryptionCheck.ts'
import { postPreview, postSource } from './attemptReports.ts'
import { carriesCues } from '../plan/streams/cuePlan.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'
import { readDrawnCaptions } from './burnIn/drawnCaptions.ts'
import { writeCaptionCarriers } from './captionTracks.ts'
import { requireCompleteSource } from './encode.ts'
import { isSeekable, type OpenTask } from './openTask.ts'
import { storesSubtitles } from './division/drawnSubtitles.ts'

export interface Surveyed {
  media: MediaInfo
  plan: Plan
  /** null = the client named no end time, or it cannot be predicted whether the job meets it. */
  deadline: DeadlineCheck | null
  drawn: DrawnCaptions | null
  /** Of the whole source. The plan contains the frames at which they splice, not the cues, which may be megabytes. */
  cues: CueFindings | null
  /** The source was found to have captions; true where it was not checked. */
  hasCaptions: boolean
}

export async function surveyAndPlan(open: OpenTask): Promise<Surveyed> {
  const { task, joined, logo, captionFiles } = open
  if (joined === null) return surveyFile(open)
  const planned = await joined.analyzeAndPlan(task, logo, captionFiles)
  await reportSource(open, planned.media)
  return { ...planned, ...(await divided(open, planned.plan, planned.media)), cues: null, hasCaptions: false }
}

/**
 * A job that one task was to make, and that is divided now: a transcoder was lost since it was planned. Nothing of what
 * earlier attempts encoded is used. null = it is still made by one task.
 */
export async function dividedAfterAll(open: OpenTask, plan: Plan): Promise<Plan | null> {
  const { spec, media } = open
  if (plan.division != null || plan.join !== undefined) return null
  const used = applyCut(spec, media, plan.cut == null ? null : { ...plan.cut, endsAfterSource: false })
  const { plan: planned } = await divided(open, plan, used)
  return planned.division == null ? null : planned
}

type Divided = Pick<Surveyed, 'plan' | 'deadline'>

async function divided(open: OpenTask, plan: Plan, used: MediaInfo): Promise<Divided> {
  const { accepts, deadline: wish, max_attempt_ms: maxAttemptMs } = open.task
  const maxParts = accepts?.parts ?? null
  const automatic = {
    aboveSeconds: accepts?.divide_above_seconds ?? Number.POSITIVE_INFINITY,
    vcpus: open.attempt.settings.machine.vcpus,
    maxAttemptSeconds: maxAttemptMs / 1000,
    slots: open.task.slots ?? 1,
    deadline: wish === undefined ? null : { secondsLeft: wish.seconds_left, slots: wish.slots },
  }
  // A joined source has no bytes of its own, and each part would have to copy what is read in order.
  const seekable = open.joined === null && !open.attempt.loopback.isCopied && (await isSeekable(open))
  const abilities = { seekable, maxParts, automatic }
  const wished = withDivision(open.spec, plan, used, abilities)
  const reason = wished.division == null ? null : await undividable(open, wished)
  const made =
    reason === null ? wished : leftOut(open.spec, wished, reason, tooLongForOneAttempt(plan, used, automatic))
  const deadline = checkDeadline(open.spec, made, used, abilities)
  const unlikely = deadline === null ? null : deadlineWarning(deadline)
  const planned = unlikely === null ? made : { ...made, warnings: [...made.warnings, unlikely] }
  if (planned.division == null || open.task.kind === 'plan') return { plan: planned, deadline }
  const source = await open.attempt.loopback.version()
  const withSource = { ...planned, division: { ...planned.division, source } }
  return { plan: await withSurveyOrRates(open, withSource, used), deadline }
}

/** A job that did not ask for chunks says nothing, unless one attempt may not be enough for it: `risk`. */
function leftOut({ maxChunkSeconds }: OpenTask['spec'], plan: Plan, reason: string, risk: string | null): Plan {
  if (maxChunkSeconds != null) return withoutDivision(plan, reason)
  return risk === null ? { ...plan, division: null } : withoutDivision(plan, `${reason}. ${risk}`)
}

/** What follows from neither the plan nor the job: the source, and what the service can do; null = nothing. */
async function undividable({ attempt, task, spec, media }: OpenTask, plan: Plan): Promise<string | null> {
  // During an upgrade.
  if (storesSubtitles(plan) && task.accepts?.mainWork !== true)
    return 'this version of the service cannot keep subtitles of the source for its parts'
  try {
    await requireChunkPlaces(attempt.loopback, encodedSegments(plan), { spec, media }, attempt.controller.signal)
    return null
  } catch (error) {
    if (error instanceof UnlikeChunks) return error.message
    throw error
  }
}

/** Not for a dry run: it takes minutes, and nothing in the estimate follows from it. */
async function withSurveyOrRates(open: OpenTask, plan: Plan, used: MediaInfo): Promise<Plan> {
  const { attempt, probed } = open
  const { engine, settings, controller, loopback, log } = attempt
  const sampling = { url: loopback.url, ...sampleOptions(open) }
  const encoded = encodedSegments(plan)
  const division = plan.division!
  const parts = surveyParts(samplingSeconds(encoded, used, settings.machine.vcpus))
  if (parts !== null) {
    const factors = await roughFactors(engine, encoded, sampling)
    return factors === null ? plan : { ...plan, division: { ...division, survey: { parts, factors } } }
  }
  const made = await withRateFactors(engine, encoded, {
    ...sampling,
    log,
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

/** `found`: cues of the source. */
export function reportSource(
  { attempt, task, spec, sizeBytes }: OpenTask,
  media: MediaInfo,
  found: CueFindings | null = null,
): Promise<void> {
  return postSource(attempt, task, (): SourceReport => sourceReport(spec, { media, found, sizeBytes }))
}

/** null = the source has none, or the job carries none of it. */
export async function readSourceCues({ attempt, spec, joined, media }: OpenTask): Promise<CueFindings | null> {
  if (joined !== null || !carriesCues(spec)) return null
  return findCues(attempt.loopback, media, outputStartSeconds(spec, media), attempt.controller.signal)
}

async function surveyFile(open: OpenTask): Promise<Surveyed> {
  const { attempt, task, surroundings, spec, probed, media, logo, bitmaps, captionFiles } = open
  const { loopback, engine, settings, workspace, controller } = attempt
  const { headStart, sideTasks } = surroundings
  const earlyVideo = headStart.elementaryStream(needsDeepProbe(spec, media) ? null : media)
  const scratchDirs = {
    cwd: workspace.cwd,
    scratch: workspace.out,
    signal: controller.signal,
    early: earlyVideo,
  }
  // The preview is made in parallel with the following steps. A source that is read in order allows one connection
  // only: its preview waits for the caption check.
  const ranges = (await loopback.open()).ranges && !needsDeepProbe(spec, media)
  const encryptionChecked = requireUnencrypted(loopback, spec, media, controller.signal)
  // A preview of an encrypted source would be noise; the job ends with the error that it is encrypted.
  const preview = () => postPreview(attempt, task, probed)
  if (ranges) void sideTasks.run(async () => encryptionChecked.then(preview, () => undefined))
  // Both read the source; one that is read in order allows one connection only.
  const listing = (): Promise<VideoSurvey | null> =>
    surveyVideo(engine, loopback.url, { spec, media }, { ...scratchDirs, ranges: ranges ? loopback : null })
  const early = ranges ? listing() : null
  early?.catch(() => undefined) // reported where it is awaited
  const [detailed] = await Promise.all([
    readStreamDetails(engine, loopback.url, spec, media, scratchDirs),
    encryptionChecked,
  ])
  const inspected = await withCaptionLanguages(loopback, spec, detailed, controller.signal)
  // Sent before anything is measured or rejected: a client sees what the source contains even if planning fails.
  const reported = sideTasks.run(() => reportSource(open, inspected))
  const shown = inspected.unusedVideo === undefined ? inspected : probed
  if (!ranges) await postPreview(attempt, task, shown)
  const survey = early ?? listing()
  const options = { ...scratchDirs, threads: settings.threads, seekable: await isSeekable(open) }
  const surveyed = withSurvey(inspected, await survey)
  const used = cutSource(spec, surveyed)
  const framed = await measureFrames(engine, loopback.url, { spec, media: used }, options)
  requireCompleteSource(attempt)
  const whole = withScan(inspected, framed)
  const cues = await readSourceCues(open)
  if (whole !== inspected || cues !== null)
    void sideTasks.run(() => reported.then(() => reportSource(open, whole, cues)))
  const drawn = await readDrawnCaptions(attempt, { spec, media, files: captionFiles })
  const bitmapTrack = (await bitmaps?.measure(spec, framed)) ?? null
  const measured = await measureLoudness(engine, loopback.url, { spec, media: framed }, options)
  requireCompleteSource(attempt)
  const carried = cutCues(cues, framed.cut)
  const plan = planJob(spec, measured, engine.features, carried, logo, captionFiles, drawn, bitmapTrack)
  const made = await divided(open, plan, measured)
  await reported
  return {
    media: whole,
    ...made,
    drawn,
    cues,
    hasCaptions: inspected.video?.closedCaptions === true,
  }
}

function withSurvey(media: MediaInfo, survey: VideoSurvey | null): MediaInfo {
  return media.video === null || survey === null ? media : { ...media, video: { ...media.video, survey } }
}

/** The source with what was measured in its frames. */
function withScan(source: MediaInfo, measured: MediaInfo): MediaInfo {
  if (source.video === null || measured.video === null || measured.video.scan === source.video.scan) return source
  return { ...source, video: { ...source.video, scan: measured.video.scan } }
}
