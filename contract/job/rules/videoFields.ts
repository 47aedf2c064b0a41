// In charge of: warnings about fields of the video in a job that makes none.
// Not in charge of: whether a job makes video (products.ts).
import { containerRules, isSegmented, isSmooth } from '../../containers.ts'
import type { Findings } from '../findings.ts'
import { jobFields } from '../fields/job.ts'
import type { JobDraft } from '../fields/request.ts'
import { hasExtracts, hasFrameExtracts } from './extracts.ts'
import { schemeOf } from '../paths/inputAddress.ts'
import { TRANSPORT_STREAM_FIELDS } from './transportStream.ts'

const VIDEO_FIELDS = [
  'video_codec',
  'h264_quality',
  'gop_length',
  'ip_distance',
  'video_aspect_ratio',
  'picture_transform',
  'rotation_blackness',
  'force_progressive',
  'auto_detelecine_flag',
  'keep_fps',
  'dynamic_range',
  'allow_upscaling',
  'closed_captions',
  'logo_url',
  'logo_position',
  'logo_opacity',
  'thumbnails',
  'scte35_passthough',
  'scte35_pid_remap',
] as const satisfies (keyof JobDraft)[]

/** The same rules hold for segments of audio and of video (segmentedOutput.ts). */
const SEGMENT_FIELDS = ['segment_length', 'create_tar_file', 'master_variant_mode'] as const

/** A value that is the default says nothing, so it has no warning. */
function isChosen(draft: JobDraft, name: (typeof VIDEO_FIELDS)[number] | (typeof SEGMENT_FIELDS)[number]): boolean {
  const value = draft[name]
  if (value === undefined || value === null || value === '' || value === false)
    return name === 'keep_fps' && value === false
  const standard = jobFields[name].schema.safeParse(undefined)
  return value !== (standard.success ? standard.data : undefined)
}

/** They also say which frames stills show, and how. */
const FRAME_FIELDS: readonly string[] = [
  'video_aspect_ratio',
  'picture_transform',
  'rotation_blackness',
  'auto_detelecine_flag',
  'keep_fps',
] satisfies (typeof VIDEO_FIELDS)[number][]

export function warnVideoFields(draft: JobDraft, findings: Findings): void {
  const warn = (field: string, reason: string) => findings.warn('no_effect', field, `${field} has no effect: ${reason}`)
  const hasFrames = hasFrameExtracts(draft)
  for (const name of VIDEO_FIELDS)
    if (isChosen(draft, name) && !(hasFrames && FRAME_FIELDS.includes(name))) warn(name, 'the job makes no video')
  for (const name of TRANSPORT_STREAM_FIELDS)
    if (draft[name] !== undefined && draft[name] !== '') warn(name, 'it applies to ts files, and this job writes none')
  if (draft.max_chunk_seconds) warn('max_chunk_seconds', 'only jobs with video are divided')
  if (isSegmented(draft)) {
    if (isSmooth(draft)) {
      const message = 'silverlight output needs videoProfiles or ladder; HLS and DASH carry audio alone'
      findings.problem('required', 'videoProfiles', message)
    }
    if (isChosen(draft, 'master_variant_mode')) warn('master_variant_mode', 'without video, audio is always separate')
    return
  }
  if (containerRules(draft.output_container)?.file === 'ts')
    warn(
      'output_container',
      'the job makes no video; audio_codec and audio_container decide the kind of its audio files',
    )
  for (const name of SEGMENT_FIELDS) if (isChosen(draft, name)) warn(name, 'the output is not segmented')
  const { bucket_output_path: directory, audio_output_path: audio } = draft
  // A relative audio_output_path is in the bucket that bucket_output_path names.
  if (directory && audio && !hasExtracts(draft) && (schemeOf(directory) === null || schemeOf(audio) !== null))
    warn('bucket_output_path', 'the audio files are in audio_output_path, and the job makes no other output')
}
