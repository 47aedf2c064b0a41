// In charge of: turning a request body into what is stored (JobConfig) and what is encrypted (JobSecrets).
// Not in charge of: the rules, which have their own files (fields/, rules/, credentials.ts), or the job
// specification (toJobSpec.ts).
import { audioCodecOf, audioRules } from '../codecs.ts'
import type { Problem, Warning } from '../errors.ts'
import { checkCaptionAddresses, readCaptionList } from './captions.ts'
import { checkBurnIn, readBurnIn } from './rules/burnIn.ts'
import { checkCombinations } from './rules/combinations.ts'
import { COPY } from './rules/copy.ts'
import { draftInputs } from './rules/inputs.ts'
import { hasVideo, type AddressKey, type JobConfig, type JobSecrets } from './jobConfig.ts'
import { readCredentials, type JobCredentials, type ParsedCredentials } from './credentials.ts'
import { checkExtracts, extractFields, readExtracts } from './rules/extracts.ts'
import { checkOutputPaths } from './rules/outputPaths.ts'
import { checkProducts, makesWithoutVideo } from './rules/products.ts'
import { AUDIO_PROFILES, INPUTS, MAX_NESTING, MAX_VALUES, VIDEO_PROFILES } from '../limits.ts'
import { readMetadata } from './metadata.ts'
import { checkPackaging } from './rules/segmentedOutput.ts'
import { Findings } from './findings.ts'
import {
  keepUnknownFields,
  presentMember,
  isWithinSizeLimits,
  isJsonObject,
  ownMember,
  readFields,
  readObjectList,
  type JsonObject,
} from './fieldReader.ts'
import { isRedacted, redactAddress, printableValue, SEND_UNREDACTED } from './redact.ts'
import { jobFields, LADDERS } from './fields/job.ts'
import { audioProfileFields, inputFields, videoProfileFields } from './fields/profiles.ts'
import { REQUEST_MEMBERS, REQUEST_OBJECTS, type AudioProfileFields, type JobDraft } from './fields/request.ts'
import { parseHttp } from './stores/http.ts'
import { parseInput } from './stores/registry.ts'

export type ValidationResult =
  | { ok: true; config: JobConfig; secrets: JobSecrets; warnings: Warning[] }
  | { ok: false; problems: Problem[] }

/** An unknown field is a warning; of a refused request, one that resembles a known field is probably the reason. */
function misspellings({ warnings }: Findings): Problem[] {
  return warnings.flatMap(({ code, field = '', message }) =>
    code === 'unknown_field' && message.includes('; did you mean ') ? [{ code, field, message }] : [],
  )
}

/**
 * Validates a parsed body. All problems are reported at once, each with its path. Neither they nor `config` contain
 * secrets.
 */
export function validateJob(body: unknown, context: { baseUrl: string }): ValidationResult {
  const findings = new Findings()
  if (!isJsonObject(body)) {
    findings.problem('invalid_type', '', `the body must be a JSON object; ${printableValue(body)} was given`)
    return { ok: false, problems: findings.problems }
  }
  if (!isWithinSizeLimits(body, MAX_NESTING, MAX_VALUES)) {
    const message = `the body must not nest deeper than ${MAX_NESTING} levels, or contain more than ${MAX_VALUES} values`
    findings.problem('too_deep', '', message, { maximum: MAX_NESTING })
    return { ok: false, problems: findings.problems }
  }
  const pieces = readInputList(body, findings)
  const video = readVideoProfiles(body, findings)
  const audio = readAudioProfiles(body, findings)
  const extracts = readExtracts(body, findings)
  const captions = readCaptionList(body, findings)
  const burnIn = readBurnIn(body, findings)
  requireInput(body, findings)
  const draft: JobDraft = {
    ...readFields(jobFields, body, '', findings),
    videoProfiles: video.map((each, i) =>
      readFields(videoProfileFields, withSourceSize(each, body), `videoProfiles[${i}]`, findings),
    ),
    audioProfiles: audio.map((each, i) => readAudioProfile(each, `audioProfiles[${i}]`, findings)),
    ...extractFields(extracts, findings),
    ...(pieces === null
      ? {}
      : { inputs: pieces.map((each, i) => readFields(inputFields, each, `inputs[${i}]`, findings)) }),
    ...(captions && { captions: captions.read }),
    ...(burnIn && { burn_in_captions: burnIn.read }),
    inputProvidersOf: [],
    outputProviderOf: undefined,
  }
  if (draft.ladder !== undefined && presentMember(body, 'gop_length') === undefined)
    draft.gop_length = LADDER_GOP_SECONDS
  checkProducts(draft, body, findings)
  // 2.1: audioProfiles is required with video, as an empty list if there is no audio.
  if (presentMember(body, 'audioProfiles') === undefined && (hasVideo(draft) || !makesWithoutVideo(draft)))
    readObjectList(body, 'audioProfiles', AUDIO_PROFILES, findings)
  mergeAlias(body, draft, 'scte35_passthrough', 'scte35_passthough', findings)
  mergeAlias(body, draft, 'separate_audio', 'master_variant_mode', findings)
  const metadata = readMetadata(draft.metadata, findings)
  if (metadata) draft.metadata = metadata
  else delete draft.metadata
  const credentials = readCredentials(body, draft, findings)
  checkAddresses(draft, findings)
  checkInputs(draft, context.baseUrl, findings)
  checkOutputPaths(draft, findings)
  checkCombinations(draft, findings)
  checkBurnIn(draft, findings)
  checkPackaging(draft, body, findings)
  checkExtracts(draft, findings)
  const addresses = {
    ...redactAddresses(draft),
    ...checkCaptionAddresses(
      draft.captions ?? [],
      { providers: draft.inputProvidersOf, baseUrl: context.baseUrl },
      findings,
    ),
  }
  const unknown = keepUnknownFields(REQUEST_MEMBERS, body, '', findings)
  const { inputProvidersOf: _in, outputProviderOf: _out, ...known } = draft
  const given: Record<string, unknown> = {
    videoProfiles: video,
    audioProfiles: audio,
    inputs: pieces,
    captions: captions?.given,
    burn_in_captions: burnIn?.given,
    ...extracts,
  }
  const config = {
    ...known,
    ...withUnknownFields(known, given, findings),
    cloud_credentials: formOf(credentials, 'redacted'),
    ...unknown,
  }
  if (findings.problems.length > 0) return { ok: false, problems: [...misspellings(findings), ...findings.problems] }
  const secrets = { ...formOf(credentials, 'full'), addresses }
  // Without problems, every required field was read and every default applied, so the partial objects are complete.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for that reason
  return { ok: true, config: config as JobConfig, secrets: secrets as JobSecrets, warnings: findings.warnings }
}

/** Elements may be many: after enough warnings, those of further ones are left out. */
const limited = (findings: Findings): Findings => (findings.warnings.length < 200 ? findings : new Findings())

/** The objects of the job as they were read, each with the members that it was given and that are no fields. */
function withUnknownFields(read: object, given: JsonObject, findings: Findings): JsonObject {
  const objects: JsonObject = { ...read }
  return Object.fromEntries(
    REQUEST_OBJECTS.flatMap(({ path, fields }) => {
      const name = path.replace('[]', '')
      const each = objects[name]
      if (typeof each !== 'object' || each === null) return []
      const bodies = [given[name]].flat()
      const complete = (known: object, index: number, at: string) => {
        const body = bodies[index]
        const unknown = keepUnknownFields(Object.keys(fields), isJsonObject(body) ? body : {}, at, limited(findings))
        return { ...known, ...unknown }
      }
      return [
        [
          name,
          Array.isArray(each)
            ? each.map((one: object, i) => complete(one, i, `${name}[${i}]`))
            : complete(each, 0, name),
        ],
      ]
    }),
  )
}

/** All credentials of a job in one of their forms. */
function formOf<F extends keyof ParsedCredentials>({ input, inputs, output }: JobCredentials, form: F) {
  return {
    ...(input === undefined ? {} : { input: input[form] }),
    ...(inputs === undefined ? {} : { inputs: inputs.map((each) => each[form]) }),
    output: output[form],
  }
}

/** The elements of `inputs`; null = the job has one `input`. */
function readInputList(body: JsonObject, findings: Findings): (JsonObject | null)[] | null {
  if (presentMember(body, 'inputs') === undefined) return null
  if (presentMember(body, 'input') !== undefined) {
    const message = 'input and inputs contradict each other; send one of them: inputs joins several sources'
    findings.problem('conflict', 'inputs', message)
  }
  return readObjectList(body, 'inputs', INPUTS, findings)
}

function requireInput(body: JsonObject, findings: Findings): void {
  if (['input', 'inputs'].some((name) => presentMember(body, name) !== undefined)) return
  const { expects } = jobFields.input
  const message = `input is required; it must be ${expects}, unless inputs lists ${INPUTS.minimum} to ${INPUTS.maximum} sources`
  findings.problem('required', 'input', message)
}
/** A copied profile needs no size and no bitrate: they are those of the source. */
function withSourceSize(profile: JsonObject | null, body: JsonObject): JsonObject | null {
  const isCopied = ownMember(body, 'video_codec') === COPY || (profile && ownMember(profile, 'video_codec') === COPY)
  if (profile === null || isCopied !== true || ownMember(body, 'copy_if_possible') === true) return profile
  return { ...profile, ...Object.fromEntries(SIZE_MEMBERS.map((name) => [name, presentMember(profile, name) ?? 0])) }
}

const SIZE_MEMBERS = ['width', 'height', 'video_bitrate'] as const

/** Key frames every two seconds fit every segment length, and players expect them in a ladder. */
const LADDER_GOP_SECONDS = 2

/** With `ladder` there are no profiles: they depend on the source. */
function readVideoProfiles(body: JsonObject, findings: Findings): (JsonObject | null)[] {
  const listed = presentMember(body, 'videoProfiles')
  if (!LADDERS.some((ladder) => ladder === ownMember(body, 'ladder')))
    return listed === undefined ? [] : readObjectList(body, 'videoProfiles', VIDEO_PROFILES, findings)
  if (listed === undefined || (Array.isArray(listed) && listed.length === 0)) return []
  const message = 'ladder "auto" chooses the video profiles from the source; leave out videoProfiles, or ladder'
  findings.problem('conflict', 'videoProfiles', message)
  return []
}

function readAudioProfiles(body: JsonObject, findings: Findings): (JsonObject | null)[] {
  if (presentMember(body, 'audioProfiles') === undefined) return []
  return readObjectList(body, 'audioProfiles', AUDIO_PROFILES, findings)
}

/** A codec that keeps every sample has no bitrate, not even the default one. */
function readAudioProfile(given: JsonObject | null, path: string, findings: Findings): Partial<AudioProfileFields> {
  const { audio_bitrate: bitrate, ...read } = readFields(audioProfileFields, given, path, findings)
  const hasNone = read.audio_codec !== undefined && audioRules(audioCodecOf(read.audio_codec)).bitrates === null
  const isSent = given !== null && presentMember(given, 'audio_bitrate') !== undefined
  return bitrate === undefined || (hasNone && !isSent) ? read : { ...read, audio_bitrate: bitrate }
}

/** Two names of one field: the alias is accepted, a contradiction is a problem. */
function mergeAlias(
  body: JsonObject,
  draft: JobDraft,
  alias: 'scte35_passthrough' | 'separate_audio',
  name: 'scte35_passthough' | 'master_variant_mode',
  findings: Findings,
): void {
  const aliased = draft[alias]
  if (
    aliased !== undefined &&
    presentMember(body, name) !== undefined &&
    draft[name] !== undefined &&
    draft[name] !== aliased
  ) {
    const message = `${alias} and ${name} are the same field; ${aliased} and ${draft[name]} contradict each other; send only one of them`
    findings.problem('conflict', alias, message)
  }
  if (aliased !== undefined) draft[name] = aliased
  // 2.1 separate_audio: the stored config shows it in addition to master_variant_mode.
  if (alias === 'separate_audio') {
    if (draft[name] !== undefined) draft.separate_audio = draft[name]
  } else delete draft[alias]
}

function checkAddresses({ logo_url: logo, webhook_url: webhook }: JobDraft, findings: Findings): void {
  if (logo) checkAddress('logo_url', logo, findings)
  if (webhook) checkAddress('webhook_url', webhook, findings)
}

function checkInputs(draft: JobDraft, baseUrl: string, findings: Findings): void {
  for (const [index, { field, address }] of draftInputs(draft).entries()) {
    const provider = draft.inputProvidersOf[index]
    if (address === undefined || provider === undefined) continue
    const parsed = parseInput(provider, address, baseUrl)
    if (parsed.kind === 'invalid') {
      const message = `${parsed.message.replace(', input has', `, ${field} has`)}; ${printableValue(address)} was given`
      findings.problem(parsed.code, field, message)
    } else if (parsed.kind === 'http' && isRedacted(address))
      findings.problem('invalid_input_address', field, `${field} ${SEND_UNREDACTED}`)
  }
}

function checkAddress(field: 'logo_url' | 'webhook_url', address: string, findings: Findings): void {
  const parsed = parseHttp(address)
  // If it were accepted, it would look like an address whose query is stored encrypted.
  if (isRedacted(address)) findings.problem('invalid_value', field, `${field} ${SEND_UNREDACTED}, or leave it out`)
  if (parsed.kind !== 'invalid') return
  const message =
    parsed.code === 'user_info_in_address'
      ? 'must not contain a user name or password'
      : 'must be an http or https address'
  findings.problem(parsed.code === 'user_info_in_address' ? parsed.code : 'invalid_value', field, `${field} ${message}`)
}

/** Decision "unknown fields": addresses with a query are stored redacted, and encrypted in full. */
function redactAddresses(draft: JobDraft): JobSecrets['addresses'] {
  const full: JobSecrets['addresses'] = {}
  const redact = (key: AddressKey, address: unknown, replace: (redacted: string) => void): void => {
    if (typeof address !== 'string' || !/^https?:\/\//i.test(address)) return
    const redacted = redactAddress(address)
    if (redacted === address) return
    full[key] = address
    replace(redacted)
  }
  for (const name of ['input', 'logo_url', 'webhook_url'] as const)
    redact(name, draft[name], (redacted) => (draft[name] = redacted))
  for (const [index, piece] of (draft.inputs ?? []).entries())
    redact(`inputs[${index}]`, piece.input, (redacted) => (piece.input = redacted))
  return full
}
