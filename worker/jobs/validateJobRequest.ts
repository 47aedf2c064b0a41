// In charge of: validating a request body as a job, with the preset that it names.
// Not in charge of: the rules (contract/job/validateJob.ts), preset operations (presetRoutes.ts), creating the job
// (createJob.ts).
import type { Preset } from '#contract/api/answers.ts'
import { validateJob, type ValidationResult } from '#contract/job/validateJob.ts'
import { builtInPreset, normalizePresetName, presetNameOf, mergePreset } from '#contract/job/builtInPresets.ts'
import type { ProblemCode } from '#contract/job/findings.ts'
import { isJsonObject } from '#contract/job/fieldReader.ts'
import { printableValue } from '#contract/job/redact.ts'
import { findPresetByIdOrName } from '../db/presets.ts'
import { validationFailed } from '../http/requestError.ts'

type ValidJob = Extract<ValidationResult, { ok: true }>

/** The account's own preset first: a later version may add a built-in one with the same name. null = there is none */
async function findPresetByName(env: Env, account: string, idOrName: string): Promise<Pick<Preset, 'job'> | null> {
  const row = await findPresetByIdOrName(env.DB, account, idOrName, normalizePresetName(idOrName))
  return row ?? builtInPreset(idOrName) ?? null
}

/** @throws RequestError 400 with all problems */
export async function validateJobRequest(
  env: Env,
  account: string,
  body: unknown,
  context: { baseUrl: string },
): Promise<ValidJob> {
  const name = presetNameOf(body)
  const preset = name === null ? null : await findPresetByName(env, account, name)
  const checked = validateJob(preset && isJsonObject(body) ? mergePreset(preset.job, body) : body, context)
  if (name !== null && preset === null) {
    const message = `There is no preset ${printableValue(name)} for this account. GET /api/v0/presets lists all of them.`
    // A required field may be in the missing preset, so such problems are not reported.
    const others = checked.ok ? [] : checked.problems.filter(({ code }) => code !== 'required')
    const code: ProblemCode = 'preset_not_found'
    throw validationFailed([{ code, field: 'preset', message }, ...others])
  }
  if (!checked.ok) throw validationFailed(checked.problems)
  return checked
}
