// In charge of: the complete job specification for the transcoder: no optional fields, every default applied.
// Not in charge of: wire names and validation (validateJob.ts), properties of the source (transcoder/plan).

import type { AudioCodec, AudioContainer, VideoCodec } from '../codecs.ts'
import type { CaptionFormat, Channel608 } from '../captions.ts'
import type { Container } from '../containers.ts'
import type { CutTime } from './cutTime.ts'
import type { AUDIO_PURPOSES } from './fields/profiles.ts'

export type BitrateMode = 'cbr' | 'vbr' | 'qvbr'
export type FrameRateFactor = '1x' | '1/2x' | '2x'
export type Quality = 'good' | 'better' | 'best'

export type AspectMode =
  | 'passthrough'
  | 'force_4:3'
  | 'force_16:9'
  | 'invert_aspect_ratio'
  | 'rotate_counterclockwise'
  | 'rotate_clockwise'
  | 'rotate_counterclockwise + invert_aspect_ratio'
export type PictureTransform = 'none' | 'letterbox' | 'crop' | 'stretch' | 'hflip' | 'vflip' | 'rotate180'

export interface LogoSpec {
  position: 'top_left' | 'top_right' | 'bottom_left' | 'bottom_right'
  opacityPercent: number
}

export interface VideoProfile {
  /** Position in `videoProfiles`, or in the ladder. */
  index: number
  /** Height that names a rung of the automatic ladder, as in "720p"; null = the client's own profile. */
  rung: number | null
  /** Relative path or address as the client gave it; '' = derived (paths/outputNames.ts). */
  output: string
  /** Pixels, even; 0 = same as the source, or proportional if only one of the two is 0. */
  width: number
  height: number
  mode: BitrateMode
  bitrateKbps: number
  frameRateFactor: FrameRateFactor
  /** Positions in `audioProfiles` of the audio in this rendition, ascending. */
  audioProfiles: number[]
  progressive: boolean
  /** The source's video is kept as it is, if it permits (transcoder/plan/copy/). */
  copy: boolean
}

/** ITU-R BS.775. lo_ro: plain stereo. lt_rt: for decoders that restore the surround channels from the phase. */
export type Downmix = 'lo_ro' | 'lt_rt'

/** What audio is for. */
export type AudioPurpose = (typeof AUDIO_PURPOSES)[number]

export interface SourceChannel {
  stream: number
  channel: number
}

export interface AudioProfile {
  /** Position in `audioProfiles`. */
  index: number
  codec: AudioCodec
  /** Effective channels: 2 with `primary_audio_downmix_to_stereo`, whatever `audio_channels` says. */
  channels: 2 | 6
  /** What the codec needs at most if it has no bitrate. */
  bitrateKbps: number
  /** Hz. */
  sampleRate: number
  /** Bits of a sample; null for codecs without it. */
  bitDepth: 16 | 24 | null
  /** Container of the file that it has for itself. */
  container: AudioContainer
  /** 1-based index among the source's audio streams; null = this profile produces no audio (specification 2.2). */
  sourceStream: number | null
  /**
   * The channels of the source that make this audio, one (for both sides), two or six, each with its 1-based stream and
   * channel; null or missing = those of `sourceStream`.
   */
  sourceChannels?: SourceChannel[] | null | undefined
  /** null or missing = the purpose of the source's stream. */
  purpose?: AudioPurpose | null | undefined
  /** How more than two channels are mixed to stereo; null = not given, which means lo_ro. */
  downmix: Downmix | null
  /** Whether the downmix includes the LFE channel; null = not given, which means false. */
  downmixLfe: boolean | null
  /** Dialogue level of ac3 and eac3, 1 to 31; 0 = same as the source. */
  dialnorm: number
  /** If the source lacks the stream, the profile is left out instead of failing the job. */
  optional: boolean
  /** The source's stream is kept as it is, if it permits. `codec` is used if it cannot be kept. */
  copy: boolean
}

/** A caption file beside the source. It is read through the task API, by its position. */
export interface CaptionSpec {
  /** BCP 47, canonical; null = not stated (`und`). */
  language: string | null
  /** What players show; '' = the name of the language. */
  label: string
  /** null = by content. */
  format: CaptionFormat | null
  /** Seconds added to its times instead of its programme start; null = not given. */
  offsetSeconds: number | null
  isDefault: boolean
  forced: boolean
  hearingImpaired: boolean
  /** The CEA-608 channel in the frames of the outputs; null or missing = not in the frames. */
  embed?: { channel: Channel608; isChosen: boolean } | null | undefined
}

/** The captions that are drawn into the video. */
export type BurnInSpec =
  /** Position in `captions`. */
  | { kind: 'caption'; caption: number }
  /** 1-based index among the source's subtitle streams. */
  | { kind: 'source track'; track: number }

/** Segmentation and manifests; null in a job means single files. */
export interface PackagingSpec {
  hls: boolean
  dash: boolean
  /** [MS-SSTR] */
  smooth: boolean
  /** Seconds. Decision "gop_length": rounded to whole GOPs. */
  segmentSeconds: number
  /** The job has a segment_length; otherwise `segmentSeconds` is the default. */
  hasExplicitSegmentLength: boolean
  /** Separate audio renditions, where the format leaves the choice (`master_variant_mode`). */
  separateAudio: boolean
  /** HLS segments are transport streams if nothing requires CMAF. */
  preferTransportStream: boolean
  tar: boolean
  thumbnails: boolean
  /** Milliseconds since 1970 at the first frame. */
  programStart: number
}

/** Signalling of a transport stream (ts_profile and related fields). */
export interface TsServiceSpec {
  profile: 'dvb' | 'atsc' | null
  /** As shown by receivers. */
  name: string
  provider: string
  id: number
  transportStreamId: number
  mapPid: number
  videoPid: number
  audioPid: number
}

/** One element of `inputs`: the pieces that are joined to one source, in order. */
export interface InputSpec {
  /** The part of this piece that is used; null = all of it. */
  cut: JobSpec['cut']
  /** `source_stream` of audio profiles → stream of this piece, where they differ; null = silence during this piece. */
  sourceStreams: Record<number, number | null>
}

/** An element of `stills`. */
export interface StillsSpec {
  /** Position in `stills`. */
  index: number
  times: { kind: 'at'; at: CutTime[] } | { kind: 'every'; seconds: number } | { kind: 'count'; count: number }
  /** It can make one image only, which gets no number. */
  isSingle: boolean
  /** Square pixels; 0 = the source's, or proportional if only one of the two is 0. */
  width: number
  height: number
  format: 'jpeg' | 'webp' | 'avif'
  /** 1 to 100 = best. */
  quality: number
  /** Path below the output directory; '' = derived (paths/extractNames.ts). */
  output: string
}

export interface AnimatedPreviewSpec {
  format: 'mp4' | 'gif' | 'webp'
  /** Seconds of all parts together. */
  seconds: number
  parts: number
  start: CutTime
  /** Square pixels. */
  width: number
  framesPerSecond: number
}

export interface WaveformSpec {
  format: 'json' | 'dat' | 'png'
  /** 1-based index among the source's audio streams. */
  sourceStream: number
  /** null = by `pixelsPerSecond`, which is null then too for the default. */
  samplesPerPixel: number | null
  pixelsPerSecond: number | null
  bits: 8 | 16
  splitChannels: boolean
  /** Width of the image in pixels. */
  width: number
  height: number
  /** `#rrggbb` or `#rrggbbaa`. */
  backgroundColor: string
  waveformColor: string
}

export interface JobSpec {
  container: Container
  /** null = single files. */
  packaging: PackagingSpec | null
  videoCodec: VideoCodec
  quality: Quality
  gopSeconds: number
  /** Distance between I/P frames; B-frames = M − 1. */
  ipDistance: number
  keepFps: boolean
  /** Whether SCTE-35 cues of the source go into the outputs. */
  scte35Passthrough: boolean
  /** PID of the cues in the outputs; null = same as the source. */
  scte35Pid: number | null
  /** Signalling of ts files. */
  service: TsServiceSpec
  /** true = wanted, false = removed, null = kept if the source has some. */
  closedCaptions: boolean | null
  aspect: AspectMode
  transform: PictureTransform
  /** Brightness in percent of the bars that a rotation leaves: 0 = black, 100 = white. */
  barPercent: number
  /** The image is read through the task API. */
  logo: LogoSpec | null
  /** Detect 3:2 pulldown and restore the film frames. */
  detelecine: boolean
  /** 0 to 200, linear percent. */
  audioVolume: number
  /** Target loudness of the audio, in LUFS; null = not changed. */
  loudnessLufs: number | null
  /** Base name of the input without extension, safe as a file name. Used in derived output names. */
  inputName: string
  /** Directory of the outputs below the job's destination, normalised, without a trailing slash; '' = none. */
  outputDirectory: string
  /** Whether an HDR source is tone-mapped, or stays HDR if the codec can carry it. */
  dynamicRange: 'sdr' | 'source'
  /** Program number to use from a transport stream; null = the first program with video. */
  program: number | null
  /** Source errors up to which the job still succeeds; null = any number. */
  maxSourceErrors: number | null
  /** The longest chunk in seconds of the outputs; 0 = the job is not divided; null or missing = not given. */
  maxChunkSeconds?: number | null | undefined
  /** Audio streams that a transport stream must have; null = not given. */
  expectedAudioStreams: number | null
  /** Whether the source may be an HLS playlist; only http servers provide them. */
  allowHlsSource: boolean
  /** Directory of separate audio files, one per audio profile, below the job's destination; null = no such files. */
  audioDirectory: string | null
  /** Whether the output may be larger than the source; null = it may, with a warning. */
  allowUpscaling: boolean | null
  /** The part of the source that is used; null = all of it. `end` null = to its end. */
  cut: { start: CutTime; end: CutTime | null } | null
  /** The pieces of the source, 2 or more, each with its own cut: `cut` is null then. null = one source. */
  inputs: InputSpec[] | null
  /** A stream that cannot be copied is encoded instead, with a warning. */
  copyIfPossible: boolean
  /** auto = the rungs depend on the source (transcoder/plan/video/ladder.ts). */
  ladder: 'auto' | null
  /** With `ladder`, until the source is known: one profile of the source's size that represents every rung. */
  video: VideoProfile[]
  audio: AudioProfile[]
  /** Missing = none. */
  captions?: CaptionSpec[] | undefined
  /** null or missing = none. */
  burnIn?: BurnInSpec | null | undefined
  stills: StillsSpec[]
  animatedPreview: AnimatedPreviewSpec | null
  waveform: WaveformSpec | null
}
