// In charge of: the schemas of a request's problems, of warnings, and of a job's error.
// Not in charge of: the codes (errorCodes.ts, warningCodes.ts), collecting them (job/findings.ts). The service imports
// only the types: at run time it needs no schema of its answers.
import * as z from 'zod'
import { jobErrorPolicies, requestErrorStatus } from './errorCodes.ts'
import { warningCode } from './warningCodes.ts'

function codesOf<C extends string>(table: Readonly<Record<C, unknown>>) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a table that has no others
  return z.enum(Object.keys(table) as C[])
}

/** One problem of a request: a stable code, the path of the field, a sentence, and the allowed values. */
export const problem = z.object({
  code: z.string(),
  field: z.string().describe('Path in the request body, for example `videoProfiles[0].video_bitrate`.'),
  message: z.string(),
  allowed: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .readonly()
    .exactOptional(),
  minimum: z.number().exactOptional(),
  maximum: z.number().exactOptional(),
})
export type Problem = z.infer<typeof problem>

/** Something that was changed, left out or ignored, and the reason. A warning never stops a job. */
export const warning = z.object({ code: warningCode, field: z.string().optional(), message: z.string() })
export type Warning = z.infer<typeof warning>

/** The members that come with the code of every shown error (errorAdvice.ts). */
const help = {
  advice: z.string().describe('What to do about errors with this code.'),
  docs: z.string().describe('Address of the page that explains the code.'),
}

/** The reason of a job's failure, as stored and in events. */
export const jobError = z.object({
  code: codesOf(jobErrorPolicies),
  message: z.string(),
  field: z.string().exactOptional(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
})
export type JobError = z.infer<typeof jobError>

/** The same in `status.error`. */
export const statusError = jobError.extend(help)
export type StatusError = z.infer<typeof statusError>

/** The body of every answer with a status of 400 or more. */
export const errorAnswer = z.object({
  error: z.object({
    code: codesOf(requestErrorStatus),
    message: z.string(),
    field: z.string().exactOptional(),
    details: z
      .union([z.array(problem), z.record(z.string(), z.unknown())])
      .describe('For an invalid request, a list of all problems. Otherwise details that depend on the code.')
      .exactOptional(),
    ...help,
  }),
})
