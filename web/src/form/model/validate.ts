// In charge of: problems of a body by the rules of the service itself, in the terms of the form. Pure.
import type { Problem, Warning } from '#contract/errors.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { withInput, type FormBody } from './formBody.ts'
import { isJoined, joinedBody, type Joining } from './joined.ts'
import { messageOf, reworded } from './messages.ts'
import { isUpload, type Source } from './sources.ts'

export interface FormErrors {
  problems: readonly Problem[]
  warnings: readonly Warning[]
}

/** An upload in progress gets its number later: the rest is validated with a placeholder. */
function requestOf(body: FormBody, sources: readonly Source[], joining: Joining, origin: string): FormBody {
  const placeholder = `${origin}/uploads/1`
  if (isJoined(body, sources, joining)) return joinedBody(body, sources, joining, placeholder)
  const [first] = sources
  return isUpload(body) ? withInput(body, first === undefined ? null : (first.input ?? placeholder)) : body
}

export const providerOf = ({ cloud_credentials: { input } }: FormBody): string => String(input['cloud_provider'])

/** Problems in the terms of the form, including those that the service found. */
export const spoken = (problems: readonly Problem[], body: FormBody): Problem[] =>
  problems.map((problem) => ({ ...problem, message: messageOf(problem, providerOf(body)) }))

export function validateForm(body: FormBody, sources: readonly Source[], joining: Joining, origin: string): FormErrors {
  const judged = validateJob(requestOf(body, sources, joining, origin), { baseUrl: origin })
  if (judged.ok) {
    return {
      problems: [],
      warnings: judged.warnings.map((warning) => ({ ...warning, message: reworded(warning.message) })),
    }
  }
  return { problems: spoken(judged.problems, body), warnings: [] }
}
