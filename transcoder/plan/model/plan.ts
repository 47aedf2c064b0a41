// In charge of: the complete plan of one task. No field is optional: what was open in the job is decided here.
// Not in charge of: deciding (planJob.ts), spelling it as argv (ffmpegArgs.ts), running it (transcoder/pipeline/runTask.ts).
import type { AudioCodec, VideoCodec } from '#contract/codecs.ts'
import type { Warning } from '#contract/errors.ts'
import type { AudioContainer, SegmentForm } from '#contract/codecs.ts'
import type { FileContainer } from '#contract/containers.ts'
import type { BitrateMode, Quality, TsServiceSpec } from '#contract/job/jobSpec.ts'
import type { ChannelMix } from './channelMix.ts'
import type { MasteringDisplay } from './mediaInfo.ts'
import type { Rational } from '../../formats/rational.ts'

/**
 * none; frames = one picture per frame (bwdif send_frame); fields = one picture per field (doubles the rate);
 * telecine = film behind 3:2 pulldown.
 */
export type Deinterlace = 'none' | 'frames' | 'fields' | 'telecine'

/** How a source's fields are told apart. */
export interface FieldPlan {
  /** auto = as each picture says. */
  parity: 'auto' | 'tff' | 'bff'
  /** Which pictures are deinterlaced: those that say so, or all, where the flags are wrong. */
  frames: 'interlaced' | 'all'
  /** Progressive pictures that say that they are interlaced. */
  clearFlag: boolean
}

/** The colour that a picture is written in, in ffmpeg's own names. The range of an output is always limited ("tv"). */
export interface ColorTags {
  matrix: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020nc'
  primaries: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020'
  transfer: 'bt709' | 'smpte170m' | 'bt470bg' | 'smpte2084' | 'arib-std-b67'
}

/** How decoded pictures are to be read: what the source says, or what its size suggests where it says nothing. */
export interface SourceVideo {
  /** RGB pixels: converted by way of planar RGB, which every scaler takes. */
  rgb: boolean
  /** Upright size in pixels. */
  width: number
  height: number
  /** True for 4:2:0 of limited range with the output's bits: a picture that needs neither scaling nor a matrix can then stay as it is. */
  plain: boolean
  matrix: string
  fullRange: boolean
  primaries: string
  transfer: string
  /** toneMap: PQ or HLG, brought to BT.709. gamut: SDR of other primaries, curve or matrix than broadcast has, brought to the output's. */
  conversion: 'none' | 'toneMap' | 'gamut'
  /** null = SDR outputs of 8 bits; else they are HDR of 10 bits, and this is what they say of their brightness. */
  hdr: {
    transfer: 'smpte2084' | 'arib-std-b67'
    masteringDisplay: MasteringDisplay | null
    contentLight: { maximum: number; average: number } | null
  } | null
}

/** How a picture is brought into its frame: turned, mirrored, cropped, scaled, and bars around it. */
export interface Geometry {
  /** Degrees clockwise, beyond the source's own rotation. */
  turn: 0 | 90 | 180 | 270
  /** After turning. */
  mirror: 'none' | 'horizontal' | 'vertical'
  /** The part of the turned source that is used, around its middle; all of it unless the frame is to be filled. */
  cropWidth: number
  cropHeight: number
  /** Output size in pixels, even. */
  width: number
  height: number
  /** Size of the picture inside the frame, even; smaller than the frame where bars are needed. */
  pictureWidth: number
  pictureHeight: number
  /** Level of the bars: 0 = black, 100 = white. */
  barPercent: number
  /** Sample aspect ratio of the output. */
  sar: Rational
}

/** Size and place in the output's pixels, even. */
export interface LogoPlan {
  width: number
  height: number
  x: number
  y: number
  /** 0 to 1, on top of the image's own transparency. */
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
  /** Different pictures a second: half of it where mpeg2 has no such rate and each is coded twice. */
  pictureRate: Rational
  /** Frames per GOP, exact and closed. */
  gopFrames: number
  bFrames: number
  deinterlace: Deinterlace
  /** How the output is coded. An interlaced one that is deinterlaced to fields gets them woven together again. */
  scan: 'progressive' | 'tff' | 'bff'
  color: ColorTags
  /** Frames at which a splice may be made: key frames beside the grid of GOPs, which stays where it is. Ascending. */
  spliceFrames: number[]
  logo: LogoPlan | null
  /** CEA-608/708 in the video is carried over; false = removed, because this cadence would garble it. */
  captions: boolean
}

export interface AudioPlan {
  /** Position in `audioProfiles`. */
  profile: number
  codec: AudioCodec
  channels: 2 | 6
  bitrateKbps: number
  sampleRate: number
  /** 1-based index among the source's audio streams. */
  sourceStream: number
  /** ISO 639-2, three lower-case letters. */
  language: string | null
  /** Missing in the plan of an earlier version. */
  mix?: ChannelMix | undefined
  /** It is filled up with silence to so many seconds; 0 = as long as the source's. Missing in the plan of an earlier version. */
  silenceUntilSeconds?: number | undefined
  /** Linear percent, 0 to 200. */
  volumePercent: number
  /** The gain in dB that makes it as loud as asked, behind a limiter of true peaks or not; null = nothing was asked. */
  loudness: { gainDb: number; limited: boolean } | null
  /** Dialogue level that ac3 states, 1 to 31 (dB below full scale); null for the other codecs. */
  dialnorm: number | null
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
  /** Seconds that it lasts; null where the source does not say. */
  durationSeconds: number | null
  /** Upper estimate of the file's size in bytes; decides the part size. */
  expectedBytes: number
  /**
   * Bytes kept free for the header of an mp4 so that the rest can leave while encoding.
   * null: a transport stream, or an mp4 whose header is moved to the front after the end (and that leaves after the end).
   */
  headerReserveBytes: number | null
  /** Constant multiplex rate of a transport stream in kbps; null = variable. */
  muxRateKbps: number | null
}

/** A stream of the source that the outputs carry as it is. */
export interface SubtitlePlan {
  /** In the source. */
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

/** One audio profile as a file of its own. */
export interface AudioFilePlan {
  /** Position in `audioProfiles`. */
  profile: number
  /** Relative path below the job's destination. */
  path: string
  container: AudioContainer
  contentType: string
  audio: AudioPlan
  /** Seconds that it must last; null where the source does not say how long this stream is. */
  durationSeconds: number | null
  /** Upper estimate of the file's size in bytes. */
  expectedBytes: number
}

/** One stream of segments: a video rendition (in transport streams with its audio inside, where audio is not separate) or an audio rendition. */
export interface RenditionPlan {
  kind: 'video' | 'audio'
  /** `video_0`, `audio_1`: unique, and safe as a name in playlists and manifests. */
  id: string
  /** Below the directory of the packaging; the profile's `output` without extension, else the id. */
  directory: string
  /** Position in `videoProfiles` or `audioProfiles`. */
  profile: number
  /** null for an audio rendition. */
  video: VideoPlan | null
  /** An audio rendition's one track; a video rendition's tracks inside of its transport stream. */
  audio: AudioPlan[]
  /** Ids of the audio renditions that a video rendition's profile selects. */
  audioRenditions: string[]
  forms: SegmentForm[]
  /** Pictures per segment, whole GOPs; segments also end at `video.spliceFrames`. 0 for an audio rendition, which is cut where video is. */
  segmentFrames: number
}

export interface ThumbnailPlan {
  /** Pixels of one small picture, even. */
  width: number
  height: number
  columns: number
  rows: number
  /** From one to the next, in pictures of the first rendition: whole segments. */
  intervalFrames: number
  intervalSeconds: number
  /** Pixels of the poster, even, and which picture of the first rendition it is. */
  posterWidth: number
  posterHeight: number
  posterFrame: number
}

/** One text subtitle stream of the source as a WebVTT track. */
export interface TextTrackPlan {
  /** `sub_0`: unique, its directory below `captions/`. */
  id: string
  /** Index among all streams of the source. */
  stream: number
  /** ISO 639; null where the source does not say. */
  language: string | null
  /** Only what must be read to follow the programme, such as foreign speech. */
  forced: boolean
  hearingImpaired: boolean
}

/** Segmented output: what is cut, where it lies, which manifests list it. */
export interface PackagingPlan {
  /** Relative path below the job's destination of the directory of the manifests; '' = the destination itself. */
  directory: string
  /** Which segments `master.m3u8` lists; null = no HLS. */
  hls: 'cmaf' | 'ts' | null
  /** `manifest.mpd` over the cmaf segments. */
  dash: boolean
  /** Path below the directory of the Smooth manifest's own: `<name>.ism`; null = none. */
  smooth: string | null
  /** Seconds of a full segment, exact: segmentFrames / frameRate of every video rendition. */
  segmentDuration: Rational
  /** Relative path of the tar below the job's destination; null = none. */
  tar: string | null
  /** The source's captions are also written as WebVTT. */
  textTracks: boolean
  /** Text subtitles of the source that become WebVTT tracks; missing in plans of before. */
  subtitles?: TextTrackPlan[] | undefined
  /** What the source's captions were seen to carry, for renditions that keep them: `CC1`, `SERVICE1`; empty = none. */
  captionChannels: string[]
  /** The languages that the source states for its captions (ISO 639-2), by channel. */
  captionLanguages: Record<string, string>
  thumbnails: ThumbnailPlan | null
  /** Milliseconds since 1970 at the first picture. */
  programStart: number
  renditions: RenditionPlan[]
}

/** What one pipe out of ffmpeg carries, in the order of its arguments behind the files of `plannedFiles`. */
export type PipePlan =
  | { kind: 'rendition'; rendition: number; form: SegmentForm }
  /** The source's video as it is, in a transport stream: its captions are read from it. */
  | { kind: 'captions' }
  /** A text subtitle stream as WebVTT; `track` is its position in `subtitles`. */
  | { kind: 'subtitles'; track: number }
  /** One JPEG after another: sheets of thumbnails; the poster. */
  | { kind: 'thumbnails' }
  | { kind: 'poster' }

export interface Plan {
  version: 2
  /** null = single files in `outputs`; else `outputs` is empty (`audioFiles` may not be). */
  packaging: PackagingPlan | null
  /** Seconds of the longest output; null where the source does not say. */
  durationSeconds: number | null
  /** Seconds by which the video starts after the file's clock, taken off so that pictures start at 0 (recipes: VOFF). */
  videoOffsetSeconds: number
  /** Audio streams of the source that some output uses, 1-based, ascending. */
  sourceAudio: number[]
  /** PIDs by which the streams of one program are taken, audio by its number; null = streams are counted over the whole file. */
  pids: { video: number | null; audio: Record<number, number> } | null
  picture: SourceVideo
  fields: FieldPlan
  scaler: 'zscale' | 'scale'
  /** Some used audio is AC-3 or E-AC-3: its decoder must not apply dynamic range control. */
  disableDrc: boolean
  /** The source is probed further than usual, so that streams that begin late are found. */
  deepProbe: boolean
  /** This libx265 has an option for captions (its default differs between versions). */
  hevcCaptionsOption: boolean
  /** null: no cues are passed through. */
  cues: CuePlan | null
  /** null: no single file is a transport stream. Missing in a plan of an earlier transcoder. */
  service?: TsServiceSpec | null | undefined
  /** Missing in a plan of an earlier transcoder. */
  subtitles?: SubtitlePlan[] | undefined
  outputs: OutputPlan[]
  audioFiles: AudioFilePlan[]
  warnings: Warning[]
}
