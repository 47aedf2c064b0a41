// In charge of: cloud_credentials (specification 2.3): reading both sides, and the default when the output is omitted.
// Not in charge of: what a provider needs (stores/), paths (paths/inputAddress.ts, rules/outputPaths.ts), whether a key
// is valid (only the store knows).
import { OUTPUT_PROVIDERS, PROVIDERS, rulesOf, type Provider } from './stores/registry.ts'
import { schemeOf } from './paths/inputAddress.ts'
import type { Credentials } from './jobConfig.ts'
import { suggestField } from './fieldHints.ts'
import type { Findings } from './findings.ts'
import { redactCredentials, printableValue } from './redact.ts'
import { presentMember, isJsonObject, readFields, printableName, type JsonObject } from './fieldReader.ts'
import { credentialFields, outputCredentialFields } from './fields/credentials.ts'
import type { CredentialFields, JobDraft } from './fields/request.ts'
import { credentialChecks } from './stores/credentialChecks.ts'

export interface ParsedCredentials {
  full: Partial<Credentials>
  /** The part that `config` shows. */
  redacted: Partial<CredentialFields>
}

export interface JobCredentials {
  /** Credentials of `input`, or of all elements of `inputs`; absent if each has its own. */
  input?: ParsedCredentials
  inputs?: ParsedCredentials[]
  output: ParsedCredentials
}

type Side = 'input' | 'output'

/** Whether a message can quote the value without the risk of quoting a key. */
const isSafeToShow = (value: unknown) => typeof value === 'string' && /^[a-z-]{1,20}$/.test(value)

/**
 * Reads all credentials. `draft` must already hold inputs, profiles and paths: they decide how many there are, and what
 * an omitted output means.
 */
export function readCredentials(body: JsonObject, draft: JobDraft, findings: Findings): JobCredentials {
  const value = presentMember(body, 'cloud_credentials')
  const nothing = { full: {}, redacted: {} }
  if (!isJsonObject(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    findings.problem(code, 'cloud_credentials', 'cloud_credentials must be an object with the members input and output')
    return { input: nothing, output: nothing }
  }
  for (const name of Object.keys(value).filter((each) => !['input', 'inputs', 'output'].includes(each))) {
    warnUnknown('cloud_credentials', name, () => 'dropped', findings)
  }
  const inputs = readInputCredentials(value, draft, findings)
  const input =
    inputs === null ? readCredential('cloud_credentials.input', 'input', presentMember(value, 'input'), findings) : null
  const all = inputs ?? (input === null ? [] : [input])
  const pieces = draft.inputs?.length ?? 1
  draft.inputProvidersOf = Array.from({ length: pieces }, (_, index) => (inputs?.[index] ?? input)?.full.cloud_provider)
  const second = presentMember(value, 'output')
  const output =
    second === undefined
      ? defaultOutputCredentials(all, draft)
      : readCredential('cloud_credentials.output', 'output', second, findings)
  draft.outputProviderOf = output.full.cloud_provider
  checkOutputProvider(draft.outputProviderOf, findings)
  return { ...(input === null ? {} : { input }), ...(inputs === null ? {} : { inputs }), output }
}

/** The credentials of each element of `inputs`; null = one for all. */
function readInputCredentials(value: JsonObject, draft: JobDraft, findings: Findings): ParsedCredentials[] | null {
  const path = 'cloud_credentials.inputs'
  const listed = presentMember(value, 'inputs')
  if (listed === undefined) return null
  const pieces = draft.inputs?.length
  if (pieces === undefined) {
    const message = `${path} belongs to inputs, and this job has none; use cloud_credentials.input`
    findings.problem('conflict', path, message)
    return null
  }
  if (presentMember(value, 'input') !== undefined) {
    const message = `${path} and cloud_credentials.input contradict each other; send one of them: input applies to all elements of inputs`
    findings.problem('conflict', path, message)
    return null
  }
  if (!Array.isArray(listed) || listed.length !== pieces) {
    const given = Array.isArray(listed) ? `${listed.length} elements were given` : `${printableValue(listed)} was given`
    const message = `${path} must be an array with one object for each of the ${pieces} elements of inputs; ${given} (cloud_credentials.input instead applies to all of them)`
    const code = Array.isArray(listed) ? 'invalid_length' : 'invalid_type'
    findings.problem(code, path, message, Array.isArray(listed) ? { minimum: pieces, maximum: pieces } : {})
    return Array.from({ length: pieces }, () => ({ full: {}, redacted: {} }))
  }
  return listed.map((each: unknown, index) =>
    // null is the same as a missing element.
    readCredential(`${path}[${index}]`, 'input', each ?? undefined, findings),
  )
}

function readCredential(path: string, side: Side, value: unknown, findings: Findings): ParsedCredentials {
  if (!isJsonObject(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    const bounds = { allowed: side === 'input' ? PROVIDERS : OUTPUT_PROVIDERS }
    const message = `${path} must be an object with cloud_provider (${bounds.allowed.join(', ')}) and its keys`
    findings.problem(code, path, message, bounds)
    return { full: {}, redacted: {} }
  }
  const mayShow = (name: string) => name === 'cloud_provider' && isSafeToShow(value[name])
  const fields = side === 'input' ? credentialFields : outputCredentialFields
  const known = readFields(fields, value, path, findings, mayShow)
  if (presentMember(value, 'cloud_provider') === undefined) {
    const message = `${path} has no cloud_provider: oracle is assumed`
    findings.warn('provider_assumed', `${path}.cloud_provider`, message)
  }
  // Decision "unknown fields": an unknown member of cloud_credentials is stored encrypted, never echoed, and gets a
  // warning.
  const unknown: JsonObject = {}
  for (const name of Object.keys(value).filter((each) => !Object.hasOwn(credentialFields, each))) {
    warnUnknown(path, name, () => `stored encrypted and never shown${suggestField(name, path)}`, findings)
    if (name !== '__proto__') unknown[name] = value[name]
  }
  const before = findings.problems.length
  checkOne(known, path, findings)
  warnUnusedMembers(known, path, findings)
  // Warnings are not shown together with problems. A missing cloud_provider may be the cause of all of them, so it is
  // mentioned there.
  if (presentMember(value, 'cloud_provider') === undefined)
    for (const problem of findings.problems.slice(before))
      problem.message += ' (cloud_provider is missing, so oracle is assumed)'
  return { full: { ...unknown, ...known }, redacted: redactCredentials(known) }
}

/** A body may have any number of names. */
const MAX_WARNINGS = 100

/** `fate` is called only for names that are reported. */
function warnUnknown(parent: string, name: string, fate: () => string, findings: Findings): void {
  if (findings.warnings.length > MAX_WARNINGS) return
  const path = `${parent}.${printableName(name)}`
  findings.warn('unknown_field', path, `${path} is not a known credential field: it has no effect and is ${fate()}`)
}

/**
 * Decision "omitted output credentials": the input's, if an output path has the scheme of its provider; otherwise the
 * service's own store. If there are several inputs, the first whose provider it is.
 */
function defaultOutputCredentials(inputs: readonly ParsedCredentials[], draft: JobDraft): ParsedCredentials {
  const paths = [draft.bucket_output_path, draft.audio_output_path, ...draft.videoProfiles.map((each) => each.output)]
  const own = inputs.find(({ full: { cloud_provider: provider } }) => {
    const schemes = provider === undefined ? [] : rulesOf(provider).schemes
    return paths.some((path) => path !== undefined && schemes.includes(schemeOf(path) ?? ''))
  })
  return own ?? { full: { cloud_provider: 'vendor-store' }, redacted: { cloud_provider: 'vendor-store' } }
}

/** 2.3: file-upload is a provider for input only, for a file that was uploaded earlier. */
function checkOutputProvider(provider: Provider | undefined, findings: Findings): void {
  if (provider !== 'file-upload') return
  const field = 'cloud_credentials.output.cloud_provider'
  const instead = OUTPUT_PROVIDERS.map(printableValue).join(' or ')
  findings.problem('invalid_value', field, `file-upload can only be an input; use ${instead} as output`, {
    allowed: OUTPUT_PROVIDERS,
  })
}

type Known = Partial<CredentialFields>

/** Decision "fields without effect": a member that its provider does not read gets a warning. */
function warnUnusedMembers(known: Known, path: string, findings: Findings): void {
  const { cloud_provider: provider, endpoint: _endpoint, ...members } = known
  if (provider === undefined) return
  const rules = rulesOf(provider)
  for (const name of membersOf(members)) {
    if (!members[name] || rules.members.includes(name) || findings.warnings.length > MAX_WARNINGS) continue
    const why = rules.unusedReasons?.[name] ?? `${provider} does not use it`
    findings.warn('no_effect', `${path}.${name}`, `${path}.${name} has no effect: ${why}`)
  }
}

function membersOf<T extends object>(members: T): (keyof T)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read by readFields: it has no other members
  return Object.keys(members) as (keyof T)[]
}

function checkOne(known: Known, path: string, findings: Findings): void {
  const { cloud_provider: provider } = known
  if (provider === undefined) return
  // If the endpoint were ignored, objects would go to a store other than the named one.
  if (known.endpoint && !rulesOf(provider).members.includes('endpoint')) {
    const others = PROVIDERS.filter((each) => rulesOf(each).members.includes('endpoint'))
    const message = `${path}.endpoint is only for cloud_provider ${others.map(printableValue).join(' or ')}; leave it out`
    findings.problem('not_available', `${path}.endpoint`, message)
  }
  credentialChecks[provider]?.(known, {
    problem: (code, member, message) => findings.problem(code, `${path}.${member}`, message),
    member(code, member, message) {
      const field = member === null ? path : `${path}.${member}`
      findings.problem(code, field, field + message)
    },
    unused: (member, why) => findings.warn('no_effect', `${path}.${member}`, `${path}.${member} has no effect: ${why}`),
  })
}
