// In charge of: drawing a bitmap subtitle track of the source into the video: which codecs, the plan, its warnings.
// Not in charge of: text (burnIn.ts), reading the track (source/bitmapTrack.ts), places (video/bitmapPlacement.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { BitmapTrack, MediaInfo, OtherStream } from '../model/mediaInfo.ts'
import type { BitmapBurnInPlan } from '#contract/task/plan/captionsPlan.ts'
import type { PlanContext } from '../planContext.ts'

/** Codecs of subtitles that are images, and are drawn. */
export const DRAWN_BITMAPS = ['dvb_subtitle', 'hdmv_pgs_subtitle'] as const
export type BitmapCodec = (typeof DRAWN_BITMAPS)[number]

export type BitmapStream = OtherStream & { codec: BitmapCodec }

const FIELD = 'burn_in_captions.source_track'

export function isDrawnBitmap(stream: OtherStream): stream is BitmapStream {
  return (DRAWN_BITMAPS as readonly string[]).includes(stream.codec)
}

/** The bitmap track that a job draws; null = it draws none, or text. */
export function drawnBitmaps({ burnIn = null, video }: JobSpec, { other }: MediaInfo): BitmapStream | null {
  if (burnIn?.kind !== 'source track' || video.length === 0) return null
  const stream = other.filter(({ type }) => type === 'subtitle')[burnIn.track - 1]
  return stream !== undefined && isDrawnBitmap(stream) ? stream : null
}

/** The plan, and its warnings. */
export function planBitmapBurnIn(
  context: PlanContext,
  stream: BitmapStream,
  track: BitmapTrack | null,
): BitmapBurnInPlan | null {
  const { burnIn = null } = context.spec
  if (burnIn?.kind !== 'source track') return null
  const { drawn = null, subtitles = 0, damagedPackets = 0 } = track ?? {}
  const name = `Subtitle stream ${burnIn.track}`
  if (drawn === null)
    context.warn({
      code: 'captions_empty',
      field: FIELD,
      message: `${name} has no captions in the part of the source that is used: nothing is drawn.`,
    })
  if (damagedPackets > 0)
    context.warn({
      code: 'captions_damaged',
      field: FIELD,
      message: `${name} is damaged in ${damagedPackets} ${damagedPackets === 1 ? 'place' : 'places'}: captions may be incomplete or missing there.`,
    })
  const shown = drawn === null ? 0 : subtitles
  const from = { ...burnIn, stream: stream.index }
  return { kind: 'bitmap', from, codec: stream.codec, drawn, cues: shown }
}
