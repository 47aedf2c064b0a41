// In charge of: a second job with the directory of a first one, while players read it: in a bucket, where both write
// the same names.
import { beforeAll, expect, test } from 'vitest'
import { S3Server } from '../../../fakes/s3Server.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import { jobRequest, Service } from '../../../support/service.ts'

const DIRECTORY = 'films/show/'
const keys = { accessKey: 'AKIAEXAMPLE', secretKey: 'secret' }
let service: Service
let s3: S3Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  s3 = resources.use(
    await S3Server.start({ accounts: [keys], buckets: ['films'], region: 'eu-west-1', equalParts: true }),
  )
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: s3.host }))
  input = await service.upload(await makeClip(tempDir.file('clip.mp4'), { seconds: 6 }))
})

const job = (): Promise<number> =>
  service.create(
    jobRequest(input, 'file-upload', {
      bucket_output_path: 's3://films/show',
      segmented_output_hls: true,
      segmented_output_dash: true,
      segment_length: 1,
      videoProfiles: [
        { output: 'high', width: 320, height: 180, video_bitrate: 400 },
        { output: 'low', width: 160, height: 90, video_bitrate: 150 },
      ],
      cloud_credentials: {
        input: { cloud_provider: 'file-upload' },
        output: {
          cloud_provider: 'aws',
          access_key: keys.accessKey,
          secret_key: keys.secretKey,
          region: 'eu-west-1',
          endpoint: `http://${s3.host}`,
        },
      },
    }),
  )

const text = (name: string): string => {
  const found = s3.objects.get(DIRECTORY + name)
  if (found === undefined) throw new Error(`${name} is missing`)
  return Buffer.from(found.bytes).toString()
}

/** What a player that starts now fetches: the attempts whose segments it would play. Throws if one is missing. */
function read(): Set<string> {
  readDash()
  return readHls()
}

function readHls(): Set<string> {
  const attempts = new Set<string>()
  const master = text('master.m3u8')
  const playlists = [...master.matchAll(/^(?!#).+$|URI="([^"]+\.m3u8)"/gm)].map(([line, uri]) => uri ?? line)
  expect(playlists.length).toBeGreaterThanOrEqual(3)
  for (const playlist of playlists) {
    const own = new Set<string>()
    for (const { uri } of listSegments(text(playlist))) {
      text(playlist.replace(/[^/]*$/, '') + uri)
      own.add(uri.split('/')[0]!)
    }
    expect(own.size, playlist).toBe(1)
    for (const attempt of own) attempts.add(attempt)
  }
  return attempts
}

function readDash(): void {
  const mpd = text('manifest.mpd')
  const listed = [...mpd.matchAll(/initialization="([^"]+)"/g)].map(([, uri]) => uri!)
  expect(listed.length).toBeGreaterThanOrEqual(3)
  for (const uri of listed) text(uri)
}

test('a player that comes at any moment finds every segment, and no playlist mixes two jobs', async () => {
  const reasons: unknown[] = []
  // The multivariant playlist and the MPD are written last: if they exist, everything exists.
  s3.onWrite = () => {
    try {
      if (s3.objects.has(`${DIRECTORY}master.m3u8`)) readHls()
      if (s3.objects.has(`${DIRECTORY}manifest.mpd`)) readDash()
    } catch (error) {
      reasons.push(error)
    }
  }
  await service.waitForEnd(await job())
  const [first] = read()
  const before = [...s3.objects.keys()].filter((key) => key.includes(first!))
  // Checked after every single write of the second job.
  const seen: Set<string>[] = []
  s3.onWrite = () => {
    try {
      seen.push(read())
    } catch (error) {
      reasons.push(error)
    }
  }
  const second = await service.waitForEnd(await job())
  s3.onWrite = () => undefined
  expect(second).toMatchObject({ state: 'ready', error: null })
  expect(reasons).toEqual([])
  expect(seen.length).toBeGreaterThan(30)
  const [last] = read()
  expect(last).not.toBe(first)
  // Until the commit everything belongs to the first job; players that started with it can continue.
  const firstOfBoth = seen.findIndex((attempts) => attempts.has(last!))
  expect(seen.slice(0, firstOfBoth).every((attempts) => attempts.size === 1 && attempts.has(first!))).toBe(true)
  expect(firstOfBoth).toBeGreaterThan(20)
  for (const key of before) expect(s3.objects.has(key)).toBe(true)
})
