// In charge of: a limit of the captions that are drawn at the same time: libass draws every one of them in every frame.
// Not in charge of: what is said about it (plan/streams/burnIn.ts).
import { plainText, type CaptionCue } from '../captions/captionCue.ts'

/** More do not fit into a frame. */
const MAX_AT_ONCE = 16
const MAX_CHARACTERS = 6000

/** `cues` by start. Keeps those that began first. */
export function withoutCrowds(cues: readonly CaptionCue[]): { cues: CaptionCue[]; left: number } {
  const kept: CaptionCue[] = []
  let shown: { end: number; characters: number }[] = []
  for (const cue of cues) {
    shown = shown.filter(({ end }) => end > cue.start)
    const characters = plainText(cue).length
    const sum = shown.reduce((total, each) => total + each.characters, characters)
    if (shown.length >= MAX_AT_ONCE || sum > MAX_CHARACTERS) continue
    shown.push({ end: cue.end, characters })
    kept.push(cue)
  }
  return { cues: kept, left: cues.length - kept.length }
}
