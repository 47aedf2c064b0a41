// In charge of: whether a chunk has to decode frames before those that it shows, besides what their coding needs.
// Not in charge of: the length of the run-in (argv/rangeArgs.ts), the key frame where it begins (division/keyFrameSeek.ts).
import type { Plan } from '#contract/task/plan/plan.ts'

/** Filters that look at neighbouring frames, and all that is drawn or cut by the time of frames before the chunk. */
export function needsRunIn({ cut, burnIn, packaging, picture }: Plan): boolean {
  const videos = (packaging?.renditions ?? []).flatMap(({ video }) => (video === null ? [] : [video]))
  return (
    cut != null ||
    burnIn != null ||
    picture.conversion !== 'none' ||
    videos.some((video) => video.deinterlace !== 'none' || video.scan !== 'progressive' || video.bitmaps != null)
  )
}
