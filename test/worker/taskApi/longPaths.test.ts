// In charge of: the longest paths that are accepted, in every store: from the job to its outputs through the real task
// API, and through each call of each store's sink; one byte more is refused before anything is sent.
// Not in charge of: which paths are accepted (test/node/contract/job/rules/pathLengths.test.ts).
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { OUTPUT_PROVIDERS, rulesOf, type Provider } from '#contract/job/stores/registry.ts'
import { oracleApiKey, TENANCY, USER } from '../storage/oracleKey.ts'
import { MAX_UPLOAD_HANDLE } from '#contract/task/protocol.ts'
import { gcsStore } from '../../../worker/storage/google/provider.ts'
import { httpSink } from '../../../worker/storage/http/httpSink.ts'
import { openSink } from '../../../worker/storage/registry.ts'
import { ownPrefix } from '../../../worker/storage/keyBelow.ts'
import { ociSigner } from '../../../worker/storage/oracle/ociSignature.ts'
import { ociSink } from '../../../worker/storage/oracle/ociSink.ts'
import { ociS3Store } from '../../../worker/storage/oracle/provider.ts'
import { s3BucketAddress } from '../../../worker/storage/s3/bucketAddress.ts'
import { sigV4Signer } from '../../../worker/storage/s3/sigV4.ts'
import { s3Sink } from '../../../worker/storage/s3/s3Sink.ts'
import type { Sink } from '../../../worker/storage/objectStore.ts'
import { r2Sink, r2Source } from '../../../worker/storage/r2/r2Store.ts'
import { FakeGoogle } from '../../fakes/googleStorage.ts'
import { generateRsaKey } from '../../fakes/rsaKeys.ts'
import { FakeOracle } from '../../fakes/oracleStorage.ts'
import { fetchFrom } from '../../fakes/fetchTransport.ts'
import { FakeS3 } from '../../fakes/s3.ts'
import { apiRequest, jobBody, postJson, errorCode } from '../support/apiClient.ts'
import { startNextAttempt, readStatus } from '../support/jobFixture.ts'

const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const HOST = 'logo.test'

/** A server that records what is PUT. */
function webServer(): {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  files: Map<string, Uint8Array>
} {
  const files = new Map<string, Uint8Array>()
  return {
    files,
    async fetch(url, init) {
      const request = new Request(url, init)
      const path = decodeURIComponent(new URL(request.url).pathname.slice(1))
      if (request.method === 'PUT') files.set(path, new Uint8Array(await request.arrayBuffer()))
      if (request.method === 'DELETE') files.delete(path)
      const found = files.get(path)
      const headers = { 'content-length': String(found?.length ?? 0), etag: '"1"' }
      if (request.method === 'HEAD') return new Response(null, { status: found ? 200 : 404, headers })
      return new Response(null, { status: request.method === 'PUT' ? 201 : 204 })
    },
  }
}

/** A text whose every byte takes two in JSON. */
function longName(bytes: number): string {
  return `${'"'.repeat(bytes - 4)}.mp4`
}

test.each(['vendor-store', 'aws', 'http'] as const)(
  '%s: a job whose output has the longest path ends well',
  async (provider) => {
    const s3 = new FakeS3({ accounts: [keys], buckets: ['films'], region: 'us-east-1' })
    const web = webServer()
    const dispatch = globalThis.fetch
    vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
      const url = new URL(input instanceof Request ? input.url : input)
      if (url.hostname !== HOST) return dispatch(input, init)
      return provider === 'aws' ? s3.fetch(url, init) : web.fetch(url, init)
    })
    const credentials = {
      'vendor-store': { cloud_provider: 'vendor-store' },
      aws: {
        cloud_provider: 'aws',
        access_key: keys.accessKey,
        secret_key: keys.secretKey,
        endpoint: `https://${HOST}`,
      },
      http: { cloud_provider: 'http' },
    }
    const root = { 'vendor-store': '', aws: 's3://films', http: `https://${HOST}` }
    const limit = rulesOf(provider).outputPathBytes!
    const request = (output: string) =>
      jobBody({
        bucket_output_path: root[provider],
        videoProfiles: [{ output, width: 640, height: 360, video_bitrate: 600 }],
        cloud_credentials: { input: { cloud_provider: 'http' }, output: credentials[provider] },
      })
    const refused = await postJson('/api/v0/job', request(longName(limit + 1)))
    expect([refused.status, (await refused.json<any>()).error.field]).toEqual([400, expect.stringMatching(/output/)])

    const path = longName(limit)
    const made = await postJson('/api/v0/job', request(path))
    expect(made.status).toBe(200)
    const { _auto_generated_id_: id } = await made.json<any>()
    const attempt = await startNextAttempt()
    const bytes = new TextEncoder().encode('a film')
    const object = await attempt.storeObject(path, bytes)
    const finished = await attempt.finish([object])
    expect([finished.status, await finished.json()]).toEqual([200, { state: 'completed' }])
    const { outputs, error } = await readStatus(id)
    expect(error).toBeNull()
    expect(outputs).toMatchObject([{ path, size: 6 }])
    if (provider === 'aws') expect(s3.objects.get(`films/${path}`)?.bytes).toEqual(bytes)
    else if (provider === 'http') expect(web.files.get(path)).toEqual(bytes)
    else
      expect(
        await (await apiRequest(new URL(outputs[0].url).pathname, { headers: { authorization: '' } })).text(),
      ).toBe('a film')
  },
)

const account = 'a'.repeat(40)
const place = { namespace: 'axaxnpcrorw5', bucket: 'films', region: 'eu-frankfurt-1' }

const keyPair = await generateRsaKey()
const access = oracleApiKey(keyPair.pem)

const sinks: [string, Provider, () => Sink][] = [
  [
    'the service’s own store, of the longest account',
    'vendor-store',
    () => openSink(env, 'vendor-store', { account, jobId: crypto.randomUUID(), root: null, credentials: {} }),
  ],
  [
    'S3',
    'aws',
    () => {
      const fake = new FakeS3({ accounts: [keys], buckets: ['films'] })
      const where = s3BucketAddress('films', null, null)
      const sign = sigV4Signer(keys, where.region)
      return s3Sink(
        { provider: 'aws', bucketAddress: where, sign, transport: fake.fetch, supportsDeleteObjects: true },
        '',
      )
    },
  ],
  [
    'Google',
    'gcloud',
    () => {
      const pair = { kind: 'pair', ...keys } as const
      const fake = new FakeGoogle({ bucket: 'films', accounts: [], pairs: [pair] })
      return s3Sink(gcsStore('films', pair, fetchFrom(fake.handle)), '')
    },
  ],
  [
    'Oracle’s native API',
    'oracle',
    () => {
      const host = 'objectstorage.eu-frankfurt-1.oraclecloud.com'
      const known = new Map([[`${TENANCY}/${USER}/${access.fingerprint}`, keyPair.publicKey]])
      const fake = new FakeOracle({ namespace: place.namespace, bucket: place.bucket, host, keys: known })
      return ociSink({ bucketAddress: place, sign: ociSigner(access), transport: fetchFrom(fake.handle) }, '')
    },
  ],
  [
    'Oracle’s door for S3',
    'oracle',
    () => {
      const pair = { kind: 'pair', ...keys } as const
      const fake = new FakeS3({ accounts: [pair], buckets: [place.bucket], region: place.region })
      return s3Sink(ociS3Store(place, pair, fake.fetch), '')
    },
  ],
  [
    'an http server',
    'http',
    () => {
      const staged = `work/${crypto.randomUUID()}/http/`
      return httpSink({
        root: `https://${HOST}`,
        access: { username: null, password: null },
        transport: webServer().fetch,
        staging: {
          sink: r2Sink(env.BUCKET, staged),
          open: (path) => r2Source(env.BUCKET, staged + path),
        },
      })
    },
  ],
]

const TYPE = 'video/mp4'
const BYTES = new TextEncoder().encode('a film')

test.each(sinks)(
  '%s accepts the longest path in every operation, and rejects one more byte before it is sent',
  async (_, provider, make) => {
    const limit = rulesOf(provider).outputPathBytes!
    const sink = make()
    for (const path of [longName(limit), `${'ü'.repeat(Math.floor(limit / 2) - 3)}${'x'.repeat(limit % 2)}/x.mp4`]) {
      expect(new TextEncoder().encode(path).length).toBe(limit)
      await sink.put(path, BYTES, BYTES.length, TYPE)
      expect((await sink.stat(path))?.size).toBe(BYTES.length)
      expect(sink.location(path)).toContain(path.slice(0, 3) === '"""' && provider === 'http' ? '%22%22' : '')
      await sink.delete(path)
      await sink.deleteMany([path])
      const upload = await sink.beginUpload(path, TYPE)
      // The upload handle as the task API returns it.
      expect(btoa(JSON.stringify(['x'.repeat(2 * limit), upload])).length).toBeLessThan(MAX_UPLOAD_HANDLE)
      const etag = await sink.uploadPart(path, upload, 1, BYTES, BYTES.length)
      await sink.completeUpload(path, upload, [{ n: 1, etag }])
      expect((await sink.stat(path))?.size).toBe(BYTES.length)
      await sink.abortUpload(path, await sink.beginUpload(path, TYPE))
      await sink.delete(path)
    }
    const keep = async (): Promise<void> => undefined
    await sink.probeWrite?.('d'.repeat(limit - '/.splicepoint'.length), keep)

    const longer = longName(limit + 1)
    const invalid = { code: 'invalid' }
    await expect(sink.put(longer, BYTES, BYTES.length, TYPE)).rejects.toMatchObject(invalid)
    await expect(sink.stat(longer)).rejects.toMatchObject(invalid)
    await expect(sink.delete(longer)).rejects.toMatchObject(invalid)
    await expect(sink.deleteMany([longer])).rejects.toMatchObject(invalid)
    await expect(sink.beginUpload(longer, TYPE)).rejects.toMatchObject(invalid)
    if (sink.probeWrite) {
      await expect(sink.probeWrite('d'.repeat(limit - '/.splicepoint'.length + 1), keep)).rejects.toMatchObject(invalid)
    }
  },
)

test.each(OUTPUT_PROVIDERS)('%s: with what is in front of it, the longest path is a key of 1,024 bytes', (provider) => {
  const prefix = provider === 'vendor-store' ? ownPrefix(account, crypto.randomUUID()) : ''
  expect(prefix.length + rulesOf(provider).outputPathBytes!).toBe(1024)
})

test('an upload id too long for a handle fails at once, and the upload is aborted', async () => {
  const made = await postJson('/api/v0/job', jobBody())
  expect(made.status).toBe(200)
  const attempt = await startNextAttempt()
  const abort = vi.fn<() => Promise<void>>(async () => undefined)
  vi.spyOn(env.BUCKET, 'createMultipartUpload').mockResolvedValue({ uploadId: 'x'.repeat(10_000) } as R2MultipartUpload)
  vi.spyOn(env.BUCKET, 'resumeMultipartUpload').mockReturnValue({ abort } as unknown as R2MultipartUpload)
  const answer = await attempt.taskApi('POST', '/uploads', { path: 'film.mp4', content_type: TYPE, expected_size: 5 })
  expect(await errorCode(answer)).toBe('400 output_refused')
  expect(abort).toHaveBeenCalledOnce()
})
