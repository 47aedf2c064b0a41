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
import { credentialSchema, outputCredential, type CredentialFields, type JobDraft } from './requestSchema.ts'
import { credentialChecks } from './stores/credentialChecks.ts'

export interface ParsedCredentials {
  full: Partial<Credentials>
  /** The part that `config` shows. */
  redacted: Partial<CredentialFields>
}

export interface JobCredentials {
  input: ParsedCredentials
  output: ParsedCredentials
}

type Side = 'input' | 'output'

/** Whether a message can quote the value without the risk of quoting a key. */
const isSafeToShow = (value: unknown) => typeof value === 'string' && /^[a-z-]{1,20}$/.test(value)

/**
 * Reads both credentials. `draft` must already hold the profiles and paths: they decide what an omitted output means.
 */
export function readCredentials(body: JsonObject, draft: JobDraft, findings: Findings): JobCredentials {
  const value = presentMember(body, 'cloud_credentials')
  const nothing = { full: {}, redacted: {} }
  if (!isJsonObject(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    findings.problem(code, 'cloud_credentials', 'cloud_credentials must be an object with the members input and output')
    return { input: nothing, output: nothing }
  }
  for (const name of Object.keys(value).filter((each) => each !== 'input' && each !== 'output')) {
    warnUnknown('cloud_credentials', name, () => 'dropped', findings)
  }
  const input = readCredential('input', presentMember(value, 'input'), findings)
  draft.inputProviderOf = input.full.cloud_provider
  const second = presentMember(value, 'output')
  const output =
    second === undefined ? defaultOutputCredentials(input, draft) : readCredential('output', second, findings)
  draft.outputProviderOf = output.full.cloud_provider
  checkOutputProvider(draft.outputProviderOf, findings)
  return { input, output }
}

function readCredential(side: Side, value: unknown, findings: Findings): ParsedCredentials {
  const path = `cloud_credentials.${side}`
  if (!isJsonObject(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    const bounds = { allowed: side === 'input' ? PROVIDERS : OUTPUT_PROVIDERS }
    findings.problem(code, path, `${path} must be an object with cloud_provider and its keys`, bounds)
    return { full: {}, redacted: {} }
  }
  const mayShow = (name: string) => name === 'cloud_provider' && isSafeToShow(value[name])
  const { shape } = side === 'input' ? credentialSchema : outputCredential
  const known = readFields(shape, value, path, findings, mayShow)
  if (presentMember(value, 'cloud_provider') === undefined) {
    const message = `${path} has no cloud_provider: oracle is assumed`
    findings.warn('provider_assumed', `${path}.cloud_provider`, message)
  }
  // Decision "unknown fields": an unknown member of cloud_credentials is stored encrypted, never echoed, and gets a
  // warning.
  const unknown: JsonObject = {}
  for (const name of Object.keys(value).filter((each) => !Object.hasOwn(credentialSchema.shape, each))) {
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

/** `fate` is called only for names that are reported: a body may have any number of names. */
function warnUnknown(parent: string, name: string, fate: () => string, findings: Findings): void {
  if (findings.warnings.length > 100) return
  const path = `${parent}.${printableName(name)}`
  findings.warn('unknown_field', path, `${path} is not a known credential field: it has no effect and is ${fate()}`)
}

/**
 * Decision "omitted output credentials": the input's, if an output path has the scheme of its provider; otherwise the
 * service's own store.
 */
function defaultOutputCredentials(input: ParsedCredentials, draft: JobDraft): ParsedCredentials {
  const provider = input.full.cloud_provider
  const paths = [draft.bucket_output_path, draft.audio_output_path, ...draft.videoProfiles.map((each) => each.output)]
  const schemes = provider === undefined ? [] : rulesOf(provider).schemes
  if (paths.some((path) => path !== undefined && schemes.includes(schemeOf(path) ?? ''))) return input
  return { full: { cloud_provider: 'vendor-store' }, redacted: { cloud_provider: 'vendor-store' } }
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
    if (!members[name] || rules.members.includes(name)) continue
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
