// In charge of: how many bytes each stretch of a source's video has, from the index of an mp4.
// Not in charge of: reading the index (surveyIndex.ts), what the sizes say (division/plan/rateSampling.ts).
import { FormatError } from '../../formats/formatError.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { LoopbackServer } from '../../source/loopbackServer.ts'
import { readIndexedSamples } from '../../analysis/surveyIndex.ts'

/**
 * Bytes of each stretch of `seconds` of the output. An incomplete last stretch is left out. null = the source does not say
 * it.
 */
export async function sourceBytes(
  source: Pick<LoopbackServer, 'open' | 'readRange'>,
  { formats, video }: MediaInfo,
  { plan, seconds }: { plan: Pick<Plan, 'cut' | 'durationSeconds'>; seconds: number },
  signal: AbortSignal,
): Promise<number[] | null> {
  const { size, ranges } = await source.open()
  const isIndexed = formats.includes('mov') && (video?.codec === 'h264' || video?.codec === 'hevc')
  if (!isIndexed || !ranges || size === null || plan.durationSeconds === null) return null
  try {
    const samples = await readIndexedSamples(source, size, signal)
    if (samples === null) return null
    const begin = plan.cut?.startSeconds ?? 0
    const stretches = Array.from({ length: Math.floor(plan.durationSeconds / seconds + 1e-6) }, () => 0)
    for (const [frame, shown] of samples.shown.entries()) {
      const stretch = Math.floor((shown / samples.timescale - begin) / seconds)
      if (stretch >= 0 && stretch < stretches.length) stretches[stretch]! += samples.sizes[frame]!
    }
    return stretches
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return null
    throw error
  }
}
