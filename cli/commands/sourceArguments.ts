// In charge of: the sources on the command line of `submit`: files and addresses, with the part of each that is used.
// Not in charge of: uploading files (submitCommand.ts).
import { stat } from 'node:fs/promises'
import { CUT_TIME } from '#contract/job/cutTime.ts'
import { PROVIDERS, providerOfScheme, rulesOf, type Provider } from '#contract/job/stores/registry.ts'
import type { Credential } from '../../client/jobRequest.ts'
import { awsCredential } from '../awsEnvironment.ts'
import { UsageError } from '../cliErrors.ts'

export interface SourceArgument {
  /** Path of a file, or an address. */
  source: string
  /** Size of a file; null = the source is an address. */
  fileBytes: number | null
  provider: Provider
  cut: { start_seconds?: string; end_seconds?: string }
}

/** As in Media Fragments URI 1.0: `#t=10,150`, `#t=,150`, `#t=00:00:10.480`. */
const FRAGMENT = /^(.+)#t=([^,#]*)(?:,([^,#]*))?$/s

/** A file whose name ends like a part is the file. @throws UsageError */
export async function readSourceArgument(text: string): Promise<SourceArgument> {
  const whole = await stat(text).catch(() => null)
  const [, before, start = '', end = ''] = (whole === null ? FRAGMENT.exec(text) : null) ?? []
  if (before === undefined) return { ...(await locate(text)), cut: {} }
  for (const time of [start, end])
    if ((time !== '' && !CUT_TIME.test(time)) || start + end === '')
      throw new UsageError(
        `${text}: write the part as #t=START,END in seconds or as hh:mm:ss; one of the two may be left out.`,
      )
  const cut = { ...(start === '' ? {} : { start_seconds: start }), ...(end === '' ? {} : { end_seconds: end }) }
  return { ...(await locate(before)), cut }
}

async function locate(source: string): Promise<Omit<SourceArgument, 'cut'>> {
  const scheme = /^([a-z][a-z0-9]*):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme !== undefined) {
    const provider = providerOfScheme(scheme)
    if (provider !== null) return { source, fileBytes: null, provider }
    const schemes = PROVIDERS.flatMap((each) => rulesOf(each).schemes).join(', ')
    throw new UsageError(`${source}: a job cannot read from ${scheme} addresses. Supported schemes: ${schemes}.`)
  }
  const found = await stat(source).catch(() => null)
  if (!found?.isFile()) throw new UsageError(found ? `${source} is not a file.` : `There is no file ${source}.`)
  if (found.size === 0) throw new UsageError(`${source} is empty.`)
  return { source, fileBytes: found.size, provider: 'file-upload' }
}

/** What a job has to know of the store of a source. The keys of S3 are those of the environment. @throws UsageError */
export function sourceCredential({ source, provider }: SourceArgument, env: NodeJS.ProcessEnv): Credential {
  if (provider !== 'aws') return { cloud_provider: provider }
  const found = awsCredential(env)
  if (found !== null) return found
  throw new UsageError(
    `${source} needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_REGION, AWS_ENDPOINT_URL or AWS_SESSION_TOKEN where they apply), or give a job with cloud_credentials by --file.`,
  )
}
