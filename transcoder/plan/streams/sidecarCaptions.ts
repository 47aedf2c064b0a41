// In charge of: the caption files of a job as tracks of its outputs: which outputs carry them, and their cues on the
// timeline of the outputs.
// Not in charge of: reading them (formats/captions), writing WebVTT (segmenter/webvttTracks.ts), arguments
// (argv/captionInputs.ts).
import type { Warning } from '#contract/errors.ts'
import { captionField } from '#contract/job/captions.ts'
import { containers } from '#contract/containers.ts'
import type { CaptionSpec, JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { plainText, type CaptionCue } from '../../formats/captions/captionCue.ts'
import type { CaptionFile, CaptionRemark } from '../../formats/captions/captionFile.ts'
import type { SidecarPlan } from '#contract/task/plan/captionsPlan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { embedCaptions, embedsCaptions } from './embeddedCaptions.ts'
import { placeCues } from './placeCues.ts'

const CODES: Readonly<Record<CaptionRemark['kind'], Warning['code']>> = {
  encoding: 'captions_encoding_assumed',
  times: 'captions_times_invalid',
  'programme start': 'captions_times_shifted',
  empty: 'captions_empty',
}

/** Characters of a track in all segments: a cue is repeated in each segment in which it is shown. */
const MAX_TRACK_CHARACTERS = 64 * 1024 * 1024

/** What is known about the outputs. */
interface OutputTimeline {
  cut: Pick<CutPlan, 'startSeconds'> | null
  /** Seconds; null = not known. */
  duration: number | null
  /** Seconds; null = single files. */
  segmentSeconds: number | null
}

/** Whether an output can carry the captions: as a track, or in its frames (contract/job/rules/combinations.ts warns otherwise). */
export function carriesSidecars({ packaging, container, captions = [], video }: JobSpec): boolean {
  if (captions.length === 0 || video.length === 0) return false
  if (captions.some(({ embed }) => embed != null)) return true
  return packaging === null ? containers[container].file === 'mp4' : packaging.hls || packaging.dash
}

/**
 * A track for each file. `files` are in the order of the job. Throws captions_unreadable for a file that would grow
 * beyond all bounds in segments.
 */
export function planSidecars(
  context: PlanContext,
  files: readonly CaptionFile[],
  { cut, duration, segmentSeconds }: OutputTimeline,
): SidecarPlan[] {
  if (!carriesSidecars(context.spec)) return []
  const embedded = embed(context, files, { cut, duration })
  return files.map(({ format, cues, remarks }, caption): SidecarPlan => {
    const spec = context.spec.captions![caption]!
    const field = captionField(caption)
    const placed = placeCues(cues, cut, duration)
    context.warn(...fileWarnings(caption, { cues, remarks }, placed.length))
    requireBounded(placed, segmentSeconds, field)
    const track = trackOf(spec, isDrawn(context.spec, caption))
    return { caption, format, ...track, cues: placed.length, embed: embedded[caption] ?? [] }
  })
}

/** What a client should know about a caption file, whether it becomes a track or is drawn. */
export function fileWarnings(
  caption: number,
  { cues, remarks }: Pick<CaptionFile, 'cues' | 'remarks'>,
  inside: number,
): Warning[] {
  const field = captionField(caption)
  const outside = cues.length - inside
  return [
    ...remarks.map(({ kind, message }) => ({
      code: CODES[kind],
      field,
      message: `Caption file ${caption}: ${message}`,
    })),
    ...(outside === 0
      ? []
      : [{ code: 'captions_left_out' as const, field, message: outsideMessage(caption, outside, inside) }]),
  ]
}

function isDrawn({ burnIn = null }: JobSpec, caption: number): boolean {
  return burnIn?.kind === 'caption' && burnIn.caption === caption
}

/** Players do not show by themselves what is in the video already. */
function trackOf({ language, label, isDefault, forced, hearingImpaired }: CaptionSpec, drawn: boolean) {
  return { language, label, isDefault: isDefault && !drawn, forced: forced && !drawn, hearingImpaired }
}

/** The channels of each file in the frames of the outputs. */
function embed(
  context: PlanContext,
  files: readonly CaptionFile[],
  { cut, duration }: Pick<OutputTimeline, 'cut' | 'duration'>,
): SidecarPlan['embed'][] {
  if (!embedsCaptions(context)) return []
  const { channels, remarks } = embedCaptions(context.spec, files, { cut, duration })
  context.warn(...remarks)
  return channels
}

function outsideMessage(caption: number, outside: number, inside: number): string {
  const which = outside === 1 ? 'One caption lies' : `${outside} captions lie`
  const empty = inside === 0 ? ' None is left: if its times are of another clock, give it offset_seconds.' : ''
  return `Caption file ${caption}: ${which} outside the part of the source that is used, and left out.${empty}`
}

function requireBounded(cues: readonly CaptionCue[], segmentSeconds: number | null, field: string): void {
  const repeated = (cue: CaptionCue) => (segmentSeconds === null ? 1 : 2 + (cue.end - cue.start) / segmentSeconds)
  const characters = cues.reduce((sum, cue) => sum + (plainText(cue).length + 50) * repeated(cue), 0)
  if (characters <= MAX_TRACK_CHARACTERS) return
  throw new TaskError(
    'captions_unreadable',
    'The captions overlap so much, or last so long, that their track would have more than 64 MB.',
    { field },
  )
}
