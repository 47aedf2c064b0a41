// In charge of: what every route knows about the request it serves.
import type { Context } from 'hono'
import type { KeyWebhook } from '../webhooks/webhookAddress.ts'
import type { UploadTokenRow } from '../db/uploadTokens.ts'
import { settings } from '../env.ts'
import { forwardedOrigin } from './forwardedOrigin.ts'

export interface AppEnv {
  Bindings: Env
  Variables: {
    /** The authenticated account. */
    account: string
    keyId: string
    scopes: string[]
    /** Of the key's jobs: higher starts first. */
    priority: number
    /** Of jobs that name nobody to be told. */
    hook: KeyWebhook | null
    /** With which a file is sent; undefined = with an API key. */
    uploadToken: UploadTokenRow | undefined
  }
}

/** Public address of the service without a slash at its end: as configured, else as the client called it, or its proxy says. */
export function publicBaseUrl(c: Context<AppEnv>): string {
  const { baseUrl: configured, trustProxy } = settings(c.env)
  if (configured !== null) return configured
  return trustProxy ? forwardedOrigin(c.req.raw.headers, c.req.url) : new URL(c.req.url).origin
}
