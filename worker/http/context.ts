// In charge of: the variables that every route can read from its context.
import type { Context } from 'hono'
import type { KeyWebhook } from '../db/apiKeys.ts'
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
    /** Priority of the key's jobs: higher starts first. */
    priority: number
    /** For jobs without a webhook_url of their own. */
    keyWebhook: KeyWebhook | null
    /** The token that sends a file; undefined = an API key does. */
    uploadToken: UploadTokenRow | undefined
  }
}

/**
 * Public address of the service without a trailing slash: from the settings, else from the proxy's headers
 * (TRUST_PROXY) or the request.
 */
export function publicBaseUrl(c: Context<AppEnv>): string {
  const { baseUrl: configured, trustProxy } = settings(c.env)
  if (configured !== null) return configured
  return trustProxy ? forwardedOrigin(c.req.raw.headers, c.req.url) : new URL(c.req.url).origin
}
