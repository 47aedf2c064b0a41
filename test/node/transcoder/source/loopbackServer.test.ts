// In charge of: ffmpeg gets the source byte for byte, or the result reports that it did not.
import { mkdtemp, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { TaskClient } from '../../../../transcoder/taskApi/taskClient.ts'
import { StaleAttempt } from '../../../../transcoder/errors.ts'
import { TaskError } from '#contract/taskError.ts'
import { LoopbackServer, parseRange } from '../../../../transcoder/source/loopbackServer.ts'
import { SourceReader, type FetchRange, type SourceReaderOptions } from '../../../../transcoder/source/sourceReader.ts'
import {
  FakeTaskApi,
  sendJson,
  pseudoRandomBytes,
  type FakeSource,
  type FaultInjector,
} from '../../../support/transcoder/fakeTaskApi.ts'
import { collectGarbage } from '../../../support/transcoder/garbageCollection.ts'
import { expectSameBytes } from '../../../support/sameBytes.ts'

const KIB = 1024
const quick: SourceReaderOptions = { rangeBytes: 64 * KIB, backoff: { baseMs: 1, maxMs: 2 } }
const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function open(source: FakeSource, options: SourceReaderOptions = quick) {
  const taskApi = await new FakeTaskApi(source).start()
  const client = new TaskClient({ base: taskApi.url, taskId: 't-1', token: taskApi.token })
  const failures: Error[] = []
  const abort = new AbortController()
  const gateway = await LoopbackServer.start(
    (range, etag, signal) => client.fetchInput(range, etag, signal),
    abort.signal,
    (error) => failures.push(error),
    options,
  )
  cleanups.push(
    () => taskApi.stop(),
    () => gateway.close(),
  )
  return { door: taskApi, gateway, failures }
}

/** The body, or 'broken' if it is incomplete: what ffmpeg would receive. */
async function read(url: string, range?: string): Promise<Buffer | 'broken'> {
  try {
    const response = await fetch(url, range === undefined ? {} : { headers: { range } })
    if (!response.ok) return 'broken'
    return Buffer.from(await response.arrayBuffer())
  } catch {
    return 'broken'
  }
}

const bytes = pseudoRandomBytes(300 * KIB)

describe('a task API without faults', () => {
  test('the whole source comes in ranges of the configured size, each asked for once', async () => {
    const { door, gateway } = await open({ bytes })
    expectSameBytes(await read(gateway.url), bytes)
    expect(door.inputRanges).toHaveLength(5)
    expect(door.inputRanges[0]).toBe('bytes=0-65535')
    expect(gateway.integrity()).toEqual({ complete: true, size: bytes.length })
    expect(door.breaches).toEqual([])
  })

  test('a reader begins with a little and asks for ever more, on one grid', async () => {
    const MIB = KIB * KIB
    const whole = pseudoRandomBytes(20 * MIB)
    const { door, gateway } = await open({ bytes: whole }, {})
    expectSameBytes(await read(gateway.url), whole)
    const ends = [0, 1, 2, 4, 8, 16, 20].map((mib) => mib * MIB)
    const asked = ends.slice(1).map((end, index) => `bytes=${ends[index]}-${end - 1}`)
    expect(door.inputRanges).toEqual(asked)
    // A probe of the end costs only a read of the end.
    expectSameBytes(await read(gateway.url, `bytes=${19 * MIB}-`), whole.subarray(19 * MIB))
    expect(door.inputRanges.slice(asked.length)).toEqual([`bytes=${19 * MIB}-${20 * MIB - 1}`])
  })

  test('what is asked for ahead waits for its turn, although memory is cleared meanwhile', async () => {
    const MIB = KIB * KIB
    const whole = pseudoRandomBytes(3 * MIB)
    const door = await new FakeTaskApi({ bytes: whole }).start()
    cleanups.push(() => door.stop())
    const client = new TaskClient({ base: door.url, taskId: 't-1', token: door.token })
    const { signal } = new AbortController()
    const input: FetchRange = (range, etag, stop) => client.fetchInput(range, etag, stop)
    const source = new SourceReader(input, signal, () => undefined, { ...quick, rangeBytes: MIB })
    const parts: Uint8Array[] = []
    for await (const part of source.read({ first: 0, last: whole.length - 1 }, signal)) {
      parts.push(part)
      await collectGarbage()
    }
    expect(Buffer.concat(parts).equals(whole)).toBe(true)
    expect(door.inputRanges).toEqual([0, 1, 2].map((n) => `bytes=${n * MIB}-${(n + 1) * MIB - 1}`))
  })

  describe('what one reader was given', () => {
    const openKeeping = async () => {
      const directory = await mkdtemp(join(tmpdir(), 'seen-test-'))
      cleanups.push(() => rm(directory, { recursive: true }))
      const cacheFile = join(directory, 'seen')
      return { ...(await open({ bytes }, { ...quick, cacheFile })), seenFile: cacheFile }
    }

    test('is not asked for again, whichever part of it', async () => {
      const { door, gateway, seenFile: cacheFile } = await openKeeping()
      expectSameBytes(await read(gateway.url, 'bytes=100000-150000'), bytes.subarray(100_000, 150_001))
      expectSameBytes(await read(gateway.url, 'bytes=120000-130000'), bytes.subarray(120_000, 130_001))
      const asked = door.inputRanges.length
      expectSameBytes(await read(gateway.url), bytes)
      expect(door.inputRanges.slice(asked)).toContain('bytes=150001-196607')
      const askedForAll = door.inputRanges.length
      expectSameBytes(await read(gateway.url), bytes)
      expectSameBytes(await read(gateway.url, 'bytes=65000-'), bytes.subarray(65_000))
      expect(door.inputRanges).toHaveLength(askedForAll)
      await gateway.close()
      await expect(stat(cacheFile)).rejects.toMatchObject({ code: 'ENOENT' })
    })

    test('is not cached for other readers when it is the last one', async () => {
      const { door, gateway } = await openKeeping()
      await read(gateway.url, 'bytes=0-65535')
      gateway.stopCaching()
      const before = door.inputRanges.length
      for (const times of [1, 2]) {
        expectSameBytes(await read(gateway.url), bytes)
        expect(door.inputRanges).toHaveLength(before + 4 * times)
      }
    })

    test('is asked for again where the disk lost it', async () => {
      const { gateway, seenFile: cacheFile } = await openKeeping()
      expectSameBytes(await read(gateway.url), bytes)
      await truncate(cacheFile, 70_000)
      expectSameBytes(await read(gateway.url), bytes)
      expect(gateway.integrity().complete).toBe(true)
    })
  })

  test.each([
    ['bytes=0-', 0, 307_200],
    ['bytes=65535-65536', 65_535, 65_537],
    ['bytes=100000-', 100_000, 307_200],
    ['bytes=-10', 307_190, 307_200],
    ['bytes=200000-999999999', 200_000, 307_200],
  ])('%s is answered with exactly those bytes', async (range, from, to) => {
    const { gateway } = await open({ bytes })
    const response = await fetch(gateway.url, { headers: { range } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/307200`)
    expectSameBytes(Buffer.from(await response.arrayBuffer()), bytes.subarray(from, to))
  })

  test('a range after the end is 416, and HEAD returns the size', async () => {
    const { gateway } = await open({ bytes })
    expect((await fetch(gateway.url, { headers: { range: 'bytes=307200-' } })).status).toBe(416)
    const head = await fetch(gateway.url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe('307200')
    expect(head.headers.get('accept-ranges')).toBe('bytes')
  })

  test('a few bytes: those at the end, and none before the beginning', async () => {
    const { gateway } = await open({ bytes })
    const { signal } = new AbortController()
    expectSameBytes(Buffer.from(await gateway.readRange(bytes.length - 3, 10, signal)), bytes.subarray(-3))
    await expect(gateway.readRange(-1, 10, signal)).rejects.toThrow(RangeError)
  })

  test('another path, another host and another method get nothing', async () => {
    const { gateway } = await open({ bytes })
    expect((await fetch(gateway.url.replace(gateway.secret, '0'.repeat(32)))).status).toBe(404)
    expect((await fetch(gateway.url.replace('127.0.0.1', 'localhost'))).status).toBe(404)
    expect((await fetch(gateway.url, { method: 'PUT', body: 'x' })).status).toBe(405)
  })

  test('a reader that leaves ends the read behind it', async () => {
    const { door, gateway } = await open({ bytes: pseudoRandomBytes(4 * KIB * KIB) })
    const leave = new AbortController()
    const response = await fetch(gateway.url, { signal: leave.signal })
    const reader = response.body!.getReader()
    await reader.read()
    leave.abort()
    await expect(reader.read()).rejects.toThrow('aborted')
    // Another reader gets everything, and the first reader's disconnect is not treated as an error of the source.
    expect(await read(gateway.url, 'bytes=5-9')).toEqual(pseudoRandomBytes(4 * KIB * KIB).subarray(5, 10))
    expect(gateway.integrity().complete).toBe(true)
    expect(door.counts.get('input')!).toBeLessThan(64)
  })
})

describe('a task API with faults', () => {
  const cuts = Array.from({ length: 50 }, (_, index) => (index * 1303) % (64 * KIB))
  test('a range that is cut anywhere is resumed at the byte reached (50 offsets, every second range cut)', async () => {
    const { door, gateway } = await open({ bytes })
    for (const cut of cuts) {
      door.faults.input = ({ request, response, n }) => {
        if (n % 2 === 0) return false
        door.input(request, response, cut)
        return true
      }
      expectSameBytes(await read(gateway.url), bytes, `cut after ${cut}`)
    }
    expect(gateway.integrity().complete).toBe(true)
  })

  test('503 and 429 are waited out', async () => {
    const { door, gateway } = await open({ bytes })
    door.faults.input = ({ response, n }) => {
      if (n % 3 === 0) return false
      response.setHeader('retry-after', '0')
      sendJson(response, n % 3 === 1 ? 503 : 429, { error: { code: 'unavailable', message: 'later' } })
      return true
    }
    expectSameBytes(await read(gateway.url), bytes)
    expect(gateway.integrity().complete).toBe(true)
  })

  test('a short body without a length is not taken for complete', async () => {
    const { door, gateway } = await open({ bytes })
    door.faults.input = ({ response, request, n }) => {
      if (n !== 2) return false
      const [first, last] = request.headers.range!.match(/\d+/g)!.map(Number)
      response.writeHead(206, { etag: '"v1"', 'content-range': `bytes ${first}-${last}/${bytes.length}` })
      response.end(bytes.subarray(first, first! + 1000)) // chunked: a clean end, 64,536 bytes early
      return true
    }
    expectSameBytes(await read(gateway.url), bytes)
    expect(gateway.integrity().complete).toBe(true)
  })

  test('an answer with other bytes than asked for is never passed on', async () => {
    const { door, gateway } = await open({ bytes })
    door.faults.input = ({ response, n }) => {
      if (n !== 2) return false
      response.writeHead(206, { etag: '"v1"', 'content-range': `bytes 0-65535/${bytes.length}` })
      response.end(bytes.subarray(0, 64 * KIB))
      return true
    }
    expectSameBytes(await read(gateway.url), bytes)
  })

  test('an error of the task API that lasts cuts the body off and becomes the error of the attempt', async () => {
    const { door, gateway, failures } = await open({ bytes }, { ...quick, retryForMs: 20 })
    door.faults.input = ({ response, n }) => {
      if (n < 3) return false
      sendJson(response, 502, { error: { code: 'source_unreachable', message: 'The store does not answer.' } })
      return true
    }
    expect(await read(gateway.url)).toBe('broken')
    expect(gateway.integrity()).toMatchObject({ complete: false, error: { code: 'source_unreachable' } })
    expect(failures).toHaveLength(1)
    expect(await read(gateway.url)).toBe('broken')
  })

  /** As the real task API answers: the header names the job error. */
  const away = (code: string, until = () => false, retryAfter?: string): FaultInjector => {
    return ({ response }) => {
      if (until()) return false
      response.setHeader('x-source-error', code)
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
      sendJson(response, 502, { error: { code, message: `It is ${code}.`, details: { status: 500 } } })
      return true
    }
  }

  test('a source that is unreachable from the start fails soon, with the error of the task API', async () => {
    const { door, gateway, failures } = await open({ bytes }, { ...quick, retryForMs: 600_000, upstreamMs: 20 })
    door.faults.input = away('source_unreachable')
    await expect(gateway.open()).rejects.toMatchObject({ code: 'source_unreachable', permanent: false })
    expect(failures).toMatchObject([{ message: 'It is source_unreachable.' }])
    expect(door.counts.get('input')).toBeGreaterThan(1)
  })

  test('and what it asks for is passed on to the queue', async () => {
    const { door, gateway } = await open({ bytes }, { ...quick, retryForMs: 600_000, upstreamMs: 20 })
    door.faults.input = away('source_unreachable', () => false, '17')
    await expect(gateway.open()).rejects.toMatchObject({ details: { status: 500, retry_after: 17 } })
    expect(door.counts.get('input')).toBe(1)
  })

  test('a source that goes away when it is open is waited for', async () => {
    const { door, gateway } = await open({ bytes }, { ...quick, retryForMs: 600_000, upstreamMs: 0 })
    await gateway.open()
    let left = 20
    door.faults.input = away('source_unreachable', () => left-- <= 0)
    expectSameBytes(await read(gateway.url), bytes)
  })

  test.each(['host_not_found', 'connection_refused', 'tls_failed'])(
    '%s: another try is made until it has lasted, then the job ends with it',
    async (code) => {
      const { door, gateway } = await open({ bytes }, { ...quick, retryForMs: 1, upstreamMs: 1, connectionRetryMs: 30 })
      door.faults.input = away(code)
      await expect(gateway.open()).rejects.toMatchObject({ code, permanent: true, message: `It is ${code}.` })
      expect(door.counts.get('input')).toBeGreaterThan(1)
    },
  )

  test('a source that refuses and comes back in time is read as if nothing had been', async () => {
    const { door, gateway } = await open({ bytes }, { ...quick, retryForMs: 1, upstreamMs: 1 })
    let left = 10
    door.faults.input = away('connection_refused', () => left-- <= 0)
    expectSameBytes(await read(gateway.url), bytes)
    expect(gateway.integrity().complete).toBe(true)
  })

  test('an answer that stalls is dropped and asked for again', async () => {
    const { door, gateway } = await open({ bytes }, { ...quick, stallMs: 300 })
    door.faults.input = ({ response, request, n }) => {
      if (n !== 2 && n !== 4) return false
      if (n === 4) return true // not even a response head
      const [first, last] = request.headers.range!.match(/\d+/g)!.map(Number)
      response.writeHead(206, {
        etag: '"v1"',
        'content-length': String(last! - first! + 1),
        'content-range': `bytes ${first}-${last}/${bytes.length}`,
      })
      response.write(bytes.subarray(first, first! + 10))
      return true
    }
    expectSameBytes(await read(gateway.url), bytes)
    expect(gateway.integrity().complete).toBe(true)
  })
})

describe('a source that drips', () => {
  const slow = { windowMs: 150, minBytesPerSecond: 20_000 }

  test('is given up, however faithfully each byte comes', async () => {
    const { door, gateway, failures } = await open({ bytes }, { ...quick, ...slow })
    door.faults.input = ({ response, request }) => {
      const [first, last] = request.headers.range!.match(/\d+/g)!.map(Number)
      response.writeHead(206, {
        etag: '"v1"',
        'content-length': String(last! - first! + 1),
        'content-range': `bytes ${first}-${last}/${bytes.length}`,
      })
      let at = first!
      const timer = setInterval(() => response.write(bytes.subarray(at, (at += 20))), 10)
      response.once('close', () => clearInterval(timer))
      return true
    }
    expect(await read(gateway.url)).toBe('broken')
    expect(failures).toMatchObject([{ code: 'source_unreachable', message: expect.stringContaining('too slowly') }])
  })

  test('a slow reader is not a stalled source', async () => {
    const { gateway, failures } = await open({ bytes }, { ...quick, windowMs: 200, minBytesPerSecond: 100 })
    const body = (await fetch(gateway.url)).body!
    let size = 0
    for await (const chunk of body) {
      size += (chunk as Uint8Array).length
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect([size, failures]).toEqual([bytes.length, []])
  })
})

describe('a source that is not what it was', () => {
  test.each([
    [
      'answered 412 to If-Match',
      (door: FakeTaskApi) => void (door.source = { bytes: pseudoRandomBytes(300 * KIB, 2), etag: '"v2"' }),
    ],
    [
      'seen by its tag when the door does not check',
      (door: FakeTaskApi) => {
        door.source = { bytes: pseudoRandomBytes(300 * KIB, 2), etag: '"v2"' }
        door.faults.input = ({ request }) => {
          delete request.headers['if-match']
          return false
        }
      },
    ],
    [
      'told by a bare 412',
      (door: FakeTaskApi) => {
        door.faults.input = ({ response }) => {
          response.writeHead(412).end()
          return true
        }
      },
    ],
    ['seen by its size', (door: FakeTaskApi) => void (door.source = { bytes: pseudoRandomBytes(200 * KIB, 1) })],
  ])('a change in the middle, %s, is source_changed', async (_how, change) => {
    const { door, gateway, failures } = await open({ bytes })
    expectSameBytes(await read(gateway.url, 'bytes=0-9'), bytes.subarray(0, 10))
    change(door)
    // Bytes that both versions have in common: a reader that ignores the answer's head would pass them on.
    expect(await read(gateway.url, 'bytes=100000-100009')).toBe('broken')
    expect(gateway.integrity()).toMatchObject({ complete: false, error: { code: 'source_changed' } })
    expect(failures).toHaveLength(1)
  })

  test.each(['source_not_found', 'source_forbidden', 'source_address_refused'])(
    '%s is told at once, in the words of the door',
    async (code) => {
      const { door, gateway } = await open({ bytes })
      door.faults.input = ({ response }) => {
        response.setHeader('x-source-error', code)
        sendJson(response, 502, { error: { code: 'source_unreachable', message: 'The store said no.' } })
        return true
      }
      const error = await gateway.open().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(TaskError)
      expect(error).toMatchObject({ code, message: 'The store said no.' })
      expect(door.counts.get('input')).toBe(1)
    },
  )

  test('an empty source is not media', async () => {
    const { gateway } = await open({ bytes: Buffer.alloc(0) })
    await expect(gateway.open()).rejects.toMatchObject({ code: 'source_not_media' })
  })

  test('a stale attempt stops reading without an error about the source', async () => {
    const { door, gateway, failures } = await open({ bytes })
    door.faults.input = ({ response, n }) => {
      if (n < 2) return false
      sendJson(response, 409, { error: { code: 'stale_attempt', message: 'newer' } })
      return true
    }
    expect(await read(gateway.url)).toBe('broken')
    expect(failures[0]).toBeInstanceOf(StaleAttempt)
  })
})

describe('a source without ranges', () => {
  test.each([
    ['with a length', true],
    ['without a length', false],
  ])('%s is one stream, again for every reader', async (_name, length) => {
    const { gateway } = await open({ bytes, ranges: false, length })
    for (const range of [undefined, 'bytes=0-']) {
      const response = await fetch(gateway.url, range === undefined ? {} : { headers: { range } })
      expect(response.status).toBe(200)
      expect(response.headers.get('accept-ranges')).toBe('none')
      expect(response.headers.get('content-length')).toBe(length ? '307200' : null)
      expectSameBytes(Buffer.from(await response.arrayBuffer()), bytes)
    }
    expect((await fetch(gateway.url, { headers: { range: 'bytes=5-' } })).status).toBe(416)
    expect(gateway.integrity().complete).toBe(true)
  })

  test.each([true, false])('a break in the middle is source_incomplete (length known: %s)', async (length) => {
    const { door, gateway, failures } = await open({ bytes, ranges: false, length })
    door.faults.input = ({ request, response }) => {
      door.input(request, response, 150 * KIB)
      return true
    }
    expect(await read(gateway.url)).toBe('broken')
    expect(gateway.integrity()).toMatchObject({ complete: false, error: { code: 'source_incomplete' } })
    expect(failures).toHaveLength(1)
  })

  test('a clean end before the length that the first answer named is a break', async () => {
    const { door, gateway } = await open({ bytes, ranges: false })
    expectSameBytes(await read(gateway.url), bytes)
    door.faults.input = ({ response }) => {
      response.writeHead(200, { etag: '"v1"', 'accept-ranges': 'none' }) // chunked
      response.end(bytes.subarray(0, 1000))
      return true
    }
    expect(await read(gateway.url)).toBe('broken')
    expect(gateway.integrity()).toMatchObject({ complete: false, error: { code: 'source_incomplete' } })
  })
})

test.each([
  [undefined, 10, null],
  ['bytes=0-4', 10, { first: 0, last: 4 }],
  ['bytes=9-', 10, { first: 9, last: 9 }],
  ['bytes=10-', 10, 'none'],
  ['bytes=-0', 10, 'none'],
  ['bytes=-20', 10, { first: 0, last: 9 }],
  ['bytes=5-4', 10, null],
  ['bytes=0-1,3-4', 10, null],
  ['items=0-1', 10, null],
])('the range %s of %d bytes', (header, size, expected) => {
  expect(parseRange(header, size)).toEqual(expected)
})
