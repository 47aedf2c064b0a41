// Sources without an end, or that are very slow (I13): limits for disk, memory and time.
import { once } from 'node:events'
import { mkdir, rm, statfs } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MinimumRate } from '../../../../../transcoder/source/minimumRate.ts'
import { DiskQuota } from '../../../../../transcoder/source/diskQuota.ts'
import { prepareSource } from '../../../../../transcoder/source/prepareSource.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { FakeTaskApi } from '../../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../../support/transcoder/useAttempts.ts'

const MIB = 1024 * 1024
const fixtures = await useAttemptFixture()

/** Packets without a payload: they may be media. Counts the bytes that were read. */
async function forever(response: ServerResponse, sent: { bytes: number }): Promise<void> {
  const packet = Buffer.alloc(188, 0xff)
  packet.set([0x47, 0x1f, 0xff, 0x10])
  const chunk = Buffer.concat(Array.from({ length: 5000 }, () => packet))
  while (!response.destroyed) {
    sent.bytes += chunk.length
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
}

describe('a body without an end', () => {
  test('without a length: the download ends at the size limit', async () => {
    await using taskApi = await openDoor()
    const sent = { bytes: 0 }
    taskApi.faults.input = ({ response }) => {
      response.writeHead(200, { 'content-type': 'video/mp2t' })
      void forever(response, sent)
      return true
    }
    const context = fixtures.context()
    await runTask(runRequest(taskApi), { ...context, settings: { ...context.settings, maxUnknownSizeBytes: 40 * MIB } })
    expect(taskApi.fails).toMatchObject([
      { reason: 'failed', error: { code: 'source_too_large', details: { room_bytes: 40 * MIB } } },
    ])
    expect(sent.bytes).toBeLessThan(60 * MIB)
    expect(await fixtures.workDirEntries()).toEqual([])
  })

  test('of an HLS segment: the download ends far above any valid segment size', async () => {
    await using door = await openDoor()
    door.source = { bytes: Buffer.from('#EXTM3U\n') }
    door.task = { ...door.task!, input_name: 'film.m3u8' }
    const segments = [{ seconds: 0.1, discontinuity: false, map: null, key: null, iv: null }]
    const tracks = [{ language: null, maps: [], segments, integer_durations: false }]
    door.hls = { description: { playlist_digest: 'p', ended: true, target_seconds: 1, tracks }, segments: [] }
    const sent = { bytes: 0 }
    door.faults.piece = ({ response }) => {
      response.writeHead(200)
      void forever(response, sent)
      return true
    }
    await runTask(runRequest(door), fixtures.context())
    expect(door.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_too_large' } }])
    expect(sent.bytes).toBeLessThan(100 * MIB)
    expect(await fixtures.workDirEntries()).toEqual([])
  })
})

describe('the disk quota of a source', () => {
  const options = { share: 0.5, maxBytes: 1000 * MIB }

  test('is a share of what is free, or the most that is allowed', async () => {
    expect((await DiskQuota.open('/nowhere', options, async () => 100 * MIB)).bytes).toBe(50 * MIB)
    expect((await DiskQuota.open('/nowhere', options, async () => 9000 * MIB)).bytes).toBe(1000 * MIB)
  })

  test('is full at its last byte, and a try that failed is not counted', async () => {
    const room = await DiskQuota.open('/nowhere', options, async () => 100 * MIB)
    await room.reserve(30 * MIB)
    room.release(30 * MIB)
    await room.reserve(50 * MIB)
    await expect(room.reserve(1)).rejects.toMatchObject({ code: 'source_too_large' })
  })

  test('ends early where others fill the disk: that may be better at another time', async () => {
    let free = 400 * MIB
    const room = await DiskQuota.open('/nowhere', options, async () => free)
    await room.reserve(100 * MIB)
    free = 150 * MIB
    await expect(room.reserve(33 * MIB)).rejects.toMatchObject({ code: 'disk_full' })
  })
})

test('all sources of one attempt share the quota: those that no longer fit remain streams', async () => {
  const workspace = { root: join(fixtures.directory, 'quota') }
  await mkdir(workspace.root)
  const { bavail, bsize } = await statfs(workspace.root)
  const stored: number[] = []
  for (const [piece, share] of [0.2, 0.2, 0.2, 0.01].entries()) {
    const size = Math.floor(share * bavail * bsize)
    const loopback = {
      open: async () => ({ size, ranges: false, head: new Uint8Array() }),
      read: async function* () {
        yield new Uint8Array(1)
      },
      replaceSource: async () => void stored.push(piece),
    }
    const attempt = {
      engine: {},
      workspace,
      loopback,
      log: { info() {} },
      controller: new AbortController(),
      settings: {},
    }
    await rm(join(workspace.root, 'source'), { recursive: true, force: true })
    await prepareSource(attempt as never, { allowHlsSource: false })
  }
  expect(stored).toEqual([0, 1, 3])
})

test('a body that drips is given up, and one whose reader is slow is not', async () => {
  const drops = async function* (pauseMs: number): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 1000; n++) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      yield new Uint8Array(1)
    }
  }
  const taken = async (windowMs: number, pauseMs: number, busyMs: number): Promise<number> => {
    let bytes = 0
    for await (const chunk of new MinimumRate({ windowMs, minBytesPerSecond: 20_000 }).throttleCheck(
      drops(pauseMs),
      performance.now(),
    )) {
      if (busyMs > 0) await new Promise((resolve) => setTimeout(resolve, busyMs))
      bytes += chunk.length
    }
    return bytes
  }
  await expect(taken(20, 2, 0)).rejects.toMatchObject({ code: 'source_unreachable' })
  // Far more of the reader's time than the limit, none of the source's.
  expect(await taken(500, 0, 1)).toBe(1000)
})

async function openDoor(): Promise<FakeTaskApi & AsyncDisposable> {
  const door = await new FakeTaskApi().start()
  door.task = describeTask({ container: 'mp4' })
  return Object.assign(door, { [Symbol.asyncDispose]: () => door.stop() })
}
