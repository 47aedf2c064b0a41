// In charge of: the warning that a source's clock jumps.
// Not in charge of: finding jumps (analysis/mediaLength.ts).
import type { Warning } from '#contract/errors.ts'
import { keepsJumps, type MediaInfo } from '../model/mediaInfo.ts'

/** The most jumps that are listed. */
const LISTED = 10

export function warnClockJumps({ clockJumps = [], formats }: Pick<MediaInfo, 'clockJumps' | 'formats'>): Warning[] {
  if (clockJumps.length === 0) return []
  const list = clockJumps
    .slice(0, LISTED)
    .map(({ atSeconds, bySeconds }) => `at ${atSeconds.toFixed(2)} s by ${bySeconds.toFixed(2)} s`)
    .join(', ')
  const more = clockJumps.length > LISTED ? `, and ${clockJumps.length - LISTED} more` : ''
  const effect = keepsJumps({ formats }) ? 'what comes after a step back is lost' : 'the outputs go on without a gap'
  return [{ code: 'clock_jumps', message: `The source's clock jumps (${list}${more}); ${effect}.` }]
}
