// In charge of: the common parts of credential checks: reporting, regions.
// Not in charge of: the requirements of one store (its own file), unused members (../credentials.ts).
import type { StoreKeyResult } from '../storeKeys/storeKey.ts'
import type { CredentialMember, KnownCredential } from './storeRules.ts'

export interface CredentialReport {
  /** `message` is a whole sentence. */
  problem(code: 'required', member: CredentialMember, message: string): void
  /** `message` follows the path of the member, or of the credential if `member` is null. */
  member(code: 'required' | 'invalid_value' | 'conflict', member: CredentialMember | null, message: string): void
  /** A member that has no effect; `why` follows "has no effect: ". */
  unused(member: CredentialMember, why: string): void
}

/** Decision "Stores": checks what the provider needs; the message names what is missing. */
export type CheckCredentials = (known: KnownCredential, report: CredentialReport) => void

/** The last line of "Stores": a region becomes part of a host name, so it is validated as one before use. */
export function checkRegion({ region }: KnownCredential, report: CredentialReport): void {
  if (!region || /^[a-z0-9-]{1,63}$/.test(region)) return
  report.member('invalid_value', 'region', ' must be lower-case letters, digits and -, like "us-east-1"')
}

export function checkKey(read: StoreKeyResult<{ kind: string }>, report: CredentialReport): void {
  if (!read.ok) {
    for (const { code, member, message } of read.problems) report.member(code, member, message)
    return
  }
  const used = read.key.kind === 'pair' ? 'access_key and secret_key are used' : 'the PEM key is used'
  for (const member of read.unused) report.unused(member, used)
}
