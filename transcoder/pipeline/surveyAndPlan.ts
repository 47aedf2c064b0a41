// In charge of: analysing an open source, and the plan that follows from it.
// Not in charge of: single analyses (analysis/), the choices of the plan (plan/planJob.ts), storing it (taskPlan.ts).
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { withCaptionLanguages } from '../analysis/captionLanguages.ts'
import { findCues } from '../analysis/findCues.ts'
import { measureLoudness } from '../analysis/measureLoudness.ts'
import { measureFrames } from '../analysis/measureSource.ts'
import { readStreamDetails } from '../analysis/streamDetails.ts'
import { surveyVideo } from '../analysis/surveyVideo.ts'
import type { CueFindings } from '../formats/scte35/cueScan.ts'
import { cutCues } from '../formats/scte35/cutCues.ts'
import { sourceReport } from '../plan/estimate/sourceReport.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { VideoSurvey } from '../plan/model/videoSurvey.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { planJob } from '../plan/planJob.ts'
import { needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import type { DrawnCaptions } from '../plan/streams/burnIn.ts'
import { applyCut, cutSource } from '../plan/streams/cut.ts'
import { requestedPart } from '../plan/streams/requestedPart.ts'
import { requireUnencrypted } from '../source/encryption/encryptionCheck.ts'
import { postPreview, postSource } from './attemptReports.ts'
import { carriesCues } from '../plan/streams/cuePlan.ts'
import { timelineOf } from '../plan/streams/outputTiming.ts'
import { readDrawnCaptions } from './burnIn/drawnCaptions.ts'
import { requireCompleteSource } from './encode.ts'
import { isSeekable, type OpenTask } from './openTask.ts'
import { requireSourceSeconds, usedSeconds } from './sourceLengths.ts'

export interface Surveyed {
  plan: Plan
  media: MediaInfo
  /** The source that the plan was made for: with the cut, and what was measured. */
  used: MediaInfo
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
  return { ...planned, used: planned.media, cues: null, hasCaptions: false }
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
export async function readSourceCues({
  attempt,
  spec,
  joined,
  media,
  timeline,
}: OpenTask): Promise<CueFindings | null> {
  if (joined !== null || !carriesCues(spec)) return null
  return findCues(attempt.loopback, media, timeline.startSeconds, attempt.controller.signal)
}

async function surveyFile(open: OpenTask): Promise<Surveyed> {
  const { attempt, task, surroundings, spec, probed, media, timeline, logo, bitmaps, bursts, captionFiles } = open
  const { loopback, engine, settings, workspace, controller } = attempt
  const { headStart, sideTasks } = surroundings
  const wanted = applyCut(media, timeline, requestedPart(spec, media, timeline))
  requireSourceSeconds(task.max_source_seconds, usedSeconds(spec, wanted))
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
    surveyVideo(engine, loopback.url, { spec, media, timeline }, { ...scratchDirs, ranges: ranges ? loopback : null })
  const early = ranges ? listing() : null
  early?.catch(() => undefined) // reported where it is awaited
  const [found] = await Promise.all([
    readStreamDetails(engine, loopback.url, spec, media, scratchDirs),
    encryptionChecked,
  ])
  const detailed = await bursts.decode(spec, found, needsDeepProbe(spec, media))
  const inspected = await withCaptionLanguages(loopback, spec, detailed, controller.signal)
  // Sent before anything is measured or rejected: a client sees what the source contains even if planning fails.
  const reported = sideTasks.run(() => reportSource(open, inspected))
  const shown = inspected.unusedVideo === undefined ? inspected : probed
  if (!ranges) await postPreview(attempt, task, shown)
  const survey = early ?? listing()
  const options = { ...scratchDirs, threads: settings.threads, seekable: await isSeekable(open) }
  const surveyed = withSurvey(inspected, await survey)
  const use = cutSource(spec, surveyed, timelineOf(spec, surveyed, engine.features))
  const framed = await measureFrames(engine, loopback.url, { spec, ...use }, options)
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
  const plan = planJob(spec, measured, {
    features: engine.features,
    cues: carried,
    logo,
    captions: captionFiles,
    drawn,
    bitmapTrack,
  })
  await reported
  return {
    plan,
    media: whole,
    used: measured,
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
