// In charge of: what a reader of the source requests where its index says which bytes will be read.
// Not in charge of: which these are (pipeline/sourceBytes.long.test.ts).
import { expect, test } from 'vitest'
import { ExpectedBytes } from '../../../../transcoder/source/expectedBytes.ts'
import { SourceReader, type FetchRange } from '../../../../transcoder/source/sourceReader.ts'
import { pseudoRandomBytes } from '../../../support/transcoder/fakeTaskApi.ts'

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
    reader: new SourceReader(fetch, new AbortController().signal, fail, { firstReadBytes: 256 * KIB }),
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
  reader.expect(new ExpectedBytes([range(512, 1000)]), { inBlocks: false })
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

test('small ranges are requested before their time, once, and nothing between them', async () => {
  const { reader, requested } = open()
  await reader.open()
  requested.length = 0
  const pieces = Array.from({ length: 12 }, (_, piece) => 1000 + piece * 200)
  reader.expect(new ExpectedBytes(pieces.map((first) => range(first, first + 10))), { inBlocks: true })
  for (const first of pieces) expect((await read(reader, first + 2, 8)).equals(wanted(first + 2, 8))).toBe(true)
  expect(requested).toEqual(pieces.map((first) => [first, first + 10]))
})

test('a long range is held in blocks: readers of two tracks that lie apart do not request it twice', async () => {
  const { reader, requested } = open()
  await reader.open()
  requested.length = 0
  reader.expect(new ExpectedBytes([range(1024, 2048), range(3000, 4024)]), { inBlocks: true })
  for (let at = 0; at < 1024; at += 64) {
    expect((await read(reader, 1024 + at, 64)).equals(wanted(1024 + at, 64))).toBe(true)
    expect((await read(reader, 3000 + at, 64)).equals(wanted(3000 + at, 64))).toBe(true)
  }
  const bytes = requested.reduce((sum, [first, end]) => sum + end - first, 0)
  expect(bytes).toBe(2048)
})
