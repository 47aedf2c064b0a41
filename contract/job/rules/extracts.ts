// In charge of: rules between the fields of stills, animated_preview and waveform, and the paths of their files against
// those of other outputs.
// Not in charge of: single fields (fields/extracts.ts), names (paths/extractNames.ts), times that the source lacks
// (transcoder/plan/extracts).
import { MAX_STILLS } from '../../limits.ts'
import type { Findings } from '../findings.ts'
import { presentMember, readFields, readObjectList, type JsonObject } from '../fieldReader.ts'
import { isJsonObject } from '../fieldReader.ts'
import { STILLS } from '../../limits.ts'
import { printableValue } from '../redact.ts'
import { animatedPreviewFields, stillsFields, waveformFields } from '../fields/extracts.ts'
import type { JobDraft, StillsFields } from '../fields/request.ts'
import { draftInputs } from './inputs.ts'
import { outputLocations, type OutputLocations } from '../paths/outputLocation.ts'
import { joinPath, normalisePath, outputPathProblem } from '../paths/outputNames.ts'
import { derivedExtractName, stillExtensions, stillNamePattern } from '../paths/extractNames.ts'

/** The objects as the request has them; an element that is not an object is null. */
export interface ExtractBodies {
  stills: (JsonObject | null)[] | null
  animated_preview: JsonObject | null
  waveform: JsonObject | null
}

export function readExtracts(body: JsonObject, findings: Findings): ExtractBodies {
  const one = (name: 'animated_preview' | 'waveform'): JsonObject | null => {
    const value = presentMember(body, name)
    if (value === undefined || isJsonObject(value)) return value ?? null
    findings.problem('invalid_type', name, `${name} must be an object; ${printableValue(value)} was given`)
    return null
  }
  return {
    stills: presentMember(body, 'stills') === undefined ? null : readObjectList(body, 'stills', STILLS, findings),
    animated_preview: one('animated_preview'),
    waveform: one('waveform'),
  }
}

type ExtractDraft = Pick<JobDraft, 'stills' | 'animated_preview' | 'waveform'>

export function extractFields({ stills, animated_preview, waveform }: ExtractBodies, findings: Findings): ExtractDraft {
  return {
    ...(stills === null
      ? {}
      : { stills: stills.map((each, i) => readFields(stillsFields, each, `stills[${i}]`, findings)) }),
    ...(animated_preview === null
      ? {}
      : {
          animated_preview: readFields(animatedPreviewFields, animated_preview, 'animated_preview', findings),
        }),
    ...(waveform === null ? {} : { waveform: readFields(waveformFields, waveform, 'waveform', findings) }),
  }
}

/** Whether the job makes files of single frames or of peaks. */
export function hasExtracts({ stills, animated_preview, waveform }: ExtractDraft): boolean {
  return stills !== undefined || animated_preview !== undefined || waveform !== undefined
}

/** Whether one of them is made of frames. */
export function hasFrameExtracts({ stills, animated_preview }: ExtractDraft): boolean {
  return stills !== undefined || animated_preview !== undefined
}

/** The images that an element makes; undefined = it depends on the source. */
export function stillCount({ at_seconds: at, count }: Partial<StillsFields>): number | undefined {
  return at === undefined ? count : Array.isArray(at) ? at.length : 1
}

export function checkExtracts(draft: JobDraft, findings: Findings): void {
  for (const [index, element] of (draft.stills ?? []).entries()) checkStills(element, `stills[${index}]`, findings)
  checkTotal(draft, findings)
  checkWaveform(draft, findings)
  checkJoined(draft, findings)
  checkPaths(draft, findings)
}

const TIMINGS = ['at_seconds', 'every_seconds', 'count'] as const

function checkStills(element: Partial<StillsFields>, path: string, findings: Findings): void {
  const given = TIMINGS.filter((name) => element[name] !== undefined)
  const isWrong = findings.problems.some(({ field }) => TIMINGS.some((name) => field === `${path}.${name}`))
  if (given.length === 0 && !isWrong)
    findings.problem('required', path, `${path} needs at_seconds, every_seconds or count`, { allowed: TIMINGS })
  if (given.length > 1)
    findings.problem('conflict', path, `${path} has ${given.join(' and ')}; give only one of them`, {
      allowed: TIMINGS,
    })
  const { output = '', format } = element
  if (output === '' || format === undefined) return
  const field = `${path}.output`
  const wrong = outputPathProblem(output)
  const extensions = stillExtensions[format]
  if (wrong !== null)
    findings.problem('invalid_output_path', field, `${field} ${wrong}; ${printableValue(output)} was given`)
  else if (!extensions.some((extension) => output.toLowerCase().endsWith(`.${extension}`)))
    findings.problem(
      'invalid_output_path',
      field,
      `${field} must end with .${extensions.join(' or .')}, because the format is ${format}; ${printableValue(output)} was given`,
    )
}

function checkTotal({ stills = [] }: JobDraft, findings: Findings): void {
  const total = stills.reduce((sum, element) => sum + (stillCount(element) ?? 1), 0)
  if (total <= MAX_STILLS) return
  const message = `the elements of stills ask for ${total} images; a job makes at most ${MAX_STILLS}`
  findings.problem('out_of_range', 'stills', message, { maximum: MAX_STILLS })
}

function checkWaveform({ waveform }: JobDraft, findings: Findings): void {
  if (waveform === undefined) return
  const { samples_per_pixel: samples, pixels_per_second: pixels, format } = waveform
  if (samples !== undefined && pixels !== undefined)
    findings.problem(
      'conflict',
      'waveform.pixels_per_second',
      'waveform has samples_per_pixel and pixels_per_second; give only one of them',
    )
  if (format !== 'png') return
  for (const name of ['samples_per_pixel', 'pixels_per_second'] as const)
    if (waveform[name] !== undefined)
      findings.warn(
        'no_effect',
        `waveform.${name}`,
        `waveform.${name} has no effect: an image shows the whole audio in its width`,
      )
}

/** Pieces are decoded once, for the renditions and the audio profiles. */
function checkJoined(draft: JobDraft, findings: Findings): void {
  if (draft.inputs === undefined) return
  const refuse = (field: string, message: string) => findings.problem('unsupported_combination', field, message)
  if (draft.ladder === undefined && draft.videoProfiles.length === 0)
    for (const name of ['stills', 'animated_preview'] as const)
      if (draft[name] !== undefined) refuse(name, `${name} of several inputs needs videoProfiles or ladder beside it`)
  const stream = draft.waveform?.source_stream
  if (stream === undefined || draft.audioProfiles.some((profile) => Number(profile.source_stream) === stream)) return
  refuse(
    'waveform.source_stream',
    `waveform.source_stream ${stream} of several inputs needs an audio profile with the same source_stream`,
  )
}

/** The name of the source may not be known yet (an upload has only a number), so every derived name is reserved. */
function checkPaths(draft: JobDraft, findings: Findings): void {
  const provider = draft.outputProviderOf
  if (provider === undefined || !hasExtracts(draft)) return
  const locations = outputLocations(provider, draft)
  const taken: { owner: string; pattern: RegExp }[] = []
  const directory = locations.directory.key === '' ? '' : `${escaped(locations.directory.key)}/`
  const derived = (owner: string, name: string): void => {
    taken.push({ owner, pattern: new RegExp(`^${directory}[^/]*${name}$`, 'u') })
  }
  for (const [index, element] of (draft.stills ?? []).entries()) {
    const { output = '', format = 'jpeg' } = element
    const field = `stills[${index}].output`
    if (output === '') {
      derived(`stills[${index}]`, derivedExtractName.stillPattern(index, format))
      continue
    }
    if (outputPathProblem(output) !== null) continue
    const key = joinPath(locations.directory.key, normalisePath(output))
    const names = stillNamePattern(
      normalisePath(output),
      element.at_seconds !== undefined && !Array.isArray(element.at_seconds),
    )
    const pattern = new RegExp(`^${directory}${names}$`, 'u')
    const earlier = (draft.stills ?? []).findIndex(
      (other, at) => at < index && normalisePath(other.output ?? '') === normalisePath(output),
    )
    if (earlier >= 0)
      findings.problem(
        'output_path_conflict',
        field,
        `${field} has the same path as stills[${earlier}].output; each element needs its own`,
      )
    if (draftInputs(draft).some(({ address }) => address === key))
      findings.problem('output_path_conflict', field, `${field} is the input; an output must not replace it`)
    taken.push({ owner: `stills[${index}]`, pattern })
  }
  if (draft.animated_preview?.format !== undefined)
    derived('animated_preview', escaped(derivedExtractName.preview(draft.animated_preview.format)))
  if (draft.waveform?.format !== undefined)
    derived('waveform', escaped(derivedExtractName.waveform(draft.waveform.format)))
  refuseTaken(draft, locations, taken, findings)
}

function refuseTaken(
  draft: JobDraft,
  locations: OutputLocations,
  taken: readonly { owner: string; pattern: RegExp }[],
  findings: Findings,
): void {
  for (const [index, { output = '' }] of draft.videoProfiles.entries()) {
    const location = locations.profiles[index]
    if (output === '' || location === undefined) continue
    const key = location.root === null ? joinPath(locations.directory.key, location.key) : location.key
    const owner = taken.find(({ pattern }) => pattern.test(key))?.owner
    if (owner === undefined) continue
    const field = `videoProfiles[${index}].output`
    findings.problem(
      'output_path_conflict',
      field,
      `${field} has a name that is reserved for a file of ${owner}; use another`,
    )
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
}
