// In charge of: the complete plan of one task: all choices that the job left open. An attempt posts it, and later attempts
// and the parts of a divided job follow it. Types and limits are one definition.
// Not in charge of: making it (transcoder/plan/planJob.ts), whether its paths belong to the job (../allowedOutputs.ts),
// writing the arguments (transcoder/plan/argv/), running it (transcoder/runTask.ts).
import * as z from 'zod/mini'
import { AUDIO_CONTAINERS, type VideoCodec } from '../../codecs.ts'
import { FILE_CONTAINERS } from '../../containers.ts'
import { CAPTIONS } from '../../limits.ts'
import { warningCode } from '../../warningCodes.ts'
import { audioPlan, type AudioPlan } from './audioPlan.ts'
import { burnInPlan, sidecarPlan } from './captionsPlan.ts'
import { divisionPlan } from './divisionPlan.ts'
import { extractsPlan } from './extractsPlan.ts'
import { joinPlan } from './joinPlan.ts'
import { packagingPlan } from './packagingPlan.ts'
import { sourceReadingPlan } from './sourceReadingPlan.ts'
import { alsoDerived, amount, contentType, count, derived, path, profile, seconds } from './values.ts'
import { videoPlan } from './videoPlan.ts'

const outputPlan = z.object({
  profile,
  path,
  container: z.enum(FILE_CONTAINERS),
  contentType,
  video: videoPlan,
  audio: z.array(audioPlan),
  /** null where the source does not state it. */
  durationSeconds: seconds,
  /** Upper estimate of the file's size in bytes; decides the part size. */
  expectedBytes: amount,
  /**
   * Bytes reserved for the header of an mp4, so that the rest can be uploaded during the encode.
   * null: a transport stream, or an mp4 whose header is moved to the front at the end, and which is uploaded only then.
   */
  headerReserveBytes: z.nullable(amount),
  /** Constant multiplex rate of a transport stream in kbps; null = variable. */
  muxRateKbps: z.nullable(amount),
})
export type OutputPlan = z.infer<typeof outputPlan>

/** One audio profile as a separate file. */
const audioFilePlan = z.object({
  profile,
  path,
  container: z.enum(AUDIO_CONTAINERS),
  contentType,
  /** States its length to the sample, where MP4 would round it to milliseconds. */
  isExact: z.boolean(),
  /** A track that is copied into the outputs later, in MP4 whatever its codec is. */
  isIntermediate: derived<boolean>(),
  /** Only for an intermediate track: see StoredTrack. */
  isTrimmed: derived<boolean>(),
  audio: audioPlan,
  /** Required duration; null where the source does not state how long this stream is. */
  durationSeconds: seconds,
  /** Upper estimate of the file's size in bytes. */
  expectedBytes: amount,
})
export type AudioFilePlan = z.infer<typeof audioFilePlan>

/** How SCTE-35 cues are declared in the outputs. */
const cuePlan = z.object({
  pid: count,
  /** cue_stream_type (ANSI/SCTE 35, table 3). */
  streamType: count,
})
export type CuePlan = z.infer<typeof cuePlan>

/** A stream of the source that the outputs carry unchanged. */
const subtitlePlan = z.object({
  /** The PID in the source. */
  pid: count,
  kind: z.enum(['teletext', 'subtitles']),
  /** ISO 639-2, with commas between several; null = not stated. */
  languages: z.nullable(z.string()),
})
export type SubtitlePlan = z.infer<typeof subtitlePlan>

/** A range of the output's video, of whole segments, with the times and the frame numbers of the whole output. */
export interface EncodedRange {
  /**
   * The first full segment and the first one after it, counted from 0 on the regular grid (multiples of `segmentFrames`;
   * splice points do not count); null = to the end of the source.
   */
  from: number
  to: number | null
  /** Constant rate factor of each rendition's video, in place of an average bitrate; null or missing = as in its plan. */
  rateFactors?: readonly (number | null)[] | undefined
  /** Missing = reading begins by the index of the source; null = at its beginning. */
  seek?: StampedSeek | null
  /**
   * Decoding begins this long before the first frame, with a key frame that is found when the range is encoded. Missing =
   * the index was not asked, or shows no such key frame: decoding begins some seconds earlier.
   */
  runInSeconds?: number
}

/** Where reading begins in a source without an index, on the clock of its time stamps. */
export interface StampedSeek {
  /** Seconds: decoding begins with this frame at the latest. */
  fromSeconds: number
  /** The place of that frame in the source. */
  fromByte: number
  /** Seconds at which ffmpeg's clock is 0 in a run over the whole source. */
  originSeconds: number
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

const reads = z.discriminatedUnion('kind', [
  /** The source is one file. */
  z.object({ kind: z.literal('file') }),
  /** The source is joined from these. */
  z.object({ kind: z.literal('pieces'), join: joinPlan }),
])
/** `stored`: what parts of the job encoded is copied. */
export type Reads = z.infer<typeof reads> | { kind: 'stored'; stored: StoredStreams }

export const taskPlan = z.extend(sourceReadingPlan, {
  version: z.literal(3),
  /** The ffmpeg that it was made for; missing until the plan is stored. */
  engine: z.optional(
    z.object({
      version: z.string().check(z.regex(/^\S{1,200}$/)),
      build: z.string().check(z.regex(/^[0-9a-f]{1,64}$/)),
      features: z.record(z.string().check(z.regex(/^\w{1,40}$/)), z.boolean()),
    }),
  ),
  reads: alsoDerived<Reads>(reads),
  /** null = one task makes the whole job. */
  division: z.nullable(divisionPlan),
  /** The video that this run encodes; null = none of it. Missing = all. */
  range: derived<EncodedRange | null>(),
  /** null = single files in `outputs`; else `outputs` is empty (`audioFiles` may not be). */
  packaging: z.nullable(packagingPlan),
  /** Duration of the longest output in seconds; null where the source does not state it. */
  durationSeconds: seconds,
  /** Audio streams of the source that some output uses, 1-based, ascending. */
  sourceAudio: z.array(count),
  /** This libx265 has an option for captions (its default differs between versions). */
  hevcCaptionsOption: z.boolean(),
  /** null: no cues are carried. */
  cues: z.nullable(cuePlan),
  /** null: no single file is a transport stream. */
  service: z.nullable(
    z.object({
      profile: z.nullable(z.enum(['dvb', 'atsc'])),
      name: z.string(),
      provider: z.string(),
      id: count,
      transportStreamId: count,
      mapPid: count,
      videoPid: count,
      audioPid: count,
    }),
  ),
  subtitles: z.array(subtitlePlan).check(z.maxLength(100)),
  sidecars: z.array(sidecarPlan).check(z.maxLength(CAPTIONS.maximum)),
  /** null = none. */
  burnIn: z.nullable(burnInPlan),
  outputs: z.array(outputPlan).check(z.maxLength(16)),
  audioFiles: z.array(audioFilePlan).check(z.maxLength(8)),
  /** null = none. */
  extracts: z.nullable(extractsPlan),
  warnings: z.array(z.object({ code: warningCode, field: z.optional(z.string()), message: z.string() })),
})
export type Plan = z.infer<typeof taskPlan>
