// In charge of: the types of a stored job: the public part (JobConfig) and the encrypted part (JobSecrets).
// Not in charge of: validating a request (validateJob.ts), translating it (toJobSpec.ts).
import type { Metadata } from './metadata.ts'
import type { AudioProfileFields, CredentialFields, JobFields, VideoProfileFields } from './requestSchema.ts'
import type { Provider } from './stores/registry.ts'

/** Full credentials, including unknown members. They are encrypted or used, never stored in clear. */
export interface Credentials extends CredentialFields {
  [member: string]: unknown
}

/**
 * What is stored and returned as `config`: wire names, defaults applied, no secrets. It also contains unknown fields,
 * without types.
 */
export interface JobConfig extends Omit<JobFields, 'scte35_passthrough' | 'separate_audio' | 'metadata'> {
  separate_audio: boolean
  metadata?: Metadata
  videoProfiles: VideoProfileFields[]
  audioProfiles: AudioProfileFields[]
  /** Redacted (redact.ts). `output` is the effective one, even if the request omitted it. */
  cloud_credentials: { input: CredentialFields; output: CredentialFields }
}

/** Goes only to the vault and to the stores. */
export interface JobSecrets {
  input: Credentials
  output: Credentials
  /** The full addresses whose stored form was redacted. */
  addresses: { input?: string; logo_url?: string; webhook_url?: string }
}

export function inputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.input.cloud_provider
}

export function outputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.output.cloud_provider
}
