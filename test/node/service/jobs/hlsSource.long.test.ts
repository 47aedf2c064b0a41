// In charge of: HLS sources in the real service, from the playlist's address to the playable file.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { audioVideoOffsets, makeSyncClip } from '../../../support/media/syncClip.ts'
import { probeFile, tempDirectory } from '../../../support/media/media.ts'
import { segmentHls, encryptionFlags, fmp4Flags, serveFiles } from '../../../support/media/hlsClips.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { WebSite } from '../../../support/http/webSite.ts'

const SECONDS = 6
let service: Service
let site: WebSite
/** Allowed as well, but must never be requested: names of it must be refused for another reason than their address. */
let canary: WebSite
let tempDir: Awaited<ReturnType<typeof tempDirectory>>

async function presentation(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = tempDir.file(name)
  await mkdir(directory)
  await make(directory)
  await serveFiles(directory, site.files, `/${name}`)
  return `${site.url}/${name}`
}

const master = (...lines: string[]): string => ['#EXTM3U', '#EXT-X-VERSION:7', ...lines, ''].join('\n')

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  site = resources.use(await WebSite.start())
  canary = resources.use(await WebSite.start())
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: site.host }))
  const options = { rate: '25', seconds: SECONDS, audioCodec: 'aac' } as const
  await makeSyncClip(tempDir.file('source.mp4'), { ...options, audioLate: 0 })
  await makeSyncClip(tempDir.file('late.mp4'), { ...options, audioLate: 0.5 })
})

const job = (input: string, change: object = {}): object => jobRequest(input, 'http', change)

async function output(status: PublicStatus, name: string): Promise<string> {
  expect(status).toMatchObject({ state: 'ready', error: null })
  const response = await fetch(status.outputs[0]!.url!)
  await writeFile(tempDir.file(name), Buffer.from(await response.arrayBuffer()))
  return tempDir.file(name)
}

/** Checks that it is as long as the source, has both streams, and audio in sync with the video. */
async function faults(path: string, seconds = SECONDS): Promise<string[]> {
  const { streams, format } = await probeFile(path)
  const measured = await audioVideoOffsets(path)
  const found = {
    streams:
      streams
        .map((stream) => stream.codec_type)
        .toSorted()
        .join() === 'audio,video',
    length: Math.abs(Number(format.duration) - seconds) < 0.15,
    flashes: measured.delays.length >= seconds - 1,
    step: measured.delays.every((delay) => Math.abs(delay) < 0.045),
  }
  return Object.entries(found).flatMap(([name, good]) => (good ? [] : [name]))
}

describe('an HLS source becomes one video of the playlist’s duration', () => {
  test('transport streams, the highest of two variants, a playlist without a telling name, a redirect', async () => {
    const base = await presentation('ts', async (directory) => {
      await segmentHls(tempDir.file('source.mp4'), directory, 'high')
      await writeFile(join(directory, 'low.m3u8'), 'never asked for')
      await writeFile(
        join(directory, 'film'),
        master(
          '#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=64x64',
          'low.m3u8',
          '#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=64x64',
          'high.m3u8?token=a',
        ),
      )
    })
    site.redirects.set('/elsewhere', `${base}/film`)
    const status = await service.run(job(`${site.url}/elsewhere`))
    expect(await faults(await output(status, 'ts.mp4'))).toEqual([])
    expect(site.requests.some(({ path }) => path.endsWith('low.m3u8'))).toBe(false)
  })

  test('fragmented MP4 with separate audio stays in sync', async () => {
    const base = await presentation('fmp4', async (directory) => {
      const source = tempDir.file('source.mp4')
      await segmentHls(source, directory, 'video', { streams: '0:v', flags: fmp4Flags('video') })
      await segmentHls(source, directory, 'audio', { streams: '0:a', flags: fmp4Flags('audio') })
      await writeFile(
        join(directory, 'master.m3u8'),
        master(
          '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="main",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"',
          '#EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64000a,mp4a.40.2",AUDIO="a"',
          'video.m3u8',
        ),
      )
    })
    const status = await service.run(job(`${base}/master.m3u8`))
    expect(await faults(await output(status, 'fmp4.mp4'))).toEqual([])
  })

  test('audio that starts half a second late stays late: transport streams, separate audio', async () => {
    const base = await presentation('late', async (directory) => {
      const source = tempDir.file('late.mp4')
      await segmentHls(source, directory, 'video', { streams: '0:v' })
      await segmentHls(source, directory, 'audio', { streams: '0:a' })
      await writeFile(
        join(directory, 'master.m3u8'),
        master(
          '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="main",URI="audio.m3u8"',
          '#EXT-X-STREAM-INF:BANDWIDTH=900000,AUDIO="a"',
          'video.m3u8',
        ),
      )
    })
    const status = await service.run(job(`${base}/master.m3u8`))
    const measured = await audioVideoOffsets(await output(status, 'late.mp4'))
    expect(measured.delays.length).toBeGreaterThanOrEqual(SECONDS - 1)
    for (const delay of measured.delays) expect(Math.abs(delay - 0.5)).toBeLessThan(0.045)
  })

  test('fragmented MP4 in one file, by byte ranges', async () => {
    const base = await presentation('ranges', async (directory) => {
      const flags = [...fmp4Flags('one'), '-hls_flags', 'single_file']
      await segmentHls(tempDir.file('source.mp4'), directory, 'one', { flags })
    })
    expect(site.files.get('/ranges/one.m3u8')!.toString()).toContain('#EXT-X-BYTERANGE')
    const status = await service.run(job(`${base}/one.m3u8`))
    expect(await faults(await output(status, 'ranges.mp4'))).toEqual([])
  })

  test.each([
    ['an IV that is given', '00000000000000000000000000000123'],
    ['an IV that is the number of the segment', undefined],
  ])('encrypted with AES-128: %s', async (_title, iv) => {
    const name = `aes-${iv === undefined ? 'number' : 'given'}`
    const base = await presentation(name, async (directory) => {
      const flags = await encryptionFlags(directory, 'secret.key', iv)
      await segmentHls(tempDir.file('source.mp4'), directory, 'film', { flags })
    })
    if (iv === undefined) {
      // ffmpeg writes the IV that it used, which by default is the segment number: if it is left out, the rule must
      // give the same.
      const text = site.files.get(`/${name}/film.m3u8`)!.toString()
      site.files.set(`/${name}/film.m3u8`, Buffer.from(text.replace(/,IV=0x[0-9a-f]+/gi, '')))
    }
    const status = await service.run(job(`${base}/film.m3u8`))
    expect(await faults(await output(status, `${name}.mp4`))).toEqual([])
  })

  test('discontinuities: two periods with separate clocks, one after the other', async () => {
    const base = await presentation('breaks', async (directory) => {
      await segmentHls(tempDir.file('source.mp4'), directory, 'one')
      await segmentHls(tempDir.file('source.mp4'), directory, 'two', { flags: ['-output_ts_offset', '5000'] })
      const lines = async (name: string): Promise<string[]> =>
        (await readFile(join(directory, `${name}.m3u8`), 'utf8')).split('\n').filter((line) => line !== '')
      const first = (await lines('one')).filter((line) => line !== '#EXT-X-ENDLIST')
      const second = (await lines('two')).filter((line) => line.startsWith('#EXTINF') || !line.startsWith('#'))
      await writeFile(
        join(directory, 'film.m3u8'),
        [...first, '#EXT-X-DISCONTINUITY', ...second, '#EXT-X-ENDLIST'].join('\n'),
      )
    })
    const status = await service.run(job(`${base}/film.m3u8`))
    expect(await faults(await output(status, 'breaks.mp4'), 2 * SECONDS)).toEqual([])
  })
})

describe('an HLS source that cannot be read fails the job with its error code', () => {
  const segment = (uri: string): string[] => ['#EXT-X-TARGETDURATION:2', '#EXTINF:2,', uri]
  const end = '#EXT-X-ENDLIST'
  const cases: [string, string, string[] | (() => string[])][] = [
    ['live, without a type', 'source_unsupported', segment('a.ts')],
    ['SAMPLE-AES', 'source_unsupported', ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"', ...segment('a.ts'), end]],
    ['a gap', 'source_damaged', ['#EXT-X-GAP', ...segment('a.ts'), end]],
    ['a segment that is a playlist', 'source_not_media', [...segment('/attack/live.m3u8'), end]],
    ['a segment that is missing', 'source_not_found', [...segment('nowhere.ts'), end]],
    ['a segment on a private host', 'source_address_refused', () => [...segment(`${canary.url}/a.ts`), end]],
    ['a segment in a file', 'source_address_refused', [...segment('file:///etc/passwd'), end]],
    [
      'a key on a private host',
      'source_address_refused',
      () => [`#EXT-X-KEY:METHOD=AES-128,URI="${canary.url}/k"`, ...segment('/ts/high0.ts'), end],
    ],
    [
      'an initialisation section on a private host',
      'source_address_refused',
      () => [`#EXT-X-MAP:URI="${canary.url}/i.mp4"`, ...segment('/ts/high0.ts'), end],
    ],
    [
      'a variant on a private host',
      'source_address_refused',
      () => ['#EXT-X-STREAM-INF:BANDWIDTH=1', `${canary.url}/v.m3u8`],
    ],
    ['a segment that redirects to one', 'source_address_refused', [...segment('/attack/away'), end]],
  ]
  test.each(cases)('%s: %s; the canary is hit 0 times', async (title, code, lines) => {
    site.files.set('/attack/live.m3u8', Buffer.from('#EXTM3U\n#EXTINF:2,\na.ts\n'))
    site.redirects.set('/attack/away', `${canary.url}/a.ts`)
    const path = `/attack/${title.replaceAll(/\W/g, '-')}.m3u8`
    site.files.set(path, Buffer.from(['#EXTM3U', ...(typeof lines === 'function' ? lines() : lines)].join('\n')))
    const status = await service.run(job(site.url + path))
    expect(status).toMatchObject({ state: 'error', error: { code } })
    expect(canary.requests).toEqual([])
  })
})
