// In charge of: the paths a request gives for its outputs (output, bucket_output_path, audio_output_path), judged together.
// Not in charge of: derived names (outputs.ts), the store behind them.
import { schemeOf, SCHEMES, utf8Length } from './addresses.ts'
import { MAX_LENGTH } from './limits.ts'
import { checkPath, joinPath, normaliseDirectory, normalisePath } from './outputs.ts'
import type { Findings } from './problems.ts'
import { showValue } from './redact.ts'
import type { Draft, Provider } from './request.ts'

/** Decision "output": a wrong path, a foreign scheme, two outputs at one key, or output = input is a 400, never another store. */
export function checkDestinations(draft: Draft, findings: Findings): void {
  const provider = draft.outputProvider
  const bucket = draft.bucket_output_path ?? ''
  checkLocation('bucket_output_path', bucket.replace(/\/$/, ''), provider, findings)
  checkLocation('audio_output_path', (draft.audio_output_path ?? '').replace(/\/$/, ''), provider, findings)
  const directory = normaliseDirectory(bucket)
  const seen = new Map<string, string>()
  for (const [index, profile] of draft.videoProfiles.entries()) {
    const output = profile.output ?? ''
    const field = `videoProfiles[${index}].output`
    if (output === '' || !checkLocation(field, output, provider, findings)) continue
    const path = normalisePath(output)
    const key = schemeOf(path) === null ? joinPath(directory, path) : path
    if (utf8Length(key) > MAX_LENGTH.path_bytes) {
      const message = `${field} under bucket_output_path is longer than ${MAX_LENGTH.path_bytes} bytes`
      findings.problem('invalid_output_path', field, message, { maximum: MAX_LENGTH.path_bytes })
    }
    const earlier = seen.get(key)
    if (earlier !== undefined) {
      findings.problem(
        'output_path_conflict',
        field,
        `${field} is the same object as ${earlier}; each output needs its own`,
      )
    }
    seen.set(key, earlier ?? field)
    if (key === draft.input) {
      findings.problem('output_path_conflict', field, `${field} is the input; an output must not replace it`)
    }
  }
}

/** Whether one location is usable; reports what is wrong otherwise. Empty = not given. */
function checkLocation(field: string, path: string, provider: Provider | undefined, findings: Findings): boolean {
  if (path === '') return true
  const scheme = schemeOf(path)
  if (scheme !== null && provider === undefined) return false
  // 2.3, provider and path pairing.
  if (scheme !== null && provider !== undefined && !SCHEMES[provider].includes(scheme)) {
    const form = SCHEMES[provider].length === 0 ? 'a relative path' : `a relative path or ${SCHEMES[provider][0]}://…`
    const message = `${field} has a scheme that does not belong to the output's cloud_provider "${provider}"; use ${form}`
    findings.problem('invalid_output_path', field, `${message} (${showValue(path)} was given)`)
    return false
  }
  const relative = scheme === null ? path : path.slice(scheme.length + 3)
  const wrong = checkPath(relative)
  if (wrong !== null) findings.problem('invalid_output_path', field, `${field} ${wrong}; ${showValue(path)} was given`)
  return wrong === null
}
