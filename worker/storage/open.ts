// In charge of: the only switch over providers.
// Not in charge of: what a job names as its input or output, nor unsealing credentials.
import { findUpload } from '../ledger/uploads.ts'
import { httpSource } from './http.ts'
import { keyBelow } from './path.ts'
import type { Sink, Source } from './store.ts'
import { StoreError } from './store.ts'
import { guardedTransport } from './transport.ts'
import { vendorSink, vendorSource } from './vendor.ts'

export type SourceRef =
  | { provider: 'file-upload'; account: string; number: number }
  | { provider: 'http'; url: string; accessKey?: string | null; secretKey?: string | null }

export interface SinkRef {
  provider: 'vendor-store'
  account: string
  jobId: string
}

/** @throws StoreError `not_found` for an upload that is missing, unfinished, expired or another account's: one answer (I16) */
export async function openSource(env: Env, source: SourceRef): Promise<Source> {
  switch (source.provider) {
    case 'file-upload': {
      const upload = await findUpload(env.DB, source.account, source.number, Date.now())
      if (!upload) {
        throw new StoreError('not_found', source.provider, 'open', `There is no uploaded file ${source.number}.`)
      }
      return vendorSource(env.BUCKET, upload.key)
    }
    case 'http':
      return httpSource(
        source.url,
        { username: source.accessKey ?? null, password: source.secretKey ?? null },
        guardedTransport(env),
      )
  }
}

/** Prefix of a job's objects in the service's own bucket. */
export function ownPrefix(account: string, jobId: string): string {
  return `${keyBelow('out/', `${account}/${jobId}`, 'vendor-store', 'open')}/`
}

export function openSink(env: Env, sink: SinkRef): Sink {
  return vendorSink(env.BUCKET, ownPrefix(sink.account, sink.jobId))
}
