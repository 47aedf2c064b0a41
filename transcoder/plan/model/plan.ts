// In charge of: the complete plan of one task. All choices that the job left open are made here.
// Not in charge of: making them (planJob.ts), writing the arguments (ffmpegArgs.ts), running the plan
// (transcoder/pipeline/runTask.ts).
import type { CaptionFormat, Channel608 } from '#contract/captions.ts'
import type { AudioCodec, VideoCodec } from '#contract/codecs.ts'
import type { Warning } from '#contract/errors.ts'
import type { AudioContainer, SegmentForm } from '#contract/codecs.ts'
import type { FileContainer } from '#contract/containers.ts'
import type {
  AnimatedPreviewSpec,
  AudioPurpose,
  StillsSpec,
  TsServiceSpec,
  WaveformSpec,
} from '#contract/job/jobSpec.ts'
import type { ChannelMix } from './channelMix.ts'
import type { DivisionPlan, PartPlan } from './divisionPlan.ts'
import type { JoinPlan, PieceVideoPlan } from './joinPlan.ts'
import type { CutPlan, SourceReadingPlan } from './sourceReadingPlan.ts'
import type { FieldPlan, SourceVideo, VideoPlan } from './videoPlan.ts'
import type { DrawnArea } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import type { Rational } from '../../formats/rational.ts'

export interface AudioPlan {
  /** Position in `audioProfiles`. */
  profile: number
  codec: AudioCodec
  channels: number
  bitrateKbps: number
  sampleRate: number
  /** 1-based index among the source's audio streams. */
  sourceStream: number
  /** `source_stream` in the request, where the source is joined from several; missing = `sourceStream`. */
  requestedStream?: number | undefined
  /** ISO 639-2, three lower-case letters. */
  language: string | null
  /** Missing = main. */
  purpose?: AudioPurpose | undefined
  /** Missing = the stream is copied. */
  mix?: ChannelMix | undefined
  /**
   * Silence is added up to this many seconds; 0 or missing = as long as the source's audio.
   */
  silenceUntilSeconds?: number | undefined
  /** Linear percent, 0 to 200. */
  volumePercent: number
  /**
   * The gain in dB that reaches the requested loudness, and whether a limiter for true peaks follows; null = no
   * loudness was requested.
   */
  loudness: { gainDb: number; limited: boolean } | null
  /** Dialogue level that ac3 and eac3 state, 1 to 31 (dB below full scale); null for the other codecs. */
  dialnorm: number | null
  /** Bits of a sample of flac and pcm; missing or null for the other codecs. */
  bitDepth?: 16 | 24 | null | undefined
  /** The source's stream as it is; null or missing = it is encoded. */
  copied?: CopiedAudio | null | undefined
}

export interface CopiedAudio {
  /** Duration of one packet. */
  frameSeconds: number
  /** RFC 6381, where the header of a segment may say less than ffprobe found in the frames; missing = the header's. */
  codecString?: string | undefined
  /** Derived (plan/division/copyPlan.ts): a part of this job has encoded it. Missing = it comes from the source. */
  isOwn?: boolean | undefined
}

export interface OutputPlan {
  /** Position in `videoProfiles`. */
  profile: number
  /** Relative path below the job's destination. */
  path: string
  container: FileContainer
  contentType: string
  video: VideoPlan
  audio: AudioPlan[]
  /** Duration in seconds; null where the source does not state it. */
  durationSeconds: number | null
  /** Upper estimate of the file's size in bytes; decides the part size. */
  expectedBytes: number
  /**
   * Bytes reserved for the header of an mp4, so that the rest can be uploaded during the encode.
   * null: a transport stream, or an mp4 whose header is moved to the front at the end, and which is uploaded only then.
   */
  headerReserveBytes: number | null
  /** Constant multiplex rate of a transport stream in kbps; null = variable. */
  muxRateKbps: number | null
}

/** A stream of the source that the outputs carry unchanged. */
export interface SubtitlePlan {
  /** The PID in the source. */
  pid: number
  kind: 'teletext' | 'subtitles'
  /** ISO 639-2, with commas between several; null = not stated. */
  languages: string | null
}

/** How SCTE-35 cues are declared in the outputs. */
export interface CuePlan {
  pid: number
  /** cue_stream_type (ANSI/SCTE 35, table 3). */
  streamType: number
}

/** One audio profile as a separate file. */
export interface AudioFilePlan {
  /** Position in `audioProfiles`. */
  profile: number
  /** Relative path below the job's destination. */
  path: string
  container: AudioContainer
  contentType: string
  /** States its length to the sample, where MP4 would round it to milliseconds. Missing = no. */
  isExact?: boolean | undefined
  /** Only in the derived plan of a part: a track that is copied into the outputs later, in MP4 whatever its codec is. */
  isIntermediate?: boolean | undefined
  /** Only for an intermediate track: see StoredTrack. */
  isTrimmed?: boolean | undefined
  audio: AudioPlan
  /** Required duration in seconds; null where the source does not state how long this stream is. */
  durationSeconds: number | null
  /** Upper estimate of the file's size in bytes. */
  expectedBytes: number
}

/**
 * One stream of segments: a video rendition or an audio rendition. A video rendition's transport stream contains its
 * audio where audio is not separate.
 */
export interface RenditionPlan {
  kind: 'video' | 'audio'
  /** `video_0`, `audio_1`: unique, and safe as a name in playlists and manifests. */
  id: string
  /** Below the packaging's directory; the profile's `output` without extension, else the id. */
  directory: string
  /** Position in `videoProfiles` or `audioProfiles`. */
  profile: number
  /** null for an audio rendition. */
  video: VideoPlan | null
  /** The one track of an audio rendition, or the tracks inside a video rendition's transport stream. */
  audio: AudioPlan[]
  /** Ids of the audio renditions that a video rendition's profile selects. */
  audioRenditions: string[]
  forms: SegmentForm[]
  /**
   * Frames per segment, whole GOPs. Segments also end at `video.spliceFrames`. For an audio rendition 0: it is cut where
   * the video is cut. Without video: samples per segment.
   */
  segmentFrames: number
  /**
   * The frames at which segments begin, and their times, where a copied rendition decides; null or missing = the rule
   * above.
   */
  segmentStarts?: SegmentStarts | null | undefined
}

export interface SegmentStarts {
  /** Ascending, from 0. */
  frames: number[]
  seconds: number[]
}

export interface ThumbnailPlan {
  /** Pixels of one thumbnail, even. */
  width: number
  height: number
  columns: number
  rows: number
  /** From one thumbnail to the next, in frames of the first rendition: whole segments. */
  intervalFrames: number
  intervalSeconds: number
  /** Pixels of the poster, even, and its frame number in the first rendition. */
  posterWidth: number
  posterHeight: number
  posterFrame: number
}

/** One subtitle stream of the source, text or teletext, as a WebVTT track. */
export interface TextTrackPlan {
  /** `sub_0`: unique, the name of its directory below `captions/`. */
  id: string
  /** Index among all streams of the source. */
  stream: number
  /** ISO 639; null where the source does not state it. */
  language: string | null
  /** Only text that is needed to follow the programme, such as foreign speech. */
  forced: boolean
  hearingImpaired: boolean
  /** Subtitle pages of teletext; missing = text. */
  teletext?: true | undefined
}

/** A caption file of the job as a track of its outputs. */
export interface SidecarPlan {
  /** Position in `captions` of the job. */
  caption: number
  format: CaptionFormat
  /** BCP 47; null = not stated. */
  language: string | null
  /** What players show; '' = the name of the language. */
  label: string
  isDefault: boolean
  forced: boolean
  hearingImpaired: boolean
  /** How many of its captions lie in the outputs. */
  cues: number
  /** CEA-608 channels in the frames of encoded video; empty or missing = none. */
  embed?: Channel608[] | null | undefined
}

/** A channel that was made from a caption file. */
export interface EmbeddedChannel {
  channel: Channel608
  /** BCP 47; null = not stated. */
  language: string | null
  label: string
}

/** Captions that are drawn into the video of every output. */
export type BurnInPlan = TextBurnInPlan | BitmapBurnInPlan

export interface TextBurnInPlan {
  kind: 'text'
  /** Position in `captions` of the job; or index among all streams of the source. */
  from: { kind: 'caption'; caption: number } | { kind: 'source track'; track: number; stream: number }
  /** Family name of the font. */
  font: string
  /** How many captions lie in the outputs. */
  cues: number
}

/** The images of a subtitle stream. `bitmaps` of a video says where they are drawn. */
export interface BitmapBurnInPlan {
  kind: 'bitmap'
  /** `stream`: index among all streams of the source. */
  from: { kind: 'source track'; track: number; stream: number }
  codec: string
  /** null = nothing is visible in the outputs. */
  drawn: DrawnArea | null
  /** How many are shown in the outputs. */
  cues: number
}

/** Segmented output: what is cut, where it is stored, which manifests list it. */
export interface PackagingPlan {
  /** Directory of the manifests as a relative path below the job's destination; '' = the destination itself. */
  directory: string
  /** Which segments `master.m3u8` lists; null = no HLS. */
  hls: 'cmaf' | 'ts' | null
  /** Write `manifest.mpd`, which lists the cmaf segments. */
  dash: boolean
  /** Path of the Smooth manifest's directory below `directory`: `<name>.ism`; null = none. */
  smooth: string | null
  /** Seconds of a full segment, exact: segmentFrames / frameRate of every video rendition. */
  segmentDuration: Rational
  /** Relative path of the tar below the job's destination; null = none. */
  tar: string | null
  /** The source's captions are also written as WebVTT. */
  textTracks: boolean
  /** Text subtitles of the source that become WebVTT tracks; missing = none. */
  subtitles?: TextTrackPlan[] | undefined
  /** The caption channels found in the source, for renditions that keep them: `CC1`, `SERVICE1`; empty = none. */
  captionChannels: string[]
  /** The languages that the source states for its captions (ISO 639-2), by channel. */
  captionLanguages: Record<string, string>
  /** Channels made from caption files, in place of those of the source; missing = none. */
  embedded?: EmbeddedChannel[] | undefined
  thumbnails: ThumbnailPlan | null
  /** Milliseconds since 1970 at the first frame. */
  programStart: number
  /** Derived (plan/division/encodedSegments.ts): the segments are copied into the outputs later. Missing = no. */
  isIntermediate?: boolean | undefined
  renditions: RenditionPlan[]
}

/** One element of `stills`. */
export interface StillsPlan {
  /** Position in `stills`. */
  index: number
  format: StillsSpec['format']
  contentType: string
  quality: number
  /** Square pixels. */
  width: number
  height: number
  /** Relative paths below the job's destination, and numbers of frames in the outputs, ascending. */
  images: { path: string; frame: number }[]
}

export interface AnimatedPreviewPlan {
  format: AnimatedPreviewSpec['format']
  path: string
  contentType: string
  /** Even. */
  width: number
  height: number
  framesPerSecond: number
  /** Numbers of frames in the outputs, ascending. */
  frames: number[]
}

export interface WaveformPlan {
  format: WaveformSpec['format']
  path: string
  contentType: string
  sourceStream: number
  sampleRate: number
  sourceChannels: number
  /** 1, or those of the source. */
  channels: number
  samplesPerPixel: number
  bits: 8 | 16
  /** Width of the image in pixels. */
  width: number
  height: number
  backgroundColor: string
  waveformColor: string
  durationSeconds: number | null
}

/** Files made of a few frames or of the audio's peaks: stills, the animated preview, the waveform. */
export interface ExtractsPlan {
  /** How frames are read; null = none is needed. */
  frames: {
    video: PieceVideoPlan
    picture: SourceVideo
    fields: FieldPlan
    cut: CutPlan | null
    /** As `videoOffsetSeconds` of the plan. */
    offsetSeconds: number
    /** As in CutPlan. */
    seekOriginSeconds: number | null
    /** Decoding this many seconds takes as long as seeking once; null = seeking is never faster. */
    seekSeconds: number | null
    /** The job makes no video: frames are read in runs of their own. */
    separate: boolean
  } | null
  stills: StillsPlan[]
  preview: AnimatedPreviewPlan | null
  waveform: WaveformPlan | null
}

/** The content of one pipe with frames or samples of which a file is made. */
export type ExtractPipe = { kind: 'still'; element: number } | { kind: 'preview' } | { kind: 'waveform' }

/** The content of one pipe from ffmpeg, in the order of its arguments after the files of `plannedFiles`. */
export type PipePlan =
  | { kind: 'rendition'; rendition: number; form: SegmentForm }
  /** The source's video unchanged, in a transport stream, from which the captions are read. */
  | { kind: 'captions' }
  /** A text subtitle stream as WebVTT; `track` is its position in `subtitles`. */
  | { kind: 'subtitles'; track: number }
  /** One JPEG after another: sheets of thumbnails; the poster. */
  | { kind: 'thumbnails' }
  | { kind: 'poster' }

export interface Plan extends SourceReadingPlan {
  version: 2
  /** The ffmpeg that it was made for; missing until the plan is stored. */
  engine?: { version: string; build: string; features: Record<string, boolean> } | undefined
  /** The pieces that the source is joined from; missing = it is one file. */
  join?: JoinPlan | undefined
  /** null or missing = one task makes the whole job. */
  division?: DivisionPlan | null | undefined
  /** Set in the derived plan of one part; missing = the whole job. */
  part?: PartPlan | undefined
  /** Set in the derived plan that copies what parts encoded; missing = the source is read. */
  stored?: StoredStreams | undefined
  /** null = single files in `outputs`; else `outputs` is empty (`audioFiles` may not be). */
  packaging: PackagingPlan | null
  /** Duration of the longest output in seconds; null where the source does not state it. */
  durationSeconds: number | null
  /** Audio streams of the source that some output uses, 1-based, ascending. */
  sourceAudio: number[]
  /** This libx265 has an option for captions (its default differs between versions). */
  hevcCaptionsOption: boolean
  /** null: no cues are carried. */
  cues: CuePlan | null
  /** null: no single file is a transport stream. */
  service: TsServiceSpec | null
  /** Missing = none. */
  subtitles?: SubtitlePlan[] | undefined
  /** Missing = none. */
  sidecars?: SidecarPlan[] | undefined
  /** null or missing = none. */
  burnIn?: BurnInPlan | null | undefined
  outputs: OutputPlan[]
  audioFiles: AudioFilePlan[]
  /** null or missing = none. */
  extracts?: ExtractsPlan | null | undefined
  warnings: Warning[]
}

/** The inputs of the attempt that copies what the parts encoded: each video, then each track of audio. */
export interface StoredStreams {
  videos: VideoCodec[]
  tracks: StoredTrack[]
}

/** `trimmed`: it has lost as many samples as the encoder adds, for segments without edit lists. */
export interface StoredTrack {
  audio: AudioPlan
  trimmed: boolean
}
