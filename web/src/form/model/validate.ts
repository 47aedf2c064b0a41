// In charge of: problems of a body by the rules of the service itself, in the terms of the form. Pure.
import type { Problem, Warning } from '#contract/errors.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { withInput, type FormBody } from './formBody.ts'
import { messageOf, reworded } from './messages.ts'
import { isUpload, type Source } from './sources.ts'

export interface FormErrors {
  problems: readonly Problem[]
  warnings: readonly Warning[]
}

export const providerOf = ({ cloud_credentials: { input } }: FormBody): string => String(input['cloud_provider'])

/** Problems in the terms of the form, including those that the service found. */
export const spoken = (problems: readonly Problem[], body: FormBody): Problem[] =>
  problems.map((problem) => ({ ...problem, message: messageOf(problem, providerOf(body)) }))

export function validateForm(body: FormBody, sources: readonly Source[], origin: string): FormErrors {
  // An upload in progress gets its number later: the rest is validated with a placeholder.
  const input = isUpload(body) && sources.length > 0 ? (sources[0]?.input ?? `${origin}/uploads/1`) : null
  const judged = validateJob(isUpload(body) ? withInput(body, input) : body, { baseUrl: origin })
  if (judged.ok) {
    return {
      problems: [],
      warnings: judged.warnings.map((warning) => ({ ...warning, message: reworded(warning.message) })),
    }
  }
  return { problems: spoken(judged.problems, body), warnings: [] }
}
