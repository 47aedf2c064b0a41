// In charge of: opening Google Cloud Storage for a job.
// Not in charge of: tokens (accessToken.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { GoogleAddress } from '#contract/job/stores/gcloud.ts'
import { openGoogleKey, type ServiceAccount } from '#contract/job/stores/gcloudCredentials.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { requireKey, requireRoot, type StoreProvider } from '../provider.ts'
import type { S3Store } from '../s3/s3Client.ts'
import { s3Sink } from '../s3/s3Sink.ts'
import { s3Source } from '../s3/s3Source.ts'
import { storeTransport, type FetchFunction } from '../guardedFetch.ts'
import type { KeyPair } from '#contract/job/storeKeys/storeKey.ts'
import { sigV4Presigner, sigV4Signer, type RequestSigner } from '../s3/sigV4.ts'
import { StoreError } from '../objectStore.ts'
import { accessTokenSource, type AccessTokenSource } from './accessToken.ts'

export type GoogleKey = KeyPair | ServiceAccount

/** Buckets are found by name, in any region. Google, "Signatures": "auto" stands for all regions. */
const REGION = 'auto'
const PROVIDER = 'gcloud'

export function gcsStore(
  bucket: string,
  key: GoogleKey,
  transport: FetchFunction,
  now: () => number = Date.now,
): S3Store {
  const common = {
    provider: PROVIDER,
    // Path style: bucket names may have dots and underscores, which certificates or host names do not allow.
    bucketAddress: { name: `gs://${bucket}`, base: `https://storage.googleapis.com/${bucket}`, region: REGION },
    // Google documents DeleteObjects only in part.
    supportsDeleteObjects: false,
  }
  if (key.kind === 'pair') {
    return {
      ...common,
      sign: sigV4Signer(key, REGION, now),
      presign: sigV4Presigner(key, REGION, now),
      transport,
      credentialNames: 'access_key and secret_key',
    }
  }
  const token = accessTokenSource(key, transport, now)
  return { ...common, ...bearerSigner(token, transport), credentialNames: 'client_email and private_key' }
}

function bearerSigner(
  token: AccessTokenSource,
  transport: FetchFunction,
): { sign: RequestSigner; transport: FetchFunction } {
  return {
    async sign({ headers }) {
      const sent = new Headers(headers)
      sent.set('authorization', await token.authorizationHeader())
      return sent
    },
    async transport(url, init) {
      const response = await transport(url, init)
      const header = new Headers(init?.headers).get('authorization') ?? ''
      const refused = response.status === 401
      if (!(await token.reportResponse(header, refused)) || !refused) return response
      await response.body?.cancel()
      const message = 'Google rejects a token that it accepted before.'
      throw new StoreError('unreachable', PROVIDER, 'token', message, response.status)
    },
  }
}

export const googleProvider: StoreProvider<GoogleAddress> = {
  openSource: (env, { address, credentials }) => s3Source(storeOf(env, address, credentials), address.key),
  openSink(env, request) {
    const { address } = requireRoot(request, 'gcloud')
    return s3Sink(storeOf(env, address, request.credentials), '', cacheControlOf(request.cacheControl, false))
  },
}

function storeOf(env: Env, { bucket }: GoogleAddress, credentials: Partial<Credentials>): S3Store {
  return gcsStore(bucket, requireKey(openGoogleKey(credentials), 'gcloud'), storeTransport(env, 'gcloud'))
}
