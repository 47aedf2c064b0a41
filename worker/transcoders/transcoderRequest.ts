// In charge of: requests to a transcoder that is not a Cloudflare Container: its address, how the local egress lets them
// pass, the shared secret.
// Not in charge of: what is asked (scheduler/dispatch.ts, taskApi/registerTranscoder.ts, diagnosis/).
import { findTranscoderUrl } from '../db/transcoders.ts'
import { settings } from '../env.ts'

/** The address in TRANSCODER_URLS, or of the transcoder that registered for the slot. */
export async function transcoderUrl(env: Env, slot: number): Promise<string> {
  const { transcoders, transcoderUrls } = settings(env)
  const url = transcoders === 'registered' ? await findTranscoderUrl(env.DB, slot) : transcoderUrls[slot]
  if (url == null) throw new Error(`there is no transcoder ${slot}`)
  return url
}

/** With the secret: only for a transcoder that has it. */
export function postToTranscoder(env: Env, base: string, path: string, body: unknown, ms: number): Promise<Response> {
  const secret = env.TRANSCODER_SECRET
  return send(env, base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(secret ? { 'x-splicepoint-transcoder': secret } : {}) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ms),
  })
}

/** `GET /health`, without the secret. */
export function askHealth(env: Env, base: string, ms: number): Promise<Response> {
  return send(env, `${base}/health`, { signal: AbortSignal.timeout(ms) })
}

interface Init extends Omit<RequestInit, 'headers'> {
  headers?: Record<string, string>
}

/** A redirect is not followed: the secret goes to no other address. */
function send(env: Env, url: string, { headers, ...init }: Init): Promise<Response> {
  const internal: Record<string, string> = env.INTERNAL_TOKEN
    ? { 'x-splicepoint-internal': env.INTERNAL_TOKEN, 'x-egress-url': url }
    : {}
  return fetch(url, { ...init, headers: { ...headers, ...internal }, redirect: 'manual' })
}
