// In charge of: the rules for every storage provider. One suite; a provider joins it with a fixture. The checks are
// values, so that plantedFaults.test.ts can run them against planted faults and see them fail.
import { describe, expect, test } from 'vitest'
import type { Sink, Source, StoreError, StoreErrorCode } from '../../../worker/storage/objectStore.ts'
import type { CacheControlByKind } from '../../../worker/storage/cacheControl.ts'
import { MAX_DELETE_BATCH } from '../../../worker/storage/objectStore.ts'

export const SAMPLE_BYTES = Uint8Array.from({ length: 70_001 }, (_, i) => (i * 31 + (i >> 8)) % 251)

/** A different value for each kind of object. */
export const caching: CacheControlByKind = {
  segment: 'public, max-age=31536000, immutable',
  manifest: 'no-cache',
  file: 'private, max-age=7, x-note="a, b"',
}

export interface Check {
  name: string
  run: () => Promise<void>
}

export interface SourceFixture {
  /** Creates an object with these bytes and opens it. */
  open(bytes: Uint8Array): Promise<Source>
  /** Replaces the object of the last `open`. */
  replace(bytes: Uint8Array): Promise<void>
  /** A source whose object does not exist. */
  missing(): Promise<Source>
}

export interface SinkFixture {
  sink(): Promise<Sink>
  /** What a reader gets for the path, or null. */
  stored(path: string): Promise<Uint8Array | null>
  contentType(path: string): Promise<string | null>
  /** The stored Cache-Control, or null. The sinks are opened with `caching`. */
  cacheControl(path: string): Promise<string | null>
  /** Smallest part that the provider accepts, in bytes. */
  minPartBytes: number
  /** Missing = as many as a sink takes. */
  deletedAtOnce?: number
}

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body).arrayBuffer())
}

/** With large arrays, a matcher is slow and its message useless. */
function same(a: Uint8Array | null, b: Uint8Array): boolean {
  return a !== null && a.length === b.length && a.every((byte, i) => byte === b[i])
}

async function codeOf(call: Promise<unknown>): Promise<StoreErrorCode | 'no error'> {
  return call.then(
    () => 'no error' as const,
    (error: StoreError) => error.code,
  )
}

/** A body of unknown length, in chunks of odd sizes. */
export function chunked(bytes: Uint8Array, chunkSize = 4093): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, (at += chunkSize)))
    },
  })
}

function collect() {
  const checks: Check[] = []
  const check = (name: string, run: () => Promise<void>): void => void checks.push({ name, run })
  const each =
    <Row extends readonly unknown[]>(rows: readonly Row[]) =>
    (name: string, run: (...row: Row) => Promise<void>): void => {
      for (const row of rows) check(`${name} ${JSON.stringify(row[0]).slice(0, 40)}`, () => run(...row))
    }
  return { checks, check, each }
}

export function sourceConformance(fixture: SourceFixture): Check[] {
  const { checks, check, each } = collect()
  check('stat tells size, tag and that ranges work', async () => {
    const stat = await (await fixture.open(SAMPLE_BYTES)).stat()
    expect(stat).toMatchObject({ size: SAMPLE_BYTES.length, ranges: true })
    expect(stat.etag).toMatch(/^".+"$/)
  })

  check('a read without a range is the whole object', async () => {
    const read = await (await fixture.open(SAMPLE_BYTES)).read(null)
    expect(read).toMatchObject({ isPartial: false, offset: 0, length: SAMPLE_BYTES.length, size: SAMPLE_BYTES.length })
    expect(same(await bytesOf(read.body), SAMPLE_BYTES)).toBe(true)
  })

  const spans: [string, number, number | undefined][] = [
    ['the first byte', 0, 1],
    ['the middle', 1000, 50_000],
    ['from an offset to the end', 60_000, undefined],
    ['all of it by a range', 0, undefined],
    ['the last byte', SAMPLE_BYTES.length - 1, 1],
    ['more than there is', 70_000, 1000],
  ]
  each(spans)('a range:', async (_, offset, length) => {
    const read = await (await fixture.open(SAMPLE_BYTES)).read(length === undefined ? { offset } : { offset, length })
    const expected = SAMPLE_BYTES.subarray(offset, length === undefined ? undefined : offset + length)
    expect(read).toMatchObject({ isPartial: true, offset, length: expected.length, size: SAMPLE_BYTES.length })
    expect(same(await bytesOf(read.body), expected)).toBe(true)
  })

  check('a range behind the end is not satisfiable', async () => {
    const source = await fixture.open(SAMPLE_BYTES)
    expect(await codeOf(source.read({ offset: SAMPLE_BYTES.length, length: 1 }))).toBe('range_not_satisfiable')
  })

  check('an empty object can be read', async () => {
    const source = await fixture.open(new Uint8Array(0))
    expect((await source.stat()).size).toBe(0)
    const read = await source.read(null)
    expect((await bytesOf(read.body)).length).toBe(0)
  })

  check('the tag of stat, and that of a read, pin the object', async () => {
    const source = await fixture.open(SAMPLE_BYTES)
    const { etag } = await source.stat()
    const read = await source.read({ offset: 5, length: 10 }, etag ?? undefined)
    expect(read.etag).toBe(etag)
    expect(same(await bytesOf(read.body), SAMPLE_BYTES.subarray(5, 15))).toBe(true)
  })

  each<[string, number]>([
    ['of the same size', SAMPLE_BYTES.length],
    ['shorter', 100],
    ['longer', SAMPLE_BYTES.length * 2],
  ])('an object replaced is noticed at the next read:', async (_, size) => {
    const source = await fixture.open(SAMPLE_BYTES)
    const first = await source.read({ offset: 0, length: 100 })
    await first.body.cancel()
    await fixture.replace(new Uint8Array(size).fill(7))
    expect(await codeOf(source.read({ offset: 100, length: 100 }, first.etag ?? undefined))).toBe('source_changed')
    expect(await codeOf(source.read(null, first.etag ?? undefined))).toBe('source_changed')
  })

  check('a missing object is not found', async () => {
    const source = await fixture.missing()
    expect(await codeOf(source.stat())).toBe('not_found')
    expect(await codeOf(source.read(null))).toBe('not_found')
    expect(await codeOf(source.read({ offset: 0, length: 1 }))).toBe('not_found')
  })
  return checks
}

export function sinkConformance(fixture: SinkFixture): Check[] {
  const { checks, check, each } = collect()
  check('a put from memory, and one from a stream, become visible with their type', async () => {
    const sink = await fixture.sink()
    await sink.put('a/one.bin', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp2t')
    const { etag } = await sink.put(
      'a/two.m3u8',
      chunked(SAMPLE_BYTES),
      SAMPLE_BYTES.length,
      'application/vnd.apple.mpegurl',
    )
    expect(same(await fixture.stored('a/one.bin'), SAMPLE_BYTES)).toBe(true)
    expect(same(await fixture.stored('a/two.m3u8'), SAMPLE_BYTES)).toBe(true)
    expect(await fixture.contentType('a/two.m3u8')).toBe('application/vnd.apple.mpegurl')
    expect(await sink.stat('a/two.m3u8')).toEqual({ size: SAMPLE_BYTES.length, etag })
  })

  check('an object has the Cache-Control of its kind, whichever way it came', async () => {
    const sink = await fixture.sink()
    await sink.put('k/segment.m4s', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4', 'segment')
    await sink.put('k/streamed.m4s', chunked(SAMPLE_BYTES), SAMPLE_BYTES.length, 'video/mp4', 'segment')
    await sink.put('k/master.m3u8', SAMPLE_BYTES, SAMPLE_BYTES.length, 'application/vnd.apple.mpegurl', 'manifest')
    const upload = await sink.beginUpload('k/film.mp4', 'video/mp4')
    const etag = await sink.uploadPart('k/film.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
    await sink.completeUpload('k/film.mp4', upload, [{ n: 1, etag }])
    const found: Record<string, string | null> = {}
    for (const name of ['segment.m4s', 'streamed.m4s', 'master.m3u8', 'film.mp4']) {
      found[name] = await fixture.cacheControl(`k/${name}`)
    }
    expect(found).toEqual({
      'segment.m4s': caching.segment,
      'streamed.m4s': caching.segment,
      'master.m3u8': caching.manifest,
      'film.mp4': caching.file,
    })
  })

  check('a put replaces, a delete removes, a second delete is no error', async () => {
    const sink = await fixture.sink()
    await sink.put('b.bin', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4')
    await sink.put('b.bin', SAMPLE_BYTES.subarray(0, 10), 10, 'video/mp4')
    expect((await sink.stat('b.bin'))?.size).toBe(10)
    await sink.delete('b.bin')
    await sink.delete('b.bin')
    expect(await sink.stat('b.bin')).toBe(null)
  })

  check('many are deleted at once, those named and no others; missing ones are no error', async () => {
    const sink = await fixture.sink()
    const paths = ['m/1.m4s', 'm/2.m4s', 'm/QualityLevels(500000)/Fragments(video=0)', 'm/a b & ü+%.vtt']
    for (const path of [...paths, 'm/1.m4', 'm/11.m4s', 'm/a b'])
      await sink.put(path, SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4')
    await sink.deleteMany([])
    await sink.deleteMany([...paths, 'm/never.m4s'])
    await sink.deleteMany(paths)
    for (const path of paths) expect([path, await fixture.stored(path)]).toEqual([path, null])
    for (const path of ['m/1.m4', 'm/11.m4s', 'm/a b'])
      expect(same(await fixture.stored(path), SAMPLE_BYTES)).toBe(true)
  })

  check('a whole batch is deleted at once', async () => {
    const sink = await fixture.sink()
    const count = fixture.deletedAtOnce ?? MAX_DELETE_BATCH
    const paths = Array.from({ length: count }, (_, n) => `n/${n}.ts`)
    const last = `n/${count - 1}.ts`
    await sink.put('n/0.ts', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp2t')
    await sink.put(last, SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp2t')
    await sink.deleteMany(paths)
    expect([await fixture.stored('n/0.ts'), await fixture.stored(last)]).toEqual([null, null])
  })

  each<[string, number]>([
    ['shorter', 10],
    ['longer', -10],
  ])('a body of another length than announced leaves nothing:', async (_, difference) => {
    const sink = await fixture.sink()
    const announced = SAMPLE_BYTES.length + difference
    // Over a network, a body that ends early looks like a broken connection.
    const streamed = await codeOf(sink.put('c.bin', chunked(SAMPLE_BYTES), announced, 'video/mp4'))
    expect(['body_broken', 'unreachable']).toContain(streamed)
    expect(await codeOf(sink.put('c.bin', SAMPLE_BYTES, announced, 'video/mp4'))).toBe('invalid')
    expect(await fixture.stored('c.bin')).toBe(null)
  })

  check('an upload in parts is invisible until it is complete', async () => {
    const sink = await fixture.sink()
    const part = new Uint8Array(fixture.minPartBytes).fill(1)
    const upload = await sink.beginUpload('d/movie.mp4', 'video/mp4')
    const second = await sink.uploadPart('d/movie.mp4', upload, 2, chunked(SAMPLE_BYTES), SAMPLE_BYTES.length)
    const first = await sink.uploadPart('d/movie.mp4', upload, 1, part, part.length)
    expect(await fixture.stored('d/movie.mp4')).toBe(null)
    const parts = [
      { n: 2, etag: second },
      { n: 1, etag: first },
    ]
    const { etag } = await sink.completeUpload('d/movie.mp4', upload, parts)
    expect(await sink.stat('d/movie.mp4')).toEqual({ size: part.length + SAMPLE_BYTES.length, etag })
    const stored = await fixture.stored('d/movie.mp4')
    expect(same(stored?.subarray(part.length) ?? null, SAMPLE_BYTES)).toBe(true)
    expect(await fixture.contentType('d/movie.mp4')).toBe('video/mp4')
    // S3 returns the same answer again for a while.
    const again = await sink.completeUpload('d/movie.mp4', upload, parts).catch((error: StoreError) => error.code)
    expect(['no_such_upload', { etag }]).toContainEqual(again)
  })

  check('a part that is sent again replaces itself', async () => {
    const sink = await fixture.sink()
    const upload = await sink.beginUpload('e.mp4', 'video/mp4')
    await sink.uploadPart('e.mp4', upload, 1, SAMPLE_BYTES.subarray(0, 20), 20)
    const etag = await sink.uploadPart('e.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
    await sink.completeUpload('e.mp4', upload, [{ n: 1, etag }])
    expect(same(await fixture.stored('e.mp4'), SAMPLE_BYTES)).toBe(true)
  })

  check('a part of another length than announced is refused', async () => {
    const sink = await fixture.sink()
    const upload = await sink.beginUpload('f.mp4', 'video/mp4')
    const streamed = await codeOf(sink.uploadPart('f.mp4', upload, 1, chunked(SAMPLE_BYTES), SAMPLE_BYTES.length + 1))
    expect(['body_broken', 'unreachable']).toContain(streamed)
    expect(await codeOf(sink.uploadPart('f.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length + 1))).toBe('invalid')
    await sink.abortUpload('f.mp4', upload)
  })

  check('an aborted upload is gone, and aborting it again is no error', async () => {
    const sink = await fixture.sink()
    const upload = await sink.beginUpload('g.mp4', 'video/mp4')
    const etag = await sink.uploadPart('g.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
    await sink.abortUpload('g.mp4', upload)
    await sink.abortUpload('g.mp4', upload)
    expect(await codeOf(sink.completeUpload('g.mp4', upload, [{ n: 1, etag }]))).toBe('no_such_upload')
    expect(await fixture.stored('g.mp4')).toBe(null)
  })

  check('a completed upload survives a late abort', async () => {
    const sink = await fixture.sink()
    const upload = await sink.beginUpload('h.mp4', 'video/mp4')
    const etag = await sink.uploadPart('h.mp4', upload, 1, SAMPLE_BYTES, SAMPLE_BYTES.length)
    await sink.completeUpload('h.mp4', upload, [{ n: 1, etag }])
    await sink.abortUpload('h.mp4', upload)
    expect(same(await fixture.stored('h.mp4'), SAMPLE_BYTES)).toBe(true)
  })

  const paths = [
    '',
    '/x',
    'x/',
    '../x',
    'a/../x',
    'a/./x',
    'a//x',
    'a\u0000b',
    'a\nb',
    'a\\b',
    '\ud800',
    'x'.repeat(1025),
  ]
  for (const path of paths) {
    check(`the path ${JSON.stringify(path).slice(0, 20)} is refused`, async () => {
      const sink = await fixture.sink()
      expect(await codeOf(sink.put(path, SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4'))).toBe('invalid')
      expect(await codeOf(sink.beginUpload(path, 'video/mp4'))).toBe('invalid')
      expect(await codeOf(sink.delete(path))).toBe('invalid')
      expect(await codeOf(sink.deleteMany(['ok', path]))).toBe('invalid')
    })
  }

  return checks
}

/** Names of the checks that fail. */
export async function failingChecks(checks: Check[]): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of checks) await run().catch(() => failed.push(name))
  return failed
}

/** Registers the checks with vitest. */
export function describeSourceConformance(name: string, fixture: SourceFixture): void {
  describe(`${name} as a source`, () => {
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title
    for (const { name: title, run } of sourceConformance(fixture)) test(title, run)
  })
}

export function describeSinkConformance(name: string, fixture: SinkFixture): void {
  describe(`${name} as a sink`, () => {
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title
    for (const { name: title, run } of sinkConformance(fixture)) test(title, run)
  })
}
