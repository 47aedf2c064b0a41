// In charge of: turning a request body into what is stored (JobConfig), what is sealed (JobSecrets) and what is planned (JobSpec).
// Not in charge of: single rules; each has its file (request, combinations, destinations, credentials).
import { effectiveChannels } from './rules/audioBitrates.ts'
import { inputName, parseHttp, parseInput } from './paths/inputAddress.ts'
import { codecOf } from './rules/videoBitrates.ts'
import { checkCombinations, selectedAudio, toEven } from './rules/combinations.ts'
import { readCredentials, type Credentials } from './credentials.ts'
import { directoryOf, renditionOutput, rootOf, specOutput } from './paths/outputLocation.ts'
import { checkDestinations } from './rules/outputPaths.ts'
import type { Problem, Warning } from '../errors.ts'
import {
  AUDIO_PROFILES,
  DEFAULT_MAP_PID,
  DEFAULT_VIDEO_PID,
  MAX_NESTING,
  MAX_VALUES,
  SERVICE_NAME_CHARACTERS,
  VIDEO_PROFILES,
} from '../limits.ts'
import { readMetadata, type Metadata } from './metadata.ts'
import { checkPackaging, packagingOf } from './rules/segmentedOutput.ts'
import { Findings } from './findings.ts'
import {
  copyUnknownFields,
  given,
  isBounded,
  isMembers,
  own,
  readFields,
  readList,
  type Members,
} from './fieldReader.ts'
import { isRedacted, redactAddress, showValue, WITHOUT_QUERY } from './redact.ts'
import {
  audioProfile,
  isSegmented,
  jobFields,
  jobRequest,
  LADDERS,
  videoProfile,
  type AudioProfileFields,
  type CredentialFields,
  type Draft,
  type JobFields,
  type Provider,
  type VideoProfileFields,
} from './requestSchema.ts'
import type { JobSpec, ServiceSpec } from './jobSpec.ts'

export type { Credentials } from './credentials.ts'
export type { Provider } from './requestSchema.ts'

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

export type Validation =
  | { ok: true; config: JobConfig; secrets: JobSecrets; warnings: Warning[] }
  | { ok: false; problems: Problem[] }

/** Judges a parsed body. All problems are reported at once, each with its path; nothing in them or in `config` is a secret. */
export function validateJob(body: unknown, context: { baseUrl: string }): Validation {
  const findings = new Findings()
  if (!isMembers(body)) {
    findings.problem('invalid_type', '', `the body must be a JSON object; ${showValue(body)} was given`)
    return { ok: false, problems: findings.problems }
  }
  if (!isBounded(body, MAX_NESTING, MAX_VALUES)) {
    const message = `the body must not nest deeper than ${MAX_NESTING} levels, nor hold more than ${MAX_VALUES} values`
    findings.problem('too_deep', '', message, { maximum: MAX_NESTING })
    return { ok: false, problems: findings.problems }
  }
  const video = readVideoProfiles(body, findings)
  const audio = readList(body, 'audioProfiles', AUDIO_PROFILES, findings)
  const draft: Draft = {
    ...readFields(jobFields.shape, body, '', findings),
    videoProfiles: video.map((each, i) => readFields(videoProfile.shape, each, `videoProfiles[${i}]`, findings)),
    audioProfiles: audio.map((each, i) => readFields(audioProfile.shape, each, `audioProfiles[${i}]`, findings)),
    inputProvider: undefined,
    outputProvider: undefined,
  }
  if (draft.ladder !== undefined && given(body, 'gop_length') === undefined) draft.gop_length = LADDER_GOP_SECONDS
  foldAlias(body, draft, 'scte35_passthrough', 'scte35_passthough', findings)
  foldAlias(body, draft, 'separate_audio', 'master_variant_mode', findings)
  const metadata = readMetadata(draft.metadata, findings)
  if (metadata) draft.metadata = metadata
  else delete draft.metadata
  const credentials = readCredentials(body, draft, findings)
  checkInput(draft, context.baseUrl, findings)
  checkDestinations(draft, findings)
  checkCombinations(draft, findings)
  checkPackaging(draft, body, findings)
  const addresses = redactAddresses(draft)
  const unknown = copyUnknownFields(jobRequest.shape, [], body, '', findings)
  const withUnknown = (
    known: Members,
    shape: Parameters<typeof readFields>[0],
    members: Members | null | undefined,
    path: string,
  ) => ({
    ...known,
    ...copyUnknownFields(shape, [], members ?? {}, path, findings),
  })
  const { inputProvider: _in, outputProvider: _out, ...known } = draft
  const config = {
    ...known,
    videoProfiles: known.videoProfiles.map((each, i) =>
      withUnknown(each, videoProfile.shape, video[i], `videoProfiles[${i}]`),
    ),
    audioProfiles: known.audioProfiles.map((each, i) =>
      withUnknown(each, audioProfile.shape, audio[i], `audioProfiles[${i}]`),
    ),
    cloud_credentials: { input: credentials.input.shown, output: credentials.output.shown },
    ...unknown,
  }
  if (findings.problems.length > 0) return { ok: false, problems: findings.problems }
  const secrets = { input: credentials.input.full, output: credentials.output.full, addresses }
  // Without a problem every required field was read and every default applied, so what was partial is complete.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for that reason
  return { ok: true, config: config as JobConfig, secrets: secrets as JobSecrets, warnings: findings.warnings }
}

/** Key frames every two seconds suit every segment length, and what players expect of a ladder. */
const LADDER_GOP_SECONDS = 2

/** With `ladder` there are none: they follow from the source. */
function readVideoProfiles(body: Members, findings: Findings): (Members | null)[] {
  if (!LADDERS.some((ladder) => ladder === own(body, 'ladder')))
    return readList(body, 'videoProfiles', VIDEO_PROFILES, findings)
  const listed = given(body, 'videoProfiles')
  if (listed === undefined || (Array.isArray(listed) && listed.length === 0)) return []
  const message = 'ladder "auto" chooses the video profiles from the source; leave out videoProfiles, or ladder'
  findings.problem('conflict', 'videoProfiles', message)
  return []
}

/** Two names of one field: the other is accepted, a contradiction is a problem. */
function foldAlias(
  body: Members,
  draft: Draft,
  alias: 'scte35_passthrough' | 'separate_audio',
  name: 'scte35_passthough' | 'master_variant_mode',
  findings: Findings,
): void {
  const aliased = draft[alias]
  if (
    aliased !== undefined &&
    given(body, name) !== undefined &&
    draft[name] !== undefined &&
    draft[name] !== aliased
  ) {
    const message = `${alias} and ${name} are the same field; ${aliased} and ${draft[name]} contradict each other; send only one of them`
    findings.problem('conflict', alias, message)
  }
  if (aliased !== undefined) draft[name] = aliased
  // 2.1 separate_audio: the stored config shows the same idea as master_variant_mode.
  if (alias === 'separate_audio') {
    if (draft[name] !== undefined) draft.separate_audio = draft[name]
  } else delete draft[alias]
}

function checkInput(draft: Draft, baseUrl: string, findings: Findings): void {
  const { input, inputProvider: provider } = draft
  if (draft.logo_url) checkAddress('logo_url', draft.logo_url, findings)
  if (typeof draft.webhook_url === 'string' && draft.webhook_url !== '') {
    checkAddress('webhook_url', draft.webhook_url, findings)
  }
  if (input === undefined || provider === undefined) return
  const parsed = parseInput(provider, input, baseUrl)
  if (parsed.kind === 'invalid')
    findings.problem(parsed.code, 'input', `${parsed.message}; ${showValue(input)} was given`)
  else if (parsed.kind === 'http' && isRedacted(input))
    findings.problem('invalid_input_address', 'input', `input ${WITHOUT_QUERY}`)
}

function checkAddress(field: 'logo_url' | 'webhook_url', address: string, findings: Findings): void {
  const parsed = parseHttp(address)
  // Accepted, it would be taken for one whose query is kept sealed.
  if (isRedacted(address)) findings.problem('invalid_value', field, `${field} ${WITHOUT_QUERY}, or leave it out`)
  if (parsed.kind !== 'invalid') return
  const message =
    parsed.code === 'user_info_in_address'
      ? 'must not contain a user name or password'
      : 'must be an http or https address'
  findings.problem(parsed.code === 'user_info_in_address' ? parsed.code : 'invalid_value', field, `${field} ${message}`)
}

/** Decision "unknown fields": addresses with a query are stored redacted, the full form sealed. */
function redactAddresses(draft: Draft): JobSecrets['addresses'] {
  const full: JobSecrets['addresses'] = {}
  for (const name of ['input', 'logo_url', 'webhook_url'] as const) {
    const address = draft[name]
    if (typeof address !== 'string' || !/^https?:\/\//i.test(address)) continue
    const redacted = redactAddress(address)
    if (redacted === address) continue
    full[name] = address
    draft[name] = redacted
  }
  return full
}

function serviceOf(config: JobConfig, sourceName: string): ServiceSpec {
  const videoPid = config.video_pid ?? DEFAULT_VIDEO_PID
  return {
    profile: config.ts_profile ?? null,
    name: config.service_name || sourceName.slice(0, SERVICE_NAME_CHARACTERS) || 'Service',
    provider: config.service_provider || 'Splicepoint',
    id: config.service_id ?? 1,
    transportStreamId: config.transport_stream_id ?? 1,
    mapPid: config.pmt_pid ?? DEFAULT_MAP_PID,
    videoPid,
    audioPid: config.audio_pid ?? videoPid + 1,
  }
}

export function inputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.input.cloud_provider
}

export function outputProvider(config: JobConfig): Provider {
  return config.cloud_credentials.output.cloud_provider
}

/** Stands for every rung until the source is known; its bitrate is never used. */
const ANY_RUNG: VideoProfileFields = { width: 0, height: 0, video_bitrate: 0, video_framerate: '1x' }

/** 2.1 master_variant_mode, "whether separate audio is used": of single files, audio is separate where audio_output_path stores it. */
function isSeparateFile(config: JobConfig): boolean {
  return config.master_variant_mode && Boolean(config.audio_output_path) && !isSegmented(config)
}

/**
 * The stored job in the service's own words. `sourceName` is the source's file name where `input` does not say it
 * (an upload: the uploaded file's name).
 */
export function toSpec(config: JobConfig, sourceName: string = config.input): JobSpec {
  const provider = outputProvider(config)
  const root = rootOf(provider, config)
  const packaging = packagingOf(config)
  return {
    container: config.output_container,
    packaging,
    videoCodec: codecOf(config.video_codec),
    quality: config.h264_quality,
    gopSeconds: config.gop_length,
    // Decision "ip_distance": absent = 3.
    ipDistance: config.ip_distance ?? 3,
    keepFps: config.keep_fps,
    passCues: config.scte35_passthough,
    // 2.1 scte35_pid_remap: −1 and absent are the source's.
    cuePid: config.scte35_pid_remap === undefined || config.scte35_pid_remap < 0 ? null : config.scte35_pid_remap,
    service: serviceOf(config, inputName(sourceName)),
    aspect: config.video_aspect_ratio,
    transform: config.picture_transform,
    // Decision "rotation_blackness": absent = black.
    barPercent: config.rotation_blackness ?? 0,
    // Decision "logo_url": top right, opaque.
    logo: config.logo_url
      ? { position: config.logo_position ?? 'top_right', opacityPercent: config.logo_opacity ?? 100 }
      : null,
    detelecine: config.auto_detelecine_flag ?? false,
    audioVolume: config.audio_volume,
    loudnessLufs: config.loudness_lufs ?? null,
    closedCaptions: config.closed_captions ?? null,
    inputName: inputName(sourceName),
    outputDirectory: directoryOf(provider, config.bucket_output_path ?? '', root),
    // Decision "HDR, colour": hevc stays HDR, the others cannot.
    dynamicRange: config.video_codec === 'hevc' ? (config.dynamic_range ?? 'source') : 'sdr',
    program: config.program_number ?? null,
    maxSourceErrors: config.max_source_errors ?? null,
    expectedAudioStreams: config.ts_mode_input_audio_source_stream_count ?? null,
    audioDirectory: config.audio_output_path ? directoryOf(provider, config.audio_output_path, root) : null,
    allowUpscaling: config.allow_upscaling ?? null,
    ladder: config.ladder ?? null,
    video: (config.ladder === undefined ? config.videoProfiles : [ANY_RUNG]).map((profile, index) => ({
      index,
      rung: null,
      output:
        packaging === null
          ? specOutput(provider, profile.output ?? '', root)
          : (renditionOutput(provider, profile.output ?? '', config) ?? ''),
      width: toEven(profile.width),
      height: toEven(profile.height),
      // Decision "video_bitrate_mode": absent = vbr.
      mode: profile.video_bitrate_mode ?? 'vbr',
      bitrateKbps: Math.round(profile.video_bitrate),
      frameRateFactor: profile.video_framerate,
      audioProfiles: isSeparateFile(config) ? [] : selectedAudio(profile.audio_profiles, config.audioProfiles.length),
      progressive: config.force_progressive || profile.video_format === 'progressive',
    })),
    audio: config.audioProfiles.map((profile, index) => ({
      index,
      codec: profile.audio_codec,
      channels: effectiveChannels(profile.audio_channels, profile.primary_audio_downmix_to_stereo),
      bitrateKbps: Number(profile.audio_bitrate),
      sourceStream: profile.source_stream === undefined ? null : Number(profile.source_stream),
      downmix: profile.downmix ?? null,
      downmixLfe: profile.downmix_lfe ?? null,
      // Decision "dolby_digital_dialnorm": absent = 0, passthrough.
      dialnorm: profile.dolby_digital_dialnorm ?? 0,
      optional: profile.optional ?? false,
    })),
  }
}
