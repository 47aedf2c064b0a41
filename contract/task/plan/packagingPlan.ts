// In charge of: segmented output: what is cut, where it is stored, which manifests list it.
// Not in charge of: choosing it (transcoder/plan/packaging).
import * as z from 'zod/mini'
import { CAPTION_LABEL_CHARACTERS } from '../../limits.ts'
import { CHANNELS_608, LANGUAGE_TAG } from '../../captions.ts'
import { audioPlan } from './audioPlan.ts'
import { amount, count, derived, path, profile, rational } from './values.ts'
import { videoPlan } from './videoPlan.ts'

const segmentStarts = z.object({
  /** Ascending, from 0. */
  frames: z.array(count),
  seconds: z.array(amount),
})
export type SegmentStarts = z.infer<typeof segmentStarts>

/**
 * One stream of segments: a video rendition or an audio rendition. A video rendition's transport stream contains its
 * audio where audio is not separate.
 */
const renditionPlan = z.object({
  kind: z.enum(['video', 'audio']),
  /** `video_0`, `audio_1`: unique, and safe as a name in playlists and manifests. */
  id: z.string().check(z.regex(/^(video|audio)_\d{1,2}$/)),
  /** Below the packaging's directory; the profile's `output` without extension, else the id. */
  directory: path,
  profile,
  /** null for an audio rendition. */
  video: z.nullable(videoPlan),
  /** The one track of an audio rendition, or the tracks inside a video rendition's transport stream. */
  audio: z.array(audioPlan),
  /** Ids of the audio renditions that a video rendition's profile selects. */
  audioRenditions: z.array(z.string().check(z.regex(/^audio_\d{1,2}$/))),
  forms: z.array(z.enum(['cmaf', 'ts', 'smooth'])),
  /**
   * Frames per segment, whole GOPs. Segments also end at `video.spliceFrames`. For an audio rendition 0: it is cut where
   * the video is cut. Without video: samples per segment.
   */
  segmentFrames: count,
  /** The frames at which segments begin, and their times, where a copied rendition decides; null = the rule above. */
  segmentStarts: z.nullable(segmentStarts),
})
export type RenditionPlan = z.infer<typeof renditionPlan>

const thumbnailPlan = z.object({
  /** Pixels of one thumbnail, even. */
  width: count,
  height: count,
  columns: count,
  rows: count,
  /** From one thumbnail to the next, in frames of the first rendition: whole segments. */
  intervalFrames: count,
  intervalSeconds: amount,
  /** Pixels of the poster, even, and its frame number in the first rendition. */
  posterWidth: count,
  posterHeight: count,
  posterFrame: count,
})
export type ThumbnailPlan = z.infer<typeof thumbnailPlan>

/** One subtitle stream of the source, text or teletext, as a WebVTT track. */
const textTrackPlan = z.object({
  /** Unique, the name of its directory below `captions/`. */
  id: z.string().check(z.regex(/^sub_\d{1,2}$/)),
  /** Index among all streams of the source. */
  stream: count,
  /** ISO 639; null where the source does not state it. */
  language: z.nullable(z.string().check(z.regex(/^[a-z]{2,3}$/))),
  /** Only text that is needed to follow the programme, such as foreign speech. */
  forced: z.boolean(),
  hearingImpaired: z.boolean(),
  /** Subtitle pages of teletext, and not text. */
  teletext: z.boolean(),
})
export type TextTrackPlan = z.infer<typeof textTrackPlan>

/** A channel that was made from a caption file. */
const embeddedChannel = z.object({
  channel: z.enum(CHANNELS_608),
  /** BCP 47; null = not stated. */
  language: z.nullable(z.string().check(z.regex(LANGUAGE_TAG))),
  label: z.string().check(z.maxLength(CAPTION_LABEL_CHARACTERS)),
})

const captionChannel = z.string().check(z.regex(/^(CC|T|SERVICE)\d{1,2}$/))

export const packagingPlan = z.object({
  /** Directory of the manifests as a relative path below the job's destination; '' = the destination itself. */
  directory: path,
  /** Which segments `master.m3u8` lists; null = no HLS. */
  hls: z.nullable(z.enum(['cmaf', 'ts'])),
  /** Write `manifest.mpd`, which lists the cmaf segments. */
  dash: z.boolean(),
  /** Path of the Smooth manifest's directory below `directory`: `<name>.ism`; null = none. */
  smooth: z.nullable(path),
  /** Seconds of a full segment, exact: segmentFrames / frameRate of every video rendition. */
  segmentDuration: rational,
  /** Relative path of the tar below the job's destination; null = none. */
  tar: z.nullable(path),
  /** The source's captions are also written as WebVTT. */
  textTracks: z.boolean(),
  /** Text subtitles of the source that become WebVTT tracks. */
  subtitles: z.array(textTrackPlan).check(z.maxLength(32)),
  /** The caption channels found in the source, for renditions that keep them; empty = none. */
  captionChannels: z.array(captionChannel),
  /** The languages that the source states for its captions (ISO 639-2), by channel. */
  captionLanguages: z.record(captionChannel, z.string().check(z.regex(/^[a-z]{2,3}$/))),
  /** Channels made from caption files, in place of those of the source. */
  embedded: z.array(embeddedChannel).check(z.maxLength(CHANNELS_608.length)),
  thumbnails: z.nullable(thumbnailPlan),
  /** Milliseconds since 1970 at the first frame. */
  programStart: z.number(),
  /** The segments are copied into the outputs later (transcoder/division/plan/encodedSegments.ts). Missing = no. */
  isIntermediate: derived<boolean>(),
  renditions: z.array(renditionPlan).check(z.minLength(1), z.maxLength(24)),
})
export type PackagingPlan = z.infer<typeof packagingPlan>
