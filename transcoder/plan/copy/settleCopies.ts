// In charge of: what becomes of each profile that asks for a copy: it is copied, encoded with a warning, or the job fails
// with the reason.
// Not in charge of: the reasons of video (videoVerdict.ts).
import { TaskError } from '#contract/taskError.ts'
import { audioFileOf, AUDIO_CODECS, audioRules, type AudioCodec, type SegmentForm } from '#contract/codecs.ts'
import type { AudioProfile, JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import type { PlanContext } from '../planContext.ts'
import type { SourceUse } from '../streams/cut.ts'
import type { WantedPart } from '../streams/requestedPart.ts'
import type { CopiedStretch } from './copiedStretch.ts'
import type { VideoVerdict } from './videoVerdict.ts'
import { fileContainerOf } from '../forms.ts'
import type { AudioStream } from '../model/mediaInfo.ts'

type AudioVerdict =
  | { copies: true; codec: AudioCodec }
  | { copies: false; reason: string; details: Record<string, unknown> }

/** Codecs and fields of ffprobe have the same names. */
function audioVerdict(spec: JobSpec, profile: AudioProfile, stream: AudioStream): AudioVerdict {
  const { packaging } = spec
  const refuse = (reason: string): AudioVerdict => ({ copies: false, reason, details: { codec: stream.codec } })
  if (spec.inputs !== null) return refuse(`the source is joined from ${spec.inputs.length} pieces`)
  if (stream.bursts !== undefined)
    return refuse(`source stream ${stream.number} is ${stream.codec} in bursts of data in ${stream.bursts.around}`)
  const codec = AUDIO_CODECS.find((each) => each === stream.codec)
  if (codec === undefined)
    return refuse(
      `the codec of source stream ${stream.number} is ${stream.codec}; ${AUDIO_CODECS.join(', ')} can be copied`,
    )
  const forms: SegmentForm[] = [
    ...(packaging?.hls === true || packaging?.dash === true ? (['cmaf'] as const) : []),
    ...(packaging?.smooth === true ? (['smooth'] as const) : []),
  ]
  const missing = forms.filter((form) => !audioRules(codec).segments.includes(form))
  if (missing.length > 0) return refuse(`${codec} cannot be carried in ${missing.join(' and ')} segments`)
  const file = fileContainerOf(spec)
  const isCarried = spec.video.some(({ audioProfiles }) => audioProfiles.includes(profile.index))
  if (isCarried && file !== null && !audioRules(codec).videoFiles.includes(file))
    return refuse(`${codec} cannot be carried in ${file} files`)
  return { copies: true, codec }
}

/** What was found out when the source was cut (streams/cut.ts). */
export type Copying = Pick<SourceUse, 'verdict' | 'wanted'>

/** The job in which `copy` is true only where the stream is copied. Throws copy_not_possible. */
export function settleCopies(context: PlanContext, { verdict, wanted }: Copying): JobSpec {
  const { spec, media } = context
  const refuse = (field: string, what: string, refusal: { reason: string; details: Record<string, unknown> }): void => {
    const why = `${what} cannot be copied: ${refusal.reason}`
    if (!spec.copyIfPossible)
      throw new TaskError('copy_not_possible', `${why}; copy_if_possible encodes it instead.`, {
        field,
        details: refusal.details,
      })
    context.warn({ code: 'copy_not_possible', field, message: `${why}; it is encoded.` })
  }
  const video = spec.video.map((profile): VideoProfile => {
    if (!profile.copy || verdict === null) return { ...profile, copy: false }
    if (verdict.copies)
      // The size and the rate are those of the source.
      return { ...profile, width: 0, height: 0, mode: 'vbr', frameRateFactor: '1x' }
    refuse(`videoProfiles[${profile.index}].video_codec`, 'The source’s video', verdict)
    return { ...profile, copy: false }
  })
  const audio = spec.audio.map((profile): AudioProfile => {
    const stream = media.audio.find(({ number }) => number === profile.sourceStream)
    if (!profile.copy || stream === undefined) return { ...profile, copy: false }
    const found = audioVerdict(spec, profile, stream)
    if (found.copies)
      return {
        ...profile,
        codec: found.codec,
        container: audioFileOf(found.codec, undefined).container,
        bitDepth: null,
      }
    refuse(`audioProfiles[${profile.index}].audio_codec`, 'The audio', found)
    return { ...profile, copy: false }
  })
  if (verdict?.copies === true) warnMovedCut(context, verdict.part, wanted)
  return { ...spec, video, audio }
}

/** Whether nothing of the source's video is decoded for an encode. */
export function copiesAllVideo(spec: JobSpec, verdict: VideoVerdict | null): boolean {
  return verdict?.copies === true && spec.video.every(({ copy }) => copy)
}

/** Half a frame at 250 frames per second. */
const MOVED_SECONDS = 0.002

function warnMovedCut(context: PlanContext, part: CopiedStretch, wanted: WantedPart | null): void {
  const from = wanted?.startSeconds ?? 0
  if (Math.abs(part.startSeconds - from) > MOVED_SECONDS)
    context.warn({
      code: 'cut_moved',
      ...(wanted === null ? {} : { field: 'start_seconds' }),
      message: `The outputs begin at ${shown(part.startSeconds)} s of the source and not at ${shown(from)} s: copied video can begin only with a key frame. Audio, captions and cues begin there too.`,
    })
  const to = wanted?.endSeconds ?? null
  if (to !== null && part.endSeconds !== null && part.endSeconds - to > MOVED_SECONDS)
    context.warn({
      code: 'cut_moved',
      field: 'end_seconds',
      message: `The outputs end at ${shown(part.endSeconds)} s of the source and not at ${shown(to)} s: frames of the copied video before that time refer to frames after it.`,
    })
}

function shown(seconds: number): string {
  return String(Number(seconds.toFixed(3)))
}
