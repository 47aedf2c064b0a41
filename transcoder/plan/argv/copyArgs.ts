// In charge of: the arguments that copy a stream of the source into an output.
// Not in charge of: whether it is copied (plan/copy/), where a part of the source begins on ffmpeg's clock (cutArgs.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import { videoEncodings } from '../codecs.ts'
import { isMp4 } from '../forms.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/**
 * What holds the audio. A container with times begins with the packet that the decoder needs first: an edit list or the
 * clock keeps it from being heard. Fragments and plain frames have neither.
 */
export type AudioHolder = 'mp4' | 'timed' | 'fragments' | 'frames'

/** Audio files that are a sequence of frames. mp3 is not among them: its file has a header with the encoder's delay. */
const PLAIN_FRAMES: readonly string[] = ['ac3', 'eac3', 'mp2']

/** `container`: of any planned file. */
export function audioHolderOf(container: string): AudioHolder {
  return isMp4(container) ? 'mp4' : PLAIN_FRAMES.includes(container) ? 'frames' : 'timed'
}

/** Packets with times below 0 are left out, up to the first one that is written. */
const fromZero = (kind: 'v' | 'a', position: number): string[] => [`-copypriorss:${kind}:${position}`, '0']

/**
 * Frames are left out by number: what ffmpeg states as the time base in this expression differs between versions. Its own
 * limit of frames would end the other streams of the output, too.
 */
export function copyVideoArgs(
  video: VideoPlan,
  cut: CutPlan | null,
  { inTransportStream }: { inTransportStream: boolean },
): string[] {
  const { copied } = video
  if (copied === null) return []
  if (copied.isOwn === true) return ownVideoArgs(video, inTransportStream ? transportFilters(video) : [])
  if (cut === null) return ['-c:v', 'copy']
  const { frames, leadingFrames } = copied
  const left = [
    ...(leadingFrames === 0 ? [] : [`between(n\\,1\\,${leadingFrames})`]),
    ...(cut.endSeconds === null ? [] : [`gte(n\\,${frames + leadingFrames})`]),
  ]
  return [
    ...['-c:v', 'copy', ...fromZero('v', 0)],
    ...(left.length === 0 ? [] : ['-bsf:v', `noise=drop=${left.join('+')}`]),
  ]
}

/**
 * Bitstream filters of video from fragments, for a transport stream. By itself, ffmpeg puts the parameter sets right before
 * the slices. There they follow the timing of the buffer, which a decoder that begins there cannot read without them.
 */
export function transportFilters({ codec, copied }: VideoPlan): string[] {
  return copied?.isOwn === true && codec === 'h264' ? ['h264_mp4toannexb', 'extract_extradata=remove=1'] : []
}

/** As the encoder would have written it into this output. Its first frame is shown at 0. */
function ownVideoArgs({ codec, bFrames }: VideoPlan, filters: readonly string[]): string[] {
  // From fragments, the first frame is decoded at 0, and shown as much later as the order of the frames needs. x264 decodes
  // one frame more ahead where B-frames may refer to others (-bf 2 and more).
  const decoded = codec === 'h264' && bFrames > 1 ? 'DTS+STARTDTS-2*STARTPTS' : 'DTS-STARTPTS'
  return [
    ...['-c:v', 'copy', '-bsf:v', [`setts=pts=PTS-STARTPTS:dts=${decoded}`, ...filters].join(',')],
    ...['-metadata:s:v:0', `encoder=Lavc ${videoEncodings[codec].encoder}`],
  ]
}

/** Flags for the output's audio stream number `position`. */
export function copyAudioArgs(audio: AudioPlan, position: number, cut: CutPlan | null, holder: AudioHolder): string[] {
  const { copied, codec } = audio
  if (copied === null) return []
  return [
    ...[`-c:a:${position}`, 'copy'],
    // As in transport streams, AAC states its configuration in every frame; mp4 needs it in the header.
    ...(codec === 'aac' && (holder === 'mp4' || holder === 'fragments') ? [`-bsf:a:${position}`, 'aac_adtstoasc'] : []),
    ...(copied.isOwn === true || (cut === null && (holder === 'mp4' || holder === 'timed'))
      ? []
      : fromZero('a', position)),
    ...audioTagArgs(audio, position),
  ]
}

const DISPOSITIONS: Readonly<Record<AudioPurpose, string>> = {
  main: '0',
  audio_description: 'visual_impaired',
  hearing_impaired: 'hearing_impaired',
  clean_effects: 'clean_effects',
  commentary: 'comment',
  dub: 'dub',
}

/** Language and purpose. Muxers write the purpose as audio_type (ISO/IEC 13818-1) or as a `kind` box. */
export function audioTagArgs({ language, purpose }: AudioPlan, position: number): string[] {
  return [
    ...(language === null ? [] : [`-metadata:s:a:${position}`, `language=${language}`]),
    ...(purpose === undefined ? [] : [`-disposition:a:${position}`, DISPOSITIONS[purpose]]),
  ]
}

/** The end of a part, for outputs with copied streams: at this time, and not at the end of the source. */
export function copyEndArgs(cut: CutPlan | null): string[] {
  return cut?.endSeconds == null ? [] : ['-t', cut.endSeconds.toFixed(6)]
}
