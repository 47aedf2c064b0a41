// In charge of: a file that is uploaded in parts while it is written: which parts, when, and that they form the same
// file.
import { appendFile, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gc } from '../../../support/transcoder/garbageCollection.ts'
import { TaskClient } from '../../../../transcoder/taskApi/taskClient.ts'
import { pollGrowth } from '../../../../transcoder/upload/fileGrowth.ts'
import { TransferLimiter } from '../../../../transcoder/upload/transferLimiter.ts'
import {
  writeModeOf,
  ObjectUpload,
  type WriteMode,
  type UploadedObject,
} from '../../../../transcoder/upload/objectUpload.ts'
import { sendJson, pseudoRandomBytes, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const MIB = 1024 * 1024
const taskApi = useTaskApi()
let directory: string
let file: string
let abort: AbortController
let failures: Error[]
let limiter: TransferLimiter

beforeEach(async () => {
  taskApi.partSize = 8 * MIB
  directory = await mkdtemp(join(tmpdir(), 'upload-test-'))
  file = join(directory, 'out')
  abort = new AbortController()
  failures = []
  limiter = new TransferLimiter(4)
})
afterEach(async () => {
  abort.abort()
  await rm(directory, { recursive: true, force: true })
})

function upload(finality: WriteMode): ObjectUpload {
  const client = new TaskClient({
    base: taskApi.url,
    taskId: 't-1',
    token: taskApi.token,
    backoff: { baseMs: 1, maxMs: 2 },
  })
  return new ObjectUpload(file, { path: 'a.ts', content_type: 'video/mp2t', expected_size: 100 * MIB }, finality, {
    taskClient: client,
    limiter,
    signal: abort.signal,
    onFailure: (error) => failures.push(error),
  })
}

const only = () => taskApi.uploads.values().next().value!
const sent = (n: number) => taskApi.waitFor(() => only()?.parts.has(n) ?? false)

function expectWhole(stored: UploadedObject, bytes: Buffer): void {
  expect(stored.size).toBe(bytes.length)
  expect(stored.sha256).toBe(sha256(bytes))
  expect(stored.parts.map((part) => part.n)).toEqual(stored.parts.map((_part, index) => index + 1))
  const parts = stored.parts.map(({ n }) => only().parts.get(n)!)
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  for (const part of parts.slice(0, -1)) expect(part.length).toBe(taskApi.partSize)
  expect(taskApi.breaches).toEqual([])
}

describe('a transport stream', () => {
  test('parts are sent while the file grows, and only the remainder at the end', async () => {
    const bytes = pseudoRandomBytes(26 * MIB + 12_345)
    const object = upload({ kind: 'appended' })
    await writeFile(file, bytes.subarray(0, 5 * MIB))
    object.advance(5 * MIB)
    expect(taskApi.counts.get('uploads')).toBeUndefined() // no upload is opened for a file that may stay small
    await appendFile(file, bytes.subarray(5 * MIB, 17 * MIB))
    object.advance(10 * MIB)
    await sent(1)
    object.advance(17 * MIB)
    await sent(2)
    expect(new Set(only().parts.keys())).toEqual(new Set([1, 2]))
    await appendFile(file, bytes.subarray(17 * MIB))
    expectWhole(await object.finish(), bytes)
    expect(taskApi.counts.get('part')).toBe(4) // no part twice
    expect(limiter.stats().bytesStored).toBe(bytes.length)
  })

  test('of one short part is one part', async () => {
    const bytes = pseudoRandomBytes(1000)
    await writeFile(file, bytes)
    const stored = await upload({ kind: 'appended' }).finish()
    expect(stored.parts).toHaveLength(1)
    expectWhole(stored, bytes)
  })

  test.each([8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB])('of %d bytes has no empty part', async (size) => {
    const bytes = pseudoRandomBytes(size)
    await writeFile(file, bytes)
    const stored = await upload({ kind: 'appended' }).finish()
    expect(stored.parts).toHaveLength(Math.ceil(size / (8 * MIB)))
    expectWhole(stored, bytes)
  })

  test('of nothing is output_incomplete', async () => {
    await writeFile(file, '')
    await expect(upload({ kind: 'appended' }).finish()).rejects.toMatchObject({ code: 'output_incomplete' })
  })
})

describe('an mp4 with reserved space for its header', () => {
  test('sends the parts after the reserved space, rewrites the header at the end, and sends it last', async () => {
    const bytes = pseudoRandomBytes(40 * MIB)
    const headBytes = 9 * MIB
    const object = upload(writeModeOf('mp4', headBytes - 4096))
    const before = Buffer.concat([Buffer.alloc(headBytes), bytes.subarray(headBytes)])
    await writeFile(file, before.subarray(0, 39 * MIB))
    object.advance(39 * MIB)
    await Promise.all([sent(3), sent(4)])
    expect(new Set(only().parts.keys())).toEqual(new Set([3, 4]))
    const handle = await open(file, 'r+')
    await handle.write(bytes, 0, headBytes, 0)
    await handle.write(bytes, 39 * MIB, MIB, 39 * MIB)
    await handle.close()
    expectWhole(await object.finish(), bytes)
    expect(taskApi.counts.get('part')).toBe(5)
    expect(new Set(only().order.slice(0, 2))).toEqual(new Set([3, 4]))
  })

  test('without reserved space nothing is sent before the end', async () => {
    const bytes = pseudoRandomBytes(20 * MIB)
    await writeFile(file, bytes)
    const object = upload(writeModeOf('mp4', null))
    object.advance(20 * MIB)
    expect(taskApi.counts.size).toBe(0)
    expectWhole(await object.finish(), bytes)
  })
})

describe('trouble', () => {
  test('a permanent error is reported immediately, and finish throws it', async () => {
    await writeFile(file, pseudoRandomBytes(20 * MIB))
    taskApi.faults.uploads = ({ response }) => {
      sendJson(response, 403, { error: { code: 'output_forbidden', message: 'The bucket refused.' } })
      return true
    }
    const object = upload({ kind: 'appended' })
    object.advance(20 * MIB)
    await expect(object.finish()).rejects.toMatchObject({ code: 'output_forbidden' })
    expect(failures).toHaveLength(1)
  })

  test('a part that fails permanently ends the upload, and waitForTransfers waits for the other parts', async () => {
    await writeFile(file, pseudoRandomBytes(40 * MIB))
    taskApi.faults.part = ({ request, response, n }) => {
      if (n !== 2) return false
      request.resume()
      sendJson(response, 403, { error: { code: 'output_forbidden', message: 'The bucket refused.' } })
      return true
    }
    const object = upload({ kind: 'appended' })
    await expect(object.finish()).rejects.toMatchObject({ code: 'output_forbidden' })
    abort.abort()
    await object.waitForTransfers()
    expect(failures).toHaveLength(1)
  })

  test('parts that fail now and then arrive all the same', async () => {
    const bytes = pseudoRandomBytes(60 * MIB)
    await writeFile(file, bytes)
    taskApi.faults.part = ({ response, n }) => {
      if (n % 3 !== 0) return false
      response.destroy()
      return true
    }
    expectWhole(await upload({ kind: 'appended' }).finish(), bytes)
    expect(taskApi.counts.get('part')!).toBeGreaterThan(8)
    expect(failures).toEqual([])
  })
})

test('no more transfers than the limit run at once, and every one gets its turn', async () => {
  const signal = new AbortController().signal
  let running = 0
  let most = 0
  let now = 0
  const timed = new TransferLimiter(4, () => now)
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      timed
        .run(10, signal, async () => {
          most = Math.max(most, ++running)
          await new Promise(setImmediate)
          now += 100
          running--
          if (index === 7) throw new Error('lost')
        })
        .catch(() => undefined),
    ),
  )
  expect(most).toBe(4)
  // 40 transfers of 0.1 s, counted as wall-clock time with at least one active; the lost one stored nothing.
  expect(timed.stats()).toEqual({ bytesStored: 390, transferSeconds: 4 })
  now += 5000
  expect(timed.stats().transferSeconds).toBe(4)
})

test('memory stays small: a file of 128 MiB is never held', async () => {
  const handle = await open(file, 'w')
  const block = pseudoRandomBytes(4 * MIB)
  for (let n = 0; n < 32; n++) await handle.write(block)
  await handle.close()
  taskApi.partSize = 32 * MIB
  const buffers = () => process.memoryUsage().arrayBuffers
  const before = buffers()
  let most = 0
  /** Only memory in use counts, not garbage that was not collected yet. */
  const measure = (): void => {
    gc()
    most = Math.max(most, buffers())
  }
  // The fake keeps no bytes here: only the sender's memory is measured.
  taskApi.faults.part = async ({ request, response }) => {
    measure()
    for await (const _chunk of request);
    measure()
    sendJson(response, 200, { etag: 'x' })
    return true
  }
  const stored = await upload({ kind: 'appended' }).finish()
  expect(stored.size).toBe(128 * MIB)
  expect(most).toBeGreaterThan(0)
  expect(most - before).toBeLessThan(96 * MIB) // two whole parts of the four in flight would be 64 MiB
})

test('the file watcher reports growth, and nothing after it was stopped', async () => {
  const seen: [number, number][] = []
  let grown = Promise.withResolvers<void>()
  const watch = pollGrowth(
    [file, join(directory, 'absent')],
    (index, size) => {
      seen.push([index, size])
      grown.resolve()
    },
    1_000_000,
  )
  await writeFile(file, 'abc')
  watch.pollNow()
  await grown.promise
  grown = Promise.withResolvers()
  await appendFile(file, 'de')
  watch.pollNow()
  watch.pollNow()
  await grown.promise
  await watch.stop()
  await appendFile(file, 'f')
  watch.pollNow()
  expect((await stat(file)).size).toBe(6)
  expect(seen).toEqual([
    [0, 3],
    [0, 5],
  ])
})
