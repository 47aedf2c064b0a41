// In charge of: the warning that the video changes its display aspect ratio where the engine does not follow.
// Not in charge of: finding the ratios (analysis/aspectChanges.ts).
import type { Warning } from '#contract/errors.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'

export function warnDisplayRatios({ video }: Pick<MediaInfo, 'video'>): Warning[] {
  const [first, ...others] = video?.displayRatios ?? []
  if (first === undefined) return []
  const message = `The video of the source changes its display aspect ratio (${first}, then ${others.join(' and ')}), which ffmpeg 7 does not follow: all of it is shown as ${first}. ffmpeg 5.1 to 6.1 (FFMPEG_PATH) shows each part in its own shape.`
  return [{ code: 'source_size_changes', message }]
}
