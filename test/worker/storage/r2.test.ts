// In charge of: the R2 binding against the conformance suite.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { r2Sink, r2Source } from '../../../worker/storage/r2/r2Store.ts'
import { caching, describeSinkConformance, describeSourceConformance, SAMPLE_BYTES } from './conformance.ts'

let key = ''
describeSourceConformance('vendor-store', {
  async open(bytes) {
    key = `in/${crypto.randomUUID()}`
    await env.BUCKET.put(key, bytes)
    return r2Source(env.BUCKET, key)
  },
  replace: async (bytes) => void (await env.BUCKET.put(key, bytes)),
  missing: async () => r2Source(env.BUCKET, `in/${crypto.randomUUID()}`),
})

let prefix = ''
describeSinkConformance('vendor-store', {
  async sink() {
    prefix = `out/${crypto.randomUUID()}/`
    return r2Sink(env.BUCKET, prefix, caching)
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
  const sink = r2Sink(env.BUCKET, 'out/a/1/')
  const upload = await sink.beginUpload('a.mp4', 'video/mp4')
  await expect(sink.uploadPart('b.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)).rejects.toMatchObject({
    code: 'no_such_upload',
  })
  await expect(sink.uploadPart('a.mp4', 'made-up', 1, SAMPLE_BYTES, SAMPLE_BYTES.length)).rejects.toMatchObject({
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
  const sink = r2Sink(bucket, 'out/a/1/')
  const upload = await sink.beginUpload('a.mp4', 'video/mp4')
  await expect(sink.abortUpload('a.mp4', upload)).resolves.toBeUndefined()
})
