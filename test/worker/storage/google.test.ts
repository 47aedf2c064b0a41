// In charge of: Cloud Storage, with both kinds of key, against the suite of all providers; the assertion for a token; and what
// is made of Google's refusals.
import { describe, expect, test } from 'vitest'
import { readGoogleKey } from '#contract/job/stores/gcloudCredentials.ts'
import type { GoogleManner } from '../../fakes/googleStorage.ts'
import { FakeGoogle } from '../../fakes/googleStorage.ts'
import { makeKey } from '../../fakes/rsaKeys.ts'
import { transportOf } from '../../fakes/fetchTransport.ts'
import type { GoogleKey } from '../../../worker/storage/google/gcsStore.ts'
import { googleStore } from '../../../worker/storage/google/gcsStore.ts'
import { assertion } from '../../../worker/storage/google/accessToken.ts'
import { rsaSha256 } from '../../../worker/storage/rsaSignature.ts'
import { xmlSink } from '../../../worker/storage/s3/s3Sink.ts'
import { xmlSource } from '../../../worker/storage/s3/s3Source.ts'
import type { Sink, StoreError } from '../../../worker/storage/objectStore.ts'
import type { Transport } from '../../../worker/storage/guardedFetch.ts'
import { caching, describeSink, describeSource, red, sample, sinkChecks, sourceChecks } from './conformance.ts'
import { sinkFaults } from './plantedSinkFaults.ts'

const bucket = 'films.example_1'
const NAMES = 'a b+c%20d%/ü/漢字~(video=0)!*\'&?#"<>;@$,='
const email = 'transcoder@project-1.iam.gserviceaccount.com'
const mine = await makeKey()
const anothers = await makeKey()
const fresh = await makeKey()
const unknown = await makeKey()
const spare = await makeKey()
const pair = { kind: 'pair', accessKey: 'GOOG1EEXAMPLEKEY', secretKey: 'sEcReT+/key=' } as const

function accountWith(pem: string, change: object = {}): GoogleKey {
  const read = readGoogleKey({ client_email: email, private_key_id: 'kid1', private_key: pem, ...change })
  if (!read.ok) throw new Error(JSON.stringify(read))
  return read.key
}

function fakeOf(manner: Partial<GoogleManner> = {}): FakeGoogle {
  return new FakeGoogle({
    bucket,
    accounts: [{ email, keyId: 'kid1', publicKey: mine.publicKey }],
    pairs: [pair],
    ...manner,
  })
}

/** Counts what goes where. */
function counted(fake: FakeGoogle): { transport: Transport; asked: string[] } {
  const asked: string[] = []
  const send = transportOf(fake.handle)
  return { asked, transport: (url, init) => (asked.push(new URL(url).host), send(url, init)) }
}

// A key of its own for each, since tokens are kept for all that use one.
for (const [name, key, publicKey] of [
  ['gcloud with an HMAC key', pair, mine.publicKey],
  ['gcloud with a service account', accountWith(anothers.pem), anothers.publicKey],
] as const) {
  const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey }] })
  const store = googleStore(bucket, key, transportOf(fake.handle))
  let object = ''
  describeSource(name, {
    async open(bytes) {
      object = `${NAMES}/${crypto.randomUUID()}`
      fake.store.put(`${bucket}/${object}`, bytes)
      return xmlSource(store, object)
    },
    replace: async (bytes) => fake.store.put(`${bucket}/${object}`, bytes),
    missing: async () => xmlSource(store, 'nothing'),
  })
  let prefix = ''
  describeSink(name, {
    async sink() {
      prefix = `${NAMES}/${crypto.randomUUID()}/`
      return xmlSink(store, prefix, caching)
    },
    stored: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.bytes ?? null,
    contentType: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.type ?? null,
    cacheControl: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.cache ?? null,
    minPartBytes: 5 * 1024 * 1024,
  })
  test(`${name} is left without an upload, and asks for one token at most`, () => {
    expect([...fake.store.uploads.keys()]).toEqual([])
    expect(fake.tokens.size).toBe(key.kind === 'pair' ? 0 : 1)
    expect(xmlSink(store, 'x/').location('a.ts')).toBe('gs://films.example_1/x/a.ts')
  })
}

describe('a token', () => {
  test('is one for all requests that come after it, and renewed before it ends', async () => {
    const key = await makeKey()
    let now = Date.now()
    const manner = { accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }], now: () => now }
    const fake = fakeOf(manner)
    const { transport, asked } = counted(fake)
    const store = googleStore(bucket, accountWith(key.pem), transport, () => now)
    fake.store.put(`${bucket}/a`, sample)
    await xmlSource(store, 'a').stat()
    await Promise.all([1, 2, 3].map(() => xmlSource(store, 'a').stat()))
    // Another opening of the same credentials.
    await xmlSource(
      googleStore(bucket, accountWith(key.pem), transport, () => now),
      'a',
    ).stat()
    expect(asked.filter((host) => host === 'oauth2.googleapis.com')).toHaveLength(1)
    now += 3_599_000 - 5 * 60_000 + 1000
    await xmlSource(store, 'a').stat()
    await Promise.all([1, 2, 3].map(() => xmlSource(store, 'a').stat()))
    expect(asked.filter((host) => host === 'oauth2.googleapis.com')).toHaveLength(2)
  })

  test('that a cancelled request asked for keeps nobody waiting', async () => {
    const key = await makeKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    fake.store.put(`${bucket}/a`, sample)
    const { promise: asked, resolve: told } = Promise.withResolvers<void>()
    const never = googleStore(bucket, accountWith(key.pem), () => {
      told()
      return new Promise(() => undefined)
    })
    void xmlSource(never, 'a').stat()
    await asked
    const store = googleStore(bucket, accountWith(key.pem), transportOf(fake.handle))
    expect((await xmlSource(store, 'a').stat()).size).toBe(sample.length)
  })

  test('of another key is not used for this one', async () => {
    const key = await makeKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    const transport = transportOf(fake.handle)
    fake.store.put(`${bucket}/a`, sample)
    await xmlSource(googleStore(bucket, accountWith(key.pem), transport), 'a').stat()
    const wrong = xmlSource(googleStore(bucket, accountWith((await makeKey()).pem), transport), 'a')
    await expect(wrong.stat()).rejects.toMatchObject({ code: 'credentials_invalid' })
  })

  test('that was taken and is withdrawn is an accident; one that never was taken is a verdict', async () => {
    const key = await makeKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    fake.store.put(`${bucket}/a`, sample)
    const store = googleStore(bucket, accountWith(key.pem), transportOf(fake.handle))
    const source = xmlSource(store, 'a')
    await source.stat()
    fake.tokens.clear()
    await expect(xmlSink(store, '').put('b', sample, sample.length, 'video/mp4')).rejects.toMatchObject({
      code: 'unreachable',
    })
    expect((await source.stat()).size).toBe(sample.length)
    const deaf = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: spare.publicKey }], seconds: -1 })
    const refused = xmlSource(googleStore(bucket, accountWith(spare.pem), transportOf(deaf.handle)), 'a')
    await expect(refused.stat()).rejects.toMatchObject({ code: 'credentials_invalid' })
  })

  test('that was refused is asked for again', async () => {
    const key = await makeKey()
    const fake = fakeOf({ accounts: [{ email, keyId: 'kid1', publicKey: key.publicKey }] })
    const send = transportOf(fake.handle)
    let away = true
    const transport: Transport = (url, init) =>
      away && String(url).includes('oauth2') ? Promise.resolve(new Response('', { status: 503 })) : send(url, init)
    fake.store.put(`${bucket}/a`, sample)
    const source = xmlSource(googleStore(bucket, accountWith(key.pem), transport), 'a')
    await expect(source.stat()).rejects.toMatchObject({ code: 'unreachable' })
    away = false
    expect((await source.stat()).size).toBe(sample.length)
  })

  test('is asked for with an assertion that says what RFC 7523 wants, under the header of RFC 7515', async () => {
    const read = readGoogleKey({ client_email: email, private_key: mine.pem })
    if (!read.ok || read.key.kind !== 'service-account') throw new Error('no key')
    const made = await assertion(read.key, rsaSha256('gcloud', read.key.key), 1_300_815_780)
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
    expect(await crypto.subtle.verify('RSASSA-PKCS1-v1_5', mine.publicKey as CryptoKey, bytes, text)).toBe(true)
  })
})

describe('what Google refuses', () => {
  async function refusal(manner: Partial<GoogleManner>, key: GoogleKey, name = bucket): Promise<StoreError> {
    const store = googleStore(name, key, transportOf(fakeOf(manner).handle))
    return xmlSource(store, 'a.mp4')
      .stat()
      .then(
        () => Promise.reject(new Error('it was taken')),
        (error: StoreError) => error,
      )
  }
  const accounts = [{ email, keyId: 'kid1', publicKey: fresh.publicKey }]
  const ahead = () => Date.now() + 7_200_000

  test.each<[string, string, Partial<GoogleManner>, GoogleKey, string?]>([
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
  ])('%s: %s', async (_, code, manner, key, name) => {
    const error = await refusal(manner, key, name)
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
    const key = accountWith((await makeKey()).pem)
    const transport: Transport = async () => Response.json(answer, { status })
    await expect(xmlSource(googleStore(bucket, key, transport), 'a').stat()).rejects.toMatchObject({ code })
  })
})

describe('planted faults turn the suite red', () => {
  const faults: [string, (good: Sink) => Partial<Sink>, Partial<GoogleKey>?][] = [
    ...sinkFaults,
    ['a wrong signature', () => ({}), { secretKey: 'wrong' }],
  ]
  test.each(faults)('sink: %s', async (name, fault, key = {}) => {
    const fake = fakeOf()
    const store = googleStore(bucket, { ...pair, ...key } as GoogleKey, transportOf(fake.handle))
    let prefix = ''
    const failed = await red(
      sinkChecks({
        async sink() {
          prefix = `${crypto.randomUUID()}/`
          const good = xmlSink(store, prefix, caching)
          return { ...good, ...fault(good) }
        },
        stored: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.bytes ?? null,
        contentType: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.type ?? null,
        cacheControl: async (path) => fake.store.objects.get(`${bucket}/${prefix}${path}`)?.cache ?? null,
        minPartBytes: 5 * 1024 * 1024,
      }),
    )
    expect([name, failed.length > 0]).toEqual([name, name !== 'none'])
  })

  test.each([
    ['none', 0],
    ['a read that is cut short', 1],
  ])('source: %s', async (name, missing) => {
    const fake = fakeOf()
    fake.store.spoil = (operation, answer) =>
      operation === 'GetObject' && answer.body instanceof Uint8Array
        ? {
            ...answer,
            headers: { ...answer.headers, 'content-length': String(answer.body.length) },
            body: answer.body.subarray(0, answer.body.length - missing),
          }
        : answer
    const store = googleStore(bucket, pair, transportOf(fake.handle))
    const failed = await red(
      sourceChecks({
        async open(bytes) {
          fake.store.put(`${bucket}/k`, bytes)
          return xmlSource(store, 'k')
        },
        replace: async (bytes) => fake.store.put(`${bucket}/k`, bytes),
        missing: async () => xmlSource(store, 'nothing'),
      }),
    )
    expect([name, failed.length > 0]).toEqual([name, missing > 0])
  })
})
