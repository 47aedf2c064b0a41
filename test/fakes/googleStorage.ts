// In charge of: Google's two servers in memory: the token server, which checks signed assertions as Google does, and
// Cloud Storage's XML API, which accepts those tokens or SigV4. Checked against Google's own library by
// test/node/harness/fakeStores.test.ts.
// Not in charge of: the XML API itself, which is that of S3 (s3.ts).
import { randomUUID, type webcrypto } from 'node:crypto'
import type { FakeAnswer, FakeRequest } from './objectServer.ts'
import type { S3Account, FakeS3Options } from './s3.ts'
import { FakeS3 } from './s3.ts'

export interface GoogleAccount {
  email: string
  keyId: string
  publicKey: webcrypto.CryptoKey
}

export interface FakeGoogleOptions {
  bucket: string
  accounts: readonly GoogleAccount[]
  /** HMAC keys. */
  pairs?: S3Account[]
  now?: () => number
  /** Lifetime of a token. */
  seconds?: number
}

const SCOPES = [
  'https://www.googleapis.com/auth/devstorage.read_write',
  'https://www.googleapis.com/auth/cloud-platform',
]

export class FakeGoogle {
  readonly options: FakeGoogleOptions
  readonly store: FakeS3
  /** Issued tokens, with the expiry of each. */
  readonly tokens = new Map<string, number>()
  constructor(options: FakeGoogleOptions) {
    this.options = options
    this.store = new FakeS3({
      accounts: options.pairs ?? [],
      buckets: [options.bucket],
      region: 'auto',
      noMultiDelete: true,
      ...(options.now ? { now: options.now } : {}),
      authenticate: (request) => this.#bearer(request),
    } satisfies FakeS3Options)
  }

  readonly handle = async (request: FakeRequest): Promise<FakeAnswer> => {
    const host = request.headers.get('host')
    if (host === 'oauth2.googleapis.com' && request.method === 'POST' && request.target === '/token') {
      return this.#token(request)
    }
    if (host !== 'storage.googleapis.com') return { status: 421, headers: {}, body: '' }
    return this.store.handle(request)
  }

  get #now(): number {
    return (this.options.now ?? Date.now)()
  }

  /** null = no Bearer token; undefined = the token is unknown. */
  #bearer({ headers }: FakeRequest): S3Account | null | undefined {
    const token = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1]
    if (token === undefined) return null
    if (!((this.tokens.get(token) ?? 0) > this.#now)) return undefined
    return { accessKey: '', secretKey: '' }
  }

  async #token({ headers, body }: FakeRequest): Promise<FakeAnswer> {
    const form = new URLSearchParams(new TextDecoder().decode(body))
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const typed = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
    if (!typed || form.get('grant_type') !== grant) return refuse('unsupported_grant_type', 'Invalid grant_type')
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const header = parse(head)
    const payload = parse(claims)
    const account = this.options.accounts.find(({ email }) => email === payload['iss'])
    if (!account) return refuse('invalid_grant', 'Invalid grant: account not found')
    const text = new TextEncoder().encode(`${head}.${claims}`)
    const valid =
      header['alg'] === 'RS256' &&
      (header['kid'] === undefined || header['kid'] === account.keyId) &&
      (await crypto.subtle.verify('RSASSA-PKCS1-v1_5', account.publicKey, Buffer.from(signature, 'base64url'), text))
    if (!valid) return refuse('invalid_grant', `Invalid JWT Signature. ${form.get('assertion')}`)
    if (payload['aud'] !== 'https://oauth2.googleapis.com/token')
      return refuse('invalid_grant', 'Invalid JWT: audience')
    const [issued, ends, now] = [Number(payload['iat']), Number(payload['exp']), this.#now / 1000]
    if (!(issued <= now + 10 && issued > now - 3600 && ends > now && ends - issued <= 3600)) {
      const why =
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check iat and exp.'
      return refuse('invalid_grant', why)
    }
    const scopes = (typeof payload['scope'] === 'string' ? payload['scope'] : '').split(' ')
    if (!scopes.some((scope) => SCOPES.includes(scope))) return refuse('invalid_scope', 'Invalid OAuth scope')
    const token = `ya29.${randomUUID()}`
    const seconds = this.options.seconds ?? 3599
    this.tokens.set(token, this.#now + seconds * 1000)
    return json(200, { access_token: token, expires_in: seconds, token_type: 'Bearer' })
  }
}

function parse(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

function refuse(error: string, description: string): FakeAnswer {
  return json(400, { error, error_description: description })
}

function json(status: number, value: unknown): FakeAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
