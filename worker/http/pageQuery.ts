// In charge of: query parameters that all lists share: page size, cursor, search text.
// Not in charge of: the content of a list, errors for other parameters (validationErrors.ts).
import * as z from 'zod/mini'

const MAX_SEARCH = 200

export const pageLimit = z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(100)), 20)
/** Number of the last entry of the previous page, so that new entries do not shift the pages. */
export const pageCursor = z.optional(z.string().check(z.regex(/^[1-9]\d{0,14}$/)))
export const searchText = z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(MAX_SEARCH)))

/** Allowed values, for error messages. */
export const pageQuery = {
  limit: { expects: 'a whole number from 1 to 100', minimum: 1, maximum: 100 },
  cursor: { expects: 'the next_cursor of the previous page, or left out for the first page' },
  search: { expects: `a string of 1 to ${MAX_SEARCH} characters` },
}
