// In charge of: the answer of a dry run: the source, the plan in words, the estimated cost.
// Not in charge of: the plan (planJob.ts), the model (costModel.ts), the sentences (describePlan.ts).
import type { Estimate, PlannedFile } from '#contract/task/dryRunEstimate.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { SourceCues } from '../streams/cuePlan.ts'
import { segmentContentType, segmentForms } from '../forms.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { audioFileBytes, outputBytes, predictCost, renditionBytes, type Pricing } from './costModel.ts'
import { toNumber } from '../../formats/rational.ts'
import { extractReports } from './extractReports.ts'
import { sourceReport } from './sourceReport.ts'
import { describeAudio, describeOutput, describeRendition, ratioText } from './describePlan.ts'

/**
 * `media` is the source that was planned with. `found` contains its cues, if the job searched for them. `parts`: what is said
 * of a job that several tasks make.
 */
export function estimateJob(
  spec: JobSpec,
  source: { media: MediaInfo; found: SourceCues | null; sizeBytes: number | null },
  plan: Plan,
  pricing: Pricing,
  parts: Pick<Estimate['plan'], 'division' | 'deadline'> = {},
): Estimate {
  const made = [
    ...plan.outputs.map((output) => outputReport(output, plan)),
    ...(plan.packaging === null ? [] : packagingReports(plan, plan.packaging)),
    ...plan.audioFiles.map((file): PlannedFile => ({
      path: file.path,
      content_type: file.contentType,
      profile: null,
      description: [describeAudio(file.audio)],
      video: null,
      audio: [trackReport(file.audio)],
      output_bytes: audioFileBytes(file),
    })),
    ...extractReports(plan),
  ]
  const outputs = spec.ladder === null ? made : mergeRungs(made)
  return {
    version: 1,
    probe: sourceReport(spec, source),
    plan: {
      duration_seconds: plan.durationSeconds,
      outputs,
      ...captionReports(plan),
      ...burnInReport(plan),
      ...parts,
    },
    predicted: predictCost(
      plan,
      source.media,
      outputs.map((output) => output.output_bytes),
      pricing,
    ),
    warnings: plan.warnings,
  }
}

function captionReports({ sidecars }: Plan): Pick<Estimate['plan'], 'captions'> {
  if (sidecars.length === 0) return {}
  return {
    captions: sidecars.map(({ caption, format, language, label, cues, ...track }) => ({
      caption,
      format,
      language,
      label,
      default: track.isDefault,
      forced: track.forced,
      hearing_impaired: track.hearingImpaired,
      captions: cues,
    })),
  }
}

function burnInReport({ burnIn }: Plan): Pick<Estimate['plan'], 'burn_in_captions'> {
  if (burnIn === null) return {}
  const { kind, from, cues } = burnIn
  return {
    burn_in_captions: {
      kind,
      caption: from.kind === 'caption' ? from.caption : null,
      source_track: from.kind === 'source track' ? from.track : null,
      captions: cues,
    },
  }
}

/** The job did not request the rungs one by one, so each description says that the rung follows from the source. */
function mergeRungs(reports: readonly PlannedFile[]): PlannedFile[] {
  const rungs = reports.filter(({ video }) => video !== null)
  return reports.map((report) => {
    const position = rungs.indexOf(report)
    if (position < 0) return report
    const rung = `Rung ${position + 1} of ${rungs.length} of the ladder, chosen from the source’s size and frame rate.`
    return { ...report, description: [rung, ...report.description] }
  })
}

function outputReport(output: OutputPlan, plan: Plan): PlannedFile {
  return {
    path: output.path,
    content_type: output.contentType,
    profile: output.profile,
    description: describeOutput(output, plan),
    video: videoReport(output.video),
    audio: output.audio.map(trackReport),
    output_bytes: outputBytes(output, plan.durationSeconds),
  }
}

/** One report per rendition, named by its directory, and one for the tar. */
function packagingReports(plan: Plan, packaging: PackagingPlan): PlannedFile[] {
  const renditions = packaging.renditions.map((rendition): PlannedFile => {
    const kind = rendition.kind === 'video' ? 'video' : 'audio'
    return {
      path: joinPath(packaging.directory, rendition.directory),
      content_type: segmentContentType(
        rendition.forms.find((form) => segmentForms[form].container === 'mp4') ?? 'ts',
        kind,
      ),
      profile: rendition.kind === 'video' ? rendition.profile : null,
      description: describeRendition(rendition, plan, packaging),
      video: rendition.video === null ? null : videoReport(rendition.video),
      audio: rendition.audio.map(trackReport),
      output_bytes: renditionBytes(rendition, plan.durationSeconds),
    }
  })
  if (packaging.tar === null) return renditions
  const sizes = renditions.map(({ output_bytes: bytes }) => bytes)
  const sum = (end: 'low' | 'likely' | 'high') => sizes.reduce((total, bytes) => total + (bytes?.[end] ?? 0), 0)
  const bytes = sizes.includes(null) ? null : { low: sum('low'), likely: sum('likely'), high: sum('high') }
  const tar = { path: packaging.tar, content_type: 'application/x-tar', profile: null, video: null, audio: [] }
  return [...renditions, { ...tar, description: ['All of these files in one tar.'], output_bytes: bytes }]
}

function videoReport(video: VideoPlan): PlannedFile['video'] {
  const rate = toNumber(video.frameRate)
  const { logo } = video
  const isFramed = video.pictureWidth < video.width || video.pictureHeight < video.height
  return {
    codec: video.codec,
    copied: video.copied !== null,
    width: video.width,
    height: video.height,
    sample_aspect_ratio: ratioText(video.sar),
    frame_rate: ratioText(video.frameRate, '/'),
    frames_per_second: Number(rate.toFixed(3)),
    scan: video.scan,
    deinterlaced: video.deinterlace !== 'none',
    bitrate_mode: video.mode,
    bitrate_kbps: video.bitrateKbps,
    max_kbps: video.maxKbps,
    buffer_bits: video.bufferBits,
    gop_frames: video.gopFrames,
    gop_seconds: Number((video.gopFrames / rate).toFixed(3)),
    b_frames: video.bFrames,
    captions: video.captions,
    logo: logo === null ? null : { x: logo.x, y: logo.y, width: logo.width, height: logo.height },
    picture: isFramed ? { width: video.pictureWidth, height: video.pictureHeight } : null,
  }
}

function trackReport(track: AudioPlan): PlannedFile['audio'][number] {
  return {
    codec: track.codec,
    copied: track.copied !== null,
    channels: track.channels,
    bitrate_kbps: track.bitrateKbps,
    sample_rate: track.sampleRate,
    source_stream: track.requestedStream ?? track.sourceStream,
    language: track.language,
  }
}
