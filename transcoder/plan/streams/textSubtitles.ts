// In charge of: which text subtitles and teletext subtitle pages of the source become WebVTT tracks of segmented output.
// Not in charge of: the arguments (segmentArgs.ts), reading ffmpeg's output (transcoder/segmenter/subtitleReader.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from '../model/engineFeatures.ts'
import type { MediaInfo, OtherStream } from '../model/mediaInfo.ts'
import type { TextTrackPlan } from '#contract/task/plan/packagingPlan.ts'

/** Codecs whose text every ffmpeg decodes. All other subtitles are bitmaps or teletext. */
const TEXT_CODECS = new Set(['mov_text', 'subrip', 'srt', 'webvtt', 'ass', 'ssa', 'text'])
/** Each track needs a pipe. More than any real programme has. */
export const MAX_TRACKS = 32

/**
 * Streams of the source that become tracks. The others give a warning (droppedStreams.ts). Smooth manifests list none.
 */
export function textSubtitleStreams(
  { packaging }: JobSpec,
  media: MediaInfo,
  features: Partial<Pick<EngineFeatures, 'teletext'>> = {},
): OtherStream[] {
  if (packaging === null || !(packaging.hls || packaging.dash)) return []
  return media.other
    .filter((stream) => stream.type === 'subtitle' && isTextSubtitle(stream, features))
    .slice(0, MAX_TRACKS)
}

/** Whether this ffmpeg can read a subtitle stream as text. */
export function isTextSubtitle(stream: OtherStream, { teletext }: Partial<Pick<EngineFeatures, 'teletext'>>): boolean {
  return TEXT_CODECS.has(stream.codec) || (teletext === true && hasOneSubtitlePage(stream))
}

/** The decoder mixes all subtitle pages of a stream: those of one language only make a track. */
function hasOneSubtitlePage({ codec, language }: OtherStream): boolean {
  return codec === 'dvb_teletext' && new Set(pageLanguages(language)).size <= 1
}

/** ffprobe joins the languages of the pages that the descriptor lists. */
function pageLanguages(language: string | null): string[] {
  return language?.split(',') ?? []
}

export function planTextTracks(
  spec: JobSpec,
  media: MediaInfo,
  features: Partial<Pick<EngineFeatures, 'teletext'>> = {},
): TextTrackPlan[] {
  const drawn = drawnIndex(spec, media)
  return textSubtitleStreams(spec, media, features).map(({ index, codec, language, dispositions }, position) => ({
    id: `sub_${position}`,
    stream: index,
    language: pageLanguages(language).find((each) => /^[a-z]{2,3}$/.test(each) && each !== 'und') ?? null,
    // Players show forced tracks by themselves: this text is in the video already.
    forced: index !== drawn && (dispositions?.includes('forced') ?? false),
    hearingImpaired: dispositions?.includes('hearing_impaired') ?? false,
    teletext: codec === 'dvb_teletext',
  }))
}

/** Index of the stream that burn_in_captions names; null = none. */
function drawnIndex({ burnIn = null }: JobSpec, { other }: MediaInfo): number | null {
  if (burnIn?.kind !== 'source track') return null
  return other.filter(({ type }) => type === 'subtitle')[burnIn.track - 1]?.index ?? null
}
