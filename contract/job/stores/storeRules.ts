// In charge of: what a kind of store tells the contract about itself: names, addresses, credentials. One file a store.
// Not in charge of: which stores there are (registry.ts), reading and writing (worker/storage).
import type { ProblemCode } from '../findings.ts'

export type CredentialMember =
  | 'access_key'
  | 'secret_key'
  | 'region'
  | 'tenancy_ocid'
  | 'user_ocid'
  | 'oci_fingerprint'
  | 'project_id'
  | 'client_email'
  | 'client_id'
  | 'private_key_id'
  | 'private_key'
  | 'session_token'
  | 'endpoint'

/** What was given of a credential. Empty and null are the same as absent. */
export type KnownCredential = { readonly [member in CredentialMember]?: string | null | undefined }

export interface InvalidAddress {
  kind: 'invalid'
  code: ProblemCode
  message: string
}

export interface StoreRules<Address extends { kind: string }> {
  /** In the dashboard: on either side of the form, and among the settings of a job. */
  labels: { input: string; output: string; settings: string }
  /** Of its addresses; none = its paths have no scheme (2.3, pairing seen). */
  schemes: readonly string[]
  /** What the root of an address is: the part that names the store's bucket, or the host of a server. */
  root: { kind: 'bucket' | 'host'; elements: 1 | 2 }
  /** Completes "input has the form …". */
  inputForm: string
  /** Completes "bucket_output_path must name the bucket: …"; null where paths of outputs are relative. */
  outputForm: string | null
  /** Of an input, as an example. */
  example: string
  /** Members of a credential that are read, in the order of a form. Others are named in a warning. */
  members: readonly CredentialMember[]
  /** Why a member of others has no effect, where there is more to say than that it is not used. */
  whyUnused?: Partial<Record<CredentialMember, string>>
  /**
   * Reads an input.
   * @param baseUrl of the service; null = the input was accepted before, at whatever address the service had then
   */
  parse(input: string, baseUrl: string | null): Address | InvalidAddress
}

export function invalidAddress(message: string, code: ProblemCode = 'invalid_input_address'): InvalidAddress {
  return { kind: 'invalid', code, message }
}

export function wrongForm(provider: string, form: string): InvalidAddress {
  return invalidAddress(`with cloud_provider "${provider}", input has the form ${form}`)
}
