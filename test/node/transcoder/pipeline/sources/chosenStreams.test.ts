// In charge of: which streams of a source with unusual ones a whole job uses: a picture before the video, audio that
// nothing decodes, audio that is declared late.
// Not in charge of: the choice itself, case by case (../../plan/ffprobeJson.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { continuityCounter, pidOf } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { readPmt, writePmt, type ElementaryStream } from '../../../../../transcoder/formats/mpegts/programTables.ts'
import { SectionAssembler, toPackets } from '../../../../../transcoder/formats/mpegts/section.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { audioSamples, dominantFrequency } from '../../../../support/media/audioSamples.ts'
import { ffmpeg, makeClip, readPackets } from '../../../../support/media/media.ts'
import { splitPackets } from '../../../../support/mpegts/cueClips.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi()
const path = (name: string): string => join(fixture.directory, name)

async function transcode(source: Buffer, audio: Partial<JobConfig['audioProfiles'][number]>): Promise<string> {
  taskApi.source.bytes = source
  const task = describeTask({ container: 'mp4' })
  Object.assign(task.config.audioProfiles[0]!, audio)
  taskApi.task = task
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.breaches).toEqual([])
  const [bytes] = taskApi.objects().values()
  if (bytes !== undefined) await writeFile(path('out.mp4'), bytes)
  return path('out.mp4')
}

/** Of the clip's audio streams 440, 880, … */
const toneOf = async (file: string): Promise<number> =>
  Math.round(dominantFrequency(await audioSamples(file)) / 10) * 10
const warnings = () => taskApi.finished?.warnings.map(({ code }) => code)
const message = (code: string) => taskApi.finished?.warnings.find((warning) => warning.code === code)?.message

test.each(['mp4', 'mkv'])('a picture before the video, in %s', async (container) => {
  await makeClip(path('clip.mp4'), { seconds: 2 })
  const cover = path(`cover.${container}`)
  await ffmpeg([
    ...['-f', 'lavfi', '-i', 'color=red:s=320x180:r=25:d=0.04', '-i', path('clip.mp4')],
    ...['-map', '0:v', '-map', '1', '-c', 'copy', '-c:v:0', 'mjpeg', '-disposition:v:0', '0', cover],
  ])
  const file = await transcode(await readFile(cover), {})
  expect(taskApi.fails).toEqual([])
  expect(await readPackets(file)).toHaveLength(50)
  expect(warnings()).toEqual(['cover_art_left_out'])
})

describe('a sample entry of AC-4 first', () => {
  const source = async (): Promise<Buffer> => {
    const bytes = await readFile(await makeClip(path('two.mp4'), { seconds: 2, audio: [2, 2] }))
    const entry = bytes.indexOf('mp4a')
    bytes.write('ac-4', entry, 'latin1')
    // Its codec is stated there, too.
    bytes.write('dac4', bytes.indexOf('esds', entry), 'latin1')
    return bytes
  }
  test('that is selected ends the job with what there is', async () => {
    await transcode(await source(), {})
    expect(taskApi.fails).toMatchObject([
      {
        error: {
          code: 'audio_stream_undecodable',
          field: 'audioProfiles[0].source_stream',
          message: expect.stringMatching(/source_stream 1 is ac-?4 .*usable: source_stream 2 \(aac\)/) as string,
        },
      },
    ])
  })
  test('is left out where it is optional', async () => {
    await transcode(await source(), { optional: true })
    expect(taskApi.fails).toEqual([])
    expect(warnings()).toEqual(['audio_left_out', 'unreadable_audio_left_out'])
    expect(message('audio_left_out')).toMatch(/source_stream 1 is ac-?4/)
  })
  test('does not disturb the second one', async () => {
    expect(await toneOf(await transcode(await source(), { source_stream: '2' }))).toBe(880)
    expect(warnings()).toEqual(['unreadable_audio_left_out'])
  })
})

/** With other maps: what `change` returns, of the map and its place among all. */
function withMaps(bytes: Buffer, change: (streams: ElementaryStream[], share: number) => ElementaryStream[]): Buffer {
  const packets = splitPackets(bytes)
  return Buffer.concat(
    packets.map((packet, index) => {
      if (pidOf(packet) !== 0x1000) return packet
      const map = readPmt(new SectionAssembler().push(packet)[0]!)!
      const streams = change(map.streams, index / packets.length)
      const version = streams.length === map.streams.length ? 1 : 0
      return toPackets(writePmt({ ...map, version, streams }), 0x1000, continuityCounter(packet))[0]!
    }),
  )
}

const twoTracks = async (): Promise<Buffer> =>
  readFile(await makeClip(path('two.ts'), { seconds: 2, audio: [2, 2], flags: ['-c:a', 'mp2', '-b:a', '128k'] }))

test.each([
  ['a DVB descriptor', Uint8Array.of(0x7f, 2, 0x15, 0)],
  ['a registration', Uint8Array.of(5, 4, 0x41, 0x43, 0x2d, 0x34)],
])('AC-4 of a transport stream by %s is the first audio stream', async (_how, descriptors) => {
  const source = withMaps(await twoTracks(), ([video, first, ...rest]) => [
    video!,
    { ...first!, type: 6, descriptors },
    ...rest,
  ])
  expect(await toneOf(await transcode(source, { source_stream: '2' }))).toBe(880)
  expect(message('unreadable_audio_left_out')).toMatch(/Stream 1 .*AC-4/)
})

test('audio that is declared after 12 s', async () => {
  const clip = await makeClip(path('late.ts'), {
    seconds: 14,
    width: 160,
    height: 90,
    audio: [2],
    flags: ['-c:a', 'mp2'],
  })
  const late = withMaps(await readFile(clip), (streams, share) => (share < 0.85 ? streams.slice(0, 1) : streams))
  const cut = Math.floor(splitPackets(late).length * 0.85)
  const source = Buffer.concat(splitPackets(late).filter((packet, index) => index >= cut || pidOf(packet) !== 257))
  const samples = await audioSamples(await transcode(source, {}))
  expect(taskApi.fails).toEqual([])
  const last = samples.subarray(-48_000)
  expect(Math.round(dominantFrequency(last) / 10) * 10).toBe(440)
})
