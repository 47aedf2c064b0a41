// In charge of: `submit`: uploads the sources and caption files that are files, then creates the job.
// Not in charge of: the fields of the job (jobBody.ts), waiting for it (watchJob.ts).
import { basename } from 'node:path'
import type { Created } from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import type { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { UsageError } from '../cliErrors.ts'
import { transferProgress } from '../text/progressState.ts'
import { applyJobFlags, readBody, type JobBody, type JobFlags } from './jobBody.ts'
import { readSourceArgument, sourceCredential, type SourceArgument } from './sourceArguments.ts'
import type { ProgressLine } from '../text/progressLine.ts'
import { formatBytes } from '../text/formatUnits.ts'
import { canonicalLanguage } from '#contract/captions.ts'

export interface SubmitFlags extends JobFlags {
  file?: string | undefined
  join?: boolean | undefined
  captions?: string[] | undefined
  'burn-in'?: string | undefined
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
  sources: readonly string[],
  flags: SubmitFlags,
  notes: SubmitOutput,
): Promise<Created> {
  if (sources.length > 1 && flags.join !== true)
    throw new UsageError(
      'There are several sources: add --join to play them one after the other, or submit each alone.',
    )
  if (sources.length === 0 && flags.join === true) throw new UsageError('--join needs the sources on the command line.')
  const document = flags.file === undefined ? null : await readBody(flags.file)
  const body = applyJobFlags(document, flags)
  const captions = await Promise.all((flags.captions ?? []).map(readCaptionArgument))
  if (captions.length > 0) setCaptions(body, captions, captions.map(addressBeforeUpload))
  if (flags['burn-in'] !== undefined) body['burn_in_captions'] = readBurnInArgument(flags['burn-in'], captions)
  if (sources.length > 0) await resolveSources(client, body, sources, flags, notes)
  else if (!document) throw new UsageError('The source is missing: give a file, an address, or a job with --file.')
  else if (captions.some(({ file }) => file.fileBytes !== null)) await validateBeforeUpload(client, body)
  const captionAddresses: string[] = []
  for (const { file } of captions) captionAddresses.push(await uploadedAddress(client, file, flags, notes))
  if (captions.length > 0) setCaptions(body, captions, captionAddresses)
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

/** The sources on the command line take the place of those in the document. */
async function resolveSources(
  client: Client,
  body: JobBody,
  sources: readonly string[],
  flags: SubmitFlags,
  notes: SubmitOutput,
): Promise<void> {
  const read = await Promise.all(sources.map(readSourceArgument))
  setInputProviders(body, read, process.env)
  setInputs(
    body,
    read.map((file) => addressBeforeUpload({ file })),
    read,
  )
  if (read.some(({ fileBytes }) => fileBytes !== null)) await validateBeforeUpload(client, body)
  const addresses: string[] = []
  for (const each of read) addresses.push(await uploadedAddress(client, each, flags, notes))
  setInputs(body, addresses, read)
}

/** Replaces the captions of the document. */
function setCaptions(body: JobBody, captions: readonly CaptionArgument[], addresses: readonly string[]): void {
  body['captions'] = captions.map(({ language }, index) => ({ input: addresses[index], language }))
}

function addressBeforeUpload({ file }: { file: SourceArgument }): string {
  return file.fileBytes === null ? file.source : PLACEHOLDER_UPLOAD
}

/** One source is `input` with a cut. */
function setInputs(body: JobBody, addresses: readonly string[], read: readonly SourceArgument[]): void {
  for (const name of ['input', 'inputs']) delete body[name]
  const [first] = addresses
  if (addresses.length === 1) Object.assign(body, { input: first }, read[0]?.cut)
  else body['inputs'] = addresses.map((input, index) => ({ input, ...read[index]?.cut }))
}

/** The address of the source in a request; a file is uploaded first. */
async function uploadedAddress(
  client: Client,
  { source, fileBytes }: SourceArgument,
  flags: SubmitFlags,
  { say, line }: SubmitOutput,
): Promise<string> {
  if (fileBytes === null) return source
  const show = transferProgress('Uploading')
  try {
    const { input, reused } = await client.upload(source, basename(source), {
      progress: (stored, size) => line.show(show(stored, size)),
      reuse: flags['upload-again'] !== true,
    })
    if (reused)
      say(
        `${source} (${formatBytes(fileBytes)}) is still stored from an earlier upload. Use --upload-again to upload it again.`,
      )
    return input
  } finally {
    line.end()
  }
}

/** Validates the job before files are uploaded, as far as possible without them. @throws ServiceError */
async function validateBeforeUpload(client: Client, body: JobBody): Promise<void> {
  try {
    const unexpected = await client.create(asRequest(body), { dryRun: true })
    await client.cancel(unexpected._auto_generated_id_)
  } catch (error) {
    if (!(error instanceof ServiceError) || !lacksOnlyUploads(error)) throw error
  }
}

function lacksOnlyUploads({ code, details }: ServiceError): boolean {
  const problems = Array.isArray(details) ? (details as Partial<Problem>[]) : []
  return code === 'invalid_request' && problems.length > 0 && problems.every((each) => each.code === 'upload_not_found')
}

/**
 * Credentials in the document are kept if they are for the same kind of store.
 * @throws UsageError
 */
function setInputProviders(body: JobBody, sources: readonly SourceArgument[], env: NodeJS.ProcessEnv): void {
  const given = body['cloud_credentials']
  const {
    input,
    inputs: _listed,
    ...rest
  } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const known = input as { cloud_provider?: unknown } | undefined
  const stores = sources.map((each) => (known?.cloud_provider === each.provider ? known : sourceCredential(each, env)))
  const isOneStore = sources.every(({ provider }) => provider === sources[0]?.provider)
  body['cloud_credentials'] = { ...rest, ...(isOneStore ? { input: stores[0] } : { inputs: stores }) }
}

export interface CaptionArgument {
  language: string
  file: SourceArgument
}

/** @throws UsageError */
export async function readCaptionArgument(text: string): Promise<CaptionArgument> {
  const at = text.indexOf('=')
  const language = text.slice(0, Math.max(0, at))
  if (canonicalLanguage(language) === null || at === text.length - 1)
    throw new UsageError(`--captions ${text}: write LANGUAGE=FILE or LANGUAGE=ADDRESS, like de=film.de.srt.`)
  const file = await readSourceArgument(text.slice(at + 1))
  if (Object.keys(file.cut).length > 0)
    throw new UsageError(`--captions ${text}: a caption file has no part; it moves with that of the source.`)
  return { language, file }
}

/** @throws UsageError */
export function readBurnInArgument(
  text: string,
  captions: readonly Pick<CaptionArgument, 'language'>[],
): { captions: number } | { source_track: number } {
  if (/^\d{1,2}$/.test(text)) return { source_track: Number(text) }
  const wanted = canonicalLanguage(text)
  const position = captions.findIndex(({ language }) => wanted !== null && canonicalLanguage(language) === wanted)
  if (position >= 0) return { captions: position }
  throw new UsageError(
    `--burn-in ${text}: write the language of one of the --captions, or the number of a subtitle stream of the source.`,
  )
}
