// In charge of: the rule that a job makes at least one thing, and the list of what counts.
// Not in charge of: whether the source can provide it (transcoder/plan).
import { audioCodecOf, audioRules } from '../../codecs.ts'
import { isSegmented } from '../../containers.ts'
import { hasMisspelling } from '../fieldHints.ts'
import { hasVideo } from '../jobConfig.ts'
import { presentMember, type JsonObject } from '../fieldReader.ts'
import type { Findings } from '../findings.ts'
import { hasExtracts } from './extracts.ts'
import type { AudioProfileFields, JobDraft } from '../fields/request.ts'
import { primaryStream } from '../sourceChannels.ts'

type Requested = Pick<
  JobDraft,
  'ladder' | 'videoProfiles' | 'audioProfiles' | 'stills' | 'animated_preview' | 'waveform'
>

interface Product {
  /** What to give for it; completes "give …". */
  ask: string
  isRequested(job: Requested): boolean
}

const video: Product = { ask: 'videoProfiles or ladder', isRequested: hasVideo }

/** Everything that can be the only output of a job, besides video. */
const withoutVideo: readonly Product[] = [
  {
    ask: 'an element of audioProfiles with source_stream',
    // 2.2 source_stream: "Required for audio to be produced."
    isRequested: ({ audioProfiles }) => audioProfiles.some((profile) => primaryStream(profile) !== undefined),
  },
  { ask: 'stills, animated_preview or waveform', isRequested: hasExtracts },
]

/** Whether the job makes something even without video. */
export function makesWithoutVideo(job: Requested): boolean {
  return withoutVideo.some((product) => product.isRequested(job))
}

/**
 * Refuses a job that would make nothing, or that may lack its video by mistake. Not if one of these fields is wrong: with
 * the correct value it may make something.
 */
export function checkProducts(draft: JobDraft, body: JsonObject, findings: Findings): void {
  if (hasVideo(draft)) return
  if (
    findings.problems.some(({ field }) =>
      /^(?:videoProfiles|audioProfiles|ladder|stills|animated_preview|waveform)\b/.test(field ?? ''),
    )
  )
    return
  if (makesWithoutVideo(draft)) {
    requireIntent(draft, body, findings)
    return
  }
  const asks = [video, ...withoutVideo].map(({ ask }) => ask).join(', or ')
  findings.problem('required', 'videoProfiles', `the job would make nothing; give ${asks}`)
}

/** 2.1: videoProfiles is required. A job without video is an extension, which the request has to ask for. */
function requireIntent(draft: JobDraft, body: JsonObject, findings: Findings): void {
  const isListed = presentMember(body, 'videoProfiles') !== undefined
  const isMisspelt = !isListed && hasMisspelling('videoProfiles', body)
  if (!isMisspelt && (hasExtracts(draft) || (isListed && wantsAudioAlone(draft)))) return
  findings.problem(
    'required',
    'videoProfiles',
    `videoProfiles ${isListed ? 'is empty' : 'is required'}; for audio alone send videoProfiles [] together with audio_output_path, an audio_container or a segmented output`,
  )
}

/** MP3 and PCM exist only as files of their own. */
function isNeverWithVideo(name: NonNullable<AudioProfileFields['audio_codec']>): boolean {
  const { videoFiles, segments } = audioRules(audioCodecOf(name))
  return videoFiles.length === 0 && segments.length === 0
}

function wantsAudioAlone(draft: JobDraft): boolean {
  return (
    Boolean(draft.audio_output_path) ||
    draft.audioProfiles.some(
      ({ audio_container: container, audio_codec: codec }) =>
        container !== undefined || (codec !== undefined && isNeverWithVideo(codec)),
    ) ||
    isSegmented(draft)
  )
}
