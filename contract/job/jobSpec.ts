// In charge of: the job in the service's own words, complete: no optional field survives, every default is applied.
// Not in charge of: wire names and validation (validateJob.ts), what a source turns out to be (transcoder/plan).

import type { AudioCodec, VideoCodec } from '../codecs.ts'
import type { Container } from '../containers.ts'

/**
 * Raised whenever `JobSpec`, or what is in it, gets another member: a transcoder that finds a lower number in its task
 * translates the stored configuration itself. A member that goes, or means something else, is a new task protocol.
 */
export const SPEC_VERSION = 1

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
  /** Lines that a rung of the automatic ladder is named by, as in "720p"; null = a profile of the client's. */
  rung: number | null
  /** Relative path or address as the client gave it; '' = derived (paths/outputNames.ts). */
  output: string
  /** Pixels; 0 = the source's, or kept in proportion when only one is 0. Even unless 0. */
  width: number
  height: number
  mode: BitrateMode
  bitrateKbps: number
  frameRateFactor: FrameRateFactor
  /** Positions in `audioProfiles` that this rendition carries, ascending. */
  audioProfiles: number[]
  progressive: boolean
}

/** ITU-R BS.775: for stereo as it is, or for decoders that restore the surrounds from their phase. */
export type Downmix = 'lo_ro' | 'lt_rt'

export interface AudioProfile {
  /** Position in `audioProfiles`. */
  index: number
  codec: AudioCodec
  /** Effective channels: 2 when `primary_audio_downmix_to_stereo`, whatever `audio_channels` says. */
  channels: 2 | 6
  bitrateKbps: number
  /** 1-based index among the source's audio streams; null = this profile produces no audio (specification 2.2). */
  sourceStream: number | null
  /** How more than two channels become stereo; null = not given, which is lo_ro. */
  downmix: Downmix | null
  /** LFE is part of that; null = not given, which is false. */
  downmixLfe: boolean | null
  /** Dialogue level of ac3, 1 to 31; 0 = the source's. */
  dialnorm: number
  /** Left out where the source lacks its stream, instead of failing the job. */
  optional: boolean
}

/** How the outputs are cut and listed; null in a job means single files. */
export interface PackagingSpec {
  hls: boolean
  dash: boolean
  /** [MS-SSTR] */
  smooth: boolean
  /** Seconds; decision "gop_length": snapped to whole GOPs. */
  segmentSeconds: number
  /** The job names a segment_length; otherwise `segmentSeconds` is the default. */
  isSegmentLengthGiven: boolean
  /** Audio renditions of their own where that is a choice (`master_variant_mode`). */
  separateAudio: boolean
  /** HLS segments are transport streams where nothing else is needed; else CMAF. */
  preferTransportStream: boolean
  tar: boolean
  thumbnails: boolean
  /** Milliseconds since 1970 at the first picture. */
  programStart: number
}

/** Signalling of a transport stream (ts_profile and what belongs to it). */
export interface TsServiceSpec {
  profile: 'dvb' | 'atsc' | null
  /** As a receiver shows them. */
  name: string
  provider: string
  id: number
  transportStreamId: number
  mapPid: number
  videoPid: number
  audioPid: number
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
  /** SCTE-35 cues of the source are wanted in the outputs. */
  passCues: boolean
  /** PID of the cues in the outputs; null = the source's. */
  cuePid: number | null
  /** How ts files are signalled. */
  service: TsServiceSpec
  /** true = wanted, false = removed, null = kept where there are some. */
  closedCaptions: boolean | null
  aspect: AspectMode
  transform: PictureTransform
  /** Level in percent of the bars that a rotation leaves: 0 = black, 100 = white. */
  barPercent: number
  /** Its image comes through the door. */
  logo: LogoSpec | null
  /** Film behind 3:2 pulldown is to be found and restored. */
  detelecine: boolean
  /** 0 to 200, linear percent. */
  audioVolume: number
  /** Loudness that the sound is brought to, in LUFS; null = it is left as it is. */
  loudnessLufs: number | null
  /** Base name of the input without extension, safe as a file name; for derived output names. */
  inputName: string
  /** Directory of the outputs below the job's destination, normalised, without a slash at its end; '' = none. */
  outputDirectory: string
  /** Whether an HDR source is tone-mapped, or stays what it is where the codec can carry it. */
  dynamicRange: 'sdr' | 'source'
  /** Number of the program of a transport stream that is taken; null = the first with video. */
  program: number | null
  /** Errors of the source with which the job still succeeds; null = any number. */
  maxSourceErrors: number | null
  /** Audio streams that a transport stream must have; null = not said. */
  expectedAudioStreams: number | null
  /** The source may be an HLS playlist, which only servers by http have. */
  allowHlsSource: boolean
  /** Directory in which each audio profile is a file of its own, below the job's destination; null = none are. */
  audioDirectory: string | null
  /** Whether a picture may be larger than the source's; null = it may, with a warning. */
  allowUpscaling: boolean | null
  /** auto = the rungs follow from the source (transcoder/plan/video/ladder.ts). */
  ladder: 'auto' | null
  /** With `ladder`, until the source is known: one profile of the source's size that stands for every rung. */
  video: VideoProfile[]
  audio: AudioProfile[]
}
