// In charge of: errors of the command: their text and their exit code (docs/cli.md).
import type { Problem } from '#contract/errors.ts'
import { NetworkError, ServiceError } from '../client/clientErrors.ts'

export const EXIT_CODES = { ok: 0, job: 1, usage: 2, refused: 3, network: 4, interrupted: 130 } as const

/** Wrong arguments, or a file that cannot be used. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof ServiceError) return EXIT_CODES.refused
  if (error instanceof NetworkError) return EXIT_CODES.network
  if (error instanceof UsageError) return EXIT_CODES.usage
  return EXIT_CODES.job
}

/** For people: the service's message, then each problem with its field and the allowed values. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return stripControlCharacters(String(error))
  if (!(error instanceof ServiceError)) return stripControlCharacters(error.message)
  const problems = problemsOf(error)
  const lines =
    problems.length > 0
      ? problems.map(formatProblem)
      : [`${error.field === null ? '' : `${error.field}: `}${error.message}`]
  const [first = '', ...more] = lines
  const code = error.code === null ? '' : ` (${error.code})`
  const told =
    problems.length > 1
      ? [`The job has ${problems.length} problems${code}:`, ...lines.map((line) => `  ${line}`)]
      : [`${first}${code}`, ...more]
  return [...told, ...[error.advice, error.docs].flatMap((line) => (line === null ? [] : [`  ${line}`]))].join('\n')
}

/** For programs: the service's own error if there is one. */
export function errorDocument(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof ServiceError)) {
    const code = error instanceof NetworkError ? 'network' : error instanceof UsageError ? 'usage' : 'failed'
    return { error: { code, message } }
  }
  const { code, field, details, advice, docs, status } = error
  return {
    error: {
      code: code ?? 'unexpected_answer',
      message,
      ...(field === null ? {} : { field }),
      ...(details === undefined ? {} : { details }),
      ...(advice === null ? {} : { advice }),
      ...(docs === null ? {} : { docs }),
    },
    http_status: status,
  }
}

function problemsOf({ details }: ServiceError): Problem[] {
  return Array.isArray(details)
    ? (details as unknown[]).filter(
        (one): one is Problem => typeof (one as Problem | null)?.message === 'string' && 'field' in (one as object),
      )
    : []
}

function formatProblem({ field, message, allowed, minimum, maximum }: Problem): string {
  // Most messages contain the allowed values already.
  const isSaid = (value: unknown): boolean => message.includes(String(value))
  const hints = [
    ...(allowed && !allowed.every(isSaid) ? [`allowed: ${allowed.join(', ')}`] : []),
    ...(minimum === undefined || isSaid(minimum) ? [] : [`minimum: ${minimum}`]),
    ...(maximum === undefined || isSaid(maximum) ? [] : [`maximum: ${maximum}`]),
  ]
  const where = field === '' || message.includes(field) ? '' : `${field}: `
  return stripControlCharacters(`${where}${message}${hints.length > 0 ? ` [${hints.join('; ')}]` : ''}`)
}

/** Names and messages come from outside. They must not contain terminal control sequences. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, (character) =>
    character === '\n' ? '\n' : '�',
  )
}
