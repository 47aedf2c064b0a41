// In charge of: whole jobs on a server that answers as Ceph's RADOS Gateway does: multipart uploads whose completion
// has no ETag, a tar, segments; and that no newer S3 feature is used with it.
// Not in charge of: each operation by itself (test/worker/storage/s3/s3Store.test.ts).
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { S3Server } from '../../../fakes/s3Server.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service } from '../../../support/service.ts'

const keys = { accessKey: 'RGWUSER0KEY', secretKey: 'rgw-secret' }

let service: Service
let rgw: S3Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  rgw = resources.use(await S3Server.start({ accounts: [keys], buckets: ['films'], rgw: true }))
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 3, flags: ['-movflags', '+faststart'] })
  rgw.put('films/in/clip.mp4', await readFile(clip), 'video/mp4')
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: rgw.host }))
})
afterEach(() => {
  rgw.fault = () => null
  if (rgw.uploads.size > 0) throw new Error(`uploads are left: ${[...rgw.uploads.keys()].join(', ')}`)
  // It reads objects that may be missing; but every write is accepted.
  const refused = rgw.refused.splice(0).filter((line) => line.startsWith('P'))
  if (refused.length > 0) throw new Error(`refused: ${refused.join(', ')}`)
})

const job = (directory: string, change: object = {}): object =>
  jobRequest('s3://films/in/clip.mp4', 'http', {
    bucket_output_path: `s3://films/${directory}`,
    cloud_credentials: {
      input: {
        cloud_provider: 'aws',
        access_key: keys.accessKey,
        secret_key: keys.secretKey,
        endpoint: `http://${rgw.host}`,
      },
    },
    ...change,
  })

function hashOf(key: string): string {
  return createHash('sha256')
    .update(rgw.objects.get(key)?.bytes ?? '')
    .digest('hex')
}

test('a multipart upload is stored, and its completion is not taken for a failure', async () => {
  const status = await service.run(job('one'))
  expect(status).toMatchObject({ state: 'ready', error: null })
  expect(rgw.log).toContain('CompleteMultipartUpload films/one/video.mp4')
  expect(status.outputs.map(({ sha256 }) => sha256)).toEqual([hashOf('films/one/video.mp4')])
})

test('segments, playlists and a tar are there, each with the Cache-Control that suits it', async () => {
  const change = {
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    create_tar_file: true,
  }
  const status = await service.run(job('many', { ...change, videoProfiles: [profile] }))
  expect(status).toMatchObject({ state: 'ready', error: null })
  const paths = status.outputs.map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['many/master.m3u8', 'many/manifest.mpd']))
  expect(status.outputs.map(({ role }) => role)).toContain('tar')
  const kept = (name: RegExp) =>
    new Set(
      [...rgw.objects].flatMap(([key, { cache }]) => (key.startsWith('films/many/') && name.test(key) ? [cache] : [])),
    )
  expect(kept(/\.(m4s|mp4|ts)$/)).toEqual(new Set(['public, max-age=31536000, immutable']))
  expect(kept(/\.(m3u8|mpd|json)$/)).toEqual(new Set(['public, max-age=60']))
  expect(kept(/\.tar$/)).toEqual(new Set(['public, max-age=3600']))
  for (const { path, sha256 } of status.outputs) expect([path, hashOf(`films/${path}`)]).toEqual([path, sha256])
})
const profile = { output: 'high', width: 320, height: 180, video_bitrate: 400 }

test('cache_control of a job is that of each of its objects', async () => {
  const change = { segmented_output_hls: true, create_tar_file: true, videoProfiles: [profile] }
  const id = await service.create(job('chosen', { ...change, cache_control: 'private, max-age=5' }))
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
  const kept = [...rgw.objects].filter(([key]) => key.startsWith('films/chosen/')).map(([, { cache }]) => cache)
  expect(kept.length).toBeGreaterThan(5)
  expect(new Set(kept)).toEqual(new Set(['private, max-age=5']))
})

test('a completion whose answer is lost is asked again, and the second answer has no tag either', async () => {
  let left = 1
  rgw.alterAnswer = (operation, answer) =>
    operation === 'CompleteMultipartUpload' && left-- > 0 ? { status: 502, headers: {}, body: '' } : answer
  const status = await service.run(job('again'))
  rgw.alterAnswer = (_, answer) => answer
  expect(status).toMatchObject({ state: 'ready', error: null })
  expect(rgw.log.filter((line) => line === 'CompleteMultipartUpload films/again/video.mp4')).toHaveLength(2)
})
