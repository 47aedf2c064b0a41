// In charge of: segmented output of the whole service as players read it: fetched from the reported addresses, joined,
// decoded.
// Not in charge of: tests of the pipeline (node/transcoder/pipeline/segmentedOutput.test.ts), rules for manifests
// (node/transcoder/manifests).
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { audioVideoOffsets, makeSyncClip } from '../../../support/media/syncClip.ts'
import { ffmpeg, decodeFrames, makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { cueAtSeconds, readCues, insertCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

const SECONDS = 7
/** An ad break starts here; neither of its ends is the end of a full segment. */
const SPLICE = 3.04
const RETURN = 4.52
const STARTS = [0, 2, SPLICE, 4, RETURN, 6]
let service: Service
let media: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const flashing = { rate: '25', seconds: SECONDS, audioLate: 0, audioCodec: 'mp2' } as const
  const bytes = await readFile(await makeSyncClip(tempDir.file('flash.ts'), flashing))
  const cue = spliceInsert({
    eventId: 77,
    out: true,
    pts: SPLICE * 90_000,
    breakTicks: Math.round((RETURN - SPLICE) * 90_000),
    autoReturn: true,
  })
  await writeFile(tempDir.file('source.ts'), insertCues(bytes, [cueAtSeconds(0.4, cue)], 600))
  const held = await makeClip(tempDir.file('held.mp4'), {
    seconds: 20,
    flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
  })
  media = resources.use(await PausableFileServer.start(held))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: media.host }))
  input = await service.upload(tempDir.file('source.ts'))
})

const RUNGS = [
  { output: '', width: 320, height: 180, video_bitrate: 400 },
  { output: 'low', width: 160, height: 90, video_bitrate: 150 },
]
const common = { bucket_output_path: 'show', segment_length: 2, gop_length: 1, videoProfiles: RUNGS }

interface Reader {
  status: PublicStatus
  /** An object by its address relative to the directory of the manifests. */
  get: (path: string) => Promise<Buffer>
  /** Init segment and segments of a media playlist, joined in a file as a player does. */
  play: (playlist: string) => Promise<string>
}

let files = 0
async function ended(id: number): Promise<Reader> {
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null })
  const report = status.outputs.find(({ path }) => path === 'show/job.json')?.url
  if (report == null) throw new Error(`no report in ${JSON.stringify(status.outputs)}`)
  const get = async (path: string): Promise<Buffer> => {
    const response = await fetch(new URL(path, report))
    expect(response.status, path).toBe(200)
    return Buffer.from(await response.arrayBuffer())
  }
  const play = async (playlist: string): Promise<string> => {
    const parts: Buffer[] = []
    const directory = playlist.replace(/[^/]*$/, '')
    for (const { uri, range } of listSegments((await get(playlist)).toString())) {
      const bytes = await get(directory + uri)
      parts.push(range === null ? bytes : bytes.subarray(range.offset, range.offset + range.bytes))
    }
    files += 1
    const file = tempDir.file(`joined-${files}`)
    await writeFile(file, Buffer.concat(parts))
    return file
  }
  await requireReported(get)
  return { status, get, play }
}

/** Everything that job.json lists can be fetched, and matches its description. */
async function requireReported(get: Reader['get']): Promise<void> {
  const { objects } = JSON.parse((await get('job.json')).toString()) as {
    objects: { path: string; size: number; sha256: string }[]
  }
  expect(objects.length).toBeGreaterThan(5)
  for (const { path, size, sha256 } of objects) {
    const bytes = await get(
      path
        .replace(/^show\//, '')
        .split('/')
        .map(encodeURIComponent)
        .join('/'),
    )
    expect([path, bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([path, size, sha256])
  }
}

const job = (change: object) => service.create(jobRequest(input, 'file-upload', { ...common, ...change })).then(ended)

/** Start times of the segments of a media playlist, in seconds. */
function starts(playlist: string): number[] {
  const durations = [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))
  return durations.map((_duration, index) => durations.slice(0, index).reduce((sum, each) => sum + each, 0))
}

/** Start times of beeps in seconds, and of flashes by frame number: what is at t in the file is presented at t. */
async function beepsAndFlashes(video: string, audio: string): Promise<{ beeps: number[]; flashed: number[] }> {
  const rise = (loud: (index: number) => boolean, length: number, rate: number): number[] => {
    const found: number[] = []
    let last = -rate
    for (let index = 0; index < length; index += 1) {
      if (!loud(index)) continue
      if (index - last > rate / 2) found.push(index / rate)
      last = index
    }
    return found
  }
  const raw = await ffmpeg(['-i', audio, '-map', '0:a', '-ac', '1', '-ar', '48000', '-f', 'f32le', '-'])
  const shown = '-fps_mode passthrough -vf scale=1:1 -pix_fmt gray -f rawvideo -'.split(' ')
  const light = await ffmpeg(['-i', video, '-map', '0:v', ...shown])
  return {
    beeps: rise((index) => Math.abs(raw.readFloatLE(index * 4)) > 0.2, raw.length / 4, 48_000),
    flashed: rise((index) => light[index]! > 128, light.length, 25),
  }
}

test('HLS of transport streams: every frame once, audio in sync, a segment boundary and a cue at the splice point', async () => {
  const { status, get, play } = await job({
    output_container: 'ts',
    segmented_output_hls: true,
    scte35_passthough: true,
  })
  expect(status.outputs.map(({ path }) => path)).toContain('show/master.m3u8')
  expect((await get('master.m3u8')).toString().match(/#EXT-X-STREAM-INF/g)).toHaveLength(2)
  for (const rendition of ['video_0', 'low']) {
    const playlist = (await get(`${rendition}/playlist.m3u8`)).toString()
    expect(starts(playlist)).toEqual(STARTS.map((second) => expect.closeTo(second, 3)))
    expect(playlist).toMatch(/#EXT-X-DATERANGE:.*SCTE35-OUT=/)
    const file = await play(`${rendition}/playlist.m3u8`)
    expect(await decodeFrames(file)).toHaveLength(SECONDS * 25)
    const found = await audioVideoOffsets(file)
    expect(found.delays).toHaveLength(SECONDS)
    for (const delay of found.delays) expect(Math.abs(delay)).toBeLessThan(0.01)
    expect(readCues(await readFile(file))).toMatchObject([
      { kind: 'insert', eventId: 77, splices: [expect.closeTo(SPLICE, 4)] },
    ])
  }
})

test('HLS and DASH of one CMAF set, with two audio tracks, cues and a tar', async () => {
  const { get, play } = await job({
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    scte35_passthough: true,
    create_tar_file: true,
    audioProfiles: [
      { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96', source_stream: '1' },
      { audio_codec: 'ac3', audio_channels: '2', audio_bitrate: '192', source_stream: '1' },
    ],
  })
  const mpd = (await get('manifest.mpd')).toString()
  expect(mpd).toContain('urn:scte:scte35:2014:xml+bin')
  const video = await play('video_0/playlist.m3u8')
  expect(await decodeFrames(video)).toHaveLength(SECONDS * 25)
  expect(await decodeFrames(await play('low/playlist.m3u8'))).toHaveLength(SECONDS * 25)
  for (const audio of ['audio_0', 'audio_1']) {
    const begins = starts((await get(`${audio}/playlist.m3u8`)).toString())
    for (const [index, second] of STARTS.entries()) expect(Math.abs(begins[index]! - second)).toBeLessThan(0.017)
    const { beeps, flashed } = await beepsAndFlashes(video, await play(`${audio}/playlist.m3u8`))
    expect(flashed).toHaveLength(SECONDS)
    expect(beeps).toHaveLength(SECONDS)
    for (const [index, beep] of beeps.entries()) expect(Math.abs(beep - flashed[index]!)).toBeLessThan(0.01)
  }
  const tarred = await play('tar_video_0.m3u8')
  expect((await readFile(tarred)).equals(await readFile(video))).toBe(true)
})

test('hevc with ac3', async () => {
  const { get, play } = await job({
    output_container: 'hls',
    video_codec: 'hevc',
    audioProfiles: [{ audio_codec: 'ac3', audio_channels: '2', audio_bitrate: '192', source_stream: '1' }],
  })
  expect((await get('master.m3u8')).toString()).toMatch(/CODECS="hvc1\.[^"]*,ac-3"/)
  const file = await play('video_0/playlist.m3u8')
  expect((await probeFile(file)).streams).toMatchObject([{ codec_name: 'hevc', codec_tag_string: 'hvc1' }])
  expect(await decodeFrames(file)).toHaveLength(SECONDS * 25)
})

test('Smooth Streaming: every address that its manifest makes can be fetched', async () => {
  const { get } = await job({ output_container: 'silverlight' })
  const manifest = (await get('show.ism/Manifest')).toString()
  const streams = [...manifest.matchAll(/<StreamIndex ([^>]*)>(.*?)<\/StreamIndex>/gs)]
  expect(streams).toHaveLength(2)
  for (const [, head, inner] of streams) {
    const url = /Url="([^"]*)"/.exec(head!)![1]!
    for (const [, rate] of inner!.matchAll(/ Bitrate="(\d+)"/g))
      for (const [, time] of inner!.matchAll(/<c [^>]*t="(\d+)"/g)) {
        const fragment = await get(`show.ism/${url.replace('{bitrate}', rate!).replace('{start time}', time!)}`)
        expect(fragment.toString('latin1', 4, 8)).toBe('moof')
      }
  }
})

test('a killed transcoder: the next attempt completes, and nothing of the first one is listed', async () => {
  media.pauseAt(0.6)
  const id = await service.create(
    jobRequest(media.url, 'http', {
      ...common,
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
    }),
  )
  await service.waitForEncoding(id)
  const killedProcess = service.transcoder()!.pid
  process.kill(killedProcess, 'SIGKILL')
  await waitFor('it to be back', () => (service.transcoder()?.pid ?? killedProcess) !== killedProcess)
  media.resume()
  const { get, play } = await ended(id)
  expect(await decodeFrames(await play('video_0/playlist.m3u8'))).toHaveLength(20 * 25)
  // The next attempt is the second one, or a later one where a start failed before the transcoder listened again.
  const attempts = new Set<string | undefined>()
  for (const playlist of ['video_0', 'low', 'audio_0'])
    for (const { uri } of listSegments((await get(`${playlist}/playlist.m3u8`)).toString()))
      attempts.add(/-(\d+)\//.exec(uri)?.[1])
  expect(attempts.size).toBe(1)
  expect(Number([...attempts][0])).toBeGreaterThan(1)
  expect((await get('manifest.mpd')).toString()).not.toMatch(/-1\//)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
})
