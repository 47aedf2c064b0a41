// In charge of: what only the rest of a divided job makes, and jobs with several rates: the same as from one task.
// Not in charge of: a plain divided job (dividedOutput.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { sequencesOf } from '../../../support/media/chunkStream.ts'
import { ffmpeg, makeClip, readPackets, sharedClip } from '../../../support/media/media.ts'
import { cueAtSeconds, makeCueClip } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision, type ComparedDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const

const task = (changes: Partial<JobConfig>, bitrates = [300]) => segmentedTask({ ...CMAF, ...changes }, bitrates)

const expectSame = (compared: ComparedDivision) => expectSameSegments(fixture, compared)

test('captions in the video, and thumbnails', async (context) => {
  const source = await readFile(sharedClip(context, 'multi-channel-608-captions.ts'))
  const of = task({ closed_captions: true, thumbnails: true, audioProfiles: [] })
  const compared = await compareDivision(fixture, of, { source, chunks: [0, 1] })
  await expectSame(compared)
  expect([...compared.divided.objects.keys()].filter((name) => name.includes('captions/CC1'))).not.toEqual([])
  expect(compared.divided.objects.has('out/thumbnails/poster.jpg')).toBe(true)
})

test('audio files', async () => {
  const source = await makeSourceClip(fixture, 7)
  const compared = await compareDivision(fixture, task({ audio_output_path: 'sound' }), { source, chunks: [0, 1, 2] })
  await expectSame(compared)
  expect(compared.divided.objects.has('sound/clip_audio_0.m4a')).toBe(true)
})

test('text subtitles of the source', async () => {
  await makeClip(path('clip.mp4'), { seconds: 7, audio: [1] })
  await writeFile(path('en.srt'), '1\n00:00:01,000 --> 00:00:03,500\nFirst\n\n2\n00:00:05,000 --> 00:00:06,000\nLast\n')
  await ffmpeg(['-i', path('clip.mp4'), '-i', path('en.srt'), '-c', 'copy', '-c:s', 'srt', path('text.mkv')])
  const source = await readFile(path('text.mkv'))
  const compared = await compareDivision(fixture, task({}), { source, chunks: [0, 1, 2] })
  await expectSame(compared)
  expect([...compared.divided.objects.keys()].filter((name) => name.includes('captions/sub_0'))).not.toEqual([])
})

test('cues of the source, at which segments end', async () => {
  const cues = [
    cueAtSeconds(1, spliceInsert({ eventId: 1, out: true, pts: 3 * 90_000 })),
    cueAtSeconds(4, spliceInsert({ eventId: 2, out: false, pts: 5 * 90_000 })),
  ]
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  const source = await makeCueClip(path('cues.ts'), { seconds: 8, audio: [1], flags }, cues)
  const compared = await compareDivision(fixture, task({ scte35_passthough: true }), { source, chunks: [0, 2] })
  await expectSame(compared)
  const playlist = compared.divided.objects.get('out/video_0/playlist.m3u8')!.toString()
  expect(playlist).toMatch(/EXT-X-DATERANGE/)
  const numbers = sequencesOf(joinedSegments(compared.divided.objects, 'out/video_0/playlist.m3u8'))
  expect(numbers).toEqual(numbers.map((_number, at) => at + 1))
})

test('cues as near to joins as the places of chunks keep, and one that arrives at a join', async () => {
  // Segments of 50 frames: an eighth is six frames and a quarter.
  const cues = [
    cueAtSeconds(3.9, spliceInsert({ eventId: 1, out: true, pts: 4.28 * 90_000 })),
    cueAtSeconds(5.2, spliceInsert({ eventId: 2, out: false, pts: 5.72 * 90_000 })),
    cueAtSeconds(6, spliceInsert({ eventId: 3, out: true, pts: 7 * 90_000 })),
  ]
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  const source = await makeCueClip(path('near.ts'), { seconds: 8, audio: [1], flags }, cues)
  const compared = await compareDivision(fixture, task({ scte35_passthough: true }), { source, chunks: [0, 2, 3] })
  await expectSame(compared)
  const [alone, divided] = [compared.alone, compared.divided].map(({ objects }) =>
    joinedSegments(objects, 'out/video_0/playlist.m3u8'),
  )
  const keys = await keyTimes(divided!)
  expect(keys).toEqual(await keyTimes(alone!))
  expect(keys).toEqual(expect.arrayContaining([4, 4.28, 5.72, 6, 7]))
  expect(sequencesOf(divided!)).toEqual(sequencesOf(alone!))
})

/** Seconds from the first frame. */
async function keyTimes(stream: Buffer): Promise<number[]> {
  await writeFile(path('keys.mp4'), stream)
  const keys = (await readPackets(path('keys.mp4'))).filter(({ flags }) => flags.startsWith('K'))
  return keys.map(({ pts_time }) => Number((Number(pts_time) - Number(keys[0]!.pts_time)).toFixed(3)))
}

test('a part of the source, and video alone', async () => {
  const source = await makeSourceClip(fixture, 12)
  const of = task({ start_seconds: 2.2, end_seconds: 9.7, audioProfiles: [] })
  await expectSame(await compareDivision(fixture, of, { source, chunks: [0, 2] }))
})

test('frame rates that differ between renditions', async () => {
  const source = await makeSourceClip(fixture, 9)
  const of = task({}, [300, 200])
  const [first, second] = of.config.videoProfiles
  of.config.videoProfiles = [first!, { ...second!, video_framerate: '1/2x' }]
  await expectSame(await compareDivision(fixture, of, { source, chunks: [0, 1, 3] }))
})
