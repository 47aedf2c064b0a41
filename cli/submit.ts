// In charge of: `submit`: the source to where the service can read it, then the job.
// Not in charge of: the fields of the job (order.ts), waiting for it (jobs.ts).
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Created } from '#contract/answers.ts'
import type { Client } from '../client/client.ts'
import { UsageError } from './failure.ts'
import { applyFlags, readBody, type Body, type OrderFlags } from './order.ts'

export interface SubmitFlags extends OrderFlags {
  file?: string | undefined
  'idempotency-key'?: string | undefined
  'dry-run'?: boolean | undefined
}

const PROVIDER_OF: Readonly<Record<string, string>> = {
  http: 'http',
  https: 'http',
  s3: 'aws',
  oci: 'oracle',
  gs: 'gcloud',
}

export interface Notes {
  /** A sentence about what happens, for people. */
  say: (text: string) => void
  uploaded: (stored: number, size: number) => void
}

export async function submit(
  client: Client,
  source: string | undefined,
  flags: SubmitFlags,
  notes: Notes,
): Promise<Created> {
  const document = flags.file === undefined ? null : await readBody(flags.file)
  const body = applyFlags(document, flags)
  if (source !== undefined) await nameSource(client, body, source, notes)
  else if (!document) throw new UsageError('Name the source: a file, an address, or a job with --file.')
  return client.create(body, {
    dryRun: flags['dry-run'] === true,
    ...(flags['idempotency-key'] === undefined ? {} : { idempotencyKey: flags['idempotency-key'] }),
  })
}

/** Everything that can be known to be wrong is said before bytes travel. */
async function nameSource(client: Client, body: Body, source: string, notes: Notes): Promise<void> {
  const scheme = /^([a-z][a-z0-9]*):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme !== undefined) {
    const provider = PROVIDER_OF[scheme]
    if (provider === undefined) throw new UsageError(`${source}: ${scheme} is no scheme that a job can read from.`)
    body['input'] = source
    giveProvider(body, provider)
    return
  }
  const found = await stat(source).catch(() => null)
  if (!found?.isFile()) throw new UsageError(found ? `${source} is not a file.` : `There is no file ${source}.`)
  if (found.size === 0) throw new UsageError(`${source} is empty.`)
  notes.say(`Uploading ${source} …`)
  body['input'] = (await client.upload(source, basename(source), { progress: notes.uploaded })).input
  giveProvider(body, 'file-upload')
}

/** Keys of a store stay, where the document has some for that kind of store. */
function giveProvider(body: Body, provider: string): void {
  const given = body['cloud_credentials']
  const credentials = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const input = credentials['input'] as { cloud_provider?: unknown } | undefined
  body['cloud_credentials'] = {
    ...credentials,
    input: input?.cloud_provider === provider ? input : { cloud_provider: provider },
  }
}
