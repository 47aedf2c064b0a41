// In charge of: a job that makes no video, or whose source has none: its audio files and segments of audio, or an error.
// Not in charge of: the audio files themselves (audio/audioFiles.ts), sources with video (planJob.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { planTrack } from './audio/audioTracks.ts'
import { describeAudioCount, whyMissing } from './audio/missingAudio.ts'
import { mixedStreams } from './model/channelMix.ts'
import { planAudioFiles } from './audio/audioFiles.ts'
import { planAudioSegments } from './audioSegments.ts'
import { isDolbyDigital } from './codecs.ts'
import { carriesSidecars } from './streams/sidecarCaptions.ts'
import { warnClockJumps } from './streams/clockJumps.ts'
import { warnDroppedStreams } from './streams/droppedStreams.ts'
import type { MediaInfo } from './model/mediaInfo.ts'
import { undecodableVideo } from './model/undecodableVideo.ts'
import type { ExtractsPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { SourceVideo } from '#contract/task/plan/videoPlan.ts'
import { requireDistinctPaths } from './distinctPaths.ts'
import { wantsFrames } from './extracts/wantsFrames.ts'
import type { PlanContext } from './planContext.ts'
import { usedPids } from './streams/programSelection.ts'
import { requireFewSegments } from './segmentCount.ts'
import { TaskError } from '#contract/taskError.ts'
import { planCut } from './streams/cut.ts'
import { outputDuration } from './streams/outputTiming.ts'
import { requireStreamCount, needsDeepProbe } from './streams/audioStreamCount.ts'

/** Placeholder: no output has video, so nothing reads it. */
export const NO_VIDEO: SourceVideo = {
  rgb: false,
  width: 0,
  height: 0,
  plain: false,
  matrix: 'bt709',
  fullRange: false,
  primaries: 'bt709',
  transfer: 'bt709',
  conversion: 'none',
  hdr: null,
}

/**
 * 2.1 videoProfiles: a job has at least one, and a source without video cannot produce any. With audio_output_path the
 * audio files are made, and each video profile is left out with a warning. Otherwise throws no_video. Throws
 * audio_stream_missing as for any source.
 */
export function planWithoutVideo(context: PlanContext, extracts: ExtractsPlan | null): Plan {
  const { spec, media, timeline } = context
  const cut = planCut(context, null)
  requireStreamCount(context)
  const audioFiles = planAudioFiles(context)
  requireDistinctPaths([], audioFiles, extracts)
  const tracks =
    spec.packaging === null || spec.video.length > 0
      ? []
      : spec.audio.flatMap((profile) => planTrack(context, profile, 'segments') ?? [])
  if (audioFiles.length === 0 && tracks.length === 0 && extracts === null)
    throw spec.video.length > 0 || wantsFrames(spec) ? nothingOfVideo(spec, media) : noAudio(media)
  if (wantsFrames(spec) && extracts?.frames == null && media.unusedVideo === undefined) warnWithoutFrames(context)
  for (const { index } of spec.video) {
    const isLadder = spec.ladder !== null
    context.warn({
      code: 'video_profile_left_out',
      field: isLadder ? 'ladder' : `videoProfiles[${index}]`,
      message: `${isLadder ? 'The ladder' : `Video profile ${index}`} is left out: the source has no video. Only the files of audio_output_path are made.`,
    })
  }
  if (spec.scte35Passthrough)
    context.warn({
      code: 'no_effect',
      field: 'scte35_passthough',
      message: 'scte35_passthough has no effect: the source has no video, so no transport stream is made.',
    })
  if (carriesSidecars(spec))
    context.warn({
      code: 'no_effect',
      field: 'captions',
      message: 'captions has no effect: the source has no video, and outputs without video carry no captions.',
    })
  context.warn(...warnDroppedStreams(media), ...warnClockJumps(media))
  const packaging =
    spec.packaging === null || tracks.length === 0 ? null : planAudioSegments(context, spec.packaging, tracks)
  const carried = [...audioFiles.map((file) => file.audio), ...tracks]
  const sourceAudio = [...new Set(carried.flatMap(mixedStreams))].toSorted((a, b) => a - b)
  const used = media.audio.filter(({ number }) => sourceAudio.includes(number))
  const durationSeconds =
    spec.video.length > 0 ? media.durationSeconds : outputDuration(media, used, timeline.startSeconds)
  requireFewSegments(packaging, durationSeconds)
  return {
    version: 3,
    reads: { kind: 'file' },
    cut,
    division: null,
    packaging,
    durationSeconds,
    videoOffsetSeconds: timeline.offsets.all,
    sourceAudio,
    pids: usedPids(media),
    picture: NO_VIDEO,
    fields: { parity: 'auto', frames: 'interlaced', clearFlag: false, keepsLast: false },
    scaler: 'scale',
    disableDrc: media.audio.some((stream) => sourceAudio.includes(stream.number) && isDolbyDigital(stream)),
    deepProbe: needsDeepProbe(spec, media),
    hevcCaptionsOption: context.features.hevcCaptions,
    cues: null,
    service: null,
    subtitles: [],
    sidecars: [],
    burnIn: null,
    outputs: [],
    audioFiles,
    extracts,
    warnings: [...context.warnings],
  }
}

/** Every audio profile is optional, and the source has the stream of none. */
function noAudio(media: MediaInfo): TaskError {
  return new TaskError(
    'audio_stream_missing',
    `Nothing is left to make: the source has ${describeAudioCount(media.audio.length)}, and the job makes audio only.`,
    { field: 'audioProfiles', details: { audio_streams: media.audio.length } },
  )
}

function warnWithoutFrames(context: PlanContext): void {
  const { spec } = context
  for (const { index } of spec.stills)
    context.warn({
      code: 'stills_left_out',
      field: `stills[${index}]`,
      message: `stills[${index}] is left out: the source has no video.`,
    })
  if (spec.animatedPreview !== null)
    context.warn({
      code: 'preview_left_out',
      field: 'animated_preview',
      message: 'The animated preview is left out: the source has no video.',
    })
}

/** The source has no video, or none of the times of the stills. */
function nothingOfVideo(spec: JobSpec, media: MediaInfo): TaskError {
  if (media.unusedVideo === undefined) return noVideo(spec, media)
  return new TaskError(
    'cut_outside_source',
    'Nothing is left to make: the times of all stills are after the end of the outputs.',
    { field: 'stills' },
  )
}

function noVideo(spec: JobSpec, media: MediaInfo): TaskError {
  const audio = media.audio.length
  const has = audio === 0 ? describeAudioCount(audio) : `only ${describeAudioCount(audio)}`
  const cover = media.other.some((stream) => stream.type === 'cover art') ? ' and cover art, which is no video' : ''
  const instead =
    spec.audioDirectory === null
      ? 'leave out the video profiles, or give audio_output_path, and an audio profile with source_stream to have its audio as files'
      : 'give an audio profile its source_stream to have that audio as a file in audio_output_path'
  const declared = undecodableVideo(media) ?? 'no video stream'
  const unreadable = media.other.find(({ audioNumber }) => audioNumber === 1)
  const but = audio > 0 || unreadable === undefined ? instead : whyMissing(media, 1)
  return new TaskError('no_video', `The source has ${declared}: it has ${has}${cover}; ${but}.`, {
    field: 'input',
    details: { audio_streams: audio, other_streams: media.other.length },
  })
}
