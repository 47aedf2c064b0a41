// In charge of: what is seen of one caption channel over time: each change of its screen, as cues.
// Not in charge of: what changes the screen (cea608.ts, cea708.ts), the file (manifests/webvtt/webvttWriter.ts).

/** A piece of text in one place. */
export interface TextBlock {
  /** Lines by line feeds. */
  text: string
  /** Cue settings of WebVTT; '' = the player's own place. */
  settings: string
}

/** Seconds; 0 = the first picture of the outputs. */
export interface CaptionCue extends TextBlock {
  start: number
  end: number
}

/**
 * cut = something on the screen went away or came as a whole; grow = characters were added or corrected, as captions that are
 * written live are.
 */
export type ScreenChange = 'cut' | 'grow'

/** Text that grows is one cue, whole from its first character on, as long as it never rests for so long. Seconds. */
const GROW_WITHIN_SECONDS = 1
/** Cues of one channel: far more than a day of speech; a hostile stream changes with every picture for ever. */
const MAX_CUES = 200_000
const MAX_CHARACTERS = 16 * 1024 * 1024

export class ScreenLog {
  readonly #cues: CaptionCue[] = []
  /** Cues were left out because there were too many. */
  flooded = false
  readonly #open = new Map<string, CaptionCue>()
  #blocks: readonly TextBlock[] = []
  #since = 0
  #changed = 0
  #characters = 0

  /** The screen shows this from `time` on. Times never go back. */
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

  /** Nothing follows; what is still there stays to `time`. Cues come by their beginning. */
  end(time: number): CaptionCue[] {
    this.#close(Math.max(time, this.#since))
    for (const cue of this.#open.values()) this.#addCue(cue)
    this.#open.clear()
    return this.#cues.toSorted((a, b) => a.start - b.start)
  }

  /** What stood there until now. A block that stays where it is while others change remains one cue. */
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
      this.flooded = true
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
