// In charge of: the only switch over providers.
// Not in charge of: what a job names as its input or output, nor unsealing credentials.
import { findUpload } from '../ledger/uploads.ts'
import { httpSource } from './http.ts'
import { keyBelow } from './path.ts'
import type { XmlStore } from './s3/client.ts'
import { s3Place } from './s3/place.ts'
import type { AccessKey } from './s3/sign.ts'
import { sigV4 } from './s3/sign.ts'
import { xmlSink } from './s3/sink.ts'
import { xmlSource } from './s3/source.ts'
import type { Sink, Source } from './store.ts'
import { StoreError } from './store.ts'
import { guardedTransport } from './transport.ts'
import { vendorSink, vendorSource } from './vendor.ts'

export type SourceRef =
  | { provider: 'file-upload'; account: string; number: number }
  /** `owner`: as the address says it; another one than `account` has nothing for it. */
  | { provider: 'vendor-store'; account: string; owner: string; jobId: string; path: string }
  | { provider: 'http'; url: string; accessKey?: string | null; secretKey?: string | null }
  | { provider: 'aws'; bucket: string; key: string; access: S3Access }

export type SinkRef =
  | { provider: 'vendor-store'; account: string; jobId: string }
  | { provider: 'aws'; bucket: string; access: S3Access }

/** An account of Amazon's store, or with `endpoint` of another one that speaks S3. */
export interface S3Access extends AccessKey {
  /** A part of a host name; null = the usual one of the store. */
  region: string | null
  endpoint: string | null
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
    case 'vendor-store': {
      const { account, owner, jobId, path } = source
      // Another account's object looks like one that never was (I16).
      const prefix = owner === account ? ownPrefix(account, jobId) : 'none/'
      return vendorSource(env.BUCKET, keyBelow(prefix, path, source.provider, 'open'))
    }
    case 'aws':
      return xmlSource(s3Store(env, source.bucket, source.access), source.key)
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
  switch (sink.provider) {
    case 'vendor-store':
      return vendorSink(env.BUCKET, ownPrefix(sink.account, sink.jobId))
    case 'aws':
      return xmlSink(s3Store(env, sink.bucket, sink.access), '')
  }
}

/** Completing a large upload may take the store minutes. */
const S3_ANSWER_MS = 240_000

function s3Store(env: Env, bucket: string, access: S3Access): XmlStore {
  const place = s3Place(bucket, access.region, access.endpoint)
  return {
    provider: 'aws',
    place,
    sign: sigV4(access, place.region),
    transport: guardedTransport(env, { provider: 'aws', maxRedirects: null, headersTimeoutMs: S3_ANSWER_MS }),
    deletesMany: true,
  }
}
