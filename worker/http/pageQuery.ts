// In charge of: what lists have in common in their queries: a page, where it begins, what is searched.
// Not in charge of: what a list is of, refusing other queries (validationErrors.ts).
import * as z from 'zod/mini'

const MAX_SEARCH = 200

export const pageLimit = z._default(z.coerce.number().check(z.int(), z.gte(1), z.lte(100)), 20)
/** The number of the last entry of the page before: what was made since does not move anything from one page to the next. */
export const pageCursor = z.optional(z.string().check(z.regex(/^[1-9]\d{0,14}$/)))
export const searchText = z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(MAX_SEARCH)))

/** What the first two must be, for messages. */
export const pageQuery = {
  limit: { expects: 'a whole number from 1 to 100', minimum: 1, maximum: 100 },
  cursor: { expects: 'the next_cursor of the previous page, or left out for the first page' },
}
