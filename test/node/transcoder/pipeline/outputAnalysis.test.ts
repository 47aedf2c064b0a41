// The reported properties of outputs, compared with ffprobe's packets and streams of what was stored.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import { analyzeFiles } from '../../../../transcoder/pipeline/attemptReports.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { carriedCaptionChannels } from '../../../support/captions/decodedCaptions.ts'
import { makeMovingBar } from '../../../support/media/interlacedClip.ts'
import {
  ffmpeg,
  kbpsBySecond,
  lavfi,
  makeClip,
  probeFile,
  probeStream,
  readPackets,
  sharedClip,
  transportRates,
} from '../../../support/media/media.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { storedObjects, joinedSegments } from '../../../support/transcoder/segmentedTask.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import { smallCaptionsTest } from '../../../support/captions/captionedClip.ts'

const fixtures = await useAttemptFixture()
const tempDir = useTempDirectory()
let taskApi: FakeTaskApi | null = null

afterEach(async () => {
  await taskApi?.stop()
  taskApi = null
})

interface Stored {
  objects: Map<string, Buffer>
  /** The reported properties, by path. */
  facts: Map<string, MediaFacts>
  roles: Map<string, string>
  /** The object as a file. */
  file: (path: string) => Promise<string>
}

/** Runs a whole attempt at a job with that source. */
async function run(source: string, body: Record<string, unknown>): Promise<Stored> {
  const credentials = { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } }
  const validation = validateJob(
    { input: 'https://example.com/clip.mp4', cloud_credentials: credentials, audioProfiles: [], ...body },
    { baseUrl: 'http://127.0.0.1' },
  )
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
  taskApi = await new FakeTaskApi({ bytes: await readFile(source) }).start()
  taskApi.task = { ...describeTask({ container: 'mp4' }), config: validation.config }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  const objects = storedObjects(taskApi)
  const listed = [...taskApi.finished!.objects, ...taskApi.finished!.written]
  return {
    objects,
    facts: new Map(listed.flatMap(({ path, media }) => (media === undefined ? [] : [[path, media]]))),
    roles: new Map(listed.map(({ path, role }) => [path, role])),
    async file(path) {
      const name = tempDir.file(path.replaceAll('/', '_'))
      await writeFile(name, objects.get(path)!)
      return name
    },
  }
}

/** kbps of one stream: the bytes of its packets divided by their time. */
async function kbpsOf(path: string, selector: string): Promise<number> {
  const list = await readPackets(path, selector)
  const times = list.map((packet) => Number(packet.dts_time ?? packet.pts_time)).toSorted((a, b) => a - b)
  const bytes = list.reduce((sum, packet) => sum + Number(packet.size), 0)
  const span = (times.at(-1)! - times[0]!) * (list.length / (list.length - 1))
  return bytes / 125 / span
}

/** The highest bitrate of any whole second of the file, over all streams. */
async function peakOf(path: string, seconds: number): Promise<number> {
  const { streams } = await probeFile(path)
  const each = await Promise.all(streams.map((_stream, index) => kbpsBySecond(path, String(index))))
  const whole = Array.from({ length: Math.floor(seconds) }, (_, second) =>
    each.reduce((sum, list) => sum + (list[second] ?? 0), 0),
  )
  return Math.max(...whole)
}

/** For a transport stream: bytes between positions whose clock differs by a second, including tables and stuffing. */
async function transportPeakOf(path: string, seconds: number): Promise<number> {
  const bytes = await readFile(path)
  const clocks: { at: number; time: number }[] = []
  for (let at = 0; at + 188 <= bytes.length; at += 188) {
    const hasClock = (bytes[at + 3]! & 0x20) !== 0 && bytes[at + 4]! >= 7 && (bytes[at + 5]! & 0x10) !== 0
    if (hasClock) clocks.push({ at, time: (bytes.readUInt32BE(at + 6) * 2) / 90_000 })
  }
  const start = clocks[0]!.time
  const marks = Array.from({ length: Math.floor(seconds) + 1 }, (_, second) =>
    clocks.find(({ time }) => time - start >= second - 1e-6),
  )
  return Math.max(...marks.slice(1).flatMap((mark, index) => (mark ? [(mark.at - marks[index]!.at) / 125] : [])))
}

function near(value: number, wanted: number, part: number): void {
  expect(Math.abs(value / wanted - 1), `${value} for ${wanted}`).toBeLessThanOrEqual(part)
}

type Peak = (path: string, seconds: number) => Promise<number>

/** For a constant rate: the rate between any two clock references. */
async function constantPeakOf(path: string): Promise<number> {
  const { kbps } = await transportRates(path)
  return kbps.reduce((sum, rate) => sum + rate, 0) / kbps.length
}

async function requireFile(path: string, facts: MediaFacts | undefined, peakIn: Peak = peakOf): Promise<MediaFacts> {
  if (facts === undefined) throw new Error(`nothing is told of ${path}`)
  const { format, streams } = await probeFile(path)
  const seconds = Number(format.duration)
  const { size } = await stat(path)
  expect(facts.duration_seconds).toBeCloseTo(seconds, 2)
  near(facts.average_bitrate_kbps, size / 125 / seconds, 0.001)
  const peak = await peakIn(path, seconds)
  near(facts.peak_bitrate_kbps, Math.max(peak, size / 125 / seconds), peakIn === peakOf ? 0.01 : 0.05)
  const video = streams.find(({ codec_type: type }) => type === 'video')
  expect(facts.video === null).toBe(video === undefined)
  if (facts.video && video) {
    expect(facts.video).toMatchObject({ codec: video.codec_name, width: video.width, height: video.height })
    expect(facts.video.display_aspect_ratio).toBe(video.display_aspect_ratio)
    near(facts.video.bitrate_kbps, await kbpsOf(path, 'v:0'), 0.01)
  }
  const audioStreams = streams.filter(({ codec_type: type }) => type === 'audio')
  expect(facts.audio.map(({ codec, channels, sample_rate: rate }) => [codec, channels, rate])).toEqual(
    audioStreams.map(({ codec_name: codec, channels, sample_rate: rate }) => [codec, channels, Number(rate)]),
  )
  for (const [index, audioTrack] of facts.audio.entries())
    near(audioTrack.bitrate_kbps, await kbpsOf(path, `a:${index}`), 0.02)
  return facts
}

const SIZE = { width: 320, height: 180 }
const TWO_SOUNDS = [
  { audio_codec: 'aac', audio_bitrate: 96, source_stream: 1 },
  { audio_codec: 'ac3', audio_bitrate: 192, source_stream: 2 },
]

/** Two seconds without motion, two of noise, two without motion; two languages. */
async function burst(): Promise<string> {
  const path = tempDir.file('burst.mp4')
  if (existsSync(path)) return path
  await ffmpeg([
    ...lavfi('testsrc2=s=320x180:r=25:d=6'),
    ...lavfi('sine=f=440:r=48000:d=6', 'sine=f=880:r=48000:d=6'),
    ...['-filter_complex', "[0:v]noise=alls=100:allf=t:enable='between(t,2,4)'[v]"],
    ...['-map', '[v]', '-map', '1:a', '-map', '2:a', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-c:a', 'aac', '-ac', '2', '-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=fra', path],
  ])
  return path
}

describe('files', () => {
  test('a variable-bitrate mp4 with two audio tracks', async () => {
    const videoProfiles = [{ ...SIZE, output: 'a.mp4', video_bitrate: 600, video_bitrate_mode: 'vbr' }]
    const { file, facts } = await run(await burst(), { videoProfiles, audioProfiles: TWO_SOUNDS })
    const told = await requireFile(await file('a.mp4'), facts.get('a.mp4'))
    expect(told.peak_bitrate_kbps).toBeGreaterThan(told.average_bitrate_kbps * 1.2)
    expect(told.video).toMatchObject({
      codec_string: expect.stringMatching(/^avc1\.64[0-9a-f]{4}$/) as string,
      display_aspect_ratio: '16:9',
      frame_rate: '25/1',
      frames_per_second: 25,
      scan: 'progressive',
      dynamic_range: 'sdr',
    })
    expect(told.audio.map(({ language }) => language)).toEqual(['eng', 'fra'])
    expect(told.captions).toEqual([])
  })

  test('transport streams of constant and of variable bitrate', async () => {
    const videoProfiles = [
      { ...SIZE, output: 'c.ts', video_bitrate: 600, video_bitrate_mode: 'cbr' },
      { ...SIZE, output: 'v.ts', video_bitrate: 600, video_bitrate_mode: 'vbr' },
    ]
    const source = await burst()
    const { file, facts } = await run(source, { output_container: 'ts', videoProfiles, audioProfiles: TWO_SOUNDS })
    const constant = await requireFile(await file('c.ts'), facts.get('c.ts'), constantPeakOf)
    near(constant.peak_bitrate_kbps, constant.average_bitrate_kbps, 0.03)
    const variable = await requireFile(await file('v.ts'), facts.get('v.ts'), transportPeakOf)
    expect(variable.peak_bitrate_kbps).toBeGreaterThan(variable.average_bitrate_kbps * 1.2)
    expect(variable.video?.codec_string).toMatch(/^avc1\.64[0-9a-f]{4}$/)
  })

  test('a file of hevc, alone, and as a transport stream', async () => {
    const videoProfiles = [{ ...SIZE, output: 'h.mp4', video_bitrate: 300 }]
    const source = await makeClip(tempDir.file('short.mp4'), { seconds: 2, rate: '30000/1001' })
    const one = await run(source, { video_codec: 'hevc', videoProfiles })
    const told = await requireFile(await one.file('h.mp4'), one.facts.get('h.mp4'))
    expect(told.video).toMatchObject({ frame_rate: '30000/1001', frames_per_second: 29.97 })
    expect(told.video?.codec_string).toMatch(/^hvc1\.1\.6\.L\d+/)
    expect(told.audio).toEqual([])
    await taskApi?.stop()
    const body = {
      output_container: 'ts',
      video_codec: 'hevc',
      videoProfiles: [{ ...videoProfiles[0], output: 'h.ts' }],
    }
    const two = await run(source, body)
    const transported = await requireFile(await two.file('h.ts'), two.facts.get('h.ts'), transportPeakOf)
    expect(transported.video?.codec_string).toBe(told.video?.codec_string)
  })

  test('interlaced and anamorphic mpeg2', async () => {
    const source = await makeMovingBar(tempDir.file('bars.mpg'), 'top', ['-aspect', '4:3'])
    const videoProfiles = [{ width: 0, height: 0, output: 'i.ts', video_bitrate: 1500 }]
    const { file, facts } = await run(source, { output_container: 'ts', video_codec: 'mpeg2', videoProfiles })
    const told = await requireFile(await file('i.ts'), facts.get('i.ts'), transportPeakOf)
    expect(told.video).toMatchObject({
      codec: 'mpeg2video',
      codec_string: null,
      scan: 'interlaced',
      display_aspect_ratio: '4:3',
      frame_rate: '25/1',
    })
  })

  test('HDR output keeps its HDR tags', async (context) => {
    if (!fixtures.engine.features.hevcMain10) context.skip('this libx265 has 8 bits only')
    const path = tempDir.file('hdr.ts')
    await ffmpeg([
      ...[...lavfi('testsrc2=s=320x180:r=25:d=1'), '-pix_fmt', 'yuv420p10le', '-c:v', 'libx265'],
      ...['-preset', 'ultrafast', '-x265-params', 'log-level=error:repeat-headers=1:hdr10=1'],
      ...['-colorspace', 'bt2020nc', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084', path],
    ])
    const videoProfiles = [{ ...SIZE, output: 'd.mp4', video_bitrate: 400 }]
    const kept = await run(path, { video_codec: 'hevc', videoProfiles })
    expect((await requireFile(await kept.file('d.mp4'), kept.facts.get('d.mp4'))).video).toMatchObject({
      dynamic_range: 'hdr10',
      codec_string: expect.stringMatching(/^hvc1\.2\.4\.L\d+/) as string,
    })
    await taskApi?.stop()
    const mapped = await run(path, { videoProfiles })
    expect(mapped.facts.get('d.mp4')?.video).toMatchObject({ dynamic_range: 'sdr', codec: 'h264' })
  })

  test('separate audio files', async () => {
    const { file, facts } = await run(await burst(), {
      videoProfiles: [{ ...SIZE, output: 'a.mp4', video_bitrate: 300 }],
      audioProfiles: [...TWO_SOUNDS, { audio_codec: 'mp2', audio_bitrate: 128, source_stream: 1 }],
      audio_output_path: 'sounds',
    })
    const paths = [...facts.keys()].filter((path) => path.startsWith('sounds/'))
    expect(paths.map((path) => path.split('.').at(-1))).toEqual(['m4a', 'ac3', 'mp2'])
    for (const path of paths) {
      const told = facts.get(path)!
      const sound = await probeStream(await file(path), 'audio')
      expect(told.video).toBeNull()
      expect(told.audio).toMatchObject([{ codec: sound.codec_name, channels: 2, sample_rate: 48_000 }])
      near(told.duration_seconds, 6, 0.01)
      near(told.audio[0]!.bitrate_kbps, await kbpsOf(await file(path), 'a:0'), 0.02)
      expect(told.peak_bitrate_kbps).toBeGreaterThanOrEqual(told.average_bitrate_kbps)
    }
  })

  test.for(['captions-test.ts', 'multi-channel-608-captions.ts'])(
    'captions of %s, where they were written',
    async (clip, context) => {
      const source = clip === 'captions-test.ts' ? await smallCaptionsTest(context) : sharedClip(context, clip)
      const videoProfiles = [
        { ...SIZE, output: 'a.mp4', video_bitrate: 400 },
        { ...SIZE, output: 'b.mp4', video_bitrate: 300 },
      ]
      const kept = await run(source, { videoProfiles, closed_captions: true })
      for (const path of ['a.mp4', 'b.mp4']) {
        // Older versions of ffmpeg keep the captions of only one of the clips.
        const { channels } = await carriedCaptionChannels(await kept.file(path), 'h264')
        expect(kept.facts.get(path)?.captions.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
          channels.map((channel) => `embedded ${channel}`),
        )
        if (clip === 'captions-test.ts') expect(channels).not.toEqual([])
      }
      await taskApi?.stop()
      const removed = await run(source, { videoProfiles, closed_captions: false })
      expect(removed.facts.get('a.mp4')?.captions).toEqual([])
    },
  )
})

const LADDER = [
  { ...SIZE, video_bitrate: 500, video_bitrate_mode: 'vbr' },
  { width: 160, height: 90, video_bitrate: 200, video_bitrate_mode: 'cbr' },
]

/** kbps of each segment of a media playlist, from the sizes of its files. */
function segmentRates({ objects }: Stored, playlist: string): number[] {
  const text = objects.get(playlist)!.toString()
  const directory = playlist.slice(0, playlist.lastIndexOf('/') + 1)
  return [...text.matchAll(/#EXTINF:([\d.]+),.*\n(?:#.*\n)*([^#\n]+)/g)].map(([, seconds, uri]) => {
    return objects.get(directory + decodeURIComponent(uri!))!.length / 125 / Number(seconds)
  })
}

async function requirePlaylist(stored: Stored, path: string, selectors: readonly string[]): Promise<MediaFacts> {
  const told = stored.facts.get(path)!
  const text = stored.objects.get(path)!.toString()
  const seconds = [...text.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, length]) => sum + Number(length), 0)
  near(told.duration_seconds, seconds, 0.001)
  const rates = segmentRates(stored, path)
  near(told.peak_bitrate_kbps, Math.max(...rates), 0.001)
  // Joined as a player does.
  const file = tempDir.file(`joined-${path.replaceAll('/', '_')}`)
  await writeFile(file, joinedSegments(stored.objects, path))
  const measured = [...(told.video ? [told.video.bitrate_kbps] : []), ...told.audio.map((each) => each.bitrate_kbps)]
  expect(measured).toHaveLength(selectors.length)
  for (const [index, selector] of selectors.entries()) near(measured[index]!, await kbpsOf(file, selector), 0.02)
  return told
}

describe('segmented output', () => {
  test.each([
    ['transport streams', { output_container: 'ts', segmented_output_hls: true }, 1, ['v:0', 'a:0'], []],
    [
      'CMAF for HLS and DASH',
      { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true },
      2,
      ['v:0'],
      ['audio_0', 'audio_1'],
    ],
  ] as const)(
    '%s: each playlist by its segments, the master as it says itself',
    async (_name, form, sounds, inside, apart) => {
      const audioProfiles = TWO_SOUNDS.slice(0, sounds)
      const common = { bucket_output_path: 'out', segment_length: 2, videoProfiles: LADDER, audioProfiles }
      const stored = await run(await burst(), { ...common, ...form })
      const first = await requirePlaylist(stored, 'out/video_0/playlist.m3u8', inside)
      expect(first.peak_bitrate_kbps).toBeGreaterThan(first.average_bitrate_kbps * 1.2)
      expect(first.video).toMatchObject({
        ...SIZE,
        frame_rate: '25/1',
        display_aspect_ratio: '16:9',
        scan: 'progressive',
      })
      const second = await requirePlaylist(stored, 'out/video_1/playlist.m3u8', inside)
      expect(second.video).toMatchObject({ width: 160, height: 90 })
      for (const id of apart) await requirePlaylist(stored, `out/${id}/playlist.m3u8`, ['a:0'])

      const text = stored.objects.get('out/master.m3u8')!.toString()
      const variants = [...text.matchAll(/#EXT-X-STREAM-INF:BANDWIDTH=(\d+),AVERAGE-BANDWIDTH=(\d+).*\n(.+)/g)]
      const listed = new Map<string, [peak: number, average: number]>()
      for (const [, peak, average, uri] of variants) {
        const [most, mean] = listed.get(`out/${uri}`) ?? [0, 0]
        listed.set(`out/${uri}`, [Math.max(most, Number(peak) / 1000), Math.max(mean, Number(average) / 1000)])
      }
      const master = stored.facts.get('out/master.m3u8')!
      expect(master.renditions?.map(({ path }) => path)).toEqual([...listed.keys()])
      for (const rendition of master.renditions ?? []) {
        const [peak, average] = listed.get(rendition.path)!
        expect(rendition.peak_bitrate_kbps).toBeCloseTo(peak, 0)
        expect(rendition.average_bitrate_kbps).toBeCloseTo(average, 0)
      }
      expect(master).toMatchObject({
        average_bitrate_kbps: master.renditions?.[0]?.average_bitrate_kbps,
        peak_bitrate_kbps: master.renditions?.[0]?.peak_bitrate_kbps,
        video: first.video,
        duration_seconds: 6,
      })
      const languages = [
        ['aac', 'eng'],
        ['ac3', 'fra'],
      ].slice(0, sounds)
      expect(master.audio.map(({ codec, language }) => [codec, language])).toEqual(languages)
      const manifest = stored.facts.get('out/manifest.mpd')
      if (apart.length > 0)
        expect(manifest?.renditions?.map(({ path }) => path)).toEqual(['out/video_0', 'out/video_1'])
      else expect(manifest).toBeUndefined()
      // Files without media have no properties.
      for (const [path, role] of stored.roles) if (role === 'report') expect(stored.facts.has(path)).toBe(false)
    },
  )

  test('Smooth Streaming', async () => {
    const { facts } = await run(await burst(), {
      output_container: 'silverlight',
      bucket_output_path: 'out',
      videoProfiles: LADDER,
      audioProfiles: [TWO_SOUNDS[0]],
    })
    const [told] = [...facts].flatMap(([path, media]) => (path.endsWith('.ism/Manifest') ? [media] : []))
    expect(told).toMatchObject({
      duration_seconds: 6,
      video: { codec: 'h264', ...SIZE, frame_rate: '25/1', scan: 'progressive' },
      audio: [{ codec: 'aac', channels: 2 }],
    })
    expect(told?.renditions).toHaveLength(2)
  })

  test('embedded and sidecar captions; playlists over a tar', async (context) => {
    const { facts } = await run(await smallCaptionsTest(context), {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      create_tar_file: true,
      closed_captions: true,
      videoProfiles: [{ ...SIZE, video_bitrate: 400 }],
    })
    for (const path of ['master.m3u8', 'tar.m3u8', 'manifest.mpd', 'tar.mpd'])
      expect(
        facts.get(path)?.captions.map(({ kind, name }) => `${kind} ${name}`),
        path,
      ).toEqual(['embedded CC1', 'embedded SERVICE1', 'webvtt CC1', 'webvtt SERVICE1'])
    expect(facts.get('tar_video_0.m3u8')).toEqual(facts.get('video_0/playlist.m3u8'))
  })

  test('the poster and the storyboard are outputs, at names that stay', async () => {
    const { roles, objects } = await run(await burst(), {
      output_container: 'hls',
      segmented_output_hls: true,
      thumbnails: true,
      videoProfiles: [{ ...SIZE, video_bitrate: 300 }],
    })
    expect(roles.get('thumbnails/poster.jpg')).toBe('poster')
    expect(roles.get('thumbnails/thumbnails.vtt')).toBe('storyboard')
    expect(objects.get('thumbnails/poster.jpg')?.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]))
    const report = JSON.parse(objects.get('job.json')!.toString()) as { objects: { path: string; role: string }[] }
    expect(report.objects.filter(({ path }) => path.endsWith('poster.jpg'))).toMatchObject([
      { path: 'thumbnails/poster.jpg', role: 'poster' },
    ])
  })
})

test('values above the limits are left out, since the task API would refuse the whole report', async () => {
  const file = tempDir.file('empty.mp4')
  await writeFile(file, 'x')
  const lines: string[] = []
  const attempt = {
    engine: fixtures.engine,
    workspace: { cwd: '/', out: '/' },
    log: { warn: (message: string) => void lines.push(message) },
    controller: new AbortController(),
  }
  const plan = {
    outputs: [{ path: 'a.mp4', container: 'mp4', video: { captions: false, frameRate: { num: 25, den: 1 } } }],
    audioFiles: [],
  }
  // Without a duration, its bitrate would be infinite.
  const probed = { durationSeconds: 0, video: null, audio: [] }
  const meter = { end: () => ({ tracks: [], seconds: null, codecString: null }) }
  const measured = await analyzeFiles(attempt as never, plan as never, [{ file, probed, meter } as never], false)
  expect(measured).toEqual([null])
  expect(lines).toEqual(['a.mp4 could not be measured'])
})
