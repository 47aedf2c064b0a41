// In charge of: Cloud Storage as an S3-shaped store: its XML API, with an HMAC key or with a service account's token.
// Not in charge of: the requests (s3/), tokens (accessToken.ts).
import type { KeyPair } from '#contract/job/storeKeys/storeKey.ts'
import type { ServiceAccount } from '#contract/job/stores/gcloudCredentials.ts'
import type { XmlStore } from '../s3/s3Client.ts'
import type { Sign } from '../s3/sigV4.ts'
import { presigned, sigV4 } from '../s3/sigV4.ts'
import { StoreError } from '../objectStore.ts'
import type { Transport } from '../guardedFetch.ts'
import type { Bearer } from './accessToken.ts'
import { bearer } from './accessToken.ts'

export type GoogleKey = KeyPair | ServiceAccount

/** Any region is right: a bucket is found by its name. Google, "Signatures": "auto" stands for all of them. */
const REGION = 'auto'
const PROVIDER = 'gcloud'

export function googleStore(
  bucket: string,
  key: GoogleKey,
  transport: Transport,
  now: () => number = Date.now,
): XmlStore {
  const common = {
    provider: PROVIDER,
    // Path style: names may have dots and underscores, which no certificate or host name takes.
    place: { name: `gs://${bucket}`, base: `https://storage.googleapis.com/${bucket}`, region: REGION },
    // Google has no DeleteObjects that all its documentation knows of.
    deletesMany: false,
  }
  if (key.kind === 'pair') {
    return {
      ...common,
      sign: sigV4(key, REGION, now),
      presign: presigned(key, REGION, now),
      transport,
      members: 'access_key and secret_key',
    }
  }
  const token = bearer(key, transport, now)
  return { ...common, ...withToken(token, transport), members: 'client_email and private_key' }
}

function withToken(token: Bearer, transport: Transport): { sign: Sign; transport: Transport } {
  return {
    async sign({ headers }) {
      const sent = new Headers(headers)
      sent.set('authorization', await token.header())
      return sent
    },
    async transport(url, init) {
      const response = await transport(url, init)
      const header = new Headers(init?.headers).get('authorization') ?? ''
      const refused = response.status === 401
      if (!(await token.told(header, refused)) || !refused) return response
      await response.body?.cancel()
      const message = 'Google rejects a token that it accepted before.'
      throw new StoreError('unreachable', PROVIDER, 'token', message, response.status)
    },
  }
}
