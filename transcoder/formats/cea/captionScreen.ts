// In charge of: the screen of one caption channel over time: turns each change into cues.
// Not in charge of: the commands that change the screen (captionDecoder.ts, service708.ts), the file
// (manifests/webvtt/webvttWriter.ts).

/** Text at one position of the screen. */
export interface TextBlock {
  /** Lines, separated by line feeds. */
  text: string
  /** Cue settings of WebVTT; '' = the player's default position. */
  settings: string
}

/** Seconds; 0 = the first frame of the outputs. */
export interface CaptionCue extends TextBlock {
  start: number
  end: number
}

/** cut = text was removed, or appeared at once; grow = characters were added or corrected, as in live captions. */
export type ScreenChange = 'cut' | 'grow'

/** Growing text is one cue, with its final text from the first character on, unless it pauses for this many seconds. */
const GROW_WITHIN_SECONDS = 1
/**
 * Maximum number of cues of one channel: far more than a day of speech. A hostile stream could change with every frame.
 */
const MAX_CUES = 200_000
const MAX_CHARACTERS = 16 * 1024 * 1024

export class ScreenLog {
  readonly #cues: CaptionCue[] = []
  /** Cues were dropped because of the limits. */
  isOverLimit = false
  readonly #open = new Map<string, CaptionCue>()
  #blocks: readonly TextBlock[] = []
  #since = 0
  #changed = 0
  #characters = 0

  /** The screen shows `blocks` from `time` on. Times never go back. */
  show(time: number, blocks: readonly TextBlock[], change: ScreenChange): void {
    if (same(blocks, this.#blocks)) return
    const grows = change === 'grow' && this.#blocks.length > 0 && time - this.#changed < GROW_WITHIN_SECONDS
    if (!grows) {
      this.#close(time)
      this.#since = time
    }
    this.#blocks = blocks
    this.#changed = time
  }

  /** Ends the channel. The blocks still shown last until `time`. Returns the cues by start time. */
  end(time: number): CaptionCue[] {
    this.#close(Math.max(time, this.#since))
    for (const cue of this.#open.values()) this.#addCue(cue)
    this.#open.clear()
    return this.#cues.toSorted((a, b) => a.start - b.start)
  }

  /** Writes the blocks shown until now as cues. A block that stays while others change remains one cue. */
  #close(time: number): void {
    for (const block of this.#blocks) {
      const key = `${block.settings}\n${block.text}`
      const open = this.#open.get(key)
      if (open?.end === this.#since) open.end = time
      else this.#open.set(key, { ...block, start: this.#since, end: time })
    }
    for (const [key, cue] of this.#open)
      if (cue.end < time || cue.start === time) {
        this.#open.delete(key)
        this.#addCue(cue)
      }
  }

  #addCue(cue: CaptionCue): void {
    const { start, end, text } = cue
    if (end <= Math.max(0, start)) return
    this.#characters += text.length
    if (this.#cues.length >= MAX_CUES || this.#characters > MAX_CHARACTERS) {
      this.isOverLimit = true
      return
    }
    this.#cues.push({ ...cue, start: Math.max(0, start) })
  }
}

function same(a: readonly TextBlock[], b: readonly TextBlock[]): boolean {
  return (
    a.length === b.length && a.every(({ text, settings }, at) => text === b[at]!.text && settings === b[at]!.settings)
  )
}
