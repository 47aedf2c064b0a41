// In charge of: the figures of a finished attempt that are counted at its commit.
// Not in charge of: adding them up (transitionTotals.ts).
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { FinishPost } from '#contract/task/protocol.ts'

export interface OutputFigures {
  /** Provider of the destination. */
  store: string
  bytes: number
  encodeSeconds: number
  /** Seconds of output by resolution: audio, sd, hd, uhd. */
  seconds: Record<string, number>
}

/** Heights up to 576 and 1088 lines: the classes of price lists. A portrait video has its width there. */
function resolutionOf({ width, height }: { width: number; height: number }): string {
  const lines = Math.min(width, height)
  return lines <= 576 ? 'sd' : lines <= 1088 ? 'hd' : 'uhd'
}

type Finished = Pick<FinishPost, 'objects' | 'progress'> & { written?: FinishPost['written'] }

export function outputFigures({ objects, progress, written = [] }: Finished, store: string): OutputFigures {
  const seconds: Record<string, number> = {}
  const add = (resolution: string, duration: number) => (seconds[resolution] = (seconds[resolution] ?? 0) + duration)
  for (const { media, role } of objects) {
    if (role !== 'media' || media === undefined) continue
    add(media.video ? resolutionOf(media.video) : 'audio', media.duration_seconds)
  }
  const described = written.flatMap(({ media }) => (media ? [media] : []))
  const { renditions = [], duration_seconds: duration = 0 } = mainPresentation(described) ?? {}
  for (const rendition of renditions) add(resolutionOf(rendition), duration)
  if (renditions.length === 0 && described[0] !== undefined) add('audio', described[0].duration_seconds)
  const manifestBytes = written.reduce((sum, { body }) => sum + new TextEncoder().encode(body).byteLength, 0)
  return { store, bytes: progress.bytes_stored + manifestBytes, encodeSeconds: progress.transcode_seconds, seconds }
}

/** HLS, DASH and Smooth Streaming describe the same renditions; the most complete description counts. */
function mainPresentation(all: readonly MediaFacts[]): MediaFacts | null {
  return all.reduce<MediaFacts | null>(
    (best, media) => ((media.renditions?.length ?? 0) > (best?.renditions?.length ?? 0) ? media : best),
    null,
  )
}
