// In charge of: which key a credential of `oracle` or `gcloud` holds (decision "Stores"), and what is wrong with it. The store
// is opened by the same reading that judged the request.
// Not in charge of: other members of a credential (credentials.ts), whether the store takes the key.
import { isPem, readPem, type RsaKey } from './pem.ts'
import type { CredentialFields } from '../requestSchema.ts'

export type StoreKey =
  /** An access key and its secret, for SigV4. */
  | { kind: 'pair'; accessKey: string; secretKey: string }
  /** An API signing key of a user of Oracle's. */
  | { kind: 'api-key'; tenancy: string; user: string; fingerprint: string; key: RsaKey }
  /** A service account of Google's. */
  | { kind: 'service-account'; clientEmail: string; keyId: string | null; key: RsaKey }

type Member = keyof CredentialFields
type Known = { [member in Member]?: CredentialFields[member] | undefined }

export interface KeyProblem {
  code: 'required' | 'invalid_value' | 'conflict'
  /** null = the credential as a whole. */
  member: Member | null
  /** Follows the member's path. */
  message: string
}

export type ReadKey = { ok: true; key: StoreKey; unused: Member[] } | { ok: false; problems: KeyProblem[] }

/** Google and Oracle make keys of 2048 bits and more; signing with far longer ones takes seconds. */
const KEY_BITS = { minimum: 2048, maximum: 8192 }

const FORMS = {
  oracle: {
    // In the order in which Oracle's console shows them.
    members: ['tenancy_ocid', 'user_ocid', 'oci_fingerprint'],
    either: 'oracle needs access_key and secret_key, or tenancy_ocid, user_ocid, oci_fingerprint and a PEM key',
  },
  gcloud: {
    members: ['client_email'],
    either: 'gcloud needs access_key and secret_key, or client_email and a PEM key',
  },
} as const satisfies Record<string, { members: Member[]; either: string }>

export function readStoreKey(provider: 'oracle' | 'gcloud', known: Known): ReadKey {
  const { members, either } = FORMS[provider]
  const pems = (['private_key', 'secret_key'] as const).filter((name) => isPem(known[name]))
  const lacksPair = (['access_key', 'secret_key'] as const).filter((name) => !known[name] || isPem(known[name]))
  const lacksSigner: Member[] = [
    ...members.filter((name) => !known[name]),
    // What is there and no PEM is judged as one, so that its mistake is told.
    ...(pems.length > 0 || known.private_key ? [] : (['private_key'] as const)),
  ]
  const hasPair = lacksPair.length === 0
  const hasSigner = lacksSigner.length === 0
  if (!hasPair && !hasSigner) {
    const message = `: ${either}; for the first ${list(lacksPair)}, for the second ${list(lacksSigner)}`
    return { ok: false, problems: [{ code: 'required', member: null, message }] }
  }
  if (hasPair && hasSigner) {
    const message = `: ${either}, but not both, which could be two different users; leave out secret_key or private_key`
    return { ok: false, problems: [{ code: 'conflict', member: null, message }] }
  }
  if (hasPair) return readPair(known, provider === 'gcloud' ? [...members, 'private_key_id'] : members)
  return readSigner(provider, known, pems)
}

function readPair(known: Known, members: readonly Member[]): ReadKey {
  const [accessKey, secretKey] = [known.access_key ?? '', known.secret_key ?? '']
  if (!/^[\x21-\x7e]+$/.test(accessKey)) {
    return wrong('access_key', 'contains characters that such a key cannot have')
  }
  const unused = [...members, 'private_key' as const].filter((name) => known[name])
  return { ok: true, key: { kind: 'pair', accessKey, secretKey }, unused }
}

function readSigner(
  provider: 'oracle' | 'gcloud',
  known: Known,
  pems: readonly ('private_key' | 'secret_key')[],
): ReadKey {
  const member = pems[0] ?? 'private_key'
  const read = readPem(known[member] ?? '')
  const problems: KeyProblem[] = []
  const tell = (name: Member, message: string) =>
    problems.push({ code: 'invalid_value', member: name, message: ` ${message}` })
  if (pems.length === 2 && known.private_key !== known.secret_key) {
    problems.push({
      code: 'conflict',
      member: 'secret_key',
      message: ' is a different PEM key from private_key; send only one of them',
    })
  }
  if (!read.ok) tell(member, read.why)
  else if (read.key.bits < KEY_BITS.minimum || read.key.bits > KEY_BITS.maximum) {
    tell(member, `is an RSA key of ${read.key.bits} bits; ${KEY_BITS.minimum} to ${KEY_BITS.maximum} are needed`)
  }
  if (provider === 'oracle') checkOracle(known, read.ok ? read.key.fingerprint : null, tell)
  else if (!/^[^\s@"\\]+@[^\s@"\\]+$/.test(known.client_email ?? '')) tell('client_email', 'must be an e-mail address')
  if (problems.length > 0 || !read.ok) return { ok: false, problems }
  const unused = (['access_key', 'secret_key'] as const).filter(
    (name) => known[name] && name !== member && !isPem(known[name]),
  )
  const { key } = read
  if (provider === 'gcloud') {
    const clientEmail = known.client_email ?? ''
    return { ok: true, key: { kind: 'service-account', clientEmail, keyId: known.private_key_id || null, key }, unused }
  }
  const [tenancy, user] = [known.tenancy_ocid ?? '', known.user_ocid ?? '']
  return { ok: true, key: { kind: 'api-key', tenancy, user, fingerprint: key.fingerprint, key }, unused }
}

function checkOracle(known: Known, actual: string | null, tell: (name: Member, message: string) => void): void {
  // Oracle, "Resource Identifiers": ocid1.<type>.<realm>.[region].<unique id>. They are sent in a header, in quotes.
  for (const type of ['tenancy', 'user'] as const) {
    const name = `${type}_ocid` as const
    if (!new RegExp(`^ocid[0-9a-z]{0,8}\\.${type}\\.[\\w.:-]{1,240}$`).test(known[name] ?? '')) {
      tell(name, `must be the OCID of a ${type}: ocid1.${type}.oc1..…`)
    }
  }
  const fingerprint = (known.oci_fingerprint ?? '').trim().toLowerCase()
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/.test(fingerprint)) {
    tell('oci_fingerprint', 'must be 16 bytes in hexadecimal with colons: 20:3b:97:…')
  } else if (actual !== null && actual !== fingerprint) {
    tell('oci_fingerprint', `is not that of the given key, which has ${actual}`)
  }
}

function wrong(member: Member, message: string): ReadKey {
  return { ok: false, problems: [{ code: 'invalid_value', member, message: ` ${message}` }] }
}

function list(missing: readonly string[]): string {
  if (missing.length === 0) return 'nothing is missing'
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`
}
