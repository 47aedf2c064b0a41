// In charge of: which text subtitles of the source become WebVTT tracks of segmented output.
// Not in charge of: the arguments (segmentArgs.ts), reading ffmpeg's output (transcoder/segmenter/subtitleReader.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo, OtherStream } from '../model/mediaInfo.ts'
import type { TextTrackPlan } from '../model/plan.ts'

/** Codecs whose text ffmpeg decodes. All other subtitles are bitmaps or teletext. */
const TEXT_CODECS = new Set(['mov_text', 'subrip', 'srt', 'webvtt', 'ass', 'ssa', 'text'])
/** Each track needs a pipe. More than any real programme has. */
export const MAX_TRACKS = 32

/**
 * Streams of the source that become tracks. The others give a warning (droppedStreams.ts). Smooth manifests list none.
 */
export function textSubtitleStreams({ packaging }: JobSpec, media: MediaInfo): OtherStream[] {
  if (packaging === null || !(packaging.hls || packaging.dash)) return []
  return media.other.filter(({ type, codec }) => type === 'subtitle' && TEXT_CODECS.has(codec)).slice(0, MAX_TRACKS)
}

export function planTextTracks(spec: JobSpec, media: MediaInfo): TextTrackPlan[] {
  return textSubtitleStreams(spec, media).map(({ index, language, dispositions }, position) => ({
    id: `sub_${position}`,
    stream: index,
    language: language !== null && /^[a-z]{2,3}$/.test(language) && language !== 'und' ? language : null,
    forced: dispositions?.includes('forced') ?? false,
    hearingImpaired: dispositions?.includes('hearing_impaired') ?? false,
  }))
}
