// In charge of: the first filters of every video graph. They bring each decoded frame to the size, the sample aspect and
// the pixel format of the source's first frames, so that no later filter sees a change midway; and the options of the
// input that go with them.
// Not in charge of: the sizes of outputs (geometry.ts, filters.ts).
//
// By default ffmpeg rebuilds the graph at such a change, and every filter that counts begins again: fps, select, tile,
// trim, decimate. Without rebuilding, the frames reach the filters as they are; most filters, transpose among them, would
// read beyond their end. So nothing may stand before these.
import type { SourceVideo } from '#contract/task/plan/videoPlan.ts'
import { swscaleMatrix } from './colorNames.ts'
import { toNumber } from '../../formats/rational.ts'
import { SQUARE_TOLERANCE } from '../video/geometry.ts'

type Frames = Pick<SourceVideo, 'coded' | 'fullRange' | 'rgb'>

/**
 * Options of the input. Not for a source that has to be turned: ffmpeg inserts its rotation before the first filters, where
 * frames of another size would be read beyond their end, and without it 5.1 writes the rotation into the outputs.
 */
export function steadyFrameInput({ coded }: Frames): string[] {
  if (coded === undefined) return []
  return ['-reinit_filter:v', '0']
}

/**
 * Frames that are as the first ones pass `scale` untouched. Others are fitted into the first display shape, with black
 * bars, as browsers show them: the size and the pixels of the outputs were planned from it.
 */
export function steadyFilters(picture: Frames): string[] {
  const { coded } = picture
  if (coded === undefined) return []
  const { pixelFormat, blankingLines = 0 } = coded
  // `pad` and zscale refuse a size that ends within a chroma sample.
  const [across, down] = CHROMA.find(([formats]) => formats.test(pixelFormat))?.[1] ?? [1, 1]
  const width = Math.max(across, coded.width - (coded.width % across))
  const height = Math.max(down, coded.height - (coded.height % down))
  const shape = ((width * toNumber(coded.sar)) / height).toFixed(6)
  // Even, so that the bars end with a chroma sample; lines in steps of 4, so that they end with one of each field. A
  // shape that differs by 1 % is stretched: the bars would be thin lines.
  const fitted = (side: number, relation: string, step: number) =>
    `min(${side}\\,max(${step}\\,round(${side}*${relation}/${step})*${step}))`
  const w = `if(lt(dar\\,${shape}*${1 - SQUARE_TOLERANCE})\\,${fitted(width, `dar/${shape}`, 2)}\\,${width})`
  const h = `if(gt(dar\\,${shape}*${1 + SQUARE_TOLERANCE})\\,${fitted(height, `${shape}/dar`, 4)}\\,${height})`
  // ffmpeg 5.1 would scale full range to limited, where the pixel format does not say which it is.
  const range =
    picture.fullRange && !picture.rgb && !pixelFormat.startsWith('yuvj') ? ':in_range=full:out_range=full' : ''
  const matrix =
    coded.matrix === undefined ? '' : `:in_color_matrix=auto:out_color_matrix=${swscaleMatrix(coded.matrix)}`
  return [
    `scale=w=${w}:h=${h}:eval=frame:interl=-1:flags=bicubic+accurate_rnd+full_chroma_int${range}${matrix}`,
    // No filter writes palettes.
    `format=${pixelFormat === 'pal8' ? 'bgra' : pixelFormat}`,
    `pad=${width}:${height}:trunc((ow-iw)/4)*2:trunc((oh-ih)/8)*4:eval=frame`,
    // An even number of lines: fields stay what they are.
    ...(blankingLines === 0 ? [] : [`crop=w=${width}:h=${height - blankingLines}:x=0:y=${blankingLines}`]),
  ]
}

/** Pixels and lines of one chroma sample. */
const CHROMA: readonly (readonly [formats: RegExp, sample: readonly [number, number]])[] = [
  [/^yuv[aj]?420|^nv12|^nv21|^p01/, [2, 2]],
  [/^yuv[aj]?422|^nv16|^nv20|^p21|^[uy]yv/, [2, 1]],
  [/^yuvj?440/, [1, 2]],
  [/^yuvj?411/, [4, 1]],
  [/^yuv410/, [4, 4]],
]
