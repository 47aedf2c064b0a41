// In charge of: the rule that a job makes at least one thing, and the list of what counts.
// Not in charge of: whether the source can provide it (transcoder/plan).
import type { Findings } from '../findings.ts'
import { hasExtracts } from './extracts.ts'
import type { JobDraft } from '../requestSchema.ts'
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

/** Renditions with video. A job without them makes audio only: each audio profile becomes a file, or segments. */
export function hasVideo({ ladder, videoProfiles }: Pick<Requested, 'ladder' | 'videoProfiles'>): boolean {
  return ladder !== undefined || videoProfiles.length > 0
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
 * Refuses a job that would make nothing. Not if one of these fields is wrong: with the correct value it may make
 * something.
 */
export function checkProducts(draft: JobDraft, findings: Findings): void {
  if ([video, ...withoutVideo].some((product) => product.isRequested(draft))) return
  if (
    findings.problems.some(({ field }) =>
      /^(?:videoProfiles|audioProfiles|ladder|stills|animated_preview|waveform)\b/.test(field ?? ''),
    )
  )
    return
  const asks = [video, ...withoutVideo].map(({ ask }) => ask).join(', or ')
  findings.problem('required', 'videoProfiles', `the job would make nothing; give ${asks}`)
}
