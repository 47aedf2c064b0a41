// In charge of: a file that leaves as parts while it is written: which parts, when, and that they make the same file.
import { appendFile, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { collect } from '../../../support/transcoder/garbageCollection.ts'
import { Door } from '../../../../transcoder/taskApi/taskClient.ts'
import { watchGrowth } from '../../../../transcoder/upload/fileGrowth.ts'
import { Lanes } from '../../../../transcoder/upload/transferLimiter.ts'
import {
  finalityOf,
  ObjectUpload,
  type Finality,
  type StoredObject,
} from '../../../../transcoder/upload/objectUpload.ts'
import { FakeDoor, json, noise, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'

const MIB = 1024 * 1024
let door: FakeDoor
let directory: string
let file: string
let abort: AbortController
let failures: Error[]
let lanes: Lanes

beforeEach(async () => {
  door = await new FakeDoor().start()
  door.partSize = 8 * MIB
  directory = await mkdtemp(join(tmpdir(), 'upload-test-'))
  file = join(directory, 'out')
  abort = new AbortController()
  failures = []
  lanes = new Lanes(4)
})
afterEach(async () => {
  abort.abort()
  await door.stop()
  await rm(directory, { recursive: true, force: true })
})

function upload(finality: Finality): ObjectUpload {
  const client = new Door({ base: door.url, taskId: 't-1', token: door.token, backoff: { baseMs: 1, maxMs: 2 } })
  return new ObjectUpload(file, { path: 'a.ts', content_type: 'video/mp2t', expected_size: 100 * MIB }, finality, {
    door: client,
    lanes,
    signal: abort.signal,
    onFailure: (error) => failures.push(error),
  })
}

const only = () => door.uploads.values().next().value!
const sent = (n: number) => door.until(() => only()?.parts.has(n) ?? false)

function expectWhole(stored: StoredObject, bytes: Buffer): void {
  expect(stored.size).toBe(bytes.length)
  expect(stored.sha256).toBe(sha256(bytes))
  expect(stored.parts.map((part) => part.n)).toEqual(stored.parts.map((_part, index) => index + 1))
  const parts = stored.parts.map(({ n }) => only().parts.get(n)!)
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  for (const part of parts.slice(0, -1)) expect(part.length).toBe(door.partSize)
  expect(door.breaches).toEqual([])
}

describe('a transport stream', () => {
  test('leaves part by part while it grows, and only the rest is left for the end', async () => {
    const bytes = noise(26 * MIB + 12_345)
    const object = upload({ kind: 'appended' })
    await writeFile(file, bytes.subarray(0, 5 * MIB))
    object.advance(5 * MIB)
    expect(door.counts.get('uploads')).toBeUndefined() // nothing is opened for a file that may stay small
    await appendFile(file, bytes.subarray(5 * MIB, 17 * MIB))
    object.advance(10 * MIB)
    await sent(1)
    object.advance(17 * MIB)
    await sent(2)
    expect(new Set(only().parts.keys())).toEqual(new Set([1, 2]))
    await appendFile(file, bytes.subarray(17 * MIB))
    expectWhole(await object.finish(), bytes)
    expect(door.counts.get('part')).toBe(4) // no part twice
    expect(lanes.figures().bytesStored).toBe(bytes.length)
  })

  test('of one short part is one part', async () => {
    const bytes = noise(1000)
    await writeFile(file, bytes)
    const stored = await upload({ kind: 'appended' }).finish()
    expect(stored.parts).toHaveLength(1)
    expectWhole(stored, bytes)
  })

  test.each([8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB])('of %d bytes has no empty part', async (size) => {
    const bytes = noise(size)
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

describe('an mp4 with room kept for its header', () => {
  test('sends what lies behind the room, rewrites the head at the end, and the head leaves last', async () => {
    const bytes = noise(40 * MIB)
    const headBytes = 9 * MIB
    const object = upload(finalityOf('mp4', headBytes - 4096))
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
    expect(door.counts.get('part')).toBe(5)
    expect(new Set(only().order.slice(0, 2))).toEqual(new Set([3, 4]))
  })

  test('without room nothing leaves before the end', async () => {
    const bytes = noise(20 * MIB)
    await writeFile(file, bytes)
    const object = upload(finalityOf('mp4', null))
    object.advance(20 * MIB)
    expect(door.counts.size).toBe(0)
    expectWhole(await object.finish(), bytes)
  })
})

describe('trouble', () => {
  test('a refusal for good is told at once, and finish throws it', async () => {
    await writeFile(file, noise(20 * MIB))
    door.faults.uploads = ({ response }) => {
      json(response, 403, { error: { code: 'output_forbidden', message: 'The bucket refused.' } })
      return true
    }
    const object = upload({ kind: 'appended' })
    object.advance(20 * MIB)
    await expect(object.finish()).rejects.toMatchObject({ code: 'output_forbidden' })
    expect(failures).toHaveLength(1)
  })

  test('a part refused for good ends the object, and settle waits for the others', async () => {
    await writeFile(file, noise(40 * MIB))
    door.faults.part = ({ request, response, n }) => {
      if (n !== 2) return false
      request.resume()
      json(response, 403, { error: { code: 'output_forbidden', message: 'The bucket refused.' } })
      return true
    }
    const object = upload({ kind: 'appended' })
    await expect(object.finish()).rejects.toMatchObject({ code: 'output_forbidden' })
    abort.abort()
    await object.settle()
    expect(failures).toHaveLength(1)
  })

  test('parts that fail now and then arrive all the same', async () => {
    const bytes = noise(60 * MIB)
    await writeFile(file, bytes)
    door.faults.part = ({ response, n }) => {
      if (n % 3 !== 0) return false
      response.destroy()
      return true
    }
    expectWhole(await upload({ kind: 'appended' }).finish(), bytes)
    expect(door.counts.get('part')!).toBeGreaterThan(8)
    expect(failures).toEqual([])
  })
})

test('no more transfers than lanes run at once, and none waits for ever', async () => {
  const signal = new AbortController().signal
  let running = 0
  let most = 0
  let now = 0
  const timed = new Lanes(4, () => now)
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
  // 40 transfers of 0.1 s, counted as wall time with at least one under way; the lost one stored nothing.
  expect(timed.figures()).toEqual({ bytesStored: 390, transferSeconds: 4 })
  now += 5000
  expect(timed.figures().transferSeconds).toBe(4)
})

test('memory stays small: a 200 MiB file is never held', async () => {
  const handle = await open(file, 'w')
  const block = noise(4 * MIB)
  for (let n = 0; n < 50; n++) await handle.write(block)
  await handle.close()
  door.partSize = 32 * MIB
  // The fake keeps no bytes here: what is measured must be the sender.
  door.faults.part = async ({ request, response }) => {
    for await (const _chunk of request);
    json(response, 200, { etag: 'x' })
    return true
  }
  const buffers = () => process.memoryUsage().arrayBuffers
  const before = buffers()
  let most = 0
  // Only what is held counts, not what a busy machine has had no time to clear.
  const timer = setInterval(() => {
    collect()
    most = Math.max(most, buffers())
  }, 50)
  const stored = await upload({ kind: 'appended' }).finish()
  clearInterval(timer)
  expect(stored.size).toBe(200 * MIB)
  expect(most).toBeGreaterThan(0)
  expect(most - before).toBeLessThan(96 * MIB) // two whole parts of the four in flight would be 64 MiB
})

test('the watch reports growth and is quiet once stopped', async () => {
  const seen: [number, number][] = []
  let grown = Promise.withResolvers<void>()
  const watch = watchGrowth(
    [file, join(directory, 'absent')],
    (index, size) => {
      seen.push([index, size])
      grown.resolve()
    },
    1_000_000,
  )
  await writeFile(file, 'abc')
  watch.poke()
  await grown.promise
  grown = Promise.withResolvers()
  await appendFile(file, 'de')
  watch.poke()
  watch.poke()
  await grown.promise
  await watch.stop()
  await appendFile(file, 'f')
  watch.poke()
  expect((await stat(file)).size).toBe(6)
  expect(seen).toEqual([
    [0, 3],
    [0, 5],
  ])
})
