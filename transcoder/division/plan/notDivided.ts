// In charge of: the jobs that one task makes, whatever their length, and why.
// Not in charge of: how long chunks are (planDivision.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { isIndexed } from '../../plan/streams/outputTiming.ts'
import { notSought } from './soughtTransport.ts'
import { encodedVideo } from '../../plan/argv/ffmpegArgs.ts'
import { toNumber } from '../../formats/rational.ts'
import { sourceRate } from '../../plan/video/frameRate.ts'
import type { MediaInfo, VideoStream } from '../../plan/model/mediaInfo.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** null = the job can be divided; otherwise the reason, as the end of a sentence. */
export function notDivided(spec: JobSpec, plan: Plan, media: MediaInfo, seekable: boolean): string | null {
  return ofOutputs(plan) ?? ofSource(spec, plan, media, seekable)
}

function ofOutputs(plan: Plan): string | null {
  return plan.packaging === null ? ofFiles(plan) : ofPackage(plan.packaging)
}

function ofFiles({ outputs, subtitles }: Plan): string | null {
  if (outputs.length === 0) return 'the job makes no video'
  if (subtitles.length > 0) return 'subtitles of the source are copied by the task that makes the video'
  return firstReason(outputs.map(({ video }) => video))
}

function firstReason(videos: readonly VideoPlan[]): string | null {
  return videos.map(ofVideo).find((reason) => reason !== null) ?? null
}

function ofPackage(packaging: PackagingPlan): string | null {
  const renditions = packaging.renditions.filter(({ kind }) => kind === 'video')
  if (renditions.length === 0) return 'the job makes no video'
  return firstReason(renditions.flatMap(({ video }) => video ?? []))
}

function ofVideo({ codec, mode, copied, deinterlace }: VideoPlan): string | null {
  if (copied != null) return 'copied video is not encoded'
  // Measured: mpeg2video leaves 4 % of the buffer at its largest rate, and 8 % with cbr where a cut is near the end of a chunk.
  if (codec === 'mpeg2') return 'mpeg2 needs one encoder for the whole video; h.264 and hevc can be divided'
  // Measured: x265 leaves 13 % of the buffer where a cut is near the end of a chunk. x264 left 43 % or more.
  if (mode === 'cbr' && codec !== 'h264')
    return `${codec} of a constant bitrate (cbr) needs one encoder for the whole video; vbr can be divided`
  if (deinterlace === 'telecine') return 'the frames behind 3:2 pulldown are found from the beginning of the source'
  return null
}

function ofSource(spec: JobSpec, plan: Plan, media: MediaInfo, seekable: boolean): string | null {
  if (spec.maxSourceErrors !== null)
    return 'max_source_errors counts the errors of the whole source, which one task reads from its beginning'
  if (plan.reads.kind === 'pieces') return 'the source is joined from several inputs'
  if (plan.pids?.bursts !== undefined) return 'its audio is taken out of bursts of data by the task that encodes it'
  if (media.video !== null && regroupsCaptions(spec, plan, media.video))
    return 'closed captions of the source are moved to frames of another rate, which is counted from its beginning'
  if (!seekable) return 'the source can only be read from its beginning to its end'
  if (media.formats.includes('mpegts')) return notSought(media.cut?.whole ?? media)
  if (!isIndexed(media))
    return `the container of the source (${media.formats[0] ?? 'unknown'}) has no index of its frames; mp4, mov and Matroska have one`
  return null
}

/**
 * The filter fps (ffmpeg 7) keeps the caption bytes of all frames in one queue. Where frames are dropped, which bytes an output
 * frame gets depends on where the queue began: an odd frame of 59.94 in front of 29.97 moves a pair to another frame.
 */
function regroupsCaptions(spec: JobSpec, plan: Plan, video: VideoStream): boolean {
  if (!video.closedCaptions) return false
  const rate = toNumber(sourceRate(spec, video).value)
  return encodedVideo(plan).some(
    ({ captions, embedded, frameRate }) =>
      captions &&
      (embedded === 'source' || (embedded === null && !isWhole(toNumber(frameRate) / rate, video.variableFrameRate))),
  )
}

function isWhole(factor: number, isVariable: boolean): boolean {
  return !isVariable && Math.abs(factor - Math.round(factor)) < 1e-6
}
