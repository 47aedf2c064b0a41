// Sources whose audio changes its channels or its sample rate midway, as a broadcast does at adverts. Every second of every
// channel is decoded and compared with what the source has there.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { audioSamplesByChannel, toneLevelDb } from '../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi, probeFile, readPackets } from '../../../support/media/media.ts'
import { describeTask, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { inChunks, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { joinedSegments, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()

const RATE = 48_000
const TONES: Readonly<Record<string, number>> = { FL: 500, FR: 700, FC: 900, LFE: 60, SL: 1100, SR: 1300 }
const LAYOUTS = { '5.1(side)': 'FL FR FC LFE SL SR', stereo: 'FL FR', mono: 'FC' } as const
const LEVEL_DB = -20
const HALF = 20 * Math.log10(Math.SQRT1_2)

interface Part {
  layout: keyof typeof LAYOUTS
  seconds: number
  rate?: number
}

/** Parts of one stream, one behind the other, with continuous times; beside video. */
async function source(name: string, codec: 'ac3' | 'mp2' | 'aac', parts: readonly Part[]): Promise<Buffer> {
  const format = codec === 'aac' ? 'adts' : codec
  const directory = await mkdtemp(join(fixtures.directory, 'source-'))
  const streams: Buffer[] = []
  for (const { layout, seconds, rate = RATE } of parts) {
    const tones = LAYOUTS[layout].split(' ').map((channel) => `0.1*sin(2*PI*${TONES[channel]}*t)`)
    streams.push(
      await ffmpeg([
        ...lavfi(`aevalsrc=exprs='${tones.join('|')}':c=${layout}:s=${rate}:d=${seconds}`),
        ...['-c:a', codec, '-b:a', layout === '5.1(side)' ? '448k' : layout === 'mono' ? '128k' : '256k'],
        ...(codec === 'ac3' ? ['-center_mixlev', '0.707', '-surround_mixlev', '0.707'] : []),
        ...['-f', format, '-'],
      ]),
    )
  }
  const [joined, path] = [join(directory, `joined.${format}`), join(directory, name)]
  await writeFile(joined, Buffer.concat(streams))
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0)
  await ffmpeg([
    ...lavfi(`testsrc2=s=160x90:r=25:d=${seconds}`),
    ...['-f', codec === 'aac' ? 'aac' : codec === 'mp2' ? 'mp3' : codec, '-i', joined],
    ...['-map', '0', '-map', '1', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-c:a', 'copy', path],
  ])
  return readFile(path)
}

const PROGRAMME: readonly Part[] = [
  { layout: '5.1(side)', seconds: 3 },
  { layout: 'stereo', seconds: 2 },
  { layout: '5.1(side)', seconds: 3 },
]
const STEREO = { audio_codec: 'aac', audio_bitrate: 192, source_stream: 1 }
const SURROUND = { audio_codec: 'aac', audio_channels: 6, audio_bitrate: 384, source_stream: 1 }

function taskOf(bytes: Buffer, changes: Record<string, unknown>): TaskDescription {
  const judged = validateJob(
    {
      ...('inputs' in changes ? {} : { input: 'https://example.com/source.ts' }),
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
      ...changes,
    },
    { baseUrl: 'https://api.example.test' },
  )
  if (!judged.ok) throw new Error(JSON.stringify(judged.problems))
  taskApi.source = { bytes }
  return { ...describeTask({ container: 'mp4' }), config: judged.config }
}

function made(): Map<string, Buffer> {
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  return storedObjects(taskApi)
}

async function run(bytes: Buffer, changes: Record<string, unknown>): Promise<Map<string, Buffer>> {
  taskApi.task = taskOf(bytes, changes)
  await runTask(runRequest(taskApi), fixtures.context())
  return made()
}

async function stored(name: string, bytes: Buffer): Promise<string> {
  const directory = await mkdtemp(join(fixtures.directory, 'file-'))
  await writeFile(join(directory, name), bytes)
  return join(directory, name)
}

const warned = (code: string) =>
  (taskApi.finished?.warnings ?? []).flatMap((warning) => (warning.code === code ? [warning.message] : []))

/** The level of each tone in each channel of the output, of a part of the source. */
function expected(layout: Part['layout'], channels: number): Record<string, number>[] {
  const has = LAYOUTS[layout].split(' ')
  if (channels === 6) return Object.keys(TONES).map((name) => (has.includes(name) ? { [name]: LEVEL_DB } : {}))
  const sides = [
    ['FL', 'SL'],
    ['FR', 'SR'],
  ]
  return sides.map((side) => {
    const shares = side.filter((name) => has.includes(name)).map((name) => [name, name[0] === 'S' ? HALF : 0] as const)
    const centre = has.includes('FC') ? [['FC', layout === 'mono' ? 0 : HALF] as const] : []
    return Object.fromEntries([...shares, ...centre].map(([name, gain]) => [name, LEVEL_DB + gain]))
  })
}

/** Every second, without a tenth before and behind it. */
async function expectLevels(path: string, position: number, channels: number, parts: readonly Part[]): Promise<void> {
  const counts = Array.from({ length: position + 1 }, (_, index) => (index === position ? channels : 2))
  const found = (await audioSamplesByChannel(path, await channelsOf(path, counts)))[position]!
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0)
  expect(Math.abs(found[0]!.length / RATE - total), `${path}: ${found[0]!.length / RATE} s`).toBeLessThan(0.12)
  let begin = 0
  for (const { layout, seconds } of parts) {
    const wanted = expected(layout, channels)
    for (let at = begin; at < begin + seconds; at += 1)
      for (const [channel, samples] of found.entries()) {
        const part = samples.subarray(Math.round((at + 0.1) * RATE), Math.round((at + 0.9) * RATE))
        for (const [name, hertz] of Object.entries(TONES)) {
          const level = toneLevelDb(part, hertz)
          const want = wanted[channel]![name]
          const what = `${name} in channel ${channel} at ${at.toFixed(1)} s: ${level.toFixed(1)} dB`
          if (want === undefined) expect.soft(level, what).toBeLessThan(-60)
          else expect.soft(Math.abs(level - want), what).toBeLessThan(0.7)
        }
      }
    begin += seconds
  }
}

async function channelsOf(path: string, counts: readonly number[]): Promise<number[]> {
  const { streams } = await probeFile(path)
  const audio = streams.filter(({ codec_type: type }) => type === 'audio')
  return counts.map((_count, index) => audio[index]!.channels)
}

/** Each packet is as long as a frame of its codec. */
async function expectWholePackets(path: string, position: number, frame: number): Promise<void> {
  const packets = await readPackets(path, `a:${position}`)
  const times = packets.map(({ pts_time: time }) => Number(time))
  for (const [index, time] of times.slice(1).entries())
    expect.soft(Math.abs(time - times[index]! - frame / RATE), `${path}: at ${time} s`).toBeLessThan(0.0015)
}

test('5.1, 2.0 and 5.1 in an mp4: each part has its own mix, in stereo and in 5.1', async () => {
  const objects = await run(await source('a.ts', 'ac3', PROGRAMME), {
    output_container: 'mp4',
    videoProfiles: [{ width: 160, height: 90, video_bitrate: 300, output: 'o.mp4' }],
    audioProfiles: [STEREO, SURROUND],
  })
  const path = await stored('o.mp4', objects.get('o.mp4')!)
  await expectLevels(path, 0, 2, PROGRAMME)
  await expectLevels(path, 1, 6, PROGRAMME)
  for (const position of [0, 1]) await expectWholePackets(path, position, 1024)
  expect(warned('audio_gaps_filled')).toEqual([])
  expect(warned('audio_format_changes')).toEqual([
    'Audio stream 1 of the source changes its format at 0:00:03 (stereo, 48000 Hz), 0:00:05 (5.1(side), 48000 Hz): each part is mixed as its own channels need it.',
  ])
})

test('the same in HLS and DASH', async () => {
  const bytes = await source('a.ts', 'ac3', PROGRAMME)
  const objects = await run(bytes, {
    output_container: 'hls',
    segmented_output_dash: true,
    segment_length: 2,
    videoProfiles: [{ width: 160, height: 90, video_bitrate: 300 }],
    audioProfiles: [STEREO, SURROUND],
    bucket_output_path: 'out',
  })
  const audio = [...objects.keys()].filter((path) => /audio.*m3u8$/.test(path)).toSorted()
  expect(audio).toHaveLength(2)
  for (const [index, playlist] of audio.entries()) {
    const path = await stored('a.mp4', joinedSegments(objects, playlist))
    await expectLevels(path, 0, index === 0 ? 2 : 6, PROGRAMME)
    await expectWholePackets(path, 0, 1024)
  }
  expect(warned('audio_gaps_filled')).toEqual([])
})

const MONO: readonly Part[] = [
  { layout: 'mono', seconds: 2 },
  { layout: 'stereo', seconds: 2 },
  { layout: 'mono', seconds: 2 },
]

test('mono and stereo: mono has its own level in both channels; a transport stream', async () => {
  const objects = await run(await source('a.ts', 'mp2', MONO), {
    output_container: 'ts',
    videoProfiles: [{ width: 160, height: 90, video_bitrate: 300, output: 'o.ts' }],
    audioProfiles: [{ audio_codec: 'mp2', audio_bitrate: 192, source_stream: 1 }, SURROUND],
  })
  const path = await stored('o.ts', objects.get('o.ts')!)
  await expectLevels(path, 0, 2, MONO)
  await expectLevels(path, 1, 6, MONO)
  await expectWholePackets(path, 0, 1152)
})

const RATES: readonly Part[] = [
  { layout: 'stereo', seconds: 2 },
  { layout: 'stereo', rate: 44_100, seconds: 2 },
  { layout: 'stereo', seconds: 2 },
]

test('48 and 44.1 kHz: audio only, with a cut', async () => {
  const bytes = await source('a.ts', 'mp2', RATES)
  const objects = await run(bytes, {
    bucket_output_path: 'out',
    start_seconds: 1,
    videoProfiles: [],
    audioProfiles: [STEREO, { audio_codec: 'flac', audio_container: 'flac', source_stream: 1 }],
  })
  const cut: readonly Part[] = [{ ...RATES[0]!, seconds: 1 }, ...RATES.slice(1)]
  for (const body of objects.values()) await expectLevels(await stored('a', body), 0, 2, cut)
  expect(warned('audio_format_changes')[0]).toContain('at 0:00:01 (stereo, 44100 Hz), 0:00:03 (stereo, 48000 Hz)')
})

test('a divided job', async () => {
  const bytes = await source('a.ts', 'ac3', PROGRAMME)
  const task = taskOf(bytes, {
    output_container: 'hls',
    segmented_output_dash: true,
    segment_length: 2,
    videoProfiles: [{ width: 160, height: 90, video_bitrate: 300 }],
    audioProfiles: [STEREO],
    bucket_output_path: 'out',
  })
  await runDividedJob(fixtures, taskApi, inChunks(task), { chunks: [0, 2] })
  const objects = made()
  const playlist = [...objects.keys()].find((path) => /audio.*m3u8$/.test(path))!
  await expectLevels(await stored('a.mp4', joinedSegments(objects, playlist)), 0, 2, PROGRAMME)
  expect(warned('audio_format_changes')).toHaveLength(1)
})

test('pieces of a joined source, with a cut', async () => {
  const rates = MONO.map((part) => ({ ...part, rate: 44_100 }))
  taskApi.furtherSources = [{ bytes: await source('b.ts', 'mp2', rates) }]
  const objects = await run(await source('a.ts', 'ac3', PROGRAMME), {
    inputs: [{ input: 'https://example.com/a.ts', start_seconds: 1 }, { input: 'https://example.com/b.ts' }],
    output_container: 'mp4',
    videoProfiles: [{ width: 160, height: 90, video_bitrate: 300, output: 'o.mp4' }],
    audioProfiles: [STEREO, SURROUND],
  })
  const parts: readonly Part[] = [{ ...PROGRAMME[0]!, seconds: 2 }, ...PROGRAMME.slice(1), ...rates]
  const path = await stored('o.mp4', objects.get('o.mp4')!)
  await expectLevels(path, 0, 2, parts)
  await expectLevels(path, 1, 6, parts)
  expect(warned('audio_gaps_filled')).toEqual([])
  const [said = ''] = warned('audio_format_changes')
  expect(said.match(/\d:\d\d:\d\d/g)).toEqual(['0:00:02', '0:00:04', '0:00:09', '0:00:11'])
})
