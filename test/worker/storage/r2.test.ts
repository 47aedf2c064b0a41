// In charge of: R2's binding against the suite of all providers.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { toBase64Url } from '../../../worker/secrets/hmac.ts'
import { vendorSink, vendorSource } from '../../../worker/storage/r2/r2Store.ts'
import { caching, describeSink, describeSource, sample } from './conformance.ts'

let key = ''
describeSource('vendor-store', {
  async open(bytes) {
    key = `in/${crypto.randomUUID()}`
    await env.BUCKET.put(key, bytes)
    return vendorSource(env.BUCKET, key)
  },
  replace: async (bytes) => void (await env.BUCKET.put(key, bytes)),
  missing: async () => vendorSource(env.BUCKET, `in/${crypto.randomUUID()}`),
})

let prefix = ''
describeSink('vendor-store', {
  async sink() {
    prefix = `out/${crypto.randomUUID()}/`
    return vendorSink(env.BUCKET, prefix, caching)
  },
  async stored(path) {
    const object = await env.BUCKET.get(prefix + path)
    return object && new Uint8Array(await object.arrayBuffer())
  },
  contentType: async (path) => (await env.BUCKET.head(prefix + path))?.httpMetadata?.contentType ?? null,
  cacheControl: async (path) => (await env.BUCKET.head(prefix + path))?.httpMetadata?.cacheControl ?? null,
  minPartBytes: 5 * 1024 * 1024,
})

test('an upload id cannot be used for another path', async () => {
  const sink = vendorSink(env.BUCKET, 'out/a/1/')
  const upload = await sink.beginUpload('a.mp4', 'video/mp4')
  await expect(sink.uploadPart('b.mp4', upload, 1, sample, sample.length)).rejects.toMatchObject({
    code: 'no_such_upload',
  })
  await expect(sink.uploadPart('a.mp4', 'made-up', 1, sample, sample.length)).rejects.toMatchObject({
    code: 'no_such_upload',
  })
  expect(upload).toMatch(/^[\w-]+$/)
  expect(sink.location('a.mp4')).toBe('vendor-store://out/a/1/a.mp4')
})

test('R2 in production may be stricter, or laxer, than the local one', async () => {
  const bucket = {
    createMultipartUpload: async () => ({ uploadId: 'u' }),
    resumeMultipartUpload: () => ({
      uploadPart: async () => ({ etag: 'taken' }),
      abort: async () => {
        throw new Error('abortMultipartUpload: The specified multipart upload does not exist. (10024)')
      },
    }),
  } as unknown as R2Bucket
  const sink = vendorSink(bucket, 'out/a/1/')
  const upload = await sink.beginUpload('a.mp4', 'video/mp4')
  await expect(sink.abortUpload('a.mp4', upload)).resolves.toBeUndefined()
})

test('an upload id is R2’s own; one of before, with the path behind it, is still taken', async () => {
  const sink = vendorSink(env.BUCKET, 'out/a/2/')
  const path = 'ü b.mp4'
  const upload = await sink.beginUpload(path, 'video/mp4')
  const direct = env.BUCKET.resumeMultipartUpload(`out/a/2/${path}`, upload)
  const first = await direct.uploadPart(1, new Uint8Array(5 * 1024 * 1024))
  const before = toBase64Url(new TextEncoder().encode(`${upload} ${path}`))
  const etag = await sink.uploadPart(path, before, 2, sample, sample.length)
  await sink.completeUpload(path, before, [
    { n: 1, etag: first.etag },
    { n: 2, etag },
  ])
  expect(await sink.stat(path)).toMatchObject({ size: 5 * 1024 * 1024 + sample.length })
})
