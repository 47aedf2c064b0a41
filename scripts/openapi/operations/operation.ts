// In charge of: the form of an operation's description, and parts that descriptions of several subjects share.
// Not in charge of: the operations (one file per subject in this folder).
import type { RequestErrorCode } from '#contract/errorCodes.ts'
import type { AnswerName } from '../answerSchemas.ts'
import { schemaRef, stringSchema, type Schema } from '../schemaParts.ts'

interface Media {
  /** Media type. For a file stored under its own type, a range of types. */
  type: string
  schema: Schema
  example?: unknown
  /** For JSON: the name of its schema in answerSchemas.ts. */
  shape?: AnswerName
}

export interface Operation {
  /** Operation id for client generators: a verb and its object. */
  id: string
  /** A few words, without a full stop. */
  summary: string
  /** Whole sentences, in Markdown. */
  description: string
  /** null = no key. upload = an API key or an upload token. signed = the address itself grants access. */
  auth: 'jobs' | 'upload' | 'admin' | 'signed' | null
  query?: Record<string, Schema>
  headers?: Record<string, Schema>
  body?: { type: string; schema: Schema; example?: unknown; optional?: true }
  status: number
  /** null = no body. */
  answers: Media | null
  /** Further answers that are not errors. Without a type they have no body. */
  others?: readonly ({ status: number; description: string } & Partial<Media>)[]
  errors: readonly RequestErrorCode[]
  /** A shell command that uses BASE, KEY and other variables that it names. */
  curl: string
}

/** By method and path. Most operations answer 200. */
export type OperationTable = Record<
  string,
  Omit<Operation, 'status' | 'errors'> & Partial<Pick<Operation, 'status' | 'errors'>>
>

export const json = (shape: AnswerName, one: unknown) => ({
  type: 'application/json',
  schema: schemaRef(shape),
  example: one,
  shape,
})
/** Bytes with the media type under which they were sent or generated. */
export const bytes = { type: '*/*', schema: {} }
export const page = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  cursor: { ...stringSchema, pattern: '^[1-9][0-9]{0,14}$', description: '`next_cursor` of the previous page.' },
}
/** Conditional and range requests for a stored file (RFC 9110, 13 and 14). */
export const conditions = {
  Range: stringSchema,
  'If-Match': stringSchema,
  'If-None-Match': stringSchema,
  'If-Modified-Since': stringSchema,
  'If-Unmodified-Since': stringSchema,
  'If-Range': stringSchema,
}
export const conditional = [
  { status: 206, description: 'The requested range', ...bytes },
  { status: 304, description: 'Not modified since (If-None-Match or If-Modified-Since)' },
  { status: 412, description: 'Modified since (If-Match or If-Unmodified-Since)' },
]

export const jobs = (rest: string, options = ''): string => `curl -u "$KEY:" ${options}"$BASE/api/v0/job${rest}"`
export const body = (value: unknown): string => `--json '${JSON.stringify(value, null, 2)}' `
