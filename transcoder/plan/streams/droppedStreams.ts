// In charge of: warnings about the source's streams that no output carries, by kind, and about audio in bursts of data.
// Not in charge of: audio that no profile selects (the job's choice), captions (captionPlan.ts).
import type { Warning } from '#contract/errors.ts'
import type { WarningCode } from '#contract/warningCodes.ts'
import type { AudioStream, MediaInfo, OtherStream } from '../model/mediaInfo.ts'

interface DroppedKind {
  code: WarningCode
  name: string
  /** The warning also names the codec, where the kind does not imply it. */
  codec?: true
}

const byCodec: Record<string, DroppedKind> = {
  dvb_subtitle: { code: 'dvb_subtitles_left_out', name: 'DVB subtitles' },
  dvb_teletext: { code: 'teletext_left_out', name: 'teletext' },
  hdmv_pgs_subtitle: { code: 'picture_subtitles_left_out', name: 'picture subtitles', codec: true },
  dvd_subtitle: { code: 'picture_subtitles_left_out', name: 'picture subtitles', codec: true },
  xsub: { code: 'picture_subtitles_left_out', name: 'picture subtitles', codec: true },
  eia_608: { code: 'caption_track_left_out', name: 'a caption track', codec: true },
  timed_id3: { code: 'id3_left_out', name: 'timed ID3' },
  klv: { code: 'klv_left_out', name: 'KLV metadata' },
  scte_35: { code: 'scte35_left_out', name: 'SCTE-35 cues' },
  // QuickTime's timecode track has only this tag, no codec.
  tmcd: { code: 'timecode_left_out', name: 'timecode' },
}

/** Keys are ffprobe's codec types, and ffprobeJson.ts's own name for cover art. */
const byType: Record<string, DroppedKind> = {
  subtitle: { code: 'text_subtitles_left_out', name: 'text subtitles', codec: true },
  data: { code: 'data_left_out', name: 'data', codec: true },
  attachment: { code: 'attachment_left_out', name: 'an attachment', codec: true },
  'cover art': { code: 'cover_art_left_out', name: 'cover art', codec: true },
  video: { code: 'further_video_left_out', name: 'further video', codec: true },
  'audio data': { code: 'audio_is_data', name: 'data instead of sound', codec: true },
  audio: { code: 'unreadable_audio_left_out', name: 'audio that cannot be read', codec: true },
}
const unknown: DroppedKind = { code: 'unknown_stream_left_out', name: 'of an unknown kind', codec: true }

/** One warning for each stream except those in `carriedPids` and `carried`, and one for an AFD inside the video. */
export function warnDroppedStreams(
  media: MediaInfo,
  carriedPids: readonly number[] = [],
  carried: readonly OtherStream[] = [],
): Warning[] {
  const warnings = media.other
    .filter((stream) => !carried.includes(stream) && (stream.id === null || !carriedPids.includes(stream.id)))
    .map(droppedWarning)
  if (media.video?.activeFormat === true)
    warnings.push({
      code: 'afd_left_out',
      message: 'The active format description (AFD) in the source’s video is not part of the output.',
    })
  return [...warnings, ...media.audio.flatMap(burstWarning)]
}

function burstWarning({ index, codec, channelLayout, channels, bursts }: AudioStream): Warning[] {
  if (bursts === undefined) return []
  const found = `Stream ${index} of the source is ${codec} (${channelLayout ?? channels}) in bursts of data in ${bursts.around}, and is decoded.`
  const other = bursts.otherSeconds
  const rest = other < MIN_OTHER_SECONDS ? '' : ` ${other.toFixed(1)} s of it are none, and are silent in the outputs.`
  return [{ code: 'audio_is_data', message: `${found}${rest}` }]
}

/** The end of a burst may be cut off. */
const MIN_OTHER_SECONDS = 0.1

function droppedWarning(stream: OtherStream): Warning {
  const kind = byCodec[stream.codec] ?? byType[stream.type] ?? unknown
  const details = [
    kind.name,
    ...(kind.codec === true && stream.codec !== 'unknown' ? [stream.codec] : []),
    ...(stream.language === null || stream.language === 'und' ? [] : [stream.language]),
  ]
  return {
    code: kind.code,
    message: `Stream ${stream.index} of the source (${details.join(', ')}) is not part of the output.`,
  }
}
