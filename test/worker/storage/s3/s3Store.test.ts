// In charge of: S3 against the conformance suite, on our own strict server and, if available, on a real one; and the
// mapping of its errors.
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { FakeS3Options } from '../../../fakes/s3.ts'
import { FakeS3 } from '../../../fakes/s3.ts'
import type { S3Store } from '../../../../worker/storage/s3/s3Client.ts'
import { objectUrl, s3BucketAddress } from '../../../../worker/storage/s3/bucketAddress.ts'
import { sigV4Signer } from '../../../../worker/storage/s3/sigV4.ts'
import { s3Sink } from '../../../../worker/storage/s3/s3Sink.ts'
import { s3Source } from '../../../../worker/storage/s3/s3Source.ts'
import type { Sink, StoreError } from '../../../../worker/storage/objectStore.ts'
import type { FetchFunction } from '../../../../worker/storage/guardedFetch.ts'
import { guardedTransport } from '../../../../worker/storage/guardedFetch.ts'
import { realFetch } from '../../support/setup.ts'
import { caching, describeSinkConformance, describeSourceConformance, chunked, SAMPLE_BYTES } from '../conformance.ts'
import {
  describeConformance,
  DIRECTORY,
  expectFound,
  sinkChecks,
  sourceChecks,
  type MemoryStore,
} from '../memoryStore.ts'

const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const MIN_PART = 5 * 1024 * 1024

function storeOf(
  transport: FetchFunction,
  change: { bucket?: string; region?: string; endpoint?: string | null } = {},
): S3Store {
  const bucketAddress = s3BucketAddress(change.bucket ?? 'films', change.region ?? null, change.endpoint ?? null)
  return {
    provider: 'aws',
    bucketAddress,
    sign: sigV4Signer(keys, bucketAddress.region),
    transport,
    supportsDeleteObjects: true,
  }
}

/** For the conformance suite. */
function memoryStore(fake: FakeS3, store: S3Store, bucket = 'films'): MemoryStore {
  return {
    server: fake,
    root: `${bucket}/`,
    source: (key) => s3Source(store, key),
    sink: (prefix, caching) => s3Sink(store, prefix, caching),
  }
}

const variants: [string, Partial<FakeS3Options>, { bucket?: string; region?: string; endpoint?: string }][] = [
  ['S3 by virtual hosts', { region: 'eu-west-1' }, { region: 'eu-west-1' }],
  ['S3 with dots in the name of a bucket', {}, { bucket: 'films.example.com' }],
  [
    'S3 behind an endpoint with a path, strict about parts',
    { equalParts: true },
    { endpoint: 'https://s3.example.com' },
  ],
  ['Ceph RGW', { rgw: true }, { endpoint: 'https://rgw.example.com' }],
]
for (const [name, options, change] of variants) {
  const fake = new FakeS3({ accounts: [keys], buckets: ['films', 'films.example.com'], ...options })
  const store = storeOf(fake.fetch, change)
  const bucket = change.bucket ?? 'films'
  describeConformance(name, memoryStore(fake, store, bucket))
  test(`${name} leaves no upload`, () => expect([...fake.uploads.keys()]).toHaveLength(0))
}

const [address, region, accessKey, secretKey] = env.S3_SERVER.split(' ')
function onReal(): void {
  const bucketAddress = s3BucketAddress('films', region ?? null, address ?? '')
  const real: S3Store = {
    provider: 'aws',
    bucketAddress,
    sign: sigV4Signer({ accessKey: accessKey ?? '', secretKey: secretKey ?? '' }, bucketAddress.region),
    transport: guardedTransport(
      { ...env, ALLOW_PRIVATE_HOSTS: URL.parse(address ?? '')?.host ?? '' },
      { maxRedirects: null, fetch: realFetch },
    ),
    supportsDeleteObjects: true,
  }
  const made = (async () => {
    if (!address) return
    const headers = await real.sign({ method: 'PUT', url: bucketAddress.base, headers: new Headers(), bodyHash: null })
    const response = await realFetch(bucketAddress.base, { method: 'PUT', headers })
    await response.body?.cancel()
  })()
  let key = ''
  const put = async (bytes: Uint8Array) => void (await s3Sink(real, '').put(key, bytes, bytes.length, 'video/mp4'))
  describeSourceConformance('a real server', {
    async open(bytes) {
      await made
      key = `${DIRECTORY}/${crypto.randomUUID()}`
      await put(bytes)
      return s3Source(real, key)
    },
    replace: put,
    missing: async () => s3Source(real, 'nothing'),
  })
  let prefix = ''
  describeSinkConformance('a real server', {
    async sink() {
      await made
      prefix = `${DIRECTORY}/${crypto.randomUUID()}/`
      return s3Sink(real, prefix, caching)
    },
    async stored(path) {
      const read = await s3Source(real, prefix + path)
        .read(null)
        .catch((error: StoreError) => {
          if (error.code === 'not_found') return null
          throw error
        })
      return read && new Uint8Array(await new Response(read.body).arrayBuffer())
    },
    contentType: async (path) => (await s3Source(real, prefix + path).stat()).contentType,
    async cacheControl(path) {
      const url = objectUrl(bucketAddress, prefix + path)
      const headers = await real.sign({ method: 'HEAD', url, headers: new Headers(), bodyHash: null })
      return (await realFetch(url, { method: 'HEAD', headers })).headers.get('cache-control')
    },
    minPartBytes: MIN_PART,
    // It takes some 25 ms for each on a quiet machine.
    deletedAtOnce: 100,
  })
}
// 'none': there is none to be had, which is not a test that was skipped.
// oxlint-disable-next-line vitest/no-conditional-tests -- for that reason
if (env.S3_SERVER !== 'none')
  describe.skipIf(!address)('a real server', () => {
    onReal()
  })

/** Every store operation of a job, each once. */
async function tryAll(store: S3Store): Promise<Record<string, unknown>> {
  const sink = s3Sink(store, '')
  const source = s3Source(store, 'in.mp4')
  const errorOf = async (call: () => Promise<unknown>) =>
    call().then(
      () => null,
      (error: unknown) => error,
    )
  return {
    stat: await errorOf(() => source.stat()),
    read: await errorOf(() => source.read({ offset: 0, length: 10 })),
    put: await errorOf(() => sink.put('a', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4')),
    stream: await errorOf(() => sink.put('a', chunked(SAMPLE_BYTES), SAMPLE_BYTES.length, 'video/mp4')),
    probe: await errorOf(() => sink.probeWrite!('dir', async () => undefined)),
    begin: await errorOf(() => sink.beginUpload('a', 'video/mp4')),
    part: await errorOf(() => sink.uploadPart('a', 'u', 1, SAMPLE_BYTES, SAMPLE_BYTES.length)),
    complete: await errorOf(() => sink.completeUpload('a', 'u', [{ n: 1, etag: '"x"' }])),
    delete: await errorOf(() => sink.delete('a')),
    deleteMany: await errorOf(() => sink.deleteMany(['a'])),
  }
}

describe('an error is reported by kind, with the provider’s code and no secret', () => {
  const good = { ...keys }
  const token = 'FwoGZXIvYXdzEBYaDTokenCanary'
  const rows: [
    string,
    Partial<FakeS3Options>,
    Partial<typeof keys> & { sessionToken?: string; bucket?: string },
    string,
    string,
  ][] = [
    [
      'a wrong secret',
      { accounts: [good] },
      { secretKey: 'wrong-secret-canary' },
      'credentials_invalid',
      'SignatureDoesNotMatch',
    ],
    [
      'a wrong access key',
      { accounts: [good] },
      { accessKey: 'AKIAIOSFODNN7CANARYX' },
      'credentials_invalid',
      'InvalidAccessKeyId',
    ],
    [
      'an expired token',
      { accounts: [{ ...good, token, expired: true }] },
      { sessionToken: token },
      'credentials_expired',
      'ExpiredToken',
    ],
    [
      'a wrong token',
      { accounts: [{ ...good, token: 'other' }] },
      { sessionToken: token },
      'credentials_invalid',
      'InvalidToken',
    ],
    ['no such bucket', { accounts: [good] }, { bucket: 'elsewhere' }, 'no_such_bucket', 'NoSuchBucket'],
    [
      'another region',
      { accounts: [good], region: 'ap-southeast-2' },
      {},
      'wrong_region',
      'AuthorizationHeaderMalformed',
    ],
    [
      'a wrong clock',
      { accounts: [good], now: () => Date.now() + 3_600_000 },
      {},
      'clock_skew',
      'RequestTimeTooSkewed',
    ],
  ]
  test.each(rows)('%s', async (_, options, change, code, providerCode) => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [], ...options })
    const { bucket, ...access } = change
    const bucketAddress = s3BucketAddress(bucket ?? 'films', null, null)
    const used = { ...keys, ...access }
    const store = { ...storeOf(fake.fetch), bucketAddress, sign: sigV4Signer(used, bucketAddress.region) }
    for (const [operation, error] of Object.entries(await tryAll(store))) {
      // A missing object need not be deleted.
      if (operation === 'delete' && code === 'no_such_bucket') continue
      expect({ operation, error }).toMatchObject({ error: { code, providerCode, provider: 'aws' } })
      const { message, ...rest } = error as StoreError
      const text = JSON.stringify([message, rest])
      for (const secret of [used.accessKey, used.secretKey, token, 'Credential=']) expect(text).not.toContain(secret)
    }
    expect(fake.uploads.size).toBe(0)
    expect(fake.objects.size).toBe(0)
  })

  test('another region names the right one', async () => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys], region: 'ap-southeast-2' })
    await expect(s3Source(storeOf(fake.fetch), 'a').stat()).rejects.toThrow('set region to "ap-southeast-2"')
  })

  test('a read-only key is found by the write probe, which leaves nothing', async () => {
    const denied = ['PutObject', 'CreateMultipartUpload', 'UploadPart']
    const fake = new FakeS3({ buckets: ['films'], accounts: [{ ...keys, denied }] })
    fake.put('films/in.mp4', SAMPLE_BYTES)
    const { stat, read, probe } = await tryAll(storeOf(fake.fetch))
    expect([stat, read]).toEqual([null, null])
    expect(probe).toMatchObject({ code: 'forbidden', status: 403, providerCode: 'AccessDenied', transient: false })
  })

  test('a quota', async () => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys], quota: 10 })
    const { put } = await tryAll(storeOf(fake.fetch))
    expect(put).toMatchObject({ code: 'quota_exceeded', status: 403, providerCode: 'QuotaExceeded' })
  })

  test.each([
    [500, 'InternalError', {}, null],
    [503, 'SlowDown', { 'retry-after': '7' }, 7000],
    [429, 'TooManyRequests', {}, null],
    [400, 'RequestTimeout', {}, null],
    [502, 'x9-not-a-code', {}, null],
  ])('%i %s may pass', async (status, code, headers, retryAfterMs) => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys] })
    fake.fault = () => ({ status, code, headers })
    for (const error of Object.values(await tryAll(storeOf(fake.fetch)))) {
      expect(error).toMatchObject({ code: 'unreachable', transient: true, status, retryAfterMs })
    }
  })

  test('an error inside a 200 response is an error, and a truncated response is a temporary one', async () => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys] })
    const sink = s3Sink(storeOf(fake.fetch), '')
    const answers = ['<Error><Code>InternalError</Code></Error>', '<CompleteMultipart', '', '<html>']
    for (const body of answers) {
      const upload = await sink.beginUpload('a', 'video/mp4')
      const etag = await sink.uploadPart('a', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
      fake.alterAnswer = (operation, answer) => (operation === 'CompleteMultipartUpload' ? { ...answer, body } : answer)
      await expect(sink.completeUpload('a', upload, [{ n: 1, etag }])).rejects.toMatchObject({ transient: true })
    }
  })

  test('an abort that a part overtakes is repeated', async () => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys] })
    const sink = s3Sink(storeOf(fake.fetch), '')
    const upload = await sink.beginUpload('a', 'video/mp4')
    const before = fake.uploads.get(upload)!
    let late = 1
    fake.alterAnswer = (operation, answer) => {
      if (operation === 'AbortMultipartUpload' && late-- > 0) fake.uploads.set(upload, before)
      return answer
    }
    await sink.abortUpload('a', upload)
    expect(fake.uploads.size).toBe(0)
  })

  test('an answer is read no further than it can be needed, and a refusal of 1000 long keys is', async () => {
    let read = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          read += 4096
          if (read < 2 ** 20) controller.enqueue(new Uint8Array(4096).fill(0x20))
          else controller.close()
        },
      })
    const readOf = async (status: number, call: (sink: Sink) => Promise<unknown>) => {
      read = 0
      await expect(
        call(
          s3Sink(
            storeOf(async () => new Response(endless(), { status })),
            '',
          ),
        ),
      ).rejects.toThrow('films')
      return read
    }
    const reads = [
      await readOf(403, (sink) => sink.delete('a')),
      await readOf(200, (sink) => sink.beginUpload('a', 'video/mp4')),
      await readOf(200, (sink) => sink.completeUpload('a', 'u', [{ n: 1, etag: '"x"' }])),
      await readOf(200, (sink) => sink.deleteMany(['a'])),
    ]
    expect(Math.max(...reads)).toBeLessThan(2 ** 16)
    const keys = Array.from({ length: 1000 }, (_, at) => '&'.repeat(1020) + String(at).padStart(4, '0'))
    const refusals = keys
      .map((key) => `<Error><Key>${key.replaceAll('&', '&amp;')}</Key><Code>InternalError</Code></Error>`)
      .join('')
    const answer = async () => new Response(`<DeleteResult>${refusals}</DeleteResult>`)
    await expect(s3Sink(storeOf(answer), '').deleteMany(keys)).rejects.toMatchObject({ providerCode: 'InternalError' })
  })

  test('a store without a deletion of many is asked for each', async () => {
    const fake = new FakeS3({ buckets: ['films'], accounts: [keys], noMultiDelete: true })
    for (const name of ['a', 'b', 'c']) fake.put(`films/${name}`, SAMPLE_BYTES)
    await s3Sink({ ...storeOf(fake.fetch), supportsDeleteObjects: false }, '').deleteMany(['a', 'b'])
    expect([...fake.objects.keys()]).toEqual(['films/c'])
  })

  test('a redirect is an answer: nothing signed goes elsewhere', async () => {
    const hosts: string[] = []
    const transport = guardedTransport(
      { ...env, ALLOW_PRIVATE_HOSTS: 'films.s3.us-east-1.amazonaws.com:443' },
      {
        maxRedirects: null,
        fetch: async (url) => {
          hosts.push(new URL(url).host)
          return new Response(null, {
            status: 307,
            headers: { location: 'https://films.s3.eu-west-3.amazonaws.com/a' },
          })
        },
      },
    )
    await expect(s3Source(storeOf(transport), 'a').read(null)).rejects.toMatchObject({ code: 'unreachable' })
    expect(hosts).toEqual(['films.s3.us-east-1.amazonaws.com'])
  })
})

describe('the suite can fail: planted faults', () => {
  const faults: [string, (store: S3Store, fake: FakeS3) => S3Store][] = [
    ['a wrong signature', (store) => ({ ...store, sign: sigV4Signer({ ...keys, secretKey: 'x' }, 'us-east-1') })],
    [
      'a key that is encoded twice',
      (store) => ({
        ...store,
        transport: (url, init) => store.transport(String(url).replaceAll('%20', '%2520'), init),
      }),
    ],
    [
      'swapped parts',
      (store) => ({
        ...store,
        transport: (url, init) =>
          store.transport(
            String(url).replace(/partNumber=(\d)/, (_, n: string) => `partNumber=${3 - Number(n)}`),
            init,
          ),
      }),
    ],
    [
      'an abort that is not sent',
      (store) => ({
        ...store,
        transport: async (url, init) =>
          init?.method === 'DELETE' && String(url).includes('uploadId')
            ? new Response(null, { status: 204 })
            : store.transport(url, init),
      }),
    ],
    [
      'a read that is cut',
      (store) => ({
        ...store,
        transport: async (url, init) => {
          const response = await store.transport(url, init)
          if ((init?.method ?? 'GET') !== 'GET' || !response.ok || !response.body) return response
          const bytes = new Uint8Array(await response.arrayBuffer())
          return new Response(bytes.subarray(0, -1), response)
        },
      }),
    ],
  ]
  test.each([['none', (store: S3Store) => store] as (typeof faults)[number], ...faults])('%s', async (name, fault) => {
    const fake = new FakeS3({ accounts: [keys], buckets: ['films'] })
    const store = fault({ ...storeOf(fake.fetch), sign: sigV4Signer(keys, 'us-east-1') }, fake)
    const memory = memoryStore(fake, store)
    await expectFound(name, [...sourceChecks(memory), ...sinkChecks(memory)])
  })
})
