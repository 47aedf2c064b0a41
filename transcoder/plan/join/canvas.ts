// In charge of: the common format of the pieces of a joined source, and how the frames of each are fitted into it.
// Not in charge of: audio (joinedAudio.ts), the outputs made of it (planJob.ts).
import { TaskError } from '#contract/taskError.ts'
import { divide, multiply, ratio, sameRatio, toNumber, distance, type Rational } from '../../formats/rational.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { CanvasPlan } from '#contract/task/plan/joinPlan.ts'
import type { PieceVideoPlan, SourceVideo } from '#contract/task/plan/videoPlan.ts'
import type { Decision, PlanContext } from '../planContext.ts'
import { isUnprocessed, outputColor, readSourceVideo, withoutColorConversion } from '../video/color.ts'
import { fitInside, SQUARE_TOLERANCE, uprightSize, type UprightSize } from '../video/geometry.ts'
import { planAlpha } from '../video/alpha.ts'
import { planHdr } from '../video/hdr.ts'
import { classifyFields, TELECINE_FILM_RATE, type SourceFields } from '../video/interlacing.ts'
import { pieceField } from './pieceSpec.ts'

/** The video of one piece as its frames are read. */
export interface PieceVideo {
  video: VideoStream
  size: UprightSize
  picture: SourceVideo
  fields: SourceFields
  rate: Rational
}

/** `context`: the piece as a job of its own, `rate`: of its timeline. */
export function readPieceVideo(context: PlanContext, video: VideoStream, rate: Decision<Rational>): PieceVideo {
  const { spec, features } = context
  const size = uprightSize(video)
  const picture = planAlpha(context, video, readSourceVideo(video, size, planHdr(context, video)))
  const fields = context.follow(classifyFields(spec, video))
  return {
    video,
    size,
    picture: features.zscale ? picture : withoutColorConversion(picture),
    fields,
    rate: fields.kind === 'telecined' ? TELECINE_FILM_RATE : context.follow(rate),
  }
}

/** The format of one piece, for all of them. It is interlaced only if every piece has the same fields. */
export function planCanvas(pieces: readonly PieceVideo[], piece: number): CanvasPlan {
  const { size, picture, rate, fields } = pieces[piece]!
  const [width, height] = [Math.max(2, size.width & ~1), Math.max(2, size.height & ~1)]
  const color = outputColor(picture, { height, rate, tallestRendition: null })
  const progressive: CanvasPlan = {
    width,
    height,
    sar: sampleAspect(size),
    rate,
    scan: 'progressive',
    pixelFormat: picture.hdr === null ? 'yuv420p' : 'yuv420p10le',
    color,
    piece,
  }
  const keepsFields = pieces.every((each) => {
    const fitted = fitPiece(each, progressive, null)
    return (
      each.fields.kind === 'interlaced' &&
      each.fields.order === fields.order &&
      sameRatio(each.rate, rate) &&
      each.video.rotation === 0 &&
      isUnprocessed(each.picture, fitted, color)
    )
  })
  return keepsFields ? { ...progressive, scan: fields.order } : progressive
}

/** Sample aspect ratio of the piece whose format the canvas has. */
function sampleAspect({ width, height, display }: UprightSize): Rational {
  return divide(display, ratio(width, height))
}

/** How a piece is brought to the canvas. Throws where its colours have no place in it. */
export function planPieceVideo(piece: PieceVideo, canvas: CanvasPlan, position: number): PieceVideoPlan {
  const transfer = (picture: SourceVideo) => picture.hdr?.transfer ?? null
  const isHdr = canvas.pixelFormat === 'yuv420p10le'
  if (isHdr && transfer(piece.picture) !== canvas.color.transfer)
    throw new TaskError(
      'unsupported_combination',
      `${pieceField(position)} is ${transfer(piece.picture) === null ? 'SDR' : 'HDR of another kind'}, but ${pieceField(canvas.piece)}, whose format all pieces get, is HDR: set dynamic_range to sdr.`,
      { field: 'dynamic_range', details: { input: position } },
    )
  return fitPiece(piece, canvas, deinterlaceFor(piece, canvas))
}

function fitPiece(
  { size }: PieceVideo,
  canvas: CanvasPlan,
  deinterlace: PieceVideoPlan['deinterlace'] | null,
): PieceVideoPlan {
  const { width, height, sar } = canvas
  const frame = multiply(sar, ratio(width, height))
  // A difference of 1 % is stretched. Otherwise there would be thin bars.
  const isFilled = distance(size.display, frame) <= SQUARE_TOLERANCE
  return {
    turn: 0,
    mirror: 'none',
    cropWidth: size.width,
    cropHeight: size.height,
    width,
    height,
    ...(isFilled ? { pictureWidth: width, pictureHeight: height } : fitInside(width, height, size.display, frame)),
    barPercent: 0,
    sar,
    frameRate: canvas.rate,
    pictureRate: canvas.rate,
    deinterlace: deinterlace ?? 'none',
    scan: canvas.scan,
    color: canvas.color,
  }
}

/** Fields become frames where the canvas has room for them: movement stays as smooth as it was. */
function deinterlaceFor({ fields, rate }: PieceVideo, canvas: CanvasPlan): PieceVideoPlan['deinterlace'] {
  if (fields.kind === 'telecined') return 'telecine'
  if (fields.kind === 'progressive' || canvas.scan !== 'progressive') return 'none'
  return toNumber(canvas.rate) > toNumber(rate) * 1.5 ? 'fields' : 'frames'
}

/** The canvas as the video of a source: of frames that need no conversion. */
export function canvasVideo(canvas: CanvasPlan, seconds: number | null): VideoStream {
  return {
    index: 0,
    id: null,
    codec: 'rawvideo',
    width: canvas.width,
    height: canvas.height,
    sar: canvas.sar,
    rotation: 0,
    frameRate: canvas.rate,
    variableFrameRate: false,
    commonFrameRate: null,
    fieldOrder: canvas.scan === 'progressive' ? 'progressive' : canvas.scan === 'tff' ? 'tt' : 'bb',
    scan: null,
    pixelFormat: canvas.pixelFormat,
    colorRange: 'tv',
    colorSpace: canvas.color.matrix,
    colorTransfer: canvas.color.transfer,
    colorPrimaries: canvas.color.primaries,
    masteringDisplay: null,
    contentLight: null,
    dynamicMetadata: false,
    closedCaptions: false,
    captionChannels: [],
    captionLanguages: {},
    severalCaptionMessages: false,
    activeFormat: false,
    startSeconds: 0,
    durationSeconds: seconds,
  }
}
