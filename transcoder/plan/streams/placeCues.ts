// In charge of: moving captions from the timeline of the source to the timeline of the outputs.
// Not in charge of: reading them (formats/captions).
import type { CaptionCue } from '../../formats/captions/captionCue.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'

/** Cues in presentation time: 0 = the first frame of the outputs. Those outside of the outputs are left out. */
export function placeCues(
  cues: readonly CaptionCue[],
  cut: Pick<CutPlan, 'startSeconds'> | null | undefined,
  duration: number | null,
): CaptionCue[] {
  const begin = cut?.startSeconds ?? 0
  const last = duration ?? Number.POSITIVE_INFINITY
  return cues.flatMap((cue) => {
    const [start, end] = [Math.max(0, cue.start - begin), Math.min(last, cue.end - begin)]
    // Less than a millisecond cannot be written.
    return end - start < 0.001 ? [] : [{ ...cue, start, end }]
  })
}
