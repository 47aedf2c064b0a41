// In charge of: AC-3 and E-AC-3 in bursts of data (SMPTE ST 337): in every output the same samples as where they are a
// stream of the source.
// Not in charge of: data that is not decoded (dataInAudio.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BurstReader } from '../../../../../transcoder/formats/dataBursts.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { audioSamples } from '../../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { audioPackets, type HashedPacket } from '../../../../support/media/packetHashes.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi()
const path = (name: string): string => join(fixture.directory, name)

const SECONDS = 4
const RATE = 48_000
/** Another tone in each channel, each second at another level. */
const TONES = [300, 500, 700, 60, 1100, 1300].map((hertz, at) => `0.02*(1+mod(floor(t)+${at},8))*sin(2*PI*${hertz}*t)`)

async function encode(codec: 'ac3' | 'eac3', layout: '5.1' | 'stereo', seconds = SECONDS): Promise<string> {
  const name = path(`${layout}-${seconds}.${codec}`)
  const sound = TONES.slice(0, layout === '5.1' ? 6 : 2).join('|')
  await ffmpeg([
    ...lavfi(`aevalsrc='${sound}':s=${RATE}:d=${seconds}:c=${layout}`),
    '-c:a',
    codec,
    '-b:a',
    '384k',
    name,
  ])
  return name
}

/** As ffmpeg writes them (IEC 61937, which ST 337 with words of 16 bits is). */
const burstsOf = (file: string): Promise<Buffer> => ffmpeg(['-i', file, '-c', 'copy', '-f', 'spdif', '-'])

const VIDEO = ['-map', '0:v', '-c:v', 'mpeg2video', '-q:v', '5']
const picture = (seconds: number): string[] => lavfi(`testsrc2=s=160x90:r=25:d=${seconds}`)

async function withStream(file: string, container = 'mov', seconds = SECONDS): Promise<Buffer> {
  const name = path(`stream.${container}`)
  await ffmpeg([...picture(seconds), '-i', file, ...VIDEO, '-map', '1:a', '-c:a', 'copy', name])
  return readFile(name)
}

const PAIR = ['-map', '1:a', '-c:a', 'pcm_s24le']

async function withBursts(samples: Buffer, name = 'pair.mov', args = PAIR, rate = RATE): Promise<Buffer> {
  const seconds = Math.floor(samples.length / 4 / rate)
  await writeFile(path('bursts.raw'), samples)
  const sound = ['-f', 's16le', '-ar', `${rate}`, '-ac', '2', '-i', path('bursts.raw')]
  await ffmpeg([...picture(seconds), ...sound, ...VIDEO, ...args, path(name)])
  return readFile(path(name))
}

interface Request {
  audio?: object
  more?: object
  plan?: Plan | null
}

const SURROUND = { audio_channels: '6', audio_bitrate: '384' }

/** The coded sound of the output, with its times, which follows from the samples and their place. */
async function transcode(source: Buffer, request: Request = {}): Promise<HashedPacket[]> {
  const { audio = SURROUND, more = {}, plan = null } = request
  taskApi.source.bytes = source
  taskApi.storedPlan = null
  const task = { ...describeTask({ container: 'mp4' }), plan }
  Object.assign(task.config, more)
  Object.assign(task.config.audioProfiles[0]!, audio)
  taskApi.task = task
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  const [bytes] = taskApi.objects().values()
  await writeFile(path('out.mp4'), bytes!)
  return audioPackets(path('out.mp4'))
}

/** Equal but for the end, where the last burst may be cut off. */
function expectSame(bursts: readonly HashedPacket[], stream: readonly HashedPacket[]): void {
  expect(Math.abs(bursts.length - stream.length)).toBeLessThan(3)
  const most = bursts.length - 8
  expect(most).toBeGreaterThan(70)
  expect(bursts.slice(0, most)).toEqual(stream.slice(0, most))
}

const channels = (): Promise<Float32Array[]> =>
  Promise.all(Array.from({ length: 6 }, (_, channel) => audioSamples(path('out.mp4'), 0, channel)))

const largest = (samples: Float32Array): number => samples.reduce((most, each) => Math.max(most, Math.abs(each)), 0)

/** Times in seconds. */
const within = (all: readonly Float32Array[], from: number, to: number): Float32Array[] =>
  all.map((samples) => samples.subarray(from * RATE, to * RATE))

/** The largest of any channel: an encoder may hold back a little more where what follows is another. */
function difference(a: readonly Float32Array[], b: readonly Float32Array[], from: number, to: number): number {
  const others = within(b, from, to)
  return Math.max(
    ...within(a, from, to).map((samples, channel) =>
      largest(samples.map((value, at) => value - (others[channel]![at] ?? Number.NaN))),
    ),
  )
}

const decoded = (): string[] =>
  (taskApi.finished?.warnings ?? []).flatMap(({ code, message }) => (code === 'audio_is_data' ? [message] : []))

describe('from the first picture to the last, the samples are those of the stream', () => {
  test.each([
    ['pair.mov', PAIR],
    ['pair.mxf', PAIR],
    ['aes.ts', ['-map', '1:a', '-c:a', 's302m', '-strict', '-2']],
    [
      'tracks.mxf',
      [
        ...['-filter_complex', '[1:a]channelsplit=channel_layout=stereo[l][r]'],
        ...['-map', '[l]', '-map', '[r]', '-c:a', 'pcm_s24le'],
      ],
    ],
  ])('%s', async (name, args) => {
    const file = await encode('ac3', '5.1')
    const stream = await transcode(await withStream(file, name.endsWith('.ts') ? 'ts' : 'mov'))
    const bursts = await transcode(await withBursts(await burstsOf(file), name, args))
    expect(decoded()).toEqual([expect.stringContaining(' is ac3 (5.1(side)) in bursts of data in ')])
    expectSame(bursts, stream)
    expect(Math.min(...(await channels()).map(largest))).toBeGreaterThan(0.05)
  })
})

test.each<[string, Request]>([
  ['stereo of a loudness', { audio: { audio_channels: '2' }, more: { loudness_lufs: '-20' } }],
  ['AC-3 with its dialogue level', { audio: { ...SURROUND, audio_codec: 'ac3' } }],
])('%s', async (_name, request) => {
  const file = await encode('ac3', '5.1')
  expectSame(
    await transcode(await withBursts(await burstsOf(file)), request),
    await transcode(await withStream(file), request),
  )
})

test('a part so late that its bursts are sought', async () => {
  const file = await encode('ac3', '5.1', 9)
  const request = { more: { start_seconds: '6.3', end_seconds: '8.5' } }
  await transcode(await withStream(file, 'mov', 9), request)
  const stream = await channels()
  await transcode(await withBursts(await burstsOf(file)), request)
  expect(difference(stream, await channels(), 0, 2)).toBeLessThan(0.01)
})

test('it is encoded where a copy is asked for', async () => {
  const source = await withBursts(await burstsOf(await encode('ac3', '5.1')))
  await transcode(source, { audio: { ...SURROUND, audio_codec: 'copy' }, more: { copy_if_possible: true } })
  const refused = taskApi.finished?.warnings.filter(({ code }) => code === 'copy_not_possible')
  expect(refused).toMatchObject([
    { message: expect.stringContaining('source stream 1 is ac3 in bursts of data') as string },
  ])
})

test('a later attempt follows the plan of an earlier one', async () => {
  const source = await withBursts(await burstsOf(await encode('ac3', '5.1')))
  const first = await transcode(source)
  expect(await transcode(source, { plan: taskApi.storedPlan as Plan })).toEqual(first)
})

test('what lies between bursts is silence, and the rest keeps its place', async () => {
  const file = await encode('ac3', '5.1')
  const samples = await burstsOf(file)
  // Something else from 1 s to 2.5 s.
  for (let at = 4 * RATE; at < 10 * RATE; at += 2) samples.writeInt16LE((at * 7919) % 2000, at)
  await transcode(await withStream(file))
  const stream = await channels()
  await transcode(await withBursts(samples))
  const bursts = await channels()
  expect(decoded()).toEqual([expect.stringMatching(/1\.5 s of it are none, and are silent/)])
  expect(difference(stream, bursts, 0, 0.875)).toBeLessThan(0.01)
  expect(difference(stream, bursts, 2.75, 3.75)).toBeLessThan(0.01)
  expect(Math.max(...within(bursts, 1.25, 2.375).map(largest))).toBeLessThan(0.001)
})

test('E-AC-3, and AC-3 that changes from 5.1 to stereo', async () => {
  const enhanced = await encode('eac3', '5.1')
  expectSame(
    await transcode(await withBursts(await burstsOf(enhanced), 'fast.mov', PAIR, 4 * RATE)),
    await transcode(await withStream(enhanced)),
  )
  const parts = [await encode('ac3', '5.1', 2), await encode('ac3', 'stereo', 2)]
  await writeFile(path('changing.ac3'), Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))))
  const bursts = Buffer.concat(await Promise.all(parts.map((part) => burstsOf(part))))
  expectSame(await transcode(await withBursts(bursts)), await transcode(await withStream(path('changing.ac3'))))
})

test.each([16, 20, 24])('words of %i bits', async (bits) => {
  const file = await readFile(await encode('ac3', '5.1'))
  const size = (384 / 8) * 32
  const frames = [file.subarray(0, size), file.subarray(size, 2 * size)]
  const sync = { 16: [0xf872, 0x4e1f], 20: [0x6f872, 0x54e1f], 24: [0x96f872, 0xa54e1f] }[bits]!
  const samples = new Int32Array(2 * 2 * 1536)
  for (const [index, frame] of frames.entries()) {
    const text = Array.from(frame, (byte) => byte.toString(2).padStart(8, '0')).join('')
    const words = text.match(new RegExp(`.{1,${bits}}`, 'g'))!.map((word) => Number.parseInt(word.padEnd(bits, '0'), 2))
    for (const [at, word] of [...sync, 2 ** (bits - 16), 8 * size, ...words].entries())
      samples[2 * (index * 1536 + 20) + at] = word << (32 - bits)
  }
  const reader = new BurstReader()
  const found = Array.from({ length: 12 }, (_, part) => reader.push(samples.subarray(512 * part, 512 * (part + 1))))
  expect(found.flat()).toEqual(frames.map((frame, index) => ({ at: index * 1536 + 20, bytes: new Uint8Array(frame) })))
  expect(reader.others).toBe(0)
})
