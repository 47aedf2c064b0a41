// In charge of: proving that the suite of all providers can fail: every planted fault turns at least one check red.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Sink, Source } from '../../../worker/storage/objectStore.ts'
import { r2Sink, r2Source } from '../../../worker/storage/r2/r2Store.ts'
import { caching, failingChecks, sinkConformance, sourceConformance } from './conformance.ts'

function withoutLastByte(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let previous: Uint8Array | null = null
  return body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        if (previous) controller.enqueue(previous)
        previous = chunk
      },
      flush(controller) {
        if (previous && previous.length > 1) controller.enqueue(previous.subarray(0, -1))
      },
    }),
  )
}

const sourceFaults: [string, (good: Source) => Partial<Source>][] = [
  ['none', () => ({})],
  [
    'a read that ends a byte early',
    (good) => ({
      read: async (range, etag) => {
        const read = await good.read(range, etag)
        return { ...read, body: withoutLastByte(read.body) }
      },
    }),
  ],
  ['a pin that is ignored', (good) => ({ read: (range) => good.read(range) })],
  [
    'a range that starts a byte late',
    (good) => ({ read: (range, etag) => good.read(range && { ...range, offset: range.offset + 1 }, etag) }),
  ],
  ['a range that is ignored', (good) => ({ read: (_, etag) => good.read(null, etag) })],
  ['a size that is wrong', (good) => ({ stat: async () => ({ ...(await good.stat()), size: 1 }) })],
  ['a tag that is missing', (good) => ({ stat: async () => ({ ...(await good.stat()), etag: null }) })],
]

test.each(sourceFaults)('source: %s', async (name, fault) => {
  let key = ''
  const broken = (): Source => {
    const good = r2Source(env.BUCKET, key)
    return { ...good, ...fault(good) }
  }
  const failed = await failingChecks(
    sourceConformance({
      async open(bytes) {
        key = `in/${crypto.randomUUID()}`
        await env.BUCKET.put(key, bytes)
        return broken()
      },
      replace: async (bytes) => void (await env.BUCKET.put(key, bytes)),
      async missing() {
        key = `in/${crypto.randomUUID()}`
        return broken()
      },
    }),
  )
  expect(failed.length > 0).toBe(name !== 'none')
})

const sinkFaults: [string, (good: Sink) => Partial<Sink>][] = [
  ['none', () => ({})],
  [
    'a put that takes what comes',
    (good) => ({
      put: async (path, body, _, type, kind) => {
        const bytes = new Uint8Array(await new Response(body).arrayBuffer())
        return good.put(path, bytes, bytes.length, type, kind)
      },
    }),
  ],
  [
    'parts that are visible at once',
    (good) => ({
      beginUpload: async (path, type) => {
        await good.put(path, new Uint8Array(1), 1, type)
        return good.beginUpload(path, type)
      },
    }),
  ],
  [
    'a Cache-Control that is lost',
    (good) => ({ put: (path, body, size, type) => good.put(path, body, size, type, 'file') }),
  ],
  [
    'a type that is lost',
    (good) => ({ put: (path, body, size, _, kind) => good.put(path, body, size, 'text/plain', kind) }),
  ],
  [
    'an abort that is not repeatable',
    (good) => {
      const gone = new Set<string>()
      return {
        abortUpload: async (path, upload) => {
          if (gone.has(upload)) throw new Error('no such upload')
          gone.add(upload)
          await good.abortUpload(path, upload)
        },
      }
    },
  ],
  [
    'a late abort that deletes',
    (good) => ({
      abortUpload: async (path, upload) => {
        await good.abortUpload(path, upload)
        await good.delete(path)
      },
    }),
  ],
  ['an abort that does nothing', () => ({ abortUpload: async () => undefined })],
  [
    'a deletion of many that leaves the last',
    (good) => ({ deleteMany: (paths) => good.deleteMany(paths.slice(0, -1)) }),
  ],
  [
    'a deletion of many that takes too much',
    (good) => ({
      deleteMany: async (paths) => {
        await good.deleteMany(paths)
        await good.deleteMany(paths.map((path) => path.slice(0, -1)).filter((path) => /[a-z0-9]$/.test(path)))
      },
    }),
  ],
  [
    'a deletion of many that does not encode',
    (good) => ({ deleteMany: (paths) => good.deleteMany(paths.map((path) => encodeURI(path))) }),
  ],
  [
    'a deletion of many that looks for them first',
    (good) => ({
      deleteMany: async (paths) => {
        for (const path of paths.slice(0, 5)) if (!(await good.stat(path))) throw new Error('no such object')
        await good.deleteMany(paths)
      },
    }),
  ],
  [
    'paths of many that are not checked',
    (good) => ({ deleteMany: (paths) => good.deleteMany(paths.filter((path) => !path.includes('..'))) }),
  ],
  ['a path that climbs', (good) => ({ delete: (path) => good.delete(path.includes('..') ? 'x' : path) })],
]

test.each(sinkFaults)('sink: %s', async (name, fault) => {
  let prefix = ''
  const failed = await failingChecks(
    sinkConformance({
      async sink() {
        prefix = `out/${crypto.randomUUID()}/`
        const good = r2Sink(env.BUCKET, prefix, caching)
        return { ...good, ...fault(good) }
      },
      async stored(path) {
        const object = await env.BUCKET.get(prefix + path)
        return object && new Uint8Array(await object.arrayBuffer())
      },
      contentType: async (path) => (await env.BUCKET.head(prefix + path))?.httpMetadata?.contentType ?? null,
      cacheControl: async (path) => (await env.BUCKET.head(prefix + path))?.httpMetadata?.cacheControl ?? null,
      minPartBytes: 5 * 1024 * 1024,
    }),
  )
  expect(failed.length > 0).toBe(name !== 'none')
})
