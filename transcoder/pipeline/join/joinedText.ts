// In charge of: captions and subtitles of all pieces on the clock of the outputs.
// Not in charge of: reading the text of one piece (joinFeed.ts), tracks and files (segmenter/webvttTracks.ts).
import type { CaptionChannelCues } from '../../formats/cea/captionDecoder.ts'
import type { CaptionCue } from '../../formats/cea/captionScreen.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { parseWebvtt } from '../../manifests/webvtt/webvttParser.ts'
import { webvtt, type VttCue } from '../../manifests/webvtt/webvttWriter.ts'
import { TS_ORIGIN_TICKS } from '../../plan/forms.ts'
import type { SubtitleText } from '../../segmenter/subtitleReader.ts'
import type { PieceText } from './pieceText.ts'

const ORIGIN_SECONDS = TS_ORIGIN_TICKS / TICKS_PER_SECOND

export class JoinedText {
  readonly #channels = new Map<string, CaptionCue[]>()
  readonly #subtitles = new Map<number, { cues: VttCue[]; truncated: boolean }>()
  #isOverLimit = false

  /** `start` and `seconds`: of the piece in the outputs. */
  add(piece: PieceText, start: number, seconds: number): void {
    const { channels, isOverLimit } = piece.captions.end(seconds)
    this.#isOverLimit ||= isOverLimit
    for (const { channel, cues } of channels) {
      const all = this.#channels.get(channel) ?? []
      this.#channels.set(channel, [...all, ...cues.map((cue) => moved(cue, start))])
    }
    for (const [track, { text, truncated }] of piece.subtitles) {
      const all = this.#subtitles.get(track) ?? { cues: [], truncated: false }
      const cues = parseWebvtt(text, ORIGIN_SECONDS + piece.secondsBefore, seconds)
      this.#subtitles.set(track, {
        cues: [...all.cues, ...cues.map((cue) => moved(cue, start))],
        truncated: all.truncated || truncated,
      })
    }
  }

  /** As CaptionDecoder does. */
  end(end: number): { channels: CaptionChannelCues[]; isOverLimit: boolean } {
    const channels = [...this.#channels].map(([channel, cues]) => ({
      channel,
      cues: cues.filter(({ start }) => start < end).map((cue) => ({ ...cue, end: Math.min(cue.end, end) })),
    }))
    return { channels, isOverLimit: this.#isOverLimit }
  }

  /** The text of `count` tracks, as ffmpeg writes it (segmenter/subtitleReader.ts). */
  subtitles(count: number): SubtitleText[] {
    return Array.from({ length: count }, (_, track) => {
      const { cues, truncated } = this.#subtitles.get(track) ?? { cues: [], truncated: false }
      return { text: webvtt(cues.map((cue) => moved(cue, ORIGIN_SECONDS))), truncated }
    })
  }
}

function moved<Cue extends { start: number; end: number }>(cue: Cue, seconds: number): Cue {
  return { ...cue, start: cue.start + seconds, end: cue.end + seconds }
}
