// In charge of: which profiles copy a stream of the source, and the fields that exclude it because they change the stream.
// Not in charge of: whether the source's stream can be copied (transcoder/plan/copy/).
import { isSegmented } from '../../containers.ts'
import type { Findings } from '../findings.ts'
import type { AudioProfileFields, JobDraft, VideoProfileFields } from '../fields/request.ts'

/** The value of video_codec and audio_codec that keeps a stream of the source as it is. */
export const COPY = 'copy'

type Video = Partial<VideoProfileFields>
type Audio = Partial<AudioProfileFields>
/** The fields of a job that decide; a stored job has them, and a draft may. */
type Job = Pick<Partial<JobDraft>, keyof JobDraft>

/** The job's video_codec is "copy", which applies to all profiles, or the profile's own. */
export function requestsVideoCopy(job: Pick<Job, 'video_codec'>, profile: Pick<Video, 'video_codec'>): boolean {
  return job.video_codec === COPY || profile.video_codec === COPY
}

export function requestsAudioCopy(profile: Pick<Audio, 'audio_codec'>): boolean {
  return profile.audio_codec === COPY
}

/** A field that a copied stream cannot follow. `field` is the path in the request. */
interface Obstacle {
  field: string
  why: string
}

/** One element is the same as `input` with a part. */
function joined({ inputs = [] }: Job): Obstacle | false {
  return inputs.length > 1 && { field: 'inputs', why: 'joined sources are decoded' }
}

/** Fields that would change the frames of this profile. */
export function videoCopyObstacles(job: Job, profile: Video, index: number): Obstacle[] {
  const own = `videoProfiles[${index}]`
  const found: (Obstacle | false)[] = [
    joined(job),
    Boolean(job.logo_url) && { field: 'logo_url', why: 'a logo is drawn on decoded frames' },
    job.burn_in_captions !== undefined && {
      field: 'burn_in_captions',
      why: 'captions are drawn on decoded frames',
    },
    (job.picture_transform ?? 'none') !== 'none' && {
      field: 'picture_transform',
      why: 'the frames are not decoded',
    },
    (job.video_aspect_ratio ?? 'passthrough') !== 'passthrough' && {
      field: 'video_aspect_ratio',
      why: 'the frames are not decoded',
    },
    job.force_progressive === true && { field: 'force_progressive', why: 'copied video keeps its scan' },
    profile.video_format === 'progressive' && { field: `${own}.video_format`, why: 'copied video keeps its scan' },
    job.auto_detelecine_flag === true && { field: 'auto_detelecine_flag', why: 'copied video keeps its fields' },
    (profile.video_framerate ?? '1x') !== '1x' && {
      field: `${own}.video_framerate`,
      why: 'copied video keeps its frame rate',
    },
    job.dynamic_range === 'sdr' && { field: 'dynamic_range', why: 'copied video keeps its dynamic range' },
    job.closed_captions === false && { field: 'closed_captions', why: 'captions inside copied video stay' },
    ...(job.captions ?? []).map(
      ({ embed }, caption) =>
        embed !== undefined && { field: `captions[${caption}].embed`, why: 'captions are written into encoded frames' },
    ),
    job.ladder !== undefined && { field: 'ladder', why: 'its rungs are encoded' },
  ]
  return found.filter((each) => each !== false)
}

/** Fields that would change the samples of this profile. */
export function audioCopyObstacles(job: Job, profile: Audio, index: number): Obstacle[] {
  const own = `audioProfiles[${index}]`
  const level = 'the level of copied audio stays as it is'
  const channels = 'copied audio keeps its channels'
  const found: (Obstacle | false)[] = [
    joined(job),
    job.loudness_lufs !== undefined && { field: 'loudness_lufs', why: level },
    (job.audio_volume ?? 100) !== 100 && { field: 'audio_volume', why: level },
    Boolean(profile.dolby_digital_dialnorm) && { field: `${own}.dolby_digital_dialnorm`, why: level },
    profile.primary_audio_downmix_to_stereo === true && {
      field: `${own}.primary_audio_downmix_to_stereo`,
      why: channels,
    },
    profile.source_channels !== undefined && { field: `${own}.source_channels`, why: channels },
    profile.downmix !== undefined && { field: `${own}.downmix`, why: channels },
    profile.downmix_lfe !== undefined && { field: `${own}.downmix_lfe`, why: channels },
  ]
  return found.filter((each) => each !== false)
}

/** The profile is copied as far as the request decides. */
export function copiesVideo(job: Job, profile: Video, index: number): boolean {
  return requestsVideoCopy(job, profile) && videoCopyObstacles(job, profile, index).length === 0
}

export function copiesAudio(job: Job, profile: Audio, index: number): boolean {
  return requestsAudioCopy(profile) && audioCopyObstacles(job, profile, index).length === 0
}

/** Refuses what contradicts a copy; with copy_if_possible the profile is encoded instead, with a warning. */
export function checkCopies(draft: JobDraft, findings: Findings): void {
  const obstacles = [
    ...draft.videoProfiles.flatMap((profile, index) =>
      requestsVideoCopy(draft, profile)
        ? videoCopyObstacles(draft, profile, index).map((each) => ({ ...each, copied: `videoProfiles[${index}]` }))
        : [],
    ),
    ...draft.audioProfiles.flatMap((profile, index) =>
      requestsAudioCopy(profile)
        ? audioCopyObstacles(draft, profile, index).map((each) => ({ ...each, copied: `audioProfiles[${index}]` }))
        : [],
    ),
  ]
  for (const { field, why, copied } of obstacles)
    if (draft.copy_if_possible === true)
      findings.warn('copy_not_possible', field, `${copied} is encoded and not copied: with ${field}, ${why}`)
    else
      findings.problem(
        'unsupported_combination',
        field,
        `${field} cannot be combined with "copy" (${copied}): ${why}; leave it out, or set copy_if_possible`,
      )
  if (draft.ladder !== undefined && draft.video_codec === COPY && draft.copy_if_possible !== true)
    findings.problem(
      'unsupported_combination',
      'ladder',
      'ladder "auto" cannot be combined with video_codec "copy": its rungs are encoded; name the profiles instead',
    )
  warnFieldsWithoutEffect(draft, findings)
}

/** What only an encode follows. */
function warnFieldsWithoutEffect(draft: JobDraft, findings: Findings): void {
  const warn = (field: string, reason: string): void =>
    findings.warn('no_effect', field, `${field} has no effect: ${reason}`)
  const copies = (profile: Video, index: number): boolean => copiesVideo(draft, profile, index)
  const wanted =
    draft.videoProfiles.some((profile) => requestsVideoCopy(draft, profile)) ||
    draft.audioProfiles.some(requestsAudioCopy)
  if (draft.copy_if_possible !== undefined && !wanted) warn('copy_if_possible', 'no profile asks for "copy"')
  if (draft.copy_if_possible === true) return
  for (const [index, profile] of draft.videoProfiles.entries())
    if (copies(profile, index))
      for (const name of ['width', 'height', 'video_bitrate', 'video_bitrate_mode'] as const)
        if (profile[name] !== undefined && profile[name] !== 0)
          warn(`videoProfiles[${index}].${name}`, 'the video is copied')
  if (draft.videoProfiles.length === 0 || !draft.videoProfiles.every(copies)) return
  if (draft.ip_distance !== undefined) warn('ip_distance', 'all video is copied')
  if ((draft.h264_quality ?? 'good') !== 'good') warn('h264_quality', 'all video is copied')
  if (isSegmented(draft) && draft.allow_upscaling !== undefined) warn('allow_upscaling', 'all video is copied')
}
