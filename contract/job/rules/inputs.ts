// In charge of: the sources of a request, `input` or `inputs`, and the rules between the elements of `inputs` and other
// fields.
// Not in charge of: addresses (stores/), credentials (credentials.ts), what the sources contain (transcoder/plan).
import type { Findings } from '../findings.ts'
import type { JobDraft } from '../fields/request.ts'
import { parseCutTime } from '../cutTime.ts'

interface CutFields {
  start_seconds?: number | string | undefined
  end_seconds?: number | string | undefined
}

/** `prefix`: the path of the object that has the two fields, with a dot at its end; '' = the body. */
function checkCut({ start_seconds: from, end_seconds: to }: CutFields, prefix: string, findings: Findings): void {
  if (to === undefined) return
  const [start, end] = [parseCutTime(from ?? 0), parseCutTime(to)]
  // Frames count within a second, and drop-frame numbers never go back.
  const frame = (time: typeof start): number => (time.kind === 'timecode' ? time.frame : 0)
  const isAfter = end.seconds > start.seconds || (end.seconds === start.seconds && frame(end) > frame(start))
  if (isAfter) return
  const message = `${prefix}end_seconds ${to} must be after start_seconds ${from ?? 0}`
  findings.problem('out_of_range', `${prefix}end_seconds`, message)
}

/** Each source of a request, with the path of its field. */
export function draftInputs({ input, inputs }: JobDraft): { field: string; address: string | undefined }[] {
  if (inputs === undefined) return [{ field: 'input', address: input }]
  return inputs.map((each, index) => ({ field: `inputs[${index}].input`, address: each.input }))
}

export function checkPieces(draft: JobDraft, findings: Findings): void {
  const { inputs } = draft
  if (inputs === undefined) return checkCut(draft, '', findings)
  for (const name of ['start_seconds', 'end_seconds'] as const)
    if (draft[name] !== undefined) {
      const message = `${name} cannot be combined with inputs: each element of inputs has its own start_seconds and end_seconds`
      findings.problem('conflict', name, message)
    }
  for (const [index, piece] of inputs.entries()) checkCut(piece, `inputs[${index}].`, findings)
  checkStreams(draft, inputs, findings)
}

type Pieces = NonNullable<JobDraft['inputs']>

/** `source_streams`: each entry must belong to an audio profile, and each stream must be somewhere. */
function checkStreams(draft: JobDraft, inputs: Pieces, findings: Findings): void {
  const used = new Set(draft.audioProfiles.map((profile) => profile.source_stream))
  const unused = new Set<string>()
  for (const [index, { source_streams: streams = {} }] of inputs.entries())
    for (const name of Object.keys(streams))
      if (!used.has(name as never) && !unused.has(name)) {
        unused.add(name)
        const field = `inputs[${index}].source_streams.${name}`
        findings.warn('no_effect', field, `${field} has no effect: no audio profile has source_stream ${name}`)
      }
  for (const name of used) {
    if (name === undefined || !inputs.every(({ source_streams: streams }) => streams?.[name] === null)) continue
    const message = `source_streams.${name} is null in every element of inputs, so source_stream ${name} would be silent; leave out the audio profile instead`
    findings.problem('conflict', 'inputs[0].source_streams', message)
  }
}
