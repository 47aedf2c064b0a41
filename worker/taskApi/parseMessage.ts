// In charge of: checking a transcoder's message against its schema.
import type * as z from 'zod/mini'
import { RequestError } from '../http/requestError.ts'

/** @throws RequestError that names the first error */
export function parseMessage<T extends z.ZodMiniType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new RequestError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}`)
  }
  return parsed.data
}
