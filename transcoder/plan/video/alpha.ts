// In charge of: transparency of a source: outputs have none, so the pictures are composed on black.
// Not in charge of: the filters that compose (argv/filters.ts).
import type { VideoStream } from '../model/mediaInfo.ts'
import type { SourceVideo } from '#contract/task/plan/videoPlan.ts'
import type { PlanContext } from '../planContext.ts'

const ALPHA = /^(yuva|rgba|bgra|argb|abgr|gbrap|ya8|ya16|ayuv)/

/** ffmpeg's own decoders of these codecs leave out the transparency, which is a second video beside the first. */
const DECODERS: Readonly<Record<string, SourceVideo['decoder']>> = { vp8: 'libvpx', vp9: 'libvpx-vp9' }

export function readAlpha({ codec, pixelFormat }: VideoStream): Pick<SourceVideo, 'alpha' | 'decoder'> {
  if (!ALPHA.test(pixelFormat)) return {}
  const decoder = DECODERS[codec]
  return { alpha: true, ...(decoder === undefined ? {} : { decoder }) }
}

/** The picture with a decoder that this ffmpeg has; says what becomes of the transparency. */
export function planAlpha(context: PlanContext, { codec }: VideoStream, picture: SourceVideo): SourceVideo {
  // The decoder of GIF always states it.
  if (picture.alpha !== true || codec === 'gif') return picture
  const code = 'alpha_not_kept'
  if (picture.decoder === undefined || context.features.vpxAlpha) {
    context.warn({ code, message: 'The source’s video may be transparent. Outputs are not: it is composed on black.' })
    return picture
  }
  const message = `The source’s video may be transparent, and this ffmpeg lacks ${picture.decoder}, which decodes that: colours that are hidden in the source are visible.`
  context.warn({ code, message })
  const { alpha: _alpha, decoder: _decoder, ...opaque } = picture
  return opaque
}
