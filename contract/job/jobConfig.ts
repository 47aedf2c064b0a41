// In charge of: the types of a job as it is stored: what is shown (JobConfig) and what is sealed (JobSecrets).
// Not in charge of: judging a request (validateJob.ts), translating it (toJobSpec.ts).
import type { Metadata } from './metadata.ts'
import type { AudioProfileFields, CredentialFields, JobFields, VideoProfileFields } from './requestSchema.ts'
import type { Provider } from './stores/registry.ts'

/** Full credentials, unknown members included. Only ever sealed or used, never stored in clear. */
export interface Credentials extends CredentialFields {
  [member: string]: unknown
}

/** What is stored and returned as `config`: wire names, defaults applied, no secret. Unknown fields are there too, untyped. */
export interface JobConfig extends Omit<JobFields, 'scte35_passthrough' | 'separate_audio' | 'metadata'> {
  separate_audio: boolean
  metadata?: Metadata
  videoProfiles: VideoProfileFields[]
  audioProfiles: AudioProfileFields[]
  /** Redacted (redact.ts). `output` is the one in force, also when the request left it out. */
  cloud_credentials: { input: CredentialFields; output: CredentialFields }
}

/** Goes to the vault and to the stores, nowhere else. */
export interface JobSecrets {
  input: Credentials
  output: Credentials
  /** The full form of the addresses whose stored form was redacted. */
  addresses: { input?: string; logo_url?: string; webhook_url?: string }
}

export function inputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.input.cloud_provider
}

export function outputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.output.cloud_provider
}
