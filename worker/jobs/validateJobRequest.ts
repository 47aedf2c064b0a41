// In charge of: a request body as a job that may be made: with the preset that it names, judged by the contract.
// Not in charge of: the contract (contract/job/validateJob.ts), presets themselves (presetRoutes.ts), creating the job (createJob.ts).
import type { Preset } from '#contract/api/answers.ts'
import type { Validation } from '#contract/job/validateJob.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { builtInPreset, foldName, presetOf, withPreset } from '#contract/job/builtInPresets.ts'
import type { ProblemCode } from '#contract/job/findings.ts'
import { isMembers } from '#contract/job/fieldReader.ts'
import { showValue } from '#contract/job/redact.ts'
import { findPresetByEither } from '../db/presets.ts'
import { invalidBody } from '../http/requestError.ts'

type Accepted = Extract<Validation, { ok: true }>

/** The account's own comes first: a later version may bring a built-in one of the same name. null = there is none */
async function findNamed(env: Env, account: string, idOrName: string): Promise<Pick<Preset, 'job'> | null> {
  const row = await findPresetByEither(env.DB, account, idOrName, foldName(idOrName))
  return row ?? builtInPreset(idOrName) ?? null
}

/** @throws RequestError 400 with all problems */
export async function judgeJob(
  env: Env,
  account: string,
  body: unknown,
  context: { baseUrl: string },
): Promise<Accepted> {
  const name = presetOf(body)
  const preset = name === null ? null : await findNamed(env, account, name)
  const checked = validateJob(preset && isMembers(body) ? withPreset(preset.job, body) : body, context)
  if (name !== null && preset === null) {
    const message = `There is no preset ${showValue(name)} for this account. GET /api/v0/presets lists all of them.`
    // What the preset would have brought is not missing.
    const others = checked.ok ? [] : checked.problems.filter(({ code }) => code !== 'required')
    const code: ProblemCode = 'preset_not_found'
    throw invalidBody([{ code, field: 'preset', message }, ...others])
  }
  if (!checked.ok) throw invalidBody(checked.problems)
  return checked
}
