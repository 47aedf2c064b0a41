// In charge of: segmented output: its renditions, their forms, where each segment ends.
// Not in charge of: a rendition's video (planJob.ts), writing the arguments (argv/segmentArgs.ts), cutting
// (transcoder/segmenter).
import { audioRules, videoRules, type SegmentForm } from '#contract/codecs.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import { archiveBaseName, renditionDirectory } from '#contract/job/rules/segmentedOutput.ts'
import type { PackagingSpec } from '#contract/job/jobSpec.ts'
import { type Rational, ratio, toNumber } from '../formats/rational.ts'
import { programmeOf } from './model/channelMix.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PackagingPlan, RenditionPlan, SegmentStarts } from '#contract/task/plan/packagingPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { PlanContext } from './planContext.ts'
import { videoCodecOfSource } from './codecs.ts'
import { planTextTracks } from './streams/textSubtitles.ts'
import { planThumbnails } from './video/thumbnailPlan.ts'

/** A video profile as planned so far. */
export interface PlannedProfile {
  /** Position in `videoProfiles`. */
  profile: number
  video: VideoPlan
  /** The audio that the profile selects. */
  audio: AudioPlan[]
}

/** A smaller difference in seconds counts as no change. */
const SAME_SECONDS = 1e-6
/** 6 s at 29.97 frames per second become 6.006 s. Without a requested length this gives no warning. */
const DEFAULT_TOLERANCE_SECONDS = 0.1

/**
 * Decisions "output_container with flags", "master_variant_mode", "bucket_output_path", "create_tar_file",
 * "gop_length".
 */
export function planPackaging(
  context: PlanContext,
  packaging: PackagingSpec,
  profiles: readonly PlannedProfile[],
  starts: SegmentStarts | null,
): PackagingPlan {
  const { spec, media } = context
  const separate = needsSeparateAudio(context, packaging, profiles)
  const hls = hlsForm(context, packaging, profiles, separate)
  const cmaf = packaging.dash || hls === 'cmaf'
  const muxed = hls === 'ts' && !separate
  const forms = (ts: boolean): SegmentForm[] => [
    ...(cmaf ? (['cmaf'] as const) : []),
    ...(ts ? (['ts'] as const) : []),
    ...(packaging.smooth ? (['smooth'] as const) : []),
  ]
  const audioForms = forms(hls === 'ts' && separate)
  const tracks = new Map(profiles.flatMap(({ audio }) => audio.map((track) => [track.profile, track])))
  const audio: RenditionPlan[] = [...(audioForms.length === 0 ? [] : tracks.values())]
    .toSorted((a, b) => a.profile - b.profile)
    .map((track) => ({
      kind: 'audio',
      id: `audio_${track.profile}`,
      directory: `audio_${track.profile}`,
      profile: track.profile,
      video: null,
      audio: [track],
      audioRenditions: [],
      forms: audioForms,
      segmentFrames: 0,
      segmentStarts: null,
    }))
  if (packaging.hls && !muxed) warnDifferentAudioSelections(context, profiles)
  const gops = starts === null ? gopsPerSegment(context, packaging, profiles) : 1
  const video = profiles.map((profile): RenditionPlan => {
    const id = `video_${profile.profile}`
    return {
      kind: 'video',
      id,
      directory: renditionDirectory(spec.video.find(({ index }) => index === profile.profile)?.output ?? '', id),
      profile: profile.profile,
      video: profile.video,
      audio: muxed ? profile.audio : [],
      audioRenditions: profile.audio
        .map((track) => `audio_${track.profile}`)
        .filter((each) => audio.some((a) => a.id === each)),
      forms: forms(hls === 'ts'),
      ...(starts === null
        ? { segmentFrames: gops * profile.video.gopFrames, segmentStarts: null }
        : segmentsOfCopy(profile.video, starts)),
    }
  })
  const name = archiveBaseName(spec)
  const first = profiles[0]?.video
  return {
    directory: spec.outputDirectory,
    hls,
    dash: packaging.dash,
    smooth: packaging.smooth ? `${name}.ism` : null,
    segmentDuration: segmentDuration(video),
    tar: packaging.tar ? joinPath(spec.outputDirectory, `${name}.tar`) : null,
    // Decision "closed_captions": true = also as WebVTT, which Smooth manifests do not list.
    textTracks:
      spec.closedCaptions === true &&
      media.video?.closedCaptions === true &&
      videoCodecOfSource(media.video.codec) !== null &&
      (hls !== null || packaging.dash),
    subtitles: planTextTracks(spec, media, context.features),
    captionChannels: media.video?.captionChannels ?? [],
    captionLanguages: media.video?.captionLanguages ?? {},
    // Those of caption files are known later (planJob.ts).
    embedded: [],
    thumbnails:
      packaging.thumbnails && first !== undefined
        ? planThumbnails(
            first,
            starts === null ? gops * first.gopFrames : framesIn(packaging.segmentSeconds, first),
            media,
          )
        : null,
    programStart: packaging.programStart,
    renditions: [...video, ...audio],
  }
}

function needsSeparateAudio(
  context: PlanContext,
  packaging: PackagingSpec,
  profiles: readonly PlannedProfile[],
): boolean {
  if (packaging.separateAudio) return true
  if (!packaging.hls || !packaging.preferTransportStream || profiles.every(({ audio }) => audio.length < 2))
    return false
  context.warn({
    code: 'audio_separated',
    field: 'master_variant_mode',
    message:
      'A video profile carries several audio tracks, between which HLS players can choose only if they are separate renditions: audio is separate, as with master_variant_mode true.',
  })
  return true
}

/**
 * RFC 8216bis, 4.4.6.1.1: all groups have the same members. Selections of different source streams cannot have them.
 */
function warnDifferentAudioSelections(context: PlanContext, profiles: readonly PlannedProfile[]): void {
  const selections = profiles.map(({ audio }) => [...new Set(audio.map(programmeOf))].toSorted().join())
  if (new Set(selections).size < 2) return
  context.warn({
    code: 'audio_selections_differ',
    field: 'videoProfiles',
    message:
      'The video profiles select audio of different source streams. Each HLS variant has the audio of its own profile, so a player that switches between variants changes or loses audio; select the same streams in all of them to avoid this.',
  })
}

/** TS segments where the job requests them and every player can play them. */
function hlsForm(
  context: PlanContext,
  packaging: PackagingSpec,
  profiles: readonly PlannedProfile[],
  separate: boolean,
): PackagingPlan['hls'] {
  if (!packaging.hls) return null
  if (!packaging.preferTransportStream) return 'cmaf'
  const alone = profiles.flatMap(({ audio }) => audio.filter(({ codec }) => !audioRules(codec).isSegmentedAlone))
  const [codec] = profiles.flatMap(({ video }) => (videoRules(video.codec).segments.includes('ts') ? [] : video.codec))
  const uncarried = profiles.flatMap(({ audio }) =>
    audio.filter((track) => !audioRules(track.codec).segments.includes('ts')),
  )
  const reason =
    codec !== undefined
      ? `HLS carries ${videoRules(codec).requestName} in these only`
      : uncarried[0] !== undefined
        ? `HLS carries ${uncarried[0].codec} in these only`
        : separate && alone[0] !== undefined
          ? `separate ${alone[0].codec} is carried in these`
          : null
  if (reason === null) return 'ts'
  context.warn({
    code: 'segments_are_cmaf',
    field: 'output_container',
    message: `The segments are fragmented MP4 (CMAF), not transport streams: ${reason}.`,
  })
  return 'cmaf'
}

/** The same times in every rendition. `segmentFrames`: the longest segment, which may follow the last one (of audio). */
function segmentsOfCopy(
  video: VideoPlan,
  { frames, seconds }: SegmentStarts,
): Pick<RenditionPlan, 'segmentFrames' | 'segmentStarts'> {
  const rate = toNumber(video.frameRate)
  const own = video.copied === null ? seconds.map((time) => Math.round(time * rate)) : frames
  const times = video.copied === null ? own.map((frame) => frame / rate) : seconds
  const longest = times.reduce((most, time, at) => Math.max(most, (times[at + 1] ?? 0) - time), 0)
  return {
    segmentFrames: Math.max(1, Math.round((longest || video.gopFrames / rate) * rate)),
    segmentStarts: { frames: own, seconds: times },
  }
}

function framesIn(seconds: number, { frameRate }: VideoPlan): number {
  return Math.max(1, Math.round(seconds * toNumber(frameRate)))
}

/** segment_length is rounded to whole GOPs. Segments of all renditions have the same duration. */
function gopsPerSegment(context: PlanContext, packaging: PackagingSpec, profiles: readonly PlannedProfile[]): number {
  const video = profiles[0]?.video
  if (video === undefined) return 1
  const gop = ratio(video.gopFrames * video.frameRate.den, video.frameRate.num)
  const gops = Math.max(1, Math.round(packaging.segmentSeconds / toNumber(gop)))
  const used = gops * toNumber(gop)
  const tolerance = packaging.hasExplicitSegmentLength ? SAME_SECONDS : DEFAULT_TOLERANCE_SECONDS
  if (Math.abs(used - packaging.segmentSeconds) > tolerance)
    context.warn({
      code: 'segment_length_snapped',
      field: 'segment_length',
      message: `Segments last ${round(used)} s instead of ${round(packaging.segmentSeconds)} s: whole GOPs of ${round(toNumber(gop))} s.`,
    })
  return gops
}

function segmentDuration(video: readonly RenditionPlan[]): Rational {
  const first = video[0]
  if (first?.video == null) return ratio(1, 1)
  const { frameRate } = first.video
  return ratio(first.segmentFrames * frameRate.den, frameRate.num)
}

function round(seconds: number): string {
  return String(Number(seconds.toFixed(6)))
}
