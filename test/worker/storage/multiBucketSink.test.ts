// In charge of: outputs of one job in several buckets as one sink: each operation reaches the bucket that its path is
// marked with; and presigned addresses, checked by a strict server.
import { beforeEach, expect, test } from 'vitest'
import { FakeS3 } from '../../fakes/s3.ts'
import { multiBucketSink } from '../../../worker/storage/multiBucketSink.ts'
import { s3BucketAddress } from '../../../worker/storage/s3/bucketAddress.ts'
import { sigV4Presigner, sigV4Signer } from '../../../worker/storage/s3/sigV4.ts'
import { s3Sink } from '../../../worker/storage/s3/s3Sink.ts'
import type { Sink } from '../../../worker/storage/objectStore.ts'

const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const bytes = new TextEncoder().encode('sixteen of bytes')
let now = 0
let fake: FakeS3
let sink: Sink
beforeEach(() => {
  now = Date.UTC(2026, 10, 22, 9)
  fake = new FakeS3({ accounts: [keys], buckets: ['films', 'sound', 'more'], region: 'eu-west-1', now: () => now })
  const open = (bucket: string): Sink => {
    const bucketAddress = s3BucketAddress(bucket, 'eu-west-1', null)
    const clock = () => now
    const sign = sigV4Signer(keys, bucketAddress.region, clock)
    const presign = sigV4Presigner(keys, bucketAddress.region, clock)
    return s3Sink(
      { provider: 'aws', bucketAddress, sign, presign, transport: fake.fetch, supportsDeleteObjects: true },
      '',
    )
  }
  sink = multiBucketSink(
    open('films'),
    new Map([
      ['@sound', open('sound')],
      ['@more', open('more')],
    ]),
  )
})

const objects = (): string[] => [...fake.objects.keys()].toSorted()

test('objects, uploads and deletions go to the bucket that prefixes their path', async () => {
  await sink.put('a/x.mp4', bytes, 16, 'video/mp4')
  await sink.put('@sound/a/x.m4a', bytes, 16, 'audio/mp4')
  const upload = await sink.beginUpload('@more/y.mp4', 'video/mp4')
  const etag = await sink.uploadPart('@more/y.mp4', upload, 1, bytes, 16)
  await sink.completeUpload('@more/y.mp4', upload, [{ n: 1, etag }])
  expect(objects()).toEqual(['films/a/x.mp4', 'more/y.mp4', 'sound/a/x.m4a'])
  expect(await sink.stat('@sound/a/x.m4a')).toMatchObject({ size: 16 })
  expect(await sink.stat('@more/a/x.m4a')).toBeNull()
  expect(['a/x.mp4', '@sound/a/x.m4a'].map((path) => sink.location(path))).toEqual([
    's3://films/a/x.mp4',
    's3://sound/a/x.m4a',
  ])
  const begun = await sink.beginUpload('@sound/z', 'video/mp4')
  await sink.abortUpload('@sound/z', begun)
  expect(fake.uploads.size).toBe(0)
  await sink.deleteMany(['a/x.mp4', '@more/y.mp4'])
  await sink.delete('@sound/a/x.m4a')
  expect(objects()).toEqual([])
})

test('the write probe runs for each directory in its own bucket, and leftovers are named with the bucket prefix', async () => {
  const journaled: string[] = []
  for (const directory of ['a', '@sound', '@more/b'])
    await sink.probeWrite?.(directory, async (_upload, path) => void journaled.push(path))
  expect(journaled).toEqual(['a/.splicepoint', '@sound/.splicepoint', '@more/b/.splicepoint'])
  expect(fake.log.filter((line) => line.startsWith('CreateMultipartUpload'))).toEqual([
    'CreateMultipartUpload films/a/.splicepoint',
    'CreateMultipartUpload sound/.splicepoint',
    'CreateMultipartUpload more/b/.splicepoint',
  ])
})

test('an unknown bucket prefix is an ordinary directory, and no path leaves its bucket', async () => {
  await sink.put('@other/x', bytes, 16, 'video/mp4')
  expect(objects()).toEqual(['films/@other/x'])
  await expect(sink.put('@sound/../films/x', bytes, 16, 'video/mp4')).rejects.toMatchObject({ code: 'invalid' })
  await expect(sink.put('@sound', bytes, 16, 'video/mp4')).rejects.toMatchObject({ code: 'invalid' })
})

test('a presigned address reads its object for an hour, no other object, and nothing else', async () => {
  await sink.put('@sound/ü (1)/x+y.m4a', bytes, 16, 'audio/mp4')
  const address = (await sink.presignedUrl?.('@sound/ü (1)/x+y.m4a'))!
  expect(address).toContain('https://sound.s3.eu-west-1.amazonaws.com/')
  const read = (url: string, init?: RequestInit) => fake.fetch(url, init)
  expect(new Uint8Array(await (await read(address)).arrayBuffer())).toEqual(bytes)
  now += 3600_000
  expect((await read(address)).status).toBe(200)
  for (const wrong of [address.replace('x%2By', 'other'), address.replace('4200', '86400')])
    expect((await read(wrong)).status).toBe(403)
  expect((await read(address, { method: 'DELETE' })).status).toBe(403)
  now += 601_000
  expect((await read(address)).status).toBe(403)
})
