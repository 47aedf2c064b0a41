// In charge of: which kind of key a credential holds (decision "Stores"): an access key with its secret, or a signing
// key in PEM form; and its problems; opening the key of a credential that was accepted.
// Not in charge of: what a provider requires of signing keys (stores/), whether the store accepts the key.
import { decodePem, isPem, readPem, type SigningKey } from './pem.ts'
import type { CredentialMember, KnownCredential } from '../stores/storeRules.ts'

/** An access key and its secret, for SigV4. */
export interface KeyPair {
  kind: 'pair'
  accessKey: string
  secretKey: string
}

export interface KeyProblem {
  code: 'required' | 'invalid_value' | 'conflict'
  /** null = the credential as a whole. */
  member: CredentialMember | null
  /** Follows the member's path. */
  message: string
}

export type StoreKeyResult<Signer> =
  | { ok: true; key: KeyPair | Signer; unused: CredentialMember[] }
  | { ok: false; problems: KeyProblem[] }

/** The signing keys of one provider. */
export interface SignerForm<Signer> {
  /** Required together with the PEM key, in the order in which the provider's console shows them. */
  members: readonly CredentialMember[]
  /** Optional members that describe the key. */
  optional: readonly CredentialMember[]
  /** The alternatives, as a sentence. */
  either: string
  /** @param fingerprint of the given key; null if it cannot be read */
  check(known: KnownCredential, fingerprint: string | null, report: ReportMember): void
  /** @param known was accepted by `check` */
  make(known: KnownCredential, key: SigningKey): Signer
}
type ReportMember = (member: CredentialMember, message: string) => void

/** Google and Oracle generate keys of 2048 bits and more. Signing with much longer keys takes seconds. */
const KEY_BITS = { minimum: 2048, maximum: 8192 }

/** The members that each of the two forms lacks, and those that hold a PEM key. */
function missingMembers({ members }: SignerForm<unknown>, known: KnownCredential) {
  const pems = (['private_key', 'secret_key'] as const).filter((name) => isPem(known[name]))
  const lacksPair = (['access_key', 'secret_key'] as const).filter((name) => !known[name] || isPem(known[name]))
  const lacksSigner: CredentialMember[] = [
    ...members.filter((name) => !known[name]),
    // A private_key that is not PEM is treated as one, so that its problem is reported.
    ...(pems.length > 0 || known.private_key ? [] : (['private_key'] as const)),
  ]
  return { pems, lacksPair, lacksSigner }
}

/** The key of a credential that `readKey` accepted, without judging it again; null if it holds none. */
export function openKey<Signer>(form: SignerForm<Signer>, known: KnownCredential): KeyPair | Signer | null {
  const { pems, lacksPair, lacksSigner } = missingMembers(form, known)
  if (lacksPair.length === 0) return pairOf(known)
  const key = lacksSigner.length > 0 ? null : decodePem(known[pems[0] ?? 'private_key'] ?? '')
  return key && form.make(known, key)
}

export function readKey<Signer>(form: SignerForm<Signer>, known: KnownCredential): StoreKeyResult<Signer> {
  const { members, either } = form
  const { pems, lacksPair, lacksSigner } = missingMembers(form, known)
  const hasPair = lacksPair.length === 0
  const hasSigner = lacksSigner.length === 0
  if (!hasPair && !hasSigner) {
    const message = `: ${either}; for the first ${listWords(lacksPair)}, for the second ${listWords(lacksSigner)}`
    return { ok: false, problems: [{ code: 'required', member: null, message }] }
  }
  if (hasPair && hasSigner) {
    const message = `: ${either}, but not both, which could be two different users; leave out secret_key or private_key`
    return { ok: false, problems: [{ code: 'conflict', member: null, message }] }
  }
  return hasPair ? readPair(known, [...members, ...form.optional]) : readSigner(form, known, pems)
}

const pairOf = ({ access_key: accessKey, secret_key: secretKey }: KnownCredential): KeyPair => ({
  kind: 'pair',
  accessKey: accessKey ?? '',
  secretKey: secretKey ?? '',
})

function readPair(known: KnownCredential, members: readonly CredentialMember[]): StoreKeyResult<never> {
  const key = pairOf(known)
  if (!/^[\x21-\x7e]+$/.test(key.accessKey)) {
    const message = ' contains characters that such a key cannot have'
    return { ok: false, problems: [{ code: 'invalid_value', member: 'access_key', message }] }
  }
  const unused = [...members, 'private_key' as const].filter((name) => known[name])
  return { ok: true, key, unused }
}

function readSigner<Signer>(
  form: SignerForm<Signer>,
  known: KnownCredential,
  pems: readonly ('private_key' | 'secret_key')[],
): StoreKeyResult<Signer> {
  const member = pems[0] ?? 'private_key'
  const read = readPem(known[member] ?? '')
  const problems: KeyProblem[] = []
  const report: ReportMember = (name, message) =>
    problems.push({ code: 'invalid_value', member: name, message: ` ${message}` })
  if (pems.length === 2 && known.private_key !== known.secret_key) {
    problems.push({
      code: 'conflict',
      member: 'secret_key',
      message: ' is a different PEM key from private_key; send only one of them',
    })
  }
  if (!read.ok) report(member, read.reason)
  else if (read.key.bits < KEY_BITS.minimum || read.key.bits > KEY_BITS.maximum) {
    report(member, `is an RSA key of ${read.key.bits} bits; ${KEY_BITS.minimum} to ${KEY_BITS.maximum} are needed`)
  }
  form.check(known, read.ok ? read.key.fingerprint : null, report)
  if (problems.length > 0 || !read.ok) return { ok: false, problems }
  const unused = (['access_key', 'secret_key'] as const).filter(
    (name) => known[name] && name !== member && !isPem(known[name]),
  )
  return { ok: true, key: form.make(known, read.key), unused }
}

function listWords(missing: readonly string[]): string {
  if (missing.length === 0) return 'nothing is missing'
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`
}
