// In charge of: finished segments before their upload: how many wait, which are sent in parts, which stay on disk, and
// the order of the tar.
// Not in charge of: whole attempts (node/transcoder/pipeline/segmentedOutput.test.ts).
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TaskClient } from '../../../../transcoder/taskApi/taskClient.ts'
import { UploadQueue } from '../../../../transcoder/upload/uploadQueue.ts'
import { SegmentBuffer, type StoredBytes } from '../../../../transcoder/upload/segmentBuffer.ts'
import { TarUpload } from '../../../../transcoder/upload/tarUpload.ts'
import { TransferLimiter } from '../../../../transcoder/upload/transferLimiter.ts'
import { sendJson, pseudoRandomBytes, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const KIB = 1024
const taskApi = useTaskApi()
let directory: string
let client: TaskClient
let limiter: TransferLimiter
let failures: Error[]
const abort = new AbortController()
beforeEach(async () => {
  taskApi.task = segmentedTask({ output_container: 'hls' })
  directory = await mkdtemp(join(tmpdir(), 'outbox-test-'))
  client = new TaskClient({ base: taskApi.url, taskId: 't-1', token: taskApi.token, backoff: { baseMs: 1, maxMs: 2 } })
  limiter = new TransferLimiter(4)
  failures = []
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

function outbox(options: { maxInFlight?: number; maxPutBytes?: number } = {}): UploadQueue {
  return new UploadQueue({
    taskClient: client,
    limiter,
    signal: abort.signal,
    onFailure: (error) => failures.push(error),
    ...options,
  })
}

let made = 0
async function storedBytes(bytes: Buffer): Promise<StoredBytes> {
  made += 1
  const segmentBuffer = new SegmentBuffer(join(directory, `${made}`))
  for (let at = 0; at < bytes.length; at += 60_000) await segmentBuffer.write(bytes.subarray(at, at + 60_000))
  return segmentBuffer.finish()
}
/** The n-th segment, named as in the job's first attempt. */
const segment = (n: number) => `out/video_0/j-1-1/${String(n).padStart(5, '0')}.m4s`
const item = (path: string, held: StoredBytes) => ({ path, contentType: 'video/mp4', profile: 0, content: held })

test('small objects never touch the disk; large ones are gone from it once they are stored', async () => {
  const queue = outbox()
  queue.enqueue(item(segment(1), await storedBytes(pseudoRandomBytes(100 * KIB))))
  expect(await readdir(directory)).toEqual([])
  const large = pseudoRandomBytes(3000 * KIB)
  const held = await storedBytes(large)
  expect(held.sha256).toBe(sha256(large))
  expect(await readdir(directory)).toHaveLength(1)
  queue.enqueue(item(segment(2), held))
  expect(await queue.drain()).toEqual([])
  expect(taskApi.outputs.get(segment(2))!.equals(large)).toBe(true)
  expect(await readdir(directory)).toEqual([])
  expect(taskApi.breaches).toEqual([])
})

test('an object above the request limit is sent as a multipart upload, and is part of the commit', async () => {
  const bytes = pseudoRandomBytes(3000 * KIB)
  taskApi.partSize = 1000 * KIB
  const box = outbox({ maxPutBytes: 2000 * KIB })
  box.enqueue(item(segment(1), await storedBytes(bytes)))
  const objects = await box.drain()
  expect(objects).toMatchObject([{ path: segment(1), size: bytes.length, sha256: sha256(bytes), role: 'media' }])
  expect(objects[0]!.parts).toHaveLength(3)
  expect(taskApi.outputs.size).toBe(0)
})

test('queue space is free again as soon as a segment is stored', async () => {
  const gate = Promise.withResolvers<void>()
  taskApi.faults.output = async ({ n }) => {
    if (n > 1) await gate.promise
    return false
  }
  const box = outbox({ maxInFlight: 2 })
  await box.waitForCapacity()
  for (const n of [1, 2]) box.enqueue(item(segment(n), await storedBytes(pseudoRandomBytes(10))))
  await box.waitForCapacity()
  box.enqueue(item(segment(3), await storedBytes(pseudoRandomBytes(10))))
  const waiting = box.waitForCapacity().then(() => 'room')
  expect(box.isFull).toBe(true)
  expect(await Promise.race([waiting, Promise.resolve('none')])).toBe('none')
  gate.resolve()
  expect(await waiting).toBe('room')
  await box.drain()
  expect(box.isFull).toBe(false)
})

test('a permanent error is reported once, and thrown to every waiting caller', async () => {
  taskApi.faults.output = ({ response }) => {
    sendJson(response, 403, { error: { code: 'output_forbidden', message: 'no' } })
    return true
  }
  const box = outbox({ maxInFlight: 1 })
  box.enqueue(item(segment(1), await storedBytes(pseudoRandomBytes(10))))
  await expect(box.waitForCapacity()).rejects.toMatchObject({ code: 'output_forbidden' })
  await expect(box.drain()).rejects.toMatchObject({ code: 'output_forbidden' })
  expect(failures).toHaveLength(1)
})

test('tar members are written in order; a member that waits for another stream blocks no other upload', async () => {
  const box = outbox({ maxInFlight: 1 })
  const request = { path: 'show.tar', content_type: 'application/x-tar', expected_size: 1e6 }
  taskApi.partSize = 300 * KIB
  const tar = new TarUpload({ taskClient: client, limiter, signal: abort.signal, uploads: box, request, streams: 2 })
  const bytes = ['a1', 'a2', 'a3', 'b1'].map((_name, index) => pseudoRandomBytes(700 * KIB, index + 1))
  const [a1, a2, a3, b1] = await Promise.all(bytes.map(storedBytes))
  // The first stream is far ahead; its first member is written, the others wait on disk and do not count.
  tar.addSegment(0, [{ path: 'a1', content: a1! }])
  // It was stored as a separate object meanwhile, which must not remove it from disk.
  box.enqueue(item(segment(2), a2!))
  tar.addSegment(0, [{ path: 'a2', content: a2! }])
  tar.addSegment(0, [{ path: 'a3', content: a3! }])
  await box.waitForCapacity()
  expect(await readdir(directory)).toHaveLength(3)
  tar.addSegment(1, [{ path: 'b1', content: b1! }])
  tar.endStream(1)
  tar.endStream(0)
  const object = await tar.finish([])
  await box.drain()
  expect([...tar.layout.ranges.keys()]).toEqual(['a1', 'b1', 'a2', 'a3'])
  expect(await readdir(directory)).toEqual([])
  const parts = [...taskApi.uploads.values()][0]!.parts
  const whole = Buffer.concat(object.parts.map(({ n }) => parts.get(n)!))
  expect([whole.length, sha256(whole)]).toEqual([object.size, object.sha256])
  for (const [index, name] of ['a1', 'a2', 'a3', 'b1'].entries()) {
    const { offset, bytes: length } = tar.layout.ranges.get(name)!
    expect(whole.subarray(offset, offset + length).equals(bytes[index]!)).toBe(true)
  }
})
