// In charge of: burn_in_captions of a request: reading it, its rules, and what the transcoder gets.
// Not in charge of: single fields (fields/captions.ts), what the source contains (transcoder/plan/streams/burnIn.ts).
import { hasVideo } from '../jobConfig.ts'
import type { Findings } from '../findings.ts'
import { isJsonObject, presentMember, readFields, type JsonObject } from '../fieldReader.ts'
import type { JobConfig } from '../jobConfig.ts'
import type { BurnInSpec } from '../jobSpec.ts'
import { printableValue } from '../redact.ts'
import { burnInFields } from '../fields/captions.ts'
import type { BurnInCaptionsFields, JobDraft } from '../fields/request.ts'

const MEMBERS = ['captions', 'source_track'] as const

/** undefined = the body has none. `given` is null if it is not an object, which is then reported. */
export function readBurnIn(
  body: JsonObject,
  findings: Findings,
): { given: JsonObject | null; read: Partial<BurnInCaptionsFields> } | undefined {
  const value = presentMember(body, 'burn_in_captions')
  if (value === undefined) return undefined
  const given = isJsonObject(value) ? value : null
  if (given === null) {
    const message = `burn_in_captions must be an object like {"captions": 0} or {"source_track": 1}; ${printableValue(value)} was given`
    findings.problem('invalid_type', 'burn_in_captions', message)
  }
  return { given, read: readFields(burnInFields, given, 'burn_in_captions', findings) }
}

export function burnInOf({ burn_in_captions: burnIn }: Pick<JobConfig, 'burn_in_captions'>): BurnInSpec | null {
  if (burnIn?.captions !== undefined) return { kind: 'caption', caption: burnIn.captions }
  if (burnIn?.source_track !== undefined) return { kind: 'source track', track: burnIn.source_track }
  return null
}

export function checkBurnIn(draft: JobDraft, findings: Findings): void {
  const { burn_in_captions: burnIn } = draft
  if (burnIn === undefined) return
  const given = MEMBERS.filter((name) => burnIn[name] !== undefined)
  const isWrong = findings.problems.some(({ field }) => field?.startsWith('burn_in_captions'))
  if (given.length === 0 && !isWrong)
    findings.problem('required', 'burn_in_captions', 'burn_in_captions needs captions or source_track', {
      allowed: MEMBERS,
    })
  if (given.length > 1)
    findings.problem(
      'conflict',
      'burn_in_captions',
      'burn_in_captions has captions and source_track; give one of them',
      {
        allowed: MEMBERS,
      },
    )
  if (!hasVideo(draft))
    findings.problem(
      'unsupported_combination',
      'burn_in_captions',
      'burn_in_captions needs videoProfiles or ladder: captions are drawn into video',
    )
  checkFile(draft, burnIn.captions, findings)
}

/** The file exists, and players do not show it on top of the same text in the video. */
function checkFile({ captions = [] }: JobDraft, index: number | undefined, findings: Findings): void {
  if (index === undefined) return
  const file = captions[index]
  if (file === undefined) {
    const field = 'burn_in_captions.captions'
    const has = captions.length === 0 ? 'the job has no captions' : `captions has positions 0 to ${captions.length - 1}`
    const bounds = captions.length === 0 ? {} : { minimum: 0, maximum: captions.length - 1 }
    findings.problem('out_of_range', field, `${field} is ${index}, but ${has}`, bounds)
    return
  }
  for (const name of ['default', 'forced'] as const)
    if (file[name] === true) {
      const field = `captions[${index}].${name}`
      findings.warn('no_effect', field, `${field} has no effect: this text is in the video already (burn_in_captions)`)
    }
}
