// In charge of: the description of encoded segmented output: tracks, their measured segments, cues, captions,
// thumbnails.
// Not in charge of: measuring (transcoder/segmenter), writing playlists and manifests (mediaPlaylist.ts, mpd.ts,
// smoothManifest.ts).
import type { SegmentForm } from '#contract/codecs.ts'
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import type { Rational } from '../../formats/rational.ts'

/** A byte range that begins at `offset`. */
export interface ByteRange {
  offset: number
  bytes: number
}

/** One segment as measured. Times are in ticks of the track's timescale, 0 = the presentation's first frame. */
export interface Segment {
  /** Relative to the track's directory: `<job_id>-<attempt>/00001.m4s`. */
  uri: string
  start: number
  duration: number
  bytes: number
  /** SHA-256, hex. */
  sha256: string
}

/** A frame that can be decoded alone, and its position in its segment. */
export interface KeyFrame {
  /** Index in the track's segments. */
  segment: number
  start: number
  /** Up to the next key frame, or to the end. */
  duration: number
  /** From the beginning of the segment. The range includes what a decoder needs before the frame (its moof). */
  offset: number
  bytes: number
}

interface MediaTrack {
  /** `video_0`, `audio_1`; unique, and safe as a name in playlists and manifests. */
  id: string
  /**
   * Relative to the presentation's directory, which contains the manifests. The track's media playlist is stored here
   * too.
   */
  directory: string
  form: SegmentForm
  /** Ticks per second: 90000 for ts. */
  timescale: number
  /** null for ts and smooth. */
  init: { uri: string; bytes: number; sha256: string } | null
  /** RFC 6381, from the sample descriptions, video first: `avc1.64001f`, `mp4a.40.2`. */
  codecs: string[]
  segments: Segment[]
}

export interface AudioFormat {
  /** RFC 6381. */
  codec: string
  channels: number
  /** Hz. */
  sampleRate: number
  /** The requested bitrate. */
  bitrateKbps: number
  /** ISO 639-2; null where the source does not state it. */
  language: string | null
  /** Missing = main. */
  purpose?: AudioPurpose | undefined
  /**
   * What it is made of (programmeOf). Tracks with the same value are encodings of the same audio. If it is missing, the
   * language decides instead.
   */
  programme?: string
}

export interface VideoTrack extends MediaTrack {
  kind: 'video'
  /** Position in `videoProfiles`. */
  profile: number
  width: number
  height: number
  /** Sample aspect ratio. */
  sar: Rational
  frameRate: Rational
  /** EXT-X-STREAM-INF VIDEO-RANGE. */
  range: 'SDR' | 'PQ' | 'HLG'
  keyFrames: KeyFrame[]
  /** Audio in the same segments; empty where audio has separate tracks. */
  muxedAudio: AudioFormat[]
  /** Ids of the audio tracks that this video profile selects, in order; empty where audio is muxed or there is none. */
  audioTracks: string[]
  /** CEA-608/708 channels inside the video: `CC1`, `SERVICE1`; empty = none. */
  captionChannels: string[]
  /** SPS and PPS with start codes, hex: [MS-SSTR] CodecPrivateData. Only for smooth, else ''. */
  codecPrivateData: string
}

export interface AudioTrack extends MediaTrack {
  kind: 'audio'
  /** Position in `audioProfiles`. */
  profile: number
  format: AudioFormat
  /** AudioSpecificConfig, hex: [MS-SSTR] CodecPrivateData. Only for smooth, else ''. */
  codecPrivateData: string
}

/** Captions or subtitles as WebVTT: one file per segment of the presentation for HLS, one whole file for DASH. */
export interface TextTrack {
  kind: 'text'
  id: string
  directory: string
  /** captions: includes sounds other than speech. forced: only text that is needed to follow the programme. */
  purpose: 'captions' | 'subtitles' | 'forced'
  /** The channel that it was decoded from: `CC1`, `SERVICE1`; null = a subtitle stream. */
  channel: string | null
  /** Shown to viewers: `CC1`, `German`. */
  name: string
  /** ISO 639-2 or BCP 47; null where it is unknown. */
  language: string | null
  /** Players show it unless the viewer chooses another track. */
  isDefault: boolean
  /** Ticks of 1/1000 s. */
  timescale: 1000
  segments: Segment[]
  /** The whole track as one file, relative to `directory`. */
  fullFile: { uri: string; bytes: number; sha256: string }
}

/** Sheets of thumbnails. */
export interface ThumbnailTrack {
  directory: string
  /** Pixels of one thumbnail. */
  width: number
  height: number
  columns: number
  rows: number
  /** Seconds from one thumbnail to the next. */
  intervalSeconds: number
  /** The sheets, in order; each contains columns × rows thumbnails. Ticks of 1/1000 s. */
  sheets: Segment[]
  /** WebVTT with one cue per thumbnail, relative to `directory`. */
  vtt: { uri: string }
  /** One larger image, relative to `directory`. */
  poster: { uri: string; bytes: number; sha256: string }
}

/** A cue of the source in presentation time. Seconds; 0 = the first frame. */
export interface CueEvent {
  /** Unique in the presentation, stable between runs. */
  id: string
  /** The time of the splice. A cue without a time gets its position in the source. */
  start: number
  /** Announced duration; null where there is none. */
  duration: number | null
  /** out = an ad break begins, in = it ends, other = anything that does not leave the programme or return to it. */
  kind: 'out' | 'in' | 'other'
  /** splice_event_id or segmentation_event_id; null where there is none. */
  eventId: number | null
  /** The whole splice_info_section, on the presentation's clock. */
  section: Uint8Array
}

/** A set of tracks that share one set of manifests. */
export interface Presentation {
  /** Seconds. */
  duration: number
  /** Nominal duration of a segment in seconds. */
  segmentSeconds: number
  /** Milliseconds since 1970 at presentation time 0 (decision "scte35_passthough": 0). */
  programStart: number
  video: VideoTrack[]
  audio: AudioTrack[]
  text: TextTrack[]
  thumbnails: ThumbnailTrack | null
  cues: CueEvent[]
  /** False: EXT-X-STREAM-INF says CLOSED-CAPTIONS=NONE. */
  hasCaptions: boolean
  /** Channels made from caption files; missing = none. */
  embedded?: readonly { channel: string; language: string | null; label: string }[] | undefined
}
