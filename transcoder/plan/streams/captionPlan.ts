// In charge of: whether captions inside the source's video are carried into an output's video, and the warnings about
// it.
// Not in charge of: finding them (transcoder/formats/cea), the encoders' flags (encoderArgs.ts).
import { videoCodecOfSource, videoEncodings } from '../codecs.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { asksToEmbed, embedsCaptions } from './embeddedCaptions.ts'
import type { PlanContext } from '../planContext.ts'
import { type Rational, sameRatio } from '../../formats/rational.ts'

/** At these rates each frame has a fixed number of byte pairs, and ffmpeg 7 moves them to the frames of a new rate. */
const captionRates: readonly Rational[] = [
  { num: 30000, den: 1001 },
  { num: 60000, den: 1001 },
]

export interface RateChange {
  from: Rational
  to: Rational
  /** Frames are rebuilt from fields or by undoing a pulldown. */
  rebuilt: boolean
}

/** What an output's frames carry. Caption files of the job take the place of the source's captions. */
export function planFrameCaptions(
  context: PlanContext,
  video: VideoStream,
  rate: RateChange,
): Pick<VideoPlan, 'captions' | 'embedded'> {
  if (embedsCaptions(context)) {
    if (video.closedCaptions && context.spec.closedCaptions !== false)
      context.warn({
        code: 'captions_removed',
        field: 'closed_captions',
        message: `The source’s closed captions${describeChannels(video)} are left out of the video: captions with embed take their place.`,
      })
    return { captions: true, embedded: 'caption files' }
  }
  if (asksToEmbed(context.spec))
    context.warn({
      code: 'captions_not_embedded',
      field: 'captions',
      message: `The caption files are not written into the video: the ${context.spec.videoCodec} encoder of this version of ffmpeg cannot carry captions.`,
    })
  return planCaptions(context, video, rate)
}

function isJoined({ media }: Pick<PlanContext, 'media'>): boolean {
  return media.formats.includes('joined')
}

type InFrames = Pick<VideoPlan, 'captions' | 'embedded'>

/** `captions` false = removed, which also needs a flag: encoders carry captions by default. */
function planCaptions(context: PlanContext, video: VideoStream, rate: RateChange): InFrames {
  const { spec } = context
  // 2.1 closed_captions: false = none in the output.
  if (spec.closedCaptions === false) return { captions: false, embedded: null }
  if (spec.closedCaptions === true && !video.closedCaptions)
    context.warn({
      code: 'captions_not_found',
      field: 'closed_captions',
      message:
        'No closed captions were seen in the beginning of the source; any that begin later are kept if possible.',
    })
  const obstacle = captionObstacle(context, video)
  const change = obstacle === null && !isJoined(context) ? cadenceChange(context, video, rate) : null
  if (obstacle === null && change === null) {
    const services = video.captionChannels.filter(isService)
    if (isJoined(context) && services.length > 0)
      context.warn({
        code: 'captions_removed',
        field: 'closed_captions',
        message: `The source’s CEA-708 captions (${services.join(', ')}) are left out: of several inputs, only CEA-608 is kept in the video.`,
      })
    return { captions: true, embedded: isJoined(context) ? 'pieces' : null }
  }
  const isReadable = video.closedCaptions && videoCodecOfSource(video.codec) !== null
  // The source is read once more for it.
  if (change !== null && isReadable && spec.closedCaptions === true) return { captions: true, embedded: 'source' }
  const advice = change !== null && isReadable ? '; closed_captions: true sends them again in the new frames' : ''
  // Removed in any case, because only the beginning was inspected. The warning is given only if captions were found.
  if (video.closedCaptions)
    context.warn({
      code: 'captions_removed',
      field: 'closed_captions',
      message: `The source’s closed captions${describeChannels(video)} are left out: ${obstacle ?? change}${advice}.`,
    })
  return { captions: false, embedded: null }
}

function describeChannels(video: VideoStream): string {
  return video.captionChannels.length === 0 ? '' : ` (${video.captionChannels.join(', ')})`
}

function isService(channel: string): boolean {
  return channel.startsWith('SERVICE')
}

function captionObstacle(context: PlanContext, video: VideoStream): string | null {
  const { spec, features } = context
  const { captionsNeed } = videoEncodings[spec.videoCodec]
  const isAble = captionsNeed === null || features[captionsNeed]
  if (isJoined(context)) return joinedObstacle(context, video, isAble)
  return isAble ? null : `this ${spec.videoCodec} encoder cannot carry them`
}

/** Why ffmpeg would not carry the captions from the source's frames to those of the output; null = it does. */
function cadenceChange({ features }: PlanContext, video: VideoStream, rate: RateChange): string | null {
  if (rate.rebuilt) return 'the output’s frames are assembled from the source’s fields'
  const sameCadence = sameRatio(rate.from, rate.to) && !video.variableFrameRate
  const broadcast = captionRates.some((candidate) => sameRatio(candidate, rate.to))
  if (!sameCadence && !(features.captionsAcrossRates && broadcast))
    return 'the frame rate changes, which would garble them'
  const isWhole = !video.severalCaptionMessages || features.severalCaptionMessages
  return isWhole ? null : 'this version of ffmpeg reads only some of them'
}

/** Byte pairs of the pieces are read and sent anew (pipeline/join/pieceCaptions.ts), at any frame rate. */
function joinedObstacle({ spec, media }: PlanContext, video: VideoStream, isAble: boolean): string | null {
  if (!video.closedCaptions) return 'no input has any'
  if (video.captionChannels.length > 0 && video.captionChannels.every(isService))
    return 'of several inputs, only CEA-608 is kept in the video'
  if (media.durationSeconds === null) return 'an input does not state how long it is'
  return isAble ? null : `this ${spec.videoCodec} encoder cannot carry them`
}
