// In charge of: Cloud Storage, with both kinds of key, against the conformance suite; the assertion for a token; and
// the mapping of Google's errors.
import { describe, expect, test } from 'vitest'
import { readGoogleKey } from '#contract/job/stores/gcloudCredentials.ts'
import { type FakeGoogleOptions, FakeGoogle } from '../../fakes/googleStorage.ts'
import { generateRsaKey } from '../../fakes/rsaKeys.ts'
import { fetchFrom } from '../../fakes/fetchTransport.ts'
import { type GoogleKey, gcsStore } from '../../../worker/storage/google/provider.ts'
import { jwtAssertion } from '../../../worker/storage/google/accessToken.ts'
import { rsaSha256Signer } from '../../../worker/storage/rsaSignature.ts'
import type { S3Store } from '../../../worker/storage/s3/s3Client.ts'
import { s3Sink } from '../../../worker/storage/s3/s3Sink.ts'
import { s3Source } from '../../../worker/storage/s3/s3Source.ts'
import type { Sink } from '../../../worker/storage/objectStore.ts'
import type { FetchFunction } from '../../../worker/storage/guardedFetch.ts'
import { SAMPLE_BYTES } from './conformance.ts'
import { describeConformance, errorOf, expectFound, sinkChecks, sourceChecks, type MemoryStore } from './memoryStore.ts'
import { PLANTED_SINK_FAULTS } from './plantedSinkFaults.ts'

const bucket = 'films.example_1'
const email = 'transcoder@project-1.iam.gserviceaccount.com'
const keyPair = await generateRsaKey()
const otherKeyPair = await generateRsaKey()
const fresh = await generateRsaKey()
const unknown = await generateRsaKey()
const spare = await generateRsaKey()
const pair = { kind: 'pair', accessKey: 'GOOG1EEXAMPLEKEY', secretKey: 'sEcReT+/key=' } as const

function accountWith(pem: string, change: object = {}): GoogleKey {
  const read = readGoogleKey({ client_email: email, private_key_id: 'kid1', private_key: pem, ...change })
  if (!read.ok) throw new Error(JSON.stringify(read))
  return read.key
}

function fakeOf(options: Partial<FakeGoogleOptions> = {}): FakeGoogle {
  return new FakeGoogle({
    bucket,
    accounts: [{ email, keyId: 'kid1', publicKey: keyPair.publicKey }],
    pairs: [pair],
    ...options,
  })
}

/** For the conformance suite. */
function memoryStore(fake: FakeGoogle, store: S3Store): MemoryStore {
  return {
    server: fake.store,
    root: `${bucket}/`,
    source: (key) => s3Source(store, key),
    sink: (prefix, caching) => s3Sink(store, prefix, caching),
  }
}

/** Counts the requests by target. */
function counted(fake: FakeGoogle): { transport: FetchFunction; requests: string[] } {
  const requests: string[] = []
  const send = fetchFrom(fake.handle)
  return { requests, transport: (url, init) => (requests.push(new URL(url).host), send(url, init)) }
}

// A different key for each, since tokens are cached per key.
for (const [name, key, publicKey] of [
  ['gcloud with an HMAC key', pair, keyPair.publicKey],
  ['gcloud with a service account', accountWith(otherKeyPair.pem), otherKeyPair.publicKey],
] as const) {
  const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey }] })
  const store = gcsStore(bucket, key, fetchFrom(fake.handle))
  describeConformance(name, memoryStore(fake, store))
  test(`${name} is left without an upload, and asks for one token at most`, () => {
    expect([...fake.store.uploads.keys()]).toEqual([])
    expect(fake.tokens.size).toBe(key.kind === 'pair' ? 0 : 1)
    expect(s3Sink(store, 'x/').location('a.ts')).toBe('gs://films.example_1/x/a.ts')
  })
}

describe('a token', () => {
  test('is one for all requests that come after it, and renewed before it ends', async () => {
    const key = await generateRsaKey()
    let now = Date.now()
    const options = { accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }], now: () => now }
    const fake = fakeOf(options)
    const { transport, requests } = counted(fake)
    const store = gcsStore(bucket, accountWith(key.pem), transport, () => now)
    fake.store.put(`${bucket}/a`, SAMPLE_BYTES)
    await s3Source(store, 'a').stat()
    await Promise.all([1, 2, 3].map(() => s3Source(store, 'a').stat()))
    // Opens the same credentials again.
    await s3Source(
      gcsStore(bucket, accountWith(key.pem), transport, () => now),
      'a',
    ).stat()
    expect(requests.filter((host) => host === 'oauth2.googleapis.com')).toHaveLength(1)
    now += 3_599_000 - 5 * 60_000 + 1000
    await s3Source(store, 'a').stat()
    await Promise.all([1, 2, 3].map(() => s3Source(store, 'a').stat()))
    expect(requests.filter((host) => host === 'oauth2.googleapis.com')).toHaveLength(2)
  })

  test('requested by a cancelled request does not block others', async () => {
    const key = await generateRsaKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    fake.store.put(`${bucket}/a`, SAMPLE_BYTES)
    const { promise: sent, resolve: requestSent } = Promise.withResolvers<void>()
    const never = gcsStore(bucket, accountWith(key.pem), () => {
      requestSent()
      return new Promise(() => undefined)
    })
    void s3Source(never, 'a').stat()
    await sent
    const store = gcsStore(bucket, accountWith(key.pem), fetchFrom(fake.handle))
    expect((await s3Source(store, 'a').stat()).size).toBe(SAMPLE_BYTES.length)
  })

  test('of another key is not used for this one', async () => {
    const key = await generateRsaKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    const transport = fetchFrom(fake.handle)
    fake.store.put(`${bucket}/a`, SAMPLE_BYTES)
    await s3Source(gcsStore(bucket, accountWith(key.pem), transport), 'a').stat()
    const wrong = s3Source(gcsStore(bucket, accountWith((await generateRsaKey()).pem), transport), 'a')
    await expect(wrong.stat()).rejects.toMatchObject({ code: 'credentials_invalid' })
  })

  test('that was accepted and is then rejected is a temporary error; one that was never accepted is permanent', async () => {
    const key = await generateRsaKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    fake.store.put(`${bucket}/a`, SAMPLE_BYTES)
    const store = gcsStore(bucket, accountWith(key.pem), fetchFrom(fake.handle))
    const source = s3Source(store, 'a')
    await source.stat()
    fake.tokens.clear()
    await expect(s3Sink(store, '').put('b', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4')).rejects.toMatchObject({
      code: 'unreachable',
    })
    expect((await source.stat()).size).toBe(SAMPLE_BYTES.length)
    const deaf = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: spare.publicKey }], seconds: -1 })
    const refused = s3Source(gcsStore(bucket, accountWith(spare.pem), fetchFrom(deaf.handle)), 'a')
    await expect(refused.stat()).rejects.toMatchObject({ code: 'credentials_invalid' })
  })

  test('that was refused is asked for again', async () => {
    const key = await generateRsaKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    const send = fetchFrom(fake.handle)
    let away = true
    const transport: FetchFunction = (url, init) =>
      away && String(url).includes('oauth2') ? Promise.resolve(new Response('', { status: 503 })) : send(url, init)
    fake.store.put(`${bucket}/a`, SAMPLE_BYTES)
    const source = s3Source(gcsStore(bucket, accountWith(key.pem), transport), 'a')
    await expect(source.stat()).rejects.toMatchObject({ code: 'unreachable' })
    away = false
    expect((await source.stat()).size).toBe(SAMPLE_BYTES.length)
  })

  test('is asked for with an assertion that says what RFC 7523 wants, under the header of RFC 7515', async () => {
    const read = readGoogleKey({ client_email: email, private_key: keyPair.pem })
    if (!read.ok || read.key.kind !== 'service-account') throw new Error('no key')
    const made = await jwtAssertion(read.key, rsaSha256Signer('gcloud', read.key.key), 1_300_815_780)
    const [head, claims, signature] = made.split('.')
    expect(head).toBe('eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9')
    expect(JSON.parse(atob(claims!.replaceAll('-', '+').replaceAll('_', '/')))).toEqual({
      iss: email,
      scope: 'https://www.googleapis.com/auth/devstorage.read_write',
      aud: 'https://oauth2.googleapis.com/token',
      iat: 1_300_815_780,
      exp: 1_300_819_380,
    })
    const bytes = Uint8Array.from(atob(signature!.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
    const text = new TextEncoder().encode(`${head}.${claims}`)
    expect(await crypto.subtle.verify('RSASSA-PKCS1-v1_5', keyPair.publicKey as CryptoKey, bytes, text)).toBe(true)
  })
})

describe('what Google refuses', () => {
  const accounts = [{ email, keyId: 'kid1', publicKey: fresh.publicKey }]
  const ahead = () => Date.now() + 7_200_000

  test.each<[string, string, Partial<FakeGoogleOptions>, GoogleKey, string?]>([
    ['another private key', 'credentials_invalid', { accounts }, accountWith(unknown.pem)],
    ['another id of the key', 'credentials_invalid', { accounts }, accountWith(fresh.pem, { private_key_id: 'kid2' })],
    ['another account', 'credentials_invalid', { accounts }, accountWith(fresh.pem, { client_email: 'b@c.example' })],
    ['a clock of two hours ago', 'clock_skew', { accounts, now: ahead }, accountWith(fresh.pem)],
    ['another secret', 'credentials_invalid', {}, { ...pair, secretKey: 'x' }],
    ['another access key', 'credentials_invalid', {}, { ...pair, accessKey: 'GOOG1OTHER' }],
    ['another bucket', 'no_such_bucket', { accounts }, accountWith(fresh.pem), 'others'],
    [
      'a missing object',
      'not_found',
      { accounts: [{ email, keyId: 'kid1', publicKey: spare.publicKey }] },
      accountWith(spare.pem),
    ],
  ])('%s: %s', async (_, code, options, key, name) => {
    const store = gcsStore(name ?? bucket, key, fetchFrom(fakeOf(options).handle))
    const error = await errorOf(s3Source(store, 'a.mp4').stat())
    expect(error).toMatchObject({ name: 'StoreError', provider: 'gcloud', code })
    const members = key.kind === 'pair' ? 'access_key and secret_key' : 'private_key'
    if (code === 'credentials_invalid') expect(error.message).toContain(members)
    for (const canary of ['ya29', 'eyJ', pair.secretKey, pair.accessKey, email, 'AWS4', fresh.pem.slice(40, 80)]) {
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(canary)
    }
  })

  test.each([
    [400, { error: 'invalid_scope' }, 'forbidden'],
    [401, { error: 'unauthorized_client' }, 'forbidden'],
    [500, { error: 'internal_failure' }, 'unreachable'],
    [429, 'slow down', 'unreachable'],
    [200, { access_token: 'a\r\nb', expires_in: 3599 }, 'unreachable'],
    [200, [], 'unreachable'],
  ])('a token: %i %j is %s', async (status, answer, code) => {
    const key = accountWith((await generateRsaKey()).pem)
    const transport: FetchFunction = async () => Response.json(answer, { status })
    await expect(s3Source(gcsStore(bucket, key, transport), 'a').stat()).rejects.toMatchObject({ code })
  })
})

describe('planted faults turn the suite red', () => {
  const faults: [string, (good: Sink) => Partial<Sink>, Partial<GoogleKey>?][] = [
    ...PLANTED_SINK_FAULTS,
    ['a wrong signature', () => ({}), { secretKey: 'wrong' }],
  ]
  test.each(faults)('sink: %s', async (name, fault, key = {}) => {
    const fake = fakeOf()
    const store = gcsStore(bucket, { ...pair, ...key } as GoogleKey, fetchFrom(fake.handle))
    await expectFound(name, sinkChecks(memoryStore(fake, store), fault))
  })

  test.each([
    ['none', 0],
    ['a read that is cut short', 1],
  ])('source: %s', async (name, missing) => {
    const fake = fakeOf()
    fake.store.alterAnswer = (operation, answer) =>
      operation === 'GetObject' && answer.body instanceof Uint8Array
        ? {
            ...answer,
            headers: { ...answer.headers, 'content-length': String(answer.body.length) },
            body: answer.body.subarray(0, answer.body.length - missing),
          }
        : answer
    const store = gcsStore(bucket, pair, fetchFrom(fake.handle))
    await expectFound(name, sourceChecks(memoryStore(fake, store)))
  })
})
