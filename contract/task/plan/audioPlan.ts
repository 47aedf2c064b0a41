// In charge of: the plan of one audio track, and the mix of a source's channels into its own, as plain values.
// Not in charge of: choosing them (transcoder/plan/audio/), writing them as filters (argv/).
import * as z from 'zod/mini'
import { AUDIO_CODECS } from '../../codecs.ts'
import { AUDIO_PURPOSES } from '../../job/fields/profiles.ts'
import { amount, count, derived, profile } from './values.ts'

/** Channels that a job names. They are mixed as mono, stereo or 5.1. */
const chosenChannels = z.object({
  channels: z.array(z.object({ stream: count, channel: count })).check(z.maxLength(6)),
  /** The stream that ends last. The others are silent from their ends on. */
  longest: count,
})
export type ChosenChannels = z.infer<typeof chosenChannels>

/** A channel name of ffmpeg, or a position. */
const channelName = z.string().check(z.regex(/^([A-Z]{2,4}|c\d)$/))

export const channelMix = z.object({
  /** What is mixed; missing = all channels of the stream. */
  from: z.optional(chosenChannels),
  /**
   * Linear gains by channel of the output, each by channel of the source in ffmpeg's names. Names that a source lacks are
   * ignored, so that a stream may change its channels. `c0` = its first channel.
   */
  gains: z.record(z.string().check(z.regex(/^(FL|FR|FC|LFE|SL|SR)$/)), z.record(channelName, z.number())),
  /** The mix adds channels, so a limiter for true peaks follows. */
  limited: z.boolean(),
})
export type ChannelMix = z.infer<typeof channelMix>

const copiedAudio = z.object({
  /** Duration of one packet. */
  frameSeconds: amount,
  /** RFC 6381, where the header of a segment may say less than ffprobe found in the frames; missing = the header's. */
  codecString: z.optional(z.string()),
  /** A part of this job has encoded it (transcoder/division/plan/copyPlan.ts). Missing = it comes from the source. */
  isOwn: derived<boolean>(),
})

export const audioPlan = z.object({
  profile,
  codec: z.enum(AUDIO_CODECS),
  channels: z.number().check(z.int(), z.gte(1), z.lte(64)),
  bitrateKbps: amount,
  sampleRate: count,
  /** 1-based index among the source's audio streams. */
  sourceStream: count,
  /** `source_stream` in the request, where the source is joined from several; missing = `sourceStream`. */
  requestedStream: z.optional(count),
  /** ISO 639-2, three lower-case letters. */
  language: z.nullable(z.string().check(z.regex(/^[a-z]{3}$/))),
  /** Missing = the stream is copied. */
  mix: z.optional(channelMix),
  /** Missing = main. */
  purpose: z.optional(z.enum(AUDIO_PURPOSES)),
  /** Silence is added up to this many seconds; 0 = as long as the source's audio. */
  silenceUntilSeconds: amount,
  /** Linear percent, 0 to 200. */
  volumePercent: amount,
  /**
   * The gain in dB that reaches the requested loudness, and whether a limiter for true peaks follows; null = no
   * loudness was requested.
   */
  loudness: z.nullable(z.object({ gainDb: z.number(), limited: z.boolean() })),
  /** Dialogue level that ac3 and eac3 state, 1 to 31 (dB below full scale); null for the other codecs. */
  dialnorm: z.nullable(count),
  /** Bits of a sample of flac and pcm; null for the other codecs. */
  bitDepth: z.nullable(z.literal([16, 24])),
  /** The source's stream as it is; null = it is encoded. */
  copied: z.nullable(copiedAudio),
})
export type AudioPlan = z.infer<typeof audioPlan>
