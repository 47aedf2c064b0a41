// In charge of: what is known about the media of a finished output, and the meaning of each member.
// Not in charge of: limits of the values (reportSchemas.ts), measuring (the transcoder). The service imports only the
// types.
import type * as z from 'zod'
import { mediaFactsSchema as measuredFacts } from './reportSchemas.ts'
import { described } from '../schemaParts.ts'

const KBPS = 'kbps (1,000 bit/s)'

/** Measured in the written output, never copied from the request. */
export const mediaFacts = described(measuredFacts, {
  average_bitrate_kbps: `${KBPS}: size divided by duration. For a master playlist or a manifest: of the highest rendition.`,
  peak_bitrate_kbps: `${KBPS}: the maximum over any second of a file, or over any segment of segmented output (RFC 8216, 4.3.4.2).`,
  'video.codec': 'ffprobe’s name: h264, hevc, mpeg2video.',
  'video.codec_string': 'RFC 6381; null if the codec has no such name.',
  'video.display_aspect_ratio': 'Display aspect ratio of the video, such as "16:9".',
  'video.frame_rate': 'A fraction, as "30000/1001".',
  'video.bitrate_kbps': `${KBPS}.`,
  'audio.codec': 'aac, ac3 or mp2.',
  'audio.bitrate_kbps': `${KBPS}.`,
  captions: 'Captions in the video ("CC1", "SERVICE1") and separate text tracks.',
  renditions: 'For a master playlist or a manifest: the renditions that a player chooses from.',
  'renditions.average_bitrate_kbps': `${KBPS}.`,
  'renditions.peak_bitrate_kbps': `${KBPS}.`,
})
export type MediaFacts = z.infer<typeof mediaFacts>
export type VideoFacts = NonNullable<MediaFacts['video']>
export type AudioFacts = MediaFacts['audio'][number]
