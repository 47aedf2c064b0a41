// In charge of: the interface of a store's rules: names, addresses, credentials. Each store implements it in one file.
// Not in charge of: which stores exist (registry.ts), reading and writing (worker/storage).
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

/** The given members of a credential. Empty and null are the same as absent. */
export type KnownCredential = { readonly [member in CredentialMember]?: string | null | undefined }

export interface InvalidAddress {
  kind: 'invalid'
  code: ProblemCode
  message: string
}

export interface StoreRules<Address extends { kind: string }> {
  /** Names in the dashboard: in the form, as input and as output, and among the settings of a job. */
  labels: { input: string; output: string; settings: string }
  /** Schemes of its addresses; none = its paths have no scheme (2.3, observed pairing). */
  schemes: readonly string[]
  /** The root of an address: the part that names the bucket, or the host of a server. */
  root: { kind: 'bucket' | 'host'; elements: 1 | 2 }
  /** Completes "input has the form …". */
  inputForm: string
  /** Completes "bucket_output_path must name the bucket: …"; null if output paths are relative. */
  outputForm: string | null
  /**
   * Bytes that an output's path may have below its root, so that the store accepts the key of the object; null = the
   * store accepts no outputs.
   */
  outputPathBytes: number | null
  /** An example of an input. */
  example: string
  /** Members of a credential that are read, in the order of a form. Others get a warning. */
  members: readonly CredentialMember[]
  /** Why a member of other stores has no effect, if there is more to say than that it is unused. */
  unusedReasons?: Partial<Record<CredentialMember, string>>
  /**
   * Parses an input.
   * @param baseUrl of the service; null = the input was accepted earlier, and the service's address may have changed
   * since
   */
  parse(input: string, baseUrl: string | null): Address | InvalidAddress
}

export function invalidAddress(message: string, code: ProblemCode = 'invalid_input_address'): InvalidAddress {
  return { kind: 'invalid', code, message }
}

export function wrongForm(provider: string, form: string): InvalidAddress {
  return invalidAddress(`with cloud_provider "${provider}", input has the form ${form}`)
}
