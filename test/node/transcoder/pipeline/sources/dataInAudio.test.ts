// In charge of: bursts of data in PCM (SMPTE ST 337): found in every word length, in one track or in two, and never encoded as
// sound.
// Not in charge of: other audio that cannot be used (chosenStreams.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataType } from '../../../../../transcoder/formats/dataBursts.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { audioSamples, dominantFrequency } from '../../../../support/media/audioSamples.ts'
import { ffmpeg } from '../../../../support/media/media.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'
import { Random } from '../../../../support/seededRandom.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi()
const path = (name: string): string => join(fixture.directory, name)
/** Samples of a frame at 25 frames per second and 48 kHz. */
const FRAME = 1920
const SYNC = { 16: [0xf872, 0x4e1f], 20: [0x6f872, 0x54e1f], 24: [0x96f872, 0xa54e1f] } as const

/** A second of bursts as stereo samples of 32 bits: a guard band, Pa, Pb, Pc, Pd, and random words. */
function bursts(bits: 16 | 20 | 24, type: number): Int32Array {
  const random = new Random(1)
  const samples = new Int32Array(2 * FRAME * 25)
  for (let frame = 0; frame < 25; frame++) {
    const payload = Array.from({ length: 3000 }, () => random.whole(0, 2 ** bits - 1))
    const words = [...SYNC[bits], type << (bits - 16), 1000, ...payload]
    for (const [at, word] of words.entries()) samples[2 * (frame * FRAME + 20) + at] = word << (32 - bits)
  }
  return samples
}

const channel = (samples: Int32Array, which: 0 | 1): Int32Array => samples.filter((_sample, at) => at % 2 === which)

test.each([
  [16, 1, 'AC-3'],
  [16, 21, 'E-AC-3'],
  [20, 28, 'Dolby E'],
  [24, 28, 'Dolby E'],
  [20, 5, 'data of type 5'],
] as const)('%i bits of type %i are %s', (bits, type, name) => {
  const samples = bursts(bits, type)
  expect(dataType(channel(samples, 0), channel(samples, 1))).toBe(name)
  // All words in one channel.
  expect(dataType(samples, null)).toBe(name)
  expect(dataType(channel(samples, 1), channel(samples, 0))).toBeNull()
})

/** Dolby E, and beside it a tone of 440 Hz. */
async function source(name: string, args: readonly string[]): Promise<Buffer> {
  const samples = bursts(20, 28)
  await writeFile(path('bursts.raw'), Buffer.from(samples.buffer))
  await ffmpeg([
    ...[
      '-f',
      's32le',
      '-ar',
      '48000',
      '-ac',
      '2',
      '-i',
      path('bursts.raw'),
      '-f',
      'lavfi',
      '-i',
      'sine=f=440:r=48000:d=1',
    ],
    ...['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=25:d=1', '-map', '2:v', '-c:v', 'mpeg2video', '-q:v', '5'],
    ...[...args, path(name)],
  ])
  return readFile(path(name))
}

const STEREO = ['-map', '0:a', '-map', '1:a']
const MONO = [
  '-filter_complex',
  '[0:a]channelsplit=channel_layout=stereo[l][r]',
  '-map',
  '[l]',
  '-map',
  '[r]',
  '-map',
  '1:a',
]

describe.each([
  ['pair.mov', [...STEREO, '-c:a', 'pcm_s24le'], 2, 1],
  ['tracks.mxf', [...MONO, '-c:a', 'pcm_s24le'], 3, 2],
  ['aes.ts', [...STEREO, '-c:a', 's302m', '-strict', '-2', '-ac', '2'], 2, 1],
])('%s', (name, args, sound, data) => {
  const transcode = async (stream: number): Promise<void> => {
    taskApi.source.bytes = await source(name, args)
    const task = describeTask({ container: 'mp4' })
    task.config.audioProfiles[0]!.source_stream = `${stream}` as '1'
    taskApi.task = task
    await runTask(runRequest(taskApi), fixture.context())
  }
  test('data is refused by name', async () => {
    await transcode(1)
    expect(taskApi.fails[0]?.error).toMatchObject({
      code: 'audio_stream_undecodable',
      message: expect.stringMatching(new RegExp(`is Dolby E in .*usable: source_stream ${sound} `)) as string,
    })
  })
  test('the sound beside it is used', async () => {
    await transcode(sound)
    expect(taskApi.fails).toEqual([])
    const codes = taskApi.finished?.warnings.map(({ code }) => code)
    expect(codes?.filter((code) => code === 'audio_is_data')).toHaveLength(data)
    const [bytes] = taskApi.objects().values()
    await writeFile(path('out.mp4'), bytes!)
    expect(Math.round(dominantFrequency(await audioSamples(path('out.mp4'))) / 10) * 10).toBe(440)
  })
})
