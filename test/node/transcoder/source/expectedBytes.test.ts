// In charge of: what a reader of the source requests where its index says which bytes will be read, or which nobody decodes.
// Not in charge of: which these are (pipeline/sourceBytes.long.test.ts).
import { afterEach, expect, test, vi } from 'vitest'
import { ExpectedBytes } from '../../../../transcoder/source/expectedBytes.ts'
import { SkippedBytes } from '../../../../transcoder/source/skippedBytes.ts'
import { SourceReader, type FetchRange } from '../../../../transcoder/source/sourceReader.ts'
import { pseudoRandomBytes } from '../../../support/transcoder/fakeTaskApi.ts'

/** Milliseconds that readers have waited. */
const pauses = vi.hoisted((): number[] => [])
vi.mock('../../../../transcoder/taskApi/retry.ts', async (original) => ({
  ...(await original<typeof import('../../../../transcoder/taskApi/retry.ts')>()),
  sleep: (ms: number) => {
    pauses.push(ms)
    return Promise.resolve()
  },
}))
afterEach(() => {
  pauses.length = 0
})

const KIB = 1024
const source = pseudoRandomBytes(4096 * KIB)

function open(): { reader: SourceReader; requested: [number, number][] } {
  const requested: [number, number][] = []
  const fetch: FetchRange = (range) => {
    const { first, last } = range!
    requested.push([first / KIB, Math.min(last + 1, source.length) / KIB])
    const bytes = source.subarray(first, last + 1)
    const headers = { 'content-range': `bytes ${first}-${first + bytes.length - 1}/${source.length}` }
    return Promise.resolve(new Response(bytes, { status: 206, headers }))
  }
  const fail = (error: Error): never => {
    throw error
  }
  return {
    reader: new SourceReader(fetch, new AbortController().signal, fail, {
      firstReadBytes: 256 * KIB,
    }),
    requested,
  }
}

async function read(reader: SourceReader, first: number, count: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const range = { first: first * KIB, last: source.length - 1 }
  for await (const chunk of reader.read(range, new AbortController().signal)) {
    chunks.push(chunk)
    if (Buffer.concat(chunks).length >= count * KIB) break
  }
  return Buffer.concat(chunks).subarray(0, count * KIB)
}

const wanted = (first: number, count: number): Buffer => source.subarray(first * KIB, (first + count) * KIB)
const range = (first: number, end: number) => ({ first: first * KIB, last: end * KIB - 1 })

test('nothing is read ahead of what is expected, and all of the source can be read', async () => {
  const { reader, requested } = open()
  reader.expect(new ExpectedBytes([range(512, 1000)]))
  expect((await read(reader, 512, 488)).equals(wanted(512, 488))).toBe(true)
  expect(requested.every(([, end]) => end <= 1000)).toBe(true)
  requested.length = 0
  expect((await read(reader, 900, 200)).equals(wanted(900, 200))).toBe(true)
  expect(requested).toEqual([
    [900, 1000],
    [1000, 1064],
    [1064, 1192],
  ])
})

test('a reader that goes on where nothing is expected is not held up for long', async () => {
  const { reader, requested } = open()
  reader.expect(new ExpectedBytes([]))
  expect((await read(reader, 0, 4096)).equals(source)).toBe(true)
  expect(requested.slice(1).map(([first, end]) => end - first)).toEqual([128, 256, 512, 1024, 1024, 1024, 64])
  expect(pauses).toEqual([50, 50, 50, 50, 50, 50, 50])
})

test('a reader behind what is expected waits before each further read, which is twice as large', async () => {
  const { reader, requested } = open()
  await reader.open()
  requested.length = 0
  reader.expect(new ExpectedBytes([range(512, 1000)]))
  expect((await read(reader, 900, 3196)).equals(wanted(900, 3196))).toBe(true)
  expect(requested).toEqual([
    [900, 1000],
    [1000, 1064],
    [1064, 1192],
    [1192, 1448],
    [1448, 1960],
    [1960, 2984],
    [2984, 4008],
    [4008, 4096],
  ])
  expect(pauses).toEqual(Array.from({ length: 7 }, () => 4000))
})

/** All but pieces of 10 KiB, every 200 KiB from 1000 KiB on. */
const pieces = Array.from({ length: 12 }, (_, piece) => 1000 + piece * 200)
const skipped = new SkippedBytes(pieces.slice(1).map((first) => range(first - 190, first)))

test('what is skipped is not requested: a reader gets zeros, and what lies between is requested once', async () => {
  const { reader, requested } = open()
  await reader.open()
  reader.skip(skipped)
  const bytes = await read(reader, 990, 2300)
  const expected = Buffer.from(source.subarray(990 * KIB, 3290 * KIB))
  for (const first of pieces.slice(1)) expected.fill(0, (first - 190 - 990) * KIB, (first - 990) * KIB)
  expect(bytes.equals(expected)).toBe(true)
  const begun = requested.filter(([first]) => first >= 990).toSorted(([a], [b]) => a - b)
  // Up to the first of them, each piece, and from the last of them on.
  expect(begun).toEqual([
    [990, 1010],
    ...pieces.slice(1, -1).map((first) => [first, first + 10]),
    [3200, expect.any(Number)],
  ])
  requested.length = 0
  for (const first of pieces.slice(1, -1))
    expect((await read(reader, first + 2, 8)).equals(wanted(first + 2, 8))).toBe(true)
  expect(requested).toEqual([])
})

test('a long range between is held in blocks: readers of two tracks that lie apart do not request it twice', async () => {
  const { reader, requested } = open()
  await reader.open()
  requested.length = 0
  reader.skip(new SkippedBytes([range(512, 1024), range(2048, 3000), range(4000, 4050)]))
  for (let at = 0; at < 1000; at += 50) {
    expect((await read(reader, 1024 + at, 24)).equals(wanted(1024 + at, 24))).toBe(true)
    expect((await read(reader, 3000 + at, 50)).equals(wanted(3000 + at, 50))).toBe(true)
  }
  // Each in one request: where frames are small, nearly all of the source lies between.
  expect(requested).toEqual([
    [1024, 2048],
    [3000, 4000],
  ])
})
