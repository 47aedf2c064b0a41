// In charge of: rules between fields that can be checked before the source is known, and warnings about fields without
// effect.
// Not in charge of: single fields (fields/), paths (outputPaths.ts).
import { hasVideo } from '../jobConfig.ts'
import { selectedAudio } from './audioBitrates.ts'
import { checkAudio } from './audioProfiles.ts'
import { schemeOf } from '../paths/inputAddress.ts'
import {
  FLOOR_KBPS,
  fitsCodec,
  maximumBitrateKbps,
  minimumBitrateKbps,
  toEven,
  tooHighMessage,
  tooLowMessage,
} from './videoBitrates.ts'
import {
  AUDIO_CODECS,
  audioRules,
  codecOf,
  videoRules,
  WIRE_VIDEO_CODECS,
  type AudioCodec,
  type SegmentForm,
} from '../../codecs.ts'
import { containerRules, hasHls, isSegmented, isSmooth, prefersTransportStreams } from '../../containers.ts'
import type { Findings } from '../findings.ts'
import { checkCopies, COPY, requestsVideoCopy } from './copy.ts'
import { hasExtracts } from './extracts.ts'
import { checkPieces } from './inputs.ts'
import { checkTransportStream } from './transportStream.ts'
import { warnVideoFields } from './videoFields.ts'
import type { JobDraft, VideoProfileFields } from '../fields/request.ts'
import { primaryStream } from '../sourceChannels.ts'

export function checkCombinations(draft: JobDraft, findings: Findings): void {
  for (const [index, profile] of draft.videoProfiles.entries()) {
    if (draft.copy_if_possible === true || !requestsVideoCopy(draft, profile)) {
      checkSize(profile, `videoProfiles[${index}]`, draft, findings)
      checkBitrate(profile, `videoProfiles[${index}]`, draft, findings)
    }
    checkAudioSelection(profile, `videoProfiles[${index}]`, draft, findings)
  }
  for (const [index, profile] of draft.audioProfiles.entries()) {
    checkAudio(profile, `audioProfiles[${index}]`, draft, findings)
  }
  checkLoudness(draft, findings)
  checkCopies(draft, findings)
  checkPieces(draft, findings)
  warnUnusedAudio(draft, findings)
  checkContainer(draft, findings)
  if (hasVideo(draft)) {
    checkTransportStream(draft, findings)
    warnWithoutEffect(draft, findings)
  } else warnVideoFields(draft, findings)
  warnWithoutAudio(draft, findings)
  warnCaptions(draft, findings)
}

function checkSize(profile: Partial<VideoProfileFields>, path: string, draft: JobDraft, findings: Findings): void {
  for (const side of ['width', 'height'] as const) {
    const pixels = profile[side]
    if (pixels === undefined || pixels % 2 === 0) continue
    const field = `${path}.${side}`
    findings.warn(
      'rounded_to_even',
      field,
      `${field} ${pixels} is odd; video sizes must be even, so ${toEven(pixels)} is used`,
    )
  }
  const { width, height } = profile
  if (width === undefined || height === undefined || draft.video_codec === undefined) return
  const codec = codecOf(draft.video_codec)
  if (!fitsCodec(codec, width, height)) {
    const message = `${videoRules(codec).requestName} has no level for ${width}x${height}; mpeg2 goes up to 1920x1152`
    findings.problem('unsupported_combination', path, message)
  }
}

/** Specification 8 and 7.1: video_bitrate has a minimum by profile and codec. */
function checkBitrate(profile: Partial<VideoProfileFields>, path: string, draft: JobDraft, findings: Findings): void {
  const { width, height, video_bitrate: bitrate, video_bitrate_mode: mode = 'vbr' } = profile
  const codec = draft.video_codec === undefined ? undefined : codecOf(draft.video_codec)
  if (bitrate === undefined) return
  const field = `${path}.video_bitrate`
  // If the size or the codec is invalid too, a bitrate below the minimum of all of them is still reported.
  if (width === undefined || height === undefined || codec === undefined) {
    if (bitrate < FLOOR_KBPS) {
      findings.problem('video_bitrate_too_low', field, tooLowMessage(FLOOR_KBPS), { minimum: FLOOR_KBPS })
    }
    return
  }
  const minimum = minimumBitrateKbps(codec, toEven(width), toEven(height), mode)
  const maximum = maximumBitrateKbps(codec, toEven(width), toEven(height))
  if (bitrate < minimum) findings.problem('video_bitrate_too_low', field, tooLowMessage(minimum), { minimum, maximum })
  if (bitrate > maximum) {
    findings.problem('video_bitrate_too_high', field, tooHighMessage(maximum), { minimum, maximum })
  }
}

function checkAudioSelection(
  profile: Partial<VideoProfileFields>,
  path: string,
  draft: JobDraft,
  findings: Findings,
): void {
  const count = draft.audioProfiles.length
  const beyond = selectedAudio(profile.audio_profiles, count).filter((index) => index >= count)
  if (beyond.length === 0) return
  const field = `${path}.audio_profiles`
  // 2.1: audioProfiles has zero or more elements; a template may keep "0".
  if (count === 0) findings.warn('no_effect', field, `${field} has no effect: audioProfiles is empty`)
  else
    findings.problem(
      'out_of_range',
      field,
      `${field} names ${beyond.join(', ')}, but audioProfiles has positions 0 to ${count - 1}`,
      {
        minimum: 0,
        maximum: count - 1,
      },
    )
}

function warnUnusedAudio(draft: JobDraft, findings: Findings): void {
  // With audio_output_path, and without video, each profile is separate. Every rung of a ladder carries all of them.
  if (draft.audio_output_path || draft.ladder !== undefined || !hasVideo(draft)) return
  const count = draft.audioProfiles.length
  const used = new Set(draft.videoProfiles.flatMap((profile) => selectedAudio(profile.audio_profiles, count)))
  for (let index = 0; index < count; index += 1) {
    if (used.has(index)) continue
    const field = `audioProfiles[${index}]`
    findings.warn('audio_profile_unused', field, `${field} is not selected by any video profile, so it is not produced`)
  }
}

/** Both fields set the level, so it is unclear which one should win. */
function checkLoudness(draft: JobDraft, findings: Findings): void {
  const { loudness_lufs: loudness, audio_volume: volume = 100 } = draft
  if (loudness === undefined || volume === 100) return
  const message = `loudness_lufs ${loudness} and audio_volume ${volume} contradict each other; leave one of them out`
  findings.problem('conflict', 'loudness_lufs', message)
}

/** Whether a rendition has the audio of the profile: a video that selects it, or its own segments without video. */
function isCarried(draft: JobDraft, index: number): boolean {
  if (!hasVideo(draft)) return isSegmented(draft)
  const count = draft.audioProfiles.length
  return (
    draft.ladder !== undefined ||
    draft.videoProfiles.some((profile) => selectedAudio(profile.audio_profiles, count).includes(index))
  )
}

/** Decisions "codec × container" and bucket_output_path. */
function checkContainer(draft: JobDraft, findings: Findings): void {
  const segmented = isSegmented(draft)
  const kind = isSmooth(draft) ? 'silverlight' : segmented ? 'segmented (HLS or DASH)' : `${draft.output_container}`
  // Every HLS or DASH output can be CMAF.
  const form = isSmooth(draft) ? 'smooth' : 'cmaf'
  const refuse = (field: string, what: string, allowed: string[]) =>
    findings.problem(
      'unsupported_combination',
      field,
      `${what} cannot be used in ${kind} output; use ${allowed.join(' or ')}`,
      {
        allowed,
      },
    )
  const video = draft.video_codec
  const hasForm = ({ segments }: { segments: readonly SegmentForm[] }) => segments.includes(form)
  if (segmented && video !== undefined && !hasForm(videoRules(codecOf(video)))) {
    const allowed = WIRE_VIDEO_CODECS.filter((codec) => hasForm(videoRules(codecOf(codec))))
    refuse('video_codec', `video_codec ${video}`, allowed)
  }
  for (const [index, { audio_codec: codec }] of draft.audioProfiles.entries()) {
    // The codec of a copied stream is known only with the source.
    if (codec === undefined || codec === COPY || !isCarried(draft, index)) continue
    const file = containerRules(draft.output_container)?.file
    const fits = (each: AudioCodec): boolean =>
      segmented ? hasForm(audioRules(each)) : file == null || audioRules(each).videoFiles.includes(file)
    if (fits(codec)) continue
    refuse(`audioProfiles[${index}].audio_codec`, `audio_codec ${codec}`, AUDIO_CODECS.filter(fits))
  }
  const own = draft.outputProviderOf === undefined || draft.outputProviderOf === 'vendor-store'
  if (segmented && !own && !draft.bucket_output_path) {
    findings.problem(
      'required',
      'bucket_output_path',
      'bucket_output_path is required for segmented output in a bucket',
    )
  }
}

/**
 * Decision "fields without effect": a field that has no effect is reported by a warning, never refused and never
 * ignored silently.
 */
function warnWithoutEffect(draft: JobDraft, findings: Findings): void {
  const segmented = isSegmented(draft)
  const warn = (field: string, reason: string) => findings.warn('no_effect', field, `${field} has no effect: ${reason}`)
  if (draft.segment_length !== undefined && !segmented) warn('segment_length', 'the output is not segmented')
  for (const name of ['create_tar_file', 'thumbnails'] as const) {
    if (draft[name] === true && !segmented)
      warn(name, 'it applies to segmented output, and this job writes single files')
  }
  const codec = draft.video_codec
  if (draft.dynamic_range === 'source' && codec !== undefined && !videoRules(codecOf(codec)).hasHdr) {
    const capable = WIRE_VIDEO_CODECS.filter((each) => videoRules(codecOf(each)).hasHdr)
    warn('dynamic_range', `${codec} is always SDR; only ${capable.join(' and ')} can keep HDR`)
  }
  if (
    draft.bucket_output_path &&
    !segmented &&
    draft.ladder === undefined &&
    isUnusedDirectory(draft) &&
    !hasExtracts(draft)
  ) {
    warn('bucket_output_path', 'each output is a complete address')
  }
  if ((draft.master_variant_mode === true || draft.separate_audio === true) && !segmented && !draft.audio_output_path) {
    warn(
      'master_variant_mode',
      'the output is a single file, which carries its audio itself unless audio_output_path stores it',
    )
  }
  if (draft.scte35_passthough === true && containerRules(draft.output_container)?.file === 'mp4' && !segmented) {
    warn('scte35_passthough', 'an mp4 file cannot carry SCTE-35 cues; use ts')
  }
  if (draft.ladder !== undefined && draft.allow_upscaling === true) {
    warn('allow_upscaling', 'ladder "auto" never makes renditions larger than the source')
  }
  if (codec !== undefined && !videoRules(codecOf(codec)).hasQualities && (draft.h264_quality ?? 'good') !== 'good') {
    warn('h264_quality', `${codec} has only one encoder setting; use a higher video_bitrate for better quality`)
  }
  const pid = draft.scte35_pid_remap
  if (pid !== undefined && pid !== -1) {
    if (draft.scte35_passthough === false) warn('scte35_pid_remap', 'scte35_passthough is off')
    else if (!hasTransportStreams(draft, segmented))
      warn('scte35_pid_remap', 'only transport streams have PIDs, and this job writes none')
  }
  for (const name of ['logo_position', 'logo_opacity'] as const) {
    if (draft[name] !== undefined && !draft.logo_url) warn(name, 'there is no logo_url')
  }
  if (draft.rotation_blackness !== undefined && !/^rotate_(counter)?clockwise$/.test(draft.video_aspect_ratio ?? '')) {
    warn('rotation_blackness', 'the rotation in video_aspect_ratio, if any, leaves no bars')
  }
}

function warnWithoutAudio(draft: JobDraft, findings: Findings): void {
  if (draft.audioProfiles.some((profile) => primaryStream(profile) !== undefined)) return
  for (const field of ['loudness_lufs', 'audio_output_path'] as const)
    if (draft[field] !== undefined && draft[field] !== '')
      findings.warn('no_effect', field, `${field} has no effect: no audio profile produces audio`)
}

/** Caption files become WebVTT in HLS and DASH, and tx3g in mp4 files. Any video can have them in its frames or data. */
function warnCaptions(draft: JobDraft, findings: Findings): void {
  const { captions = [], burn_in_captions: drawn } = draft
  const why = captions.length === 0 ? null : reasonWithoutCaptions(draft)
  if (why === null) return
  const isUsed = (index: number) =>
    hasVideo(draft) && (index === drawn?.captions || captions[index]?.embed !== undefined)
  const without = [...captions.keys()].flatMap((index) => (isUsed(index) ? [] : [`captions[${index}]`]))
  const fields = without.length === captions.length ? ['captions'] : without
  for (const field of fields) findings.warn('no_effect', field, `${field} has no effect: ${why}`)
}

function reasonWithoutCaptions(draft: JobDraft): string | null {
  if (!hasVideo(draft)) return 'outputs without video carry no captions'
  if (hasHls(draft) || draft.segmented_output_dash === true) return null
  if (isSegmented(draft)) return 'Smooth Streaming carries none; add HLS or DASH'
  return containerRules(draft.output_container)?.file === 'mp4' ? null : 'a ts file carries none; use mp4, HLS or DASH'
}

/**
 * Whether an output can be a transport stream. Depending on the source it may still become CMAF
 * (transcoder/plan/packagingPlan.ts).
 */
function hasTransportStreams(draft: JobDraft, segmented: boolean): boolean {
  const { output_container: container, video_codec: codec } = draft
  if (!segmented) return containerRules(container)?.file === 'ts'
  const isCarried = codec === undefined || videoRules(codecOf(codec)).segments.includes('ts')
  return isCarried && hasHls(draft) && prefersTransportStreams(draft)
}

function isUnusedDirectory({ videoProfiles }: JobDraft): boolean {
  return videoProfiles.length > 0 && videoProfiles.every(({ output = '' }) => schemeOf(output) !== null)
}
