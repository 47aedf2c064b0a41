// In charge of: errors of a query, or of a small administration body, in whole sentences.
// Not in charge of: errors in a job request (contract/job/validateJob.ts).
import type { Problem } from '#contract/errors.ts'
import { isJsonObject, ownMember, printableName } from '#contract/job/fieldReader.ts'
import { printableValue } from '#contract/job/redact.ts'
import * as z from 'zod/mini'
import { RequestError, validationFailed } from './requestError.ts'

/** `expects` completes "<name> must be …". */
export interface FieldExpectation {
  expects: string
  allowed?: readonly (string | number)[]
  minimum?: number
  maximum?: number
  /** The value may be a secret, so it is not shown. */
  hidden?: boolean
}

export type FieldExpectations = Readonly<Record<string, FieldExpectation>>

/** The fields of a schema's issue that are needed here. */
interface SchemaIssue {
  path: readonly PropertyKey[]
  keys?: readonly string[]
}

/** One problem per invalid name, in the order of the issues. */
function problemsFromIssues(
  issues: readonly SchemaIssue[],
  given: unknown,
  expectations: FieldExpectations,
): Problem[] {
  const members = isJsonObject(given) ? given : {}
  const names = Object.keys(expectations).join(', ')
  const problems = issues.flatMap(({ path, keys }): Problem[] => {
    if (keys)
      return keys.map((key) => ({
        code: 'unknown_field',
        field: printableName(key),
        message: `${printableName(key)} is unknown; known are ${names}`,
      }))
    const field = String(path[0] ?? '')
    const { expects = 'a JSON object', hidden = false, ...bounds } = expectations[field] ?? {}
    const subject = field === '' ? 'the body' : field
    const value = field === '' ? given : ownMember(members, field)
    const shown = hidden ? 'the given value is not' : `${printableValue(value)} was given`
    return [{ code: 'invalid_value', field, message: `${subject} must be ${expects}; ${shown}`, ...bounds }]
  })
  return problems.filter(({ field }, index) => problems.findIndex((one) => one.field === field) === index)
}

/** The parsed members of a body. @throws RequestError 400 with all problems */
export function parseFields<S extends z.core.$ZodType>(
  schema: S,
  given: unknown,
  expectations: FieldExpectations,
): z.output<S> {
  const parsed = z.safeParse(schema, given)
  if (parsed.success) return parsed.data
  throw validationFailed(problemsFromIssues(parsed.error.issues, given, expectations))
}

/** For zValidator('query', …). */
export function onInvalidQuery(expectations: FieldExpectations) {
  return (result: { success: boolean; data: unknown; error?: { issues: readonly SchemaIssue[] } }): void => {
    if (result.success) return
    const details = problemsFromIssues(result.error?.issues ?? [], result.data, expectations)
    const [first] = details
    throw new RequestError('invalid_request', `In the query: ${first?.message ?? 'it is not valid'}.`, {
      details,
      ...(first ? { field: first.field } : {}),
    })
  }
}
