// In charge of: the facts about a source that the analysis found, as plain values.
// Not in charge of: finding them (transcoder/analysis/probe.ts).

import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import type { DrawnArea } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import type { DownmixLevels } from '../../formats/ac3.ts'
import type { ChannelMix, ChosenChannels } from '#contract/task/plan/audioPlan.ts'
import type { BurstPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { Rational } from '../../formats/rational.ts'
import type { VideoSurvey } from './videoSurvey.ts'

/**
 * Numbers of frames by type, as ffmpeg's idet filter detects it from their lines, among the first frames of the source.
 */
export interface IdetCounts {
  tff: number
  bff: number
  progressive: number
  /** Numbers of frames that repeat no field of the frame before, its top field, its bottom field. */
  neither: number
  repeatedTop: number
  repeatedBottom: number
}

/** The display on which the video was graded (SMPTE ST 2086): CIE 1931 x and y, and cd/m². */
export interface MasteringDisplay {
  red: [number, number]
  green: [number, number]
  blue: [number, number]
  white: [number, number]
  minNits: number
  maxNits: number
}

export interface VideoStream {
  /** Index among all streams of the file. */
  index: number
  /** The container's own number of the stream, the PID in a transport stream; null where it has none. */
  id: number | null
  codec: string
  /** Size of the picture in pixels, before rotation. */
  width: number
  height: number
  /** Lines of the vertical blanking above the picture in the coded frames, and the sample aspect that these state; missing = none. */
  blanking?: { lines: number; sar: Rational }
  /** Sample aspect ratio; 1:1 where unknown. */
  sar: Rational
  /** Degrees clockwise by which the frame must be rotated to stand upright: 0, 90, 180 or 270. */
  rotation: 0 | 90 | 180 | 270
  /** The frame must also be mirrored, as ffmpeg does it: upside down without rotation or half a turn; missing = no. */
  mirrored?: boolean | undefined
  /** Frames per second: the average rate; null where unknown. */
  frameRate: Rational | null
  /** The container's nominal and average rates differ: the source has a variable rate. */
  variableFrameRate: boolean
  /**
   * Where the rate comes from if no frames were counted: a field of the header, or the grid of the time stamps. It is
   * compared with the packets.
   */
  rateEvidence?: 'header' | 'grid'
  /** An elementary stream whose clock is not believed: its pictures follow one another at the rate that is assumed. */
  countsPictures?: true
  /**
   * The container states no durations, and ffmpeg takes them from its nominal rate: for the last picture, at most about half
   * of what it lasts.
   */
  lastPictureIsBrief?: true
  /**
   * The rate that most frames of a variable-rate source have, or most frames of its busiest parts; null where there is none
   * or it was not measured (transcoder/analysis/commonFrameRate.ts).
   */
  commonFrameRate: Rational | null
  fieldOrder: 'progressive' | 'tt' | 'bb' | 'tb' | 'bt' | 'unknown'
  /** null where it was not measured (transcoder/analysis/measureSource.ts). */
  scan: IdetCounts | null
  pixelFormat: string
  colorRange: string | null
  colorSpace: string | null
  colorTransfer: string | null
  colorPrimaries: string | null
  /** null where there is none or it was not read (transcoder/analysis/hdrMetadata.ts). */
  masteringDisplay: MasteringDisplay | null
  /** MaxCLL and MaxFALL in cd/m² (CTA-861.3). */
  contentLight: { maximum: number; average: number } | null
  /** The profile of a Dolby Vision whose pictures have no meaning without its metadata; missing = they have. */
  dolbyVisionAlone?: number
  /** HDR10+ or Dolby Vision metadata was found. */
  dynamicMetadata: boolean
  /** CEA-608/708 caption data was found inside the video (streamDetails.ts inspects the first frames). */
  closedCaptions: boolean
  /** The channels found in that data: `CC1` to `CC4`, `T1` to `T4`, `SERVICE1` and up. */
  captionChannels: string[]
  /** ISO 639-2 by channel, from the program map (caption_service_descriptor). Read only where captions become files. */
  captionLanguages: Record<string, string>
  /** Frames carry their caption bytes in more than one message. */
  severalCaptionMessages: boolean
  /** An active format description (AFD) was found inside the video. */
  activeFormat: boolean
  /** On the file's clock, where packets come before the first picture that can be decoded: its time. Missing = none do. */
  firstPictureSeconds?: number
  /** Seconds on the file's clock; null where unknown. */
  startSeconds: number | null
  durationSeconds: number | null
  /** The display aspect ratios of its parts, where they differ and the engine does not follow; the first one is that of all. */
  displayRatios?: readonly string[]
  /** Missing where the job does not copy the video, or where it was not possible (transcoder/analysis/surveyVideo.ts). */
  survey?: VideoSurvey
}

/** One stream's loudness in one mix (ITU-R BS.1770). */
export interface MeasuredLoudness {
  mix: ChannelMix
  /** null = silence. */
  integratedLufs: number | null
  /** dB above full scale; null = silence. */
  truePeakDb: number | null
  /** The measured loudness for each gain tried with the limiter; empty where no limiter is needed. */
  limited: { gainDb: number; integratedLufs: number }[]
}

export interface AudioStream {
  index: number
  /** As in VideoStream. */
  id: number | null
  /** 1-based position among the audio streams (of the chosen program): what `source_stream` counts. */
  number: number
  codec: string
  channels: number
  channelLayout: string | null
  sampleRate: number
  /** As the container or the frames state it; missing = not stated. */
  bitrateKbps?: number
  language: string | null
  /** As the container states it; missing = main, or not stated. */
  purpose?: AudioPurpose
  /**
   * Dialogue level in the header of AC-3 and E-AC-3, 1 to 31; null where there is none or it was not read
   * (streamDetails.ts).
   */
  dialnorm: number | null
  /** null where there are none or they were not read (streamDetails.ts). */
  downmixLevels: DownmixLevels | null
  /** `source_stream` in the request of a stream that is joined from several; missing = `number`. */
  requestedStream?: number
  /** The channels that the stream stands for (audio/sourceChannels.ts); missing = it is a stream of the source. */
  chosen?: ChosenChannels
  /** Channels of other streams have been added, so that its peaks may exceed full scale; missing = no. */
  isMixed?: boolean
  /** Why this ffmpeg does not decode all of it, and which one does; missing = it does, as far as known. */
  cannotDecode?: string
  /** AAC with spectral band replication (HE-AAC), and with parametric stereo too (version 2); missing = neither. */
  highEfficiency?: 'sbr' | 'ps' | undefined
  /** It was in bursts of data in other audio; missing = it is a stream of the source. */
  bursts?: TakenBursts
  /** Empty where it was not measured (transcoder/analysis/measureLoudness.ts). */
  loudness: MeasuredLoudness[]
  startSeconds: number | null
  durationSeconds: number | null
}

/** Where audio is that was taken out of bursts. */
export interface TakenBursts extends BurstPlan {
  file: string
  /** The codec of the samples that have the bursts. */
  around: string
  /** How much of them is something else, and not silence. */
  otherSeconds: number
}

/** The purpose of a stream, as the container states it. */
export type StreamDisposition = 'forced' | 'hearing_impaired'

export interface OtherStream {
  index: number
  /** As in VideoStream. */
  id: number | null
  type: string
  codec: string
  language: string | null
  /** For subtitles only; missing = none. */
  dispositions?: StreamDisposition[]
  /** Audio that cannot be used: its number, as `source_stream` counts. */
  audioNumber?: number
  /** Bursts that can be read: the samples that have them, and ffmpeg's names of these; missing = there are none. */
  bursts?: { samples: AudioStream; pads: string[] }
  /** Missing = not stated. */
  startSeconds?: number
}

/** Size of a decoded logo in pixels. */
export interface LogoImage {
  width: number
  height: number
}

/** What was found in the bitmap subtitle track that the job draws. */
export interface BitmapTrack {
  /** Index among all streams of the source. */
  stream: number
  /** null = nothing is visible in the outputs. */
  drawn: DrawnArea | null
  /** How many are shown in the outputs. */
  subtitles: number
  damagedPackets: number
}

/** The part of the source that the job uses, in seconds after the first frame of the outputs without a cut. */
export interface SourceCut {
  startSeconds: number
  /** null = the end of the source. */
  endSeconds: number | null
  /** The job asked for an end after the end of the source. */
  endsAfterSource: boolean
  /** The source without the cut. */
  whole: MediaInfo
  /**
   * The first frame of the outputs without a cut, on ffmpeg's clock; null = ffmpeg cannot find times exactly in this
   * container.
   */
  seekOriginSeconds: number | null
}

/** A jump of the source's clock, which ffmpeg removes. */
export interface ClockJump {
  /** Seconds of media before the jump. */
  atSeconds: number
  bySeconds: number
}

/** ffmpeg takes the jumps of such a container's clock as they are: it corrects none. */
export function keepsJumps({ formats }: Pick<MediaInfo, 'formats'>): boolean {
  return formats.includes('asf')
}

export interface MediaInfo {
  /** Set where the times of this source and of its streams are those of a part of it. */
  cut?: SourceCut
  /** ffprobe's names of the container, for example ['mov', 'mp4', …]. */
  formats: string[]
  /** Seconds; null where unknown (raw streams, pipes). */
  durationSeconds: number | null
  /** Time on the file's clock at which its streams begin. */
  startSeconds: number | null
  sizeBytes: number | null
  /** The lengths of the streams were measured without these (analysis/mediaLength.ts). */
  clockJumps?: readonly ClockJump[]
  /** What a player would show (streamChoice.ts); null where there is none. */
  video: VideoStream | null
  /** The video of a source whose job makes none (streams/unusedVideo.ts). */
  unusedVideo?: VideoStream
  /** With `unusedVideo`: seconds on the source's clock at which the outputs begin. */
  outputStart?: number
  audio: AudioStream[]
  /** The program that the streams are taken from; null = all streams of the file. */
  program: {
    number: number
    /** Time on that clock at which the whole file begins. Other programs may have started hours earlier. */
    fileStartSeconds: number | null
  } | null
  /** How ffmpeg is told which streams are used: by the container's number, or by ffprobe's number. Missing = by position. */
  selectedBy?: 'id' | 'index'
  /** It was probed farther than usual; missing = no. */
  isProbedDeep?: boolean
  /** Numbers of all programs of a transport stream. */
  programs: number[]
  /** Additional video streams, subtitles, data, attachments and cover art. */
  other: OtherStream[]
}
