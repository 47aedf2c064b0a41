// In charge of: whether a rendition's chunks are encoded at a constant rate factor, and at which.
// Not in charge of: finding it (rateFactor.ts), the flags (argv/encoderArgs.ts).
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/**
 * Encoders whose chunks need a constant rate factor. With an average bitrate, each chunk begins with the encoder's guess
 * and ends near the average whatever it shows: 2 % of the size and of the quality after each join for film, several times
 * as much where easy and difficult parts alternate. mpeg2 is not divided (notDivided.ts).
 */
const DRIFTING: ReadonlySet<VideoPlan['codec']> = new Set(['h264', 'hevc'])

/** A rendition of vbr whose chunks would differ from one encode. qvbr is a constant rate factor as it is. */
export function needsRateFactor(video: VideoPlan | null): video is VideoPlan {
  return video !== null && video.copied == null && video.mode === 'vbr' && DRIFTING.has(video.codec)
}

/**
 * The rate factor in the derived plan of a chunk; null = the rendition's plan decides. `rendition`: its position in the
 * packaging.
 */
export function chunkRateFactor({ part, division }: Pick<Plan, 'part' | 'division'>, rendition: number): number | null {
  return part?.kind === 'chunk' ? (division?.rateFactors?.[rendition] ?? null) : null
}
