// In charge of: Oracle's native API and its S3-compatible API against the conformance suite; the documented examples of
// its signatures; and the mapping of its errors.
import { describe, expect, test } from 'vitest'
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { generateRsaKey } from '../../fakes/rsaKeys.ts'
import { type FakeOracleOptions, FakeOracle } from '../../fakes/oracleStorage.ts'
import { fetchFrom } from '../../fakes/fetchTransport.ts'
import { FakeS3 } from '../../fakes/s3.ts'
import type { OciStore } from '../../../worker/storage/oracle/ociClient.ts'
import { ociS3Endpoint, ociEndpoint } from '../../../worker/storage/oracle/ociAddress.ts'
import { ociSink } from '../../../worker/storage/oracle/ociSink.ts'
import { ociSource } from '../../../worker/storage/oracle/ociSource.ts'
import { ociSigner, ociSigningString } from '../../../worker/storage/oracle/ociSignature.ts'
import { ociS3Store } from '../../../worker/storage/oracle/provider.ts'
import { s3Sink } from '../../../worker/storage/s3/s3Sink.ts'
import { s3Source } from '../../../worker/storage/s3/s3Source.ts'
import { rsaSha256Signer } from '../../../worker/storage/rsaSignature.ts'
import type { Sink } from '../../../worker/storage/objectStore.ts'
import { chunked, SAMPLE_BYTES } from './conformance.ts'
import { describeConformance, errorOf, expectFound, sinkChecks, sourceChecks, type MemoryStore } from './memoryStore.ts'
import { oracleApiKey, TENANCY, USER } from './oracleKey.ts'
import { PLANTED_SINK_FAULTS } from './plantedSinkFaults.ts'
import { toBase64 } from '../../../worker/util/encoding.ts'

const bucketAddress = { namespace: 'axaxnpcrorw5', bucket: 'Films_1', region: 'eu-frankfurt-1' }

const keyPair = await generateRsaKey()
const otherKeyPair = await generateRsaKey()

const access = oracleApiKey(keyPair.pem)
const keyId = `${TENANCY}/${USER}/${access.fingerprint}`

function fakeOf(options: Partial<FakeOracleOptions> = {}): FakeOracle {
  const keys = new Map([[keyId, keyPair.publicKey]])
  const host = 'objectstorage.eu-frankfurt-1.oraclecloud.com'
  return new FakeOracle({ namespace: bucketAddress.namespace, bucket: bucketAddress.bucket, host, keys, ...options })
}

function storeOf(fake: FakeOracle, change: Partial<OciStore> = {}): OciStore {
  return { bucketAddress, sign: ociSigner(access), transport: fetchFrom(fake.handle), ...change }
}

/** For the conformance suite. */
function memoryStore(fake: FakeOracle, store: OciStore): MemoryStore {
  return {
    server: fake,
    source: (key) => ociSource(store, key),
    sink: (prefix, caching) => ociSink(store, prefix, caching),
    minPartBytes: 1024 * 1024,
  }
}

for (const [name, noBatch] of [
  ["Oracle's native API", false],
  ["Oracle's native API without batches", true],
] as const) {
  const fake = fakeOf({ noBatch })
  const store = storeOf(fake)
  describeConformance(name, memoryStore(fake, store))
  test(`${name} is left without an upload`, () => expect([...fake.uploads.keys()]).toEqual([]))
}

describe("Oracle's S3-compatible API", () => {
  const pair = {
    kind: 'pair',
    accessKey: 'a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2',
    secretKey: 'sEcReT+/key=',
  } as const
  const fake = new FakeS3({ accounts: [pair], buckets: [bucketAddress.bucket], region: bucketAddress.region })
  const store = ociS3Store(bucketAddress, pair, fake.fetch)
  describeConformance('compatible', {
    server: fake,
    root: `${bucketAddress.bucket}/`,
    source: (key) => s3Source(store, key),
    sink: (prefix, caching) => s3Sink(store, prefix, caching),
  })
  test('names itself as the others do', () => {
    expect(s3Sink(store, 'x/').location('a.ts')).toBe('oci://axaxnpcrorw5/Films_1/x/a.ts')
    expect(ociS3Endpoint(bucketAddress)).toBe(
      'https://axaxnpcrorw5.compat.objectstorage.eu-frankfurt-1.oraclecloud.com/Films_1',
    )
  })
})

test.each([
  ['us-ashburn-1', 'https://objectstorage.us-ashburn-1.oraclecloud.com'],
  ['us-gov-ashburn-1', 'https://objectstorage.us-gov-ashburn-1.oraclegovcloud.com'],
  ['uk-gov-london-1', 'https://objectstorage.uk-gov-london-1.oraclegovcloud.uk'],
  ['eu-frankfurt-2', 'https://objectstorage.eu-frankfurt-2.oraclecloud.eu'],
  ['us-future-9', 'https://objectstorage.us-future-9.oraclecloud.com'],
])('%s is at %s', (region, origin) => {
  expect(ociEndpoint({ ...bucketAddress, region })).toBe(`${origin}/n/axaxnpcrorw5/b/Films_1`)
})

describe('the examples in Oracle\'s documentation ("Request Signatures", Test Values)', () => {
  const date = 'Thu, 05 Jan 2014 21:31:40 GMT'
  const host = 'iaas.us-phoenix-1.oraclecloud.com'
  const compartment = 'ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa'
  const volume = 'ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q'
  // The documented test key has 1024 bits; WebCrypto in workerd accepts it for signing.
  const pem = `-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF
NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F
UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB
AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA
QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK
kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg
f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u
412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc
mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7
kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA
gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW
G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI
7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==
-----END RSA PRIVATE KEY-----`
  const read = readPem(pem)
  if (!read.ok) throw new Error(read.reason)
  const { key } = read
  const sign = rsaSha256Signer('oracle', key)

  test('the fingerprint of its key', () =>
    expect(key.fingerprint).toBe('73:61:a2:21:67:e0:df:be:7e:4b:93:1e:15:98:a5:b7'))

  test('GET with a query', async () => {
    const query = `availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=${compartment}&displayName=TeamXInstances&volumeId=${volume}`
    const text = ociSigningString([
      ['date', date],
      ['(request-target)', `get /20160918/instances?${query}`],
      ['host', host],
    ])
    expect(toBase64(await sign(text))).toBe(
      'GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M=',
    )
  })

  test('POST with a body', async () => {
    const body = `{
    "compartmentId": "${compartment}",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "${volume}"
}`
    const hash = toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))))
    expect(hash).toBe('V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=')
    const text = ociSigningString([
      ['date', date],
      ['(request-target)', 'post /20160918/volumeAttachments'],
      ['host', host],
      ['content-length', '316'],
      ['content-type', 'application/json'],
      ['x-content-sha256', hash],
    ])
    expect(toBase64(await sign(text))).toBe(
      'Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso=',
    )
  })

  test('the same through the signer, with the date in a header that no runtime sets', async () => {
    const access = { tenancy: TENANCY, user: USER, fingerprint: key.fingerprint, key }
    const at = new Date('2014-01-05T21:31:40Z')
    const body = new TextEncoder().encode('{}')
    const url = `https://${host}/20160918/volumeAttachments?a=b%20c`
    const headers = await ociSigner(access, () => at)({ method: 'POST', url, body, contentType: 'application/json' })
    const text = ociSigningString([
      ['x-date', 'Sun, 05 Jan 2014 21:31:40 GMT'],
      ['(request-target)', 'post /20160918/volumeAttachments?a=b%20c'],
      ['host', host],
      ['content-length', '2'],
      ['content-type', 'application/json'],
      ['x-content-sha256', 'RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='],
    ])
    expect(headers.get('x-date')).toBe('Sun, 05 Jan 2014 21:31:40 GMT')
    expect(headers.get('authorization')).toBe(
      `Signature version="1",keyId="${TENANCY}/${USER}/${key.fingerprint}",algorithm="rsa-sha256",headers="x-date (request-target) host content-length content-type x-content-sha256",signature="${toBase64(await sign(text))}"`,
    )
  })
})

describe('what Oracle refuses', () => {
  const wrong = { ...access, key: oracleApiKey(otherKeyPair.pem).key }

  test.each<[string, string, Partial<FakeOracleOptions>, Partial<OciStore>]>([
    ['another private key', 'credentials_invalid', {}, { sign: ociSigner(wrong) }],
    ['another user', 'credentials_invalid', {}, { sign: ociSigner({ ...access, user: `${USER}x` }) }],
    ['a clock of an hour ago', 'clock_skew', { now: () => Date.now() + 3_600_000 }, {}],
    ['another bucket', 'no_such_bucket', {}, { bucketAddress: { ...bucketAddress, bucket: 'other' } }],
    ['another namespace', 'no_such_bucket', {}, { bucketAddress: { ...bucketAddress, namespace: 'other' } }],
    ['another host', 'credentials_invalid', { host: 'objectstorage.us-ashburn-1.oraclecloud.com' }, {}],
    ['a user without permission', 'forbidden', { denied: ['GetObject', 'HeadObject'] }, {}],
    ['a missing object', 'not_found', {}, {}],
  ])('%s: %s', async (_, code, options, change) => {
    const error = await errorOf(ociSource(storeOf(fakeOf(options), change), 'a.mp4').stat())
    expect(error).toMatchObject({ name: 'StoreError', provider: 'oracle', code })
    for (const canary of [TENANCY, USER, access.fingerprint, 'Signature', keyPair.pem.slice(40, 80)]) {
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(canary)
    }
  })

  test.each([
    [429, 'TooManyRequests', 'unreachable'],
    [503, 'ServiceUnavailable', 'unreachable'],
    [400, 'QuotaExceeded', 'quota_exceeded'],
    [409, 'ConcurrentObjectUpdate', 'unreachable'],
    [413, 'RequestEntityTooLarge', 'too_large'],
    [400, '<script>&', 'invalid'],
  ])('%i %s of a put: %s', async (status, code, expected) => {
    const fake = fakeOf()
    fake.fault = () => ({ status, code })
    await expect(
      ociSink(storeOf(fake), '').put('a', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4'),
    ).rejects.toMatchObject({
      code: expected,
      status,
    })
  })

  test('a key of the right form whose numbers are none: no accident, and no request', async () => {
    const pkcs8 = access.key.pkcs8.slice()
    pkcs8.fill(0, pkcs8.length - 600)
    const fake = fakeOf()
    const sign = ociSigner({ ...access, key: { ...access.key, pkcs8 } })
    await expect(ociSource(storeOf(fake, { sign }), 'a').stat()).rejects.toMatchObject({
      code: 'credentials_invalid',
      transient: false,
    })
    expect(fake.log).toEqual([])
  })

  test('a part that is not the one uploaded', async () => {
    const sink = ociSink(storeOf(fakeOf()), '')
    const upload = await sink.beginUpload('a', 'video/mp4')
    const one = await sink.uploadPart('a', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
    const two = await sink.uploadPart('a', upload, 2, chunked(SAMPLE_BYTES), SAMPLE_BYTES.length)
    const swapped = [
      { n: 1, etag: two },
      { n: 2, etag: one },
    ]
    await expect(sink.completeUpload('a', upload, swapped)).rejects.toMatchObject({ code: 'invalid' })
    await expect(sink.uploadPart('b', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)).rejects.toMatchObject({
      code: 'no_such_upload',
    })
    await sink.abortUpload('a', upload)
  })

  test('the write probe leaves nothing, lists what it creates, and fails like the first write would', async () => {
    const fake = fakeOf()
    const journaled: string[] = []
    await ociSink(storeOf(fake), '').probeWrite!('dir', async (_, path) => void journaled.push(path))
    expect([fake.uploads.size, fake.objects.size, journaled]).toEqual([0, 0, ['dir/.splicepoint']])
    const refusing = ociSink(storeOf(fakeOf({ denied: ['CreateMultipartUpload'] })), '')
    await expect(refusing.probeWrite!('', async () => undefined)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('planted faults turn the suite red', () => {
  const faults: [string, (good: Sink) => Partial<Sink>][] = [
    ...PLANTED_SINK_FAULTS,
    ['deletions that are left out', () => ({ deleteMany: async () => undefined })],
  ]
  test.each(faults)('sink: %s', async (name, fault) => {
    const fake = fakeOf()
    await expectFound(name, sinkChecks(memoryStore(fake, storeOf(fake)), fault))
  })

  const sourceFaults: [string, (fake: FakeOracle) => Partial<OciStore>][] = [
    ['none', () => ({})],
    ['a wrong signature', () => ({ sign: ociSigner({ ...access, key: oracleApiKey(otherKeyPair.pem).key }) })],
    ['a read that is cut short', (fake) => ((fake.missingBytes = 1), {})],
    [
      'a query that is not signed',
      (fake) => ({ transport: (url, init) => fetchFrom(fake.handle)(`${String(url)}?x=1`, init) }),
    ],
  ]
  test.each(sourceFaults)('source: %s', async (name, fault) => {
    const fake = fakeOf()
    await expectFound(name, sourceChecks(memoryStore(fake, storeOf(fake, fault(fake)))))
  })
})
