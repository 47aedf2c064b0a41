// In charge of: the fields of cloud_credentials (specification 2.3).
// Not in charge of: which of them a store needs (stores/).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import * as limits from '../../limits.ts'
import { OUTPUT_PROVIDERS, PROVIDERS, type Provider } from '../stores/registry.ts'
import { field, oneOf, type Fields } from './field.ts'

/** Null is accepted wherever a sample could send it, and means the same as omitting the member. */
const credentialMember = (maximum: number = limits.MAX_LENGTH.credential) =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(maximum)))), {
    expects: `a string of at most ${maximum} characters, or null`,
  })
/**
 * Members that are returned on a read. One line only, so that a PEM key in the wrong member is refused and never shown.
 */
const credentialIdentity = () =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.credential), z.regex(/^[^\p{Cc}]*$/u)))), {
    expects: `a string on one line of at most ${limits.MAX_LENGTH.credential} characters, or null`,
  })

const providerOf = (allowed: readonly Provider[]) => field(withDefault(z.enum(PROVIDERS), 'oracle'), oneOf(allowed))

/** 2.3, credential object. private_key, session_token and endpoint are extensions. */
export const credentialFields = {
  cloud_provider: {
    ...providerOf(PROVIDERS),
    meaning: 'Kind of store; absent = oracle, with a warning.',
    label: 'Storage',
  },
  access_key: {
    ...credentialMember(),
    meaning: 'Access key.',
    label: 'Access key ID',
  },
  secret_key: {
    ...credentialMember(limits.MAX_LENGTH.private_key),
    meaning: 'Secret key.',
    label: 'Secret access key',
  },
  region: {
    ...credentialIdentity(),
    meaning: 'Region of the bucket.',
  },
  tenancy_ocid: {
    ...credentialIdentity(),
    meaning: 'Oracle only: OCID of the tenancy.',
    label: 'Tenancy OCID',
  },
  user_ocid: {
    ...credentialIdentity(),
    meaning: 'Oracle only: OCID of the user.',
    label: 'User OCID',
  },
  oci_fingerprint: {
    ...credentialIdentity(),
    meaning: 'Oracle only: fingerprint of the API key of the user.',
    label: 'Key fingerprint',
  },
  project_id: {
    ...credentialIdentity(),
    meaning: 'Google only: id of the project.',
    label: 'Project ID',
  },
  client_email: {
    ...credentialIdentity(),
    meaning: 'Google only: e-mail address of the service account.',
    label: 'Service account email',
  },
  client_id: {
    ...credentialIdentity(),
    meaning: 'Google only: id of the service account.',
    label: 'Client ID',
  },
  private_key_id: {
    ...credentialIdentity(),
    meaning: 'Google only: id of the private key.',
    label: 'Private key ID',
  },
  private_key: {
    ...credentialMember(limits.MAX_LENGTH.private_key),
    meaning: 'Private key in PEM form.',
    label: 'Private key (PEM)',
  },
  session_token: {
    ...credentialMember(limits.MAX_LENGTH.private_key),
    meaning: 'Token of temporary credentials.',
  },
  endpoint: {
    ...credentialMember(),
    meaning: 'Address of an S3-compatible store.',
  },
} satisfies Fields

/** The same, without providers that can only be read. credentials.ts refuses those with a separate message. */
export const outputCredentialFields = {
  ...credentialFields,
  cloud_provider: { ...credentialFields.cloud_provider, ...providerOf(OUTPUT_PROVIDERS) },
} satisfies Fields
