// In charge of: rules of the fields for the signalling of transport streams: ts_profile, names, identifiers, PIDs.
// Not in charge of: their ranges (fields/), the PID of the source's cues (transcoder/plan/streams/cuePlan.ts).
import { containerRules, isSegmented } from '../../containers.ts'
import { DEFAULT_PMT_PID, DEFAULT_VIDEO_PID, STREAM_PID } from '../../limits.ts'
import type { Findings } from '../findings.ts'
import { fieldsOfGroup } from '../fields/job.ts'
import type { JobDraft } from '../fields/request.ts'
import { primaryStream } from '../sourceChannels.ts'

/** The fields that only transport stream files have. */
export const TRANSPORT_STREAM_FIELDS = fieldsOfGroup('service')

export function checkTransportStream(draft: JobDraft, findings: Findings): void {
  const given = TRANSPORT_STREAM_FIELDS.filter((name) => draft[name] !== undefined && draft[name] !== '')
  if (containerRules(draft.output_container)?.file !== 'ts' || isSegmented(draft)) {
    for (const name of given)
      findings.warn('no_effect', name, `${name} has no effect: it applies to ts files, and this job writes none`)
    return
  }
  checkDistinctPids(draft, findings)
}

/** Reports a given PID that is already used by another field of the same stream. */
function checkDistinctPids(draft: JobDraft, findings: Findings): void {
  const { pmt_pid: map = DEFAULT_PMT_PID, video_pid: video = DEFAULT_VIDEO_PID, scte35_pid_remap: cues } = draft
  const first = draft.audio_pid ?? video + 1
  const tracks = draft.audioProfiles.filter((profile) => primaryStream(profile) !== undefined)
  const taken = new Map<number, string>([[map, 'pmt_pid']])
  const take = (pid: number, name: string, what: string): void => {
    if (pid > STREAM_PID.maximum && name !== 'scte35_pid_remap')
      return findings.problem(
        'unsupported_combination',
        name,
        `${what} would have the PID ${pid}; the last one is ${STREAM_PID.maximum}`,
      )
    const before = taken.get(pid)
    if (before === undefined) return void taken.set(pid, what)
    findings.problem('unsupported_combination', name, `${what} has the PID ${pid}, which ${before} has already`)
  }
  take(video, draft.video_pid === undefined ? 'pmt_pid' : 'video_pid', 'video_pid')
  const audioField =
    draft.audio_pid === undefined ? (draft.video_pid === undefined ? 'pmt_pid' : 'video_pid') : 'audio_pid'
  for (const position of tracks.keys()) take(first + position, audioField, `audio track ${position + 1}`)
  if (cues !== undefined && cues >= 0 && draft.scte35_passthough === true)
    take(cues, 'scte35_pid_remap', 'scte35_pid_remap')
}
