// In charge of: which captions are drawn into the video: a caption file, or a subtitle stream of the source.
// Not in charge of: how text is drawn (formats/ass), the request's rules (contract/job/rules/burnIn.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { MediaInfo, OtherStream } from '../model/mediaInfo.ts'

/** Codecs of subtitles that are images. */
const BITMAP_CODECS = new Set(['dvb_subtitle', 'hdmv_pgs_subtitle', 'dvd_subtitle', 'xsub'])

/** The captions that a job draws; null = none. */
export type BurnInSource = { kind: 'caption'; caption: number } | { kind: 'stream'; stream: OtherStream }

/** Throws subtitle_track_missing or subtitle_track_unsupported. */
export function burnInSource({ burnIn = null }: JobSpec, media: MediaInfo): BurnInSource | null {
  if (burnIn === null) return null
  if (burnIn.kind === 'caption') return burnIn
  const tracks = media.other.filter(({ type }) => type === 'subtitle')
  const stream = tracks[burnIn.track - 1]
  const field = 'burn_in_captions.source_track'
  if (stream === undefined) {
    const has =
      tracks.length === 0
        ? 'the source has no subtitle streams'
        : `the subtitle streams of the source are 1 to ${tracks.length}: ${tracks.map(({ codec }) => codec).join(', ')}`
    throw new TaskError('subtitle_track_missing', `source_track is ${burnIn.track}, but ${has}.`, { field })
  }
  if (BITMAP_CODECS.has(stream.codec))
    throw new TaskError(
      'subtitle_track_unsupported',
      `Subtitle stream ${burnIn.track} of the source (${stream.codec}) consists of images, which this version cannot draw.`,
      { field },
    )
  return { kind: 'stream', stream }
}
