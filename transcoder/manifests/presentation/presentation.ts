// In charge of: what is known of segmented output once it is encoded: tracks, their measured segments, cues, captions, thumbnails.
// Not in charge of: measuring (transcoder/segmenter), spelling it as playlists and manifests (mediaPlaylist.ts, mpd.ts, smoothManifest.ts).
import type { SegmentForm } from '#contract/codecs.ts'
import type { Rational } from '../../formats/rational.ts'

/** Bytes from `offset` on. Both absent = the whole object. */
export interface ByteRange {
  offset: number
  bytes: number
}

/** One segment as it was measured. Times are in ticks of the track's timescale, 0 = the presentation's first picture. */
export interface Segment {
  /** Relative to the track's directory: `<job_id>-<attempt>/00001.m4s`. */
  uri: string
  start: number
  duration: number
  bytes: number
  /** SHA-256, hex. */
  sha256: string
}

/** A picture that can be shown alone: where it lies inside of its segment. */
export interface KeyFrame {
  /** Position in the track's segments. */
  segment: number
  start: number
  /** To the next one, or to the end. */
  duration: number
  /** From the segment's beginning; includes what a decoder needs before the picture (its moof). */
  offset: number
  bytes: number
}

interface MediaTrack {
  /** `video_0`, `audio_1`; unique, and safe as a name in playlists and manifests. */
  id: string
  /** Relative to the presentation's directory, where the manifests lie; also the directory of its media playlist. */
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
  /** Kilobits per second as asked for. */
  bitrateKbps: number
  /** ISO 639-2; null where the source does not say. */
  language: string | null
  /**
   * 1-based index among the source's audio streams: tracks with the same one are encodings of one sound. Where it is absent,
   * tracks of one language are.
   */
  sourceStream?: number
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
  /** Audio in the same segments; empty where it has tracks of its own. */
  muxedAudio: AudioFormat[]
  /** Ids of the audio tracks that this video profile selects, in order; empty where audio is muxed or there is none. */
  audioTracks: string[]
  /** CEA-608/708 inside of the pictures: `CC1`, `SERVICE1`; empty = none. */
  captionChannels: string[]
  /** SPS and PPS with start codes, hex: [MS-SSTR] CodecPrivateData. Of smooth only, else ''. */
  codecPrivateData: string
}

export interface AudioTrack extends MediaTrack {
  kind: 'audio'
  /** Position in `audioProfiles`. */
  profile: number
  format: AudioFormat
  /** AudioSpecificConfig, hex: [MS-SSTR] CodecPrivateData. Of smooth only, else ''. */
  codecPrivateData: string
}

/** Captions or subtitles as WebVTT: one file per segment of the presentation for HLS, one whole file for DASH. */
export interface TextTrack {
  kind: 'text'
  id: string
  directory: string
  /** captions: also what is heard beside speech. forced: only what must be read to follow the programme. */
  purpose: 'captions' | 'subtitles' | 'forced'
  /** The channel that it was decoded from: `CC1`, `SERVICE1`; null = a subtitle stream. */
  channel: string | null
  /** Shown to people: `CC1`, `German`. */
  name: string
  /** ISO 639-2; null where nothing says it. */
  language: string | null
  /** Ticks of 1/1000 s. */
  timescale: 1000
  segments: Segment[]
  /** The whole track in one file, relative to `directory`. */
  whole: { uri: string; bytes: number; sha256: string }
}

/** Tiles of small pictures. */
export interface ThumbnailTrack {
  directory: string
  /** Pixels of one small picture. */
  width: number
  height: number
  columns: number
  rows: number
  /** Seconds between two pictures. */
  intervalSeconds: number
  /** The sheets, in order; each covers columns × rows pictures. Ticks of 1/1000 s. */
  sheets: Segment[]
  /** WebVTT with one cue a picture, relative to `directory`. */
  vtt: { uri: string }
  /** One larger picture for people, relative to `directory`. */
  poster: { uri: string; bytes: number; sha256: string }
}

/** A cue of the source on the presentation's time. Seconds; 0 = the first picture. */
export interface CueEvent {
  /** Unique in the presentation, stable between runs. */
  id: string
  /** Where the splice is made; for cues without a time where they stood. */
  start: number
  /** Announced length; null where none is. */
  duration: number | null
  /** out = a break begins, in = it ends, other = anything that is not a splice out of or into the programme. */
  kind: 'out' | 'in' | 'other'
  /** splice_event_id or segmentation_event_id; null where there is none. */
  eventId: number | null
  /** The whole splice_info_section, on the presentation's clock. */
  section: Uint8Array
}

/** Everything about one set of tracks with one set of manifests. */
export interface Presentation {
  /** Seconds. */
  duration: number
  /** Nominal length of a segment in seconds. */
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
}
