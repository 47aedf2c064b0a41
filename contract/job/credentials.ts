// In charge of: cloud_credentials (specification 2.3): its members, what each provider needs, what an omitted output means.
// Not in charge of: paths (paths/inputAddress.ts, rules/outputPaths.ts), whether a key is right (the store says so).
import { parseHttp, schemeOf, SCHEMES } from './paths/inputAddress.ts'
import type { Credentials } from './jobConfig.ts'
import { hintOf } from './fieldHints.ts'
import { readStoreKey } from './storeKeys/storeKey.ts'
import type { Findings } from './findings.ts'
import { redactCredentials, showValue } from './redact.ts'
import { given, isMembers, readFields, showName, type Members } from './fieldReader.ts'
import {
  credential,
  OUTPUT_PROVIDERS,
  outputCredential,
  PROVIDERS,
  type CredentialFields,
  type Draft,
  type Provider,
} from './requestSchema.ts'

export interface ReadCredentials {
  full: Partial<Credentials>
  /** What `config` shows. */
  shown: Partial<CredentialFields>
}

export interface BothCredentials {
  input: ReadCredentials
  output: ReadCredentials
}

type Side = 'input' | 'output'

/** A value that can be named in a message without the risk of naming a key. */
const isWord = (value: unknown) => typeof value === 'string' && /^[a-z-]{1,20}$/.test(value)

/** Reads both credentials. `draft` must hold the profiles and paths already: they decide what an omitted output means. */
export function readCredentials(body: Members, draft: Draft, findings: Findings): BothCredentials {
  const value = given(body, 'cloud_credentials')
  const nothing = { full: {}, shown: {} }
  if (!isMembers(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    findings.problem(code, 'cloud_credentials', 'cloud_credentials must be an object with the members input and output')
    return { input: nothing, output: nothing }
  }
  for (const name of Object.keys(value).filter((each) => each !== 'input' && each !== 'output')) {
    warnUnknown('cloud_credentials', name, () => 'dropped', findings)
  }
  const input = readOne('input', given(value, 'input'), findings)
  draft.inputProvider = input.full.cloud_provider
  const second = given(value, 'output')
  const output = second === undefined ? omittedOutput(input, draft) : readOne('output', second, findings)
  draft.outputProvider = output.full.cloud_provider
  checkOutputProvider(draft.outputProvider, findings)
  return { input, output }
}

function readOne(side: Side, value: unknown, findings: Findings): ReadCredentials {
  const path = `cloud_credentials.${side}`
  if (!isMembers(value)) {
    const code = value === undefined ? 'required' : 'invalid_type'
    const bounds = { allowed: side === 'input' ? PROVIDERS : OUTPUT_PROVIDERS }
    findings.problem(code, path, `${path} must be an object with cloud_provider and its keys`, bounds)
    return { full: {}, shown: {} }
  }
  const mayShow = (name: string) => name === 'cloud_provider' && isWord(value[name])
  const { shape } = side === 'input' ? credential : outputCredential
  const known = readFields(shape, value, path, findings, mayShow)
  if (given(value, 'cloud_provider') === undefined) {
    const message = `${path} has no cloud_provider: oracle is assumed`
    findings.warn('provider_assumed', `${path}.cloud_provider`, message)
  }
  // Decision "unknown fields": inside cloud_credentials an unknown member is sealed, never echoed, and named in a warning.
  const unknown: Members = {}
  for (const name of Object.keys(value).filter((each) => !Object.hasOwn(credential.shape, each))) {
    warnUnknown(path, name, () => `kept sealed and never shown${hintOf(name, path)}`, findings)
    if (name !== '__proto__') unknown[name] = value[name]
  }
  const before = findings.problems.length
  checkAmazon(known, path, findings)
  checkKeys(known, path, findings)
  warnForeign(known, path, findings)
  // A warning is not seen beside problems, which may all come from the provider that was meant.
  if (given(value, 'cloud_provider') === undefined)
    for (const problem of findings.problems.slice(before))
      problem.message += ' (cloud_provider is missing, so oracle is assumed)'
  return { full: { ...unknown, ...known }, shown: redactCredentials(known) }
}

/** `fate` is asked for what is told alone: a body may have as many names as it likes. */
function warnUnknown(parent: string, name: string, fate: () => string, findings: Findings): void {
  if (findings.warnings.length > 100) return
  const path = `${parent}.${showName(name)}`
  findings.warn('unknown_field', path, `${path} is not a known credential field: it has no effect and is ${fate()}`)
}

/** Decision "omitted output credentials": the input's when an output path has its provider's scheme, otherwise the own store. */
function omittedOutput(input: ReadCredentials, draft: Draft): ReadCredentials {
  const provider = input.full.cloud_provider
  const paths = [draft.bucket_output_path, draft.audio_output_path, ...draft.videoProfiles.map((each) => each.output)]
  const schemes = provider === undefined ? [] : SCHEMES[provider]
  if (paths.some((path) => path !== undefined && schemes.includes(schemeOf(path) ?? ''))) return input
  return { full: { cloud_provider: 'vendor-store' }, shown: { cloud_provider: 'vendor-store' } }
}

/** 2.3: file-upload as input, for a file uploaded earlier. There is nothing to write to. */
function checkOutputProvider(provider: Provider | undefined, findings: Findings): void {
  if (provider !== 'file-upload') return
  const field = 'cloud_credentials.output.cloud_provider'
  const instead = OUTPUT_PROVIDERS.map(showValue).join(' or ')
  findings.problem('invalid_value', field, `file-upload can only be an input; use ${instead} as output`, {
    allowed: OUTPUT_PROVIDERS,
  })
}

type Known = Partial<CredentialFields>
type Member = Exclude<keyof CredentialFields, 'cloud_provider' | 'endpoint'>

const ORACLE = ['tenancy_ocid', 'user_ocid', 'oci_fingerprint'] as const
/** What each provider reads; of two kinds of keys, storeKeys/storeKey.ts says which one is used. */
const USED: Record<Provider, readonly Member[]> = {
  aws: ['access_key', 'secret_key', 'region', 'session_token'],
  oracle: ['access_key', 'secret_key', 'region', 'private_key', ...ORACLE],
  // What a key file of Google's has besides says whose key it is.
  gcloud: ['access_key', 'secret_key', 'client_email', 'private_key', 'private_key_id', 'project_id', 'client_id'],
  http: ['access_key', 'secret_key'],
  'file-upload': [],
  'vendor-store': [],
}

/** Decision "fields without effect": a member that its provider does not read is named in a warning. */
function warnForeign(known: Known, path: string, findings: Findings): void {
  const { cloud_provider: provider, endpoint: _endpoint, ...members } = known
  if (provider === undefined) return
  for (const [name, value] of Object.entries(members)) {
    if (!value || USED[provider].some((used) => used === name)) continue
    const why =
      provider === 'gcloud' && name === 'region' ? 'gcloud finds a bucket by its name' : `${provider} does not use it`
    findings.warn('no_effect', `${path}.${name}`, `${path}.${name} has no effect: ${why}`)
  }
}

/** Decision "Stores": what each provider needs; the message names what is missing. */
function checkKeys(known: Known, path: string, findings: Findings): void {
  const provider = known.cloud_provider
  const require = (names: string[], message: string) => {
    for (const name of names) findings.problem('required', `${path}.${name}`, message)
  }
  if (provider === 'aws') {
    const missing = (['access_key', 'secret_key'] as const).filter((name) => !known[name])
    require(missing, 'aws needs access_key and secret_key')
  }
  if (provider === 'oracle' || provider === 'gcloud') checkStoreKey(provider, known, path, findings)
  if (provider === 'oracle' && !known.region) require(['region'], 'oracle needs region')
  // The last line of "Stores": region becomes part of a host name, so it is validated as one before use.
  const isCloud = provider === 'aws' || provider === 'oracle'
  if (isCloud && known.region && !/^[a-z0-9-]{1,63}$/.test(known.region)) {
    findings.problem(
      'invalid_value',
      `${path}.region`,
      `${path}.region must be lower-case letters, digits and -, like "us-east-1"`,
    )
  }
}

function checkStoreKey(provider: 'oracle' | 'gcloud', known: Known, path: string, findings: Findings): void {
  const read = readStoreKey(provider, known)
  if (!read.ok) {
    for (const { code, member, message } of read.problems) {
      const field = member === null ? path : `${path}.${member}`
      findings.problem(code, field, field + message)
    }
    return
  }
  for (const member of read.unused) {
    const why = `has no effect: ${read.key.kind === 'pair' ? 'access_key and secret_key are' : 'the PEM key is'} used`
    findings.warn('no_effect', `${path}.${member}`, `${path}.${member} ${why}`)
  }
}

/** Extensions of `aws`. */
function checkAmazon(known: Known, path: string, findings: Findings): void {
  const provider = known.cloud_provider
  if (provider === undefined) return
  // Without it, objects would go to another store than the one that is named.
  if (provider !== 'aws' && known.endpoint)
    findings.problem(
      'not_available',
      `${path}.endpoint`,
      `${path}.endpoint is only for cloud_provider "aws"; leave it out`,
    )
  if (provider !== 'aws') return
  for (const name of ['access_key', 'session_token'] as const) {
    // They are sent in a header.
    if (!known[name] || /^[\x21-\x7e]+$/.test(known[name])) continue
    findings.problem(
      'invalid_value',
      `${path}.${name}`,
      `${path}.${name} contains characters that such a key cannot have`,
    )
  }
  const { endpoint } = known
  if (!endpoint) return
  const isAddress = parseHttp(endpoint).kind === 'http' && !/[?#]/.test(endpoint)
  // A bucket, most often; accepted, every object would be looked for in the wrong place.
  const hasPath = !/^https?:\/\/[^/\\]+\/*$/i.test(endpoint)
  if (isAddress && !hasPath) return
  const field = `${path}.endpoint`
  const message = isAddress
    ? `${field} must not have a path: it is the address of the store alone, like "https://s3.example.com"; buckets are named in input and in the paths of outputs`
    : `${field} must be an address like "https://s3.example.com", without a bucket, a user name or a query`
  findings.problem('invalid_value', field, message)
}
