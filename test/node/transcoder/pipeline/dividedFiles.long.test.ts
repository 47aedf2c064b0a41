// In charge of: single files of divided jobs with other codecs, rates and tracks: those of one task.
// Not in charge of: a plain mp4 (dividedFiles.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import { makeClip, sharedClip } from '../../../support/media/media.ts'
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
  const compared = await compareDivision(fixture, task, { source, chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const texts = await Promise.all(
    ['alone', 'divided'].map((by) => readCaptions(join(fixture.directory, by, 'out/v0.mp4'))),
  )
  expect(texts[0]).not.toEqual([])
  expect(texts[1]).toEqual(texts[0])
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
