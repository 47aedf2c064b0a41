// In charge of: OAuth access tokens of a service account (RFC 7523: a signed assertion is exchanged for a token),
// cached until shortly before they expire.
// Not in charge of: using them (provider.ts).
import type { ServiceAccount } from '#contract/job/stores/gcloudCredentials.ts'
import { rsaSha256Signer } from '../rsaSignature.ts'
import { readBoundedJson } from '../boundedBody.ts'
import { StoreError } from '../objectStore.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { toBase64Url } from '../../util/encoding.ts'

const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write'
/** Google: "a maximum of 1 hour after the issued time". */
const ASSERTION_SECONDS = 3600
/** The assertion is dated back, because Google refuses one from a clock that is ahead. */
const SKEW_SECONDS = 60
/** A request that starts with a token must reach the store before the token expires. */
const RENEW_BEFORE_MS = 5 * 60_000
const MAX_TOKENS = 200
const MAX_ANSWER_BYTES = 16 * 1024

interface Token {
  value: string
  expiresAt: number
  /** The store has accepted it at least once. */
  wasAccepted: boolean
}

export interface AccessTokenSource {
  /**
   * → the value of an Authorization header.
   * @throws StoreError `credentials_invalid`, `forbidden`, `clock_skew` or `unreachable`
   */
  authorizationHeader(): Promise<string>
  /**
   * Reports whether the store accepted the header. A token that was refused is not used again.
   * @returns true if it had been accepted before: it was revoked, and a new one may be accepted
   */
  reportResponse(header: string, refused: boolean): Promise<boolean>
}

/**
 * Tokens of this isolate, by a digest of the account and its key, so that a wrong key never gets the token of another.
 * Only finished tokens: a pending promise would never settle for others when the request that started it is cancelled.
 */
const cachedTokens = new Map<string, Token>()

export function accessTokenSource(
  account: Omit<ServiceAccount, 'kind'>,
  transport: FetchFunction,
  now: () => number = Date.now,
): AccessTokenSource {
  const sign = rsaSha256Signer('gcloud', account.key)
  let name: Promise<string> | null = null
  return {
    async authorizationHeader() {
      const known = await (name ??= nameOf(account))
      const held = cachedTokens.get(known)
      if (held && held.expiresAt - RENEW_BEFORE_MS > now()) return headerOf(held)
      const token = await requestToken(account, sign, transport, now)
      if (cachedTokens.size >= MAX_TOKENS) cachedTokens.clear()
      cachedTokens.set(known, token)
      return headerOf(token)
    },

    async reportResponse(header, refused) {
      const known = await (name ??= nameOf(account))
      const token = cachedTokens.get(known)
      // Another token has replaced it already.
      if (!token || headerOf(token) !== header) return refused
      if (refused) cachedTokens.delete(known)
      const before = token.wasAccepted
      token.wasAccepted ||= !refused
      return before
    },
  }
}

function headerOf(token: Token): string {
  return `Bearer ${token.value}`
}

async function nameOf({ clientEmail, keyId, key }: Omit<ServiceAccount, 'kind'>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', key.pkcs8)
  return JSON.stringify([clientEmail, keyId, toBase64Url(digest)])
}

/** RFC 7519, RFC 7515 §3: the assertion, which Google calls a JWT. Times in seconds. */
export async function jwtAssertion(
  { clientEmail, keyId }: Pick<ServiceAccount, 'clientEmail' | 'keyId'>,
  sign: (text: string) => Promise<Uint8Array>,
  issuedAt: number,
): Promise<string> {
  const part = (value: object): string => toBase64Url(JSON.stringify(value))
  const header = part({ alg: 'RS256', typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) })
  const claims = { iss: clientEmail, scope: SCOPE, aud: TOKEN_URL, iat: issuedAt, exp: issuedAt + ASSERTION_SECONDS }
  const text = `${header}.${part(claims)}`
  return `${text}.${toBase64Url(await sign(text))}`
}

async function requestToken(
  account: Omit<ServiceAccount, 'kind'>,
  sign: (text: string) => Promise<Uint8Array>,
  transport: FetchFunction,
  now: () => number,
): Promise<Token> {
  const asked = now()
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await jwtAssertion(account, sign, Math.floor(asked / 1000) - SKEW_SECONDS),
  })
  const response = await transport(TOKEN_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
  })
  const answer = await readBoundedJson(response, MAX_ANSWER_BYTES)
  const { access_token: value, expires_in: seconds } = answer
  // RFC 6750 §2.1: only these characters, so that it is valid in a header.
  if (response.status === 200 && typeof value === 'string' && /^[\w.~+/-]+=*$/.test(value)) {
    return { value, expiresAt: asked + (typeof seconds === 'number' ? seconds : 0) * 1000, wasAccepted: false }
  }
  throw tokenError(response.status, answer)
}

/** RFC 6749 §5.2. Google's description repeats what was sent, so it is examined but never shown. */
function tokenError(status: number, answer: Record<string, unknown>): StoreError {
  const error = typeof answer['error'] === 'string' && /^[a-z_]{3,40}$/.test(answer['error']) ? answer['error'] : null
  const description = typeof answer['error_description'] === 'string' ? answer['error_description'] : ''
  const told = ` (${status}${error === null ? '' : ` ${error}`}).`
  const fail = (code: 'credentials_invalid' | 'forbidden' | 'clock_skew' | 'unreachable', text: string): StoreError =>
    new StoreError(code, 'gcloud', 'token', text + told, status, { providerCode: error })
  if (error === 'invalid_grant' && /timeframe|\biat\b|\bexp\b/.test(description)) {
    return fail('clock_skew', 'Google says that the clock of the service is wrong')
  }
  if (error === 'unauthorized_client' || error === 'access_denied' || error === 'invalid_scope' || status === 403) {
    return fail('forbidden', 'Google gives the account of client_email no access to Cloud Storage')
  }
  if (error === 'invalid_grant' || error === 'invalid_client' || status === 401) {
    return fail('credentials_invalid', 'Google does not accept the given private_key for client_email')
  }
  return fail('unreachable', 'Google cannot issue a token at the moment')
}
