// In charge of: single files of divided jobs with other codecs, rates and tracks: those of one task.
// Not in charge of: a plain mp4 (dividedFiles.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import { ffmpeg, lavfi, makeClip, sharedClip, transportRates } from '../../../support/media/media.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import { checkTstd } from '../../../support/mpegts/tstdModel.ts'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

test('two files with two tracks that they share', async () => {
  const file = await makeClip(join(fixture.directory, 'two.mp4'), { seconds: 9, audio: [1, 1], flags: ['-g', '25'] })
  const stereo = { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96' } as const
  const audioProfiles = (['1', '2'] as const).map((stream) => ({ ...stereo, source_stream: stream }))
  const task = filesTask({ audioProfiles }, [300, 150])
  await expectSameFiles(fixture, await compareDivision(fixture, task, { source: await readFile(file), chunks: [0, 1] }))
})

test('video alone, a part of the source at 29.97 frames per second', async () => {
  const file = await makeClip(join(fixture.directory, 'ntsc.mp4'), { seconds: 16, rate: '30000/1001' })
  const task = filesTask({ audioProfiles: [], start_seconds: 1.2, end_seconds: 14.1 })
  const compared = await compareDivision(fixture, task, { source: await readFile(file), chunks: [0, 1, 2] })
  await expectSameFiles(fixture, compared)
})

test('caption files as tracks', async () => {
  const source = await makeSourceClip(fixture, 9)
  const text = '1\n00:00:01,000 --> 00:00:03,500\nFirst\n\n2\n00:00:05,000 --> 00:00:06,000\nLast\n'
  const task = filesTask({ captions: [{ input: 'https://example.com/en.srt', language: 'en' }] as never })
  const options = { source, chunks: [0, 1], captions: [Buffer.from(text)] }
  const compared = await compareDivision(fixture, task, options)
  expect(compared.divided.finished?.objects[0]?.media).toEqual(expect.anything())
  await expectSameFiles(fixture, compared)
})

test('captions in the video', async (context) => {
  const source = await readFile(sharedClip(context, 'multi-channel-608-captions.ts'))
  const task = filesTask({ closed_captions: true, audioProfiles: [] })
  const compared = await compareDivision(fixture, task, { source, chunks: [0, 1], ranges: false })
  await expectSameFiles(fixture, compared)
  const [alone, divided] = await Promise.all(
    ['alone', 'divided'].map((by) => readCaptions(join(fixture.directory, by, 'out/v0.mp4'))),
  )
  // ffmpeg 5.1 keeps no captions of this clip, and 7 loses bytes where chunks join, which is behind the first caption.
  expect(divided![0]).toEqual(alone![0])
})

test.each<[string, Partial<JobConfig>, string]>([
  ['no B-frames', { ip_distance: '1' as never }, 'aac'],
  ['one B-frame', { ip_distance: '2' as never }, 'aac'],
  ['hevc', { video_codec: 'hevc' }, 'aac'],
  ['opus', {}, 'opus'],
])('%s', async (_, changes, codec) => {
  const source = await makeSourceClip(fixture, 9)
  const task = filesTask(changes)
  task.config.audioProfiles = task.config.audioProfiles.map((each) => ({ ...each, audio_codec: codec as never }))
  await expectSameFiles(fixture, await compareDivision(fixture, task, { source, chunks: [0, 1] }))
})

test('a transport stream of h.264 and aac', async () => {
  const source = await makeSourceClip(fixture, 9)
  const compared = await compareDivision(fixture, filesTask({}, [300], 'ts'), { source, chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const { counterErrors } = await transportRates(join(fixture.directory, 'divided/out/v0.ts'))
  expect(counterErrors).toBe(0)
})

test.each(['h.264', 'hevc'])('a transport stream of %s keeps to the T-STD where hard chunks join', async (codec) => {
  const picture = "color=black:s=320x180:r=25:d=13,noise=alls=100:allf=t:enable='between(t,2,11)'"
  const tones = [
    'sine=d=13:r=48000,aformat=channel_layouts=stereo',
    'anoisesrc=d=13:r=48000,aformat=channel_layouts=5.1',
  ]
  const file = join(fixture.directory, 'hard.mkv')
  await ffmpeg([
    ...lavfi(picture, ...tones),
    ...'-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -qp 10 -g 25 -pix_fmt yuv420p -c:a flac'.split(' '),
    file,
  ])
  const audioProfiles = [
    { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' },
    { audio_codec: 'ac3', audio_channels: '6', audio_bitrate: '448', source_stream: '2' },
  ] as JobConfig['audioProfiles']
  const task = filesTask({ audioProfiles, video_codec: codec as never }, [800], 'ts')
  const compared = await compareDivision(fixture, task, { source: await readFile(file), chunks: [0, 1, 2] })
  await expectSameFiles(fixture, compared)
  expect(checkTstd(await readFile(join(fixture.directory, 'alone/out/v0.ts'))).problems).toEqual([])
  expect(checkTstd(await readFile(join(fixture.directory, 'divided/out/v0.ts'))).problems).toEqual([])
})

test('cues in a transport stream', async () => {
  const cues = [
    cueAtSeconds(1, spliceInsert({ eventId: 1, out: true, pts: 3 * 90_000 })),
    cueAtSeconds(4, spliceInsert({ eventId: 2, out: false, pts: 5 * 90_000 })),
  ]
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  const source = await makeCueClip(join(fixture.directory, 'cues.ts'), { seconds: 9, audio: [1], flags }, cues)
  const compared = await compareDivision(fixture, filesTask({ scte35_passthough: true }, [300], 'ts'), {
    source,
    chunks: [0, 1],
    ranges: false,
  })
  const [alone, divided] = [compared.alone, compared.divided].map(({ objects }) => readCues(objects.get('out/v0.ts')!))
  expect(alone).toHaveLength(2)
  expect(divided).toEqual(alone)
})
