// In charge of: the streams that other tasks encoded as inputs, from which they are copied into the outputs.
// Not in charge of: which they are, reading them (transcoder/upload/workObjects.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { StoredStreams } from '#contract/task/plan/plan.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'

const AUDIO_DECODERS = 'aac,ac3,eac3,mp2,mp2float,mp3,mp3float,opus,libopus,flac'

/** `pipes`: MP4, of each video fragmented, then of each track. */
export function storedInputArgs(stored: StoredStreams, pipes: readonly string[]): string[] {
  return [
    // Every stream has the times of the outputs: a track that begins late does not begin at 0.
    '-copyts',
    ...pipes.flatMap((pipe, position) => [
      ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'mov'],
      ...['-codec_whitelist', stored.videos[position] ?? AUDIO_DECODERS, '-f', 'mov', '-i', pipe],
    ]),
  ]
}

export function storedInputs({ videos, tracks }: StoredStreams): number {
  return videos.length + tracks.length
}

/** The input of a track as a stream. */
export function storedTrack({ videos, tracks }: StoredStreams, audio: AudioPlan, trimmed: boolean): string {
  const wanted = JSON.stringify(audio)
  const index = tracks.findIndex((each) => each.trimmed === trimmed && JSON.stringify(each.audio) === wanted)
  if (index < 0) throw new TypeError('a track of the outputs is not stored')
  return `${videos.length + index}:a:0`
}

/** Each track is the default of its own input, and players take the first one of an output. */
export function storedTrackArgs(tracks: number): string[] {
  return Array.from({ length: Math.max(0, tracks - 1) }, (_, more) => [`-disposition:a:${more + 1}`, '0']).flat()
}
