// In charge of: http sources and destinations that break in every known way, in the real service: a job ends with all
// of the source, or byte for byte what was made, or with an error code, never with a short file.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { FaultProxy, type Call, type Fault } from '../../../support/http/faultProxy.ts'
import { sampled } from '../../../support/longForm.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import { WebSite } from '../../../support/http/webSite.ts'

let service: Service
let site: WebSite
let proxy: FaultProxy
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let upload: string
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const ts = { output_container: 'ts', videoProfiles: [{ output: 'v.ts', width: 320, height: 180, video_bitrate: 400 }] }

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  // Larger than one read of 8 MiB, so that it can change in the middle; most of it is null packets, which cost no time.
  const film = await makeClip(tempDir.file('film.ts'), { seconds: 4, flags: ['-muxrate', '22M'] })
  site = resources.use(await WebSite.start())
  site.files.set('/film.ts', await readFile(film))
  proxy = resources.use(await FaultProxy.start(site.url))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: [proxy.host, site.host].join(',') }))
  upload = await service.upload(await makeClip(tempDir.file('small.ts'), { seconds: 2 }))
})
beforeEach(() => {
  proxy.chooseFault = () => null
  proxy.calls.length = 0
})

const nth =
  (method: string, numbers: readonly number[], fault: Fault) =>
  ({ method: asked, n }: Call): Fault | null =>
    asked === method && numbers.includes(n) ? fault : null
/** Counts start again with every test. */
function choose(method: string, numbers: readonly number[], fault: Fault): void {
  const before = proxy.calls.filter((call) => call.method === method).length
  let n = before
  const pick = nth(method, numbers, fault)
  proxy.chooseFault = (call) => (call.method === method ? pick({ ...call, n: ++n }) : null)
}

/** Number of output frames: 100, unless a part of the source is missing. */
async function pictures(status: PublicStatus): Promise<number> {
  const response = await fetch(status.outputs[0]!.url!)
  await writeFile(tempDir.file('made.ts'), Buffer.from(await response.arrayBuffer()))
  return (await decodeFrames(tempDir.file('made.ts'))).length
}

describe('a source with faults', () => {
  const all = 100
  const passing: [string, Fault][] = [
    ['is reset in the middle', { kind: 'reset', afterBytes: 100_000, way: 'down' }],
    ['answers 500', { kind: 'status', status: 500 }],
    ['answers 503 and asks to come again', { kind: 'status', status: 503, headers: { 'retry-after': '0' } }],
    ['answers 429 and asks to come again', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
    ['sends less than it announced', { kind: 'short', afterBytes: 100_000, announced: 1_048_576 }],
    ['loses its answer', { kind: 'lost answer' }],
  ]
  test.each(sampled(passing, 3))('once, and %s: every frame is in the output', async (_title, fault) => {
    choose('GET', [1], fault)
    const status = await service.run(jobRequest(`${proxy.url}/film.ts`, 'http', ts))
    expect(status.error).toBeNull()
    expect(await pictures(status)).toBe(all)
    expect(proxy.calls.length).toBeGreaterThan(2)
  })

  test('stalls: the request is repeated, and every frame is in the output', async () => {
    choose('GET', [1], { kind: 'stall', afterBytes: 50_000 })
    const status = await service.run(jobRequest(`${proxy.url}/film.ts`, 'http', ts))
    expect(status.error).toBeNull()
    expect(await pictures(status)).toBe(all)
  })

  const lasting: [string, Fault, string][] = [
    ['is another file in the middle', { kind: 'headers', set: { etag: '"other"' } }, 'source_changed'],
    [
      'has another length in the middle',
      { kind: 'headers', set: { 'content-range': 'bytes 1048576-9000000/9000001' } },
      'source_',
    ],
    ['is forbidden in the middle', { kind: 'status', status: 403 }, 'source_forbidden'],
    ['is gone in the middle', { kind: 'status', status: 404 }, 'source_not_found'],
  ]
  test.each(sampled(lasting, 2))('for good: %s: an error with a name', async (_title, fault, code) => {
    // From the second answer on; the first one fixes the version of the source.
    const first: Fault = { kind: 'headers', set: { etag: '"one"' } }
    let n = 0
    proxy.chooseFault = ({ method }) => (method === 'GET' && ++n > 1 ? fault : first)
    const status = await service.run(jobRequest(`${proxy.url}/film.ts`, 'http', ts))
    expect(status.state).toBe('error')
    expect(status.error?.code.startsWith(code)).toBe(true)
    expect(status.outputs).toEqual([])
  })
})

describe('a destination by http', () => {
  const jobTo = (base: string, change: object = {}): object => ({
    ...jobRequest(upload, 'file-upload', ts),
    bucket_output_path: `${base}/out`,
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'http' } },
    ...change,
  })
  const stored = (path: string): string => sha256(site.files.get(path) ?? Buffer.alloc(0))

  test('takes small objects, and one above a part, with their length, type and Basic credentials', async () => {
    site.manner = { basic: 'me:pass' }
    try {
      const output = { cloud_provider: 'http', access_key: 'me', secret_key: 'pass' }
      const large = { output: 'large.mp4', width: 640, height: 360, video_bitrate: 24_000, video_bitrate_mode: 'cbr' }
      const small = { output: 'small.mp4', width: 320, height: 180, video_bitrate: 400 }
      const source = await service.upload(tempDir.file('film.ts'))
      const job = jobRequest(source, 'file-upload', {
        bucket_output_path: `${site.url}/both sizes`,
        videoProfiles: [large, small],
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output },
      })
      const status = await service.run(job)
      expect(status.error).toBeNull()
      expect(status.outputs.map(({ size }) => size > 8 * 1024 * 1024)).toEqual([true, false])
      for (const { path, size, sha256: hash, location } of status.outputs) {
        expect([path, stored(`/${path}`), site.files.get(`/${path}`)?.length]).toEqual([path, hash, size])
        expect(site.types.get(`/${path}`)).toBe('video/mp4')
        expect(location).toBe(`${site.url}/${encodeURI(path)}`)
      }
      const puts = site.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('.mp4'))
      expect(puts.map(({ headers, bytes }) => headers['content-length'] === String(bytes))).toEqual([true, true])
      expect(site.files.has('/both sizes/.splicepoint')).toBe(false)
      const wrong = {
        ...job,
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { ...output, secret_key: 'no' } },
      }
      const refused = await service.run(wrong)
      expect(refused).toMatchObject({ state: 'error', error: { code: 'output_forbidden' }, tcode_progress: '0' })
    } finally {
      site.manner = {}
    }
  })

  test('takes an audio file of a job without video', async () => {
    const audioProfiles = [{ audio_codec: 'mp3', source_stream: 1 }]
    const status = await service.run(
      jobTo(site.url, { videoProfiles: [], audioProfiles, bucket_output_path: `${site.url}/podcast` }),
    )
    expect(status.error).toBeNull()
    const [output] = status.outputs
    expect([stored(`/${output!.path}`), site.types.get(`/${output!.path}`)]).toEqual([output!.sha256, 'audio/mpeg'])
  })

  test('takes segmented output, the multivariant playlist last', async () => {
    site.requests.length = 0
    const job = jobTo(site.url, {
      output_container: 'hls',
      videoProfiles: [{ width: 320, height: 180, video_bitrate: 400 }],
      bucket_output_path: `${site.url}/hls`,
    })
    const status = await service.run(job)
    expect(status.error).toBeNull()
    const puts = site.requests.filter(({ method, path }) => method === 'PUT' && !path.endsWith('.splicepoint'))
    const master = puts.findIndex(({ path }) => path === '/hls/master.m3u8')
    expect(master).toBeGreaterThan(1)
    expect(puts.slice(master).some(({ path }) => /\.(ts|m4s)$/.test(path))).toBe(false)
    expect([...site.files.keys()].some((path) => path.startsWith('/hls/') && path.endsWith('.ts'))).toBe(true)
  })

  const passing: [string, Fault][] = [
    ['is reset in the middle of a body', { kind: 'reset', afterBytes: 20_000, way: 'up' }],
    ['answers 500', { kind: 'status', status: 500 }],
    ['answers 503 and asks to come again', { kind: 'status', status: 503, headers: { 'retry-after': '1' } }],
    ['answers 429 and asks to come again', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
    ['loses its answer', { kind: 'lost answer' }],
  ]
  test.each(sampled(passing, 2))('that %s once, at the commit: equal bytes', async (_title, fault) => {
    site.files.delete('/out/v.ts')
    // The first PUT is the test write before the encode.
    choose('PUT', [2], fault)
    const status = await service.run(jobTo(proxy.url))
    expect(status.error).toBeNull()
    expect(stored('/out/v.ts')).toBe(status.outputs[0]!.sha256)
    expect(proxy.calls.filter(({ method }) => method === 'PUT').length).toBeGreaterThan(2)
  })

  const lasting: [string, Fault, string][] = [
    ['401', { kind: 'status', status: 401 }, 'output_forbidden'],
    ['403', { kind: 'status', status: 403 }, 'output_forbidden'],
    ['413', { kind: 'status', status: 413 }, 'output_too_large'],
    ['507', { kind: 'status', status: 507 }, 'store_quota_exceeded'],
    ['a redirect', { kind: 'status', status: 307, headers: { location: '/elsewhere' } }, 'output_forbidden'],
  ]
  test.each(sampled(lasting, 2))(
    'that answers %s, before the encode and at the commit: an error with a name',
    async (_title, fault, code) => {
      for (const n of [1, 2]) {
        site.files.delete('/out/v.ts')
        choose('PUT', [n], fault)
        const status = await service.run(jobTo(proxy.url))
        expect(status).toMatchObject({ state: 'error', error: { code }, outputs: [] })
        expect(site.files.has('/out/v.ts')).toBe(false)
      }
      await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
    },
  )

  test('that stores fewer bytes than were sent, without an error: the check after the upload finds it', async () => {
    proxy.chooseFault = ({ method }) =>
      method === 'HEAD' ? { kind: 'headers', set: { 'content-length': '1000' } } : null
    const status = await service.run(jobTo(proxy.url))
    expect(status).toMatchObject({ state: 'error', error: { code: 'output_incomplete' } })
  })
})
