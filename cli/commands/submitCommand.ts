// In charge of: `submit`: uploads the source if necessary, then creates the job.
// Not in charge of: the fields of the job (jobBody.ts), waiting for it (watchJob.ts).
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Created } from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import { PROVIDERS, providerOfScheme, rulesOf } from '#contract/job/stores/registry.ts'
import type { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { UsageError } from '../cliErrors.ts'
import { transferProgress } from '../text/progressState.ts'
import { applyJobFlags, readBody, type JobBody, type JobFlags } from './jobBody.ts'
import type { ProgressLine } from '../text/progressLine.ts'
import { formatBytes } from '../text/formatUnits.ts'

export interface SubmitFlags extends JobFlags {
  file?: string | undefined
  'idempotency-key'?: string | undefined
  'dry-run'?: boolean | undefined
  'upload-again'?: boolean | undefined
}

/** No upload has this number: a job with it is validated but never created. */
const PLACEHOLDER_UPLOAD = '999999999999999'

export interface SubmitOutput {
  /** Prints a sentence about what happens. */
  say: (text: string) => void
  line: ProgressLine
}

export async function submitCommand(
  client: Client,
  source: string | undefined,
  flags: SubmitFlags,
  notes: SubmitOutput,
): Promise<Created> {
  const document = flags.file === undefined ? null : await readBody(flags.file)
  const body = applyJobFlags(document, flags)
  if (source !== undefined) await resolveSource(client, body, source, flags, notes)
  else if (!document) throw new UsageError('The source is missing: give a file, an address, or a job with --file.')
  return client.create(asRequest(body), {
    dryRun: flags['dry-run'] === true,
    ...(flags['idempotency-key'] === undefined ? {} : { idempotencyKey: flags['idempotency-key'] }),
  })
}

/** A body from a file or from --set can contain anything. The service validates it. */
function asRequest(body: JobBody): JobRequest {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for that reason
  return body as unknown as JobRequest
}

async function resolveSource(
  client: Client,
  body: JobBody,
  source: string,
  flags: SubmitFlags,
  { say, line }: SubmitOutput,
): Promise<void> {
  const scheme = /^([a-z][a-z0-9]*):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme !== undefined) {
    const provider = providerOfScheme(scheme)
    if (provider === null) {
      const schemes = PROVIDERS.flatMap((each) => rulesOf(each).schemes).join(', ')
      throw new UsageError(`${source}: a job cannot read from ${scheme} addresses. Supported schemes: ${schemes}.`)
    }
    body['input'] = source
    setInputProvider(body, provider)
    return
  }
  const found = await stat(source).catch(() => null)
  if (!found?.isFile()) throw new UsageError(found ? `${source} is not a file.` : `There is no file ${source}.`)
  if (found.size === 0) throw new UsageError(`${source} is empty.`)
  setInputProvider(body, 'file-upload')
  await validateBeforeUpload(client, body)
  const show = transferProgress('Uploading')
  try {
    const { input, reused } = await client.upload(source, basename(source), {
      progress: (stored, size) => line.show(show(stored, size)),
      reuse: flags['upload-again'] !== true,
    })
    if (reused)
      say(
        `${source} (${formatBytes(found.size)}) is still stored from an earlier upload. Use --upload-again to upload it again.`,
      )
    body['input'] = input
  } finally {
    line.end()
  }
}

/** Validates the job before the source is uploaded, as far as possible without the source. @throws ServiceError */
async function validateBeforeUpload(client: Client, body: JobBody): Promise<void> {
  try {
    const unexpected = await client.create(asRequest({ ...body, input: PLACEHOLDER_UPLOAD }), { dryRun: true })
    await client.cancel(unexpected._auto_generated_id_)
  } catch (error) {
    if (!(error instanceof ServiceError) || !lacksOnlyUpload(error)) throw error
  }
}

function lacksOnlyUpload({ code, details }: ServiceError): boolean {
  const problems = Array.isArray(details) ? (details as Partial<Problem>[]) : []
  return code === 'invalid_request' && problems.length === 1 && problems[0]?.code === 'upload_not_found'
}

/** Credentials in the document are kept if they are for the same kind of store. */
function setInputProvider(body: JobBody, provider: string): void {
  const given = body['cloud_credentials']
  const credentials = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const input = credentials['input'] as { cloud_provider?: unknown } | undefined
  body['cloud_credentials'] = {
    ...credentials,
    input: input?.cloud_provider === provider ? input : { cloud_provider: provider },
  }
}
