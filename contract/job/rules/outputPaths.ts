// In charge of: the output paths of a request (output, bucket_output_path, audio_output_path), checked together.
// Not in charge of: derived names (outputNames.ts), maximum lengths (pathLengths.ts), the store.
import { parseRoot, rulesOf, type Provider } from '../stores/registry.ts'
import { schemeOf } from '../paths/inputAddress.ts'
import { containerRules, isSegmented, type FileContainer } from '../../containers.ts'
import { hasBucketPrefix, outputLocations, type OutputLocation, type OutputLocations } from '../paths/outputLocation.ts'
import { AUDIO_CODECS, audioFileOf } from '../../codecs.ts'
import { COPY } from './copy.ts'
import { fileKey, outputPathProblem, joinPath, normalisePath } from '../paths/outputNames.ts'
import { checkPathLengths } from './pathLengths.ts'
import type { Findings } from '../findings.ts'
import { draftInputs } from './inputs.ts'
import { redactAddress, printableValue } from '../redact.ts'
import type { JobDraft } from '../fields/request.ts'

/**
 * Decision "output": an invalid path, the scheme of another provider, two outputs with the same key, or output = input
 * is a 400, never a different store.
 */
export function checkOutputPaths(draft: JobDraft, findings: Findings): void {
  const provider = draft.outputProviderOf
  const before = findings.problems.length
  const locations = provider === undefined ? null : outputLocations(provider, draft)
  const bucket = (draft.bucket_output_path ?? '').replace(/\/$/, '')
  const audio = (draft.audio_output_path ?? '').replace(/\/$/, '')
  const fine = checkLocation('bucket_output_path', bucket, locations?.directory, provider, findings)
  checkLocation('audio_output_path', audio, locations?.audioDirectory, provider, findings)
  if (provider === undefined || locations === null) return
  const { directory, audioDirectory } = locations
  const own = locations.roots[0] ?? null
  if (fine) checkOutputRoot(draft, provider, own, findings)
  checkBucketPrefixes('bucket_output_path', directory, directory.key, locations, findings)
  if (audioDirectory) checkBucketPrefixes('audio_output_path', audioDirectory, audioDirectory.key, locations, findings)
  const seen = new Map<string, { field: string; key: string }>()
  for (const [index, profile] of draft.videoProfiles.entries()) {
    const output = profile.output ?? ''
    const field = `videoProfiles[${index}].output`
    const location = locations.profiles[index]!
    if (output === '' || !checkLocation(field, output, location, provider, findings)) continue
    warnExtension(field, output, draft, findings)
    const { root } = location
    const key = root === null ? joinPath(directory.key, location.key) : location.key
    checkBucketPrefixes(field, location, key, locations, findings)
    // The input's name may not be known yet (an upload has only a number), so every name that an audio file could get
    // is reserved.
    const audio = conflictingAudioPath(key, audioDirectory, draft)
    if (audio !== null) {
      const message = `${field} has a name that is reserved for ${audio} in audio_output_path; use another`
      findings.problem('output_path_conflict', field, message)
    }
    const name = fileKey(key)
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      const same = earlier.key === key ? 'the same path as' : 'a path that differs only in case or Unicode form from'
      const message = `${field} has ${same} ${earlier.field}; each output needs its own`
      findings.problem('output_path_conflict', field, message)
    }
    const within = [...seen].find(([other]) => name.startsWith(`${other}/`) || other.startsWith(`${name}/`))?.[1]
    if (within !== undefined && !isSegmented(draft)) {
      const message = `${field} and ${within.field} cannot both be stored as files: the path of one is a directory of the other`
      findings.problem('output_path_conflict', field, message)
    }
    seen.set(name, earlier ?? { field, key })
    const place = root ?? own
    const below = root === null ? key : normalisePath(location.path)
    const address = place === null ? key : `${place}/${below}`
    const replaced = draftInputs(draft).find((each) => each.address === address)
    if (replaced) {
      const what = replaced.field === 'input' ? 'the input' : replaced.field
      findings.problem('output_path_conflict', field, `${field} is ${what}; an output must not replace it`)
    }
  }
  // The length is checked only for paths that are valid otherwise.
  if (findings.problems.length === before) checkPathLengths(draft, provider, locations, findings)
}

/** Players and servers go by it. */
const EXTENSIONS: Readonly<Record<FileContainer, readonly string[]>> = {
  mp4: ['mp4', 'm4v'],
  ts: ['ts', 'm2t', 'mts', 'mpegts', 'trp', 'tp'],
}

function warnExtension(field: string, output: string, draft: JobDraft, findings: Findings): void {
  const { file = null } = containerRules(draft.output_container) ?? {}
  if (file === null || isSegmented(draft)) return
  const name = output.slice(output.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  if (dot !== -1 && EXTENSIONS[file].includes(name.slice(dot + 1).toLowerCase())) return
  const given = dot === -1 ? 'has no extension' : `ends in ${printableValue(name.slice(dot))}`
  findings.warn(
    'extension_differs',
    field,
    `${field} ${given}, but output_container is "${file}"; the name is used as it is`,
  )
}

/** The audio profile whose file in audio_output_path could have that path; null = none. */
function conflictingAudioPath(key: string, directory: OutputLocation | null, draft: JobDraft): string | null {
  if (!directory) return null
  const place = directory.key === '' ? '' : `${directory.key}/`
  const match = /^[^/]*_audio_(\d)\.([a-z0-9]+)$/.exec(key.startsWith(place) ? key.slice(place.length) : '/')
  const profile = draft.audioProfiles[Number(match?.[1])]
  const { audio_codec: codec, audio_container: container } = profile ?? {}
  if (match === null || codec === undefined) return null
  // The codec of a copied stream is known only with the source.
  const possible =
    codec === COPY ? AUDIO_CODECS.map((each) => audioFileOf(each, undefined)) : [audioFileOf(codec, container)]
  if (!possible.some(({ extension }) => extension === match[2])) return null
  return `audioProfiles[${match[1]}]`
}

/** Whether a location is usable. Reports the problem if it is not. Empty = not given. */
function checkLocation(
  field: string,
  path: string,
  location: OutputLocation | null | undefined,
  provider: Provider | undefined,
  findings: Findings,
): boolean {
  if (path === '') return true
  const scheme = schemeOf(path)
  if (scheme !== null && provider === undefined) return false
  // 2.3, pairing of provider and path.
  if (scheme !== null && provider !== undefined && !rulesOf(provider).schemes.includes(scheme)) {
    const [own] = rulesOf(provider).schemes
    const form = own === undefined ? 'a relative path' : `a relative path or ${own}://…`
    const message = `${field} has a scheme that does not belong to the output's cloud_provider "${provider}"; use ${form}`
    findings.problem('invalid_output_path', field, `${message} (${printableValue(path)} was given)`)
    return false
  }
  const { root, path: below } = location ?? { root: null, path }
  const isServer = provider !== undefined && rulesOf(provider).root.kind === 'host'
  if (isServer && scheme !== null && /[?#%]/.test(path)) {
    // A path cannot be appended after a query, and double encoding would name another file.
    const message = `${field} must not have a query or a fragment, and must not be percent-encoded`
    findings.problem('invalid_output_path', field, `${message}; ${printableValue(redactAddress(path))} was given`)
    return false
  }
  const bucket = root === null || provider === undefined ? null : parseRoot(provider, root)
  if (bucket?.kind === 'invalid') {
    findings.problem('invalid_output_path', field, `${field}: ${bucket.message.replace(', input has', ', it has')}`)
    return false
  }
  // A directory may be the bucket itself.
  const wrong = root !== null && below === '' && field.endsWith('_path') ? null : outputPathProblem(below)
  if (wrong !== null)
    findings.problem('invalid_output_path', field, `${field} ${wrong}; ${printableValue(path)} was given`)
  return wrong === null
}

/** A directory whose name looks like the prefix of another bucket would be taken for that bucket. */
function checkBucketPrefixes(
  field: string,
  { root }: OutputLocation,
  path: string,
  locations: OutputLocations,
  findings: Findings,
): void {
  if (root !== null && root !== locations.roots[0]) return
  if (!hasBucketPrefix(path, locations)) return
  const message = `${field} begins with ${path.split('/')[0]}, a name that is reserved for another bucket of this job; use another name`
  findings.problem('output_path_conflict', field, message)
}

/** Decision "Stores": relative paths need a named bucket. */
function checkOutputRoot(draft: JobDraft, provider: Provider, root: string | null, findings: Findings): void {
  const { outputForm: form, root: named } = rulesOf(provider)
  if (form === null) return
  if (root === null || (isSegmented(draft) && !draft.bucket_output_path)) {
    const message = `with cloud_provider "${provider}" as output, bucket_output_path must name the ${named.kind}: ${form}`
    findings.problem('required', 'bucket_output_path', message)
  }
}
