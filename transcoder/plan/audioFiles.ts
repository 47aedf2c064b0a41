// In charge of: audio_output_path: each audio profile as a file of its own, beside the outputs that carry it.
// Not in charge of: how a profile sounds (audio.ts).
import type { Warning } from '#contract/errors.ts'
import { audioFilePath } from '#contract/outputs.ts'
import type { AudioCodec, JobSpec } from '#contract/spec.ts'
import { planTrack } from './audio.ts'
import type { MediaInfo } from './media.ts'
import type { AudioFilePlan } from './plan.ts'

const forms: Record<AudioCodec, { container: AudioFilePlan['container']; contentType: string }> = {
  aac: { container: 'm4a', contentType: 'audio/mp4' },
  ac3: { container: 'ac3', contentType: 'audio/ac3' },
  mp2: { container: 'mp2', contentType: 'audio/mpeg' },
}
/** ADTS-like framing and MP4 tables, generously. */
const OVERHEAD = 1.1
const UNKNOWN_DURATION_SECONDS = 12 * 3600

/** `durationSeconds` and `offsetSeconds` are the plan's: how long the outputs last, and what is taken off the file's clock. */
export function planAudioFiles(
  spec: JobSpec,
  media: MediaInfo,
  durationSeconds: number | null,
  offsetSeconds: number,
  warnings: Warning[],
): AudioFilePlan[] {
  if (spec.audioDirectory === null) return []
  return spec.audio.flatMap((profile) => {
    const audio = planTrack(spec, profile, media, warnings)
    if (audio === null) return []
    const stream = media.audio.find((candidate) => candidate.number === audio.sourceStream)
    const begins = (stream?.startSeconds ?? media.startSeconds ?? 0) - (media.startSeconds ?? 0)
    // A stream may end before the film does, and silence is put before one that begins late.
    const own =
      stream?.durationSeconds === undefined || stream.durationSeconds === null
        ? null
        : Math.max(0, begins + stream.durationSeconds - offsetSeconds)
    return [
      {
        profile: profile.index,
        path: audioFilePath(spec, profile),
        ...forms[profile.codec],
        audio,
        durationSeconds: own === null ? null : Math.min(own, durationSeconds ?? own),
        expectedBytes: Math.ceil(
          (own ?? durationSeconds ?? UNKNOWN_DURATION_SECONDS) * profile.bitrateKbps * 125 * OVERHEAD + 65_536,
        ),
      },
    ]
  })
}
