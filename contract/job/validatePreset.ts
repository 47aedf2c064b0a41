// In charge of: validating a saved preset: its name, its description, and that a job with it would be accepted.
// Not in charge of: built-in presets and merging (builtInPresets.ts).
import type { Problem } from '../errors.ts'
import { countCharacters } from './metadata.ts'
import { MAX_NESTING, MAX_VALUES, PRESETS } from '../limits.ts'
import { builtInPreset } from './builtInPresets.ts'
import { printableValue } from './redact.ts'
import {
  presentMember as givenIn,
  isWithinSizeLimits,
  isJsonObject,
  ownMember,
  printableName,
  type JsonObject,
} from './fieldReader.ts'
import { validateJob } from './validateJob.ts'

export interface PresetFields {
  name: string
  description: string
  job: JsonObject
}

/** Fields that differ from job to job, so a preset cannot have them. */
const FIELDS_OF_A_JOB = ['input', 'inputs', 'captions', 'cloud_credentials', 'preset'] as const
/** The form of an id. A name must not look like one. */
const ID = /^pre_/i
const NAME = new RegExp(`^${PRESETS.name_pattern}$`, 'u')

/** Reports all problems at once; those of the job have paths below `job`. */
export function validatePreset(
  body: unknown,
  context: { baseUrl: string },
): { ok: true; preset: PresetFields } | { ok: false; problems: Problem[] } {
  if (!isJsonObject(body) || !isWithinSizeLimits(body, MAX_NESTING, MAX_VALUES)) {
    const message = isJsonObject(body)
      ? `the body must not nest deeper than ${MAX_NESTING} levels, or contain more than ${MAX_VALUES} values`
      : `the body must be a JSON object; ${printableValue(body)} was given`
    return { ok: false, problems: [{ code: isJsonObject(body) ? 'too_deep' : 'invalid_type', field: '', message }] }
  }
  const problems: Problem[] = Object.keys(body)
    .filter((name) => !['name', 'description', 'job'].includes(name))
    .map((name) => ({
      code: 'unknown_field',
      field: printableName(name),
      message: `${printableName(name)} is unknown; known are name, description, job`,
    }))
  const name = readName(ownMember(body, 'name'), problems)
  const description = readDescription(givenIn(body, 'description'), problems)
  const job = ownMember(body, 'job')
  if (isJsonObject(job)) problems.push(...problemsOfJob(job, context))
  else {
    const code = job === undefined ? 'required' : 'invalid_type'
    const given = job === undefined ? '' : `; ${printableValue(job)} was given`
    problems.push({ code, field: 'job', message: `job must be an object with members of a job’s body${given}` })
  }
  if (problems.length > 0 || !isJsonObject(job)) return { ok: false, problems }
  return { ok: true, preset: { name, description, job } }
}

function readName(value: unknown, problems: Problem[]): string {
  const { name_characters: maximum } = PRESETS
  const expects = `name must be a string of 1 to ${maximum} characters on one line`
  if (typeof value !== 'string') {
    const given = value === undefined ? '' : `; ${printableValue(value)} was given`
    problems.push({ code: value === undefined ? 'required' : 'invalid_type', field: 'name', message: expects + given })
    return ''
  }
  const name = value.normalize('NFC').trim()
  if (name === '' || countCharacters(value) > maximum)
    problems.push({ code: 'invalid_length', field: 'name', message: expects, minimum: 1, maximum })
  else if (!NAME.test(value)) problems.push({ code: 'invalid_value', field: 'name', message: expects })
  else if (ID.test(name))
    problems.push({
      code: 'invalid_value',
      field: 'name',
      message: 'name must not begin with "pre_", which is reserved for ids',
    })
  else if (builtInPreset(name))
    problems.push({
      code: 'conflict',
      field: 'name',
      message: `name ${JSON.stringify(name)} belongs to a built-in preset; use another`,
    })
  return name
}

function readDescription(value: unknown, problems: Problem[]): string {
  const { description_characters: maximum } = PRESETS
  if (value === undefined) return ''
  const message = `description must be a string of at most ${maximum} characters`
  if (typeof value !== 'string') {
    problems.push({
      code: 'invalid_type',
      field: 'description',
      message: `${message}; ${printableValue(value)} was given`,
    })
    return ''
  }
  if (countCharacters(value) > maximum)
    problems.push({ code: 'invalid_length', field: 'description', message, maximum })
  // Unpaired surrogates are replaced by the replacement character; NUL is removed because SQLite's functions end a text
  // there.
  return value.toWellFormed().replaceAll('\0', '')
}

/** Validates the job as one with an upload as its source and outputs in the service's own store. */
function problemsOfJob(job: JsonObject, context: { baseUrl: string }): Problem[] {
  const below = (problem: Problem): Problem => ({
    ...problem,
    field: problem.field === '' ? 'job' : `job.${problem.field}`,
  })
  const misplaced = FIELDS_OF_A_JOB.filter((name) => Object.hasOwn(job, name)).map((name) => ({
    code: 'not_available',
    field: `job.${name}`,
    message: `a preset cannot contain ${name}; set it in each job`,
  }))
  const {
    input: _input,
    inputs: _inputs,
    captions: _captions,
    cloud_credentials: _credentials,
    preset: _preset,
    ...rest
  } = job
  const judged = validateJob({ ...rest, ...PLACEHOLDER_FIELDS }, context)
  if (!judged.ok) return [...misplaced, ...judged.problems.map(below)]
  // A job with an unknown member still runs; in a preset the mistake would repeat in every job.
  const unknown = judged.warnings
    .filter(({ code }) => code === 'unknown_field')
    .map(({ code, field = '', message }) =>
      below({ code, field, message: message.replace(/: it has no effect and [^;]*/, '') }),
    )
  const secret = Object.keys(judged.secrets.addresses).map((name) => ({
    code: 'invalid_value',
    field: `job.${name}`,
    message: `job.${name} must not have a query: presets are stored unencrypted, and a query may contain a secret; set the address in each job`,
  }))
  return [...misplaced, ...unknown, ...secret]
}

const PLACEHOLDER_FIELDS = {
  input: '1',
  cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
}
