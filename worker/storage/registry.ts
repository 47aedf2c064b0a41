// In charge of: the only switch over providers.
// Not in charge of: what a job names as its input or output, nor unsealing credentials.
import type { StoreKey } from '#contract/job/storeKeys/storeKey.ts'
import { findUpload } from '../db/uploads.ts'
import { cachingOf } from './cacheControl.ts'
import type { GoogleKey } from './google/gcsStore.ts'
import { googleStore } from './google/gcsStore.ts'
import type { HttpAccess } from './http/httpSource.ts'
import { httpSource } from './http/httpSource.ts'
import { httpSink } from './http/httpSink.ts'
import type { OraclePlace } from './oracle/ociAddress.ts'
import { oracleSign } from './oracle/ociSignature.ts'
import { nativeSink } from './oracle/ociSink.ts'
import { nativeSource } from './oracle/ociSource.ts'
import { compatibleStore } from './oracle/ociS3Store.ts'
import { keyBelow } from './keyBelow.ts'
import type { XmlStore } from './s3/s3Client.ts'
import { s3Place } from './s3/bucketAddress.ts'
import type { AccessKey } from './s3/sigV4.ts'
import { presigned, sigV4 } from './s3/sigV4.ts'
import { xmlSink } from './s3/s3Sink.ts'
import { xmlSource } from './s3/s3Source.ts'
import type { Sink, Source } from './objectStore.ts'
import { StoreError } from './objectStore.ts'
import type { Transport } from './guardedFetch.ts'
import { guardedTransport } from './guardedFetch.ts'
import { vendorSink, vendorSource } from './r2/r2Store.ts'

export type SourceRef =
  | { provider: 'file-upload'; account: string; number: number }
  /** `owner`: as the address says it; another one than `account` has nothing for it. */
  | { provider: 'vendor-store'; account: string; owner: string; jobId: string; path: string }
  | { provider: 'http'; url: string; accessKey?: string | null; secretKey?: string | null }
  | { provider: 'aws'; bucket: string; key: string; access: S3Access }
  | { provider: 'oracle'; place: OraclePlace; key: string; access: OracleKey }
  | { provider: 'gcloud'; bucket: string; key: string; access: GoogleKey }

export type SinkRef =
  | { provider: 'vendor-store'; account: string; jobId: string }
  | { provider: 'aws'; bucket: string; access: S3Access }
  | { provider: 'oracle'; place: OraclePlace; access: OracleKey }
  | { provider: 'gcloud'; bucket: string; access: GoogleKey }
  /** `root`: `https://host:port`; `staged`: a name of its own for each of a job's hosts. */
  | { provider: 'http'; root: string; jobId: string; staged: string; access: HttpAccess }

export type OracleKey = Extract<StoreKey, { kind: 'pair' | 'api-key' }>

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
    case 'gcloud':
      return xmlSource(googleStore(source.bucket, source.access, storeTransport(env, source.provider)), source.key)
    case 'oracle': {
      const { place, access, key } = source
      const transport = storeTransport(env, source.provider)
      return access.kind === 'pair'
        ? xmlSource(compatibleStore(place, access, transport), key)
        : nativeSource({ place, sign: oracleSign(access), transport }, key)
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

/** `chosen`: the Cache-Control that the job wants all of its objects to have. */
export function openSink(env: Env, sink: SinkRef, chosen?: string): Sink {
  const caching = cachingOf(chosen, sink.provider === 'vendor-store')
  switch (sink.provider) {
    case 'vendor-store':
      return vendorSink(env.BUCKET, ownPrefix(sink.account, sink.jobId), caching)
    case 'aws':
      return xmlSink(s3Store(env, sink.bucket, sink.access), '', caching)
    case 'gcloud':
      return xmlSink(googleStore(sink.bucket, sink.access, storeTransport(env, sink.provider)), '', caching)
    case 'oracle': {
      const { place, access } = sink
      const transport = storeTransport(env, sink.provider)
      return access.kind === 'pair'
        ? xmlSink(compatibleStore(place, access, transport), '', caching)
        : nativeSink({ place, sign: oracleSign(access), transport }, '', caching)
    }
    case 'http': {
      const { root, access, jobId, staged: name } = sink
      // Swept with the rest of the job's intermediate space.
      const staged = `work/${jobId}/${name}/`
      return httpSink({
        root,
        access,
        caching,
        transport: guardedTransport(env, { maxRedirects: null, headersTimeoutMs: HTTP_PUT_MS, operation: 'put' }),
        staging: {
          sink: vendorSink(env.BUCKET, staged),
          open: (path) => vendorSource(env.BUCKET, staged + path),
        },
      })
    }
  }
}

/** The answer to a PUT comes after its body, which may be a film on a slow line; a stall is noticed much earlier. */
const HTTP_PUT_MS = 6 * 3600_000

/** Completing a large upload may take the store minutes. */
const S3_ANSWER_MS = 240_000

function s3Store(env: Env, bucket: string, access: S3Access): XmlStore {
  const place = s3Place(bucket, access.region, access.endpoint)
  return {
    provider: 'aws',
    place,
    sign: sigV4(access, place.region),
    presign: presigned(access, place.region),
    transport: storeTransport(env, 'aws'),
    deletesMany: true,
  }
}

/** Hands out redirects instead of following them: a signature is good for one host. */
function storeTransport(env: Env, provider: string): Transport {
  return guardedTransport(env, { provider, maxRedirects: null, headersTimeoutMs: S3_ANSWER_MS })
}
