// In charge of: whole jobs that read from S3 and write to it: bytes, kills, and wrong credentials.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { S3Server } from '../../../fakes/s3Server.ts'
import { downloadAll } from '../../../../client/download/downloadAll.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { decodeFrames, makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

const keys = {
  accessKey: 'AKIACANARYKEY7EXAMPLE',
  secretKey: 'canary+secret/key',
  token: 'canary-token-of-the-session',
}
/** Of a permanent user: its keys can sign addresses. */
const lasting = { accessKey: 'AKIALASTING7EXAMPLE', secretKey: 'canary-lasting+secret/key' }
const KEY = 'in (1)/a b+c%20ü.mp4'

/**
 * A real server, if one is running (.ci/run): address, region, access key, secret key. 'none': no server is available.
 */
const [real = '', realRegion = '', realKey = '', realSecret = ''] = (process.env['S3_SERVER'] ?? '').split(' ')
const realHost = URL.parse(real)?.host ?? ''

let service: Service
let s3: S3Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 3, flags: ['-movflags', '+faststart'] })
  s3 = resources.use(
    await S3Server.start({
      accounts: [keys, lasting],
      buckets: ['films', 'sound'],
      region: 'eu-west-1',
      equalParts: true,
    }),
  )
  s3.put(`films/${KEY}`, await readFile(clip), 'video/mp4')
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: [s3.host, realHost].join(',') }))
})
afterEach(() => {
  s3.holdAnswer = () => null
  s3.fault = () => null
  // However a job ends, no incomplete upload remains, and no message contains a secret.
  if (s3.uploads.size > 0) throw new Error(`uploads are left: ${[...s3.uploads.keys()].join(', ')}`)
  if (/canary/i.test(service.stderr() + service.stdout.join('\n'))) throw new Error('a secret was logged')
})

const aws = (change: object = {}): object => ({
  cloud_provider: 'aws',
  access_key: keys.accessKey,
  secret_key: keys.secretKey,
  session_token: keys.token,
  region: 'eu-west-1',
  endpoint: `http://${s3.host}`,
  ...change,
})

const job = (change: object = {}): object => ({
  ...jobRequest(`s3://films/${KEY}`, 'http'),
  bucket_output_path: 's3://films/out +%/ü',
  cloud_credentials: { input: aws() },
  ...change,
})

test('a job reads from S3 and writes to it, with the input’s credentials for both', async () => {
  const status = await service.run(job())
  expect(status).toMatchObject({ state: 'ready', error: null, tcode_progress: '100', xfer_progress: '100' })
  const key = 'films/out +%/ü/video.mp4'
  expect(status.outputs).toMatchObject([
    // With temporary credentials there is no signed address, since it would contain the session token.
    { path: 'out +%/ü/video.mp4', url: null, location: `s3://${key}`, content_type: 'video/mp4' },
  ])
  const stored = s3.objects.get(key)
  expect(
    createHash('sha256')
      .update(stored?.bytes ?? '')
      .digest('hex'),
  ).toBe(status.outputs[0]?.sha256)
  expect(stored?.type).toBe('video/mp4')
  await writeFile(tempDir.file('out.mp4'), stored?.bytes ?? '')
  expect(await decodeFrames(tempDir.file('out.mp4'))).toHaveLength(75)
  expect([...s3.objects.keys()].toSorted()).toEqual([`films/${KEY}`, key])
})

test('video without audio and its audio in two buckets: each is where its address says, and is downloaded from there without a key', async () => {
  const credentials = aws({ access_key: lasting.accessKey, secret_key: lasting.secretKey, session_token: null })
  const change = {
    bucket_output_path: 's3://films/two ü',
    audio_output_path: 's3://sound/only',
    master_variant_mode: true,
    audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 1 }],
    cloud_credentials: { input: credentials },
  }
  const status = await service.run(job(change))
  expect(status).toMatchObject({ state: 'ready', error: null })
  const places = ['s3://films/two ü/video.mp4', 's3://sound/only/a_b_c_u_audio_0.m4a']
  expect(status.outputs.map(({ location }) => location).toSorted()).toEqual(places)
  for (const { url, sha256 } of status.outputs) {
    const answer = await fetch(url!)
    const digest = createHash('sha256').update(Buffer.from(await answer.arrayBuffer()))
    expect([answer.status, digest.digest('hex')]).toEqual([200, sha256])
  }
  const got = await downloadAll({ status }, tempDir.file('got'))
  expect(got.map(({ path }) => path).toSorted()).toEqual(['@sound/only/a_b_c_u_audio_0.m4a', 'two ü/video.mp4'])
  const kinds = async (path: string) =>
    (await probeFile(join(tempDir.file('got'), path))).streams.map(({ codec_type }) => codec_type)
  expect(await kinds('two ü/video.mp4')).toEqual(['video'])
  expect(await kinds('@sound/only/a_b_c_u_audio_0.m4a')).toEqual(['audio'])
  expect(JSON.stringify(status)).not.toContain('canary')
})

test('without video, audio files alone are written to the bucket, each with its media type', async () => {
  const audioProfiles = ['mp3', 'opus', 'flac'].map((audio_codec) => ({ audio_codec, source_stream: 1 }))
  const status = await service.run(job({ bucket_output_path: 's3://sound/podcast', videoProfiles: [], audioProfiles }))
  expect(status).toMatchObject({ state: 'ready', error: null })
  const types = { mp3: 'audio/mpeg', opus: 'audio/ogg', flac: 'audio/flac' }
  expect(status.outputs.map(({ path }) => path).toSorted()).toEqual(
    ['0.mp3', '1.opus', '2.flac'].map((end) => `podcast/a_b_c_u_audio_${end}`),
  )
  for (const [end, type] of Object.entries(types)) {
    const { path, sha256, media } = status.outputs.find((output) => output.path.endsWith(end))!
    const stored = s3.objects.get(`sound/${path}`)
    expect([stored?.type, createHash('sha256').update(stored!.bytes).digest('hex')]).toEqual([type, sha256])
    expect([media?.video, media?.duration_seconds]).toEqual([null, expect.closeTo(3, 0)])
  }
})

test.skipIf(real === 'none')('a job on a real server', async (context) => {
  if (realHost === '') return context.skip('S3_SERVER names none')
  const client = new AwsClient({ accessKeyId: realKey, secretAccessKey: realSecret, region: realRegion, service: 's3' })
  const call = async (path: string, init: RequestInit = {}): Promise<Buffer> => {
    const response = await client.fetch(`${real}${path}`, init)
    const body = Buffer.from(await response.arrayBuffer())
    if (!response.ok) throw new Error(`${response.status} ${body.toString()}`)
    return body
  }
  await call('/jobs', { method: 'PUT' })
  await call('/jobs/in/film.mp4', { method: 'PUT', body: await readFile(tempDir.file('clip.mp4')) })
  const credentials = {
    access_key: realKey,
    secret_key: realSecret,
    session_token: null,
    region: realRegion,
    endpoint: real,
  }
  const ofReal = (change: object): object =>
    job({
      input: 's3://jobs/in/film.mp4',
      bucket_output_path: 's3://jobs/out ü',
      cloud_credentials: { input: aws({ ...credentials, ...change }) },
    })
  const status = await service.run(ofReal({}))
  expect(status).toMatchObject({ state: 'ready', error: null, outputs: [{ location: 's3://jobs/out ü/video.mp4' }] })
  const bytes = await call('/jobs/out%20%C3%BC/video.mp4')
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(status.outputs[0]?.sha256)
  expect((await call('/jobs?uploads=')).toString()).not.toContain('<Upload>')
  const wrong = await service.run(ofReal({ secret_key: 'canary-wrong' }))
  expect(wrong.error).toMatchObject({
    code: 'credentials_invalid',
    details: { provider_code: 'SignatureDoesNotMatch' },
  })
})

test('an output of a job is the input of another, by its location; another account’s is not there', async () => {
  const toOwn = {
    cloud_credentials: { input: aws(), output: { cloud_provider: 'vendor-store' } },
    bucket_output_path: '',
  }
  const first = await service.run(job(toOwn))
  const input = first.outputs[0]?.location ?? ''
  expect(input).toMatch(/^vendor-store:\/\/out\/default\/[\w-]+\/video\.mp4$/)
  const credentials = { input: { cloud_provider: 'vendor-store' }, output: { cloud_provider: 'vendor-store' } }
  const again = (address: string): Promise<number> =>
    service.create(job({ ...toOwn, input: address, cloud_credentials: credentials }))
  expect(await service.waitForEnd(await again(input))).toMatchObject({ state: 'ready', error: null })
  expect(await service.waitForEnd(await again(input.replace('vendor-store://out/default/', 'out/')))).toMatchObject({
    error: null,
  })
  const [foreign, missing] = await Promise.all(
    [input.replace('/default/', '/other/'), input.replace('video.mp4', 'none.mp4')].map(async (address) =>
      service.waitForEnd(await again(address)),
    ),
  )
  expect(foreign?.error).toMatchObject({ code: 'source_not_found' })
  expect(foreign?.error).toEqual(missing?.error)
})

test.each<[string, object, object, object]>([
  [
    'a wrong secret for the output',
    {},
    { secret_key: 'canary-wrong' },
    {
      code: 'credentials_invalid',
      field: 'cloud_credentials.output',
      details: { provider: 'aws', status: 403, provider_code: 'SignatureDoesNotMatch' },
    },
  ],
  [
    'no such bucket for the output',
    { bucket_output_path: 's3://elsewhere/x' },
    {},
    { code: 'bucket_not_found', details: { provider_code: 'NoSuchBucket' } },
  ],
  ['a wrong region', {}, { region: 'us-east-1' }, { code: 'wrong_region', details: { status: 400 } }],
])('%s ends the job before the encode', async (_, change, output, error) => {
  const from = s3.log.length
  const refusedBefore = s3.refused.length
  const id = await service.create(job({ cloud_credentials: { input: aws(), output: aws(output) }, ...change }))
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'error', outputs: [], tcode_progress: '0', error })
  expect(JSON.stringify(status)).not.toContain('canary')
  expect(s3.log.slice(from).filter((line) => /^(UploadPart|PutObject|Complete)/.test(line))).toEqual([])
  // Once, by the test write: no encoder was started.
  const refused = s3.refused.slice(refusedBefore)
  expect(refused.map((target) => /^POST .*\/\.splicepoint\?uploads=$/.test(target))).toEqual([true])
})

test.each<[string, string, object, object]>([
  [
    'a wrong secret for the input',
    KEY,
    { secret_key: 'canary-wrong' },
    { code: 'credentials_invalid', field: 'cloud_credentials.input' },
  ],
  ['no such object', 'none.mp4', {}, { code: 'source_not_found', details: { provider_code: 'NoSuchKey' } }],
])('%s: a job error', async (_, key, input, error) => {
  const status = await service.run(job({ input: `s3://films/${key}`, cloud_credentials: { input: aws(input) } }))
  expect(status).toMatchObject({ state: 'error', error })
  expect(JSON.stringify(status)).not.toContain('canary')
})

test('a transcoder that is killed in the middle of an upload leaves none, and the job is done all the same', async () => {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  s3.heldAnswers.length = 0
  s3.holdAnswer = (line) => (line.startsWith('UploadPart') ? opened : null)
  const id = await service.create(job({ bucket_output_path: 's3://films/killed' }))
  await waitFor('a part to be under way', () => s3.heldAnswers.length > 0)
  const killedProcess = service.transcoder()!.pid
  process.kill(killedProcess, 'SIGKILL')
  open()
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
  expect(s3.log.filter((line) => line === 'CreateMultipartUpload films/killed/video.mp4')).toHaveLength(2)
  await waitFor('the first upload to be gone', () => s3.uploads.size === 0)
})

test('a store that is busy for a while delays a job, and no stored part is sent again', async () => {
  let left = 2
  s3.fault = (operation) =>
    ['UploadPart', 'CompleteMultipartUpload'].includes(operation) && left-- > 0
      ? { status: 503, code: 'SlowDown' }
      : null
  const status = await service.run(job({ bucket_output_path: 's3://films/busy' }))
  expect(status).toMatchObject({ state: 'ready', error: null })
  expect(s3.log.filter((line) => line === 'UploadPart films/busy/video.mp4')).toHaveLength(3)
})
