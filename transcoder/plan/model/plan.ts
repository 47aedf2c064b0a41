// In charge of: the complete plan of one task. All choices that the job left open are made here.
// Not in charge of: making them (planJob.ts), writing the arguments (ffmpegArgs.ts), running the plan
// (transcoder/pipeline/runTask.ts).
import type { CaptionFormat } from '#contract/captions.ts'
import type { AudioCodec, VideoCodec } from '#contract/codecs.ts'
import type { Warning } from '#contract/errors.ts'
import type { AudioContainer, SegmentForm } from '#contract/codecs.ts'
import type { FileContainer } from '#contract/containers.ts'
import type {
  AnimatedPreviewSpec,
  BitrateMode,
  Quality,
  StillsSpec,
  TsServiceSpec,
  WaveformSpec,
} from '#contract/job/jobSpec.ts'
import type { ChannelMix } from './channelMix.ts'
import type { JoinPlan, PieceVideoPlan } from './joinPlan.ts'
import type { MasteringDisplay } from './mediaInfo.ts'
import type { Rational } from '../../formats/rational.ts'

/**
 * frames = one frame out per frame in (bwdif send_frame); fields = one frame per field (doubles the rate); telecine =
 * undoing 3:2 pulldown.
 */
export type Deinterlace = 'none' | 'frames' | 'fields' | 'telecine'

/** How the source's fields are identified. */
export interface FieldPlan {
  /** auto = as each frame's flags say. */
  parity: 'auto' | 'tff' | 'bff'
  /** Which frames are deinterlaced: those flagged as interlaced, or all where the flags are wrong. */
  frames: 'interlaced' | 'all'
  /** Progressive frames are flagged as interlaced. */
  clearFlag: boolean
}

/** The colour tags of an output, in ffmpeg's names. The range of an output is always limited ("tv"). */
export interface ColorTags {
  matrix: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020nc'
  primaries: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020'
  transfer: 'bt709' | 'smpte170m' | 'bt470bg' | 'smpte2084' | 'arib-std-b67'
}

/** How decoded frames are read: by the source's tags, or by what its size suggests where it has none. */
export interface SourceVideo {
  /** RGB pixels. They are converted to planar RGB, which every scaler accepts. */
  rgb: boolean
  /** Upright size in pixels. */
  width: number
  height: number
  /**
   * 4:2:0 of limited range with the output's bit depth: a frame that needs neither scaling nor another matrix stays
   * unchanged.
   */
  plain: boolean
  matrix: string
  fullRange: boolean
  primaries: string
  transfer: string
  /**
   * toneMap: PQ or HLG to BT.709. gamut: SDR with primaries, curve or matrix that broadcast does not use, to the
   * output's.
   */
  conversion: 'none' | 'toneMap' | 'gamut'
  /** null = SDR outputs of 8 bits. Otherwise the outputs are HDR of 10 bits with this brightness metadata. */
  hdr: {
    transfer: 'smpte2084' | 'arib-std-b67'
    masteringDisplay: MasteringDisplay | null
    contentLight: { maximum: number; average: number } | null
  } | null
}

/** How the source's image is fitted into the output frame: rotated, mirrored, cropped, scaled, with bars around it. */
export interface Geometry {
  /** Degrees clockwise, in addition to the source's own rotation. */
  turn: 0 | 90 | 180 | 270
  /** Applied after the rotation. */
  mirror: 'none' | 'horizontal' | 'vertical'
  /** The part of the rotated source that is used, around its centre: all of it unless the job crops. */
  cropWidth: number
  cropHeight: number
  /** Output size in pixels, even. */
  width: number
  height: number
  /** Size of the image inside the frame, even. Smaller than the frame where bars are needed. */
  pictureWidth: number
  pictureHeight: number
  /** Level of the bars: 0 = black, 100 = white. */
  barPercent: number
  /** Sample aspect ratio of the output. */
  sar: Rational
}

/** Size and position in the output's pixels, even. */
export interface LogoPlan {
  width: number
  height: number
  x: number
  y: number
  /** 0 to 1, applied on top of the image's own transparency. */
  opacity: number
}

export interface VideoPlan extends Geometry {
  codec: VideoCodec
  quality: Quality
  mode: BitrateMode
  bitrateKbps: number
  /** Highest rate of the decoder's buffer model; equal to bitrateKbps for cbr. */
  maxKbps: number
  /** Size of that buffer in bits. */
  bufferBits: number
  frameRate: Rational
  /**
   * Distinct frames per second. Half of frameRate where mpeg2 cannot signal the lower rate, so that each frame is coded
   * twice.
   */
  pictureRate: Rational
  /** Frames per GOP, exact and closed. */
  gopFrames: number
  bFrames: number
  deinterlace: Deinterlace
  /** How the output is coded. An interlaced output that is deinterlaced to fields is woven together again. */
  scan: 'progressive' | 'tff' | 'bff'
  color: ColorTags
  /** Frames at which a splice is possible: additional key frames that do not move the GOP grid. Ascending. */
  spliceFrames: number[]
  logo: LogoPlan | null
  /** CEA-608/708 in the video is carried over; false = removed, because this frame rate would garble it. */
  captions: boolean
  /** The source's video as it is; null or missing = it is encoded. The values above then describe the source. */
  copied?: CopiedVideo | null | undefined
}

export interface CopiedVideo {
  /** What was found in the source, as a sentence. */
  description: string
  frames: number
  /** After the first frame in decoding order; they are left out, because they refer to the GOP before a cut. */
  leadingFrames: number
  /** The longest time from one frame to the next. */
  frameSeconds: number
}

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
  /** Missing in the plan of an earlier version. */
  mix?: ChannelMix | undefined
  /**
   * Silence is added up to this many seconds; 0 = as long as the source's audio. Missing in the plan of an earlier
   * version.
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
  /** Text subtitles of the source that become WebVTT tracks. Missing in the plan of an earlier version. */
  subtitles?: TextTrackPlan[] | undefined
  /** The caption channels found in the source, for renditions that keep them: `CC1`, `SERVICE1`; empty = none. */
  captionChannels: string[]
  /** The languages that the source states for its captions (ISO 639-2), by channel. */
  captionLanguages: Record<string, string>
  thumbnails: ThumbnailPlan | null
  /** Milliseconds since 1970 at the first frame. */
  programStart: number
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
  /** Of the image. */
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

/** The part of the source that is used. Times count from the first frame that the outputs would have without a cut. */
export interface CutPlan {
  startSeconds: number
  /** null = to the end of the source. */
  endSeconds: number | null
  /** The first frame, and the first that is no longer used, at the rate of the source; null = it has no video. */
  frames: { rate: Rational; start: number; end: number | null } | null
  /** The place from which times count on ffmpeg's clock; null = the source is decoded from its beginning. */
  seekOriginSeconds: number | null
  /**
   * ffmpeg's clock is 0 where the part begins, so that copied streams begin there as well. Missing = its filters count
   * from the beginning of what is read.
   */
  movesClock?: boolean | undefined
}

export interface Plan {
  version: 2
  /** The ffmpeg that it was made for. Missing in a plan of an earlier transcoder. */
  engine?: { version: string; build: string; features: Record<string, boolean> } | undefined
  /** null = all of the source. Missing in the plan of an earlier version. */
  cut?: CutPlan | null | undefined
  /** The pieces that the source is joined from; missing = it is one file. */
  join?: JoinPlan | undefined
  /** null = single files in `outputs`; else `outputs` is empty (`audioFiles` may not be). */
  packaging: PackagingPlan | null
  /** Duration of the longest output in seconds; null where the source does not state it. */
  durationSeconds: number | null
  /** Start of the video on the file's clock, in seconds. It is subtracted so that video starts at 0 (recipes: VOFF). */
  videoOffsetSeconds: number
  /** Audio streams of the source that some output uses, 1-based, ascending. */
  sourceAudio: number[]
  /**
   * PIDs that select the streams of one program, audio by its number; null = streams are counted over the whole file.
   */
  pids: { video: number | null; audio: Record<number, number> } | null
  picture: SourceVideo
  fields: FieldPlan
  scaler: 'zscale' | 'scale'
  /** Some used audio is AC-3 or E-AC-3: its decoder must not apply dynamic range control. */
  disableDrc: boolean
  /** The source is probed further than usual, to find streams that begin late. */
  deepProbe: boolean
  /** This libx265 has an option for captions (its default differs between versions). */
  hevcCaptionsOption: boolean
  /** null: no cues are carried. */
  cues: CuePlan | null
  /** null: no single file is a transport stream. Missing in a plan of an earlier transcoder. */
  service?: TsServiceSpec | null | undefined
  /** Missing in a plan of an earlier transcoder. */
  subtitles?: SubtitlePlan[] | undefined
  /** Missing in a plan of an earlier transcoder. */
  sidecars?: SidecarPlan[] | undefined
  outputs: OutputPlan[]
  audioFiles: AudioFilePlan[]
  /** null = none. Missing in the plan of an earlier version. */
  extracts?: ExtractsPlan | null | undefined
  warnings: Warning[]
}
