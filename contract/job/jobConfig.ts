// In charge of: the types of a stored job: the public part (JobConfig) and the encrypted part (JobSecrets).
// Not in charge of: validating a request (validateJob.ts), translating it (toJobSpec.ts).
import type { Metadata } from './metadata.ts'
import type {
  AnimatedPreviewFields,
  AudioProfileFields,
  BurnInCaptionsFields,
  CaptionFields,
  CredentialFields,
  InputFields,
  JobFields,
  StillsFields,
  VideoProfileFields,
  WaveformFields,
} from './fields/request.ts'
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
  /** Instead of `input`. */
  inputs?: InputFields[]
  videoProfiles: VideoProfileFields[]
  audioProfiles: AudioProfileFields[]
  captions?: CaptionFields[]
  burn_in_captions?: BurnInCaptionsFields
  stills?: StillsFields[]
  animated_preview?: AnimatedPreviewFields
  waveform?: WaveformFields
  /** Redacted (redact.ts). `output` is the effective one, even if the request omitted it. */
  cloud_credentials: { input?: CredentialFields; inputs?: CredentialFields[]; output: CredentialFields }
}

/** Where the full form of an address is found that was stored redacted. */
export type AddressKey = 'input' | 'logo_url' | 'webhook_url' | `inputs[${number}]` | CaptionField

/** The field of a caption's address. */
export type CaptionField = `captions[${number}].input`

/** Goes only to the vault and to the stores. */
export interface JobSecrets {
  /** Credentials of the source, or of all elements of `inputs`. */
  input?: Credentials
  /** Credentials of each element of `inputs`. */
  inputs?: Credentials[]
  output: Credentials
  /** The full addresses whose stored form was redacted. */
  addresses: Partial<Record<AddressKey, string>>
}

/** One source of a job: its `input`, or an element of its `inputs`. */
export interface JobInput {
  /** As stored: without a query. */
  address: string
  key: AddressKey
  provider: Provider
  /** Paths in the request, for errors. */
  field: string
  credentialsField: string
}

/** The sources of a job, in order. There is at least one. */
export function jobInputs({ input, inputs, cloud_credentials: stores }: JobConfig): JobInput[] {
  const common = stores.input?.cloud_provider
  if (inputs === undefined) {
    const names = { key: 'input', field: 'input', credentialsField: 'cloud_credentials.input' } as const
    return [{ address: input ?? '', provider: common ?? 'oracle', ...names }]
  }
  return inputs.map((each, index) => ({
    address: each.input,
    key: `inputs[${index}]`,
    provider: stores.inputs?.[index]?.cloud_provider ?? common ?? 'oracle',
    field: `inputs[${index}].input`,
    credentialsField: stores.inputs === undefined ? 'cloud_credentials.input' : `cloud_credentials.inputs[${index}]`,
  }))
}

/** The first source: outputs without a name are named after it. */
export function firstInput(config: JobConfig): JobInput {
  return jobInputs(config)[0]!
}

/** Fields of `input` that are also fields of an element of `inputs`. */
const SOURCE_FIELDS: readonly unknown[] = ['input', 'start_seconds', 'end_seconds']

/** A field as the request has it: the transcoder treats the only element of `inputs` as `input`. */
export function withRequestField<F extends { field?: string | undefined }>({ inputs }: JobConfig, found: F): F {
  if (inputs?.length !== 1 || !SOURCE_FIELDS.includes(found.field)) return found
  return { ...found, field: `inputs[0].${found.field}` }
}

/** What the source number `index` is opened with. */
export function inputCredentials({ input, inputs }: JobSecrets, index: number): Partial<Credentials> {
  return inputs?.[index] ?? input ?? {}
}

export function outputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.output.cloud_provider
}

/** Renditions with video. A job without them makes audio only: each audio profile becomes a file, or segments. */
export function hasVideo({ ladder, videoProfiles }: { ladder?: unknown; videoProfiles: readonly unknown[] }): boolean {
  return ladder !== undefined || videoProfiles.length > 0
}
