// The defaults that presets send (ladder "auto", optional audio) with typical sources of new users: whole attempts with
// the real ffmpeg against the strict task API. Every output is probed and decoded.
// Not in charge of: which renditions and rates are chosen (test/node/transcoder/plan/ladder.test.ts).
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeClip, probeFile, type ClipOptions } from '../../../support/media/media.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  storedObjects,
  joinedSegments,
  countFrames,
  countAudioSamples,
} from '../../../support/transcoder/segmentedTask.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../support/longForm.ts'

type Json = Record<string, unknown>

const fixtures = await useAttemptFixture()
let taskApi: FakeTaskApi | undefined
const clips = new Map<string, Promise<Buffer>>()

afterEach(() => taskApi?.stop())

const portrait = ['-vf', 'transpose=1']
const SOURCES: Record<string, ClipOptions & { seconds: number }> = {
  silent: { width: 640, height: 360, seconds: 1, audio: [] },
  tiny: { width: 120, height: 68, seconds: 1 },
  small: { width: 400, height: 170, seconds: 1, audio: [] },
  portrait: { width: 640, height: 360, seconds: 1, flags: portrait },
  phone: { width: 640, height: 360, seconds: 1 },
  anamorphic: { width: 720, height: 576, seconds: 1, flags: ['-vf', 'setsar=64/45'] },
  '50 a second': { width: 640, height: 360, seconds: 1, rate: '50' },
  '59.94 a second': { width: 640, height: 360, seconds: 1, rate: '60000/1001' },
  '4K': { width: 3840, height: 2160, seconds: 0.2, audio: [] },
}

/** Rotated 90° clockwise for display, as phones write it: the matrix of the track header (ISO/IEC 14496-12, 8.3.2). */
const QUARTER_TURN = [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000]

async function makeSource(name: string, path: string): Promise<Buffer> {
  const bytes = await readFile(await makeClip(path, SOURCES[name]))
  const matrix = bytes.indexOf('tkhd') + 44
  if (name === 'phone') for (const [at, value] of QUARTER_TURN.entries()) bytes.writeInt32BE(value, matrix + 4 * at)
  return bytes
}

function clip(name: string): Promise<Buffer> {
  const made = clips.get(name) ?? makeSource(name, join(fixtures.directory, `${clips.size}.mp4`))
  clips.set(name, made)
  return made
}

async function run(name: string, changes: Json, dryRun = false): Promise<FakeTaskApi> {
  const validation = validateJob(
    {
      input: 'https://example.com/clip.mp4',
      cloud_credentials: { input: { cloud_provider: 'http' } },
      bucket_output_path: 'out',
      ladder: 'auto',
      audioProfiles: [{ audio_bitrate: 96, source_stream: 1, optional: true }],
      ...changes,
    },
    { baseUrl: 'http://127.0.0.1' },
  )
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
  expect(validation.warnings).toEqual([])
  taskApi = await new FakeTaskApi({ bytes: await clip(name) }).start()
  taskApi.task = {
    ...describeTask({ container: 'mp4' }),
    ...(dryRun ? { kind: 'plan' as const } : {}),
    config: validation.config,
  }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  return taskApi
}

interface Seen {
  name: string
  size: string
  pictures: number
  /** Seconds of audio in it; null = none. */
  audio: number | null
}

async function look(name: string, bytes: Buffer, extension: string): Promise<Seen> {
  const file = join(await mkdtemp(join(fixtures.directory, 'seen-')), `x.${extension}`)
  await writeFile(file, bytes)
  const { streams } = await probeFile(file)
  const video = streams.find(({ codec_type: type }) => type === 'video')
  return {
    name,
    size: video === undefined ? '' : `${video.width}x${video.height}`,
    pictures: video === undefined ? 0 : await countFrames(fixtures.engine, file),
    audio: streams.some(({ codec_type: type }) => type === 'audio')
      ? await countAudioSamples(fixtures.engine, file)
      : null,
  }
}

/** Every rendition below `out`, with its segments concatenated. */
async function renditions(door: FakeTaskApi): Promise<Seen[]> {
  const objects = storedObjects(door)
  const smooth = objects.get('out/out.ism/Manifest')
  if (smooth !== undefined) return smoothVideo(objects, smooth.toString())
  const directories = [
    ...new Set([...objects.keys()].flatMap((path) => /^out\/((?:video|audio)_\w+)\//.exec(path)?.[1] ?? [])),
  ]
  return Promise.all(
    directories.toSorted().map((directory) => {
      const own = [...objects].filter(([path]) => path.startsWith(`out/${directory}/j-1-1/`))
      const isTs = own.some(([path]) => path.endsWith('.ts'))
      const playlist = `out/${directory}/playlist.m3u8`
      // DASH alone has no playlist: the init segment, then the segments by number.
      const inOrder = own.toSorted(
        ([a], [b]) => Number(b.endsWith('init.mp4')) - Number(a.endsWith('init.mp4')) || (a < b ? -1 : 1),
      )
      const whole = objects.has(playlist)
        ? joinedSegments(objects, playlist)
        : Buffer.concat(inOrder.map(([, bytes]) => bytes))
      return look(directory, whole, isTs ? 'ts' : 'mp4')
    }),
  )
}

/**
 * [MS-SSTR]: a client builds the header from the manifest's CodecPrivateData; here the stream is assembled without a
 * container.
 */
function smoothVideo(objects: ReadonlyMap<string, Buffer>, manifest: string): Promise<Seen[]> {
  const levels = [...manifest.matchAll(/<QualityLevel [^>]*Bitrate="(\d+)"[^>]*CodecPrivateData="(0000\w+)"/g)]
  return Promise.all(
    levels.map(([, bitrate, header]) => {
      const fragments = [...objects]
        .filter(([path]) => path.includes(`QualityLevels(${bitrate})/Fragments(video=`))
        .toSorted(([a], [b]) => timeOf(a) - timeOf(b))
      return look(
        'smooth',
        Buffer.concat([Buffer.from(header!, 'hex'), ...fragments.map(([, bytes]) => startCoded(bytes))]),
        'h264',
      )
    }),
  )
}

const timeOf = (path: string) => Number(/=(\d+)\)/.exec(path)?.[1])

/** The frames of a fragment, with start codes instead of lengths before each NAL unit. */
function startCoded(fragment: Buffer): Buffer {
  const from = fragment.indexOf('mdat') + 4
  const units: Buffer[] = []
  for (let at = from; at < fragment.length;) {
    const length = fragment.readUInt32BE(at)
    units.push(Buffer.from([0, 0, 0, 1]), fragment.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return Buffer.concat(units)
}

const codes = (door: FakeTaskApi) => door.finished?.warnings.map(({ code }) => code)

describe('a silent source gives video alone, with one warning', () => {
  const rungs = ['640x360', '426x240']

  test.each(['mp4', 'ts'])('%s', async (container) => {
    const ended = await run('silent', { output_container: container, audio_output_path: 'out', loudness_lufs: -23 })
    const files = [...storedObjects(ended)]
    expect(files.map(([path]) => path)).toEqual([`out/clip_0_360p.${container}`, `out/clip_1_240p.${container}`])
    const seen = await Promise.all(files.map(([path, bytes]) => look(path, bytes, container)))
    expect(seen.map(({ size, pictures: count, audio }) => [size, count, audio])).toEqual(
      rungs.map((size) => [size, 25, null]),
    )
    // The second is for loudness_lufs, which has no effect without audio.
    expect(codes(ended)).toEqual(['audio_left_out', 'no_effect'])
  })

  test.each<[string, Json]>(
    sampled(
      [
        ['HLS of transport streams', { output_container: 'hls' }],
        ['HLS with separate audio', { output_container: 'hls', master_variant_mode: true }],
        [
          'HLS and DASH',
          { output_container: 'hls', segmented_output_dash: true, create_tar_file: true, thumbnails: true },
        ],
        ['DASH', { segmented_output_dash: true }],
        ['Smooth Streaming', { output_container: 'silverlight' }],
      ],
      2,
    ),
  )('%s', async (_what, changes) => {
    const ended = await run('silent', changes)
    const seen = await renditions(ended)
    expect(seen.map(({ size }) => size).toSorted()).toEqual(rungs.toSorted())
    for (const each of seen) expect(each).toMatchObject({ pictures: 25, audio: null })
    expect([...storedObjects(ended).keys()].filter((path) => path.includes('audio_'))).toEqual([])
    for (const [path, bytes] of storedObjects(ended))
      if (/m3u8$|mpd$|Manifest$/.test(path))
        expect(bytes.toString()).not.toMatch(/TYPE=AUDIO|mp4a|contentType="audio"|Type="audio"/)
    expect(codes(ended)).toEqual(['audio_left_out'])
  })
})

describe('every other source gives the rungs that it is worth, with its audio', () => {
  const expected: Record<string, { sizes: [lines: number, size: string][]; pictures: number }> = {
    tiny: { sizes: [[68, '120x68']], pictures: 25 },
    portrait: {
      sizes: [
        [360, '360x640'],
        [240, '240x426'],
      ],
      pictures: 25,
    },
    phone: {
      sizes: [
        [360, '360x640'],
        [240, '240x426'],
      ],
      pictures: 25,
    },
    anamorphic: {
      sizes: [
        [540, '960x540'],
        [360, '640x360'],
        [240, '426x240'],
      ],
      pictures: 25,
    },
    '50 a second': {
      sizes: [
        [360, '640x360'],
        [240, '426x240'],
      ],
      pictures: 50,
    },
    '59.94 a second': {
      sizes: [
        [360, '640x360'],
        [240, '426x240'],
      ],
      pictures: 60,
    },
  }
  const forms: [string, Json][] = [
    ['mp4', { output_container: 'mp4' }],
    ['HLS of transport streams', { output_container: 'hls' }],
    ['HLS and DASH', { output_container: 'hls', segmented_output_dash: true }],
  ]
  const cases = Object.keys(expected).flatMap((name) => forms.map(([form, changes]) => [name, form, changes] as const))

  test.each(sampled(cases, 4))('%s as %s', async (name, form, changes) => {
    const { sizes, pictures: count } = expected[name]!
    const ended = await run(name, changes)
    const seen =
      form === 'mp4'
        ? await Promise.all([...storedObjects(ended)].map(([path, bytes]) => look(path, bytes, 'mp4')))
        : await renditions(ended)
    const video = seen.filter(({ size }) => size !== '')
    const nameOf = (lines: number, index: number) =>
      form === 'mp4' ? `out/clip_${index}_${lines}p.mp4` : `video_${lines}p`
    const names = sizes.map(([lines, size], index) => `${nameOf(lines, index)} ${size}`)
    expect(video.map((each) => `${each.name} ${each.size}`).toSorted()).toEqual(names.toSorted())
    for (const each of video) expect(each.pictures).toBe(count)
    const heard = form === 'HLS and DASH' ? seen.filter(({ size }) => size === '') : video
    expect(heard.length).toBeGreaterThan(0)
    for (const { audio } of heard) expect(audio).toBeCloseTo(1, 0)
    expect(codes(ended)?.filter((code) => code !== 'size_rounded')).toEqual([])
  })

  test.each<[string, Json]>(
    sampled(
      [
        ['hevc in mp4', { video_codec: 'hevc' }],
        ['hevc in HLS', { video_codec: 'hevc', output_container: 'hls' }],
        ['mpeg2 in ts', { video_codec: 'mpeg2', output_container: 'ts' }],
      ],
      1,
    ),
  )('tiny in %s', async (_form, changes) => {
    const ended = await run('tiny', changes)
    const container = changes['output_container'] === 'ts' ? 'ts' : 'mp4'
    const seen =
      changes['output_container'] === 'hls'
        ? await renditions(ended)
        : await Promise.all([...storedObjects(ended)].map(([path, bytes]) => look(path, bytes, container)))
    expect(seen.find(({ size }) => size !== '')).toMatchObject({ size: '120x68', pictures: 25 })
    expect(seen.find(({ audio }) => audio !== null)?.audio).toBeCloseTo(1, 0)
  })

  test.each(sampled(['h.264', 'hevc'], 0))('4K in %s', async (codec) => {
    const ended = await run('4K', { video_codec: codec })
    const seen = await Promise.all([...storedObjects(ended)].map(([path, bytes]) => look(path, bytes, 'mp4')))
    expect(seen.map(({ size, pictures: count }) => `${size} ${count}`)).toEqual(
      ['3840x2160', '1920x1080', '1280x720', '960x540', '640x360', '426x240'].map((size) => `${size} 5`),
    )
  })
})

describe('allow_upscaling false', () => {
  const asked = [1080, 720].map((height) => ({ width: 0, height, video_bitrate: 3000, output: '' }))
  test('makes the smallest at the size of a source that is smaller than all of them', async () => {
    const ended = await run('small', { ladder: undefined, allow_upscaling: false, videoProfiles: asked })
    const files = [...storedObjects(ended)]
    expect(files.map(([path]) => path)).toEqual(['out/clip_1_170p.mp4'])
    expect(await look('', files[0]![1], 'mp4')).toMatchObject({ size: '400x170', pictures: 25, audio: null })
    expect(codes(ended)).toEqual(['audio_left_out', 'rung_left_out', 'rung_at_source_size'])
  })
  test('leaves out what is larger in HLS', async () => {
    const videoProfiles = [...asked, { width: 0, height: 180, video_bitrate: 300 }]
    const ended = await run('silent', {
      ladder: undefined,
      allow_upscaling: false,
      output_container: 'hls',
      segment_length: 1,
      videoProfiles,
    })
    expect(await renditions(ended)).toEqual([{ name: 'video_2', size: '320x180', pictures: 25, audio: null }])
    expect(codes(ended)).toEqual(['audio_left_out', 'rung_left_out', 'rung_left_out'])
  })
})

test('a dry run describes the renditions, and has the warnings of the job', async () => {
  const { estimated } = await run('silent', { output_container: 'hls' }, true)
  expect(estimated?.estimate.plan.outputs.map(({ path, description }) => [path, description.slice(0, 2)])).toEqual([
    [
      'out/video_360p',
      [
        'Rung 1 of 2 of the ladder, chosen from the source’s size and frame rate.',
        '640 × 360, samples 1:1, 25 frames per second, progressive.',
      ],
    ],
    [
      'out/video_240p',
      [
        'Rung 2 of 2 of the ladder, chosen from the source’s size and frame rate.',
        '426 × 240, samples 1:1, 25 frames per second, progressive.',
      ],
    ],
  ])
  expect(estimated?.warnings.map(({ code }) => code)).toEqual(['audio_left_out'])
})
