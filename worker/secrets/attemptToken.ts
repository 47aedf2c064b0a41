// In charge of: attempt tokens, which give access to the task API for one attempt until they expire.
// Not in charge of: whether that attempt is still the current one (monitor/jobMonitor.ts, D1).
import { hmacSign, hmacVerify } from './hmac.ts'

/** Longer than any attempt may take (taskApi/taskRoutes.ts, MAX_ATTEMPT_MS). */
const TOKEN_TTL_MS = 13 * 3600_000

/** `<attempt>.<expiry in ms>.<HMAC>`; proves only the task and the attempt. */
export async function createAttemptToken(env: Env, task: string, attempt: number): Promise<string> {
  const expiry = Date.now() + TOKEN_TTL_MS
  return `${attempt}.${expiry}.${await hmacSign(env, 'attempt', `${task}|${attempt}|${expiry}`)}`
}

/** @returns the attempt's number, or null for a token that is forged, expired or for another task */
export async function verifyAttemptToken(env: Env, task: string, token: string): Promise<number | null> {
  const [, attempt, expiry, signature] = /^([1-9]\d{0,8})\.(\d{1,15})\.([\w-]{43})$/.exec(token) ?? []
  if (!attempt || !expiry || !signature) return null
  if (Number(expiry) < Date.now()) return null
  return (await hmacVerify(env, 'attempt', `${task}|${attempt}|${expiry}`, signature)) ? Number(attempt) : null
}
