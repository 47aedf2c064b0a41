// In charge of: the smallest valid request, and validating a variation of it.
import { expect } from 'vitest'
import type { JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import type { Problem, Warning } from '#contract/errors.ts'

export const BASE_URL = 'https://api.example.test'

type Json = Record<string, unknown>

/** The canonical sample: only `cloud_credentials.input`, an empty `output`, numbers where the table says string. */
export function request(changes: Json = {}, video: Json = {}, audio: Json = {}): Json {
  return {
    input: `${BASE_URL}/uploads/12`,
    videoProfiles: [
      { output: '', width: 1920, height: 1080, video_bitrate_mode: 'cbr', video_bitrate: 2400, ...video },
    ],
    audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 256, source_stream: 1, ...audio }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    ...changes,
  }
}

export function expectAccepted(body: unknown): { config: JobConfig; secrets: JobSecrets; warnings: Warning[] } {
  const result = validateJob(body, { baseUrl: BASE_URL })
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)}`)
  return result
}

export function expectRefused(body: unknown): Problem[] {
  const result = validateJob(body, { baseUrl: BASE_URL })
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.config)}`)
  return result.problems
}

/** `code field` of every problem or warning. */
export function fieldsAndCodes(found: (Problem | Warning)[]): string[] {
  return found.map((each) => `${each.code} ${each.field}`)
}

/** The sentence is prescribed by specification 7.1: it names neither the field nor the other bound. */
const PRESCRIBED = /^bitrate for this profile and codec should be at (least|most) \d+$/

/** The message alone must be enough to fix the request: it names the field and each allowed value, or the bounds. */
export function expectExplained(problem: Problem): void {
  const { message, field, allowed = [], minimum, maximum } = problem
  if (PRESCRIBED.test(message)) return
  expect(message).toContain(
    field
      .split('.')
      .at(-1)!
      .replace(/\[\d+\]$/, ''),
  )
  for (const value of allowed) expect(message).toContain(String(value))
  if (minimum !== undefined) expect(message).toContain(String(minimum))
  if (maximum !== undefined) expect(message).toContain(String(maximum))
  expect(message.length).toBeLessThan(500)
}
