// In charge of: rules of the fields that say how a transport stream is signalled: ts_profile, names, identifiers, PIDs.
// Not in charge of: their ranges (request.ts), the PID of cues that the source has (transcoder/plan/cues.ts).
import { isSegmented } from './availability.ts'
import { DEFAULT_MAP_PID, DEFAULT_VIDEO_PID } from './limits.ts'
import type { Findings } from './problems.ts'
import type { Draft } from './request.ts'

const NAMES = [
  'ts_profile',
  'service_name',
  'service_provider',
  'service_id',
  'transport_stream_id',
  'pmt_pid',
  'video_pid',
  'audio_pid',
] as const
/** ATSC A/53-5, 5.4: of a main service. */
const ATSC_AC3_KBPS = 448

export function checkService(draft: Draft, findings: Findings): void {
  const given = NAMES.filter((name) => draft[name] !== undefined && draft[name] !== '')
  if (draft.output_container !== 'ts' || isSegmented({ ...draft })) {
    for (const name of given)
      findings.warn('no_effect', name, `${name} has no effect: it belongs to ts files, and this job writes none`)
    return
  }
  refuseSharedPids(draft, findings)
  if (draft.ts_profile !== 'atsc') return
  for (const [index, { audio_codec: codec, audio_bitrate: kbps }] of draft.audioProfiles.entries()) {
    if (codec !== 'ac3' || Number(kbps) <= ATSC_AC3_KBPS) continue
    const field = `audioProfiles[${index}].audio_bitrate`
    findings.problem(
      'unsupported_combination',
      field,
      `${field} ${kbps} is too high for ts_profile "atsc"; ATSC has ac3 up to ${ATSC_AC3_KBPS} kbps`,
      { maximum: ATSC_AC3_KBPS },
    )
  }
}

/** Of the fields that are given, one that another of the stream's PIDs has already. */
function refuseSharedPids(draft: Draft, findings: Findings): void {
  const { pmt_pid: map = DEFAULT_MAP_PID, video_pid: video = DEFAULT_VIDEO_PID, scte35_pid_remap: cues } = draft
  const first = draft.audio_pid ?? video + 1
  const tracks = draft.audioProfiles.filter((profile) => profile.source_stream !== undefined)
  const taken = new Map<number, string>([[map, 'pmt_pid']])
  const take = (pid: number, name: string, what: string): void => {
    const before = taken.get(pid)
    if (before === undefined) return void taken.set(pid, what)
    findings.problem('unsupported_combination', name, `${what} has the PID ${pid}, which ${before} has already`)
  }
  take(video, draft.video_pid === undefined ? 'pmt_pid' : 'video_pid', 'video_pid')
  const audioField =
    draft.audio_pid === undefined ? (draft.video_pid === undefined ? 'pmt_pid' : 'video_pid') : 'audio_pid'
  for (const position of tracks.keys()) take(first + position, audioField, `audio track ${position + 1}`)
  const isRemapped = cues !== undefined && cues >= 0 && draft.scte35_passthough === true
  if (isRemapped) take(cues, 'scte35_pid_remap', 'scte35_pid_remap')
}
