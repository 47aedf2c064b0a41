// Whole attempts at jobs without video, of a film: segments of audio for HLS and DASH, files, cuts.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import { audioSamples, dominantFrequency, measureLoudness } from '../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi, probeFile } from '../../../support/media/media.ts'
import { describeTask, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { joinedSegments, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let film: Buffer
const taskApi = useTaskApi(() => film)

const SECONDS = 7.3
/** The tones of each language begin here, so that the beginning of an output can be found to the sample. */
const ONSET = 48_000
const tone = (hertz: number) => `aevalsrc='0.3*sin(2*PI*${hertz}*t)*gte(n\\,${ONSET})':s=48000:c=stereo:d=${SECONDS}`

beforeAll(async () => {
  const path = join(fixtures.directory, 'film.mkv')
  await ffmpeg([
    ...lavfi(`testsrc2=s=320x180:r=25:d=${SECONDS}`, tone(440), tone(660)),
    ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'pcm_s16le'],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu', path],
  ])
  film = await readFile(path)
})

function taskOf(changes: Record<string, unknown>): TaskDescription {
  const judged = validateJob(
    {
      input: 'https://example.com/film.mkv',
      bucket_output_path: 'out',
      videoProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
      ...changes,
    },
    { baseUrl: 'https://api.example.test' },
  )
  if (!judged.ok) throw new Error(JSON.stringify(judged.problems))
  return { ...describeTask({ container: 'mp4' }), config: judged.config }
}

async function run(changes: Record<string, unknown>): Promise<Map<string, Buffer>> {
  taskApi.task = taskOf(changes)
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  expect(await fixtures.workDirEntries()).toEqual([])
  return storedObjects(taskApi)
}

async function stored(name: string, bytes: Buffer): Promise<string> {
  const directory = await mkdtemp(join(fixtures.directory, 'file-'))
  await writeFile(join(directory, name), bytes)
  return join(directory, name)
}

function only(objects: ReadonlyMap<string, Buffer>, extension: string): Buffer {
  const found = [...objects].filter(([path]) => path.endsWith(`_audio_0${extension}`))
  expect([...objects.keys()]).toEqual(found.map(([path]) => path))
  return found[0]![1]
}

/** The first sample of the tone: louder than all that an encoder writes before it. */
const onsetOf = (samples: Float32Array) => samples.findIndex((sample) => Math.abs(sample) > 0.02)

const aac = (audio_bitrate: string, source_stream = '1') => ({ audio_codec: 'aac', audio_bitrate, source_stream })
const BOTH = { output_container: 'hls', segmented_output_dash: true, segment_length: 2 }

test('HLS and DASH of an audio ladder: segments of exactly one length, measured rates', async () => {
  const objects = await run({ ...BOTH, audioProfiles: [aac('64'), aac('128'), aac('256')] })
  const master = objects.get('out/master.m3u8')!.toString()
  const variants = [...master.matchAll(/#EXT-X-STREAM-INF:(.*)\n(.*)/g)]
  expect(variants.map(([, , uri]) => uri)).toEqual([0, 1, 2].map((index) => `audio_${index}/playlist.m3u8`))
  expect(master).not.toContain('EXT-X-MEDIA:')
  expect(master).not.toContain('RESOLUTION')
  const rates = variants.map(([, attributes]) => Number(/(?:^|,)BANDWIDTH=(\d+)/.exec(attributes!)![1]))
  expect(rates.toSorted((a, b) => a - b)).toEqual(rates)
  for (const [, attributes] of variants) expect(attributes).toContain('CODECS="mp4a.40.2"')
  for (const index of [0, 1, 2]) {
    const playlist = objects.get(`out/audio_${index}/playlist.m3u8`)!.toString()
    // 94 frames of 1024 samples are the nearest to 2 s.
    const lengths = [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))
    expect(lengths.length).toBe(4)
    for (const length of lengths.slice(0, -1)) expect(length).toBeCloseTo((94 * 1024) / 48_000, 4)
    const whole = await stored('a.mp4', joinedSegments(objects, `out/audio_${index}/playlist.m3u8`))
    const samples = await audioSamples(whole)
    expect(Math.abs(dominantFrequency(samples) - 440)).toBeLessThan(4)
    expect(Math.abs(samples.length - SECONDS * 48_000)).toBeLessThanOrEqual(2048)
    expect(Math.abs(onsetOf(samples) - ONSET)).toBeLessThan(300)
  }
  const mpd = objects.get('out/manifest.mpd')!.toString()
  expect(mpd.match(/<AdaptationSet /g)).toHaveLength(1)
  expect(mpd.match(/<Representation /g)).toHaveLength(3)
  expect(mpd).not.toContain('contentType="video"')
  const report = JSON.parse(objects.get('out/job.json')!.toString()) as { presentations: { renditions: unknown[] }[] }
  expect(report.presentations[0]?.renditions).toHaveLength(3)
})

test('several codecs and languages: every rendition has the same segments and its own audio', async () => {
  const codecs = [
    { audio_codec: 'aac', audio_bitrate: '128' },
    { audio_codec: 'opus', audio_bitrate: '96' },
    { audio_codec: 'flac' },
    { audio_codec: 'ac3', audio_bitrate: '192' },
    { audio_codec: 'eac3', audio_bitrate: '192' },
  ]
  const audioProfiles = [...codecs.map((codec) => ({ ...codec, source_stream: '1' })), aac('128', '2')]
  const objects = await run({ ...BOTH, create_tar_file: true, audioProfiles })
  const counts = audioProfiles.map(
    (_profile, index) => listSegments(objects.get(`out/audio_${index}/playlist.m3u8`)!.toString()).length,
  )
  expect(new Set(counts).size).toBe(1)
  for (const [index, profile] of audioProfiles.entries()) {
    const whole = await stored('a.mp4', joinedSegments(objects, `out/audio_${index}/playlist.m3u8`))
    const [stream] = (await probeFile(whole)).streams
    expect(stream?.codec_name).toBe(profile.audio_codec)
    const samples = await audioSamples(whole)
    expect(Math.abs(dominantFrequency(samples) - (profile.source_stream === '2' ? 660 : 440))).toBeLessThan(4)
    // No encoder's delay: exact where the codec does not smear a beginning.
    const tolerance = profile.audio_codec === 'flac' ? 3 : 700
    expect(Math.abs(onsetOf(samples) - ONSET), profile.audio_codec).toBeLessThan(tolerance)
  }
  const master = objects.get('out/master.m3u8')!.toString()
  for (const codec of ['mp4a.40.2', 'opus', 'fLaC', 'ac-3', 'ec-3']) expect(master).toContain(codec)
  expect(master).toContain('LANGUAGE="de"')
  expect([...objects.keys()]).toContain('out/tar.m3u8')
  expect([...objects.keys()]).toContain('out/tar.mpd')
})

test('HLS of transport streams, with a loudness target', async () => {
  const objects = await run({
    output_container: 'ts',
    segmented_output_hls: true,
    segment_length: 2,
    loudness_lufs: -20,
    audioProfiles: [aac('128')],
  })
  expect([...objects.keys()].filter((path) => path.endsWith('.ts'))).toHaveLength(4)
  const whole = await stored('a.ts', joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
  const loudness = await measureLoudness(whole)
  expect(Math.abs(loudness.integratedLufs! + 20)).toBeLessThan(0.6)
})

// 0.987 s is not on the grid of 25 frames per second.
const CUT = { start_seconds: 0.987, end_seconds: 4.321 }
const FLAC = { audio_codec: 'flac', audio_container: 'flac', source_stream: '1' }

function expectCut(samples: Float32Array): void {
  expect(samples.length).toBe(Math.round((CUT.end_seconds - CUT.start_seconds) * 48_000))
  expect(Math.abs(onsetOf(samples) - (ONSET - Math.round(CUT.start_seconds * 48_000)))).toBeLessThanOrEqual(3)
}

test('a cut between two frames of the film is exact to the sample in a file', async () => {
  const objects = await run({ ...CUT, audioProfiles: [FLAC] })
  expectCut(await audioSamples(await stored('a.flac', only(objects, '.flac'))))
})

test('and in segments', async () => {
  const objects = await run({ ...CUT, ...BOTH, audioProfiles: [FLAC] })
  expectCut(await audioSamples(await stored('a.mp4', joinedSegments(objects, 'out/audio_0/playlist.m3u8'))))
})

test('a timecode counts the frames of the video that is not used', async () => {
  const objects = await run({
    start_seconds: '00:00:00:20',
    audioProfiles: [{ audio_codec: 'pcm', source_stream: '1' }],
  })
  const samples = await audioSamples(await stored('a.wav', only(objects, '.wav')))
  expect(samples.length).toBe(Math.round((SECONDS - 20 / 25) * 48_000))
})

test('the video of the source is not decoded', async () => {
  await run({ audioProfiles: [{ audio_codec: 'mp3', source_stream: '1' }] })
  const log = fixtures.lines.join('\n')
  const commands = [...log.matchAll(/"command":"((?:[^"\\]|\\.)*)"/g)].map(([, command]) => command!)
  expect(commands.length).toBeGreaterThan(0)
  expect(commands.at(-1)).not.toContain('0:V')
})
