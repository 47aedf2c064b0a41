// In charge of: what lists have in common in their queries (a page, where it begins, what is searched), and refusing others.
// Not in charge of: what a list is of.
import * as z from 'zod/mini'
import { RequestError } from '../problems.ts'

const MAX_SEARCH = 200

export const limit = z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(100)), 20)
/** The number of the last entry of the page before: what was made since does not move anything from one page to the next. */
export const cursor = z.optional(z.string().check(z.regex(/^[1-9]\d{0,14}$/, 'as `next_cursor` gave it')))
export const searchText = z.optional(
  z
    .string()
    .check(
      z.trim(),
      z.minLength(1, 'at least one character'),
      z.maxLength(MAX_SEARCH, `at most ${MAX_SEARCH} characters`),
    ),
)

interface QueryResult {
  success: boolean
  error?: { issues: readonly { path: readonly PropertyKey[]; message: string; keys?: readonly string[] }[] }
}

export function refuseQuery(result: QueryResult): void {
  if (result.success) return
  const details = (result.error?.issues ?? []).map((issue) => ({
    code: 'invalid_value',
    field: issue.keys ? issue.keys.join(', ') : issue.path.join('.'),
    message: issue.message,
  }))
  throw new RequestError('invalid_request', `The query is not valid: ${details[0]?.field}: ${details[0]?.message}`, {
    details,
    ...(details[0] ? { field: details[0].field } : {}),
  })
}
